//! Training from programs, evaluation, and the directories of runs.

pub mod curves;
pub mod metrics;
pub mod recombine;
pub mod tree_f1;
