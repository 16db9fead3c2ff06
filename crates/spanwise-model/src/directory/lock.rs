//! The lock on a model directory: one writer at a time, for a save or for a whole training.
//!
//! The lock is on the directory itself and belongs to the process. It leaves no file, and a process that is killed
//! leaves no lock. Readers need none: what they see is the old model or the new one.

use super::error::ModelError;
use super::files::file_error;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a save waits for another one to end.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(5);

/// The right to write into a directory, until it is dropped.
///
/// Where directories cannot be locked, as on some network file systems, writers are not protected from each other.
#[derive(Debug)]
pub struct DirectoryLock {
    directory: PathBuf,
    _lock: Option<File>,
}

impl DirectoryLock {
    /// Locks a directory, which must exist.
    ///
    /// # Errors
    /// [`ModelError::Busy`] when another process, or another part of this one, writes into the directory.
    pub fn take(directory: &Path) -> Result<Self, ModelError> {
        Self::within(directory, Duration::ZERO)
    }

    /// As [`DirectoryLock::take`], but another save may end first.
    pub(crate) fn wait(directory: &Path) -> Result<Self, ModelError> {
        Self::within(directory, PATIENCE)
    }

    fn within(directory: &Path, patience: Duration) -> Result<Self, ModelError> {
        let busy = || ModelError::Busy { path: directory.display().to_string() };
        let held = |lock| Ok(Self { directory: directory.to_owned(), _lock: lock });
        let file = match File::open(directory) {
            Ok(file) => file,
            // Some systems do not open directories.
            Err(_) if directory.is_dir() => return held(None),
            Err(error) => return Err(file_error(directory, &error)),
        };
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return held(Some(file)),
                Err(TryLockError::Error(_)) => return held(None),
                Err(TryLockError::WouldBlock) if start.elapsed() >= patience => return Err(busy()),
                Err(TryLockError::WouldBlock) => sleep(PAUSE),
            }
        }
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn a_directory_has_one_writer_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let lock = DirectoryLock::take(directory.path()).unwrap();
        let error = DirectoryLock::take(directory.path()).unwrap_err();
        assert!(error.to_string().contains(directory.path().to_str().unwrap()), "{error}");
        assert!(matches!(error, ModelError::Busy { .. }));
        let waited = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| DirectoryLock::wait(directory.path()).is_ok());
            drop(lock);
            waiting.join().unwrap()
        });
        assert!(waited && DirectoryLock::take(directory.path()).is_ok());
        assert!(DirectoryLock::take(&directory.path().join("missing")).is_err());
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
