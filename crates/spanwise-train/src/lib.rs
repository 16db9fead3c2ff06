//! Training: from a configuration and examples to a model directory.
//!
//! [`train`] reads the data and builds a model of the configured family; `run.rs` is the loop over epochs, `step.rs` one
//! step. A run directory holds the configuration, `metrics.jsonl`, learning curves, a checkpoint, and in the end the model.

mod augment;
pub mod bench;
mod cache;
mod checkpoint;
pub mod config;
pub mod curves;
mod error;
mod pairs;
pub mod recombine;
mod row;
mod run;
mod schedule;
mod step;
mod train;

pub use config::{Config, ConfigError};
pub use error::TrainError;
pub use pairs::LeftOut;
pub use row::{EpochRow, FinalRow};
pub use spanwise_model::Objective;
pub use train::{Event, Trained, Watch, domain_hash, train};
