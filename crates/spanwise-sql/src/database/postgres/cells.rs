//! Cells: the text that the server writes, as a typed value.

use super::super::value::bytes;
use serde_json::{Number, Value};
use spanwise_reading::Answer;
use tokio_postgres::types::{Kind, Type};

/// How the text of a column is read.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Cell {
    Boolean,
    /// Digits; `NaN` and infinities, which are no numbers of JSON, become texts.
    Number,
    Json,
    /// Only the length is fetched.
    Bytes,
    List(Box<Cell>),
    /// Texts, days, times, intervals, UUIDs, enumerations, and every type that is not known here.
    Text,
}

impl Cell {
    pub(super) fn of(kind: &Type) -> Self {
        match *kind {
            Type::BOOL => Self::Boolean,
            Type::INT2
            | Type::INT4
            | Type::INT8
            | Type::OID
            | Type::FLOAT4
            | Type::FLOAT8
            | Type::NUMERIC => Self::Number,
            Type::JSON | Type::JSONB => Self::Json,
            Type::BYTEA => Self::Bytes,
            // Written without braces, or with another separator.
            Type::INT2_VECTOR | Type::OID_VECTOR | Type::BOX_ARRAY => Self::Text,
            _ => match kind.kind() {
                Kind::Array(element) => Self::List(Box::new(Self::of(element))),
                Kind::Domain(base) => Self::of(base),
                _ => Self::Text,
            },
        }
    }

    /// The expression that makes a text of a column.
    pub(super) fn select(&self, column: &str) -> String {
        match self {
            Self::Bytes => format!("octet_length({column})::text"),
            _ => format!("{column}::text"),
        }
    }

    /// Reads what the expression of [`Cell::select`] gave.
    pub(super) fn read(&self, text: Option<&str>) -> Answer {
        match (self, text) {
            (_, None) => Answer::Null,
            (Self::Bytes, Some(length)) => length.parse().map_or_else(|_| Answer::from(length), bytes),
            (_, Some(text)) => self.value(text),
        }
    }

    fn value(&self, text: &str) -> Answer {
        match self {
            Self::Boolean => match text {
                "t" | "true" => Answer::Boolean(true),
                "f" | "false" => Answer::Boolean(false),
                _ => Answer::from(text),
            },
            Self::Number => text.parse::<Number>().map_or_else(|_| Answer::from(text), Answer::Number),
            Self::Json => serde_json::from_str(text).map_or_else(|_| Answer::from(text), json),
            // Within an array: `\x00ff`.
            Self::Bytes => bytes(text.len().saturating_sub(2) / 2),
            Self::List(element) => list(text, element).unwrap_or_else(|| Answer::from(text)),
            Self::Text => Answer::from(text),
        }
    }
}

/// Lists and plain values are values; an object is its text, because a cell is no table.
fn json(value: Value) -> Answer {
    match value {
        Value::Array(items) => Answer::List(items.into_iter().map(json).collect()),
        Value::Object(_) => Answer::Text(value.to_string()),
        plain => Answer::from(plain),
    }
}

/// An array as PostgreSQL writes it: `{1,NULL,"a b"}`, nested for more dimensions, after `[0:1]=` where it does not
/// begin at 1.
fn list(text: &str, element: &Cell) -> Option<Answer> {
    let text = match text.strip_prefix('[') {
        Some(_) => text.split_once('=')?.1,
        None => text,
    };
    let mut open: Vec<Vec<Answer>> = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        match letters.next()? {
            '{' => open.push(Vec::new()),
            '}' => {
                let done = Answer::List(open.pop()?);
                let Some(outer) = open.last_mut() else {
                    return letters.next().is_none().then_some(done);
                };
                outer.push(done);
            }
            ',' => {}
            '"' => {
                let mut item = String::new();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => item.push(letters.next()?),
                        letter => item.push(letter),
                    }
                }
                open.last_mut()?.push(element.value(&item));
            }
            first => {
                let mut item = String::from(first);
                while let Some(letter) = letters.next_if(|letter| !matches!(letter, ',' | '}')) {
                    item.push(letter);
                }
                let item = if item == "NULL" { Answer::Null } else { element.value(&item) };
                open.last_mut()?.push(item);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_lists_of_typed_values() {
        for (text, cell, expected) in [
            ("{}", Cell::Number, "[]"),
            ("{1,NULL,-2.50}", Cell::Number, "[1,null,-2.50]"),
            (r#"{a,"b, c","NULL","q\"\\",""}"#, Cell::Text, r#"["a","b, c","NULL","q\"\\",""]"#),
            ("{{1,2},{3,4}}", Cell::Number, "[[1,2],[3,4]]"),
            ("[0:1]={t,f}", Cell::Boolean, "[true,false]"),
            (r#"{"\\x00ff"}"#, Cell::Bytes, r#"["<2 bytes>"]"#),
            // What is no array stays as it is.
            ("{1", Cell::Number, r#""{1""#),
            ("{1}}", Cell::Number, r#""{1}}""#),
        ] {
            let answer = Cell::List(Box::new(cell)).read(Some(text));
            assert_eq!(serde_json::to_string(&answer).expect("an answer is JSON"), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_number_of_json_is_a_text() {
        for text in ["NaN", "Infinity", "-Infinity"] {
            assert_eq!(Cell::Number.read(Some(text)), Answer::from(text));
        }
        let digits = "123456789012345678901234567890.123456789012345678900";
        assert_eq!(
            serde_json::to_string(&Cell::Number.read(Some(digits))).expect("an answer is JSON"),
            digits
        );
    }
}
