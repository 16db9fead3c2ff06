//! Result files: what a grid exports, and the page that is rendered from them.

use crate::common::{Fake, Sandbox};
use expect_test::{expect, expect_file};
use spanwise_reproduce::gather::Results;
use spanwise_reproduce::results::{Measurement, Source, export, page, read};
use spanwise_reproduce::{Metric, ReproduceError, Tables};
use std::fs;
use std::path::Path;

/// `UPDATE_EXPECT=1 cargo test -p spanwise-reproduce` writes the page again, as does the command that it names.
#[test]
fn the_page_of_results_is_what_the_result_files_give() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../results"));
    if !folder.exists() {
        return; // A package of this crate alone has no results.
    }
    let page = page(folder, &Tables::builtin().unwrap()).unwrap();
    expect_file!["../../../../docs/results.md"].assert_eq(&page);
}

fn gathered(sandbox: &Sandbox) -> Results {
    Results::read(&sandbox.store(), sandbox.tables.clone()).unwrap()
}

fn denotation(all: &[Measurement], split: &str) -> Measurement {
    let is_it = |one: &&Measurement| one.split == split && one.metric == Metric::Denotation;
    all.iter().find(is_it).unwrap().clone()
}

#[test]
fn a_finished_grid_exports_its_means_and_replaces_only_what_it_measured() {
    let mut sandbox = Sandbox::new();
    sandbox.options.encoder = Some("/some/folder/MiniLM".to_owned());
    let _ = sandbox.run(&["spanwise"], &["geo-iid"], 2, &Fake::default());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("geo/spanwise.json");
    assert_eq!(export(&gathered(&sandbox), folder.path()).unwrap(), std::slice::from_ref(&file));

    let mut all = read(folder.path()).unwrap();
    let one = denotation(&all, "geo-iid");
    assert_eq!((one.mean, one.deviation, one.seeds), (90.0, Some(0.0), Some(2)));
    assert_eq!((one.values, one.source), (vec![90.0, 90.0], Source::Measured));
    assert_eq!(one.encoder.as_deref(), Some("MiniLM"), "no path of a machine");
    let command =
        "spanwise reproduce --rows spanwise --splits geo-iid --seeds 2 --data DIR --encoder ENCODER";
    assert_eq!(one.command, command);
    assert!(all.iter().any(|one| one.metric == Metric::TreeF1 && one.mean == 80.0));

    // A number for another split stays; a stale number for this one goes.
    all.retain(|one| one.metric == Metric::Denotation);
    all[0].mean = 12.5;
    all.push(Measurement { split: "geo-length".to_owned(), mean: 91.8, ..all[0].clone() });
    fs::write(&file, serde_json::to_string(&all).unwrap()).unwrap();
    export(&gathered(&sandbox), folder.path()).unwrap();
    let all = read(folder.path()).unwrap();
    let means = ["geo-iid", "geo-length"].map(|split| denotation(&all, split).mean);
    assert_eq!(means, [90.0, 91.8]);
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), all.len() + 2, "one line for each number");
}

#[test]
fn quick_cells_are_not_exported() {
    let mut sandbox = Sandbox::new();
    sandbox.options.quick = true;
    let _ = sandbox.run(&["spanwise"], &["scan-iid"], 1, &Fake::default());
    let folder = tempfile::tempdir().unwrap();
    let refused = export(&gathered(&sandbox), folder.path());
    assert!(matches!(refused, Err(ReproduceError::QuickExport)), "{refused:?}");
}

const CLAIMS: &str = r#"
title = "Numbers"
text = "All of them."
[[claims]]
title = "Geo"
text = "In percent."
all = { metric = "denotation" }
lines = [{ row = "spanwise" }, { row = "sbsp", paper = true }]
columns = [{ title = "iid", split = "geo-iid" }, { split = "geo-length" }]
"#;
const NUMBER: &str = r#"{"row":"spanwise","split":"geo-iid","metric":"denotation","mean":96.9,"deviation":0.2,"seeds":5,"encoder":"MiniLM","commit":"83fdcc0","command":"spanwise reproduce","source":"measured"}"#;

fn rendered(claims: &str, numbers: &str) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("claims.toml"), claims).unwrap();
    fs::create_dir(folder.path().join("geo")).unwrap();
    fs::write(folder.path().join("geo/spanwise.json"), numbers).unwrap();
    page(folder.path(), &Tables::builtin().unwrap()).map_err(|error| error.to_string())
}

#[test]
fn a_claim_is_a_small_table_with_its_sources() {
    expect![[r#"
        # Numbers

        All of them.

        ## Geo

        In percent.

        |                        |            iid | Geo length |
        |------------------------|---------------:|-----------:|
        | Spanwise               | 96.9 ± 0.2 (5) |          – |
        | SpanBasedSP, published |           86.1 |       63.6 |

        - `spanwise reproduce`, commit 83fdcc0, MiniLM
    "#]]
    .assert_eq(&rendered(CLAIMS, &format!("[{NUMBER}]")).unwrap());
}

#[test]
fn wrong_result_files_and_claims_are_refused_with_their_file() {
    for (claims, numbers, part) in [
        (CLAIMS.to_owned(), format!("[{NUMBER}, {NUMBER}]"), "measured twice"),
        (CLAIMS.to_owned(), format!("[{}]", NUMBER.replace("\"mean\"", "\"maen\"")), "spanwise.json"),
        (CLAIMS.to_owned(), "[]".to_owned(), "nothing was measured for `Spanwise`"),
        (CLAIMS.replace("lines", "liens"), format!("[{NUMBER}]"), "claims.toml"),
    ] {
        let error = rendered(&claims, &numbers).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}
