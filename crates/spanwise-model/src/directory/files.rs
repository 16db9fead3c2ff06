//! The files of a model directory beside `model.json`: named by their content, verified when they are read.
//!
//! A file is written under a name that contains the start of its SHA-256. So a new model never overwrites a file of the
//! old one, and `model.json`, which names them all and is replaced last, decides which model the directory holds.

use super::error::ModelError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use spanwise_domains::data::{DataError, replace_atomic};
use spanwise_nn::files::open_regular;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Component, Path, PathBuf};

/// The names of files before version 3.
pub(super) const FIXED_NAMES: [&str; 2] = ["weights.safetensors", "tokenizer.json"];

/// The most bytes of a file, unless a limit is given.
const MAX_FILE: u64 = 1 << 30;

/// Hexadecimal digits of the hash in a file name.
const DIGITS: usize = 16;

/// A file that `model.json` names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileEntry {
    /// Its name in the model directory.
    pub(super) path: String,
    /// The SHA-256 of its content, in hexadecimal; models before version 3 have none.
    #[serde(default)]
    pub(super) sha256: Option<String>,
}

impl FileEntry {
    /// Opens the file and compares its hash. Cost: one pass over the file.
    ///
    /// What is read from the open file is what was compared, even if another model replaces this one meanwhile.
    ///
    /// # Errors
    /// A file that is missing, unreadable or not the one that was saved.
    pub(super) fn open(&self, directory: &Path) -> Result<(PathBuf, File), ModelError> {
        self.open_within(directory, MAX_FILE)
    }

    /// As [`FileEntry::open`], for a file of at most `limit` bytes.
    pub(super) fn open_within(&self, directory: &Path, limit: u64) -> Result<(PathBuf, File), ModelError> {
        let path = directory.join(self.checked_name(directory)?);
        let mut file = open_regular(&path, limit).map_err(|error| file_error(&path, &error))?;
        let Some(expected) = &self.sha256 else { return Ok((path, file)) };
        let mut hash = Sha256::new();
        io::copy(&mut file, &mut hash)
            .and_then(|_| file.rewind())
            .map_err(|error| file_error(&path, &error))?;
        if *expected == format!("{:x}", hash.finalize()) {
            return Ok((path, file));
        }
        let reason = "its SHA-256 is not the one in model.json".to_owned();
        Err(ModelError::Corrupt { path: path.display().to_string(), reason })
    }

    /// The name, which must stay inside the directory.
    pub(super) fn checked_name(&self, directory: &Path) -> Result<&str, ModelError> {
        let mut parts = Path::new(&self.path).components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(_)), None) => Ok(&self.path),
            _ => Err(ModelError::Damaged {
                path: directory.join("model.json").display().to_string(),
                reason: format!("`{}` is not the name of a file beside it", self.path),
            }),
        }
    }
}

pub(crate) fn file_error(path: &Path, error: &io::Error) -> ModelError {
    ModelError::File { path: path.display().to_string(), reason: error.to_string(), kind: error.kind() }
}

/// Writes a file under a name made of `stem`, the hash of its content and `suffix`.
///
/// `write` is called twice, for the hash and for the file, so that no copy of the content is held in memory.
pub(super) fn write_named(
    directory: &Path,
    stem: &str,
    suffix: &str,
    write: impl Fn(&mut dyn Write) -> io::Result<()>,
) -> Result<FileEntry, ModelError> {
    let mut hash = Sha256::new();
    write(&mut hash).map_err(|error| file_error(directory, &error))?;
    let sha256 = format!("{:x}", hash.finalize());
    let path = format!("{stem}-{}{suffix}", &sha256[..DIGITS]);
    replace_atomic(&directory.join(&path), write).map_err(|error| data_error(directory, &error))?;
    Ok(FileEntry { path, sha256: Some(sha256) })
}

pub(super) fn data_error(directory: &Path, error: &DataError) -> ModelError {
    ModelError::File {
        path: directory.display().to_string(),
        reason: error.to_string(),
        kind: io::ErrorKind::Other,
    }
}

/// Removes files that no model needs any more: those of the model that was replaced, and named files of a save that did
/// not come to its end.
pub(super) fn remove_unused(directory: &Path, before: &[FileEntry], now: &[FileEntry]) {
    let used: BTreeSet<&str> = now.iter().map(|file| file.path.as_str()).collect();
    let names = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let ours = names.filter_map(|name| name.into_string().ok()).filter(|name| is_content_name(name));
    // Never a file that this program did not name, whatever a manifest says.
    let before = before.iter().map(|file| file.path.clone());
    let before = before.filter(|name| is_content_name(name) || FIXED_NAMES.contains(&name.as_str()));
    for name in ours.chain(before).filter(|name| !used.contains(name.as_str())) {
        // A file that stays does no harm.
        let _ = fs::remove_file(directory.join(name));
    }
}

/// Whether a name is one that [`write_named`] makes.
fn is_content_name(name: &str) -> bool {
    let rest = ["weights-", "tokenizer-", "executor-"].iter().find_map(|stem| name.strip_prefix(stem));
    let digits = rest.and_then(|rest| rest.get(..DIGITS));
    digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn files_are_named_by_their_content_and_verified() {
        let directory = tempfile::tempdir().unwrap();
        let write = |text: &'static str| {
            write_named(directory.path(), "weights", ".bin", |out| out.write_all(text.as_bytes())).unwrap()
        };
        let (one, two) = (write("one"), write("two"));
        assert_ne!(one.path, two.path);
        assert_eq!(write("one"), one);
        let (path, mut file) = one.open(directory.path()).unwrap();
        fs::remove_file(path).unwrap();
        assert_eq!(io::read_to_string(&mut file).unwrap(), "one");
        fs::write(directory.path().join(&one.path), "0ne").unwrap();
        assert!(matches!(one.open(directory.path()), Err(ModelError::Corrupt { .. })));
        fs::write(directory.path().join("notes.txt"), "mine").unwrap();
        remove_unused(directory.path(), &[], std::slice::from_ref(&two));
        assert!(!directory.path().join(&one.path).exists());
        assert!(directory.path().join(&two.path).exists() && directory.path().join("notes.txt").exists());
    }

    #[test]
    fn a_name_that_leaves_the_directory_is_refused() {
        for path in ["../weights", "/etc/passwd", "a/b", "", ".", ".."] {
            let entry = FileEntry { path: path.to_owned(), sha256: None };
            assert!(matches!(entry.open(Path::new("model")), Err(ModelError::Damaged { .. })), "{path}");
        }
    }
}
