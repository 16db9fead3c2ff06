//! The page of current results: the tables of `claims.toml`, filled from measurements and published numbers.

use super::Measurement;
use crate::document::{Block, Document, NONE, Table};
use crate::error::ReproduceError;
use crate::markdown;
use crate::metric::Metric;
use crate::tables::Tables;
use serde::Deserialize;
use std::path::Path;

/// `claims.toml`: the tables of the page, in order.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claims {
    title: String,
    /// What to know before reading the tables.
    text: String,
    claims: Vec<Claim>,
}

/// One table. A cell is the number for what its line, its column and the claim itself name together.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    title: String,
    text: String,
    /// What all cells have in common.
    #[serde(default)]
    all: Place,
    /// The name of the first column.
    #[serde(default)]
    corner: String,
    lines: Vec<Place>,
    columns: Vec<Place>,
}

/// A row, a split, a measure, or some of them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    /// Its name in the table, where it is not the title of its row or split.
    title: Option<String>,
    row: Option<String>,
    split: Option<String>,
    metric: Option<Metric>,
    /// Decimals of its numbers, where they are not those of the measure.
    decimals: Option<usize>,
    /// Whether the published number is shown instead of ours.
    #[serde(default)]
    paper: bool,
}

/// The page, as Markdown.
///
/// # Errors
/// A file of the folder that is wrong or cannot be read.
pub fn page(folder: &Path, tables: &Tables) -> Result<String, ReproduceError> {
    let path = folder.join("claims.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| ReproduceError::file(&path, error))?;
    let wrong = |reason: String| ReproduceError::Result {
        path: path.display().to_string(),
        reason: reason.trim().to_owned(),
    };
    let claims: Claims = toml_edit::de::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let measurements = super::read(folder)?;
    let mut blocks = vec![Block::Text(claims.text.trim().to_owned())];
    for claim in &claims.claims {
        blocks.extend(claim.blocks(&measurements, tables).map_err(wrong)?);
    }
    Ok(markdown::document(&Document { title: claims.title, warning: None, blocks }))
}

impl Claim {
    /// Heading, text, table, and the commands that gave its numbers.
    fn blocks(&self, measurements: &[Measurement], tables: &Tables) -> Result<Vec<Block>, String> {
        let mut head = vec![self.corner.clone()];
        head.extend(self.columns.iter().map(|column| column.title(tables)));
        let mut rows = Vec::new();
        let mut used: Vec<&Measurement> = Vec::new();
        for line in &self.lines {
            let mut cells = vec![line.title(tables)];
            for column in &self.columns {
                let place = self.all.with(line).with(column);
                let measurement = place.measurement(measurements);
                cells.push(match measurement {
                    _ if place.paper => place.published(tables),
                    Some(measurement) => measurement.shown(place.decimals),
                    None => NONE.to_owned(),
                });
                used.extend(measurement.filter(|_| !place.paper));
            }
            if cells[1..].iter().all(|cell| cell == NONE) {
                return Err(format!("claim `{}`: nothing was measured for `{}`", self.title, cells[0]));
            }
            rows.push(cells);
        }
        let mut blocks = vec![Block::Heading(self.title.clone()), Block::Text(self.text.trim().to_owned())];
        blocks.push(Block::Table(Table { head, rows, n_names: 1 }));
        blocks.push(Block::List(sources(&used)));
        Ok(blocks)
    }
}

/// Commands with commit, encoder and date, each once, with the rows they measured.
fn sources(used: &[&Measurement]) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for one in used {
        let facts = [
            one.commit.as_ref().map(|commit| format!("commit {commit}")),
            one.encoder.clone(),
            one.date.clone(),
        ];
        let facts: String = facts.into_iter().flatten().map(|fact| format!(", {fact}")).collect();
        let text = format!("`{}`{facts}", one.command);
        match found.iter_mut().find(|(known, _)| *known == text) {
            Some((_, rows)) if rows.contains(&one.row.as_str()) => {}
            Some((_, rows)) => rows.push(&one.row),
            None => found.push((text, vec![&one.row])),
        }
    }
    match found.as_slice() {
        [(text, _)] => vec![text.clone()],
        _ => found.into_iter().map(|(text, rows)| format!("{}: {text}", rows.join("; "))).collect(),
    }
}

impl Place {
    /// This place with the fields of the other one in front.
    fn with(&self, other: &Self) -> Self {
        Self {
            title: other.title.clone().or_else(|| self.title.clone()),
            row: other.row.clone().or_else(|| self.row.clone()),
            split: other.split.clone().or_else(|| self.split.clone()),
            metric: other.metric.clone().or_else(|| self.metric.clone()),
            decimals: other.decimals.or(self.decimals),
            paper: self.paper || other.paper,
        }
    }

    fn title(&self, tables: &Tables) -> String {
        let row = self.row.as_ref().map(|name| tables.row(name).map_or(name, |row| &row.title));
        let split = self.split.as_ref().map(|name| tables.split(name).map_or(name, |split| &split.title));
        let title = self.title.as_ref().or(row).or(split).cloned().unwrap_or_default();
        if self.paper && self.title.is_none() { format!("{title}, published") } else { title }
    }

    fn measurement<'a>(&self, measurements: &'a [Measurement]) -> Option<&'a Measurement> {
        let (row, split, metric) = (self.row.as_ref()?, self.split.as_ref()?, self.metric.as_ref()?);
        measurements.iter().find(|one| one.key() == (row, split, metric))
    }

    fn published(&self, tables: &Tables) -> String {
        let number = || tables.published(self.metric.as_ref()?, self.row.as_ref()?, self.split.as_ref()?);
        number().map_or_else(|| NONE.to_owned(), |number| format!("{number:.1}"))
    }
}
