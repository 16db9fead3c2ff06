//! Values of programs as parameters.

use super::ComposeError;
use crate::database::{Dialect, Value};
use spanwise_lang::sql::FieldKind;

/// Most characters of a value in a message.
const MAX_SHOWN: usize = 80;

/// The parameter for a cell, which the program has as this text.
pub(super) fn parameter(text: &str, kind: FieldKind) -> Result<Value, ComposeError> {
    if text.contains('\0') {
        let shown: String = text.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect();
        return Err(ComposeError::Value(format!(
            "`{shown}` has a NUL character, which no database compares"
        )));
    }
    let is_number = || text.parse::<f64>().is_ok_and(f64::is_finite);
    let text = text.to_owned();
    Ok(match kind {
        FieldKind::Integer | FieldKind::Decimal if !is_number() => {
            let shown: String = text.chars().take(MAX_SHOWN).flat_map(char::escape_debug).collect();
            return Err(ComposeError::Value(format!("`{shown}` is no number")));
        }
        FieldKind::Integer => text.parse().map_or(Value::Decimal(text), Value::Integer),
        FieldKind::Decimal => Value::Decimal(text),
        FieldKind::Text => Value::Text(text),
        FieldKind::Date => Value::Date(text),
        FieldKind::Time => Value::Time(with_seconds(text)),
        // As databases write it.
        FieldKind::DateTime => Value::DateTime(with_seconds(text.replace('T', " "))),
    })
}

/// Some value of a kind.
pub(super) fn sample(kind: FieldKind) -> Value {
    match kind {
        FieldKind::Integer => Value::Integer(1),
        FieldKind::Decimal => Value::Decimal("1".to_owned()),
        FieldKind::Text => Value::Text(String::new()),
        FieldKind::Date => Value::Date("2000-01-01".to_owned()),
        FieldKind::Time => Value::Time("12:00:00".to_owned()),
        FieldKind::DateTime => Value::DateTime("2000-01-01 12:00:00".to_owned()),
    }
}

/// `16:30` as `16:30:00`.
fn with_seconds(text: String) -> String {
    if text.matches(':').count() == 1 { text + ":00" } else { text }
}

/// What stands for a parameter in a statement, by its number from 1.
#[must_use]
pub fn placeholder(value: &Value, number: usize, dialect: Dialect) -> String {
    let ty = match (dialect, value) {
        (Dialect::Sqlite, _) => return format!("?{number}"),
        (_, Value::Null | Value::Text(_)) => return format!("${number}::text"),
        (_, Value::Integer(_)) => "bigint",
        (_, Value::Decimal(_)) => "numeric",
        (_, Value::Date(_)) => "date",
        (_, Value::Time(_)) => "time",
        (_, Value::DateTime(_)) => "timestamp",
        (_, Value::Boolean(_)) => "boolean",
    };
    format!("${number}::text::{ty}")
}

/// A value on one line, as SQL writes it.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Decimal(number) => number.clone(),
        Value::Boolean(value) => value.to_string(),
        Value::Text(text) | Value::Date(text) | Value::Time(text) | Value::DateTime(text) => {
            let mut shown = String::from("'");
            for ch in text.chars() {
                match ch {
                    '\'' => shown.push_str("''"),
                    // A comment ends with the line.
                    ch if ch.is_control() || matches!(ch, '\u{2028}' | '\u{2029}') => {
                        shown.extend(ch.escape_unicode());
                    }
                    ch => shown.push(ch),
                }
            }
            shown + "'"
        }
    }
}
