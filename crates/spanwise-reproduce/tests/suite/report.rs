//! The report of made-up cells: what is written, and what is listed as missing.

use expect_test::expect_file;
use spanwise_eval::metrics::Report as Evaluation;
use spanwise_reproduce::about::About;
use spanwise_reproduce::gather::{Cell, Results, State};
use spanwise_reproduce::report::{QUICK, Report, text};
use spanwise_reproduce::stats::ScoredExample;
use spanwise_reproduce::{CellId, Grid, Record, Store, Table, Tables};

fn id(row: &str, split: &str, seed: u64) -> CellId {
    CellId { row: row.to_owned(), split: split.to_owned(), seed }
}

fn about() -> About {
    About {
        version: "spanwise 0.0.0".to_owned(),
        date: "2021-04-19".to_owned(),
        cpu: "an abacus <of> wood".to_owned(),
        cores: 2,
        memory: Some(16 << 30),
    }
}

/// A finished cell with a denotation of `right` percent.
fn done(row: &str, split: &str, seed: u64, right: f64) -> Cell {
    let eval = Evaluation {
        n: 280,
        exact_match: Some(right - 3.0),
        denotation: Some(right),
        denotation_strict: Some(right - 1.0),
        coverage: Some(99.0),
        no_parse: Some(0.0),
        ece: Some(0.02 * seed as f64),
        risk_at_90: Some(2.5),
        ..Evaluation::default()
    };
    let trees = Evaluation { n: 270, n_trees: 260, tree_f1: Some(right - 2.0), ..Evaluation::default() };
    let record = Record {
        home: if split == "clevr-closure" { "clevr-iid".to_owned() } else { split.to_owned() },
        encoder: "encoders/MiniLM".to_owned(),
        eval,
        trees: if row == "spanwise" { trees } else { Evaluation::default() },
        commands: vec![format!("spanwise train {split} --seed {seed}"), format!("spanwise eval {split}")],
        train_seconds: 100.0 + seed as f64,
        attempts: if seed == 2 { 2 } else { 1 },
        eval_seconds: 4.0,
        peak_bytes: Some(250_000_000),
        version: "spanwise 0.0.0".to_owned(),
        machine: "2 cores, an abacus <of> wood, 16 GiB".to_owned(),
        at_once: 2,
        ..Record::default()
    };
    let examples = (1..=40).map(|at| ScoredExample {
        size: Some(at % 9 + 1),
        probability: at as f64 / 40.0,
        right: Some(at as f64 > 4.0 * seed as f64),
    });
    let curve = vec![(1.0, right - 30.0), (2.0, right - 5.0), (3.0, right)];
    Cell {
        id: id(row, split, seed),
        state: State::Done(Box::new(record)),
        examples: examples.collect(),
        curve,
    }
}

fn without(cell: CellId, state: State) -> Cell {
    Cell { id: cell, state, examples: Vec::new(), curve: Vec::new() }
}

fn results(quick: bool) -> Results {
    let failed = State::Failed("the loss is not a number after 7 steps (exit status: 1)".to_owned());
    let cells = vec![
        done("sbsp", "geo-iid", 1, 85.0),
        without(id("sbsp", "geo-length", 1), failed),
        done("spanwise", "geo-iid", 1, 95.0),
        done("spanwise", "geo-iid", 2, 96.0),
        done("spanwise", "geo-iid", 3, 97.0),
        without(id("spanwise", "geo-length", 2), State::Missing),
        without(id("spanwise", "geo-length", 3), State::Missing),
        done("spanwise", "clevr-closure", 1, 98.6),
    ];
    let grid = Grid {
        quick,
        cells: cells.iter().map(|cell| cell.id.clone()).collect(),
        commands: vec!["spanwise reproduce --data 'my data'".to_owned()],
    };
    Results { tables: Tables::builtin().unwrap(), grid, cells }
}

/// The first tag that is not closed, or closed out of order.
fn unbalanced(html: &str) -> Option<String> {
    let mut open = Vec::new();
    for tag in html.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag has an end");
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap().to_owned();
        if tag.starts_with('!') || name == "meta" || tag.ends_with('/') {
            continue;
        }
        if !tag.starts_with('/') {
            open.push(name);
        } else if open.pop().as_ref() != Some(&name) {
            return Some(name);
        }
    }
    open.pop()
}

#[test]
fn the_report_looks_like_this() {
    let report = Report::new(&results(false), &about());
    expect_file!["report.md"].assert_eq(&report.markdown);
}

