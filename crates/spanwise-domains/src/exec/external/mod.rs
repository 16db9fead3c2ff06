//! Executors outside this process: children that are kept alive, or a server.
//!
//! A program is sent as one JSON request; one JSON reply is read as a [`Denotation`]:
//!
//! ```json
//! {"id": 7, "program": "count(scene())", "context": {"objects": []}}
//! {"id": 7, "denotation": 0}
//! {"id": 7, "error": "unknown predicate `count`"}
//! ```
//!
//! `context` is left out when there is none. `id` belongs to [`CommandExecutor`] alone. A denotation that is
//! a string is taken as it is, any other as compact JSON; `null`, `""` and `[]` are empty. The same value, typed, is
//! the [answer](Denotation::answer): an object with `columns` and `rows`, or a list of flat objects, is a table. `truncated`,
//! `total_rows` and `units` beside it are its [info](Denotation::info). A reply with `error` is [`ExecError::NoValue`]: the executor works and the program has no value. A request that is too
//! large to send is [`ExecError::Limit`]. Everything else that goes wrong is [`ExecError::External`], and the
//! executor stays usable. Requests, replies and waiting are all bounded.

mod command;
mod http;
mod private;
mod process;

pub(super) use command::check_command;
pub use command::{CommandConfig, CommandExecutor};
pub(super) use http::check_url;
pub use http::{HttpConfig, HttpExecutor};
pub use private::PrivateExecutor;
pub use process::stop_all;

use super::{Denotation, ExecError};
use serde_json::{Map, Value};
use spanwise_lang::{Style, TermId, Terms};
use spanwise_reading::AnswerInfo;
use std::io::{self, Write};
use std::time::Duration;

/// Most bytes of one request and of one reply.
pub const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Longest time-out; a longer one is cut to this, so that no sum of times overflows.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// Most levels of nesting in a context, the same as the JSON reader allows.
const MAX_CONTEXT_LEVELS: usize = 128;

/// Most characters of a request or a reply that are quoted in a message.
pub(super) const MAX_QUOTED_CHARS: usize = 200;

/// Most characters of the executor's own explanation that are passed on.
const MAX_REASON_CHARS: usize = 2_000;

/// A program to evaluate, where it can be evaluated.
#[derive(Clone, Copy)]
struct Question<'a> {
    terms: &'a Terms,
    program: TermId,
    context: Option<&'a Value>,
    style: &'a Style,
}

impl Question<'_> {
    /// The request as one line of JSON without the line end.
    fn request(&self, id: Option<u64>) -> Result<Vec<u8>, ExecError> {
        let too_long = ExecError::Limit { what: "bytes in one request", limit: MAX_MESSAGE_BYTES as u64 };
        // A shared subterm is written every time it occurs: a small store can hold an endless text.
        if self.terms.size(self.program) > MAX_MESSAGE_BYTES as u64 {
            return Err(too_long);
        }
        if self.context.is_some_and(|context| is_nested_deeper(context, MAX_CONTEXT_LEVELS)) {
            let limit = MAX_CONTEXT_LEVELS as u64;
            return Err(ExecError::Limit { what: "levels of nesting in the context", limit });
        }
        self.write(id).map_err(|_| too_long)
    }

    fn write(&self, id: Option<u64>) -> io::Result<Vec<u8>> {
        let mut program = Bounded::default();
        write!(program, "{}", self.terms.display_styled(self.program, self.style))?;
        let program = String::from_utf8(program.bytes).expect("written as text");
        let mut request = Bounded::default();
        request.write_all(b"{")?;
        if let Some(id) = id {
            write!(request, "\"id\":{id},")?;
        }
        request.write_all(b"\"program\":")?;
        serde_json::to_writer(&mut request, &program)?;
        if let Some(context) = self.context {
            request.write_all(b",\"context\":")?;
            serde_json::to_writer(&mut request, context)?;
        }
        request.write_all(b"}")?;
        Ok(request.bytes)
    }
}

/// Collects at most [`MAX_MESSAGE_BYTES`].
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
}

