//! Literals and the text of their fields.

use crate::ratio::Ratio;
use jiff::civil::{Date, DateTime, Time};
use spanwise_core::Span;

/// A reading of a span of words.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Literal {
    /// The words.
    pub span: Span,
    /// The name and the text of each field, in the order of [`Recognizer::fields`](crate::Recognizer::fields).
    pub fields: Vec<(&'static str, String)>,
}

impl Literal {
    /// The text of a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, text)| text.as_str())
    }

    /// The field that every literal has.
    #[must_use]
    pub fn value(&self) -> &str {
        self.field("value").unwrap_or_default()
    }
}

/// What a reading means.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Number(Ratio),
    Amount(Ratio, String),
    Day(Date),
    Clock(Time),
    Moment(DateTime),
    Period(Date, Date),
    Words(String),
}

/// A reading of the atoms `[start, end)`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Found {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) value: Value,
    /// Whether readings inside it count as well.
    pub(crate) soft: bool,
}

impl Found {
    pub(crate) fn new(start: usize, end: usize, value: Value) -> Self {
        Self { start, end, value, soft: false }
    }
}

impl Value {
    /// The fields; nothing for values that no text of the kind stands for.
    pub(crate) fn fields(&self) -> Option<Vec<(&'static str, String)>> {
        Some(match self {
            Self::Number(number) => vec![("value", number.to_text()?)],
            Self::Amount(number, unit) => {
                let number = number.to_text()?;
                vec![("value", format!("{number} {unit}")), ("number", number), ("unit", unit.clone())]
            }
            Self::Day(date) => vec![("value", date_text(*date)?)],
            Self::Clock(time) => vec![("value", time_text(*time))],
            Self::Moment(moment) => {
                vec![("value", format!("{}T{}", date_text(moment.date())?, time_text(moment.time())))]
            }
            Self::Period(begin, end) => {
                let (begin, end) = (date_text(*begin)?, date_text(*end)?);
                vec![("value", format!("{begin}/{end}")), ("begin", begin), ("end", end)]
            }
            Self::Words(text) => vec![("value", text.clone())],
        })
    }
}

/// Years from 1 to 9999.
pub(crate) fn date_text(date: Date) -> Option<String> {
    (date.year() >= 1).then(|| format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day()))
}

pub(crate) fn time_text(time: Time) -> String {
    match time.second() {
        0 => format!("{:02}:{:02}", time.hour(), time.minute()),
        second => format!("{:02}:{:02}:{second:02}", time.hour(), time.minute()),
    }
}
