//! The tables of the paper: which runs they are made of, how runs are kept on disk, and the report.
//!
//! In comes a selection of rows and splits and a way to run commands ([`Runner`]); out come run directories below one folder
//! and a report made from them. What a run does is not known here: every cell is `spanwise train` and `spanwise eval`, as
//! child processes. Nothing here prints.

pub mod about;
mod document;
mod error;
mod figures;
mod fingerprint;
pub mod gather;
mod grid;
mod html;
mod markdown;
pub mod report;
mod runner;
mod schedule;
pub mod stats;
mod store;
pub mod tables;

pub use error::ReproduceError;
pub use grid::{CellId, Evaluation, Job, Options, Selection, Table, jobs};
pub use runner::{Call, Ran, RunError, Runner, ThisProgram};
pub use schedule::{Event, Outcome, RunContext, run};
pub use store::{Grid, Lock, Record, Store};
pub use tables::Tables;