impl Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if more.len() > MAX_MESSAGE_BYTES - self.bytes.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether some value lies below more than `most` lists and objects. Does not recurse.
fn is_nested_deeper(value: &Value, most: usize) -> bool {
    let mut open = vec![(value, 0)];
    while let Some((value, level)) = open.pop() {
        if level > most {
            return true;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(fields) => open.extend(fields.values().map(|item| (item, level + 1))),
            _ => {}
        }
    }
    false
}

/// What an executor answered.
#[derive(PartialEq, Debug)]
struct Reply {
    id: Option<u64>,
    result: Result<Denotation, ExecError>,
}

impl Reply {
    /// Reads a reply; the error says what is wrong with it.
    fn parse(bytes: &[u8]) -> Result<Self, String> {
        let text = str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            format!("expected a JSON reply, got bytes that are not UTF-8 at offset {at}: `{}`", quote(bytes))
        })?;
        let wrong = |why: &str| format!("expected a JSON reply, got `{}`: {why}", quote(bytes));
        if text.trim().is_empty() {
            return Err("expected a JSON reply, got an empty line".to_owned());
        }
        let value: Value = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
        let Value::Object(mut fields) = value else {
            return Err(wrong("it must be an object with `denotation` or `error`"));
        };
        let id = match fields.get("id") {
            None | Some(Value::Null) => None,
            Some(id) => Some(id.as_u64().ok_or_else(|| wrong("`id` must be the number of the request"))?),
        };
        let error = fields.swap_remove("error").filter(|error| !error.is_null());
        let result = match (fields.swap_remove("denotation"), error) {
            (Some(value), None) => Ok(denotation(value).with_info(info(&fields))),
            (None | Some(Value::Null), Some(Value::String(reason))) => Err(no_value(&reason)),
            (None | Some(Value::Null), Some(reason)) => Err(no_value(&reason.to_string())),
            (Some(_), Some(_)) => return Err(wrong("it holds both `denotation` and `error`")),
            (None, None) => return Err(wrong("it holds neither `denotation` nor `error`")),
        };
        Ok(Self { id, result })
    }
}

fn denotation(value: Value) -> Denotation {
    let is_empty = match &value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let text = match &value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Denotation { is_empty, ..Denotation::typed(text, value.into()) }
}

/// The fields of a reply that say something about its denotation. One that cannot be understood says nothing: it must not
/// take the answer away.
fn info(fields: &Map<String, Value>) -> AnswerInfo {
    let units = fields.get("units").and_then(Value::as_array).into_iter().flatten();
    let units: Option<Vec<String>> = units.map(|unit| Some(unit.as_str()?.to_owned())).collect();
    AnswerInfo {
        truncated: fields.get("truncated").and_then(Value::as_bool).unwrap_or(false),
        total_rows: fields.get("total_rows").and_then(Value::as_u64),
        units: units.unwrap_or_default(),
    }
}

fn no_value(reason: &str) -> ExecError {
    ExecError::NoValue(format!("the external executor reports: {}", excerpt(reason, MAX_REASON_CHARS)))
}

/// The start of a request or a reply, fit for a message.
fn quote(bytes: &[u8]) -> String {
    // A character takes at most four bytes, so this many show whether there are more characters to come.
    let start = &bytes[..bytes.len().min(4 * (MAX_QUOTED_CHARS + 1))];
    excerpt(&String::from_utf8_lossy(start), MAX_QUOTED_CHARS)
}

