//! `spanwise data split` and `spanwise data stats`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Room, example};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Forty examples of ten templates, four each, longer and longer.
fn forty() -> String {
    (0..40)
        .map(|n| {
            let depth = n / 4;
            let inner = format!("{}stateid('s{n}'){}", "next_to_2(".repeat(depth), ")".repeat(depth));
            example(&format!("question {n}"), &format!("answer(state({inner}))"))
        })
        .collect()
}

/// The three parts of a split. One without examples has no file.
fn sides(room: &Room, folder: &str) -> [Vec<Value>; 3] {
    ["train", "dev", "test"].map(|name| {
        let file = format!("{folder}/{name}.jsonl");
        if room.path(&file).exists() { room.json_lines(&file) } else { Vec::new() }
    })
}

fn sizes(sides: &[Vec<Value>; 3]) -> [usize; 3] {
    [sides[0].len(), sides[1].len(), sides[2].len()]
}

fn field(rows: &[Value], name: &str) -> BTreeSet<String> {
    rows.iter().map(|row| row[name].as_str().unwrap().to_owned()).collect()
}

/// The program without its entity.
fn template(row: &Value) -> String {
    let program = row["program"].as_str().unwrap();
    let (before, after) = program.split_once('\'').unwrap();
    format!("{before}{}", after.split_once('\'').unwrap().1)
}

/// Checks that every one of the forty is on exactly one side.
#[track_caller]
fn assert_partition(sides: &[Vec<Value>; 3]) {
    let all: BTreeSet<String> = sides.iter().flat_map(|side| field(side, "utterance")).collect();
    assert_eq!((all.len(), sizes(sides).iter().sum::<usize>()), (40, 40));
}

#[test]
fn a_random_split_has_the_sizes_asked_for() {
    let room = Room::new();
    room.write("d.jsonl", forty());
    for (test, dev, expected) in [
        ("0.2", "0.1", [28, 4, 8]),
        ("5", "3", [32, 3, 5]),
        ("0", "0", [40, 0, 0]),
        ("1", "0.5", [19, 20, 1]),
    ] {
        let args = ["data", "split", "d.jsonl", "--by", "random", "--out", "o", "--test", test, "--dev", dev];
        room.run(args).exits(0);
        let sides = sides(&room, "o");
        assert_eq!(sizes(&sides), expected);
        assert_partition(&sides);
    }
    room.run(["data", "split", "d.jsonl", "--by", "random", "--out", "p"]).exits(0);
    assert_eq!(sizes(&sides(&room, "p")), [28, 4, 8]);
}

#[test]
fn by_template_no_template_of_test_is_in_train_or_dev() {
    let room = Room::new();
    room.write("d.jsonl", forty());
    for domain in [&[][..], &["--domain", "geo"]] {
        for seed in ["0", "1", "2"] {
            let mut call = room.call([
                "data", "split", "d.jsonl", "--by", "template", "--out", "o", "--test", "8", "--seed", seed,
            ]);
            for arg in domain {
                call = call.arg(arg);
            }
            call.run().exits(0).says(["8 examples to o/test.jsonl"]);
            let [train, dev, test] = sides(&room, "o");
            let held_out: BTreeSet<String> = test.iter().map(template).collect();
            assert_eq!(held_out.len(), 2);
            assert!(train.iter().chain(&dev).all(|row| !held_out.contains(&template(row))));
            assert_partition(&[train, dev, test]);
        }
    }
}

#[test]
fn by_length_the_longest_programs_are_for_testing() {
    let room = Room::new();
    room.write("d.jsonl", forty());
    room.run(["data", "split", "d.jsonl", "--by", "length", "--out", "o", "--test", "10", "--dev", "5"])
        .exits(0);
    let sides = sides(&room, "o");
    assert_eq!(sizes(&sides), [25, 5, 10]);
    assert_partition(&sides);
    let length = |row: &Value| row["program"].as_str().unwrap().matches('(').count();
    let longest_kept = sides[0].iter().chain(&sides[1]).map(length).max().unwrap();
    assert!(sides[2].iter().all(|row| length(row) >= longest_kept));
}

#[test]
fn the_same_seed_gives_the_same_split_and_another_seed_another() {
    let room = Room::new();
    room.write("d.jsonl", forty());
    for by in ["random", "template", "length"] {
        for (folder, seed) in [("a", "7"), ("b", "7"), ("c", "8")] {
            room.run(["data", "split", "d.jsonl", "--by", by, "--out", folder, "--seed", seed]).exits(0);
        }
        let bytes =
            |folder: &str| ["train", "dev", "test"].map(|name| room.read(&format!("{folder}/{name}.jsonl")));
        assert_eq!(bytes("a"), bytes("b"), "{by}");
        assert_ne!(bytes("a"), bytes("c"), "{by}");
    }
}

