//! The files of an external executor: copied into the model directory, and found there again.
//!
//! A model holds its domain, and the executor's command runs in the model directory. So the files that the command names
//! beside the domain file must be part of the model, or a trained model could not answer.

use super::error::ModelError;
use super::files::{FileEntry, file_error, write_named};
use crate::model::Model;
use serde::{Deserialize, Serialize};
use spanwise_domains::exec::{self, Executor};
use spanwise_lang::Domain;
use spanwise_lang::domain::ExecutorChoice;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Where the files are that the command of a domain's executor names, by the word that names them.
pub(crate) type ExecutorFiles = BTreeMap<String, PathBuf>;

/// Executor files as `model.json` has them, by the word of the command.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct StoredExecutor(pub(super) BTreeMap<String, FileEntry>);

/// The files that the command of a domain's executor names, relative to the directory of the domain file.
pub(crate) fn executor_files(domain: &Domain, directory: Option<&Path>) -> ExecutorFiles {
    let ExecutorChoice::Command { argv, .. } = domain.executor() else { return ExecutorFiles::new() };
    let directory = directory.unwrap_or(Path::new(""));
    // `./run.sh` is part of the model; `/bin/sh` and `../shared.py` stay where they are.
    let is_inside = |word: &String| {
        Path::new(word).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    };
    let file = |word: &String| {
        let path = directory.join(word);
        path.is_file().then(|| (word.clone(), path))
    };
    argv.iter().filter(|word| is_inside(word)).filter_map(file).collect()
}

impl StoredExecutor {
    /// Copies executor files into a model directory.
    pub(super) fn write(files: &ExecutorFiles, directory: &Path) -> Result<Self, ModelError> {
        let mut stored = BTreeMap::new();
        for (word, source) in files {
            let bytes = fs::read(source).map_err(|error| file_error(source, &error))?;
            let name = Path::new(word).file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let entry = write_named(directory, "executor", &format!("-{name}"), |out| out.write_all(&bytes))?;
            // A script that can be run must stay so.
            let to = directory.join(&entry.path);
            let permissions = fs::metadata(source).map_err(|error| file_error(source, &error))?.permissions();
            fs::set_permissions(&to, permissions).map_err(|error| file_error(&to, &error))?;
            stored.insert(word.clone(), entry);
        }
        Ok(Self(stored))
    }

    /// Where the files are in a model directory, after comparing their hashes.
    pub(super) fn files(&self, directory: &Path) -> Result<ExecutorFiles, ModelError> {
        let file = |(word, entry): (&String, &FileEntry)| Ok((word.clone(), entry.open(directory)?.0));
        self.0.iter().map(file).collect()
    }
}

/// The name of an executor file as a word of the command; what was given with a directory is still run from one.
fn renamed(word: &str, path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    Some(if word.contains('/') { format!("./{name}") } else { name.to_owned() })
}

impl Model {
    /// The executor of the model's domain, run in the model directory; `None` when its programs are not evaluated.
    ///
    /// # Errors
    /// An executor that cannot be opened.
    pub fn open_executor(&self, directory: &Path) -> Result<Option<Box<dyn Executor>>, ModelError> {
        let in_model = |word: &str| {
            let path = self.executor_files.get(word).filter(|path| path.parent() == Some(directory))?;
            renamed(word, path)
        };
        exec::open_with(&self.domain, Some(directory), in_model)
            .map_err(|error| ModelError::Executor { reason: error.to_string() })
    }
}
