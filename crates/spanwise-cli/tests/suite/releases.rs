//! The commands on the real releases, where they are there: the paper's files come out, line by line.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Sandbox, json_lines, releases};
use serde_json::{Value, json};
use std::fs::read_to_string;
use std::path::Path;

type Row = (String, Option<String>, Option<String>);

/// Utterance, program and answer of each example.
fn rows(text: &str) -> Vec<Row> {
    let field = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let row = |value: &Value| {
        let utterance = field(value, "utterance").or_else(|| field(value, "question")).unwrap();
        (utterance, field(value, "program"), field(value, "answer"))
    };
    json_lines(text).iter().map(row).collect()
}

fn released(path: &Path) -> Vec<Row> {
    rows(&read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The same examples as a set, then in the same order, so that a failure says which of the two it is.
#[track_caller]
fn assert_same(ours: &[Row], theirs: &[Row], what: &str) {
    let sorted = |rows: &[Row]| {
        let mut rows = rows.to_vec();
        rows.sort();
        rows
    };
    assert!(sorted(ours) == sorted(theirs), "{what}: other examples ({} for {})", ours.len(), theirs.len());
    assert!(ours == theirs, "{what}: the same examples in another order");
}

#[test]
fn geo_comes_out_as_the_papers_nine_files_in_their_order() {
    let Some(data) = releases() else { return };
    let sandbox = Sandbox::new();
    let raw = |name: &str| data.join("geo/raw").join(name);
    let (corpus, ids) = (raw("geoFunql-en.corpus"), raw("split880.train.ids"));
    sandbox.call(["data", "import", "geo", "--out", "o"]).arg(corpus).arg(ids).run().exits(0);
    assert_eq!(sandbox.names("o").len(), 9);
    for (ours, theirs) in [("", ""), ("_template", "_template"), ("_length", "_len")] {
        for (side, n) in [("train", 540), ("dev", 60), ("test", 280)] {
            let rows = rows(&sandbox.read(&format!("o/{side}{ours}.jsonl")));
            assert_same(&rows, &released(&data.join(format!("geo/splits/{side}{theirs}.json"))), side);
            assert!(rows.len().abs_diff(n) <= 4, "{side}{ours}");
        }
    }
    if cfg!(not(feature = "geo")) {
        return;
    }
    let files = ["o/train.jsonl", "o/dev.jsonl", "o/test.jsonl"];
    let report = sandbox.run(["check", "geo", files[0], files[1], files[2], "--json"]).exits(0).json();
    assert_eq!((&report["examples"], &report["typed"]), (&880.into(), &880.into()));
    let report = sandbox.run(["check", "geo@paper", files[0], files[1], files[2], "--json"]).exits(1).json();
    // 15 cities with their state, 7 intersections, 3 predicates that the paper does not have; `geo` types them all.
    assert_eq!(report["problems"], json!({"unknown constant": 10, "wrong arguments": 15}));
}

#[cfg(feature = "geo")]
#[test]
fn geo_programs_denote_what_the_reference_executor_says() {
    let Some(data) = releases() else { return };
    let reference = read_to_string(data.join("geo/denotations.jsonl")).unwrap();
    let outcome = Sandbox::new().feed(["exec", "geo"], &reference).exits(0);
    let field =
        |lines: Vec<Value>| lines.into_iter().map(|mut it| it["denotation"].take()).collect::<Vec<_>>();
    let (ours, theirs) = (field(outcome.replies()), field(json_lines(&reference)));
    assert_eq!(ours.len(), 645);
    assert!(ours == theirs);
}

#[test]
fn scan_sp_comes_out_as_the_papers_files_in_their_order() {
    let Some(data) = releases() else { return };
    let sandbox = Sandbox::new();
    for (folder, kind, name) in [
        ("simple_split", "", "simple"),
        ("template_split", "template_", "right"),
        ("template_split", "template_", "around_right"),
    ] {
        let file = |side: &str| data.join(format!("scan/{folder}/tasks_{side}_{kind}{name}.txt"));
        sandbox
            .call(["data", "import", "scan", "--out", name])
            .arg(file("train"))
            .arg(file("test"))
            .run()
            .exits(0);
        assert_eq!(sandbox.names(name), ["dev.jsonl", "test.jsonl", "train.jsonl"]);
        for side in ["train", "dev", "test"] {
            let ours = rows(&sandbox.read(&format!("{name}/{side}.jsonl")));
            assert_same(&ours, &released(&data.join(format!("scan_sp/{side}_{name}.json"))), side);
        }
    }
}

#[test]
fn generated_scan_splits_hold_the_commands_of_the_official_files_as_often_as_those() {
    let Some(data) = releases() else { return };
    let sandbox = Sandbox::new();
    sandbox.run(["data", "scan", "--out", "o"]).exits(0);
    for (folder, kind, name) in [
        ("length_split", "", "length"),
        ("template_split", "template_", "right"),
        ("template_split", "template_", "around_right"),
        ("template_split", "template_", "opposite_right"),
        ("template_split", "template_", "jump_around_right"),
        ("add_prim_split", "", "addprim_jump"),
        ("add_prim_split", "", "addprim_turn_left"),
    ] {
        for side in ["train", "test"] {
            let path = data.join(format!("scan/{folder}/tasks_{side}_{kind}{name}.txt"));
            let text = read_to_string(path).unwrap();
            let mut theirs: Vec<(&str, &str)> = text
                .lines()
                .map(|line| line.strip_prefix("IN: ").and_then(|rest| rest.split_once(" OUT: ")).unwrap())
                .collect();
            let ours = rows(&sandbox.read(&format!("o/{side}_{name}.jsonl")));
            let mut ours: Vec<(&str, &str)> = ours
                .iter()
                .map(|(utterance, _, answer)| (utterance.as_str(), answer.as_deref().unwrap()))
                .collect();
            theirs.iter_mut().for_each(|row| *row = (row.0.trim(), row.1.trim()));
            theirs.sort_unstable();
            ours.sort_unstable();
            assert!(ours == theirs, "{side} {name}");
        }
    }
}

#[test]
fn official_clevr_questions_come_out_in_order_and_execute_to_their_answers() {
    let Some(data) = releases() else { return };
    let sandbox = Sandbox::new();
    let questions = data.join("clevr/CLEVR_val_questions_first9.json");
    let scenes = data.join("clevr/CLEVR_val_scenes_first11.json");
    let call = sandbox.call(["data", "import", "clevr", "--out", "o.jsonl"]);
    call.arg(&questions).arg("--scenes").arg(&scenes).run().exits(0);
    let text = read_to_string(&questions).unwrap();
    let theirs: Value = serde_json::from_str(&text).unwrap();
    let ours = sandbox.json_lines("o.jsonl");
    assert_eq!(ours.len(), 9);
    for (ours, theirs) in ours.iter().zip(theirs["questions"].as_array().unwrap()) {
        assert_eq!((&ours["utterance"], &ours["answer"]), (&theirs["question"], &theirs["answer"]));
        assert_eq!(ours["image_index"], theirs["image_index"]);
        // The scene of the file and the compact one that was imported give the same answer.
        let index = ours["image_index"].to_string();
        let program = ours["program"].as_str().unwrap();
        let call = sandbox.call(["exec", "clevr", program, "--index", &index, "--context"]);
        assert_eq!(call.arg(&scenes).run().exits(0).stdout.trim(), ours["answer"].as_str().unwrap());
    }
    let report = sandbox.run(["check", "clevr", "o.jsonl", "--execute", "--json"]).exits(0).json();
    assert_eq!((&report["typed"], &report["answers"]["equal"]), (&9.into(), &9.into()));
}

#[test]
fn clevr_and_closure_questions_are_well_typed_and_execute_to_their_answers() {
    let Some(data) = releases() else { return };
    let sandbox = Sandbox::new();
    for (file, n) in [("test_closure.jsonl", 1120), ("test_iid.jsonl", 2500)] {
        let call = sandbox.call(["check", "clevr", "--execute", "--json"]).arg(data.join("clevr").join(file));
        let report = call.run().exits(0).json();
        assert_eq!((&report["typed"], &report["answers"]["equal"]), (&n.into(), &n.into()), "{file}");
    }
}
