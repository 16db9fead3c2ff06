//! Opens files that a user names, and reads whole texts with a bound on their size.

use std::fs::{self, File, Metadata};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

/// Most bytes of a domain file or a table. Without a bound, reading a device might never end.
pub const MAX_BYTES: u64 = 64 << 20;

/// Why a text could not be read. The messages do not name the file; callers do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TextError {
    /// The file cannot be opened or read.
    #[error("{0}")]
    Unreadable(String),
    /// There is more of it than is read.
    #[error("it is larger than {} MiB", .limit >> 20)]
    TooLarge {
        /// The most bytes that are read.
        limit: u64,
    },
    /// It is not text.
    #[error("line {line} is not valid UTF-8")]
    NotUtf8 {
        /// The first line that is not, from 1.
        line: usize,
    },
}

/// What a path may name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A regular file: what a domain, a model or a configuration names.
    Regular,
    /// A regular file, a pipe or a terminal: what a user names on the command line. Shells pass `<(command)` as a pipe.
    Stream,
}

/// Opens a file to read. Directories are refused, and devices, which may never end, and pipes where a regular file is
/// needed: opening one without a writer would block.
///
/// # Errors
/// A file that cannot be opened, or that is of another kind.
pub fn open(path: &Path, kind: Kind) -> io::Result<File> {
    if let Some(found) = refused(&fs::metadata(path)?, kind) {
        // A terminal is a device; only the open file can say which.
        let is_terminal = kind == Kind::Stream && found == DEVICE && File::open(path)?.is_terminal();
        if !is_terminal {
            return Err(wrong_kind(found, kind));
        }
    }
    let file = File::open(path)?;
    // The path may name something else by now.
    match refused(&file.metadata()?, kind) {
        Some(found) if !(kind == Kind::Stream && file.is_terminal()) => Err(wrong_kind(found, kind)),
        _ => Ok(file),
    }
}

const DEVICE: &str = "a device";

/// What a path names, if that is not of this kind.
fn refused(found: &Metadata, kind: Kind) -> Option<&'static str> {
    if found.is_file() {
        return None;
    }
    if found.is_dir() {
        return Some("a directory");
    }
    match (is_pipe(found), kind) {
        (true, Kind::Stream) => None,
        (true, Kind::Regular) => Some("a pipe"),
        (false, _) => Some(DEVICE),
    }
}

fn wrong_kind(found: &str, kind: Kind) -> io::Error {
    let wanted = match kind {
        Kind::Regular => "expected a regular file",
        Kind::Stream => "expected a file or a pipe",
    };
    io::Error::other(format!("it is {found}; {wanted}"))
}

#[cfg(unix)]
fn is_pipe(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    found.file_type().is_fifo() || found.file_type().is_socket()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

/// The text of a file of at most `limit` bytes, without its byte order mark.
///
/// # Errors
/// See [`TextError`].
pub fn read_text(path: &Path, kind: Kind, limit: u64) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    let read = open(path, kind).and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(|error| {
        TextError::Unreadable(match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => error.to_string(),
        })
    })?;
    if bytes.len() as u64 > limit {
        return Err(TextError::TooLarge { limit });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
        TextError::NotUtf8 { line }
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_whole_and_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t");
        let read = |bytes: &[u8], limit| {
            fs::write(&path, bytes).unwrap();
            read_text(&path, Kind::Regular, limit)
        };
        assert_eq!(read("\u{feff}é\n".as_bytes(), 100), Ok("é\n".to_owned()));
        assert_eq!(read(b"four", 4), Ok("four".to_owned()));
        assert_eq!(read(b"fives", 4), Err(TextError::TooLarge { limit: 4 }));
        assert_eq!(read(b"a\n\xff", 4), Err(TextError::NotUtf8 { line: 2 }));
        let missing = read_text(&directory.path().join("missing"), Kind::Regular, 4).unwrap_err();
        assert_eq!(missing.to_string(), "there is no such file");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_and_directories_are_refused_and_pipes_where_a_regular_file_is_needed() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let refused = |path: &Path, kind| read_text(path, kind, 1 << 20).unwrap_err().to_string();
        for kind in [Kind::Regular, Kind::Stream] {
            assert!(refused(Path::new("/dev/zero"), kind).starts_with("it is a device; expected a"));
            assert!(refused(directory.path(), kind).starts_with("it is a directory; expected a"));
        }
        assert_eq!(refused(&pipe, Kind::Regular), "it is a pipe; expected a regular file");
        let writer = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::write(pipe, "through a pipe")
        });
        assert_eq!(read_text(&pipe, Kind::Stream, 100), Ok("through a pipe".to_owned()));
        writer.join().unwrap().unwrap();
    }
}
