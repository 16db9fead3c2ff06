//! The tables of a report.

use crate::document::{Block, NONE, Table};
use crate::gather::{Cell, Results, State};
use crate::metric::Metric;
use crate::stats::Mean;
use crate::store::Record;
use crate::tables::{Row, Split};

/// Denotation accuracy, or exact match without an executor: a table for each domain, ours and the paper's side by side.
pub(crate) fn table2(results: &Results) -> Vec<Block> {
    let mut blocks = Vec::new();
    for domain in results.tables.domains() {
        let splits: Vec<&Split> = results.splits().filter(|split| split.domain == domain).collect();
        if splits.is_empty() {
            continue;
        }
        let mut head = vec![domain.to_owned()];
        head.extend(splits.iter().flat_map(|split| [split.title.clone(), "paper".to_owned()]));
        let has_cells =
            |row: &&Row| splits.iter().any(|split| results.of(&row.name, &split.name).next().is_some());
        let mut rows: Vec<Vec<String>> = Vec::new();
        for row in results.rows().filter(has_cells) {
            let cells = splits.iter().flat_map(|split| {
                let metric = results.accuracy(&split.name);
                let paper = number(results.tables.published(&metric, &row.name, &split.name));
                [ours(results, row, split, &metric), paper]
            });
            rows.push(std::iter::once(row.title.clone()).chain(cells).collect());
        }
        rows.extend(quoted(results, &splits));
        blocks.push(Block::Table(Table { head, rows, n_names: 1 }));
    }
    blocks
}

/// Parsers that were not run, with the paper's numbers.
fn quoted(results: &Results, splits: &[&Split]) -> Vec<Vec<String>> {
    let was_run = |row: &&Row| splits.iter().any(|split| results.of(&row.name, &split.name).next().is_some());
    let rows = results.tables.rows.iter().filter(|row| !was_run(row));
    rows.map(|row| (&row.title, &row.paper))
        .filter(|(_, paper)| splits.iter().any(|split| paper.contains_key(&split.name)))
        .map(|(title, paper)| {
            let cells =
                splits.iter().flat_map(|split| [NONE.to_owned(), number(paper.get(&split.name).copied())]);
            std::iter::once(format!("{title} (quoted)")).chain(cells).collect()
        })
        .collect()
}

/// F1 of predicted trees, for rows and splits that have it.
pub(crate) fn table3(results: &Results) -> Vec<Block> {
    let has = |metric: &Metric| {
        results.cells.iter().filter_map(Cell::record).any(|record| metric.of(record).is_some())
    };
    if !has(&Metric::TreeF1) {
        return Vec::new();
    }
    let mut columns = vec![
        (Metric::TreeF1, "F1"),
        (Metric::TreeF1OneTree, "F1, one tree"),
        (Metric::TreeF1Any, "F1, any tree"),
    ];
    columns.retain(|(metric, _)| has(metric));
    let mut head: Vec<String> = ["split", "row", "trees"].map(str::to_owned).into();
    head.extend(columns.iter().map(|(_, title)| (*title).to_owned()));
    head.push("paper".to_owned());
    let mut rows = Vec::new();
    for split in results.splits().filter(|split| split.trees.is_some()) {
        for row in results.rows().filter(|row| row.trees) {
            if results.of(&row.name, &split.name).next().is_none() {
                continue;
            }
            let mut line = vec![split.title.clone(), row.title.clone(), compared(results, row, split)];
            line.extend(columns.iter().map(|(metric, _)| ours(results, row, split, metric)));
            line.push(number(split.f1));
            rows.push(line);
        }
    }
    vec![Block::Table(Table { head, rows, n_names: 2 })]
}

/// How many trees were compared, of how many examples.
fn compared(results: &Results, row: &Row, split: &Split) -> String {
    let records = results.of(&row.name, &split.name).filter_map(Cell::record);
    match records.map(|record| &record.trees).find(|trees| trees.n > 0) {
        Some(trees) => format!("{} of {}", trees.n_trees, trees.n),
        None => NONE.to_owned(),
    }
}

/// The other measures of `spanwise eval`.
pub(crate) fn measures(results: &Results) -> Block {
    let columns = [
        (Metric::ExactMatch, "exact match"),
        (Metric::DenotationStrict, "strict denotation"),
        (Metric::Coverage, "coverage"),
        (Metric::NoParse, "no parse"),
        (Metric::Ece, "ECE"),
        (Metric::RiskAt90, "risk at 90 %"),
    ];
    let mut head: Vec<String> = ["row", "split", "examples"].map(str::to_owned).into();
    head.extend(columns.iter().map(|(_, title)| (*title).to_owned()));
    let rows = places(results).map(|(row, split)| {
        let n =
            results.of(&row.name, &split.name).filter_map(Cell::record).map(|record| record.eval.n).next();
        let n = n.map_or_else(|| NONE.to_owned(), |n| n.to_string());
        let mut line = vec![row.title.clone(), split.title.clone(), n];
        line.extend(columns.iter().map(|(metric, _)| shown(results, row, split, metric)));
        line
    });
    Block::Table(Table { head, rows: rows.collect(), n_names: 2 })
}

/// Time and memory of cells.
pub(crate) fn costs(results: &Results) -> Block {
    let columns = [Metric::TrainSeconds, Metric::EvalSeconds, Metric::PeakMegabytes];
    let head =
        ["row", "split", "training, s", "evaluation, s", "peak memory, MB", "notes"].map(str::to_owned);
    let rows = places(results).map(|(row, split)| {
        let mut line = vec![row.title.clone(), split.title.clone()];
        line.extend(columns.iter().map(|metric| shown(results, row, split, metric)));
        line.push(notes(results, &row.name, &split.name));
        line
    });
    Block::Table(Table { head: head.into(), rows: rows.collect(), n_names: 2 })
}

fn notes(results: &Results, row: &str, split: &str) -> String {
    let records: Vec<&Record> = results.of(row, split).filter_map(Cell::record).collect();
    let mut notes = Vec::new();
    if let Some(record) = records.iter().find(|record| record.home != split) {
        notes.push(format!("model of {}", record.home));
    }
    let n_resumed = records.iter().filter(|record| record.attempts > 1).count();
    if n_resumed > 0 {
        notes.push(format!("{n_resumed} resumed"));
    }
    notes.join(", ")
}

/// Rows and splits with a finished cell.
fn places(results: &Results) -> impl Iterator<Item = (&Row, &Split)> {
    results
        .rows()
        .flat_map(move |row| results.splits().map(move |split| (row, split)))
        .filter(move |(row, split)| results.of(&row.name, &split.name).any(|cell| cell.record().is_some()))
}

/// A mean over seeds, or why there is none.
fn ours(results: &Results, row: &Row, split: &Split, metric: &Metric) -> String {
    if let Some(mean) = results.mean(&row.name, &split.name, metric) {
        return mean.shown(metric.decimals());
    }
    let mut cells = results.of(&row.name, &split.name).peekable();
    if cells.peek().is_none() {
        return NONE.to_owned();
    }
    let is_failed = cells.any(|cell| matches!(cell.state, State::Failed(_)));
    if is_failed { "failed" } else { "missing" }.to_owned()
}

/// A mean over finished seeds.
fn shown(results: &Results, row: &Row, split: &Split, metric: &Metric) -> String {
    let mean: Option<Mean> = results.mean(&row.name, &split.name, metric);
    mean.map_or_else(|| NONE.to_owned(), |mean| mean.shown(metric.decimals()))
}

fn number(number: Option<f64>) -> String {
    number.map_or_else(|| NONE.to_owned(), |number| format!("{number:.1}"))
}