#[test]
fn the_html_is_whole_and_needs_nothing_else() {
    let report = Report::new(&results(false), &about());
    assert_eq!(unbalanced(&report.html), None);
    let addresses: Vec<&str> = report.html.split("http").skip(1).collect();
    assert!(
        addresses.iter().all(|rest| rest.starts_with("://www.w3.org/2000/svg\"")),
        "only the name of SVG"
    );
    for forbidden in ["src=", "href=", "@import", "url(", "<script", "NaN", "an abacus <of>"] {
        assert!(!report.html.contains(forbidden), "{forbidden}");
    }
    assert!(report.html.contains("prefers-color-scheme: dark"));
    assert!(report.html.contains("<td>96.0 ± 1.0 (3)</td><td>86.1</td>"));
    // Every plot is in the page, and in a file of its own for the Markdown.
    assert_eq!(report.html.matches("<svg ").count(), report.plots.len());
    for (name, svg) in &report.plots {
        assert!(report.markdown.contains(&format!("(plots/{name}.svg)")), "{name}");
        assert_eq!(unbalanced(svg), None);
    }
    let kinds = ["length-", "learning-", "risk-", "reliability-"];
    for kind in kinds {
        assert!(report.plots.iter().any(|(name, _)| name.starts_with(kind)), "{kind}");
    }
}

#[test]
fn the_splits_of_a_domain_are_side_by_side_where_two_were_measured() {
    let plot = |results: &Results| {
        let plots = Report::new(results, &about()).plots;
        plots.into_iter().find(|(name, _)| name == "splits-geo").map(|(_, svg)| svg)
    };
    let mut results = results(false);
    assert_eq!(plot(&results), None, "only one split of Geo has a number");
    results.cells.push(done("spanwise", "geo-length", 1, 91.0));
    results.cells.push(done("seq2seq", "geo-length", 1, 24.0));
    let svg = plot(&results).expect("two splits have numbers");
    for shown in ["Geo iid", "Geo length", "spanwise", "seq2seq", "sbsp"] {
        assert!(svg.contains(shown), "{shown}");
    }
    assert!(!svg.contains("Geo template"));
}

#[test]
fn a_benchmark_without_an_executor_is_compared_by_exact_match() {
    let mut results = results(false);
    let mut cell = done("spanwise", "cogs", 1, 98.25);
    if let State::Done(record) = &mut cell.state {
        record.eval.denotation = None;
    }
    results.cells.push(cell);
    let markdown = Report::new(&results, &about()).markdown;
    let line = markdown.lines().skip_while(|line| !line.starts_with("| cogs ")).nth(2).unwrap();
    // `done` has an exact match of three points less than its denotation.
    assert!(line.contains("| Spanwise |") && line.contains("95.2 (1)"), "{line}");
}

#[test]
fn a_quick_report_warns_first_that_its_numbers_mean_nothing() {
    let report = Report::new(&results(true), &about());
    assert!(report.markdown.lines().next().unwrap().contains(QUICK));
    let body = report.html.split_once("<body>\n").unwrap().1;
    assert!(body.lines().next().unwrap().contains("mean nothing"));
    assert!(!Report::new(&results(false), &about()).markdown.contains("mean nothing"));
}

#[test]
fn the_json_has_every_cell_and_the_means() {
    let json = Report::new(&results(false), &about()).json;
    let states: Vec<&str> =
        json["cells"].as_array().unwrap().iter().map(|cell| cell["status"].as_str().unwrap()).collect();
    assert_eq!(states, ["done", "failed", "done", "done", "done", "missing", "missing", "done"]);
    let mean = &json["table2"][1];
    assert_eq!((mean["row"].as_str(), mean["n"].as_u64()), (Some("spanwise"), Some(3)));
    assert_eq!((mean["mean"].as_f64(), mean["deviation"].as_f64()), (Some(96.0), Some(1.0)));
    assert_eq!(mean["paper"].as_f64(), Some(86.1));
    assert!(json["table2"][0]["deviation"].is_null());
    assert_eq!(json["table3"][0]["mean"].as_f64(), Some(94.0));
    assert_eq!(json["cells"][0]["risk_by_coverage"].as_array().unwrap().len(), 20);
}

#[test]
fn the_columns_of_tree_scores_are_those_that_were_measured() {
    let mut results = results(false);
    let shown = text(&results, Table::Three);
    assert!(!shown.contains("any tree") && !shown.contains("one tree"), "{shown}");
    let State::Done(record) = &mut results.cells[2].state else { panic!("it is done") };
    record.trees.tree_f1_any = Some(99.5);
    let shown = text(&results, Table::Three);
    assert!(shown.contains("F1, any tree") && shown.contains("99.5 (1)"), "{shown}");
}

#[test]
fn a_report_of_nothing_is_a_report() {
    let mut results = results(false);
    results.cells.retain(|cell| cell.record().is_none());
    let report = Report::new(&results, &about());
    assert!(report.markdown.contains("0 of 3 cells are finished"));
    assert!(report.plots.is_empty());
    let folder = tempfile::tempdir().unwrap();
    report.write(&Store::new(folder.path())).unwrap();
    for name in ["report.md", "report.html", "report.json"] {
        assert!(folder.path().join(name).exists());
    }
}
