//! What can go wrong with a database.

use std::time::Duration;

/// Why a database did not answer. No message contains a password.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The URL or a setting is wrong, or this build lacks the database.
    #[error("{0}")]
    Config(String),
    /// No connection: nobody listens, the name is unknown, TLS is refused or required, the certificate is not trusted.
    #[error("{0}")]
    Unreachable(String),
    /// The server or the file system refuses this user.
    #[error("{0}")]
    Denied(String),
    /// There is no such file or database, or the file is not a database.
    #[error("{0}")]
    Missing(String),
    /// Another program holds a lock on the database.
    #[error("{0}")]
    Locked(String),
    /// All connections are in use: of the pool, or of the server.
    #[error("{0}")]
    Busy(String),
    /// The server closed the connection, and connecting again did not help.
    #[error("{0}")]
    Gone(String),
    /// The limit of time is over.
    #[error("the database did not answer within {}", time(*.0))]
    Timeout(Duration),
    /// [`Stop`](super::Stop) was set.
    #[error("the question was cancelled")]
    Cancelled,
    /// The statement would do something else than read.
    #[error("{0}")]
    NotReadOnly(String),
    /// A parameter cannot be bound.
    #[error("parameter {number}: {message}")]
    Parameter {
        /// Its number, from 1.
        number: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The database does not accept the statement, or it failed while it ran.
    #[error("{message}")]
    Statement {
        /// What kind of fault it is.
        fault: StatementFault,
        /// The message of the database.
        message: String,
        /// Where in the statement, in bytes, where the database tells.
        position: Option<usize>,
    },
    /// The file is damaged, the disk fails, memory is short, or the server failed inside.
    #[error("{0}")]
    Failed(String),
}

/// What is wrong with a statement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum StatementFault {
    /// It is not SQL.
    Syntax,
    /// There is no such table or view.
    MissingTable,
    /// There is no such column.
    MissingColumn,
    /// There is no such function, or not for these types.
    MissingFunction,
    /// Types do not fit each other, or a value does not have the type it is read as.
    Type,
    /// The number of parameters differs from the number of placeholders.
    Parameters,
    /// Anything else: a division by zero, a limit of the database.
    Other,
}

fn time(time: Duration) -> String {
    match time.as_millis() {
        millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
        millis => format!("{millis} ms"),
    }
}

/// That a statement gets as many parameters as it has placeholders.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) fn counted(needed: usize, given: usize) -> Result<(), DatabaseError> {
    if needed == given {
        return Ok(());
    }
    let message = format!("the statement has {needed} placeholders, and {given} parameters were given");
    Err(DatabaseError::Statement { fault: StatementFault::Parameters, message, position: None })
}

/// A NUL in a statement, at which the database would end it.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) fn nul_in_statement(at: usize) -> DatabaseError {
    let message = "the statement contains a NUL".to_owned();
    DatabaseError::Statement { fault: StatementFault::Syntax, message, position: Some(at) }
}
