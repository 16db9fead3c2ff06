//! The ways to write a value. Not all of them need be read as it: that is checked afterwards.

use super::values::date_of;
use crate::language::ENGLISH;
use crate::literal::{Value, date_text, time_text};
use crate::options::Kind;
use crate::ratio::Ratio;
use crate::recognizer::Recognizer;
use jiff::civil::{Date, Time};
use spanwise_core::Moment;

/// Words that are relative to today.
const RELATIVE: &[&str] = &[
    "today",
    "yesterday",
    "tomorrow",
    "the day before yesterday",
    "this week",
    "last week",
    "next week",
    "this month",
    "last month",
    "this quarter",
    "last quarter",
    "this year",
    "last year",
];
const ENDINGS: &[&str] = &["th", "st", "nd", "rd"];

impl Recognizer {
    /// Ways to write a value.
    pub(super) fn forms(&self, value: &Value, now: Option<Moment>) -> Vec<String> {
        match value {
            Value::Number(number) if self.kind() == Kind::Ordinal => ordinals(*number),
            Value::Number(number) => numerals(*number),
            Value::Amount(number, unit) => self.amounts(*number, unit),
            Value::Day(date) => {
                let mut forms = dates(*date, now);
                forms.extend(relative(now));
                forms
            }
            Value::Clock(time) => times(*time),
            Value::Moment(moment) => {
                let times = times(moment.time());
                let of = |date: String| {
                    times.iter().map(move |time| format!("{date} at {time}")).collect::<Vec<_>>()
                };
                dates(moment.date(), now).into_iter().flat_map(of).collect()
            }
            Value::Period(begin, end) => {
                let mut forms = periods(*begin, *end, now);
                forms.extend(relative(now));
                forms
            }
            Value::Words(text) if self.kind() == Kind::Quoted => {
                vec![format!("\"{text}\""), format!("'{text}'"), format!("“{text}”")]
            }
            Value::Words(text) => vec![text.clone()],
        }
    }

    /// An amount in its own unit and in others, where that takes few digits.
    fn amounts(&self, number: Ratio, base: &str) -> Vec<String> {
        let mut forms = Vec::new();
        let is_money = self.kind() == Kind::Money;
        if is_money && self.options().currency.as_deref() == Some(base) {
            forms.extend(numerals(number));
        }
        for (unit, names) in self.units().named() {
            let scale = self.units().get(unit);
            let Some(amount) = scale.invert(number).filter(|_| scale.base == base) else { continue };
            let Some(text) = amount.to_text() else { continue };
            let digits = text.bytes().filter(u8::is_ascii_digit).count();
            let is_handy = is_money || (digits <= 4 && !text.starts_with("0.0") && !text.starts_with('-'));
            // Cents up to a hundred, no fractions of dollars.
            let is_odd = is_money && (text.starts_with("0.") || (scale.factor != Ratio::ONE && digits > 2));
            if !is_handy || is_odd {
                continue;
            }
            for name in &names {
                // Abbreviations are the same for one and many.
                let is_word = |name: &str| name.chars().count() > 3;
                let has = |wanted: &str| names.iter().any(|other| other == wanted);
                let is_singular = has(&format!("{name}s")) && (is_word(name) || name == "day");
                let is_plural = name.strip_suffix('s').is_some_and(|one| has(one) && is_word(name));
                if (amount == Ratio::ONE && is_plural) || (amount != Ratio::ONE && is_singular) {
                    continue;
                }
                forms.extend(with_unit(amount, name, is_money));
            }
        }
        forms
    }
}

