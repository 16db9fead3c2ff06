//! The databases that run statements.
//!
//! [`open`] connects to SQLite or PostgreSQL for reading. Nothing is ever written: a statement is prepared, bound to
//! its parameters, and run with a limit of time and of rows. See [`Database`].

mod config;
mod error;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod pool;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sqlite")]
mod sqlite;
mod stop;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod value;

pub use config::{DatabaseConfig, Location};
pub use error::{DatabaseError, StatementFault};
pub use stop::{Stop, Watch};

use spanwise_reading::Answer;
use std::path::Path;
use std::time::Duration;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use std::time::Instant;

/// The dialect of SQL that a database reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dialect {
    /// SQLite: parameters are `?1`, `?2`.
    Sqlite,
    /// PostgreSQL: parameters are `$1`, `$2`.
    Postgres,
}

/// A bound parameter.
///
/// SQLite binds whole numbers, decimals (as the nearest double), booleans (as 0 and 1) and texts. PostgreSQL gets every
/// parameter as text and reads it with the type that the statement gives it: `$1::text::numeric`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    /// No value.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number, with the digits it was given with.
    Decimal(String),
    /// A text.
    Text(String),
    /// A day: `2024-02-29`.
    Date(String),
    /// A time of day: `18:30` or `18:30:00`.
    Time(String),
    /// A day and a time: `2024-02-29 18:30:00`.
    DateTime(String),
    /// True or false.
    Boolean(bool),
}

/// A statement with its parameters, in order.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Statement {
    /// One `select`, `values` or `with .. select`, with placeholders `?1` (SQLite) or `$1` (PostgreSQL).
    pub sql: String,
    /// The value of each placeholder.
    pub parameters: Vec<Value>,
}

/// How long a statement may run, and how many rows it may give.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// After this time, waiting for a connection included, the statement is cancelled: [`DatabaseError::Timeout`].
    pub time: Duration,
    /// The rest of the rows is not read; [`Rows::is_truncated`] says so. Neither are rows beyond 64 MiB of cells.
    pub rows: usize,
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl Limits {
    /// When what begins now has to end.
    fn end(&self) -> Instant {
        let begin = Instant::now();
        begin.checked_add(self.time).unwrap_or(begin + LONGEST)
    }
}

/// What "no limit of time" is taken for: a year.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Beyond so many bytes of cells, rows are not read: few rows can be large, too.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
const MOST_BYTES: usize = 64 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(5), rows: 1000 }
    }
}

/// What a statement needs and gives, known without running it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Description {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The number of parameters: the largest number of a placeholder.
    pub parameters: usize,
}

/// The rows of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rows {
    /// The names of the columns; two may be equal.
    pub columns: Vec<String>,
    /// The rows, each as long as `columns`. A cell is a number, a text, true or false, nothing, or a list (an array).
    pub rows: Vec<Vec<Answer>>,
    /// Whether there were more rows than the limits allow.
    pub is_truncated: bool,
}

/// A database that is open for reading. Calls block, and several threads may call at once.
pub trait Database: Send + Sync {
    /// The dialect of its statements.
    fn dialect(&self) -> Dialect;

    /// Prepares a statement without running it.
    ///
    /// A statement that the database does not accept is [`DatabaseError::Statement`], with a position where known; what
    /// is not one query that reads is [`DatabaseError::NotReadOnly`].
    fn describe(&self, sql: &str) -> Result<Description, DatabaseError>;

    /// Runs a statement that reads.
    ///
    /// It ends early at the limit of time and as soon as `stop` is set.
    fn query(&self, statement: &Statement, limits: &Limits, stop: &Stop) -> Result<Rows, DatabaseError>;
}

/// Opens a database for reading, and connects to it once, so that a wrong address or password is known at once.
pub fn open(config: &DatabaseConfig) -> Result<Box<dyn Database>, DatabaseError> {
    match config.location()? {
        Location::Sqlite(path) => open_sqlite(&path, config),
        Location::Postgres(url) => open_postgres(&url, config),
    }
}

#[cfg(feature = "sqlite")]
fn open_sqlite(path: &Path, config: &DatabaseConfig) -> Result<Box<dyn Database>, DatabaseError> {
    Ok(Box::new(sqlite::Sqlite::open(path, config)?))
}

#[cfg(not(feature = "sqlite"))]
fn open_sqlite(_: &Path, _: &DatabaseConfig) -> Result<Box<dyn Database>, DatabaseError> {
    Err(DatabaseError::Config("this build has no SQLite; build with the feature 'sqlite'".to_owned()))
}

#[cfg(feature = "postgres")]
fn open_postgres(url: &str, config: &DatabaseConfig) -> Result<Box<dyn Database>, DatabaseError> {
    Ok(Box::new(postgres::Postgres::open(url, config)?))
}

#[cfg(not(feature = "postgres"))]
fn open_postgres(_: &str, _: &DatabaseConfig) -> Result<Box<dyn Database>, DatabaseError> {
    Err(DatabaseError::Config("this build has no PostgreSQL; build with the feature 'postgres'".to_owned()))
}
