//! Reads whole text files with a bound on their size.

use std::fs::File;
use std::io::{self, Read as _};
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

/// The text of a file of at most `limit` bytes, without its byte order mark.
///
/// # Errors
/// See [`TextError`].
pub fn read_text(path: &Path, limit: u64) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes));
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
            std::fs::write(&path, bytes).unwrap();
            read_text(&path, limit)
        };
        assert_eq!(read("\u{feff}é\n".as_bytes(), 100), Ok("é\n".to_owned()));
        assert_eq!(read(b"four", 4), Ok("four".to_owned()));
        assert_eq!(read(b"fives", 4), Err(TextError::TooLarge { limit: 4 }));
        assert_eq!(read(b"a\n\xff", 4), Err(TextError::NotUtf8 { line: 2 }));
        let missing = read_text(&directory.path().join("missing"), 4).unwrap_err();
        assert_eq!(missing.to_string(), "there is no such file");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_endless_file_is_refused() {
        assert_eq!(read_text(Path::new("/dev/zero"), 1 << 20), Err(TextError::TooLarge { limit: 1 << 20 }));
    }
}
