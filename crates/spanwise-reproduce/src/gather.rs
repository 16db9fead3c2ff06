//! Reads the cells of a grid, with their records, predictions and learning curves, for reports.

use crate::error::ReproduceError;
use crate::grid::CellId;
use crate::metric::Metric;
use crate::stats::{Mean, ScoredExample};
use crate::store::{Grid, Record, Store};
use crate::tables::{Row, Split, Tables};
use serde::Deserialize;
use spanwise_lang::Terms;
use std::fs;
use std::path::Path;

/// The state of a cell.
#[derive(Clone, PartialEq, Debug)]
pub enum State {
    /// It was measured.
    Done(Box<Record>),
    /// It failed, for this reason.
    Failed(String),
    /// It was requested and is not finished.
    Missing,
}

/// A cell with everything it left on disk.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// Its place.
    pub id: CellId,
    /// Its state.
    pub state: State,
    /// Its predictions on test.
    pub examples: Vec<ScoredExample>,
    /// Accuracy on dev after each epoch: the epoch, and percent.
    pub curve: Vec<(f64, f64)>,
}

impl Cell {
    /// Its record, if it is finished.
    #[must_use]
    pub fn record(&self) -> Option<&Record> {
        match &self.state {
            State::Done(record) => Some(record),
            _ => None,
        }
    }
}

/// All cells of a grid.
#[derive(Clone, PartialEq, Debug)]
pub struct Results {
    /// The rows and splits.
    pub tables: Tables,
    /// The cells that were requested.
    pub grid: Grid,
    /// The cells, in the order of the tables, then of seeds.
    pub cells: Vec<Cell>,
}

impl Results {
    /// Reads a grid. Cells of rows and splits that are no longer in the tables are passed over.
    ///
    /// # Errors
    /// No grid; a file that is there but cannot be read.
    pub fn read(store: &Store, tables: Tables) -> Result<Self, ReproduceError> {
        let no_grid = || ReproduceError::NoGrid { out: store.out().display().to_string() };
        let grid = store.grid()?.ok_or_else(no_grid)?;
        let mut cells = Vec::new();
        for row in &tables.rows {
            for split in &tables.splits {
                let mut ids: Vec<&CellId> =
                    grid.cells.iter().filter(|id| id.row == row.name && id.split == split.name).collect();
                ids.sort_unstable();
                for id in ids {
                    cells.push(read_cell(store, id)?);
                }
            }
        }
        Ok(Self { tables, grid, cells })
    }

    /// Rows that were requested.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.tables.rows.iter().filter(|row| self.cells.iter().any(|cell| cell.id.row == row.name))
    }

    /// Splits that were requested.
    pub fn splits(&self) -> impl Iterator<Item = &Split> {
        self.tables.splits.iter().filter(|split| self.cells.iter().any(|cell| cell.id.split == split.name))
    }

    /// The seeds of a row on a split.
    pub fn of<'a>(&'a self, row: &'a str, split: &'a str) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| cell.id.row == row && cell.id.split == split)
    }

    /// The mean over finished seeds of a measure.
    #[must_use]
    pub fn mean(&self, row: &str, split: &str, metric: &Metric) -> Option<Mean> {
        Mean::new(&self.values(row, split, metric))
    }

    /// What tables compare on a split: denotation, or exact match where programs have none.
    #[must_use]
    pub fn accuracy(&self, split: &str) -> Metric {
        let of_split = self.cells.iter().filter(|cell| cell.id.split == split);
        let mut records = of_split.filter_map(Cell::record).peekable();
        let has_none = records.peek().is_some() && records.all(|record| record.eval.denotation.is_none());
        if has_none { Metric::ExactMatch } else { Metric::Denotation }
    }

    /// A measure of each finished seed that has it.
    #[must_use]
    pub fn values(&self, row: &str, split: &str, metric: &Metric) -> Vec<f64> {
        self.of(row, split).filter_map(Cell::record).filter_map(|record| metric.of(record)).collect()
    }
}

fn read_cell(store: &Store, id: &CellId) -> Result<Cell, ReproduceError> {
    let empty = |state| Cell { id: id.clone(), state, examples: Vec::new(), curve: Vec::new() };
    let record = match store.record(id)? {
        None => return Ok(empty(State::Missing)),
        Some(Record { error: Some(error), .. }) => return Ok(empty(State::Failed(error))),
        Some(record) => record,
    };
    let home = CellId { split: record.home.clone(), ..id.clone() };
    Ok(Cell {
        id: id.clone(),
        examples: predictions(&store.folder(id).join("predictions.jsonl")),
        curve: curve(&store.folder(&home).join("metrics.jsonl")),
        state: State::Done(Box::new(record)),
    })
}

/// The predictions of a file. Without the file the report lacks some plots.
fn predictions(path: &Path) -> Vec<ScoredExample> {
    let mut terms = Terms::new();
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| ScoredExample::read(line, &mut terms)).collect()
}

/// What a learning curve needs of a line of `metrics.jsonl`.
#[derive(Deserialize)]
struct Epoch {
    epoch: f64,
    dev_denotation: Option<f64>,
    dev_exact_match: Option<f64>,
}

/// Accuracy on dev by epoch: denotation where it is known, exact match elsewhere.
fn curve(path: &Path) -> Vec<(f64, f64)> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let point = |line: &str| {
        let row: Epoch = serde_json::from_str(line).ok()?;
        Some((row.epoch, row.dev_denotation.or(row.dev_exact_match)?))
    };
    text.lines().filter_map(point).collect()
}
