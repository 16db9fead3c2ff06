//! Training from programs, evaluation, and the directories of runs.

mod checkpoint;
pub mod config;
pub mod curves;
pub mod evaluate;
pub mod metrics;
mod pairs;
pub mod recombine;
mod step;
mod train;
pub mod tree_f1;

pub use config::{Config, ConfigError, Objective};
pub use train::{Event, TrainError, Trained, train};
