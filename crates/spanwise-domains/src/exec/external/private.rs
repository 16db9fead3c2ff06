//! A command that runs in a directory of its own, which holds copies of its files and nothing else.

use super::{CommandConfig, CommandExecutor, process};
use crate::exec::files::{ExecutorFiles, make_executable};
use crate::exec::{Denotation, ExecError, Executor};
use serde_json::Value;
use spanwise_lang::{TermId, Terms};
use std::fs;
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// Evaluates programs in child processes that run in a private directory.
///
/// The directory is made at once and removed with the executor, after its processes.
#[derive(Debug)]
pub struct PrivateExecutor {
    // Dropped first: its processes run in the directory.
    executor: CommandExecutor,
    _directory: Directory,
}

impl PrivateExecutor {
    /// An executor that runs in a new directory with copies of `files`. Its `working_dir` is not used.
    ///
    /// # Errors
    /// A directory that cannot be made or filled, and as [`CommandExecutor::new`].
    pub fn new(config: CommandConfig, files: &ExecutorFiles) -> Result<Self, ExecError> {
        let directory = Directory::new(files).map_err(|error| {
            let place = std::env::temp_dir();
            let place = place.display();
            ExecError::External(format!("cannot copy the files of the executor to {place}: {error}"))
        })?;
        let working_dir = Some(directory.path().to_owned());
        Ok(Self {
            executor: CommandExecutor::new(CommandConfig { working_dir, ..config })?,
            _directory: directory,
        })
    }
}

impl Executor for PrivateExecutor {
    fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&Value>,
    ) -> Result<Denotation, ExecError> {
        self.executor.execute(terms, program, context)
    }
}

/// A temporary directory that [`stop_all`](super::stop_all) removes too.
#[derive(Debug)]
struct Directory(TempDir);

impl Directory {
    fn new(files: &ExecutorFiles) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("spanwise-executor-");
        // Others must neither read nor add files.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let directory = Self(builder.tempdir()?);
        process::children().directories.insert(directory.path().to_owned());
        for (word, file) in files {
            let path = directory.path().join(word);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(&path, &file.bytes)?;
            if file.is_executable {
                make_executable(&path)?;
            }
        }
        Ok(directory)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        process::children().directories.remove(self.0.path());
    }
}
