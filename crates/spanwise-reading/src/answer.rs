//! Answers as typed values.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use std::fmt;

/// What a program evaluates to.
///
/// As JSON it is the bare value: `42`, `true`, `"austin"`, `["ohio", "utah"]`, or a table such as
/// `{"columns": ["state", "area"], "rows": [["texas", 266807]]}`.
///
/// ```
/// use spanwise_reading::Answer;
///
/// let answer: Answer = serde_json::from_str(r#"["ohio", 3]"#)?;
/// assert_eq!(answer, Answer::List(vec![Answer::from("ohio"), Answer::from(3u64)]));
/// assert_eq!(answer.to_string(), "ohio, 3");
/// assert_eq!(serde_json::to_string(&answer)?, r#"["ohio",3]"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged, from = "Value")]
pub enum Answer {
    /// No value: an empty cell of a table, or `null` from an external executor.
    Null,
    /// Yes or no.
    Boolean(bool),
    /// A number, with the digits it was given with.
    Number(Number),
    /// A text: a name, a sentence.
    Text(String),
    /// Several values in order. An answer that contains nothing is an empty list.
    List(Vec<Answer>),
    /// Rows of named columns.
    Table {
        /// The names of the columns.
        columns: Vec<String>,
        /// The rows, each as long as `columns`.
        rows: Vec<Vec<Answer>>,
    },
}

impl Answer {
    /// Whether the answer contains nothing: no value, an empty text, a list without items, a table without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Boolean(_) | Self::Number(_) => false,
            Self::Text(text) => text.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Table { rows, .. } => rows.is_empty(),
        }
    }
}

impl From<Value> for Answer {
    /// Reads any JSON value.
    ///
    /// An object with exactly `columns` (texts) and `rows` (lists as long as `columns`) is a table, and so is a list of
    /// objects that hold plain values only; a column that a row lacks is [`Answer::Null`] there. Any other object
    /// becomes its JSON text.
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Boolean(value),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::Text(text),
            Value::Array(items) => match records(&items) {
                Some(columns) => {
                    let row = |item: &Value| columns.iter().map(|name| item[name].clone().into()).collect();
                    let rows = items.iter().map(row).collect();
                    Self::Table { columns, rows }
                }
                None => Self::List(items.into_iter().map(Self::from).collect()),
            },
            Value::Object(fields) => {
                table(&fields).unwrap_or_else(|| Self::Text(Value::Object(fields).to_string()))
            }
        }
    }
}

/// The columns of a list of flat objects, in the order in which they first occur; `None` for any other list.
fn records(items: &[Value]) -> Option<Vec<String>> {
    let mut columns: Map<String, Value> = Map::new();
    for item in items {
        let fields = item.as_object()?;
        if fields.values().any(|value| value.is_array() || value.is_object()) {
            return None;
        }
        columns.extend(fields.keys().map(|name| (name.clone(), Value::Null)));
    }
    (!columns.is_empty()).then(|| columns.into_iter().map(|(name, _)| name).collect())
}

/// The table that an object with `columns` and `rows` holds.
fn table(fields: &Map<String, Value>) -> Option<Answer> {
    let (columns, rows) = (fields.get("columns")?.as_array()?, fields.get("rows")?.as_array()?);
    let columns: Vec<String> =
        columns.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?;
    let row = |row: &Value| {
        let cells = row.as_array().filter(|cells| cells.len() == columns.len())?;
        Some(cells.iter().cloned().map(Answer::from).collect())
    };
    let rows = rows.iter().map(row).collect::<Option<_>>()?;
    (fields.len() == 2).then_some(Answer::Table { columns, rows })
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Answer {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl From<u64> for Answer {
    fn from(value: u64) -> Self {
        Self::Number(value.into())
    }
}

impl<T: Into<Answer>> FromIterator<T> for Answer {
    /// A list.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Answer {
    /// The answer in plain words: items separated by commas, the rows of a table by semicolons.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Boolean(value) => f.write_str(if *value { "yes" } else { "no" }),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::List(items) => write_items(f, items),
            Self::Table { rows, .. } => {
                for (at, row) in rows.iter().enumerate() {
                    f.write_str(if at > 0 { "; " } else { "" })?;
                    write_items(f, row)?;
                }
                Ok(())
            }
        }
    }
}

