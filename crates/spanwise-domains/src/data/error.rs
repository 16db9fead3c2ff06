//! Errors of reading and writing examples.

use super::example::FieldError;
use super::import::WrongTask;
use std::io;

/// Why examples could not be read or written. Every message names the file, the line where there is one, and the cause.
/// The cause is not also the `source` of the error, because it would then be printed twice.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The file cannot be opened.
    #[error("cannot open {file}: {}", describe(.reason))]
    Open {
        /// The file.
        file: String,
        /// Why.
        reason: io::Error,
    },
    /// The file was opened but reading stopped.
    #[error("cannot read {file} after line {line}: {reason}")]
    Read {
        /// The file.
        file: String,
        /// The last line that was read whole.
        line: usize,
        /// Why.
        reason: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {file}: {}", describe(.reason))]
    Write {
        /// The file.
        file: String,
        /// Why.
        reason: io::Error,
    },
    /// There is no example in the file.
    #[error("{file} is empty; expected one JSON object per line")]
    Empty {
        /// The file.
        file: String,
    },
    /// The file is a JSON array.
    #[error(
        "{file}:{line}: this is a JSON array; expected one JSON object per line \
         (hint: `jq -c '.[]'` turns one into the other)"
    )]
    Array {
        /// The file.
        file: String,
        /// The line on which the array begins.
        line: usize,
    },
    /// A line is not JSON.
    #[error("{file}:{line}:{column}: not valid JSON: {reason}")]
    Json {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The byte in the line, from 1.
        column: usize,
        /// The message of the JSON parser.
        reason: String,
    },
    /// A line is JSON but not an example.
    #[error("{file}:{line}: {reason}")]
    Field {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: FieldError,
    },
    /// A line is not a task of SCAN, though it begins like one.
    #[error("{file}:{line}: {reason}")]
    Task {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: WrongTask,
    },
    /// A line is not text.
    #[error("{file}:{line}:{column}: not UTF-8 (hint: save the file as UTF-8)")]
    NotUtf8 {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The first byte that is not UTF-8, from 1.
        column: usize,
    },
    /// A line is longer than an example can be.
    #[error("{file}:{line}: the line is longer than {limit} bytes; expected one example per line")]
    LineTooLong {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// Longest line that is read.
        limit: usize,
    },
}

impl DataError {
    /// What is wrong with one line, without file and line; `None` for errors that concern the whole file.
    #[must_use]
    pub fn in_line(&self) -> Option<String> {
        match self {
            Self::Json { column, reason, .. } => Some(format!("column {column}: not valid JSON: {reason}")),
            Self::NotUtf8 { column, .. } => {
                Some(format!("column {column}: not UTF-8 (hint: save the file as UTF-8)"))
            }
            Self::Field { reason, .. } => Some(reason.to_string()),
            Self::Task { reason, .. } => Some(reason.to_string()),
            _ => None,
        }
    }
}

fn describe(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::NotFound => "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::FileTooLarge => {
            "it is too large for the limit on file sizes (`ulimit -f`) or for the file system".to_owned()
        }
        _ => source.to_string(),
    }
}
