//! A trained parser: a domain, a network and charts together, and the directory it is kept in.

pub mod confidence;
mod directory;
mod labels;
mod model;
mod parser;
mod posteriors;
mod reading;
mod scorer;
mod settings;

pub use confidence::Confidence;
pub use directory::{FORMAT_VERSION, ModelError};
pub use labels::Labels;
pub use model::{Model, Tables};
pub use parser::{Alternative, Details, Outcome, Parse, Parser, Provenance};
pub use reading::{Question, plain_tree};
pub use scorer::{PHRASE_WEIGHTS, PaperPrepared, Prepared, TypedGradient};
pub use settings::{JoinScores, LexiconUse, Search, Settings};
