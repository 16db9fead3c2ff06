//! `spanwise data split` and `spanwise data stats`.

use crate::common::{Sandbox, example};
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
fn sides(sandbox: &Sandbox, folder: &str) -> [Vec<Value>; 3] {
    ["train", "dev", "test"].map(|name| {
        let file = format!("{folder}/{name}.jsonl");
        if sandbox.path(&file).exists() { sandbox.json_lines(&file) } else { Vec::new() }
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
    let sandbox = Sandbox::new();
    sandbox.write("d.jsonl", forty());
    for (test, dev, expected) in [
        ("0.2", "0.1", [28, 4, 8]),
        ("5", "3", [32, 3, 5]),
        ("0", "0", [40, 0, 0]),
        ("1", "0.5", [19, 20, 1]),
    ] {
        let args = ["data", "split", "d.jsonl", "--by", "random", "--out", "o", "--test", test, "--dev", dev];
        sandbox.run(args).exits(0);
        let sides = sides(&sandbox, "o");
        assert_eq!(sizes(&sides), expected);
        assert_partition(&sides);
    }
    sandbox.run(["data", "split", "d.jsonl", "--by", "random", "--out", "p"]).exits(0);
    assert_eq!(sizes(&sides(&sandbox, "p")), [28, 4, 8]);
}

#[cfg(feature = "geo")]
#[test]
fn by_template_no_template_of_test_is_in_train_or_dev() {
    let sandbox = Sandbox::new();
    sandbox.write("d.jsonl", forty());
    for domain in [&[][..], &["--domain", "geo"]] {
        for seed in ["0", "1", "2"] {
            let mut call = sandbox.call([
                "data", "split", "d.jsonl", "--by", "template", "--out", "o", "--test", "8", "--seed", seed,
            ]);
            for arg in domain {
                call = call.arg(arg);
            }
            call.run().exits(0).says(["8 examples to o/test.jsonl"]);
            let [train, dev, test] = sides(&sandbox, "o");
            let held_out: BTreeSet<String> = test.iter().map(template).collect();
            assert_eq!(held_out.len(), 2);
            assert!(train.iter().chain(&dev).all(|row| !held_out.contains(&template(row))));
            assert_partition(&[train, dev, test]);
        }
    }
}

#[test]
fn by_length_the_longest_programs_are_for_testing() {
    let sandbox = Sandbox::new();
    sandbox.write("d.jsonl", forty());
    sandbox
        .run(["data", "split", "d.jsonl", "--by", "length", "--out", "o", "--test", "10", "--dev", "5"])
        .exits(0);
    let sides = sides(&sandbox, "o");
    assert_eq!(sizes(&sides), [25, 5, 10]);
    assert_partition(&sides);
    let length = |row: &Value| row["program"].as_str().unwrap().matches('(').count();
    let longest_kept = sides[0].iter().chain(&sides[1]).map(length).max().unwrap();
    assert!(sides[2].iter().all(|row| length(row) >= longest_kept));
}

#[test]
fn the_same_seed_gives_the_same_split_and_another_seed_another() {
    let sandbox = Sandbox::new();
    sandbox.write("d.jsonl", forty());
    for by in ["random", "template", "length"] {
        for (folder, seed) in [("a", "7"), ("b", "7"), ("c", "8")] {
            sandbox.run(["data", "split", "d.jsonl", "--by", by, "--out", folder, "--seed", seed]).exits(0);
        }
        let bytes = |folder: &str| {
            ["train", "dev", "test"].map(|name| sandbox.read(&format!("{folder}/{name}.jsonl")))
        };
        assert_eq!(bytes("a"), bytes("b"), "{by}");
        assert_ne!(bytes("a"), bytes("c"), "{by}");
    }
}

#[test]
fn several_files_are_split_together_and_other_fields_survive() {
    let sandbox = Sandbox::new();
    let row =
        json!({"question": "q", "program": "f(x)", "answer": "a", "scene": "s", "gold_spans": [], "id": 7});
    sandbox.write("a.jsonl", row.to_string());
    sandbox.write("b.jsonl", example("r", "g(x)"));
    sandbox
        .run([
            "data", "split", "a.jsonl", "b.jsonl", "--by", "random", "--test", "1", "--dev", "0", "--out",
            "o",
        ])
        .exits(0);
    let [train, _, test] = sides(&sandbox, "o");
    let kept = json!({"utterance": "q", "program": "f(x)", "answer": "a", "context": "s", "gold_spans": [], "id": 7});
    assert!([&train[0], &test[0]].contains(&&kept));
}

#[test]
fn numbers_pass_through_a_split_unchanged() {
    let sandbox = Sandbox::new();
    let numbers = "[0.20938417613145166,-1.493721008300781,123456789012345678901234]";
    sandbox.write("d.jsonl", format!("{{\"utterance\": \"a\", \"n\": {numbers}}}\n").repeat(2));
    sandbox.run(["data", "split", "d.jsonl", "--by", "random", "--test", "1", "--out", "o"]).exits(0);
    assert!(sandbox.read("o/test.jsonl").contains(numbers), "{}", sandbox.read("o/test.jsonl"));
}

#[test]
fn every_file_of_a_split_can_be_read_again() {
    let sandbox = Sandbox::new();
    sandbox.write("d.jsonl", example("a", "f(x)").repeat(4));
    sandbox
        .run(["data", "split", "d.jsonl", "--by", "random", "--test", "1", "--dev", "0", "--out", "o"])
        .exits(0);
    for name in sandbox.names("o") {
        sandbox.run(["data", "stats", &format!("o/{name}")]).exits(0);
    }
}

#[test]
fn a_part_never_overwrites_an_input_and_may_overwrite_an_older_part() {
    let sandbox = Sandbox::new();
    sandbox.write("train.jsonl", forty());
    let call = |out| ["data", "split", "train.jsonl", "--by", "random", "--out", out];
    sandbox.run(call(".")).exits(2).says(["will not overwrite ./train.jsonl, which is train.jsonl"]);
    assert_eq!((sandbox.read("train.jsonl"), sandbox.names(".")), (forty(), vec!["train.jsonl".to_owned()]));
    for _ in 0..2 {
        sandbox.run(call("parts")).exits(0);
        assert_partition(&sides(&sandbox, "parts"));
    }
}

#[test]
fn what_cannot_be_split_is_said_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write("one.jsonl", (0..9).map(|n| example("a", &format!("f('{n}')"))).collect::<String>());
    sandbox.write("two.jsonl", example("a", "f(x)") + &example("b", "g(x)"));
    sandbox.write("bare.jsonl", example("a", "f(x)") + "{\"utterance\": \"b\"}\n");
    sandbox.write("broken.jsonl", example("a", "f(x)") + &example("b", "f(x"));
    sandbox.write("empty.jsonl", "\n");
    sandbox.write("bad.jsonl", example("a", "f(x)").repeat(2) + "oops\n");
    let check = |file: &str, by: &str, test: &str, code: i32, text: &str| {
        let args = ["data", "split", file, "--by", by, "--test", test, "--dev", "0", "--out", "o"];
        sandbox.run(args).exits(code).says([text]);
        assert!(!sandbox.path("o").exists(), "{file} {by}");
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
    check(".", "random", "1", 2, "cannot open .: it is a directory");
    for test in ["1.0", "1.5", "-1", "nan", "inf", "x", "", "99999999999999999999999"] {
        check("two.jsonl", "random", test, 2, "error");
    }
    check("two.jsonl", "colour", "1", 2, "[possible values: template, length, random]");
}

#[test]
fn a_split_names_file_and_line_of_a_program_it_cannot_use() {
    let sandbox = Sandbox::new();
    sandbox.write("a.jsonl", example("a", "f(x)"));
    sandbox.write("b.jsonl", example("b", "f(x)") + "\n{\"utterance\": \"c\"}\n");
    sandbox.write("c.jsonl", example("b", "f(x)") + "\n" + &example("c", "f(x"));
    let args = |file| ["data", "split", "a.jsonl", file, "--by", "length", "--out", "o"];
    sandbox.run(args("b.jsonl")).exits(1).says(["b.jsonl:3"]);
    sandbox.run(args("c.jsonl")).exits(1).says(["c.jsonl:3"]);
}

#[test]
fn an_output_folder_that_is_a_file_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("d.jsonl", forty());
    sandbox.write("o", "mine");
    sandbox
        .run(["data", "split", "d.jsonl", "--by", "random", "--out", "o"])
        .exits(1)
        .says(["the directory o"]);
    assert_eq!(
        (sandbox.names("."), sandbox.read("o").as_str()),
        (vec!["d.jsonl".into(), "o".into()], "mine")
    );
}

// ---- stats --------------------------------------------------------------------------------------------------

/// A train file, and a test file that shares an utterance and a template with it.
fn train_and_test() -> Sandbox {
    let sandbox = Sandbox::new();
    let train = example("rivers in texas", "river(loc_2(stateid('texas')))") + &example("all", "all");
    let test = example("rivers in ohio?", "river( loc_2( stateid( 'ohio' ) ) )")
        + &example("all", "longest(all)")
        + &example("broken", "longest((")
        + "{\"utterance\": \"bare\", \"answer\": 3}\n";
    sandbox.write("train.jsonl", train);
    sandbox.write("test.jsonl", test);
    sandbox
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
    let sandbox = train_and_test();
    let report = sandbox.run(["data", "stats", "train.jsonl", "test.jsonl", "--json"]).exits(0).json();
    let test = &report["files"][1];
    let keys = ["examples", "programs", "unreadable_programs", "answers", "distinct_programs"];
    assert_eq!(keys.map(|key| test[key].as_u64().unwrap()), [4, 3, 1, 1, 2]);
    assert_eq!(test["utterance_tokens"], json!({"min": 1, "mean": 1.75, "max": 4}));
    assert_eq!(report["overlaps"][0]["templates"], json!({"distinct": 1, "examples": 1}));
    assert_eq!(report["unseen"][0]["constants"], json!({"'ohio'": 1, "longest": 1}));
    let alone = sandbox.run(["data", "stats", "train.jsonl", "--json", "--domain", "scan"]).exits(0).json();
    assert_eq!((&alone["overlaps"], &alone["unseen"]), (&json!([]), &json!([])));
}

#[test]
fn stats_of_files_that_are_no_data_are_errors() {
    let sandbox = train_and_test();
    sandbox.write("empty.jsonl", "");
    sandbox.write("bad.jsonl", example("a", "x") + "{\n");
    sandbox.run(["data", "stats", "missing.jsonl"]).exits(2).says(["cannot open missing.jsonl"]);
    sandbox.run(["data", "stats", "train.jsonl", "empty.jsonl"]).exits(1).says(["empty.jsonl is empty"]);
    sandbox.run(["data", "stats", "bad.jsonl"]).exits(1).says(["bad.jsonl:2:1: not valid JSON"]);
    sandbox.run(["data", "stats", "train.jsonl", "--domain", "nope"]).exits(2).says(["domain file nope"]);
    sandbox.run(["data", "stats"]).exits(2).says(["<DATA>"]);
}
