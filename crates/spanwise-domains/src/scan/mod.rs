//! SCAN: commands that denote sequences of actions.
//!
//! [`ScanExecutor`] evaluates programs of SCAN-SP, the semantic-parsing version of SCAN; [`grammar`]
//! generates every command with its program and actions; [`splits`] divides them as the official files do.

mod executor;
pub mod grammar;
pub mod splits;
mod words;

pub use executor::ScanExecutor;
pub use words::{Action, Direction, Manner, Phrase, Verb};
