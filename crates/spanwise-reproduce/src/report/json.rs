//! A report for programs: every number, and where it comes from.

use crate::about::About;
use crate::gather::{Cell, Results, State};
use crate::stats::{length_bins, reliability, risk_curve};
use crate::store::Record;
use serde_json::{Value, json};

/// All of it.
pub(crate) fn report(results: &Results, about: &About) -> Value {
    let table3 = |key: &'static str| move |record: &Record| record.tree_number(key);
    json!({
        "quick": results.grid.quick,
        "about": about,
        "commands": results.grid.commands,
        "table2": places(results, |record| record.number("denotation"), |row, split| {
            results.tables.row(row).and_then(|row| results.tables.paper(row, split))
        }),
        "table3": places(results, table3("tree_f1"), |_, split| {
            results.tables.split(split).and_then(|split| split.f1)
        }),
        "cells": results.cells.iter().map(|cell| one(results, cell)).collect::<Vec<_>>(),
    })
}

/// Means over seeds, for each row and split that has one.
fn places(
    results: &Results,
    of: impl Fn(&Record) -> Option<f64>,
    paper: impl Fn(&str, &str) -> Option<f64>,
) -> Vec<Value> {
    let mut all = Vec::new();
    for row in results.rows() {
        for split in results.splits() {
            let Some(mean) = results.mean(&row.name, &split.name, &of) else { continue };
            all.push(json!({
                "row": row.name,
                "split": split.name,
                "n": mean.n,
                "mean": mean.mean,
                "deviation": mean.deviation,
                "paper": paper(&row.name, &split.name),
            }));
        }
    }
    all
}

fn one(results: &Results, cell: &Cell) -> Value {
    let mut object = json!({ "row": cell.id.row, "split": cell.id.split, "seed": cell.id.seed });
    match &cell.state {
        State::Missing => object["status"] = json!("missing"),
        State::Failed(error) => {
            object["status"] = json!("failed");
            object["error"] = json!(error);
        }
        State::Done(record) => {
            object["status"] = json!("done");
            object["record"] = json!(record);
            object["dev_by_epoch"] = json!(cell.curve);
            object["accuracy_by_length"] = json!(by_length(results, cell));
            object["reliability"] = json!(reliability(&cell.judged));
            object["risk_by_coverage"] = json!(risk_curve(&cell.judged));
        }
    }
    object
}

fn by_length(results: &Results, cell: &Cell) -> Vec<Value> {
    let of_split = results.cells.iter().filter(|other| other.id.split == cell.id.split);
    let bins = length_bins(of_split.flat_map(|other| &other.judged).filter_map(|one| one.size));
    let share = |bin: &crate::stats::LengthBin| {
        let (accuracy, n) = bin.accuracy(&cell.judged)?;
        Some(json!({ "from": bin.from, "to": bin.to, "accuracy": accuracy, "n": n }))
    };
    bins.iter().filter_map(share).collect()
}
