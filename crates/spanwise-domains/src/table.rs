//! Reads the tables of domain files: tab-separated cells or JSON, of bounded size.

use hashbrown::{HashMap, HashSet};
use serde::de::{Deserializer as _, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use spanwise_lang::Table;
use std::fmt;

/// Most bytes of one row of a JSON table.
const MAX_ROW_BYTES: usize = 1 << 20;

/// Tab-separated cells under a line of column names. Blank lines and lines that start with `#` are skipped.
pub(crate) fn tsv(path: &str, text: &str) -> Result<Table, String> {
    let mut lines =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let (_, header) =
        lines.next().ok_or_else(|| format!("table `{path}` is empty: expected a line of column names"))?;
    let wrong = |message: String| format!("table `{path}`: {message}");
    let cells = |line: &str| line.split('\t').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut rows = Rows::default();
    rows.header(header.split('\t').map(str::trim)).map_err(wrong)?;
    for (index, line) in lines {
        let (found, wanted) = (line.split('\t').count(), rows.table.columns.len());
        if found != wanted {
            return Err(format!(
                "table `{path}`, line {}: expected {wanted} cells, found {found}",
                index + 1
            ));
        }
        rows.push(index + 1, cells(line)).map_err(wrong)?;
    }
    Ok(rows.table)
}

/// `["a", "b"]`, `{"a": ["alias", ..], ..}` or `[{"name": "a", ..}, ..]`.
pub(crate) fn json(path: &str, text: &str) -> Result<Table, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    if !text.trim_start().starts_with(['[', '{']) {
        return Err(format!("table `{path}`: expected a list or an object"));
    }
    let read = reader.deserialize_any(Rows::default()).and_then(|rows| reader.end().map(|()| rows));
    let rows = read.map_err(|error| {
        if error.is_syntax() || error.is_eof() {
            format!("table `{path}` is not valid JSON: {error}")
        } else {
            format!("table `{path}`: {error}")
        }
    })?;
    rows.finish().map_err(|message| format!("table `{path}`: {message}"))
}

/// The rows of a table while it is read.
#[derive(Default)]
struct Rows {
    table: Table,
    /// What the rows of a JSON list are, from the first one on.
    shape: Option<Shape>,
    /// The place of each column.
    places: HashMap<String, usize>,
    n_cells: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Names,
    Objects,
}

impl Rows {
    /// Names the columns.
    fn header<'a>(&mut self, columns: impl Iterator<Item = &'a str>) -> Result<(), String> {
        let mut seen = HashSet::new();
        for column in columns {
            if !seen.insert(column) {
                return Err(bad_column(column));
            }
            self.place(column)?;
        }
        Ok(())
    }

    /// The place of a column, which is added if it is new.
    fn place(&mut self, column: &str) -> Result<usize, String> {
        if let Some(&place) = self.places.get(column) {
            return Ok(place);
        }
        if column.is_empty() {
            return Err(bad_column(column));
        }
        let place = self.table.columns.len();
        if place == Table::MAX_COLUMNS {
            return Err(format!("more than {place} different columns"));
        }
        self.table.columns.push(column.to_owned());
        self.places.insert(column.to_owned(), place);
        Ok(place)
    }

    /// Adds a row, with its line in the file.
    fn push(&mut self, line: usize, cells: Vec<String>) -> Result<(), String> {
        if self.table.rows.len() == Table::MAX_ROWS {
            return Err(format!("more than {} rows", Table::MAX_ROWS));
        }
        self.n_cells += cells.len();
        if self.n_cells > Table::MAX_CELLS {
            return Err(format!("more than {} cells", Table::MAX_CELLS));
        }
        self.table.rows.push((line, cells));
        Ok(())
    }

    /// Adds a row of a JSON list: a name, or an object of cells by column.
    fn push_json(&mut self, row: &Value) -> Result<(), String> {
        let shape = self.shape.unwrap_or(if row.is_string() { Shape::Names } else { Shape::Objects });
        self.shape = Some(shape);
        match (row, shape) {
            (Value::String(name), Shape::Names) => self.push(0, vec![name.clone()]),
            (Value::Object(row), Shape::Objects) => {
                let mut cells = vec![String::new(); self.table.columns.len()];
                for (column, value) in row {
                    let place = self.place(column)?;
                    cells.resize(self.table.columns.len(), String::new());
                    cells[place] = cell(value)?;
                }
                self.push(0, cells)
            }
            (other, Shape::Names) => Err(format!("expected names, found {}", short(other))),
            (other, Shape::Objects) => Err(format!("expected objects, found {}", short(other))),
        }
    }

    /// The table. Rows that were read before a column was known get an empty cell for it.
    fn finish(mut self) -> Result<Table, String> {
        let (height, width) = (self.table.rows.len(), self.table.columns.len());
        if height.saturating_mul(width) > Table::MAX_CELLS {
            let most = Table::MAX_CELLS;
            return Err(format!("{height} rows of {width} columns are more than {most} cells"));
        }
        self.table.rows.iter_mut().for_each(|(_, cells)| cells.resize(width, String::new()));
        Ok(self.table)
    }
}

impl<'de> Visitor<'de> for Rows {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut rows: A) -> Result<Self, A::Error> {
        // One row is held at a time: a whole file of values would take many times its size.
        while let Some(row) = rows.next_element::<&RawValue>()? {
            self.push_json(&value(row)?).map_err(A::Error::custom)?;
        }
        if self.shape != Some(Shape::Objects) {
            self.table.columns.push("name".to_owned());
        }
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut names: A) -> Result<Self, A::Error> {
        self.table.columns = vec!["name".to_owned(), "aliases".to_owned()];
        // The last of equal names counts.
        let mut known: HashMap<String, usize> = HashMap::new();
        while let Some((name, aliases)) = names.next_entry::<String, &RawValue>()? {
            let aliases = cell(&value(aliases)?).map_err(A::Error::custom)?;
            match known.get(&name) {
                Some(&at) => self.table.rows[at].1[1] = aliases,
                None => {
                    known.insert(name.clone(), self.table.rows.len());
                    self.push(0, vec![name, aliases]).map_err(A::Error::custom)?;
                }
            }
        }
        Ok(self)
    }
}

