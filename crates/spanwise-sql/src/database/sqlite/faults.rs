//! Errors of SQLite as ours.

use super::super::{DatabaseError, StatementFault};
use rusqlite::{Error, ErrorCode, ffi};
use std::path::Path;

/// What went wrong with a statement. An interrupt is [`DatabaseError::Cancelled`], whoever caused it.
pub(super) fn fault(error: Error, sql: &str, path: &Path) -> DatabaseError {
    let (code, message, position) = match &error {
        Error::SqlInputError { error, msg, offset, .. } => {
            (error, msg.clone(), usize::try_from(*offset).ok())
        }
        Error::SqliteFailure(code, message) => {
            (code, message.clone().unwrap_or_else(|| code.to_string()), None)
        }
        Error::MultipleStatement => {
            return DatabaseError::NotReadOnly(
                "there is more than one statement; write one select".to_owned(),
            );
        }
        other => return DatabaseError::Failed(other.to_string()),
    };
    // A function that is refused has the code of any fault.
    let is_refused = code.code == ErrorCode::Unknown && message.starts_with("not authorized");
    match code.code {
        ErrorCode::OperationInterrupted => DatabaseError::Cancelled,
        code if is_refused || code == ErrorCode::AuthorizationForStatementDenied => {
            DatabaseError::NotReadOnly(format!(
                "the statement would do more than read tables ({message}); only queries can be run"
            ))
        }
        ErrorCode::Unknown | ErrorCode::TypeMismatch | ErrorCode::TooBig | ErrorCode::ParameterOutOfRange => {
            let position = position.or_else(|| table(&message, sql));
            DatabaseError::Statement { fault: kind(code.code, &message), message, position }
        }
        _ => of_the_file(&error, path),
    }
}

/// Where the table is named that there is not: SQLite tells its name, but not its position.
fn table(message: &str, sql: &str) -> Option<usize> {
    let name = message.strip_prefix("no such table: ")?;
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    sql.match_indices(name.trim_start_matches("main.")).map(|(at, _)| at).find(|&at| {
        let (before, after) = (&sql[..at], &sql[at + name.trim_start_matches("main.").len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// SQLite has one code for all faults of a statement; its messages tell them apart.
fn kind(code: ErrorCode, message: &str) -> StatementFault {
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| message.starts_with(beginning));
    if code == ErrorCode::TypeMismatch {
        StatementFault::Type
    } else if begins(&["no such table", "no such view", "unknown database"]) {
        StatementFault::MissingTable
    } else if begins(&["no such column", "table "]) && message.contains("column") {
        StatementFault::MissingColumn
    } else if begins(&["no such function", "wrong number of arguments to function"]) {
        StatementFault::MissingFunction
    } else if begins(&["near ", "incomplete input", "unrecognized token"]) {
        StatementFault::Syntax
    } else {
        StatementFault::Other
    }
}

/// What is wrong with the file.
pub(super) fn of_the_file(error: &Error, path: &Path) -> DatabaseError {
    let shown = path.display();
    let Some(code) = error.sqlite_error() else {
        return DatabaseError::Failed(format!("the database '{shown}' cannot be opened: {error}"));
    };
    match (code.code, code.extended_code) {
        (ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked, _) => DatabaseError::Locked(format!(
            "the database '{shown}' is locked by another program; try again when it has finished writing"
        )),
        (ErrorCode::NotADatabase, _) => {
            DatabaseError::Missing(format!("'{shown}' is not a SQLite database (or is encrypted)"))
        }
        (ErrorCode::ReadOnly, ffi::SQLITE_READONLY_ROLLBACK | ffi::SQLITE_READONLY_RECOVERY) => {
            DatabaseError::Failed(format!(
                "a program stopped in the middle of writing the database '{shown}'; open it once with a program that \
                 may write, such as sqlite3, to repair it"
            ))
        }
        (ErrorCode::CannotOpen, _)
        | (ErrorCode::ReadOnly, ffi::SQLITE_READONLY_CANTINIT | ffi::SQLITE_READONLY_DIRECTORY) => {
            DatabaseError::Denied(format!(
                "the database '{shown}' cannot be opened; in WAL mode its directory must be writable, or the files \
                 ending in -wal and -shm must be there"
            ))
        }
        (ErrorCode::ReadOnly, _) => {
            DatabaseError::NotReadOnly("the statement would write; only queries can be run".to_owned())
        }
        (ErrorCode::PermissionDenied, _) => {
            DatabaseError::Denied(format!("the database '{shown}' may not be read"))
        }
        (ErrorCode::DatabaseCorrupt, _) => {
            DatabaseError::Failed(format!("the database '{shown}' is damaged: {error}"))
        }
        _ => DatabaseError::Failed(format!("the database '{shown}' cannot be read: {error}")),
    }
}