/// At most `most` characters of a text on one line, control characters made visible.
pub(super) fn excerpt(text: &str, most: usize) -> String {
    let text = text.trim();
    let mut shown = String::new();
    for ch in text.chars().take(most) {
        if ch.is_control() {
            shown.extend(ch.escape_default());
        } else {
            shown.push(ch);
        }
    }
    if text.chars().nth(most).is_some() {
        shown.push_str("...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check_reply(text: &str, expected: &str) {
        let actual = match Reply::parse(text.as_bytes()) {
            Ok(Reply { id, result: Ok(found) }) => format!("{id:?} {:?} {}", found.text, found.is_empty),
            Ok(Reply { id, result: Err(error) }) => format!("{id:?} {error}"),
            Err(message) => message,
        };
        assert_eq!(actual, expected);
    }

    #[test]
    fn replies() {
        check_reply(r#"{"id":3,"denotation":"a\nb"}"#, r#"Some(3) "a\nb" false"#);
        check_reply(
            r#" {"denotation": {"b": [1, 2.5], "a": null}} "#,
            r#"None "{\"b\":[1,2.5],\"a\":null}" false"#,
        );
        check_reply(r#"{"id":null,"denotation":null,"error":null}"#, r#"None "null" true"#);
        check_reply(r#"{"denotation":""}"#, r#"None "" true"#);
        check_reply(r#"{"denotation":[]}"#, r#"None "[]" true"#);
        check_reply(r#"{"denotation":false}"#, r#"None "false" false"#);
        check_reply(r#"{"id":1,"error":"no\nway"}"#, r"Some(1) the external executor reports: no\nway");
        check_reply(
            r#"{"denotation":null,"error":{"code":4}}"#,
            r#"None the external executor reports: {"code":4}"#,
        );
    }

    #[test]
    fn broken_replies_are_named() {
        check_reply("", "expected a JSON reply, got an empty line");
        check_reply(
            "[1]",
            "expected a JSON reply, got `[1]`: it must be an object with `denotation` or `error`",
        );
        check_reply("{}", "expected a JSON reply, got `{}`: it holds neither `denotation` nor `error`");
        check_reply(
            "ready\u{1b}",
            r"expected a JSON reply, got `ready\u{1b}`: expected value at line 1 column 1",
        );
        for id in ["\"3\"", "-1", "3.5"] {
            let reply = format!(r#"{{"id":{id},"denotation":1}}"#);
            let message = Reply::parse(reply.as_bytes()).unwrap_err();
            assert!(message.ends_with("`id` must be the number of the request"), "{message}");
        }
        let both = Reply::parse(br#"{"denotation":1,"error":"x"}"#).unwrap_err();
        assert!(both.ends_with("it holds both `denotation` and `error`"), "{both}");
        let bytes = Reply::parse(b"ab\xff").unwrap_err();
        assert_eq!(bytes, "expected a JSON reply, got bytes that are not UTF-8 at offset 2: `ab\u{fffd}`");
        let deep = "[".repeat(100_000);
        assert!(Reply::parse(deep.as_bytes()).unwrap_err().contains("recursion limit"));
        assert!(Reply::parse("é".repeat(9_000).as_bytes()).unwrap_err().len() < 600);
    }

    fn request(terms: &Terms, program: TermId, context: Option<&Value>) -> Result<String, ExecError> {
        let question = Question { terms, program, context, style: &Style::default() };
        question.request(Some(7)).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn requests_are_one_line() {
        let mut terms = Terms::new();
        let program = terms.parse("f('a\nb', \"c\")").unwrap();
        assert_eq!(request(&terms, program, None).unwrap(), r#"{"id":7,"program":"f('a\nb', 'c')"}"#);
        let context = json!({"b": 1, "a": ["\n"]});
        let with_context = r#"{"id":7,"program":"f('a\nb', 'c')","context":{"b":1,"a":["\n"]}}"#;
        assert_eq!(request(&terms, program, Some(&context)).unwrap(), with_context);
    }

    #[test]
    fn requests_without_bound_are_refused() {
        let too_long = ExecError::Limit { what: "bytes in one request", limit: MAX_MESSAGE_BYTES as u64 };
        let mut terms = Terms::new();
        let name = terms.parse("x").unwrap();
        let mut shared = name;
        for _ in 0..100 {
            shared = terms.call("pair", &[shared, shared]);
        }
        assert_eq!(request(&terms, shared, None), Err(too_long.clone()));
        let long = terms.leaf(spanwise_lang::Shape::Quoted, &"x".repeat(1 << 20));
        let many = terms.call("f", &[long; 16]);
        assert_eq!(request(&terms, many, None), Err(too_long.clone()));
        let context = Value::String("\u{1}".repeat(4 << 20));
        assert_eq!(request(&terms, name, Some(&context)), Err(too_long));
        let mut deep = json!(1);
        for level in 0..=MAX_CONTEXT_LEVELS {
            assert!(request(&terms, name, Some(&deep)).is_ok(), "{level} levels");
            deep = json!([deep]);
        }
        let refused = ExecError::Limit { what: "levels of nesting in the context", limit: 128 };
        assert_eq!(request(&terms, name, Some(&deep)), Err(refused));
    }
}
