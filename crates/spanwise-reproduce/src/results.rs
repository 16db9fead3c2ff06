//! Result files: the measured numbers that the repository keeps, and the page `docs/results.md` that is written from them.
//!
//! A folder of results holds `claims.toml`, the tables of the page, and any number of JSON files below it. Each file is a list
//! of [`Measurement`]s, one on each line. A finished grid writes its means into `DOMAIN/ROW.json` ([`export`]).

mod page;

use crate::error::ReproduceError;
use crate::gather::{Cell, Results};
use crate::metric::Metric;
use crate::stats::{Mean, fixed};
use crate::store::{Record, write_text};
use crate::tables::{Row, RowEncoder, Split};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub use page::page;

/// A measured number: the mean over seeds of a measure, and how it was obtained.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// The row of the tables, or another name for what was measured.
    pub row: String,
    /// The split, or another name for what it was measured on.
    pub split: String,
    /// The measure.
    pub metric: Metric,
    /// The mean over seeds or runs.
    pub mean: f64,
    /// The standard deviation of the sample, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// How many seeds; none for what has no seed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds: Option<usize>,
    /// The value of each seed or run, where they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// The encoder, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
    /// The commit of the program, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The command that gave it.
    pub command: String,
    /// The day, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Where the number comes from.
    pub source: Source,
}

/// Where a number comes from. Published numbers are in `tables.toml`, not in result files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// We measured it.
    Measured,
}

impl Measurement {
    /// What it is a number for; one folder has at most one number for it.
    fn key(&self) -> (&str, &str, &Metric) {
        (&self.row, &self.split, &self.metric)
    }

    /// `96.9 ± 0.2 (5)`; without seeds only the number. `decimals` replaces those of the measure.
    fn shown(&self, decimals: Option<usize>) -> String {
        let decimals = decimals.or(self.metric.decimals());
        match self.seeds {
            Some(n) => Mean { n, mean: self.mean, deviation: self.deviation }.shown(decimals),
            None => fixed(self.mean, decimals),
        }
    }
}

/// All measurements of a folder, in the order of their files.
///
/// # Errors
/// A file that cannot be read; two numbers for the same row, split and measure.
pub fn read(folder: &Path) -> Result<Vec<Measurement>, ReproduceError> {
    let mut all = Vec::new();
    let mut seen: BTreeMap<(String, String, Metric), PathBuf> = BTreeMap::new();
    for path in files(folder)? {
        for measurement in read_file(&path)? {
            let (row, split, metric) = measurement.key();
            let key = (row.to_owned(), split.to_owned(), metric.clone());
            if let Some(other) = seen.insert(key, path.clone()) {
                let reason =
                    format!("{row}, {split}, {metric:?} is measured twice, also in {}", other.display());
                return Err(ReproduceError::Result { path: path.display().to_string(), reason });
            }
            all.push(measurement);
        }
    }
    Ok(all)
}

/// The JSON files below a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, ReproduceError> {
    let failed = |error| ReproduceError::file(folder, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read_file(path: &Path) -> Result<Vec<Measurement>, ReproduceError> {
    let text = fs::read_to_string(path).map_err(|error| ReproduceError::file(path, error))?;
    serde_json::from_str(&text).map_err(|error| ReproduceError::Result {
        path: path.display().to_string(),
        reason: error.to_string(),
    })
}

/// A list with one measurement on each line, so that a change of one number is a change of one line.
fn to_json(measurements: &[Measurement]) -> Result<String, serde_json::Error> {
    let lines: Vec<String> = measurements.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

/// Writes the means of a grid's finished cells into the result files of `folder`: numbers for the same row, split and measure
/// are replaced, others stay. Returns the files.
///
/// # Errors
/// A quick grid; a file that cannot be read or written.
pub fn export(results: &Results, folder: &Path) -> Result<Vec<PathBuf>, ReproduceError> {
    if results.grid.quick {
        return Err(ReproduceError::QuickExport);
    }
    let mut written = Vec::new();
    for row in results.rows() {
        for domain in results.tables.domains() {
            let of_domain = results.splits().filter(|split| split.domain == domain);
            let new: Vec<Measurement> = of_domain.flat_map(|split| measured(results, row, split)).collect();
            if new.is_empty() {
                continue;
            }
            let path = folder.join(domain).join(format!("{}.json", row.name));
            let mut all = if path.exists() { read_file(&path)? } else { Vec::new() };
            all.retain(|old| new.iter().all(|new| new.key() != old.key()));
            all.extend(new);
            let text = to_json(&all).map_err(|error| ReproduceError::file(&path, error))?;
            write_text(&path, &text)?;
            written.push(path);
        }
    }
    Ok(written)
}

/// All measures of a row on a split.
fn measured(results: &Results, row: &Row, split: &Split) -> Vec<Measurement> {
    let records: Vec<&Record> = results.of(&row.name, &split.name).filter_map(Cell::record).collect();
    let distinct = |of: fn(&Record) -> Option<String>| {
        let all: BTreeSet<String> = records.iter().filter_map(|record| of(record)).collect();
        (!all.is_empty()).then(|| all.into_iter().collect::<Vec<_>>().join(", "))
    };
    let encoder = distinct(|record| Some(encoder_name(&record.encoder)));
    let is_compact = encoder.as_deref() == Some(spanwise_train::config::COMPACT);
    let mut commands = records.iter().flat_map(|record| &record.commands);
    let has_vectors = commands.any(|command| command.contains("model.vectors="));
    let command = format!(
        "spanwise reproduce --rows {} --splits {} --seeds {} --data DIR{}",
        row.name,
        split.name,
        records.len(),
        match row.encoder {
            RowEncoder::EncoderDecoder => " --encoder-decoder DIR",
            _ if has_vectors => " --vectors FILE",
            _ if is_compact => "",
            _ => " --encoder ENCODER",
        }
    );
    let measurement = |metric: &Metric| {
        let values = results.values(&row.name, &split.name, metric);
        let Mean { n, mean, deviation } = Mean::new(&values)?;
        Some(Measurement {
            row: row.name.clone(),
            split: split.name.clone(),
            metric: metric.clone(),
            mean,
            deviation,
            seeds: Some(n),
            values,
            encoder: encoder.clone(),
            commit: distinct(|record| record.commit.clone()),
            command: command.clone(),
            date: distinct(|record| record.date.clone()),
            source: Source::Measured,
        })
    };
    Metric::OF_CELLS.iter().filter_map(measurement).collect()
}

/// The name of an encoder without the folder it was read from.
fn encoder_name(encoder: &str) -> String {
    encoder.trim_end_matches('/').rsplit('/').next().unwrap_or(encoder).to_owned()
}
