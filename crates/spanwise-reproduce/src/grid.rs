//! The cells of a selection of rows and splits, and the jobs that fill them.
//!
//! A job is one training and the test sets its model is evaluated on.

use crate::error::ReproduceError;
use crate::tables::{Row, RowEncoder, Split, Tables};
use serde::{Deserialize, Serialize};
use spanwise_train::Config;
use spanwise_train::config::COMPACT;
use std::path::PathBuf;

/// Training examples of a quick cell.
const QUICK_TRAIN: usize = 60;
/// Dev examples of a quick cell.
const QUICK_DEV: usize = 20;
/// Test examples of a quick cell.
const QUICK_TEST: usize = 40;

/// The pretrained encoder of the presets, for rows that need one where the preset has none.
const PRETRAINED: &str = "sentence-transformers/all-MiniLM-L6-v2";

/// A place in the grid.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct CellId {
    /// The row.
    pub row: String,
    /// The split.
    pub split: String,
    /// The seed.
    pub seed: u64,
}

impl std::fmt::Display for CellId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} seed {}", self.row, self.split, self.seed)
    }
}

/// A table of the paper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Table {
    /// Denotation accuracy.
    #[default]
    Two,
    /// F1 of predicted trees.
    Three,
}

/// The requested part of the tables; an empty list selects everything, but optional splits only where they or their domains
/// are in a list.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Selection {
    /// The table.
    pub table: Table,
    /// Domains.
    pub domains: Vec<String>,
    /// Rows.
    pub rows: Vec<String>,
    /// Splits.
    pub splits: Vec<String>,
    /// How many seeds, from 1.
    pub seeds: u64,
}

impl Selection {
    /// The cells, first seeds first, so that a grid that is stopped early has numbers for every row and split.
    ///
    /// # Errors
    /// An unknown name; an empty selection.
    pub fn cells(&self, tables: &Tables) -> Result<Vec<CellId>, ReproduceError> {
        let names = |rows: &[Row]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        let splits: Vec<String> = tables.splits.iter().map(|split| split.name.clone()).collect();
        known("domain", &self.domains, tables.domains().into_iter().map(str::to_owned).collect())?;
        known("row", &self.rows, names(&tables.rows))?;
        known("split", &self.splits, splits)?;
        let all = |list: &[String], name: &String| list.is_empty() || list.contains(name);
        let wants_row = |row: &&Row| all(&self.rows, &row.name) && (self.table == Table::Two || row.trees);
        let has_named = !self.domains.is_empty() || !self.splits.is_empty();
        let wants_split = |split: &&Split| {
            all(&self.domains, &split.domain)
                && all(&self.splits, &split.name)
                && (has_named || !split.optional)
                && (self.table == Table::Two || split.trees.is_some())
        };
        let mut cells = Vec::new();
        for seed in 1..=self.seeds {
            for row in tables.rows.iter().filter(wants_row) {
                for split in tables.splits_of(row).filter(wants_split) {
                    cells.push(CellId { row: row.name.clone(), split: split.name.clone(), seed });
                }
            }
        }
        if cells.is_empty() {
            let why = match self.table {
                Table::Two => "the rows do not exist for these splits",
                Table::Three => "table 3 has rows with `trees = true` on splits with gold trees only",
            };
            return Err(ReproduceError::Empty(why.to_owned()));
        }
        Ok(cells)
    }
}

fn known(kind: &'static str, names: &[String], known: Vec<String>) -> Result<(), ReproduceError> {
    match names.iter().find(|name| !known.contains(name)) {
        Some(name) => Err(ReproduceError::Unknown { kind, name: name.clone(), known }),
        None => Ok(()),
    }
}

/// How jobs are run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Where the data sets are.
    pub data: PathBuf,
    /// The encoder instead of the pretrained one that a preset names.
    pub encoder: Option<String>,
    /// A file of static word vectors, for the rows that take them.
    pub vectors: Option<String>,
    /// A pretrained encoder-decoder, for the rows that fine-tune one.
    pub encoder_decoder: Option<String>,
    /// A folder with the tokenizer whose word-pieces released trees count, for models that have no word-pieces.
    pub pieces: Option<PathBuf>,
    /// A few examples, one epoch, the compact encoder.
    pub quick: bool,
    /// Keep the weights of all seeds, not of the first alone.
    pub keep_models: bool,
}

impl Options {
    /// Whether there is what a row needs. Nothing smaller can stand in for an encoder-decoder, so quick cells have none.
    #[must_use]
    pub fn can_run(&self, row: &Row) -> bool {
        row.encoder != RowEncoder::EncoderDecoder || self.encoder_decoder.is_some() && !self.quick
    }
}

/// One training, and the test sets its model is evaluated on.
#[derive(Clone, PartialEq, Debug)]
pub struct Job {
    /// The row.
    pub row: String,
    /// The split whose folder holds the model.
    pub home: String,
    /// The seed.
    pub seed: u64,
    /// The resolved settings.
    pub config: Config,
    /// The arguments of `spanwise`, but for `--out`.
    pub train: Vec<String>,
    /// The requested splits.
    pub evaluations: Vec<Evaluation>,
    /// All splits that share its model, requested or not.
    pub sharing: Vec<String>,
}

