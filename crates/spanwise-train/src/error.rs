//! The errors of training.

use crate::config::ConfigError;
use spanwise_domains::data::DataError;
use spanwise_domains::load::LoadError;
use spanwise_model::ModelError;
use spanwise_nn::pretrained::WeightsError;

/// Why training failed.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The domain.
    #[error(transparent)]
    Domain(#[from] LoadError),
    /// A data file.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An example.
    #[error("{file}: example {number}: {reason}")]
    Example {
        /// The file.
        file: String,
        /// Its number in the file, from 1.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// The examples are not what the family learns from.
    #[error("{file}: {reason}")]
    Examples {
        /// The file.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// There is nothing to learn from.
    #[error("{file} has no examples")]
    Empty {
        /// The file.
        file: String,
    },
    /// No example has a derivation.
    #[error(
        "none of the {n} training examples of {file} can be derived: {reasons}\nRun `{command}` to see each one"
    )]
    NothingDerivable {
        /// The file.
        file: String,
        /// A command that shows the reason for each example.
        command: String,
        /// Number of examples.
        n: usize,
        /// The most frequent reasons.
        reasons: String,
    },
    /// The encoder.
    #[error("the encoder {encoder}: {reason}")]
    Encoder {
        /// The encoder of the configuration.
        encoder: String,
        /// What is wrong.
        reason: String,
    },
    /// The executor of the domain.
    #[error("the executor of the domain cannot be used: {0}")]
    Executor(String),
    /// The output cannot be written.
    #[error("cannot write {path}: {reason}")]
    Write {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The output directory holds another run.
    #[error("{path} already holds a run; continue it with --resume, or choose another --out")]
    Occupied {
        /// The directory.
        path: String,
    },
    /// The checkpoint cannot be used.
    #[error("{0}")]
    Checkpoint(String),
    /// The checkpoint belongs to another run.
    #[error(
        "--resume: this run differs from the one that was begun ({what}); repeat the call that began it, with its --set options, \
         or start a new run in another directory"
    )]
    Changed {
        /// Which of settings, domain, data and encoder are not the same.
        what: String,
    },
    /// The model cannot be written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The loss, its gradient or the weights are not finite.
    #[error(
        "training diverged at epoch {epoch}, step {step}: the loss or the weights are no longer finite numbers; \
         lower training.rate_encoder, training.rate_head and training.rate_tables"
    )]
    Diverged {
        /// The epoch, from 1.
        epoch: usize,
        /// The step of this epoch, from 1.
        step: usize,
    },
    /// The caller stopped the run.
    #[error("stopped after {epoch} of {epochs} epochs; continue with --resume")]
    Stopped {
        /// Finished epochs.
        epoch: usize,
        /// All epochs.
        epochs: usize,
    },
}

impl From<WeightsError> for TrainError {
    fn from(error: WeightsError) -> Self {
        Self::Model(error.into())
    }
}
