//! Errors of PostgreSQL as ours.

use super::super::{DatabaseError, StatementFault};
use super::address::{Address, because};
use super::password::Password;
use std::error::Error as _;
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, ErrorPosition, SqlState};

/// Whether the connection cannot be used any more, whatever the statement.
pub(super) fn is_gone(error: &Error) -> bool {
    match error.as_db_error() {
        Some(error) => is_gone_code(error.code().code()),
        None => error.is_closed() || error.source().is_some_and(|cause| cause.is::<std::io::Error>()),
    }
}

/// Connection exceptions, and the codes of a server that stops or is about to start.
fn is_gone_code(code: &str) -> bool {
    code.starts_with("08") || matches!(code, "57P01" | "57P02" | "57P03" | "57P05")
}

/// Whether the server is about to be there: it starts, recovers, or does not listen yet.
pub(super) fn is_starting(error: &Error) -> bool {
    error.code() == Some(&SqlState::CANNOT_CONNECT_NOW)
}

/// Why connecting failed.
pub(super) fn connecting(error: &Error, address: &Address) -> DatabaseError {
    let server = &address.server;
    let Some(fault) = error.as_db_error() else { return without_server(error, address) };
    let message = said(fault);
    match fault.code().code() {
        "28P01" => refused_password(address),
        "28000" => DatabaseError::Denied(format!(
            "the server at {server} does not let user '{}' in: {message}{}",
            address.user,
            tls_hint(&message)
        )),
        "3D000" => DatabaseError::Missing(format!(
            "there is no database '{}' on the server at {server}",
            address.database
        )),
        "42501" => DatabaseError::Denied(format!(
            "the server at {server} refuses user '{}': {message}",
            address.user
        )),
        "53300" => DatabaseError::Busy(format!("the server at {server} has no free connection: {message}")),
        "57P03" | "57P01" | "57P02" => {
            DatabaseError::Unreachable(format!("the server at {server} is not ready: {message}"))
        }
        _ => DatabaseError::Failed(format!("the server at {server} refuses the connection: {message}")),
    }
}

/// Connecting failed before the server could say why.
fn without_server(error: &Error, address: &Address) -> DatabaseError {
    let (server, reason) = (&address.server, because(error));
    // The driver does not show the kinds of its errors, but each kind has a text of its own.
    match error.to_string().as_str() {
        "invalid configuration" if reason == "password missing" => refused_password(address),
        "invalid configuration" => {
            DatabaseError::Config(format!("the URL of the database cannot be used: {reason}"))
        }
        "authentication error" => DatabaseError::Denied(format!(
            "the server at {server} does not let user '{}' in: {reason}",
            address.user
        )),
        "error performing TLS handshake" if reason.contains("does not support TLS") => {
            DatabaseError::Unreachable(format!(
                "the server at {server} does not offer TLS, which the sslmode of the URL asks for"
            ))
        }
        "error performing TLS handshake" => DatabaseError::Unreachable(format!(
            "the server at {server} is not trusted: {reason}; see sslmode and sslrootcert in the URL"
        )),
        _ => DatabaseError::Unreachable(format!("no server answers at {server}: {reason}")),
    }
}

/// Whether TLS itself failed, and not the server behind it.
pub(super) fn is_tls(error: &Error) -> bool {
    error.as_db_error().is_none() && error.to_string() == "error performing TLS handshake"
}

fn tls_hint(message: &str) -> &'static str {
    if message.contains("no encryption") || message.contains("SSL off") {
        "; it may want TLS: add sslmode=require to the URL"
    } else if message.contains("SSL encryption") || message.contains("SSL on") {
        "; it may want a connection without TLS: add sslmode=disable to the URL"
    } else {
        ""
    }
}

fn refused_password(address: &Address) -> DatabaseError {
    let (server, user) = (&address.server, &address.user);
    DatabaseError::Denied(match &address.password {
        Password::Environment(name) => {
            format!("the server at {server} refuses the password of user '{user}', which comes from {name}")
        }
        Password::File(path) => format!(
            "the server at {server} refuses the password of user '{user}', which comes from '{}'",
            path.display()
        ),
        Password::Absent(name, reason) => {
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
            format!(
                "the server at {server} wants a password of user '{user}'; give it in the environment variable {name} \
                 or in ~/.pgpass{reason}"
            )
        }
    })
}

/// What went wrong with a statement that begins at `offset` letters of what was sent.
pub(super) fn statement(error: &Error, sql: &str, offset: usize, server: &str) -> DatabaseError {
    let Some(fault) = error.as_db_error() else {
        return match error.is_closed() || is_gone(error) {
            true => DatabaseError::Gone(format!("the server at {server} closed the connection")),
            false => DatabaseError::Failed(format!(
                "the server at {server} sent something unexpected: {error}: {}",
                because(error)
            )),
        };
    };
    let (code, message) = (fault.code().code(), said(fault));
    match code {
        "25006" | "25001" => DatabaseError::NotReadOnly(format!(
            "the statement would write ({message}); only queries can be run"
        )),
        "42501" => DatabaseError::Denied(message),
        "55P03" => DatabaseError::Locked(message),
        "42601" if fault.routine() == Some("exec_parse_message") => {
            DatabaseError::NotReadOnly("there is more than one statement; write one select".to_owned())
        }
        _ if is_gone_code(code) => {
            DatabaseError::Gone(format!("the server at {server} closed the connection: {message}"))
        }
        // Short of memory or disk, or an error inside the server.
        _ if ["53", "58", "F0", "XX"].iter().any(|class| code.starts_with(class)) => {
            DatabaseError::Failed(format!("the server at {server} failed: {message}"))
        }
        _ => DatabaseError::Statement { fault: kind(fault), message, position: position(fault, sql, offset) },
    }
}

fn kind(fault: &DbError) -> StatementFault {
    match fault.code().code() {
        "42601" | "42602" | "42622" => StatementFault::Syntax,
        "42P01" | "3F000" => StatementFault::MissingTable,
        "42703" => StatementFault::MissingColumn,
        // An operator that does not exist for these types is a mismatch of types.
        "42883" if fault.routine() == Some("op_error") => StatementFault::Type,
        "42883" | "42704" => StatementFault::MissingFunction,
        "42804" | "42846" | "42P08" | "42P18" | "42725" | "42P38" => StatementFault::Type,
        // Values that do not have the type they are read as, or are out of its range.
        "22P02" | "22P03" | "22007" | "22008" | "22003" | "22021" => StatementFault::Type,
        _ => StatementFault::Other,
    }
}

/// The message of the server with its detail and its hint.
fn said(fault: &DbError) -> String {
    let mut text = fault.message().to_owned();
    if let Some(detail) = fault.detail() {
        text += &format!(" ({})", detail.trim_end_matches('.'));
    }
    if let Some(hint) = fault.hint() {
        text += &format!("; {}", hint.trim_end_matches('.'));
    }
    text
}

/// The position in bytes; the server counts letters from 1, in what was sent.
fn position(fault: &DbError, sql: &str, offset: usize) -> Option<usize> {
    let Some(ErrorPosition::Original(position)) = fault.position() else { return None };
    let letters = usize::try_from(*position).ok()?.checked_sub(offset + 1)?;
    sql.char_indices().map(|(at, _)| at).chain([sql.len()]).nth(letters)
}