fn write_items(f: &mut fmt::Formatter<'_>, items: &[Answer]) -> fmt::Result {
    for (at, item) in items.iter().enumerate() {
        f.write_str(if at > 0 { ", " } else { "" })?;
        write!(f, "{item}")?;
    }
    Ok(())
}

#[cfg(feature = "openapi")]
mod schema {
    use utoipa::openapi::{RefOr, Schema};
    use utoipa::{PartialSchema, ToSchema};

    /// What a program evaluates to.
    #[derive(ToSchema)]
    #[schema(as = Answer, no_recursion)]
    #[serde(untagged)]
    #[allow(dead_code, reason = "only its schema is used")]
    enum Answer {
        /// No value.
        Null,
        /// Yes or no.
        Boolean(bool),
        /// A number.
        Number(f64),
        /// A text: a name, a sentence.
        Text(String),
        /// Several values in order.
        List(Vec<Answer>),
        /// Rows of named columns.
        Table {
            /// The names of the columns.
            columns: Vec<String>,
            /// The rows, each as long as `columns`.
            rows: Vec<Vec<Answer>>,
        },
    }

    impl PartialSchema for super::Answer {
        fn schema() -> RefOr<Schema> {
            Answer::schema()
        }
    }

    impl ToSchema for super::Answer {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn table(columns: &[&str], rows: Vec<Vec<Answer>>) -> Answer {
        Answer::Table { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows }
    }

    #[test]
    fn every_kind_of_answer_is_plain_json_and_is_read_back() {
        let number = |text: &str| Answer::Number(text.parse().expect("it is a number"));
        for (answer, text, shown) in [
            (Answer::Null, "null", ""),
            (Answer::Boolean(true), "true", "yes"),
            (number("266807.0"), "266807.0", "266807.0"),
            (number("99999999999999999999999"), "99999999999999999999999", "99999999999999999999999"),
            (Answer::from("st. \"louis\""), r#""st. \"louis\"""#, "st. \"louis\""),
            (Answer::List(Vec::new()), "[]", ""),
            (["a", "b"].into_iter().collect(), r#"["a","b"]"#, "a, b"),
            (
                table(
                    &["state", "area"],
                    vec![vec!["ohio".into(), 7.into()], vec!["utah".into(), Answer::Null]],
                ),
                r#"{"columns":["state","area"],"rows":[["ohio",7],["utah",null]]}"#,
                "ohio, 7; utah, ",
            ),
        ] {
            assert_eq!(serde_json::to_string(&answer).expect("an answer is JSON"), text);
            assert_eq!(serde_json::from_str::<Answer>(text).expect("it is an answer"), answer);
            assert_eq!(answer.to_string(), shown);
        }
    }

    #[test]
    fn a_list_of_flat_objects_is_a_table_with_all_their_columns() {
        let value = json!([{"name": "ohio", "area": 7}, {"area": 9, "capital": "juneau"}]);
        let rows =
            vec![vec!["ohio".into(), 7.into(), Answer::Null], vec![Answer::Null, 9.into(), "juneau".into()]];
        assert_eq!(Answer::from(value), table(&["name", "area", "capital"], rows));
    }

    #[test]
    fn objects_that_are_no_tables_become_their_text() {
        for value in [
            json!({"b": [1, 2.5], "a": null}),
            json!({"columns": ["a"], "rows": [[1, 2]]}),
            json!({"columns": ["a"], "rows": [[1]], "more": 1}),
            json!({"columns": [1], "rows": []}),
        ] {
            assert_eq!(Answer::from(value.clone()), Answer::Text(value.to_string()));
        }
        let mixed = json!(["b", {"z": 1}]);
        assert_eq!(Answer::from(mixed), ["b", r#"{"z":1}"#].into_iter().collect());
        let nested = json!([{"z": [1]}]);
        assert_eq!(Answer::from(nested), [r#"{"z":[1]}"#].into_iter().collect());
    }

    #[test]
    fn only_answers_that_contain_nothing_are_empty() {
        let empty = [Answer::Null, "".into(), Answer::List(Vec::new()), table(&["a"], Vec::new())];
        assert!(empty.iter().all(Answer::is_empty));
        let full = [false.into(), 0.into(), " ".into(), Answer::List(vec![Answer::Null])];
        assert!(full.iter().all(|answer| !answer.is_empty()));
    }
}
