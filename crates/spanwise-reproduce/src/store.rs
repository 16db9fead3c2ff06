//! What a grid leaves on disk.
//!
//! `grid.json` says which cells are wanted and by which commands; `runs/ROW/SPLIT/seed-N` is a cell. `training.json` in it says
//! how far its training is, `cell.json` what was measured. A cell counts as finished when its `cell.json` says so, and that file
//! is written last.

use crate::error::ReproduceError;
use crate::grid::CellId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spanwise_domains::data::write_atomic;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The folder of a grid.
#[derive(Clone, Debug)]
pub struct Store {
    out: PathBuf,
}

/// Keeps others out of a folder until it is dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing would not do: a child that is just being started may hold a copy of the file for a moment.
        let _ = self.0.unlock();
    }
}

/// Which cells a folder is for.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Grid {
    /// Whether its numbers mean nothing.
    pub quick: bool,
    /// All cells that were ever asked for, in the order of asking.
    pub cells: Vec<CellId>,
    /// The commands that asked for them.
    pub commands: Vec<String>,
}

/// How far a training is.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Training {
    /// What it is made from.
    pub(crate) fingerprint: String,
    /// Whether the model is finished.
    pub(crate) done: bool,
    /// The command.
    pub(crate) command: String,
    /// Wall seconds, of all attempts together.
    pub(crate) seconds: f64,
    /// Most memory of any attempt.
    pub(crate) peak_bytes: Option<u64>,
    /// Attempts.
    pub(crate) attempts: u32,
}

/// A cell that was run.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Record {
    /// What it is made from.
    pub fingerprint: String,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// The split whose folder holds the model.
    pub home: String,
    /// The encoder.
    pub encoder: String,
    /// What `spanwise eval` said of the test set.
    #[serde(default)]
    pub eval: Map<String, Value>,
    /// What it said of the test set with gold trees.
    #[serde(default)]
    pub trees: Map<String, Value>,
    /// The commands, in order.
    pub commands: Vec<String>,
    /// Wall seconds of training, of all attempts together; shared with the other splits of the model.
    pub train_seconds: f64,
    /// Attempts of training; from two on, seconds of an attempt that was killed may be missing.
    pub attempts: u32,
    /// Wall seconds of evaluation.
    pub eval_seconds: f64,
    /// Most memory of any of its processes.
    pub peak_bytes: Option<u64>,
    /// The version of the program.
    pub version: String,
    /// What it ran on.
    #[serde(default)]
    pub machine: String,
    /// How many cells could run at once.
    #[serde(default)]
    pub at_once: usize,
}

impl Record {
    /// Whether there are numbers in it.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.error.is_none()
    }

    /// A number of the evaluation.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        self.eval.get(key).and_then(Value::as_f64)
    }

    /// A number of the evaluation on gold trees.
    #[must_use]
    pub fn tree_number(&self, key: &str) -> Option<f64> {
        self.trees.get(key).and_then(Value::as_f64)
    }
}

impl Store {
    /// The grid in a folder, which need not exist yet.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        Self { out: out.into() }
    }

    /// The folder.
    #[must_use]
    pub fn out(&self) -> &Path {
        &self.out
    }

    /// Makes the folder and keeps others out of it.
    ///
    /// # Errors
    /// Someone else is in it; it cannot be made.
    pub fn lock(&self) -> Result<Lock, ReproduceError> {
        fs::create_dir_all(&self.out).map_err(|error| ReproduceError::file(&self.out, error))?;
        let path = self.out.join(".lock");
        let file = File::create(&path).map_err(|error| ReproduceError::file(&path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock(file)),
            Err(fs::TryLockError::WouldBlock) => {
                Err(ReproduceError::Busy { out: self.out.display().to_string() })
            }
            Err(fs::TryLockError::Error(error)) => Err(ReproduceError::file(&path, error)),
        }
    }

    /// The cells of this folder, if there are any.
    ///
    /// # Errors
    /// A file that is there but cannot be read.
    pub fn grid(&self) -> Result<Option<Grid>, ReproduceError> {
        read(&self.out.join("grid.json"))
    }

    /// Adds cells to those that are wanted.
    ///
    /// # Errors
    /// A folder with cells of the other kind, quick or not; a file that cannot be written.
    pub fn want(&self, cells: &[CellId], command: &str, quick: bool) -> Result<Grid, ReproduceError> {
        let mut grid = self.grid()?.unwrap_or(Grid { quick, ..Grid::default() });
        if grid.quick != quick {
            return Err(ReproduceError::Mixed { out: self.out.display().to_string(), quick: grid.quick });
        }
        for cell in cells {
            if !grid.cells.contains(cell) {
                grid.cells.push(cell.clone());
            }
        }
        if !grid.commands.iter().any(|known| known == command) {
            grid.commands.push(command.to_owned());
        }
        self.write_json(&self.out.join("grid.json"), &grid)?;
        Ok(grid)
    }

    /// The folder of a cell.
    #[must_use]
    pub fn folder(&self, cell: &CellId) -> PathBuf {
        self.out.join("runs").join(&cell.row).join(&cell.split).join(format!("seed-{}", cell.seed))
    }

    /// What a cell came to, if it was run.
    ///
    /// # Errors
    /// A file that is there but cannot be read.
    pub fn record(&self, cell: &CellId) -> Result<Option<Record>, ReproduceError> {
        read(&self.folder(cell).join("cell.json"))
    }

    pub(crate) fn training(&self, folder: &Path) -> Result<Option<Training>, ReproduceError> {
        read(&folder.join("training.json"))
    }

    /// Replaces a file of a cell as a whole.
    pub(crate) fn write_json<T: Serialize>(&self, path: &Path, value: &T) -> Result<(), ReproduceError> {
        let failed = |error: &dyn ToString| ReproduceError::file(path, error.to_string());
        let text = serde_json::to_string_pretty(value).map_err(|error| failed(&error))?;
        self.write_text(path, &(text + "\n"))
    }

    /// Replaces a text file as a whole, in a folder that is made if need be.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_text(&self, path: &Path, text: &str) -> Result<(), ReproduceError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| ReproduceError::file(folder, error))?;
        }
        write_atomic(path, |file| file.write_all(text.as_bytes()))
            .map_err(|error| ReproduceError::file(path, error))
    }

    /// Empties the folder of a cell that is to be run afresh.
    pub(crate) fn clear(&self, folder: &Path) -> Result<(), ReproduceError> {
        match fs::remove_dir_all(folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(ReproduceError::file(folder, error))
            }
            _ => Ok(()),
        }
    }

    /// Removes files of a folder, in this order; those that are not there are fine.
    pub(crate) fn remove(&self, folder: &Path, names: &[&str]) -> Result<(), ReproduceError> {
        for path in names.iter().map(|name| folder.join(name)) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(ReproduceError::file(&path, error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ReproduceError> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
            ReproduceError::file(path, format!("{error}; remove the file to run its cell again"))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ReproduceError::file(path, error)),
    }
}
