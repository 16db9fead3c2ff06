//! What a statement may do.

use super::super::DatabaseError;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use std::io::ErrorKind;
use std::path::Path;

/// The longest text or blob, in bytes: an expression such as `zeroblob(1000000000)` must not take the memory.
const LONGEST: i32 = 64 << 20;

/// Pragmas that only describe tables; full-text tables ask for `data_version` themselves.
const PRAGMAS: [&str; 9] = [
    "collation_list",
    "data_version",
    "foreign_key_list",
    "index_info",
    "index_list",
    "index_xinfo",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// Functions that reach outside the database, where a build has them.
const FUNCTIONS: [&str; 6] =
    ["edit", "fts3_tokenizer", "load_extension", "readfile", "sqlite_compileoption_get", "writefile"];

/// How the tables end in which a spatial table keeps its content.
const SHADOWS: [&str; 3] = ["_node", "_parent", "_rowid"];

/// Refuses everything but reading the main database.
pub(super) fn restrict(connection: &mut Connection) -> Result<(), rusqlite::Error> {
    connection.pragma_update(None, "query_only", true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    connection.authorizer(Some(authorize))
}

fn authorize(context: AuthContext<'_>) -> Authorization {
    let is_allowed = match context.action {
        AuthAction::Select | AuthAction::Recursive => true,
        AuthAction::Read { .. } => matches!(context.database_name, None | Some("main")),
        AuthAction::Function { function_name } => !is_one_of(&FUNCTIONS, function_name),
        AuthAction::Pragma { pragma_name, .. } => is_one_of(&PRAGMAS, pragma_name),
        // A spatial table (rtree) prepares its writing when it is first read. Nothing comes of it: the file is open
        // for reading, and a statement of ours that writes is not run.
        AuthAction::Insert { table_name }
        | AuthAction::Update { table_name, .. }
        | AuthAction::Delete { table_name } => {
            context.database_name == Some("main") && SHADOWS.iter().any(|ending| table_name.ends_with(ending))
        }
        _ => false,
    };
    if is_allowed { Authorization::Allow } else { Authorization::Deny }
}

fn is_one_of(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Which file has this name now, where the system tells; an error if there is none.
pub(super) fn identity(path: &Path) -> Result<Option<(u64, u64)>, DatabaseError> {
    let shown = path.display();
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => DatabaseError::Missing(format!("there is no database '{shown}'")),
        ErrorKind::PermissionDenied => {
            DatabaseError::Denied(format!("the database '{shown}' may not be read"))
        }
        _ => DatabaseError::Missing(format!("the database '{shown}' cannot be opened: {error}")),
    })?;
    if metadata.is_dir() {
        return Err(DatabaseError::Missing(format!("'{shown}' is a directory, not a SQLite database")));
    }
    if !metadata.is_file() {
        return Err(DatabaseError::Missing(format!("'{shown}' is not a file, and so not a SQLite database")));
    }
    #[cfg(unix)]
    return Ok(Some((
        std::os::unix::fs::MetadataExt::dev(&metadata),
        std::os::unix::fs::MetadataExt::ino(&metadata),
    )));
    #[cfg(not(unix))]
    Ok(None)
}
