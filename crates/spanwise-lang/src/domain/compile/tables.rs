//! Reads the tables of entity classes: renames columns, combines rows, and counts what they cost.

use super::super::Table;
use super::super::file::{At, EntityDecl};
use super::Compiler;
use crate::diag::Diagnostic;
use crate::sql::read_query;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Most tables of a domain.
const MAX_TABLES: usize = 1_000;
/// Columns that a hint lists.
const LISTED_COLUMNS: usize = 20;

/// The rows of an entity class: those of its tables, with the columns as the class has them. No cell is copied.
#[derive(Default)]
pub(super) struct Members {
    pub(super) columns: Vec<String>,
    parts: Vec<Part>,
}

/// The rows of one table.
struct Part {
    table: Arc<Table>,
    /// For each column that the class had when the table was added, where the table has it.
    places: Vec<Option<usize>>,
}

/// One row of an entity class.
pub(super) struct Row<'a> {
    columns: &'a [String],
    places: &'a [Option<usize>],
    cells: &'a [String],
    /// Its line in the file.
    pub(super) line: usize,
}

impl Members {
    /// Appends the rows of a table, matching its `columns` by name. Columns without a name are dropped.
    fn add(&mut self, table: Arc<Table>, columns: &[String]) {
        let mut known: HashMap<String, usize> =
            self.columns.iter().enumerate().map(|(place, column)| (column.clone(), place)).collect();
        let mut places = vec![None; self.columns.len()];
        for (place, column) in columns.iter().enumerate().filter(|(_, column)| !column.is_empty()) {
            let at = *known.entry_ref(column.as_str()).or_insert_with(|| {
                self.columns.push(column.clone());
                places.push(None);
                self.columns.len() - 1
            });
            // Of columns with the same name, the last counts.
            places[at] = Some(place);
        }
        self.parts.push(Part { table, places });
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let columns = &self.columns;
        self.parts.iter().flat_map(move |Part { table, places }| {
            table.rows.iter().map(move |(line, cells)| Row { columns, places, cells, line: *line })
        })
    }
}

impl<'a> Row<'a> {
    /// The cell of a column; empty where another table of the class has the column.
    pub(super) fn get(&self, column: &str) -> Option<&'a str> {
        self.cell(self.columns.iter().position(|known| known == column)?)
    }

    fn cell(&self, at: usize) -> Option<&'a str> {
        let place = *self.places.get(at)?;
        Some(place.and_then(|place| self.cells.get(place)).map_or("", String::as_str))
    }

    /// A phrase with the cells of this row for its columns; `None` when one of them is empty.
    pub(super) fn fill(&self, template: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            out.push_str(before);
            let (column, tail) = after.split_once('}')?;
            out.push_str(self.get(column).filter(|cell| !cell.trim().is_empty())?);
            rest = tail;
        }
        out.push_str(rest);
        Some(out)
    }

    /// The cell that names the member: that of the column `name`, or else the first one.
    pub(super) fn name(&self) -> Option<&'a str> {
        self.get("name").or_else(|| self.cell(0))
    }
}

