//! The elements of a list inside a JSON object, one at a time.
//!
//! CLEVR's question file is one object of hundreds of megabytes. Parsed as a whole it would take many times
//! that, so only one element is ever held as a value: the text comes in, elements go out. What stands behind
//! the list is read too, so that a file that is cut off or goes on is noticed.

use crate::data::message::json_reason;
use serde_json::{Deserializer, Value};

/// What is not as it should be.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// The element that comes next.
    Element(String),
    /// The text behind the list.
    End(String),
}

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
            if elements.name()? == field {
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

    /// Reads the name of a field and the colon behind it.
    fn name(&mut self) -> Result<Value, String> {
        let name = self.value()?;
        match name.is_string() && self.eat(':') {
            true => Ok(name),
            false => Err(self.expected("a name in quotes and `:`")),
        }
    }

    fn element(&mut self) -> Result<Option<Value>, Fault> {
        if self.n_read > 0 && !self.eat(',') {
            if !self.eat(']') {
                return Err(Fault::Element(self.expected("`,` or `]`")));
            }
            return self.end().map(|()| None).map_err(Fault::End);
        }
        if self.n_read == 0 && self.eat(']') {
            return self.end().map(|()| None).map_err(Fault::End);
        }
        self.n_read += 1;
        self.value().map(Some).map_err(Fault::Element)
    }

    /// Reads what comes behind the list: other fields, the end of the object, the end of the text.
    fn end(&mut self) -> Result<(), String> {
        while self.eat(',') {
            self.name()?;
            self.value()?;
        }
        if !self.eat('}') {
            return Err(self.expected("`,` or `}`"));
        }
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.expected("the end of the file")),
        }
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
    type Item = Result<Value, Fault>;

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
            let shown = elements.map(|element| element.map(|value| value.to_string()));
            shown.collect::<Result<Vec<_>, _>>().map_err(|fault| match fault {
                Fault::Element(reason) => reason,
                Fault::End(reason) => format!("at the end: {reason}"),
            })
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
        check(r#"{"xs""#, Err("not valid JSON at line 1: expected a name in quotes and `:`"));
        check(r#"{3: 4}"#, Err("not valid JSON at line 1: expected a name in quotes and `:`"));
    }

    #[test]
    fn what_comes_behind_the_list_must_be_json_too() {
        check(r#"{"xs": [1], "ys": {"zs": []}} "#, Ok(&["1"]));
        check(r#"{"xs": []"#, Err("at the end: not valid JSON at line 1: expected `,` or `}`"));
        check("{\"xs\": [1]\n]", Err("at the end: not valid JSON at line 2: expected `,` or `}`"));
        check(
            r#"{"xs": [1], "ys": {"#,
            Err("at the end: not valid JSON at line 1: EOF while parsing an object"),
        );
        check(r#"{"xs": [1]} x"#, Err("at the end: not valid JSON at line 1: expected the end of the file"));
    }
}
