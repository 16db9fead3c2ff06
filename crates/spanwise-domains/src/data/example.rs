//! One example of a data set, and its form as JSON.

use serde_json::{Map, Value};

/// An utterance with whatever is known about its meaning.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Example {
    /// What was said.
    pub utterance: String,
    /// The gold program, as text.
    pub program: Option<String>,
    /// The gold answer.
    pub answer: Option<String>,
    /// What the program is evaluated in: a scene, say.
    pub context: Option<Value>,
    /// A gold tree, as the data has it.
    pub gold_spans: Option<Value>,
    /// All other fields, in the order of the file.
    pub extra: Map<String, Value>,
}

/// Why a JSON value is no example.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FieldError {
    /// It is not an object at all.
    #[error("expected a JSON object, found {found}")]
    NotAnObject {
        /// The kind of JSON value that was found.
        found: &'static str,
    },
    /// There is no utterance, or nothing in it.
    #[error("the example has no utterance; expected a text in the field `utterance` or `question`")]
    MissingUtterance,
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

    /// Reads an example. `question` stands for `utterance` and `scene` for `context` where those are absent;
    /// one of these fields that is `null` counts as absent.
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
                "utterance" | "question" | "program" | "answer" | "context" | "scene" | "gold_spans"
                    if value.is_null() => {}
                name if name == utterance_field => example.utterance = text(field, value)?,
                name if name == context_field => example.context = Some(value),
                "program" => example.program = Some(text(field, value)?),
                // What is not text becomes compact JSON, as it does in the replies of executors.
                "answer" => {
                    example.answer = Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
                }
                "gold_spans" => example.gold_spans = Some(value),
                _ => {
                    example.extra.insert(field, value);
                }
            }
        }
        if example.utterance.trim().is_empty() {
            return Err(FieldError::MissingUtterance);
        }
        Ok(example)
    }

    /// The example as JSON: `utterance`, `program`, `answer`, `context`, `gold_spans`, then the other fields;
    /// what is not there is left out. [`Example::from_json`] gives the same example back.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("utterance".to_owned(), Value::String(self.utterance.clone()));
        let texts = [("program", &self.program), ("answer", &self.answer)];
        for (name, text) in texts.into_iter().filter_map(|(name, text)| Some((name, text.as_ref()?))) {
            fields.insert(name.to_owned(), Value::String(text.clone()));
        }
        let values = [("context", &self.context), ("gold_spans", &self.gold_spans)];
        for (name, value) in values.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?))) {
            fields.insert(name.to_owned(), value.clone());
        }
        for (name, value) in &self.extra {
            fields.entry(name.clone()).or_insert_with(|| value.clone());
        }
        Value::Object(fields)
    }
}

fn text(field: String, value: Value) -> Result<String, FieldError> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(FieldError::WrongType { field, found: kind(&other) }),
    }
}

/// What a JSON value is, for messages.
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
                Example { utterance, program, answer, context: context.map(Value::String), gold_spans, extra }
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