/// One row as a value.
fn value<E: serde::de::Error>(raw: &RawValue) -> Result<Value, E> {
    if raw.get().len() > MAX_ROW_BYTES {
        return Err(E::custom(format!("a row has more than {} MiB", MAX_ROW_BYTES >> 20)));
    }
    serde_json::from_str(raw.get()).map_err(E::custom)
}

fn cell(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Array(items) => {
            let words: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            words
                .map(|words| words.join("|"))
                .ok_or_else(|| format!("expected texts, found {}", short(value)))
        }
        _ => Err(format!("expected text, a number or a list of texts, found {}", short(value))),
    }
}

fn bad_column(column: &str) -> String {
    format!("column names must be different and not empty, found `{column}`")
}

/// The start of a value, for messages.
fn short(value: &Value) -> String {
    const MOST: usize = 100;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}...", &text[..cut]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tsv_rows_keep_their_lines() {
        let table = tsv("t", "name\taliases\n# note\n\na b\tx|y\nc\t\n").unwrap();
        assert_eq!(table.columns, ["name", "aliases"]);
        assert_eq!(table.rows[0], (4, vec!["a b".to_owned(), "x|y".to_owned()]));
        assert_eq!(table.rows[1].0, 5);
    }

    #[test]
    fn ragged_rows_and_bad_headers_are_named() {
        assert_eq!(tsv("t", "a\tb\nx\n").unwrap_err(), "table `t`, line 2: expected 2 cells, found 1");
        assert!(tsv("t", "a\ta\n").unwrap_err().contains("different"));
        assert!(tsv("t", "\n").unwrap_err().contains("empty"));
    }

    #[test]
    fn json_tables_have_three_shapes() {
        assert_eq!(json("t", r#"["a", "b"]"#).unwrap().rows.len(), 2);
        assert_eq!(json("t", r#"{"a": ["x", "y"]}"#).unwrap().rows[0].1, ["a", "x|y"]);
        let table = json("t", r#"[{"name": "a"}, {"name": "b", "id": 3}]"#).unwrap();
        assert_eq!((table.columns.len(), &table.rows[1].1[1][..]), (2, "3"));
        assert!(json("t", "[1]").is_err() && json("t", "{").is_err() && json("t", "3").is_err());
    }

    #[test]
    fn rows_of_one_table_are_alike_and_get_all_its_columns() {
        let table = json("t", r#"[{}, {"a": "1"}, {"b": ["2", "3"]}]"#).unwrap();
        assert_eq!(table.columns, ["a", "b"]);
        assert_eq!(table.rows.iter().map(|(_, cells)| cells.len()).collect::<Vec<_>>(), [2, 2, 2]);
        assert_eq!(json("t", "[]").unwrap().columns, ["name"]);
        assert!(json("t", r#"["a", {"name": "b"}]"#).unwrap_err().contains("expected names"));
        assert!(json("t", r#"[{"name": "b"}, "a"]"#).unwrap_err().contains("expected objects"));
        let twice = json("t", r#"{"a": "x", "b": "y", "a": "z"}"#).unwrap();
        assert_eq!(twice.rows.iter().map(|(_, cells)| cells[1].as_str()).collect::<Vec<_>>(), ["z", "y"]);
    }

    #[test]
    fn a_table_with_very_many_columns_or_keys_is_an_error_at_once() {
        let names: Vec<String> = (0..100_000).map(|n| format!("c{n}")).collect();
        let expected = "table `t`: more than 1000 different columns";
        assert_eq!(tsv("t", &names.join("\t")).unwrap_err(), expected);
        let rows: Vec<String> = names.iter().map(|name| format!("{{\"{name}\": 1}}")).collect();
        let error = json("t", &format!("[{}]", rows.join(","))).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
        let keys: Vec<String> = names.iter().map(|name| format!("\"{name}\": 1")).collect();
        let error = json("t", &format!("[{{{}}}]", keys.join(","))).unwrap_err();
        assert!(error.starts_with("table `t`: "), "{error}");
    }

    #[test]
    fn few_wide_rows_do_not_make_many_rows_wide() {
        let wide: Vec<String> = (0..1_000).map(|n| format!("\"c{n}\": 1")).collect();
        let text = format!("[{{{}}}{}]", wide.join(","), r#",{"c0": 1}"#.repeat(5_000));
        let error = json("t", &text).unwrap_err();
        assert!(error.contains("more than 4000000 cells"), "{error}");
        let text = format!("[{}{{{}}}]", r#"{"c0": 1},"#.repeat(5_000), wide.join(","));
        assert_eq!(
            json("t", &text).unwrap_err(),
            "table `t`: 5001 rows of 1000 columns are more than 4000000 cells"
        );
    }

    #[test]
    fn a_hundred_thousand_rows_are_read() {
        let text: String = (0..100_000).map(|n| format!("name {n}\talias {n}\n")).collect();
        assert_eq!(tsv("t", &format!("name\taliases\n{text}")).unwrap().rows.len(), 100_000);
        let text: Vec<String> = (0..100_000).map(|n| format!("\"name {n}\": [\"alias {n}\"]")).collect();
        assert_eq!(json("t", &format!("{{{}}}", text.join(","))).unwrap().rows.len(), 100_000);
    }
}