/// A number with the name of a unit: a sign before it, a word after it, an abbreviation with or without a space.
fn with_unit(amount: Ratio, name: &str, is_money: bool) -> Vec<String> {
    let is_word = name.chars().all(|ch| ch.is_alphabetic() || ch == ' ');
    let mut numerals = numerals(amount);
    // Nobody says `5k meters`.
    let is_mixed =
        |form: &String| form.contains(char::is_alphabetic) && form.contains(|ch: char| ch.is_ascii_digit());
    numerals.retain(|form| is_money || !is_mixed(form));
    if "$€£¥₹₽₩₺₿".contains(name) {
        return numerals.first().into_iter().chain(numerals.get(1)).map(|it| format!("{name}{it}")).collect();
    }
    if matches!(name, "%" | "‰" | "°c" | "°f") {
        return vec![format!("{}{name}", numerals[0]), format!("{} {name}", numerals[0])];
    }
    // Other signs, such as those of inches, are rarely meant.
    if !is_word && !name.chars().any(char::is_alphabetic) {
        return Vec::new();
    }
    // Spelled numbers go with words, not with abbreviations.
    let is_short = name.chars().count() <= 3 && name != "day";
    if is_short {
        return vec![format!("{} {name}", numerals[0]), format!("{}{name}", numerals[0])];
    }
    let mut forms: Vec<String> = numerals.iter().map(|numeral| format!("{numeral} {name}")).collect();
    if amount == Ratio::ONE {
        forms.extend(ENGLISH.articles.iter().map(|article| format!("{article} {name}")));
    }
    forms
}

/// A number in digits, which come first, and in words.
fn numerals(number: Ratio) -> Vec<String> {
    let Some(text) = number.to_text() else { return Vec::new() };
    let mut forms = vec![text.clone()];
    let (whole, part) =
        text.split_once('.').map_or((text.as_str(), None), |(whole, part)| (whole, Some(part)));
    if whole.trim_start_matches('-').len() > 3 {
        forms.push(grouped(whole, ",") + &part.map_or(String::new(), |part| format!(".{part}")));
        forms.push(grouped(whole, ".") + &part.map_or(String::new(), |part| format!(",{part}")));
    } else if let Some(part) = part {
        forms.push(format!("{whole},{part}"));
    }
    let Some(value) = number.to_integer().filter(|value| *value >= 0) else { return forms };
    forms.extend(spelled(value));
    for (name, scale) in ENGLISH.scales.iter().chain(ENGLISH.suffixes) {
        let is_suffix = ENGLISH.suffixes.iter().any(|(suffix, _)| suffix == name);
        if value >= *scale && value % scale == 0 && value / scale < 1_000 && !name.ends_with('s') {
            forms.push(if is_suffix {
                format!("{}{name}", value / scale)
            } else {
                format!("{} {name}", value / scale)
            });
        }
    }
    forms.extend(ENGLISH.groups.iter().filter(|(_, n)| *n == value).map(|(name, _)| format!("a {name}")));
    forms
}

/// Digits in groups of three.
fn grouped(digits: &str, mark: &str) -> String {
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push_str(mark);
        }
        out.push(digit);
    }
    out
}

/// A number in words: up to a hundred, and round ones.
fn spelled(value: i64) -> Option<String> {
    let of = |numbers: &[(&str, i64)], value: i64| {
        numbers.iter().find(|(_, number)| *number == value).map(|(word, _)| (*word).to_owned())
    };
    match value {
        0..20 => of(ENGLISH.small, value),
        20..100 => {
            let tens = of(ENGLISH.tens, value / 10 * 10)?;
            if value % 10 == 0 {
                Some(tens)
            } else {
                Some(format!("{tens}-{}", of(ENGLISH.small, value % 10)?))
            }
        }
        100..1_000 if value % 100 == 0 => {
            Some(format!("{} {}", of(ENGLISH.small, value / 100)?, ENGLISH.hundred.first()?))
        }
        1_000..20_000 if value % 1_000 == 0 => {
            Some(format!("{} {}", of(ENGLISH.small, value / 1_000)?, ENGLISH.scales.first()?.0))
        }
        _ => None,
    }
}

fn ordinals(number: Ratio) -> Vec<String> {
    let Some(value) = number.to_integer() else { return Vec::new() };
    let mut forms: Vec<String> = ENGLISH.ordinal_suffixes.iter().map(|end| format!("{value}{end}")).collect();
    forms.retain(|form| form.ends_with(ending(value)));
    let words = ENGLISH.small_ordinals.iter().chain(ENGLISH.tens_ordinals);
    forms.extend(words.filter(|(_, known)| *known == value).map(|(word, _)| (*word).to_owned()));
    forms
}

