//! The files that the command of an executor names: read once, and run from a private copy.
//!
//! A model includes these files. What was read is what is saved, what its hash is taken of, and what runs: a model's
//! command starts in a directory of its own that holds nothing but copies of them. So no file that merely lies in a model
//! directory is ever run, and none that was changed after it was read.

use super::ExecError;
use crate::text::{self, Kind};
use spanwise_lang::Domain;
use spanwise_lang::domain::ExecutorChoice;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, Metadata};
use std::io::Read as _;
use std::path::{Component, Path};

/// Most bytes of all files of an executor together.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// A file that the command of an executor names.
#[derive(Clone, PartialEq, Eq)]
pub struct ExecutorFile {
    /// Its content.
    pub bytes: Vec<u8>,
    /// Whether it can be run as a program.
    pub is_executable: bool,
}

impl fmt::Debug for ExecutorFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.bytes.len())
    }
}

/// The files of an executor, by the word of the command that names each.
pub type ExecutorFiles = BTreeMap<String, ExecutorFile>;

/// The words of a domain's command that may name files beside the domain file: `./run.sh` and `tools/run.py`, but not
/// `/bin/sh` or `../shared.py`, which stay where they are, nor a program that the search path finds.
#[must_use]
pub fn file_words(domain: &Domain) -> Vec<&str> {
    let ExecutorChoice::Command { argv, .. } = domain.executor() else { return Vec::new() };
    let is_inside = |word: &&str| {
        let mut parts = Path::new(word).components();
        !word.is_empty() && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let is_searched = |at: usize, word: &str| at == 0 && !word.contains(std::path::is_separator);
    let words = argv.iter().map(String::as_str).enumerate();
    words.filter(|&(at, word)| !is_searched(at, word)).map(|(_, word)| word).filter(is_inside).collect()
}

/// Reads the files that the command of a domain's executor names, relative to the directory of the domain file.
///
/// # Errors
/// A link to a file outside of the directory, something that is no regular file, and more than [`MAX_FILE_BYTES`].
pub fn read_files(domain: &Domain, directory: Option<&Path>) -> Result<ExecutorFiles, ExecError> {
    let directory = directory.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut files = ExecutorFiles::new();
    let mut left = MAX_FILE_BYTES;
    for word in file_words(domain) {
        let path = directory.join(word);
        // Most words are no files, and a directory is not copied.
        let Some(found) = fs::metadata(&path).ok().filter(|found| !found.is_dir()) else { continue };
        let file = check_place(directory, &path).and_then(|()| read_file(&path, &found, left));
        let file = file.map_err(|why| {
            let word = super::external::excerpt(word, super::external::MAX_QUOTED_CHARS);
            ExecError::External(format!("the executor's command names the file `{word}`, {why}"))
        })?;
        left -= file.bytes.len() as u64;
        files.insert(word.to_owned(), file);
    }
    Ok(files)
}

/// Refuses a file that is a link out of the directory: a copy of its target may be what nobody meant to give away.
fn check_place(directory: &Path, path: &Path) -> Result<(), String> {
    let full = |path: &Path| path.canonicalize().map_err(|error| format!("which cannot be found: {error}"));
    if full(path)?.starts_with(full(directory)?) {
        return Ok(());
    }
    Err("which is a link out of the directory of the domain file; a model does not include copies of such files: \
         put the file itself there, or write its whole path, so that it stays where it is"
        .to_owned())
}

/// The content of a regular file of at most `left` bytes.
fn read_file(path: &Path, found: &Metadata, left: u64) -> Result<ExecutorFile, String> {
    let too_large =
        || format!("which is too large: a model includes at most {} MiB of such files", MAX_FILE_BYTES >> 20);
    if found.len() > left {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    let read = text::open(path, Kind::Regular)
        .and_then(|file| file.take(left.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(|error| format!("which cannot be read: {error}"))?;
    if bytes.len() as u64 > left {
        return Err(too_large());
    }
    Ok(ExecutorFile { bytes, is_executable: is_executable(found) })
}

/// Whether a file may be run as a program.
#[must_use]
pub fn is_executable(file: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::PermissionsExt::mode(&file.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    return file.is_file();
}

/// Lets a file be run as a program by its owner.
///
/// # Errors
/// As the file system has it.
pub fn make_executable(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    return fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755));
    #[cfg(not(unix))]
    return fs::metadata(path).map(drop);
}
