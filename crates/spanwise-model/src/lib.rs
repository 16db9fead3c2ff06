//! Trained parsers: model families behind one trait, calibrated probabilities, and the model directory.
//!
//! [`Parser`] is what most programs need. [`Model`] is a parser without an executor. A [`Family`] is how utterances become
//! programs and how that is learned: the folders of [`families`].

mod batch;
mod beam;
pub mod confidence;
pub mod consent;
mod directory;
pub mod families;
pub mod family;
mod labels;
mod leaves;
mod model;
mod outcome;
mod parser;
mod provenance;
mod reading;
mod second_reading;
pub mod span_model;
pub mod unread;

pub use confidence::Confidence;
pub use consent::ExecutorPolicy;
pub use directory::{DirectoryLock, FORMAT_VERSION, ModelError};
pub use families::Settings;
pub use family::{
    Blueprint, BuildError, Compact, EncoderSource, Family, FamilySettings, Gold, Objective, Pair, Request,
    Shard, ShardGradients, StepTime, Task,
};
pub use labels::Labels;
pub use model::Model;
pub use outcome::{
    Alternative, Answered, Correction, Crowded, Details, Guessed, Outcome, Parse, Predicted, Provenance,
    Rival, Unread,
};
pub use parser::Parser;
pub use reading::{Question, Withhold, plain_tree};
pub use span_model::{LexiconUse, SpanModel};
pub use spanwise_chart::budget::Budget;
