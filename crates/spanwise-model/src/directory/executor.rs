//! The files of an external executor, as part of a model directory.
//!
//! A model holds its domain, and the files that the command of its executor names: a trained model could not answer
//! without them. They are read into memory once. What was read is what is shown, hashed, saved again and run.

use super::error::ModelError;
use super::files::{FileEntry, file_error, write_named};
use serde::{Deserialize, Serialize};
use spanwise_domains::exec::files::{
    ExecutorFile, ExecutorFiles, MAX_FILE_BYTES, file_words, is_executable, make_executable,
};
use spanwise_lang::Domain;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

/// Most bytes of a file's own name in the name it has in a model directory: the whole must be one that file systems accept.
const MAX_NAME_BYTES: usize = 100;

/// Executor files as `model.json` has them, by the word of the command.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct StoredExecutor(pub(super) BTreeMap<String, FileEntry>);

impl StoredExecutor {
    /// Writes executor files into a model directory.
    pub(super) fn write(files: &ExecutorFiles, directory: &Path) -> Result<Self, ModelError> {
        let mut stored = BTreeMap::new();
        for (word, file) in files {
            let suffix = format!("-{}", short_name(word));
            let entry = write_named(directory, "executor", &suffix, |out| out.write_all(&file.bytes))?;
            if file.is_executable {
                let to = directory.join(&entry.path);
                make_executable(&to).map_err(|error| file_error(&to, &error))?;
            }
            stored.insert(word.clone(), entry);
        }
        Ok(Self(stored))
    }

    /// Reads the files that the domain's command names, after comparing the hashes of all. The command runs with copies
    /// under the words that name them, so a word that leaves the directory is no file.
    pub(super) fn read(&self, domain: &Domain, directory: &Path) -> Result<ExecutorFiles, ModelError> {
        let words = file_words(domain);
        let mut files = ExecutorFiles::new();
        let mut left = MAX_FILE_BYTES;
        for (word, entry) in &self.0 {
            let (path, file) = entry.open(directory)?;
            if !words.contains(&word.as_str()) {
                continue;
            }
            let mode = file.metadata().map_err(|error| file_error(&path, &error))?;
            let mut bytes = Vec::new();
            let read = file.take(left.saturating_add(1)).read_to_end(&mut bytes);
            read.map_err(|error| file_error(&path, &error))?;
            left = left.checked_sub(bytes.len() as u64).ok_or_else(|| ModelError::Corrupt {
                path: path.display().to_string(),
                reason: format!("the files of an executor may have {} MiB", MAX_FILE_BYTES >> 20),
            })?;
            files.insert(word.clone(), ExecutorFile { bytes, is_executable: is_executable(&mode) });
        }
        Ok(files)
    }
}

/// The end of a file's name, which has its extension, in at most [`MAX_NAME_BYTES`].
fn short_name(word: &str) -> String {
    let name = Path::new(word).file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let cut = name.len().saturating_sub(MAX_NAME_BYTES);
    let start = (cut..=name.len()).find(|&at| name.is_char_boundary(at)).unwrap_or_default();
    name[start..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(short_name("tools/run.py"), "run.py");
        let long = format!("{}é.py", "x".repeat(245));
        assert_eq!(short_name(&long), format!("{}é.py", "x".repeat(95)));
        let wide = "é".repeat(124);
        assert_eq!(short_name(&wide), "é".repeat(50));
        assert_eq!(short_name(&format!("{wide}y")), format!("{}y", "é".repeat(49)));
    }
}
