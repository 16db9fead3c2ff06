//! Why a model directory cannot be read or written.

use super::FORMAT_VERSION;
use spanwise_nn::pretrained::WeightsError;
use spanwise_nn::tokenizer::TokenizerError;

/// Why a model cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file that cannot be read or written.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
        /// The kind of failure.
        kind: std::io::ErrorKind,
    },
    /// There is no model.
    #[error(
        "{path} is not a model directory: it has no model.json; train one with `spanwise train CONFIG --out {path}`"
    )]
    Missing {
        /// The directory.
        path: String,
    },
    /// `model.json` is not what it should be.
    #[error("{path}: {reason}; the file is damaged or not a model of this program")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The model was written by a newer program.
    #[error("{path} has format version {found}, this program reads up to {FORMAT_VERSION}; update spanwise")]
    Version {
        /// The file.
        path: String,
        /// Its version.
        found: u64,
    },
    /// The domain inside the model cannot be loaded.
    #[error("the domain inside {path} does not load: {reason}")]
    Domain {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The weights were trained for other constants.
    #[error(
        "{path}: the weights were trained for other constants than its domain has now ({reason}); train again"
    )]
    Changed {
        /// The file.
        path: String,
        /// The first difference.
        reason: String,
    },
    /// The model cannot have these tables.
    #[error("{path} cannot have these tables without being trained again: {reason}")]
    Tables {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// A file is not the one that was saved.
    #[error("{path} is damaged: {reason}; restore the model directory from a copy, or train again")]
    Corrupt {
        /// The file.
        path: String,
        /// What differs.
        reason: String,
    },
    /// `model.json` is not the one that was saved.
    #[error(
        "{path} was changed after it was saved: {reason}; restore it from a copy, or train again (to change a \
         model's domain or settings, change the files it was trained from)"
    )]
    Tampered {
        /// The file.
        path: String,
        /// What differs.
        reason: String,
    },
    /// Another process writes into the directory.
    #[error(
        "{path} is in use: a training, a calibration or an update is writing into it; wait until that has ended, or \
         choose another directory"
    )]
    Busy {
        /// The directory.
        path: String,
    },
    /// The weights do not fit.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The tokenizer cannot be read.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// The executor of the domain cannot be opened.
    #[error("the executor of the model's domain cannot be used: {reason}")]
    Executor {
        /// Why not.
        reason: String,
    },
}

impl ModelError {
    /// Whether a file was missing.
    pub(super) fn is_missing_file(&self) -> bool {
        matches!(self, Self::File { kind: std::io::ErrorKind::NotFound, .. })
    }
}
