//! Training from programs, and the directories of runs.

pub mod bench;
mod checkpoint;
pub mod config;
pub mod curves;
mod error;
mod pairs;
pub mod recombine;
mod run;
mod schedule;
mod step;
mod train;

pub use config::{Config, ConfigError, Objective};
pub use error::TrainError;
pub use train::{Event, Trained, domain_hash, train};
