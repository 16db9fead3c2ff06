//! `report.json`: every number of a report, and where it comes from.

use crate::about::About;
use crate::gather::{Cell, Results, State};
use crate::grid::CellId;
use crate::metric::Metric;
use crate::stats::{LengthBin, Mean, ReliabilityBin, length_bins, reliability, risk_curve};
use crate::store::Record;
use serde::Serialize;

/// The whole file.
#[derive(Serialize)]
pub(crate) struct JsonReport<'a> {
    quick: bool,
    about: &'a About,
    commands: &'a [String],
    table2: Vec<Place<'a>>,
    table3: Vec<Place<'a>>,
    cells: Vec<JsonCell<'a>>,
}

/// A mean over seeds, beside the paper's number.
#[derive(Serialize)]
struct Place<'a> {
    row: &'a str,
    split: &'a str,
    #[serde(flatten)]
    mean: Mean,
    paper: Option<f64>,
}

#[derive(Serialize)]
struct JsonCell<'a> {
    #[serde(flatten)]
    id: &'a CellId,
    #[serde(flatten)]
    status: Status<'a>,
}

#[derive(Serialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum Status<'a> {
    Missing,
    Failed {
        error: &'a str,
    },
    Done {
        record: &'a Record,
        dev_by_epoch: &'a [(f64, f64)],
        accuracy_by_length: Vec<LengthAccuracy>,
        reliability: Vec<ReliabilityBin>,
        risk_by_coverage: Vec<(f64, f64)>,
    },
}

#[derive(Serialize)]
struct LengthAccuracy {
    #[serde(flatten)]
    bin: LengthBin,
    accuracy: f64,
    n: usize,
}

impl<'a> JsonReport<'a> {
    pub(crate) fn new(results: &'a Results, about: &'a About) -> Self {
        Self {
            quick: results.grid.quick,
            about,
            commands: &results.grid.commands,
            table2: places(results, &Metric::Denotation),
            table3: places(results, &Metric::TreeF1),
            cells: results.cells.iter().map(|cell| JsonCell::new(results, cell)).collect(),
        }
    }
}

/// Means over seeds, for each row and split that has one.
fn places<'a>(results: &'a Results, metric: &Metric) -> Vec<Place<'a>> {
    let mut all = Vec::new();
    for row in results.rows() {
        for split in results.splits() {
            let Some(mean) = results.mean(&row.name, &split.name, metric) else { continue };
            let paper = results.tables.published(metric, &row.name, &split.name);
            all.push(Place { row: &row.name, split: &split.name, mean, paper });
        }
    }
    all
}

impl<'a> JsonCell<'a> {
    fn new(results: &Results, cell: &'a Cell) -> Self {
        let status = match &cell.state {
            State::Missing => Status::Missing,
            State::Failed(error) => Status::Failed { error },
            State::Done(record) => Status::Done {
                record,
                dev_by_epoch: &cell.curve,
                accuracy_by_length: by_length(results, cell),
                reliability: reliability(&cell.examples),
                risk_by_coverage: risk_curve(&cell.examples),
            },
        };
        Self { id: &cell.id, status }
    }
}

fn by_length(results: &Results, cell: &Cell) -> Vec<LengthAccuracy> {
    let of_split = results.cells.iter().filter(|other| other.id.split == cell.id.split);
    let bins = length_bins(of_split.flat_map(|other| &other.examples).filter_map(|one| one.size));
    let share = |bin: LengthBin| {
        let (accuracy, n) = bin.accuracy(&cell.examples)?;
        Some(LengthAccuracy { bin, accuracy, n })
    };
    bins.into_iter().filter_map(share).collect()
}
