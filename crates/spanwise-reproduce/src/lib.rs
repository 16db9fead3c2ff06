//! Runs the experiments of the paper's tables and reports them beside the published numbers.
//!
//! A *cell* is a row (settings), a split and a seed. [`run`] fills the cells of a [`Selection`]: each is `spanwise train` and
//! `spanwise eval` as child processes of a [`Runner`], with a folder of its own in a [`Store`]. [`report::Report`] is made from
//! the finished cells. [`results`] keeps means as files in the repository and renders the page `docs/results.md` from them.

pub mod about;
mod document;
mod error;
mod figures;
mod fingerprint;
pub mod gather;
mod grid;
mod html;
mod markdown;
mod metric;
pub mod report;
pub mod results;
mod runner;
mod schedule;
pub mod stats;
mod store;
pub mod tables;

pub use error::ReproduceError;
pub use grid::{CellId, Evaluation, Job, Options, Selection, Table, jobs};
pub use metric::Metric;
pub use runner::{Call, Ran, RunError, Runner, ThisProgram};
pub use schedule::{Event, Outcome, RunContext, run};
pub use store::{Grid, Lock, Record, Store, write_text};
pub use tables::Tables;
