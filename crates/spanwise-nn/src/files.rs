//! Reads the files of models and encoders: regular files only, and none that is larger than it can be.
//!
//! A model may come from someone else, and a server loads models while it runs. A pipe must not block it, a device must
//! not be read without end, and a JSON text must not take a hundred times its size in memory.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a description in JSON, such as `tokenizer.json`.
pub const MAX_JSON: u64 = 64 << 20;
/// The most bytes of a file of weights.
pub const MAX_WEIGHTS: u64 = 8 << 30;
/// The most values in such a description. Each takes about a hundred bytes of memory.
pub const MAX_VALUES: usize = 4_000_000;

/// Opens a regular file of at most `limit` bytes. A pipe, a device or a directory is refused, without waiting for it.
///
/// # Errors
/// A file that cannot be opened, is larger or not regular.
pub fn open_regular(path: &Path, limit: u64) -> io::Result<File> {
    check(&fs::metadata(path)?, limit)?;
    let mut options = OpenOptions::new();
    options.read(true);
    // A pipe may have taken the place of the file since: opening it for reading would wait for a writer.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    check(&file.metadata()?, limit)?;
    Ok(file)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// As [`open_regular`], and what reading fails with.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_open(open_regular(path, limit)?, limit)
}

/// Reads an open file of at most `limit` bytes.
///
/// # Errors
/// A file that is larger; what reading fails with.
pub fn read_open(file: File, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    // It may have grown since it was opened.
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

/// Checks that a JSON text does not hold more than `limit` values, which could fill the memory.
///
/// # Errors
/// The message that says so.
pub fn check_json(text: &[u8], limit: usize) -> Result<(), String> {
    // Commas and brackets inside of strings count too, which only makes the bound a little tighter.
    let n = text.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    if n > limit { Err(format!("it has more than {limit} values")) } else { Ok(()) }
}

fn check(found: &Metadata, limit: u64) -> io::Result<()> {
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if found.len() > limit {
        return Err(too_large(limit));
    }
    Ok(())
}

fn too_large(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} MiB", limit >> 20))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn only_regular_files_of_a_bounded_size_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        fs::write(&path, "four").unwrap();
        assert_eq!(read_regular(&path, 4).unwrap(), b"four");
        assert_eq!(read_regular(&path, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_regular(directory.path(), 4).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        let missing = read_regular(&directory.path().join("missing"), 4).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/zero")] {
            let error = read_regular(path, 1 << 20).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file");
        }
    }

    #[test]
    fn a_json_text_of_too_many_values_is_refused() {
        assert!(check_json(br#"{"a": [1, 2]}"#, 3).is_ok());
        assert!(check_json(br#"{"a": [1, 2, 3]}"#, 3).is_err());
    }
}
