//! The part of JSON Schema that the description of the interface uses. A word it does not know is an error: otherwise a
//! rule could stand there that nothing checks.

use serde_json::Value;

/// What is wrong with a value, by path.
pub fn check(document: &Value, schema: &Value, value: &Value, path: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for (word, rule) in schema.as_object().expect("a schema is an object") {
        match word.as_str() {
            "$ref" => problems.extend(check(document, resolve(document, rule), value, path)),
            "anyOf" => {
                let tried: Vec<Vec<String>> =
                    rule.as_array().unwrap().iter().map(|one| check(document, one, value, path)).collect();
                if tried.iter().all(|problems| !problems.is_empty()) {
                    problems.push(format!("{path}: none of {tried:?}"));
                }
            }
            "type" => {
                let names: Vec<&str> = match rule {
                    Value::String(name) => vec![name],
                    _ => rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect(),
                };
                if !names.iter().any(|name| is(value, name)) {
                    problems.push(format!("{path}: {value} is not {names:?}"));
                }
            }
            "enum" if !rule.as_array().unwrap().contains(value) => {
                problems.push(format!("{path}: {value} is not in {rule}"));
            }
            "minimum" if value.as_f64().is_some_and(|found| found < rule.as_f64().unwrap()) => {
                problems.push(format!("{path}: {value} is less than {rule}"));
            }
            "maximum" if value.as_f64().is_some_and(|found| found > rule.as_f64().unwrap()) => {
                problems.push(format!("{path}: {value} is more than {rule}"));
            }
            "items" => {
                for (at, item) in value.as_array().into_iter().flatten().enumerate() {
                    problems.extend(check(document, rule, item, &format!("{path}[{at}]")));
                }
            }
            "required" => {
                for name in rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap()) {
                    if value.is_object() && value.get(name).is_none() {
                        problems.push(format!("{path}: `{name}` is missing"));
                    }
                }
            }
            "properties" => {
                for (name, field) in value.as_object().into_iter().flatten() {
                    match rule.get(name) {
                        Some(one) => problems.extend(check(document, one, field, &format!("{path}.{name}"))),
                        None if schema["additionalProperties"] == false => {
                            problems.push(format!("{path}: `{name}` is not described"));
                        }
                        None => {}
                    }
                }
            }
            "description" | "additionalProperties" | "enum" | "minimum" | "maximum" => {}
            _ => panic!("the schema at {path} has the unknown word `{word}`"),
        }
    }
    problems
}

/// What a reference points at.
pub fn resolve<'a>(document: &'a Value, reference: &Value) -> &'a Value {
    let pointer = reference.as_str().unwrap().trim_start_matches('#');
    document.pointer(pointer).unwrap_or_else(|| panic!("{reference} points at nothing"))
}

fn is(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => panic!("there is no type `{name}`"),
    }
}
