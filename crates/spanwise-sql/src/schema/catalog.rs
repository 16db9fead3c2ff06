//! Statements about a database, and the cells of their answers.

use crate::database::{Database, DatabaseError, Dialect, Limits, Statement, Stop};
use spanwise_reading::Answer;
use std::time::Duration;

/// The longest that one statement about the catalog or a table may take.
const TIME: Duration = Duration::from_secs(20);

/// The most rows of an answer: columns of all tables.
const ROWS: usize = 200_000;

/// Asks a database.
pub(super) struct Reader<'a> {
    database: &'a dyn Database,
    limits: Limits,
    stop: Stop,
}

/// A row of an answer.
pub(super) type Row = Vec<Answer>;

impl<'a> Reader<'a> {
    pub(super) fn new(database: &'a dyn Database) -> Self {
        Self { database, limits: Limits { time: TIME, rows: ROWS }, stop: Stop::new() }
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.database.dialect()
    }

    /// The rows of a statement without parameters.
    pub(super) fn rows(&self, sql: impl Into<String>) -> Result<Vec<Row>, DatabaseError> {
        let statement = Statement { sql: sql.into(), parameters: Vec::new() };
        Ok(self.database.query(&statement, &self.limits, &self.stop)?.rows)
    }
}

/// The text of a cell; `None` for a missing value.
pub(super) fn text(cell: &Answer) -> Option<String> {
    match cell {
        Answer::Null => None,
        other => Some(other.to_string()),
    }
}

/// A text that is always there.
pub(super) fn name(row: &Row, column: usize) -> String {
    row.get(column).and_then(text).unwrap_or_default()
}

/// A count.
pub(super) fn number(row: &Row, column: usize) -> u64 {
    match row.get(column) {
        Some(Answer::Number(number)) => {
            number.as_u64().or_else(|| number.as_f64().map(|number| number.max(0.0) as u64)).unwrap_or(0)
        }
        Some(Answer::Boolean(flag)) => u64::from(*flag),
        Some(Answer::Text(text)) => text.parse().unwrap_or(0),
        _ => 0,
    }
}

/// Yes or no, however the database says it.
pub(super) fn flag(row: &Row, column: usize) -> bool {
    match row.get(column) {
        Some(Answer::Boolean(flag)) => *flag,
        Some(Answer::Text(text)) => matches!(text.as_str(), "t" | "true" | "1"),
        _ => number(row, column) != 0,
    }
}
