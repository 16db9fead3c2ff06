//! Importers: convert the original releases of GeoQuery, SCAN, CLEVR and other benchmarks to examples.
//!
//! They take the text of files and read none themselves. Where the paper divided a release, the importer divides it in
//! the same way, down to the order of the examples. Files of COGS, ATIS, Overnight and Okapi keep their division, and can
//! be restored from the examples ([`Benchmark`]).

mod atis;
mod clevr;
mod clevr_program;
mod cogs;
mod elements;
mod filters;
mod geo;
mod okapi;
mod overnight;
mod scan;
mod tabular;

pub use clevr::{clevr, clevr_stream};
pub use geo::geo;
pub(crate) use scan::task;
pub use scan::{WrongTask, scan, scan_sp};
pub use tabular::Benchmark;

use super::example::Example;
use super::split::{Partition, SplitError};
use crate::scan::grammar::CommandError;

/// Examples that belong in one file.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedSet {
    /// The name of the file, without a directory.
    pub file_name: String,
    /// Its examples, in order.
    pub examples: Vec<Example>,
}

/// Why a release could not be imported.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ImportError {
    /// A record of the GeoQuery corpus is not as expected.
    #[error("line {line} of the corpus: {reason}")]
    Corpus {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The list of train examples is not as expected.
    #[error("line {line} of the train ids: {reason}")]
    Ids {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A line of a SCAN file is not as expected.
    #[error("line {line}: expected `IN: command OUT: actions`, found `{found}`")]
    ScanLine {
        /// The line, from 1.
        line: usize,
        /// How it begins.
        found: String,
    },
    /// A line of a SCAN file holds something that is not a command.
    #[error("line {line}: {reason}")]
    ScanCommand {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: CommandError,
    },
    /// A line of tab-separated fields is not as expected.
    #[error("line {line}: {reason}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A file holds no example at all.
    #[error("no example found; expected {expected}")]
    Nothing {
        /// What an example looks like.
        expected: &'static str,
    },
    /// A CLEVR file is not as expected.
    #[error("the {file} file: {reason}")]
    ClevrFile {
        /// `questions` or `scenes`.
        file: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// An entry of a CLEVR file is not as expected.
    #[error("{entry} {index}: {reason}")]
    ClevrEntry {
        /// `question` or `scene`.
        entry: &'static str,
        /// Its place in the file, from 0.
        index: usize,
        /// What is wrong.
        reason: String,
    },
    /// The examples cannot be divided as in the paper.
    #[error(transparent)]
    Split(#[from] SplitError),
}

/// The three files of a division; `suffix` goes into their names.
fn named_sets(suffix: &str, examples: &[Example], partition: &Partition) -> [NamedSet; 3] {
    let Partition { train, dev, test } = partition;
    [("train", train), ("dev", dev), ("test", test)].map(|(name, numbers)| NamedSet {
        file_name: format!("{name}{suffix}.jsonl"),
        examples: numbers.iter().map(|&number| examples[number].clone()).collect(),
    })
}