#[test]
fn several_files_are_split_together_and_other_fields_survive() {
    let room = Room::new();
    let row =
        json!({"question": "q", "program": "f(x)", "answer": "a", "scene": "s", "gold_spans": [], "id": 7});
    room.write("a.jsonl", row.to_string());
    room.write("b.jsonl", example("r", "g(x)"));
    room.run([
        "data", "split", "a.jsonl", "b.jsonl", "--by", "random", "--test", "1", "--dev", "0", "--out", "o",
    ])
    .exits(0);
    let [train, _, test] = sides(&room, "o");
    let kept = json!({"utterance": "q", "program": "f(x)", "answer": "a", "context": "s", "gold_spans": [], "id": 7});
    assert!([&train[0], &test[0]].contains(&&kept));
}

#[test]
fn numbers_pass_through_a_split_unchanged() {
    let room = Room::new();
    let numbers = "[0.20938417613145166,-1.493721008300781,123456789012345678901234]";
    room.write("d.jsonl", format!("{{\"utterance\": \"a\", \"n\": {numbers}}}\n").repeat(2));
    room.run(["data", "split", "d.jsonl", "--by", "random", "--test", "1", "--out", "o"]).exits(0);
    assert!(room.read("o/test.jsonl").contains(numbers), "{}", room.read("o/test.jsonl"));
}

#[test]
fn every_file_of_a_split_can_be_read_again() {
    let room = Room::new();
    room.write("d.jsonl", example("a", "f(x)").repeat(4));
    room.run(["data", "split", "d.jsonl", "--by", "random", "--test", "1", "--dev", "0", "--out", "o"])
        .exits(0);
    for name in room.names("o") {
        room.run(["data", "stats", &format!("o/{name}")]).exits(0);
    }
}

#[test]
fn outputs_may_overwrite_the_inputs() {
    let room = Room::new();
    room.write("train.jsonl", forty());
    room.run(["data", "split", "train.jsonl", "--by", "random", "--out", "."]).exits(0);
    assert_partition(&sides(&room, "."));
}

#[test]
fn what_cannot_be_split_is_said_and_nothing_is_written() {
    let room = Room::new();
    room.write("one.jsonl", (0..9).map(|n| example("a", &format!("f('{n}')"))).collect::<String>());
    room.write("two.jsonl", example("a", "f(x)") + &example("b", "g(x)"));
    room.write("bare.jsonl", example("a", "f(x)") + "{\"utterance\": \"b\"}\n");
    room.write("broken.jsonl", example("a", "f(x)") + &example("b", "f(x"));
    room.write("empty.jsonl", "\n");
    room.write("bad.jsonl", example("a", "f(x)").repeat(2) + "oops\n");
    let check = |file: &str, by: &str, test: &str, code: i32, text: &str| {
        let args = ["data", "split", file, "--by", by, "--test", test, "--dev", "0", "--out", "o"];
        room.run(args).exits(code).says([text]);
        assert!(!room.path("o").exists(), "{file} {by}");
    };
    check("one.jsonl", "template", "2", 2, "all 9 examples have the same template");
    check("two.jsonl", "random", "2", 2, "cannot take 2 test and 0 dev examples from 2");
    check("two.jsonl", "length", "50", 2, "cannot take 50 test");
    check("two.jsonl", "template", "18446744073709551615", 2, "nothing is left for training");
    check("bare.jsonl", "template", "1", 1, "has no program");
    check("bare.jsonl", "length", "1", 1, "has no program");
    check("broken.jsonl", "length", "1", 1, "this parenthesis is never closed");
    check("empty.jsonl", "random", "1", 1, "empty.jsonl is empty");
    check("bad.jsonl", "random", "1", 1, "bad.jsonl:3:1: not valid JSON");
    check("missing.jsonl", "random", "1", 2, "cannot open missing.jsonl");
    check(".", "random", "1", 1, "cannot read .");
    for test in ["1.0", "1.5", "-1", "nan", "inf", "x", "", "99999999999999999999999"] {
        check("two.jsonl", "random", test, 2, "error");
    }
    check("two.jsonl", "colour", "1", 2, "[possible values: template, length, random]");
}

