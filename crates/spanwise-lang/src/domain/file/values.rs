//! Readers for single values of a domain file: texts, lists, flags and tables, with their positions.

use super::At;
use crate::diag::{Diagnostic, closest};
use crate::domain::constant::Omission;
use std::ops::Range;
use toml_edit::{Item, TableLike, Value};

/// The largest cost of leaving out a word. More is no different from forbidding it.
const MAX_COST: f64 = 100.0;

/// Reads values of a TOML document. Problems are collected.
pub(super) struct FileReader<'a> {
    pub(super) source: &'a str,
    pub(super) problems: &'a mut Vec<Diagnostic>,
}

impl FileReader<'_> {
    pub(super) fn only(&mut self, table: &dyn TableLike, keys: &[&str], place: &str) {
        for (key, _) in table.iter() {
            if keys.contains(&key) {
                continue;
            }
            let problem =
                Diagnostic::new(self.key_range(table, key), format!("unknown key `{key}` in {place}"));
            self.problems.push(match closest(key, keys.iter().copied()) {
                Some(near) => problem.hint(format!("did you mean `{near}`?")),
                None => problem.hint(format!("the keys here are {}", keys.join(", "))),
            });
        }
    }

    pub(super) fn table<'t>(&mut self, parent: &'t dyn TableLike, key: &str) -> Option<&'t dyn TableLike> {
        let item = parent.get(key)?;
        let table = item.as_table_like();
        if table.is_none() {
            self.wrong(item, key, "a table");
        }
        table
    }

    pub(super) fn tables<'t>(&mut self, parent: &'t dyn TableLike, key: &str) -> Vec<&'t dyn TableLike> {
        let Some(item) = parent.get(key) else { return Vec::new() };
        if let Some(tables) = item.as_array_of_tables() {
            return tables.iter().map(|table| table as &dyn TableLike).collect();
        }
        if let Some(array) = item.as_array() {
            let inline: Vec<_> = array.iter().filter_map(Value::as_inline_table).collect();
            if inline.len() == array.len() {
                return inline.into_iter().map(|table| table as &dyn TableLike).collect();
            }
        }
        self.wrong(item, key, &format!("tables, each under [[{key}]]"));
        Vec::new()
    }

    pub(super) fn required(
        &mut self,
        table: &dyn TableLike,
        key: &str,
        place: &str,
        range: Range<usize>,
    ) -> Option<At<String>> {
        let found = self.text(table, key);
        if table.get(key).is_none() {
            self.missing(range, key, place);
        }
        found
    }

    pub(super) fn text(&mut self, table: &dyn TableLike, key: &str) -> Option<At<String>> {
        let item = table.get(key)?;
        let text = item.as_value().and_then(|value| self.string(value));
        if text.is_none() {
            self.wrong(item, key, "text in quotes");
        }
        text
    }

    pub(super) fn texts(&mut self, table: &dyn TableLike, key: &str) -> Vec<At<String>> {
        table.get(key).map(|item| self.text_list(item, key)).unwrap_or_default()
    }

    /// One text, or an array of them.
    pub(super) fn text_list(&mut self, item: &Item, key: &str) -> Vec<At<String>> {
        let Some(value) = item.as_value() else {
            self.wrong(item, key, "text or a list of texts");
            return Vec::new();
        };
        let Some(array) = value.as_array() else {
            if let Some(text) = self.string(value) {
                return vec![text];
            }
            self.wrong(item, key, "text or a list of texts");
            return Vec::new();
        };
        let mut texts = Vec::with_capacity(array.len());
        for value in array {
            match self.string(value) {
                Some(text) => texts.push(text),
                None => {
                    let range = value.span().unwrap_or(0..0);
                    let message = format!("`{key}` must hold text in quotes, found {}", value.type_name());
                    self.problems.push(Diagnostic::new(range, message));
                }
            }
        }
        texts
    }

    pub(super) fn string(&self, value: &Value) -> Option<At<String>> {
        let text = value.as_str()?;
        let outer = value.span().unwrap_or(0..0);
        // Without escapes, the range is that of the text inside the quotes; with escapes, that of the whole value.
        let inside = self.source.get(outer.clone()).and_then(|raw| raw.find(text));
        let range = match inside {
            Some(offset) => outer.start + offset..outer.start + offset + text.len(),
            None => outer,
        };
        Some(At { value: text.to_owned(), range })
    }

    pub(super) fn flag(&mut self, table: &dyn TableLike, key: &str) -> bool {
        let Some(item) = table.get(key) else { return false };
        item.as_bool().unwrap_or_else(|| {
            self.wrong(item, key, "true or false");
            false
        })
    }

    /// `true`, or a cost.
    pub(super) fn omission(&mut self, table: &dyn TableLike) -> Omission {
        let key = "must_be_used";
        let Some(item) = table.get(key) else { return Omission::Free };
        let number = item.as_float().or_else(|| item.as_integer().map(|number| number as f64));
        match (item.as_bool(), number) {
            (Some(true), _) => Omission::Forbidden,
            (Some(false), _) => Omission::Free,
            (None, Some(cost)) if cost > 0.0 && cost <= MAX_COST => Omission::Cost(cost as f32),
            (None, Some(_)) => {
                self.problem(item, format!("`{key}` must be true, or a cost above 0 and up to {MAX_COST}"));
                Omission::Free
            }
            (None, None) => {
                self.wrong(item, key, "true or a number");
                Omission::Free
            }
        }
    }

    pub(super) fn key_range(&self, table: &dyn TableLike, key: &str) -> Range<usize> {
        table.key(key).and_then(toml_edit::Key::span).unwrap_or(0..0)
    }

    pub(super) fn table_range(&self, table: &dyn TableLike) -> Range<usize> {
        let first = table.iter().next().map(|(key, _)| self.key_range(table, key));
        first.unwrap_or(0..0)
    }

    pub(super) fn problem(&mut self, item: &Item, message: String) {
        self.problems.push(Diagnostic::new(item.span().unwrap_or(0..0), message));
    }

    pub(super) fn wrong(&mut self, item: &Item, key: &str, expected: &str) {
        self.problem(item, format!("`{key}` must be {expected}, found {}", item.type_name()));
    }

    pub(super) fn missing(&mut self, range: Range<usize>, key: &str, place: &str) {
        self.problems.push(Diagnostic::new(range, format!("{place} needs the key `{key}`")));
    }
}
