//! The elements of a list inside a JSON object, each as unparsed text.
//!
//! CLEVR's question file is one object of hundreds of megabytes. Parsed as a whole it would take many times that, so
//! elements are found first and parsed one at a time.

use crate::data::message::json_reason;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The elements of the list `field` of the object in `text`. The whole text is checked to be JSON.
///
/// # Errors
/// What is wrong, with the line of a syntax error.
pub(super) fn elements<'a>(text: &'a str, field: &str) -> Result<Vec<&'a RawValue>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(|error| {
        if error.is_data() || text.trim().is_empty() {
            format!("expected a JSON object with a list `{field}`")
        } else {
            format!("not valid JSON at line {}: {}", error.line(), json_reason(&error))
        }
    })?;
    let list = fields.get(field).ok_or_else(|| format!("there is no list `{field}`"))?;
    serde_json::from_str(list.get()).map_err(|_| format!("`{field}` is not a list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&[&str], &str>) {
        let found =
            elements(text, "xs").map(|list| list.iter().map(|element| element.get()).collect::<Vec<_>>());
        assert_eq!(found, expected.map(<[&str]>::to_vec).map_err(str::to_owned), "for {text:?}");
    }

    #[test]
    fn elements_are_found_without_being_parsed() {
        check(
            r#"{"info": {"xs": 3}, "xs": [{"a": 1}, [2] ,3,"]"], "ys": 4}"#,
            Ok(&[r#"{"a": 1}"#, "[2]", "3", "\"]\""]),
        );
        check("\u{feff} {\"xs\" : [ ] }", Ok(&[]));
    }

    #[test]
    fn what_is_missing_or_broken_is_reported() {
        check("", Err("expected a JSON object with a list `xs`"));
        check("[1]", Err("expected a JSON object with a list `xs`"));
        check("{}", Err("there is no list `xs`"));
        check(r#"{"ys": 1}"#, Err("there is no list `xs`"));
        check(r#"{"xs": 1}"#, Err("`xs` is not a list"));
        check(r#"{"xs": [1 2]}"#, Err("not valid JSON at line 1: expected `,` or `]`"));
        check("{\"xs\": [1\n\n", Err("not valid JSON at line 3: EOF while parsing a list"));
        check("{\"xs\": [1,\n{\"a\":\n?}]", Err("not valid JSON at line 3: expected value"));
        check(r#"{3: 4}"#, Err("not valid JSON at line 1: key must be a string"));
    }

    #[test]
    fn what_follows_the_list_must_be_json_too() {
        check(r#"{"xs": [1], "ys": {"zs": []}} "#, Ok(&["1"]));
        check(r#"{"xs": []"#, Err("not valid JSON at line 1: EOF while parsing an object"));
        check("{\"xs\": [1]\n]", Err("not valid JSON at line 2: expected `,` or `}`"));
        check(r#"{"xs": [1], "ys": {"#, Err("not valid JSON at line 1: EOF while parsing an object"));
        check(r#"{"xs": [1]} x"#, Err("not valid JSON at line 1: trailing characters"));
    }
}
