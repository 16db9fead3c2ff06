//! Evaluates programs in a database.

mod found;

use crate::compose::{ComposeError, Query, compose};
use crate::database::{Database, DatabaseConfig, DatabaseError, Dialect, Limits, Stop, open};
pub use found::Found;
use spanwise_lang::domain::{Domain, ExecutorChoice};
use spanwise_lang::sql::{Flavor, SqlSettings};
use spanwise_lang::{Diagnostic, TermId, Terms};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Most time to count the rows of an answer that was cut.
const COUNTING: Duration = Duration::from_millis(500);

/// Why a program has no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SqlError {
    /// The domain has no database.
    #[error("the domain {0} has no database")]
    NoDatabase(String),
    /// It has no statement.
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// The database gives no answer.
    #[error("{}: {error}", database(.url))]
    Database {
        /// The address of the database.
        url: String,
        /// What went wrong.
        error: DatabaseError,
    },
    /// The database does not accept the `sql` of the domain file.
    #[error("the database does not accept the `sql` of this program{place}: {message}")]
    Statement {
        /// Where in the domain file, as text.
        place: String,
        /// What the database says.
        message: String,
    },
}

fn database(url: &str) -> String {
    format!("database {url}")
}

/// Evaluates the programs of a domain in its database, which is opened when it is first needed.
pub struct SqlExecutor {
    domain: Arc<Domain>,
    settings: SqlSettings,
    config: DatabaseConfig,
    database: Mutex<Option<Arc<dyn Database>>>,
}

impl SqlExecutor {
    /// An executor of a domain whose file is in `directory`. Nothing is opened yet.
    ///
    /// # Errors
    /// A domain without a database.
    pub fn new(domain: Arc<Domain>, directory: PathBuf) -> Result<Self, SqlError> {
        let ExecutorChoice::Sql(settings) = domain.executor() else {
            return Err(SqlError::NoDatabase(domain.name().to_owned()));
        };
        let settings = settings.clone();
        let config = config(&settings, directory);
        Ok(Self { domain, settings, config, database: Mutex::default() })
    }

    /// The dialect of the statements.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        dialect(&self.settings)
    }

    /// The statement of a program.
    ///
    /// # Errors
    /// See [`ComposeError`].
    pub fn query(&self, terms: &Terms, program: TermId) -> Result<Query, ComposeError> {
        compose(&self.domain, terms, program, self.dialect())
    }

    /// What a program evaluates to.
    ///
    /// # Errors
    /// See [`SqlError`]; the executor stays usable after any of them.
    pub fn run(&self, terms: &Terms, program: TermId, stop: &Stop) -> Result<Found, SqlError> {
        let start = Instant::now();
        let query = self.query(terms, program)?;
        let database = self.open()?;
        let limits = Limits { time: self.settings.timeout, rows: self.settings.rows };
        let rows =
            database.query(&query.statement, &limits, stop).map_err(|error| self.failed(&query, error))?;
        let n_rows = match rows.is_truncated {
            false => Some(rows.rows.len() as u64),
            true => {
                let left = self.settings.timeout.saturating_sub(start.elapsed()).min(COUNTING);
                self.count(&*database, &query, left, stop)
            }
        };
        Ok(Found::new(&self.domain, &query.layout, rows, n_rows))
    }

    /// The number of rows, if the database knows it soon.
    fn count(&self, database: &dyn Database, query: &Query, time: Duration, stop: &Stop) -> Option<u64> {
        let rows = database.query(&query.count(), &Limits { time, rows: 1 }, stop).ok()?;
        match rows.rows.first()?.first()? {
            spanwise_reading::Answer::Number(number) => number.to_string().parse().ok(),
            _ => None,
        }
    }

    /// The database, which is opened if it is not.
    ///
    /// # Errors
    /// A database that cannot be opened. The next call tries again.
    pub fn open(&self) -> Result<Arc<dyn Database>, SqlError> {
        let mut known = self.database.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(database) = &*known {
            return Ok(Arc::clone(database));
        }
        let opened = open(&self.config);
        let opened = opened.map_err(|error| SqlError::Database { url: self.config.shown_url(), error })?;
        Ok(Arc::clone(known.insert(Arc::from(opened))))
    }

    fn failed(&self, query: &Query, error: DatabaseError) -> SqlError {
        let DatabaseError::Statement { message, position, .. } = error else {
            return SqlError::Database { url: self.config.shown_url(), error };
        };
        let place = position.and_then(|at| query.origin(at)).map_or_else(String::new, |at| {
            let (line, column) = Diagnostic::new(at..at, "").position(self.domain.source());
            format!(" (line {line}, column {column} of the domain file)")
        });
        SqlError::Statement { place, message }
    }
}

/// The dialect of a database.
#[must_use]
pub fn dialect(settings: &SqlSettings) -> Dialect {
    match settings.flavor() {
        Flavor::Sqlite => Dialect::Sqlite,
        Flavor::Postgres => Dialect::Postgres,
    }
}

/// How to open the database of a domain file in a directory.
#[must_use]
pub fn config(settings: &SqlSettings, directory: PathBuf) -> DatabaseConfig {
    let connect_timeout = settings.timeout.min(Duration::from_secs(10));
    DatabaseConfig {
        directory,
        password_env: settings.password_env.clone(),
        connections: settings.connections,
        connect_timeout,
        ..DatabaseConfig::new(settings.database.clone())
    }
}
