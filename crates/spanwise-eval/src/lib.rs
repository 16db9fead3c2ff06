//! Evaluation of parsers: accuracy, tree F1, calibration, selective prediction and gold-tree annotation.

pub mod agreement;
pub mod annotate;
pub mod calibrate;
pub mod evaluate;
pub mod gold_spans;
pub mod metrics;
pub mod selective;
pub mod tree_any;
pub mod tree_f1;
