//! Tables of names that are queries of the domain's database.

use crate::exec::sql::config;
use spanwise_lang::Table;
use spanwise_lang::sql::SqlSettings;
use spanwise_reading::Answer;
use spanwise_sql::database::{Database, Limits, Statement, Stop, open};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::Duration;

/// Most time for one table, unless an answer may take longer.
const LEAST_TIME: Duration = Duration::from_secs(60);

/// Reads tables from a database, which is opened for the first one.
pub struct DatabaseTables {
    settings: SqlSettings,
    directory: PathBuf,
    database: OnceCell<Result<Box<dyn Database>, String>>,
}

impl DatabaseTables {
    /// The tables of a database; a relative path of its file starts in `directory`.
    #[must_use]
    pub fn new(settings: SqlSettings, directory: PathBuf) -> Self {
        Self { settings, directory, database: OnceCell::new() }
    }

    /// The rows of a query as texts. An empty cell has no value; the items of a list are separated by `|`.
    ///
    /// # Errors
    /// A database that cannot be opened, a query that it does not accept, too many rows or cells.
    pub fn read(&self, query: &str) -> Result<Table, String> {
        let opened = self.database.get_or_init(|| {
            open(&config(&self.settings, self.directory.clone())).map_err(|error| error.to_string())
        });
        let url = &self.settings.database;
        let failed = |error: &dyn std::fmt::Display| format!("cannot read a table from {url}: {error}");
        let database = opened.as_ref().map_err(|error| failed(error))?;
        let statement = Statement { sql: query.trim().to_owned(), parameters: Vec::new() };
        let limits = Limits { time: self.settings.timeout.max(LEAST_TIME), rows: Table::MAX_ROWS };
        let rows = database.query(&statement, &limits, &Stop::new()).map_err(|error| failed(&error))?;
        if rows.is_truncated {
            return Err(failed(&format!("more than {} rows", Table::MAX_ROWS)));
        }
        let n_cells = rows.rows.len().saturating_mul(rows.columns.len());
        if rows.columns.len() > Table::MAX_COLUMNS || n_cells > Table::MAX_CELLS {
            return Err(failed(&format!("more than {} cells", Table::MAX_CELLS)));
        }
        for (at, column) in rows.columns.iter().enumerate() {
            if column.is_empty() || rows.columns[..at].contains(column) {
                let problem =
                    format!("two columns are called `{column}`, or one has no name; name them with `as`");
                return Err(failed(&problem));
            }
        }
        let cells = |row: Vec<Answer>| (0, row.iter().map(cell).collect());
        Ok(Table { columns: rows.columns, rows: rows.rows.into_iter().map(cells).collect() })
    }
}

/// A cell as a table has it.
fn cell(answer: &Answer) -> String {
    match answer {
        Answer::Null => String::new(),
        Answer::Text(text) => text.clone(),
        Answer::Boolean(value) => value.to_string(),
        Answer::Number(number) => number.to_string(),
        Answer::List(items) => items.iter().map(cell).collect::<Vec<_>>().join("|"),
        Answer::Table { .. } => answer.to_string(),
    }
}
