//! The report of a grid as Markdown, HTML and JSON. Cells that are not finished are listed as missing.

mod json;
mod numbers;

use self::json::JsonReport;
use crate::about::About;
use crate::document::{Block, Document};
use crate::error::ReproduceError;
use crate::figures;
use crate::gather::{Results, State};
use crate::grid::Table;
use crate::store::{Record, Store, write_text};
use crate::{html, markdown};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The first line of the report of a quick grid.
pub const QUICK: &str = "These numbers mean nothing: --quick trains on a few examples for one epoch, to see whether everything runs.";

/// A report in all its forms.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// `report.md`.
    pub markdown: String,
    /// `report.html`.
    pub html: String,
    /// `report.json`.
    pub json: Value,
    /// `plots/NAME.svg`.
    pub plots: Vec<(String, String)>,
}

impl Report {
    /// The report of what is finished.
    #[must_use]
    pub fn new(results: &Results, about: &About) -> Self {
        let document = document(results, about);
        let figures = document.blocks.iter().filter_map(|block| match block {
            Block::Figures(figures) => Some(figures),
            _ => None,
        });
        let plots = figures.flatten().map(|figure| (figure.name.clone(), figure.svg.clone())).collect();
        Self {
            markdown: markdown::document(&document),
            html: html::document(&document),
            json: serde_json::to_value(JsonReport::new(results, about))
                .expect("a report has text keys and finite numbers"),
            plots,
        }
    }

    /// Puts the report into the folder of its grid.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, store: &Store) -> Result<(), ReproduceError> {
        let out = store.out();
        for (name, svg) in &self.plots {
            write_text(&out.join("plots").join(format!("{name}.svg")), svg)?;
        }
        store.write_json(&out.join("report.json"), &self.json)?;
        write_text(&out.join("report.md"), &self.markdown)?;
        write_text(&out.join("report.html"), &self.html)
    }
}

/// A table of the paper as plain text.
#[must_use]
pub fn text(results: &Results, table: Table) -> String {
    let blocks = match table {
        Table::Two => numbers::table2(results),
        Table::Three => numbers::table3(results),
    };
    let tables = blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(markdown::table(table)),
        _ => None,
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn document(results: &Results, about: &About) -> Document {
    let mut blocks = head(results, about);
    blocks.push(Block::Heading("Denotation accuracy (Table 2)".to_owned()));
    blocks.push(Block::Text(
        "Percent of test questions whose program denotes what the gold program denotes; an empty answer on both sides counts as \
         equal, as in the paper. Without an executor: of questions whose program is the gold program. Ours: mean ± standard deviation of the sample (number of seeds). A row without a row of its own \
         in the paper is shown beside the paper's nearest one; parsers marked as quoted were not run. Test sets are those of the data directory: \
         their sizes are given below, and need not be those of the paper."
            .to_owned(),
    ));
    blocks.extend(numbers::table2(results));
    let trees = numbers::table3(results);
    if !trees.is_empty() {
        blocks.push(Block::Heading("F1 of predicted trees (Table 3)".to_owned()));
        blocks.push(Block::Text(
            "Labelled spans of predicted trees against gold trees, in percent, over test questions whose gold tree can be mapped \
             to words. The F1 of one tree counts only questions whose gold tree is the only one its leaves allow."
                .to_owned(),
        ));
        blocks.extend(trees);
    }
    blocks.push(Block::Heading("Other measures".to_owned()));
    blocks.push(Block::Text(
        "Percentages, but for the calibration error (ECE), which is from 0 to 1. Strict denotation counts an empty answer only \
         for the gold program itself. Coverage is the share of gold programs that some tree over the words can give. Risk is the \
         share of errors among the 90 % of answers with the highest probability."
            .to_owned(),
    ));
    blocks.push(numbers::measures(results));
    blocks.push(Block::Heading("Time and memory".to_owned()));
    blocks.push(Block::Text(
        "Wall seconds and the largest resident memory of any process of a cell. Splits that share a model show the same training."
            .to_owned(),
    ));
    blocks.push(numbers::costs(results));
    for kind in figures::all(results) {
        blocks.push(Block::Heading(kind.title.to_owned()));
        blocks.push(Block::Text(kind.about.to_owned()));
        blocks.push(Block::Figures(kind.figures));
    }
    blocks.push(Block::Heading("Commands".to_owned()));
    blocks.push(Block::Commands { title: "The grid".to_owned(), lines: results.grid.commands.clone() });
    blocks.push(Block::Commands { title: "Every cell".to_owned(), lines: commands(results) });
    Document {
        title: "Span-based semantic parsing: the paper's tables, run again".to_owned(),
        warning: results.grid.quick.then(|| QUICK.to_owned()),
        blocks,
    }
}

/// Versions, encoders and machines, and the cells that failed or are missing.
fn head(results: &Results, about: &About) -> Vec<Block> {
    let n_done = records(results).count();
    let n_all = results.cells.len();
    let distinct = |of: fn(&Record) -> String| {
        let all: BTreeSet<String> = records(results).map(of).collect();
        all.into_iter().map(|one| format!("`{one}`")).collect::<Vec<_>>().join(", ")
    };
    let mut facts = vec![format!(
        "{n_done} of {n_all} cells are finished; report of {} by {}",
        about.date, about.version
    )];
    if n_done > 0 {
        facts.push(format!("encoders: {}", distinct(|record| record.encoder.clone())));
        facts.push(format!("cells made by: {}", distinct(|record| record.version.clone())));
        let place = |record: &Record| format!("{}, {} cells at once", record.machine, record.at_once);
        facts.push(format!("cells ran on: {}", distinct(place)));
    } else {
        facts.push(format!("machine: {}", about.machine()));
    }
    let mut blocks = vec![Block::List(facts)];
    let failed: Vec<String> = results
        .cells
        .iter()
        .filter_map(|cell| match &cell.state {
            State::Failed(error) => Some(format!("{}: {error}", cell.id)),
            _ => None,
        })
        .collect();
    if !failed.is_empty() {
        blocks.push(Block::Text(format!("Cells that failed ({}):", failed.len())));
        blocks.push(Block::List(failed));
    }
    let missing = missing(results);
    if !missing.is_empty() {
        blocks.push(Block::Text("Cells that were requested and are not finished:".to_owned()));
        blocks.push(Block::List(missing));
    }
    blocks
}

fn records(results: &Results) -> impl Iterator<Item = &Record> {
    results.cells.iter().filter_map(|cell| cell.record())
}

/// Cells that are not finished; seeds of one row and split together.
fn missing(results: &Results) -> Vec<String> {
    let mut seeds: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for cell in results.cells.iter().filter(|cell| cell.state == State::Missing) {
        seeds.entry((&cell.id.row, &cell.id.split)).or_default().push(cell.id.seed.to_string());
    }
    seeds
        .into_iter()
        .map(|((row, split), seeds)| format!("{row} {split} seed {}", seeds.join(", ")))
        .collect()
}

/// The commands of all finished cells, each once: splits that share a model share its training.
fn commands(results: &Results) -> Vec<String> {
    let mut seen = BTreeSet::new();
    records(results).flat_map(|record| &record.commands).filter(|line| seen.insert(*line)).cloned().collect()
}