impl Compiler<'_> {
    /// The rows of a class, from its tables and from the names in the file.
    pub(super) fn members(&mut self, decl: &EntityDecl) -> Option<Members> {
        if let Some(recognizer) = &decl.recognizer {
            // Literals have no rows: the columns of their form are the fields of a value.
            let columns = recognizer.fields().iter().map(|&field| field.to_owned()).collect();
            return Some(Members { columns, parts: Vec::new() });
        }
        let mut all = Members::default();
        for text in &decl.tables {
            let (table, columns) = self.renamed_table(text)?;
            self.merge(&mut all, table, &columns, decl, text)?;
        }
        if !decl.names.is_empty() || decl.tables.is_empty() {
            let rows = decl.names.iter().map(|name| (0, vec![name.value.clone()])).collect();
            let table = Table { columns: vec!["name".to_owned()], rows };
            self.merge(&mut all, Arc::new(table), &["name".to_owned()], decl, &decl.class)?;
        }
        let mut seen = HashSet::new();
        for name in &decl.names {
            if !seen.insert(name.value.as_str()) {
                self.problem(&name.range, format!("`{}` is listed twice", name.value));
            }
        }
        Some(all)
    }

    /// Adds a table with these columns to a class. `None` if there are then too many columns, rows or cells, which is
    /// reported at `at`.
    fn merge(
        &mut self,
        all: &mut Members,
        table: Arc<Table>,
        columns: &[String],
        decl: &EntityDecl,
        at: &At<String>,
    ) -> Option<()> {
        let n_rows = table.rows.len();
        all.add(table, columns);
        if all.columns.len() > Table::MAX_COLUMNS {
            let most = Table::MAX_COLUMNS;
            self.problem(&at.range, format!("the tables of this class have more than {most} columns"));
            return None;
        }
        // What a row costs: its cells, and the phrases that are made of them.
        let n_cells = (n_rows + 1).saturating_mul(all.columns.len() + decl.phrases.len());
        if !self.has_space(n_rows, n_cells, &at.range) {
            return None;
        }
        Some(())
    }

    /// Reads `path new=old ..`: the table, and its columns renamed. A renamed column hides another one of that name.
    fn renamed_table(&mut self, text: &At<String>) -> Option<(Arc<Table>, Vec<String>)> {
        let is_query = text.value.trim_start().starts_with(QUERY);
        if is_query {
            let start = text.value.find(QUERY).map_or(0, |at| at + QUERY.len());
            let range = text.range.start + start..text.range.end;
            let query = At { value: text.value[start..].to_owned(), range };
            self.keep(read_query(&query, self.flavor))?;
        }
        let (path, renames) = if is_query { (text.value.as_str(), "") } else { split_renames(&text.value) };
        let known = match self.read_once(path) {
            Ok(known) => known,
            Err(message) => {
                self.problem(&text.range, message);
                return None;
            }
        };
        let table = Arc::clone(&self.read_tables[known].1);
        let mut renamed = table.columns.clone();
        let mut new_names: Vec<&str> = Vec::new();
        for word in renames.split_whitespace() {
            let column = word
                .split_once('=')
                .and_then(|(new, old)| Some((new, table.columns.iter().position(|column| column == old)?)));
            let Some((new, at)) = column else {
                let problem = Diagnostic::new(
                    text.range.clone(),
                    format!("`{word}` is not `new=old` with a column of the table"),
                );
                let hint = column_list(&table.columns);
                self.problems.push(problem.hint(hint));
                return None;
            };
            for (other, name) in renamed.iter_mut().enumerate() {
                if other != at && name == new {
                    name.clear();
                }
            }
            new.clone_into(&mut renamed[at]);
            new_names.push(new);
        }
        // The column `aliases` has aliases of the original column `name`.
        if new_names.contains(&"name") && !new_names.contains(&"aliases") {
            renamed.iter_mut().filter(|column| *column == "aliases").for_each(String::clear);
        }
        Some((table, renamed))
    }

    /// The place of a table in `read_tables`; it is read the first time.
    fn read_once(&mut self, path: &str) -> Result<usize, String> {
        if let Some(known) = self.read_tables.iter().position(|(read, _)| read == path) {
            return Ok(known);
        }
        if self.read_tables.len() == MAX_TABLES {
            return Err(format!("a domain has at most {MAX_TABLES} tables"));
        }
        let table = self.tables.read(path)?;
        let n_cells = |table: &Table| table.rows.len().saturating_mul(table.columns.len());
        let known: usize = self.read_tables.iter().map(|(_, table)| n_cells(table)).sum();
        if known.saturating_add(n_cells(&table)) > Table::MAX_CELLS {
            return Err(format!("the tables up to `{path}` have more than {} cells", Table::MAX_CELLS));
        }
        self.read_tables.push((path.to_owned(), Arc::new(table)));
        Ok(self.read_tables.len() - 1)
    }

    /// Counts rows, and cells and phrases, of all classes. `false` if there are too many, which is reported.
    pub(super) fn has_space(&mut self, n_rows: usize, n_cells: usize, at: &Range<usize>) -> bool {
        self.n_rows = self.n_rows.saturating_add(n_rows);
        self.n_cells = self.n_cells.saturating_add(n_cells);
        let most = if self.n_rows > Table::MAX_ROWS {
            format!("{} rows", Table::MAX_ROWS)
        } else if self.n_cells > Table::MAX_CELLS {
            format!("{} cells and phrases", Table::MAX_CELLS)
        } else {
            return true;
        };
        self.problem(at, format!("the entity classes up to this one have more than {most}"));
        false
    }
}

