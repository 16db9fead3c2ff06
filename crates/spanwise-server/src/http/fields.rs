//! Reading a JSON object field by field. A field that is wrong is named by its path, with what was expected.

use super::error::Problem;
use serde_json::{Map, Value};

/// The fields of a request.
#[derive(Debug)]
pub(crate) struct Fields(Map<String, Value>);

impl Fields {
    /// Reads a body; only the fields in `known` may be there. `null` counts as absent.
    pub(crate) fn read(body: &[u8], known: &[&str]) -> Result<Self, Problem> {
        let text = std::str::from_utf8(body)
            .map_err(|error| Problem::bad_json(&format!("byte {} is not UTF-8", error.valid_up_to())))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value: Value =
            serde_json::from_str(text).map_err(|error| Problem::bad_json(&error.to_string()))?;
        let Value::Object(mut fields) = value else {
            return Err(Problem::bad_field("$", "an object", &described(&value)));
        };
        if let Some(name) = fields.keys().find(|name| !known.contains(&name.as_str())) {
            let shown: String = name.chars().take(40).collect();
            return Err(Problem::unknown_field(&format!("$.{}", shown.escape_debug()), name, known));
        }
        fields.retain(|_, value| !value.is_null());
        Ok(Self(fields))
    }

    /// Whether a field is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// A field as it is.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    fn typed<T>(
        &mut self,
        name: &str,
        expected: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let problem = || Problem::bad_field(&format!("$.{name}"), expected, &described(&value));
        read(&value).ok_or_else(problem).map(Some)
    }

    /// A text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        self.typed(name, "a text", |value| value.as_str().map(str::to_owned))
    }

    /// Yes or no.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, Problem> {
        Ok(self.typed(name, "true or false", Value::as_bool)?.unwrap_or(false))
    }

    /// A whole number from 0.
    pub(crate) fn count(&mut self, name: &str) -> Result<usize, Problem> {
        let read = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        Ok(self.typed(name, "a whole number from 0", read)?.unwrap_or(0))
    }

    /// A number from 0 to 1.
    pub(crate) fn share(&mut self, name: &str) -> Result<Option<f64>, Problem> {
        let read = |value: &Value| value.as_f64().filter(|share| (0.0..=1.0).contains(share));
        self.typed(name, "a number from 0 to 1", read)
    }

    /// Texts in a list.
    pub(crate) fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, Problem> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let Value::Array(items) = value else {
            return Err(Problem::bad_field(&format!("$.{name}"), "a list of texts", &described(&value)));
        };
        let text = |(at, item)| match item {
            Value::String(text) => Ok(text),
            other => Err(Problem::bad_field(&format!("$.{name}[{at}]"), "a text", &described(&other))),
        };
        items.into_iter().enumerate().map(text).collect::<Result<_, _>>().map(Some)
    }
}

/// A value in a few words.
pub(crate) fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => {
            format!("the number {}", number.to_string().chars().take(20).collect::<String>())
        }
        Value::String(_) => "a text".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
    }
}
