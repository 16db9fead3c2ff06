//! `spanwise reproduce`: a small grid from nothing to its report, and calls that are wrong.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Outcome, Sandbox, releases};

/// The splits of the paper.
const SPLITS: [&str; 3] = ["scan-iid", "scan-right", "scan-around-right"];

/// A sandbox with a few commands of SCAN under the names of the release; the sets with trees have none.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(["data", "scan", "--out", "all"]).exits(0);
    let all = sandbox.read("all/train_simple.jsonl");
    let some = |from: usize, n: usize| {
        all.lines().skip(from).take(n).fold(String::new(), |out, line| out + line + "\n")
    };
    for split in ["simple", "right", "around_right"] {
        sandbox.write(&format!("data/scan_sp/train_{split}.json"), some(0, 80));
        sandbox.write(&format!("data/scan_sp/dev_{split}.json"), some(100, 10));
        sandbox.write(&format!("data/scan_sp/test_{split}.json"), some(200, 15));
        sandbox.write(&format!("data/scan_sp/test_{split}_spans.json"), some(200, 15));
    }
    sandbox
}

fn quick(sandbox: &Sandbox, data: &str, more: &str) -> Outcome {
    let call = ["reproduce", "--quick", "--only", "scan", "--rows", "spanwise", "--seeds", "1", "--out", "q"];
    let call = sandbox.call(call).arg("--splits").arg(SPLITS.join(",")).arg("--data").arg(data);
    if more.is_empty() { call.run() } else { call.arg(more).run() }
}

/// Cells run, the next call keeps them, the report is there and can be made again.
fn runs_and_reports(sandbox: &Sandbox, data: &str) {
    let first = quick(sandbox, data, "").exits(0);
    for split in SPLITS {
        assert!(
            first.stderr.contains(&format!("finished  spanwise {split} seed 1: denotation ")),
            "{}",
            first.stderr
        );
        let names = sandbox.names(&format!("q/runs/spanwise/{split}/seed-1"));
        for name in ["cell.json", "config.toml", "eval.json", "model.json", "predictions.jsonl", "train.log"]
        {
            assert!(names.contains(&name.to_owned()), "{name} is not among {names:?}");
        }
        assert!(!names.contains(&"checkpoint.safetensors".to_owned()));
    }
    let first = first.prints(["mean nothing", "SCAN-SP around right", "BERT2Seq", "report: q/report.html"]);
    let report = sandbox.read("q/report.md");
    assert!(report.lines().next().unwrap().contains("These numbers mean nothing"));
    assert!(report.contains("3 of 3 cells are finished"));
    assert!(report.contains("spanwise train scan-right --data"));
    assert!(sandbox.read("q/report.html").contains("<svg "));

    let again = quick(sandbox, data, "").exits(0);
    assert_eq!(again.stderr.matches("kept ").count(), 3, "{}", again.stderr);
    assert!(!again.stderr.contains("started"), "{}", again.stderr);
    assert_eq!(again.stdout, first.stdout);

    std::fs::remove_file(sandbox.path("q/report.md")).unwrap();
    let json = sandbox.run(["reproduce", "--report-only", "--out", "q", "--json"]).exits(0).json();
    assert_eq!(json["quick"], true);
    let done = json["cells"].as_array().unwrap().iter().filter(|cell| cell["status"] == "done");
    assert_eq!(done.count(), 3);
    assert!(json["cells"][0]["record"]["peak_bytes"].as_u64().is_none_or(|bytes| bytes > 1 << 20));
    assert_eq!(sandbox.read("q/report.md"), report);
}

#[test]
fn a_quick_grid_runs_is_kept_and_is_reported() {
    let sandbox = sandbox();
    runs_and_reports(&sandbox, "data");
    let mixed =
        sandbox.call(["reproduce", "--only", "scan", "--rows", "spanwise", "--seeds", "1", "--out", "q"]);
    mixed.arg("--data").arg("data").run().exits(2).says(["q holds cells made with --quick", "--out"]);
    let export = sandbox.run(["reproduce", "--report-only", "--out", "q", "--export", "numbers"]);
    export.exits(2).says(["--quick", "--export"]);
    assert!(!sandbox.path("numbers").exists());
}

#[test]
fn a_quick_grid_runs_on_the_released_data() {
    let Some(data) = releases() else { return };
    let sandbox = Sandbox::new();
    runs_and_reports(&sandbox, data.to_str().unwrap());
    // The releases have gold trees, so the other table is there without another run.
    let table3 = sandbox.call([
        "reproduce",
        "table3",
        "--quick",
        "--only",
        "scan",
        "--rows",
        "spanwise",
        "--seeds",
        "1",
    ]);
    let table3 = table3.arg("--splits").arg(SPLITS.join(","));
    let table3 =
        table3.arg("--out=q").arg("--data").arg(data).run().exits(0).prints(["trees", "F1", "SCAN-SP right"]);
    assert!(!table3.stderr.contains("started"), "{}", table3.stderr);
}

