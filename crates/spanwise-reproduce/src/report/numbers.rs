//! The tables of a report.

use crate::document::{Block, NONE, Table};
use crate::gather::{Cell, Results, State};
use crate::stats::Mean;
use crate::store::Record;
use crate::tables::{Row, Split};

/// Denotation accuracy: a table for each domain, ours and the paper's side by side.
pub(crate) fn table2(results: &Results) -> Vec<Block> {
    let mut blocks = Vec::new();
    for domain in results.tables.domains() {
        let splits: Vec<&Split> = results.splits().filter(|split| split.domain == domain).collect();
        if splits.is_empty() {
            continue;
        }
        let mut head = vec![domain.to_owned()];
        head.extend(splits.iter().flat_map(|split| [split.title.clone(), "paper".to_owned()]));
        let asked =
            |row: &&Row| splits.iter().any(|split| results.of(&row.name, &split.name).next().is_some());
        let mut rows: Vec<Vec<String>> = Vec::new();
        for row in results.rows().filter(asked) {
            let cells = splits.iter().flat_map(|split| {
                let paper = number(results.tables.paper(row, &split.name));
                [ours(results, &row.name, &split.name, |record| record.number("denotation")), paper]
            });
            rows.push(std::iter::once(row.title.clone()).chain(cells).collect());
        }
        rows.extend(quoted(results, &splits));
        blocks.push(Block::Table(Table { head, rows, n_names: 1 }));
    }
    blocks
}

/// Parsers of which only the paper's numbers are known.
fn quoted(results: &Results, splits: &[&Split]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for published in &results.tables.published {
        if !splits.iter().any(|split| published.paper.contains_key(&split.name)) {
            continue;
        }
        let cells = splits
            .iter()
            .flat_map(|split| [NONE.to_owned(), number(published.paper.get(&split.name).copied())]);
        rows.push(std::iter::once(format!("{} (quoted)", published.title)).chain(cells).collect());
    }
    rows
}

/// F1 of predicted trees, for rows and splits that have it.
pub(crate) fn table3(results: &Results) -> Vec<Block> {
    let has = |key: &str| {
        results.cells.iter().filter_map(Cell::record).any(|record| record.tree_number(key).is_some())
    };
    if !has("tree_f1") {
        return Vec::new();
    }
    let mut columns =
        vec![("tree_f1", "F1"), ("tree_f1_one_tree", "F1, one tree"), ("tree_f1_any", "F1, any tree")];
    columns.retain(|(key, _)| has(key));
    let mut head: Vec<String> = ["split", "row", "trees"].map(str::to_owned).into();
    head.extend(columns.iter().map(|(_, title)| (*title).to_owned()));
    head.push("paper".to_owned());
    let mut rows = Vec::new();
    for split in results.splits().filter(|split| split.trees.is_some()) {
        for row in results.rows().filter(|row| row.trees) {
            if results.of(&row.name, &split.name).next().is_none() {
                continue;
            }
            let n_trees = results.mean(&row.name, &split.name, |record| record.tree_number("n_trees"));
            let n = results.mean(&row.name, &split.name, |record| record.tree_number("n"));
            let compared = match (n_trees, n) {
                (Some(n_trees), Some(n)) => format!("{:.0} of {:.0}", n_trees.mean, n.mean),
                _ => NONE.to_owned(),
            };
            let mut line = vec![split.title.clone(), row.title.clone(), compared];
            for (key, _) in &columns {
                line.push(ours(results, &row.name, &split.name, |record| record.tree_number(key)));
            }
            line.push(number(split.f1));
            rows.push(line);
        }
    }
    vec![Block::Table(Table { head, rows, n_names: 2 })]
}

/// What else `spanwise eval` measures.
pub(crate) fn measures(results: &Results) -> Block {
    let columns: [(&str, &str, usize); 6] = [
        ("exact_match", "exact match", 1),
        ("denotation_strict", "strict denotation", 1),
        ("coverage", "coverage", 1),
        ("no_parse", "no parse", 1),
        ("ece", "ECE", 3),
        ("risk_at_90", "risk at 90 %", 1),
    ];
    let mut head: Vec<String> = ["row", "split", "examples"].map(str::to_owned).into();
    head.extend(columns.iter().map(|(_, title, _)| (*title).to_owned()));
    let rows = places(results).map(|(row, split)| {
        let mean = |key: &str| results.mean(&row.name, &split.name, |record| record.number(key));
        let mut line = vec![row.title.clone(), split.title.clone(), whole(mean("n"))];
        line.extend(columns.iter().map(|(key, _, decimals)| shown(mean(key), *decimals)));
        line
    });
    Block::Table(Table { head, rows: rows.collect(), n_names: 2 })
}

/// What cells cost.
pub(crate) fn costs(results: &Results) -> Block {
    let head =
        ["row", "split", "training, s", "evaluation, s", "peak memory, MB", "notes"].map(str::to_owned);
    let rows = places(results).map(|(row, split)| {
        let mean = |of: fn(&Record) -> Option<f64>, decimals| {
            shown(results.mean(&row.name, &split.name, of), decimals)
        };
        vec![
            row.title.clone(),
            split.title.clone(),
            mean(|record| Some(record.train_seconds), 1),
            mean(|record| Some(record.eval_seconds), 1),
            mean(|record| record.peak_bytes.map(|bytes| bytes as f64 / 1e6), 0),
            notes(results, &row.name, &split.name),
        ]
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

/// A mean, or what there is instead of it.
fn ours(results: &Results, row: &str, split: &str, of: impl Fn(&Record) -> Option<f64>) -> String {
    if let Some(mean) = results.mean(row, split, of) {
        return mean.shown(1);
    }
    let mut cells = results.of(row, split).peekable();
    if cells.peek().is_none() {
        return NONE.to_owned();
    }
    let is_failed = cells.any(|cell| matches!(cell.state, State::Failed(_)));
    if is_failed { "failed" } else { "missing" }.to_owned()
}

fn shown(mean: Option<Mean>, decimals: usize) -> String {
    mean.map_or_else(|| NONE.to_owned(), |mean| mean.shown(decimals))
}

fn number(number: Option<f64>) -> String {
    number.map_or_else(|| NONE.to_owned(), |number| format!("{number:.1}"))
}

/// A count that is the same for all seeds.
fn whole(mean: Option<Mean>) -> String {
    mean.map_or_else(|| NONE.to_owned(), |mean| format!("{:.0}", mean.mean))
}
