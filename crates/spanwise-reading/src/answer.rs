//! Answers as typed values.

use serde::{Deserialize, Serialize};
use serde_json::Number;

/// What a program evaluates to. As JSON it is just the value: `42`, `"austin"`, `["ohio", "utah"]`, or
/// `{"columns": ["state", "area"], "rows": [["texas", 266807]]}`.
///
/// ```
/// use spanwise_reading::Answer;
///
/// let answer: Answer = serde_json::from_str(r#"["ohio", 3]"#).unwrap();
/// assert_eq!(answer, Answer::List(vec![Answer::Text("ohio".into()), Answer::Number(3.into())]));
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(no_recursion))]
pub enum Answer {
    /// Yes or no.
    Boolean(bool),
    /// A number, with the digits it was given with.
    Number(#[cfg_attr(feature = "openapi", schema(value_type = f64))] Number),
    /// A text: a name, a sentence.
    Text(String),
    /// Several values in order; none of them for an empty answer.
    List(Vec<Answer>),
    /// Rows of named columns.
    Table {
        /// The names of the columns.
        columns: Vec<String>,
        /// The rows, each as long as `columns`.
        rows: Vec<Vec<Answer>>,
    },
}
