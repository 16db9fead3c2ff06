//! One example of a data set, and its form as JSON.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use spanwise_core::{Moment, MomentError, Utterance};

/// An utterance and its annotations: program, answer, context, tree.
///
/// Written as JSON, absent fields are left out, and [`Example::from_json`] reads the same example back:
///
/// ```
/// use spanwise_domains::data::Example;
///
/// let line = r#"{"utterance":"jump twice","program":"i_twice(i_jump())","id":7}"#;
/// let example = Example::from_json(serde_json::from_str(line)?)?;
/// assert_eq!(example.program.as_deref(), Some("i_twice(i_jump())"));
/// assert_eq!(serde_json::to_string(&example)?, line);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Example {
    /// The utterance.
    pub utterance: String,
    /// The gold program, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Whether the utterance is known to have no program: `"program": null`.
    #[serde(rename = "program", skip_serializing_if = "is_answerable", serialize_with = "null")]
    pub unanswerable: bool,
    /// When it was said: what relative dates refer to.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub now: Option<Moment>,
    /// The gold answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What the program is evaluated in, such as a scene.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// A gold tree, as the data has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gold_spans: Option<Value>,
    /// All other fields, in the order of the file. It must not repeat a field above.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Why a JSON value is not an example.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FieldError {
    /// It is not an object at all.
    #[error("expected a JSON object, found {found}")]
    NotAnObject {
        /// The kind of JSON value that was found.
        found: &'static str,
    },
    /// The utterance is missing or blank.
    #[error("the example has no utterance; expected a text in the field `utterance` or `question`")]
    MissingUtterance,
    /// The date is none.
    #[error("the field `now`: {0}")]
    WrongDate(MomentError),
    /// A field holds the wrong kind of value.
    #[error("the field `{field}` must be a string, found {found}")]
    WrongType {
        /// The field.
        field: String,
        /// The kind of JSON value that was found.
        found: &'static str,
    },
}

impl Example {
    /// An example with an utterance and nothing else.
    #[must_use]
    pub fn new(utterance: impl Into<String>) -> Self {
        Self { utterance: utterance.into(), ..Self::default() }
    }

    /// Reads an example. Without a field `utterance` the field `question` is the utterance, and without `context` the
    /// field `scene` is the context. One of these fields that is `null` counts as absent, but for `program`: an utterance
    /// whose program is `null` and that has no answer is one that a parser should not answer.
    ///
    /// # Errors
    /// See [`FieldError`].
    pub fn from_json(value: Value) -> Result<Self, FieldError> {
        let Value::Object(fields) = value else {
            return Err(FieldError::NotAnObject { found: kind(&value) });
        };
        let is_there = |name: &str| fields.get(name).is_some_and(|value| !value.is_null());
        let utterance_field = if is_there("utterance") { "utterance" } else { "question" };
        let context_field = if is_there("context") { "context" } else { "scene" };
        let mut example = Self::default();
        for (field, value) in fields {
            match field.as_str() {
                "program" if value.is_null() => example.unanswerable = true,
                "utterance" | "question" | "now" | "answer" | "context" | "scene" | "gold_spans"
                    if value.is_null() => {}
                name if name == utterance_field => example.utterance = text(field, value)?,
                name if name == context_field => example.context = Some(value),
                "program" => example.program = Some(text(field, value)?),
                // Anything but text becomes compact JSON, as in the replies of executors.
                "answer" => {
                    example.answer = Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                }
                "now" => {
                    let moment = text(field, value)?.parse().map_err(FieldError::WrongDate)?;
                    example.now = Some(moment);
                }
                "gold_spans" => example.gold_spans = Some(value),
                _ => {
                    example.extra.insert(field, value);
                }
            }
        }
        // An answer is there to be found, even if nobody has written its program.
        example.unanswerable &= example.answer.is_none();
        if example.utterance.trim().is_empty() {
            return Err(FieldError::MissingUtterance);
        }
        Ok(example)
    }

    /// The utterance with its tokens, and with the moment at which it was said.
    #[must_use]
    pub fn spoken(&self) -> Utterance {
        Utterance::new(self.utterance.as_str()).said_at(self.now)
    }

    /// The example as a JSON object, with the fields in the order of this type.
    #[must_use]
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("texts and JSON values are JSON")
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_answerable(unanswerable: &bool) -> bool {
    !unanswerable
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn null<S: Serializer>(_: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_none()
}

#[allow(clippy::ref_option, reason = "the signature that serde asks for")]
fn as_text<S: Serializer>(now: &Option<Moment>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&now.map_or_else(String::new, |now| now.to_string()))
}

fn text(field: String, value: Value) -> Result<String, FieldError> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(FieldError::WrongType { field, found: kind(&other) }),
    }
}

/// The kind of a JSON value, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn the_data_releases_own_field_names_are_understood() {
        let value = json!({"id": 3, "question": "how many?", "scene": "x", "answer": null, "other": null});
        let example = Example::from_json(value).unwrap();
        assert_eq!((example.utterance.as_str(), example.context), ("how many?", Some(json!("x"))));
        assert_eq!((example.answer, Value::Object(example.extra)), (None, json!({"id": 3, "other": null})));
    }

    #[test]
    fn our_own_field_names_win_and_the_others_are_kept() {
        let value = json!({"question": "q", "utterance": "u", "scene": 1, "context": 2});
        let example = Example::from_json(value).unwrap();
        assert_eq!((example.utterance.as_str(), &example.context), ("u", &Some(json!(2))));
        assert_eq!(
            example.to_json().to_string(),
            r#"{"utterance":"u","context":2,"question":"q","scene":1}"#
        );
    }

    #[test]
    fn wrong_types_are_named() {
        let check =
            |value, message: &str| assert_eq!(Example::from_json(value).unwrap_err().to_string(), message);
        let no_utterance =
            "the example has no utterance; expected a text in the field `utterance` or `question`";
        check(json!({"program": "x"}), no_utterance);
        check(json!({"utterance": " "}), no_utterance);
        check(json!({"utterance": 3}), "the field `utterance` must be a string, found a number");
        check(json!({"question": ["a"]}), "the field `question` must be a string, found an array");
        check(
            json!({"utterance": "u", "program": {}}),
            "the field `program` must be a string, found an object",
        );
        check(json!("u"), "expected a JSON object, found a string");
    }

    fn any_example() -> impl Strategy<Value = Example> {
        let option = || prop::option::of("\\PC{0,8}");
        (
            "\\PC{0,8}[a-z]",
            option(),
            option(),
            option(),
            prop::collection::btree_map("x[a-z]{0,3}", "\\PC{0,8}", 0..3),
        )
            .prop_map(|(utterance, program, answer, context, extra)| {
                let extra = extra.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
                let gold_spans = program.as_ref().map(|program| json!([{"span": [0, 1], "type": program}]));
                Example { utterance, program, answer, context: context.map(Value::String), gold_spans, extra, ..Example::default() }
            })
    }

    proptest! {
        #[test]
        fn reading_what_was_written_gives_the_same_example(example in any_example()) {
            let line = example.to_json().to_string();
            prop_assert_eq!(Example::from_json(serde_json::from_str(&line).unwrap()).unwrap(), example);
        }
    }
}