/// A test set of a job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Evaluation {
    /// The cell it fills.
    pub cell: CellId,
    /// The test set, below the data directory.
    pub test: PathBuf,
    /// The test set with gold trees.
    pub trees: Option<PathBuf>,
    /// The tokenizer whose word-pieces those trees count, where it is not the model's.
    pub pieces: Option<PathBuf>,
    /// At most so many examples.
    pub limit: Option<usize>,
}

/// The jobs that fill cells, in the order of the cells, without those of rows that cannot be run.
///
/// Splits of a row whose settings differ in nothing but the test set share a model. Its home is the first of them in the
/// tables, whichever are requested, so that the next call finds it again.
///
/// # Errors
/// Settings that do not resolve, which the tables have been checked for.
pub fn jobs(tables: &Tables, cells: &[CellId], options: &Options) -> Result<Vec<Job>, ReproduceError> {
    let mut jobs: Vec<Job> = Vec::new();
    for cell in cells {
        let unknown = || ReproduceError::Tables(format!("there is no cell {cell}"));
        let row = tables.row(&cell.row).ok_or_else(unknown)?;
        let split = tables.split(&cell.split).ok_or_else(unknown)?;
        if !options.can_run(row) {
            continue;
        }
        let resolved = resolve(tables, row, split, cell.seed, options)?;
        let mut sharing = Vec::new();
        for other in tables.splits_of(row) {
            let theirs = resolve(tables, row, other, cell.seed, options)?;
            if without_test(&theirs.config) == without_test(&resolved.config) {
                sharing.push(other);
            }
        }
        let home = sharing.first().copied().unwrap_or(split);
        let trees = split.trees.clone().filter(|_| row.trees);
        let needs_pieces = trees.is_some() && resolved.config.encoder == COMPACT;
        let evaluation = Evaluation {
            cell: cell.clone(),
            test: resolved.config.data.test.clone().unwrap_or_default(),
            trees,
            pieces: options.pieces.clone().filter(|_| needs_pieces),
            limit: options.quick.then_some(QUICK_TEST),
        };
        let is_same = |job: &&mut Job| job.row == row.name && job.home == home.name && job.seed == cell.seed;
        if let Some(job) = jobs.iter_mut().find(is_same) {
            job.evaluations.push(evaluation);
            continue;
        }
        let at_home = resolve(tables, row, home, cell.seed, options)?;
        jobs.push(Job {
            row: row.name.clone(),
            home: home.name.clone(),
            seed: cell.seed,
            config: at_home.config,
            train: at_home.arguments,
            evaluations: vec![evaluation],
            sharing: sharing.iter().map(|split| split.name.clone()).collect(),
        });
    }
    Ok(jobs)
}

struct Resolved {
    config: Config,
    arguments: Vec<String>,
}

/// The settings of a cell, and the arguments that give them to `spanwise train`.
fn resolve(
    tables: &Tables,
    row: &Row,
    split: &Split,
    seed: u64,
    options: &Options,
) -> Result<Resolved, ReproduceError> {
    let failed = |error: spanwise_train::ConfigError| ReproduceError::Tables(error.to_string());
    let mut settings = tables.settings(row, split);
    let mut config = Config::read(&split.preset, &settings).map_err(failed)?;
    let compact = || Some(COMPACT.to_owned());
    let encoder = match row.encoder {
        RowEncoder::Preset if config.encoder == COMPACT => None,
        _ if options.quick => compact(),
        RowEncoder::Preset => options.encoder.clone(),
        RowEncoder::Pretrained => options.encoder.clone().or_else(|| Some(PRETRAINED.to_owned())),
        RowEncoder::Vectors => compact(),
        RowEncoder::EncoderDecoder => options.encoder_decoder.clone(),
    };
    if row.encoder == RowEncoder::Vectors && !options.quick {
        settings.extend(options.vectors.iter().map(|file| format!("model.vectors={file}")));
        config = Config::read(&split.preset, &settings).map_err(failed)?;
    }
    if options.quick {
        settings.extend(quick_settings(&config));
        config = Config::read(&split.preset, &settings).map_err(failed)?;
    }
    config.seed = seed;
    if let Some(encoder) = &encoder {
        config.encoder.clone_from(encoder);
    }
    config.check().map_err(failed)?;
    let mut arguments = vec!["train".to_owned(), split.preset.clone()];
    arguments.extend(["--data".to_owned(), options.data.display().to_string()]);
    arguments.extend(["--seed".to_owned(), seed.to_string()]);
    arguments.extend(encoder.into_iter().flat_map(|encoder| ["--encoder".to_owned(), encoder]));
    arguments.extend(settings.into_iter().flat_map(|setting| ["--set".to_owned(), setting]));
    Ok(Resolved { config, arguments })
}

/// One epoch that runs every part of a longer training.
fn quick_settings(config: &Config) -> Vec<String> {
    let mut settings = vec![
        format!("data.limit={QUICK_TRAIN}"),
        format!("data.dev_limit={QUICK_DEV}"),
        "training.epochs=1".to_owned(),
    ];
    if config.training.augment_from > 0 {
        settings.push("training.augment_from=1".to_owned());
    }
    settings
}

/// The settings that determine the trained model.
fn without_test(config: &Config) -> Config {
    let mut config = config.clone();
    config.data.test = None;
    config
}