#[test]
fn a_split_names_file_and_line_of_a_program_it_cannot_use() {
    let room = Room::new();
    room.write("a.jsonl", example("a", "f(x)"));
    room.write("b.jsonl", example("b", "f(x)") + "\n{\"utterance\": \"c\"}\n");
    room.write("c.jsonl", example("b", "f(x)") + "\n" + &example("c", "f(x"));
    let args = |file| ["data", "split", "a.jsonl", file, "--by", "length", "--out", "o"];
    room.run(args("b.jsonl")).exits(1).says(["b.jsonl:3"]);
    room.run(args("c.jsonl")).exits(1).says(["c.jsonl:3"]);
}

#[test]
fn an_output_folder_that_is_a_file_is_an_error() {
    let room = Room::new();
    room.write("d.jsonl", forty());
    room.write("o", "mine");
    room.run(["data", "split", "d.jsonl", "--by", "random", "--out", "o"]).exits(1).says(["the folder o"]);
    assert_eq!((room.names("."), room.read("o").as_str()), (vec!["d.jsonl".into(), "o".into()], "mine"));
}

// ---- stats --------------------------------------------------------------------------------------------------

/// A train file, and a test file that shares an utterance and a template with it.
fn train_and_test() -> Room {
    let room = Room::new();
    let train = example("rivers in texas", "river(loc_2(stateid('texas')))") + &example("all", "all");
    let test = example("rivers in ohio?", "river( loc_2( stateid( 'ohio' ) ) )")
        + &example("all", "longest(all)")
        + &example("broken", "longest((")
        + "{\"utterance\": \"bare\", \"answer\": 3}\n";
    room.write("train.jsonl", train);
    room.write("test.jsonl", test);
    room
}

#[test]
fn stats_are_a_table_of_files_overlaps_and_unseen_constants() {
    let outcome = train_and_test().run(["data", "stats", "train.jsonl", "test.jsonl"]).exits(0);
    assert_eq!(outcome.stderr, "");
    let row = |start: &str| {
        let found = outcome.stdout.lines().find(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("{start}: {}", outcome.stdout)).split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(
        row("train.jsonl  "),
        ["train.jsonl", "2", "2", "0", "1-3", "(2.0)", "1-4", "(2.5)", "2", "2", "2"]
    );
    assert_eq!(
        row("test.jsonl  "),
        ["test.jsonl", "4", "3", "1", "1-4", "(1.8)", "2-4", "(3.0)", "4", "2", "2"]
    );
    assert_eq!(
        row("train.jsonl  test.jsonl"),
        ["train.jsonl", "test.jsonl", "1", "(25.0", "%)", "0", "(0.0", "%)", "1", "(25.0", "%)"]
    );
    outcome.prints([
        "warning: 1 programs of test.jsonl cannot be read",
        "in test.jsonl but not in the first file: 'ohio' (1), longest (1)",
    ]);
}

#[test]
fn stats_as_json_hold_the_same_numbers() {
    let room = train_and_test();
    let report = room.run(["data", "stats", "train.jsonl", "test.jsonl", "--json"]).exits(0).json();
    let test = &report["files"][1];
    let keys = ["examples", "programs", "unreadable_programs", "answers", "distinct_programs"];
    assert_eq!(keys.map(|key| test[key].as_u64().unwrap()), [4, 3, 1, 1, 2]);
    assert_eq!(test["utterance_tokens"], json!({"min": 1, "mean": 1.75, "max": 4}));
    assert_eq!(report["overlaps"][0]["templates"], json!({"distinct": 1, "examples": 1}));
    assert_eq!(report["unseen"][0]["constants"], json!({"'ohio'": 1, "longest": 1}));
    let alone = room.run(["data", "stats", "train.jsonl", "--json", "--domain", "geo"]).exits(0).json();
    assert_eq!((&alone["overlaps"], &alone["unseen"]), (&json!([]), &json!([])));
}

#[test]
fn stats_of_files_that_are_no_data_are_errors() {
    let room = train_and_test();
    room.write("empty.jsonl", "");
    room.write("bad.jsonl", example("a", "x") + "{\n");
    room.run(["data", "stats", "missing.jsonl"]).exits(2).says(["cannot open missing.jsonl"]);
    room.run(["data", "stats", "train.jsonl", "empty.jsonl"]).exits(1).says(["empty.jsonl is empty"]);
    room.run(["data", "stats", "bad.jsonl"]).exits(1).says(["bad.jsonl:2:1: not valid JSON"]);
    room.run(["data", "stats", "train.jsonl", "--domain", "nope"]).exits(2).says(["domain file nope"]);
    room.run(["data", "stats"]).exits(2).says(["<DATA>"]);
}
