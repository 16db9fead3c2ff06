//! The elements of a list inside a JSON object, one at a time.
//!
//! CLEVR's question file is one object of hundreds of megabytes. Parsed as a whole it would take many times
//! that, so only one element is ever held as a value: the text comes in, elements go out.

use crate::data::message::json_reason;
use serde_json::{Deserializer, Value};

/// An iterator over the elements of the list `field` of the object that a text holds.
pub(super) struct Elements<'a> {
    text: &'a str,
    at: usize,
    n_read: usize,
    is_done: bool,
}

impl<'a> Elements<'a> {
    /// Finds the list.
    ///
    /// # Errors
    /// Says what the text should have been.
    pub(super) fn new(text: &'a str, field: &str) -> Result<Self, String> {
        let start = text.len() - text.trim_start_matches('\u{feff}').len();
        let mut elements = Self { text, at: start, n_read: 0, is_done: false };
        if !elements.eat('{') {
            return Err(format!("expected a JSON object with a list `{field}`"));
        }
        loop {
            let name = elements.value()?;
            if !elements.eat(':') {
                return Err(elements.expected("`:`"));
            }
            if name == field {
                let is_list = elements.eat('[');
                return if is_list { Ok(elements) } else { Err(format!("`{field}` is not a list")) };
            }
            elements.value()?;
            if !elements.eat(',') {
                return Err(format!("there is no list `{field}`"));
            }
        }
    }

    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    /// Passes over white space and `ch`, if that is what comes next.
    fn eat(&mut self, ch: char) -> bool {
        let found = self.peek() == Some(ch);
        self.at += if found { ch.len_utf8() } else { 0 };
        found
    }

    /// Reads one JSON value.
    fn value(&mut self) -> Result<Value, String> {
        let mut values = Deserializer::from_str(&self.text[self.at..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                self.at += values.byte_offset();
                Ok(value)
            }
            Some(Err(error)) => {
                let line = self.line() + error.line().saturating_sub(1);
                Err(format!("not valid JSON at line {line}: {}", json_reason(&error)))
            }
            None => Err(self.expected("a JSON value")),
        }
    }

    fn element(&mut self) -> Result<Option<Value>, String> {
        if self.n_read == 0 && self.eat(']') {
            return Ok(None);
        }
        if self.n_read > 0 && !self.eat(',') {
            return if self.eat(']') { Ok(None) } else { Err(self.expected("`,` or `]`")) };
        }
        self.n_read += 1;
        self.value().map(Some)
    }

    fn expected(&self, what: &str) -> String {
        format!("not valid JSON at line {}: expected {what}", self.line())
    }

    /// The line that is being read, from 1.
    fn line(&self) -> usize {
        self.text[..self.at].matches('\n').count() + 1
    }
}

impl Iterator for Elements<'_> {
    type Item = Result<Value, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_done {
            return None;
        }
        let element = self.element().transpose();
        self.is_done = !matches!(element, Some(Ok(_)));
        element
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[&str], &str>) {
        let found = Elements::new(text, "xs").and_then(|elements| {
            elements.map(|element| element.map(|value| value.to_string())).collect::<Result<Vec<_>, _>>()
        });
        let expected = expected.map(|values| values.iter().map(|&value| value.to_owned()).collect());
        assert_eq!(found, expected.map_err(ToOwned::to_owned), "for {text:?}");
    }

    #[test]
    fn elements_come_one_by_one() {
        check(
            r#"{"info": {"xs": 3}, "xs": [{"a": 1}, [2] ,3,"]"], "ys": 4}"#,
            Ok(&[r#"{"a":1}"#, "[2]", "3", "\"]\""]),
        );
        check("\u{feff} {\"xs\" : [ ] }", Ok(&[]));
    }

    #[test]
    fn what_is_not_there_is_said() {
        check("", Err("expected a JSON object with a list `xs`"));
        check("[1]", Err("expected a JSON object with a list `xs`"));
        check("{}", Err("not valid JSON at line 1: expected value"));
        check(r#"{"ys": 1}"#, Err("there is no list `xs`"));
        check(r#"{"xs": 1}"#, Err("`xs` is not a list"));
        check(r#"{"xs": [1 2]}"#, Err("not valid JSON at line 1: expected `,` or `]`"));
        check("{\"xs\": [1\n\n", Err("not valid JSON at line 3: expected `,` or `]`"));
        check("{\"xs\": [1,\n", Err("not valid JSON at line 1: expected a JSON value"));
        check("{\"xs\": [1,\n{\"a\":\n?}]", Err("not valid JSON at line 3: expected value"));
        check(r#"{"xs""#, Err("not valid JSON at line 1: expected `:`"));
    }
}
