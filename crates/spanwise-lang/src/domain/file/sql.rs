//! Reads `sql` of constants, `executor.sql`, `[show]` and `[units]`.

use super::values::FileReader;
use super::{At, FragmentDecl, SqlDecl};
use crate::diag::Diagnostic;
use crate::sql::{SqlSettings, Yields};
use std::ops::Range;
use std::time::Duration;
use toml_edit::{TableLike, Value};

/// Units of times, the longest name first.
const UNITS: &[(&str, f64)] = &[
    ("minutes", 60.0),
    ("seconds", 1.0),
    ("min", 60.0),
    ("ms", 0.001),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
];

impl FileReader<'_> {
    /// The `sql` of a constant: a text, `{ value = ".." }`, `{ rank = ".." }`, or a list of these.
    pub(super) fn constant_sql(&mut self, table: &dyn TableLike) -> Option<SqlDecl> {
        let item = table.get("sql")?;
        let value = item.as_value();
        let decl = match (value, value.and_then(Value::as_array)) {
            (Some(_), Some(array)) => {
                let each: Option<Vec<_>> = array.iter().map(|value| self.fragment(value)).collect();
                each.map(SqlDecl::Each)
            }
            (Some(value), None) => self.fragment(value).map(SqlDecl::All),
            (None, _) => match item.as_table_like() {
                Some(table) => self.second(table, item.span().unwrap_or(0..0)).map(SqlDecl::All),
                None => None,
            },
        };
        if decl.is_none() && value.is_none() && item.as_table_like().is_none() {
            self.wrong(item, "sql", "text in quotes");
        }
        decl
    }

    fn fragment(&mut self, value: &Value) -> Option<FragmentDecl> {
        if let Some(text) = self.string(value) {
            return Some(FragmentDecl { yields: Yields::Keys, text });
        }
        let range = value.span().unwrap_or(0..0);
        if let Some(table) = value.as_inline_table() {
            return self.second(table, range);
        }
        let message = format!("`sql` must be text in quotes, found {}", value.type_name());
        let hint = "or `{ value = \"..\" }` for keys with a value, `{ rank = \"..\" }` for keys with a rank";
        self.problems.push(Diagnostic::new(range, message).hint(hint));
        None
    }

    /// `{ value = ".." }` or `{ rank = ".." }`.
    fn second(&mut self, table: &dyn TableLike, range: Range<usize>) -> Option<FragmentDecl> {
        self.only(table, &["value", "rank"], "`sql`");
        let (value, rank) = (self.text(table, "value"), self.text(table, "rank"));
        match (value, rank) {
            (Some(text), None) => Some(FragmentDecl { yields: Yields::Values, text }),
            (None, Some(text)) => Some(FragmentDecl { yields: Yields::Ranks, text }),
            _ => {
                let message = "`sql` needs exactly one of `value` and `rank`";
                self.problems.push(Diagnostic::new(range, message));
                None
            }
        }
    }

    /// A table of texts: `[show]`, `[units]`.
    pub(super) fn text_table(&mut self, top: &dyn TableLike, key: &str) -> Vec<(At<String>, At<String>)> {
        let Some(table) = self.table(top, key) else { return Vec::new() };
        let keys: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).collect();
        let mut found = Vec::new();
        for key in keys {
            let name = At { value: key.clone(), range: self.key_range(table, &key) };
            if let Some(text) = self.text(table, &key) {
                found.push((name, text));
            }
        }
        found
    }

    /// The table `sql` of `[executor]`.
    pub(super) fn sql_settings(&mut self, executor: &dyn TableLike) -> Option<(SqlSettings, Range<usize>)> {
        let table = self.table(executor, "sql")?;
        let keys = ["database", "timeout", "rows", "connections", "password_env"];
        self.only(table, &keys, "`sql` of [executor]");
        let range = self.key_range(executor, "sql");
        let timeout = self.time(table);
        let rows = self.whole(table, "rows", SqlSettings::DEFAULT_ROWS, SqlSettings::MAX_ROWS);
        let connections =
            self.whole(table, "connections", SqlSettings::DEFAULT_CONNECTIONS, SqlSettings::MAX_CONNECTIONS);
        let password_env = self.text(table, "password_env").map(|name| name.value);
        let database = self.required(table, "database", "`sql` of [executor]", range)?;
        if let Some(place) = password(&database.value) {
            let start = database.range.start;
            let message = "a password does not belong into a domain file";
            let hint = "leave it out, and name the environment variable that holds it in `password_env`";
            let place = start + place.start..start + place.end;
            self.problems.push(Diagnostic::new(place, message).hint(hint));
            return None;
        }
        let is_known = ["sqlite:", "postgres://", "postgresql://"];
        if !is_known.iter().any(|scheme| database.value.trim_start().starts_with(scheme)) {
            let problem = Diagnostic::new(database.range, "this is no address of a database");
            self.problems.push(problem.hint("write `sqlite:FILE` or `postgres://USER@HOST:PORT/NAME`"));
            return None;
        }
        let settings = SqlSettings { database: database.value, timeout, rows, connections, password_env };
        Some((settings, database.range))
    }

    fn whole(&mut self, table: &dyn TableLike, key: &str, fallback: usize, most: usize) -> usize {
        let Some(item) = table.get(key) else { return fallback };
        match item.as_integer().and_then(|n| usize::try_from(n).ok()).filter(|n| (1..=most).contains(n)) {
            Some(n) => n,
            None => {
                self.wrong(item, key, &format!("a number from 1 to {most}"));
                fallback
            }
        }
    }

    /// `"5 s"`, `"500 ms"`, `"1 min"`.
    fn time(&mut self, table: &dyn TableLike) -> Duration {
        let Some(text) = self.text(table, "timeout") else { return SqlSettings::DEFAULT_TIMEOUT };
        let value = text.value.trim();
        let found = UNITS.iter().find_map(|(unit, seconds)| {
            let number: f64 = value.strip_suffix(unit)?.trim_end().parse().ok()?;
            Some(number * seconds)
        });
        let most = SqlSettings::MAX_TIMEOUT.as_secs_f64();
        match found.filter(|&seconds| seconds >= 0.001 && seconds <= most) {
            Some(seconds) => Duration::from_secs_f64(seconds),
            None => {
                let message = format!("`{value}` is no time from 1 ms to 24 h");
                let hint = "write a number and a unit, as in `\"5 s\"`, `\"500 ms\"` or `\"1 min\"`";
                self.problems.push(Diagnostic::new(text.range, message).hint(hint));
                SqlSettings::DEFAULT_TIMEOUT
            }
        }
    }
}

/// Where a URL has a password.
fn password(url: &str) -> Option<Range<usize>> {
    let start = url.find("://")? + 3;
    // A password may contain any of `/`, `?` and `@`.
    let end = url.find('?').filter(|&at| !url[at..].contains('@')).unwrap_or(url.len());
    if let Some(at) = url[start..end].rfind('@')
        && let Some(colon) = url[start..start + at].find(':')
    {
        return Some(start + colon + 1..start + at);
    }
    let lower = url.to_ascii_lowercase();
    let key = lower.find("?password=").or_else(|| lower.find("&password="))?;
    let value = key + "?password=".len();
    Some(value..url[value..].find('&').map_or(url.len(), |len| value + len))
}
