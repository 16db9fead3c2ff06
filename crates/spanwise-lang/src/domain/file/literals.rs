//! Reads `[[literals]]` and `contrasts`.

use super::values::FileReader;
use super::{At, EntityDecl};
use crate::diag::Diagnostic;
use crate::domain::constant::Omission;
use spanwise_literals::{Kind, Options, Recognizer, Unit};
use std::str::FromStr;
use toml_edit::TableLike;

const PLACE: &str = "[[literals]]";
/// Longest text literal in words.
const MAX_TEXT: i64 = 50;

impl FileReader<'_> {
    /// A class of literals.
    pub(super) fn literal(&mut self, table: &dyn TableLike) -> Option<EntityDecl> {
        let keys = [
            "class",
            "type",
            "kind",
            "form",
            "decimal",
            "dates",
            "tense",
            "measure",
            "units",
            "currency",
            "currencies",
            "max_words",
            "verbatim",
            "must_be_used",
            "sql",
            "say",
            "weight",
        ];
        self.only(table, &keys, PLACE);
        let range = self.table_range(table);
        let class = self.required(table, "class", PLACE, range.clone());
        let ty = self.required(table, "type", PLACE, range.clone());
        let form = self.required(table, "form", PLACE, range.clone());
        let kind = self.required(table, "kind", PLACE, range.clone());
        let options = self.options(table);
        let kind = kind.and_then(|text| self.chosen(&text));
        let recognizer = match Recognizer::new(kind?, options?) {
            Ok(recognizer) => recognizer,
            Err(reason) => {
                self.problems.push(Diagnostic::new(range, reason));
                return None;
            }
        };
        let omission = self.omission(table);
        if omission != Omission::Free && recognizer.kind() == Kind::Text {
            let item = self.key_range(table, "must_be_used");
            let message = "a text can be any words, so there are none that must be used";
            self.problems.push(Diagnostic::new(item, message));
        }
        Some(EntityDecl {
            class: class?,
            ty: ty?,
            form: form?,
            tables: Vec::new(),
            names: Vec::new(),
            phrases: Vec::new(),
            aliases: Vec::new(),
            open: true,
            text: None,
            recognizer: Some(recognizer),
            omission,
            sql: self.text(table, "sql"),
        })
    }

    fn options(&mut self, table: &dyn TableLike) -> Option<Options> {
        let mut options = Options { verbatim: self.flag(table, "verbatim"), ..Options::default() };
        if let Some(text) = self.text(table, "decimal") {
            options.decimal = self.chosen(&text)?;
        }
        if let Some(text) = self.text(table, "dates") {
            options.dates = self.chosen(&text)?;
        }
        if let Some(text) = self.text(table, "tense") {
            options.tense = self.chosen(&text)?;
        }
        options.currencies = self.texts(table, "currencies").into_iter().map(|code| code.value).collect();
        if let Some(text) = self.text(table, "measure") {
            options.measure = Some(self.chosen(&text)?);
        }
        options.currency = self.text(table, "currency").map(|text| text.value);
        self.max_words(table, &mut options);
        for unit in self.tables(table, "units") {
            self.only(unit, &["names", "base", "factor"], "a unit");
            let range = self.table_range(unit);
            let base = self.required(unit, "base", "a unit", range.clone());
            let factor = self.required(unit, "factor", "a unit", range);
            let names = self.texts(unit, "names").into_iter().map(|name| name.value).collect();
            options.units.push(Unit { names, base: base?.value, factor: factor?.value });
        }
        Some(options)
    }

    fn max_words(&mut self, table: &dyn TableLike, options: &mut Options) {
        if let Some(item) = table.get("max_words") {
            match item.as_integer().filter(|n| (1..=MAX_TEXT).contains(n)) {
                Some(n) => options.max_words = n as usize,
                None => self.wrong(item, "max_words", "a number of words from 1 to 50"),
            }
        }
    }

    /// Whether a class of entities is open, and how it reads text if it takes any: `open = true`, `open = "text"`.
    pub(super) fn open(&mut self, table: &dyn TableLike) -> (bool, Option<Options>) {
        let item = table.get("open");
        if item.is_some_and(|item| item.as_str() == Some("text")) {
            let mut options = Options { capitals: self.flag(table, "capitals"), ..Options::default() };
            self.max_words(table, &mut options);
            return (true, Some(options));
        }
        for key in ["max_words", "capitals"] {
            if let Some(item) = table.get(key).filter(|_| item.is_none_or(toml_edit::Item::is_bool)) {
                self.problem(item, format!("`{key}` belongs to a class with `open = \"text\"`"));
            }
        }
        match item.map(|item| (item, item.as_bool())) {
            None => (false, None),
            Some((_, Some(open))) => (open, None),
            Some((item, None)) => {
                self.problem(item, "`open` must be true, false or \"text\"".to_owned());
                (false, None)
            }
        }
    }

    /// One of the values that a key can have.
    fn chosen<T: FromStr<Err = String>>(&mut self, text: &At<String>) -> Option<T> {
        match text.value.parse() {
            Ok(value) => Some(value),
            Err(reason) => {
                self.problems.push(Diagnostic::new(text.range.clone(), reason));
                None
            }
        }
    }

    /// Pairs of constants that mean opposites: `[["over", "under"]]`.
    pub(super) fn contrasts(&mut self, top: &dyn TableLike) -> Vec<[At<String>; 2]> {
        let Some(item) = top.get("contrasts") else { return Vec::new() };
        let Some(pairs) = item.as_array() else {
            self.wrong(item, "contrasts", "a list of pairs, as in `[[\"over\", \"under\"]]`");
            return Vec::new();
        };
        let mut found = Vec::new();
        for pair in pairs {
            let range = pair.span().unwrap_or_default();
            let names: Vec<At<String>> = pair
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|name| {
                    let range = name.span().unwrap_or_default();
                    name.as_str().map(|text| At { value: text.to_owned(), range })
                })
                .collect();
            match <[At<String>; 2]>::try_from(names) {
                Ok(pair) => found.push(pair),
                Err(_) => {
                    let message = "expected two names of constants, as in `[\"over\", \"under\"]`";
                    self.problems.push(Diagnostic::new(range, message));
                }
            }
        }
        found
    }
}
