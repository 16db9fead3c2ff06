//! The inverse of reading: whether a text is the canonical value of a field.

use crate::literal::{date_text, time_text};
use crate::options::{Kind, Options};
use crate::ratio::Ratio;
use crate::strings::{collapsed, spelled};
use crate::units::Units;
use jiff::civil::{Date, Time};

/// Whether `text` is what a recognizer of the kind writes for the field.
pub(crate) fn accepts(kind: Kind, options: &Options, units: &Units, field: &str, text: &str) -> bool {
    let has_base = |unit: &str| units.has_base(unit) && options.has_currency(unit);
    let of_unit = matches!(kind, Kind::Money | Kind::Quantity | Kind::Duration);
    match (kind, field) {
        (_, "value") if options.verbatim => is_text(text),
        (Kind::Integer, "value") => is_number(text) && !text.contains('.'),
        (Kind::Ordinal, "value") => is_number(text) && !text.contains(['.', '-']),
        (Kind::Decimal, "value") => is_number(text),
        (_, "value") if of_unit => {
            text.split_once(' ').is_some_and(|(number, unit)| is_number(number) && has_base(unit))
        }
        (_, "number") if of_unit => is_number(text),
        (_, "unit") if of_unit => has_base(text),
        (Kind::Date, "value") | (Kind::Period, "begin" | "end") => date(text).is_some(),
        (Kind::Time, "value") => is_time(text),
        (Kind::DateTime, "value") => {
            text.split_once('T').is_some_and(|(day, time)| date(day).is_some() && is_time(time))
        }
        (Kind::Period, "value") => text
            .split_once('/')
            .is_some_and(|(begin, end)| date(begin).zip(date(end)).is_some_and(|(begin, end)| begin < end)),
        (Kind::Quoted, "value") => is_text(text),
        (Kind::Text, "value") => is_text(text) && spelled(text, options) == text,
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    Ratio::from_text(text).and_then(Ratio::to_text).is_some_and(|canonical| canonical == text)
}

fn is_text(text: &str) -> bool {
    !text.is_empty() && collapsed(text) == text
}

fn date(text: &str) -> Option<Date> {
    let mut parts = text.split('-');
    let mut part = || parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    let date = Date::new(part()?.parse().ok()?, part()?.parse().ok()?, part()?.parse().ok()?).ok()?;
    (date_text(date).as_deref() == Some(text)).then_some(date)
}

fn is_time(text: &str) -> bool {
    let parts: Vec<i8> = text.split(':').map_while(|part| part.parse().ok()).collect();
    let time = match parts[..] {
        [hour, minute] => Time::new(hour, minute, 0, 0),
        [hour, minute, second] => Time::new(hour, minute, second, 0),
        _ => return false,
    };
    time.is_ok_and(|time| time_text(time) == text)
}
