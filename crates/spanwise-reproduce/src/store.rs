//! The files of a grid.
//!
//! `grid.json` lists the requested cells and the commands that requested them; `runs/ROW/SPLIT/seed-N` is the folder of a cell.
//! In it, `training.json` holds the state of the training and `cell.json` what was measured. A cell is finished when it has a
//! `cell.json` without an error; that file is written last.

use crate::error::ReproduceError;
use crate::grid::CellId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use spanwise_domains::data::write_atomic;
use spanwise_eval::metrics::Report;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The folder of a grid.
#[derive(Clone, Debug)]
pub struct Store {
    out: PathBuf,
}

/// Keeps other processes out of a folder until it is dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file is not enough: a child process that is being started may hold a copy of it for a moment.
        let _ = self.0.unlock();
    }
}

/// The cells that were requested in a folder.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Grid {
    /// Whether they are cells of `--quick`, which only show that everything runs.
    pub quick: bool,
    /// All cells that were ever requested, in that order.
    pub cells: Vec<CellId>,
    /// The commands that requested them.
    pub commands: Vec<String>,
}

/// The state of a training.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Training {
    /// Hash of its settings, data and encoder.
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
    /// Hash of its settings, data and encoder.
    pub fingerprint: String,
    /// Why it failed, if it did.
    pub error: Option<String>,
    /// The split whose folder holds the model.
    pub home: String,
    /// The encoder.
    pub encoder: String,
    /// The report of `spanwise eval` on the test set.
    #[serde(default)]
    pub eval: Report,
    /// Its report on the test set with gold trees; empty where the cell has none.
    #[serde(default)]
    pub trees: Report,
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
    /// The commit of the program, where it is known.
    #[serde(default)]
    pub commit: Option<String>,
    /// The day it was measured.
    #[serde(default)]
    pub date: Option<String>,
    /// The machine it ran on.
    #[serde(default)]
    pub machine: String,
    /// How many cells could run at once.
    #[serde(default)]
    pub at_once: usize,
}

impl Record {
    /// Whether it was measured, as opposed to failed.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.error.is_none()
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

    /// Makes the folder and locks it.
    ///
    /// # Errors
    /// Another process holds the lock; the folder cannot be made.
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

    /// Adds cells to those that were requested.
    ///
    /// # Errors
    /// A folder with cells of the other kind, quick or not; a file that cannot be written.
    pub fn request(&self, cells: &[CellId], command: &str, quick: bool) -> Result<Grid, ReproduceError> {
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

    /// The record of a cell, if it was run.
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
        let text = serde_json::to_string_pretty(value).map_err(|error| ReproduceError::file(path, error))?;
        write_text(path, &(text + "\n"))
    }

    /// Removes the folder of a cell that is to be run from the start.
    pub(crate) fn clear(&self, folder: &Path) -> Result<(), ReproduceError> {
        gone(folder, fs::remove_dir_all(folder))
    }

    /// Removes files of a folder, in this order; missing files are fine.
    pub(crate) fn remove(&self, folder: &Path, names: &[&str]) -> Result<(), ReproduceError> {
        names.iter().map(|name| folder.join(name)).try_for_each(|path| gone(&path, fs::remove_file(&path)))
    }

    /// Removes the model of a folder. The manifest goes first: from then on the folder is not a model.
    pub(crate) fn remove_model(&self, folder: &Path) -> Result<(), ReproduceError> {
        self.remove(folder, &["model.json"])?;
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
        let is_part =
            |name: &&str| ["weights", "tokenizer", "executor-"].iter().any(|stem| name.starts_with(stem));
        self.remove(folder, &names.iter().map(String::as_str).filter(is_part).collect::<Vec<_>>())
    }
}

/// The outcome of a removal; what was not there is gone as well.
fn gone(path: &Path, removed: io::Result<()>) -> Result<(), ReproduceError> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(ReproduceError::file(path, error)),
        _ => Ok(()),
    }
}

/// Replaces a text file as a whole, in a folder that is made if need be.
///
/// # Errors
/// It cannot be written.
pub fn write_text(path: &Path, text: &str) -> Result<(), ReproduceError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| ReproduceError::file(folder, error))?;
    }
    write_atomic(path, |file| file.write_all(text.as_bytes()))
        .map_err(|error| ReproduceError::file(path, error))
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ReproduceError> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
            ReproduceError::file(path, format!("{error}; remove the file to run its cell again"))
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ReproduceError::file(path, error)),
    }
}
