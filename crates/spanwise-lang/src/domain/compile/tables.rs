//! Reads the tables of entity classes: renames columns, combines rows, and counts what they cost.

use super::super::Table;
use super::super::file::{At, EntityDecl};
use super::Compiler;
use crate::diag::Diagnostic;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;

/// Most tables of a domain.
const MAX_TABLES: usize = 1_000;
/// Columns that a hint lists.
const LISTED_COLUMNS: usize = 20;

impl Compiler<'_> {
    /// The rows of a class, from its tables and from the names in the file.
    pub(super) fn entity_table(&mut self, decl: &EntityDecl) -> Option<Table> {
        if let Some(recognizer) = &decl.recognizer {
            // Literals have no rows: the columns of their form are the fields of a value.
            let columns = recognizer.fields().iter().map(|&field| field.to_owned()).collect();
            return Some(Table { columns, rows: Vec::new() });
        }
        let mut all = Table::default();
        for text in &decl.tables {
            let table = self.renamed_table(text)?;
            self.merge(&mut all, table, decl, text)?;
        }
        if !decl.names.is_empty() || decl.tables.is_empty() {
            let rows = decl.names.iter().map(|name| (0, vec![name.value.clone()])).collect();
            self.merge(&mut all, Table { columns: vec!["name".to_owned()], rows }, decl, &decl.class)?;
        }
        let mut seen = HashSet::new();
        for name in &decl.names {
            if !seen.insert(name.value.as_str()) {
                self.problem(&name.range, format!("`{}` is listed twice", name.value));
            }
        }
        Some(all)
    }

    /// Appends the rows of `more`, matching columns by name. Columns without a name are dropped. `None` if there are then
    /// too many columns, rows or cells, which is reported at `at`.
    fn merge(&mut self, all: &mut Table, more: Table, decl: &EntityDecl, at: &At<String>) -> Option<()> {
        let mut known: HashMap<String, usize> =
            all.columns.iter().enumerate().map(|(place, column)| (column.clone(), place)).collect();
        let mut places: Vec<Option<usize>> = Vec::with_capacity(more.columns.len());
        for column in &more.columns {
            places.push((!column.is_empty()).then(|| {
                *known.entry_ref(column.as_str()).or_insert_with(|| {
                    all.columns.push(column.clone());
                    all.columns.len() - 1
                })
            }));
        }
        if all.columns.len() > Table::MAX_COLUMNS {
            let most = Table::MAX_COLUMNS;
            self.problem(&at.range, format!("the tables of this class have more than {most} columns"));
            return None;
        }
        // What a row costs: its cells, and the phrases that are made of them.
        let n_rows = more.rows.len();
        let n_cells = (n_rows + 1).saturating_mul(all.columns.len() + decl.phrases.len());
        if !self.has_space(n_rows, n_cells, &at.range) {
            return None;
        }
        for (line, cells) in more.rows {
            let mut row = vec![String::new(); all.columns.len()];
            for (cell, place) in cells.into_iter().zip(&places) {
                if let Some(place) = place {
                    row[*place] = cell;
                }
            }
            all.rows.push((line, row));
        }
        Some(())
    }

    /// Reads `path new=old ..`: the table with columns renamed. A renamed column hides another one of that name.
    fn renamed_table(&mut self, text: &At<String>) -> Option<Table> {
        let (path, renames) = split_renames(&text.value);
        let known = match self.read_once(path) {
            Ok(known) => known,
            Err(message) => {
                self.problem(&text.range, message);
                return None;
            }
        };
        let table = &self.read_tables[known].1;
        let mut renamed = table.clone();
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
            for (other, name) in renamed.columns.iter_mut().enumerate() {
                if other != at && name == new {
                    name.clear();
                }
            }
            new.clone_into(&mut renamed.columns[at]);
            new_names.push(new);
        }
        // The column `aliases` has aliases of the original column `name`.
        if new_names.contains(&"name") && !new_names.contains(&"aliases") {
            renamed.columns.iter_mut().filter(|column| *column == "aliases").for_each(String::clear);
        }
        Some(renamed)
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
        self.read_tables.push((path.to_owned(), table));
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