/// What a table that is a query of the database starts with.
pub const QUERY: &str = "sql:";

/// The columns of a table, as hints list them.
pub(super) fn column_list(columns: &[String]) -> String {
    let listed = columns.iter().take(LISTED_COLUMNS).map(String::as_str).collect::<Vec<_>>().join(", ");
    match columns.len().saturating_sub(LISTED_COLUMNS) {
        0 => format!("the columns are {listed}"),
        more => format!("the columns are {listed}, and {more} more"),
    }
}

/// Splits `path new=old ..` into the path, which may hold spaces, and the renames.
fn split_renames(text: &str) -> (&str, &str) {
    let text = text.trim();
    for (gap, _) in text.match_indices(char::is_whitespace) {
        let rest = text[gap..].trim_start();
        if rest.split_whitespace().next().is_some_and(|word| word.contains('=')) {
            return (text[..gap].trim_end(), rest);
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rows of all tables, with their cells copied to the columns of the class.
    fn copied(tables: &[Table]) -> (Vec<String>, Vec<Vec<String>>) {
        let (mut columns, mut rows): (Vec<String>, Vec<Vec<String>>) = (Vec::new(), Vec::new());
        for table in tables {
            for column in table.columns.iter().filter(|column| !column.is_empty()) {
                if !columns.contains(column) {
                    columns.push(column.clone());
                }
            }
            for (_, cells) in &table.rows {
                let mut row = vec![String::new(); columns.len()];
                for (cell, column) in cells.iter().zip(&table.columns) {
                    if let Some(at) = columns.iter().position(|known| known == column) {
                        row[at].clone_from(cell);
                    }
                }
                rows.push(row);
            }
        }
        (columns, rows)
    }

    fn any_table() -> impl Strategy<Value = Table> {
        let columns = proptest::collection::vec("(name|a|b|)", 0..4);
        let rows = proptest::collection::vec((1usize..9, proptest::collection::vec("[xyz]{0,2}", 4)), 0..4);
        (columns, rows).prop_map(|(columns, rows)| {
            let n = columns.len();
            Table {
                columns,
                rows: rows.into_iter().map(|(line, cells)| (line, cells[..n].to_vec())).collect(),
            }
        })
    }

    proptest! {
        #[test]
        fn rows_read_as_if_their_cells_were_copied_to_the_columns_of_the_class(
            tables in proptest::collection::vec(any_table(), 0..4),
        ) {
            let mut members = Members::default();
            for table in &tables {
                members.add(Arc::new(table.clone()), &table.columns);
            }
            let (columns, rows) = copied(&tables);
            prop_assert_eq!(&members.columns, &columns);
            prop_assert_eq!(members.rows().count(), rows.len());
            let lines = tables.iter().flat_map(|table| table.rows.iter().map(|(line, _)| *line));
            prop_assert!(members.rows().map(|row| row.line).eq(lines));
            for (row, cells) in members.rows().zip(&rows) {
                let cell = |column: &str| {
                    let at = columns.iter().position(|known| known == column)?;
                    cells.get(at).map(String::as_str)
                };
                for column in ["name", "a", "b", "c"] {
                    prop_assert_eq!(row.get(column), cell(column));
                }
                prop_assert_eq!(row.name(), cell("name").or(cells.first().map(String::as_str)));
            }
        }
    }
}
