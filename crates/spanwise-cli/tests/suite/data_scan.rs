//! `spanwise data scan`: SCAN from its grammar.

use crate::common::Sandbox;
use std::collections::BTreeSet;

/// Each split with the sizes of its official train and test files.
const SPLITS: [(&str, usize, usize); 8] = [
    ("simple", 16_728, 4_182),
    ("length", 16_990, 3_920),
    ("right", 15_225, 4_476),
    ("around_right", 15_225, 4_476),
    ("opposite_right", 15_225, 4_476),
    ("jump_around_right", 18_528, 1_173),
    ("addprim_jump", 14_670, 7_706),
    ("addprim_turn_left", 21_890, 1_208),
];

fn utterances(sandbox: &Sandbox, file: &str) -> Vec<String> {
    let text = |value: &serde_json::Value| value["utterance"].as_str().unwrap().to_owned();
    sandbox.json_lines(file).iter().map(text).collect()
}

#[test]
fn all_commands_and_all_splits_are_written_with_their_official_sizes() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["data", "scan", "--out", "new/scan"]).exits(0);
    outcome.says(["20910 examples to new/scan/commands.jsonl"]);
    let mut expected = vec!["commands.jsonl".to_owned()];
    for (name, n_train, n_test) in SPLITS {
        for (side, n) in [("train", n_train), ("test", n_test)] {
            let file = format!("{side}_{name}.jsonl");
            assert_eq!(sandbox.read(&format!("new/scan/{file}")).lines().count(), n, "{file}");
            expected.push(file);
        }
    }
    expected.sort();
    assert_eq!(sandbox.names("new/scan"), expected);
}

#[test]
fn the_commands_are_20910_different_ones_with_programs_and_answers() {
    let sandbox = Sandbox::new();
    sandbox.run(["data", "scan", "--out", "o", "--split", "none"]).exits(0);
    assert_eq!(sandbox.names("o"), ["commands.jsonl"]);
    let different: BTreeSet<String> = utterances(&sandbox, "o/commands.jsonl").into_iter().collect();
    assert_eq!((different.len(), sandbox.read("o/commands.jsonl").lines().count()), (20_910, 20_910));
    // Programs are well-typed, and evaluate to the answers: grammar, types and executor agree.
    let report = sandbox.run(["check", "scan", "o/commands.jsonl", "--execute", "--json"]).exits(0).json();
    assert_eq!((&report["typed"], &report["answers"]["equal"]), (&20_910.into(), &20_910.into()));
}

#[test]
fn train_and_test_share_no_command_and_simple_leaves_none_out() {
    let sandbox = Sandbox::new();
    sandbox.run(["data", "scan", "--out", "o", "--split", "simple,length,addprim_jump"]).exits(0);
    for name in ["simple", "length", "addprim_jump"] {
        let [train, test] = ["train", "test"].map(|side| {
            utterances(&sandbox, &format!("o/{side}_{name}.jsonl")).into_iter().collect::<BTreeSet<_>>()
        });
        assert!(train.is_disjoint(&test), "{name}");
        if name != "addprim_jump" {
            assert_eq!(train.len() + test.len(), 20_910, "{name}");
        }
    }
    let test = utterances(&sandbox, "o/test_addprim_jump.jsonl");
    assert!(test.iter().all(|command| command != "jump" && command.contains("jump")));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_another_simple_split() {
    let sandbox = Sandbox::new();
    for (folder, seed) in [("a", "5"), ("b", "5"), ("c", "6")] {
        let outcome =
            sandbox.run(["data", "scan", "--out", folder, "--split", "simple,right", "--seed", seed]);
        outcome.exits(0);
    }
    for file in sandbox.names("a") {
        let read = |folder: &str| sandbox.read(&format!("{folder}/{file}"));
        assert_eq!(read("a"), read("b"), "{file}");
        assert_eq!(read("a") == read("c"), !file.contains("simple"), "{file}");
    }
}

#[test]
fn the_names_that_papers_use_are_understood() {
    let sandbox = Sandbox::new();
    sandbox.run(["data", "scan", "--out", "o", "--split", "add-jump,turn-left"]).exits(0);
    let names = [
        "commands",
        "test_addprim_jump",
        "test_addprim_turn_left",
        "train_addprim_jump",
        "train_addprim_turn_left",
    ];
    assert_eq!(sandbox.names("o"), names.map(|name| format!("{name}.jsonl")));
}

#[test]
fn a_split_that_does_not_exist_makes_the_call_wrong_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    for split in ["nope", "right,nope", "", "Right"] {
        let outcome = sandbox.run(["data", "scan", "--out", "o", "--split", split]).exits(2);
        outcome.says(["there is no split `", "around_right"]);
        assert_eq!(sandbox.names("."), [""; 0]);
    }
    sandbox.run(["data", "scan", "--out", "o", "--seed", "-1"]).exits(2);
    assert_eq!(sandbox.names("."), [""; 0]);
}

#[test]
fn an_output_folder_that_cannot_be_is_an_error_and_nothing_is_left_behind() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "mine");
    for out in ["file", "file/below", "/dev/null/below", "/dev/full"] {
        sandbox
            .run(["data", "scan", "--out", out, "--split", "none"])
            .exits(1)
            .says(["cannot make the directory", out]);
    }
    assert_eq!((sandbox.names("."), sandbox.read("file").as_str()), (vec!["file".to_owned()], "mine"));
}

#[test]
fn a_folder_in_the_way_of_one_file_keeps_all_files_away() {
    let sandbox = Sandbox::new();
    sandbox.write("o/test_right.jsonl/x", "");
    sandbox.write("o/commands.jsonl", "old");
    let outcome = sandbox.run(["data", "scan", "--out", "o", "--split", "right"]).exits(1);
    outcome.says(["o/test_right.jsonl", "it is a directory"]);
    assert_eq!(sandbox.names("o"), ["commands.jsonl", "test_right.jsonl"]);
    assert_eq!(sandbox.read("o/commands.jsonl"), "old");
}

#[test]
fn a_split_of_scan_that_is_named_twice_is_written_once() {
    let outcome =
        Sandbox::new().run(["data", "scan", "--out", "o", "--split", "right,length,right"]).exits(0);
    assert_eq!(outcome.stderr.matches("train_right.jsonl").count(), 1, "{}", outcome.stderr);
}
