//! The executor of domains whose programs run in a database.

use super::{Denotation, ExecError, Executor, Until};
use serde_json::Value;
use spanwise_lang::domain::ExecutorChoice;
use spanwise_lang::sql::SqlSettings;
use spanwise_lang::{Diagnostic, Domain, TermId, Terms};
use spanwise_reading::AnswerInfo;
use spanwise_sql::compose::ComposeError;
use spanwise_sql::database::{DatabaseError, Location, Stop, open};
pub(super) use spanwise_sql::executor::config;
use spanwise_sql::executor::{Found, SqlError, SqlExecutor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Evaluates programs in a database, which is opened when it is first needed. Programs need no context.
pub struct DatabaseExecutor(SqlExecutor);

impl DatabaseExecutor {
    /// An executor of a domain whose file is in `directory`.
    ///
    /// # Errors
    /// A domain without a database.
    pub fn new(domain: Arc<Domain>, directory: PathBuf) -> Result<Self, ExecError> {
        Ok(Self(SqlExecutor::new(domain, directory).map_err(error)?))
    }

    fn run(&self, terms: &Terms, program: TermId, stop: &Stop) -> Result<Denotation, ExecError> {
        self.0.run(terms, program, stop).map(denotation).map_err(error)
    }
}

impl Executor for DatabaseExecutor {
    fn execute(&self, terms: &Terms, program: TermId, _: Option<&Value>) -> Result<Denotation, ExecError> {
        self.run(terms, program, &Stop::new())
    }

    fn execute_until(
        &self,
        terms: &Terms,
        program: TermId,
        _: Option<&Value>,
        until: &Until,
    ) -> Result<Denotation, ExecError> {
        let stop = Stop::new();
        until.watched(&stop, || self.run(terms, program, &stop))
    }

    fn explain(&self, terms: &Terms, program: TermId) -> Option<String> {
        self.0.query(terms, program).ok().map(|query| query.readable())
    }
}

/// Whether the address of a database has a relative path, and so depends on where the domain file is.
#[must_use]
pub fn is_relative(settings: &SqlSettings) -> bool {
    let location = config(settings, PathBuf::new()).location();
    matches!(location, Ok(Location::Sqlite(path)) if path.is_relative())
}

/// The address of a database, with its whole path where that is relative to `directory`.
#[must_use]
pub fn address(settings: &SqlSettings, directory: Option<&Path>) -> String {
    let config = config(settings, directory.unwrap_or(Path::new(".")).to_owned());
    match config.location() {
        Ok(Location::Sqlite(path)) => format!("sqlite:{}", path.display()),
        _ => config.shown_url(),
    }
}

/// What the database of a domain does not accept of its `sql`, and how many fragments were checked.
///
/// # Errors
/// A domain without a database, or a database that cannot be opened or asked, as a message.
pub fn check_fragments(
    domain: &Domain,
    directory: Option<&Path>,
) -> Result<(Vec<Diagnostic>, usize), String> {
    let ExecutorChoice::Sql(settings) = domain.executor() else {
        return Err(format!("the domain {} has no database", domain.name()));
    };
    let config = config(settings, directory.unwrap_or(Path::new(".")).to_owned());
    let database = open(&config).map_err(|error| format!("{}: {error}", config.shown_url()))?;
    spanwise_sql::check::check(domain, &*database).map_err(|error| format!("{}: {error}", config.shown_url()))
}

/// Whether a database could be opened, without opening it.
pub(super) fn check(settings: &SqlSettings) -> Result<(), String> {
    config(settings, PathBuf::new()).location().map(drop).map_err(|error| error.to_string())
}

fn denotation(found: Found) -> Denotation {
    let Found { answer, text, is_empty, is_truncated, n_rows, units } = found;
    let total_rows = n_rows.filter(|_| is_truncated);
    let info = AnswerInfo { truncated: is_truncated, total_rows, units };
    Denotation { is_empty, info, ..Denotation::typed(text, answer) }
}

fn error(error: SqlError) -> ExecError {
    match error {
        SqlError::Compose(ComposeError::Limit { what, limit }) => ExecError::Limit { what, limit },
        SqlError::Compose(error) => ExecError::BadProgram(error.to_string()),
        SqlError::Database { error: DatabaseError::Cancelled, .. } => ExecError::Cancelled,
        other => ExecError::External(other.to_string()),
    }
}
