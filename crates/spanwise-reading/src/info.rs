//! What is known about an answer beside its value.

use serde::{Deserialize, Serialize};

/// What is known about an answer beside its value: whether it was cut, how many rows there are, the units of its numbers.
///
/// In JSON every field that says nothing is left out, and so is an info that is empty.
///
/// ```
/// use spanwise_reading::AnswerInfo;
///
/// let info: AnswerInfo = serde_json::from_str(r#"{"truncated": true, "total_rows": 1240, "units": ["", "min"]}"#)?;
/// assert!(!info.is_empty());
/// assert_eq!(info.unit(1), Some("min"));
/// assert_eq!(info.unit(0), None);
/// assert_eq!(serde_json::to_string(&AnswerInfo::default())?, "{}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AnswerInfo {
    /// Whether rows or items are missing because there were more than a limit; left out where nothing is missing.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub truncated: bool,
    /// How many rows or items there are in all, where that is known; otherwise left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub total_rows: Option<u64>,
    /// The unit of each column of a table, or of the numbers of any other answer, as its only item; an empty text where
    /// there is none. Left out without units.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub units: Vec<String>,
}

impl AnswerInfo {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.truncated && self.total_rows.is_none() && self.units.iter().all(String::is_empty)
    }

    /// The unit of a column; that of an answer without columns is at 0.
    #[must_use]
    pub fn unit(&self, column: usize) -> Option<&str> {
        self.units.get(column).map(String::as_str).filter(|unit| !unit.is_empty())
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !value
}
