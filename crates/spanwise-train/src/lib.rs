//! Training from programs, evaluation, and the directories of runs.

pub mod abstain;
pub mod agreement;
pub mod annotate;
pub mod bench;
pub mod calibrate;
mod checkpoint;
pub mod config;
pub mod curves;
mod error;
pub mod evaluate;
pub mod gold_spans;
pub mod metrics;
mod pairs;
pub mod recombine;
mod run;
mod schedule;
mod step;
mod train;
pub mod tree_any;
pub mod tree_f1;

pub use config::{Config, ConfigError, Objective};
pub use error::TrainError;
pub use train::{Event, Trained, domain_hash, train};