#[test]
fn a_cell_that_fails_is_in_the_report_and_the_others_run() {
    let sandbox = sandbox();
    std::fs::remove_file(sandbox.path("data/scan_sp/train_right.json")).unwrap();
    sandbox.write("data/scan_sp/dev_simple.json", "{\"utterance\": 3}\n");
    let outcome = quick(&sandbox, "data", "").exits(1).says([
        "failed    spanwise scan-iid seed 1: ",
        "failed    spanwise scan-right seed 1: ",
        "finished  spanwise scan-around-right seed 1",
        "2 cells failed",
    ]);
    assert!(outcome.stdout.contains("failed"));
    let report = sandbox.read("q/report.md");
    assert!(report.contains("Cells that failed (2):"), "{report}");
    assert!(report.contains("dev_simple.json") && report.contains("train_right.json"), "{report}");
    // What was wrong is put right, and the same command goes on.
    for split in ["simple", "right"] {
        let good = sandbox.read("data/scan_sp/train_around_right.json");
        sandbox.write(&format!("data/scan_sp/train_{split}.json"), &good);
        sandbox.write(&format!("data/scan_sp/dev_{split}.json"), good);
    }
    quick(&sandbox, "data", "")
        .exits(0)
        .says(["it failed before and is tried again", "kept      spanwise scan-around-right"]);
}

#[test]
fn calls_that_are_wrong_exit_with_2_and_say_what_is_expected() {
    let sandbox = Sandbox::new();
    sandbox.run(["reproduce"]).exits(2).says(["--data is missing", "--report-only"]);
    sandbox.run(["reproduce", "--data", "nowhere"]).exits(2).says(["--data nowhere", "no such folder"]);
    let rows = ["reproduce", "--data", ".", "--rows", "spanwize"];
    sandbox.run(rows).exits(2).says(["no row `spanwize`", "sbsp-gold-trees"]);
    let splits = ["reproduce", "--data", ".", "--splits", "geo-idd"];
    sandbox.run(splits).exits(2).says(["no split `geo-idd`", "geo-iid"]);
    sandbox.run(["reproduce", "--data", ".", "--only", "geography"]).exits(2).says(["geo, scan, clevr"]);
    sandbox.run(["reproduce", "--data", ".", "--seeds", "0"]).exits(2).says(["--seeds"]);
    sandbox.run(["reproduce", "table4", "--data", "."]).exits(2).says(["table2", "table3"]);
    sandbox.run(["reproduce", "--report-only", "--out", "empty"]).exits(2).says(["empty holds no grid"]);
    assert!(!sandbox.path("empty").exists() && !sandbox.path("reproduce").exists());
}

#[test]
fn the_page_of_results_needs_result_files_alone() {
    let sandbox = Sandbox::new();
    let claims = "title = 'Numbers'\ntext = 'All.'\n[[claims]]\ntitle = 'Geo'\ntext = 'In percent.'\n\
                  all = { metric = 'denotation' }\nlines = [{ row = 'spanwise' }]\ncolumns = [{ split = 'geo-iid' }]\n";
    sandbox.write("numbers/claims.toml", claims);
    let number = r#"[{"row":"spanwise","split":"geo-iid","metric":"denotation","mean":96.9,"seeds":5,"command":"c","source":"measured"}]"#;
    sandbox.write("numbers/geo/spanwise.json", number);
    let page = sandbox.run(["reproduce", "--results", "numbers"]).exits(0).prints(["# Numbers", "96.9 (5)"]);
    sandbox.run(["reproduce", "--results", "numbers", "--write", "docs/page.md"]).exits(0);
    assert_eq!(sandbox.read("docs/page.md"), page.stdout);
    sandbox.run(["reproduce", "--results", "nowhere"]).exits(2).says(["--results nowhere", "claims.toml"]);
    sandbox.run(["reproduce", "--write", "page.md"]).exits(2).says(["--results"]);
    sandbox.write("numbers/geo/spanwise.json", "[{}]");
    sandbox.run(["reproduce", "--results", "numbers"]).exits(1).says(["spanwise.json", "missing field"]);
}

#[test]
fn help_teaches_rows_splits_and_examples() {
    let outcome = Sandbox::new().run(["reproduce", "--help"]).exits(0);
    let outcome = outcome.prints(["Examples:", "spanwise reproduce --data data", "--report-only", "table3"]);
    let tables = spanwise_reproduce::Tables::builtin().unwrap();
    let words: Vec<&str> = outcome.stdout.split(|c: char| c.is_whitespace() || ",;.()".contains(c)).collect();
    let names = tables.rows.iter().map(|row| &row.name).chain(tables.splits.iter().map(|split| &split.name));
    for name in names {
        assert!(words.contains(&name.as_str()), "the help does not name {name}");
    }
}