fn ending(value: i64) -> &'static str {
    match (value % 100, value % 10) {
        (11..=13, _) => ENDINGS[0],
        (_, last @ 1..=3) => ENDINGS[last as usize],
        _ => ENDINGS[0],
    }
}

fn relative(now: Option<Moment>) -> Vec<String> {
    now.map_or(Vec::new(), |_| RELATIVE.iter().map(|words| (*words).to_owned()).collect())
}

/// The long and the short name of a month, with a capital letter.
fn month_names(month: i8) -> impl Iterator<Item = String> {
    let names = ENGLISH.months.iter().filter(move |(_, number)| *number == i64::from(month));
    names.take(2).map(|(name, _)| capital(name))
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

fn dates(date: Date, now: Option<Moment>) -> Vec<String> {
    let (year, month, day) = (date.year(), date.month(), date.day());
    let nth = format!("{day}{}", ending(i64::from(day)));
    let mut forms: Vec<String> = date_text(date).into_iter().collect();
    forms.extend([
        format!("{month}/{day}/{year}"),
        format!("{day}/{month}/{year}"),
        format!("{day}.{month}.{year}"),
    ]);
    for name in month_names(month) {
        forms.extend([
            format!("{name} {day}, {year}"),
            format!("{name} {nth}, {year}"),
            format!("{day} {name} {year}"),
            format!("the {nth} of {name} {year}"),
        ]);
        if now.is_some() {
            forms.extend([format!("{name} {day}"), format!("{name} {nth}"), format!("the {nth} of {name}")]);
        }
    }
    if now.and_then(date_of).is_some() {
        let weekday = i64::from(date.weekday().to_monday_one_offset());
        let names = ENGLISH.weekdays.iter().filter(|(_, number)| *number == weekday).take(1);
        for (name, _) in names {
            let name = capital(name);
            forms.extend([format!("last {name}"), format!("next {name}"), name]);
        }
    }
    forms
}

fn times(time: Time) -> Vec<String> {
    let (hour, minute) = (time.hour(), time.minute());
    let half = if hour < 12 { "am" } else { "pm" };
    let twelve = if hour % 12 == 0 { 12 } else { hour % 12 };
    let mut forms =
        vec![time_text(time), format!("{twelve}:{minute:02} {half}"), format!("{twelve}:{minute:02}{half}")];
    if minute == 0 {
        forms.extend([format!("{twelve} {half}"), format!("{twelve}{half}")]);
        let names = ENGLISH.hours.iter().filter(|(_, number)| *number == i64::from(hour));
        forms.extend(names.map(|(name, _)| (*name).to_owned()));
    }
    if minute == 30 {
        forms.extend(spelled(i64::from(twelve)).map(|word| format!("half past {word} {half}")));
    }
    forms
}

fn periods(begin: Date, end: Date, now: Option<Moment>) -> Vec<String> {
    let (year, month) = (begin.year(), begin.month());
    let months = 12 * (i32::from(end.year()) - i32::from(year)) + i32::from(end.month()) - i32::from(month);
    let is_whole = begin.day() == 1 && end.day() == 1;
    match months {
        _ if begin.tomorrow().ok() == Some(end) => dates(begin, now),
        1 if is_whole => {
            let of_year = |name: String| [format!("{name} {year}"), format!("{name} of {year}"), name];
            month_names(month).flat_map(of_year).collect()
        }
        3 if is_whole && (month - 1) % 3 == 0 => {
            let quarter = (month - 1) / 3 + 1;
            let ordinal = ordinals(Ratio::whole(i64::from(quarter)));
            let mut forms = vec![format!("Q{quarter} {year}"), format!("Q{quarter}")];
            forms.extend(ordinal.iter().map(|nth| format!("the {nth} quarter of {year}")));
            forms
        }
        12 if is_whole && month == 1 => vec![year.to_string(), format!("the year {year}")],
        _ => Vec::new(),
    }
}
