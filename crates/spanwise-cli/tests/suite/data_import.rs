//! `spanwise data import` on small releases made by hand. The real ones are in `releases.rs`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::Sandbox;
use serde_json::{Value, json};

const GOOD_SCAN: &str = "IN: jump OUT: I_JUMP\n";

/// A question about the number of things, as CLEVR's own files have it.
fn question(image: u64) -> Value {
    let program = json!([
        {"function": "scene", "inputs": [], "value_inputs": []},
        {"function": "filter_color", "inputs": [0], "value_inputs": ["red"]},
        {"function": "count", "inputs": [1], "value_inputs": []},
    ]);
    json!({"question": "How many red things?", "image_index": image, "answer": "1", "program": program})
}

fn scene(image: u64) -> Value {
    let object = json!({"shape": "cube", "material": "metal", "size": "small", "color": "red"});
    let nobody = json!([[]]);
    let relationships = json!({"left": nobody, "right": nobody, "front": nobody, "behind": nobody});
    json!({"image_index": image, "objects": [object], "relationships": relationships})
}

fn write_clevr(sandbox: &Sandbox, questions: &[Value], scenes: &[Value]) {
    sandbox.write("q.json", json!({"info": {"split": "mine"}, "questions": questions}).to_string());
    sandbox.write("s.json", json!({"scenes": scenes}).to_string());
}

/// A corpus of `n` records with three templates, and its first ids.
fn write_geo(sandbox: &Sandbox, n: usize, n_train: usize) {
    let record = |id: usize| {
        let program = match id % 3 {
            0 => format!("answer(capital(stateid('s{id}')))"),
            1 => format!("answer(largest(city(loc_2(stateid('s{id}')))))"),
            _ => format!("answer(len(riverid('r {id}')))"),
        };
        format!("id:{id}\nnl:what 's thing {id} ?\nmrl:{program}\nproductions:\n*n:x\n\n")
    };
    sandbox.write("geo.corpus", (0..n).map(record).collect::<String>());
    sandbox.write("train.ids", (0..n_train).map(|id| format!("{id}\n")).collect::<String>());
}

// ---- scan ---------------------------------------------------------------------------------------------------

#[test]
fn one_scan_file_becomes_one_file() {
    let sandbox = Sandbox::new();
    sandbox.write("tasks.txt", "\u{feff}IN: run left OUT: I_TURN_LEFT I_RUN\r\n\r\nIN: jump OUT: I_JUMP\n");
    sandbox
        .run(["data", "import", "scan", "tasks.txt", "--out", "o.jsonl"])
        .exits(0)
        .says(["2 examples to o.jsonl"]);
    assert_eq!(
        sandbox.read("o.jsonl"),
        "{\"utterance\":\"run left\",\"program\":\"i_run ( i_left )\",\"answer\":\"I_TURN_LEFT I_RUN\"}\n\
         {\"utterance\":\"jump\",\"program\":\"i_jump ( )\",\"answer\":\"I_JUMP\"}\n"
    );
    sandbox.run(["check", "scan", "o.jsonl", "--execute"]).exits(0);
}

#[test]
fn a_train_and_a_test_file_become_three_and_a_fifth_of_train_is_dev() {
    let sandbox = Sandbox::new();
    let verbs = ["walk", "look", "run", "jump"];
    let train = (0..11).map(|n| format!("IN: {} OUT: I_{}\n", verbs[n % 4], verbs[n % 4].to_uppercase()));
    sandbox.write("train.txt", train.collect::<String>());
    sandbox.write("test.txt", "IN: turn left OUT: I_TURN_LEFT\n");
    sandbox.run(["data", "import", "scan", "train.txt", "test.txt", "--out", "a/b"]).exits(0);
    let sizes = ["train", "dev", "test"].map(|name| sandbox.json_lines(&format!("a/b/{name}.jsonl")).len());
    assert_eq!(sizes, [9, 2, 1]);
    assert_eq!(sandbox.names("a/b").len(), 3);
}

#[test]
fn a_broken_scan_file_is_named_with_the_line_and_leaves_no_output() {
    let sandbox = Sandbox::new();
    let check = |content: &[u8], texts: [&str; 2]| {
        sandbox.write("t.txt", content);
        sandbox.run(["data", "import", "scan", "t.txt", "--out", "o.jsonl"]).exits(1).says(texts);
        assert_eq!(sandbox.names("."), ["t.txt"]);
    };
    let good = "IN: jump OUT: I_JUMP\n";
    check(format!("{good}IN: hop OUT: I_JUMP\n").as_bytes(), ["t.txt", "line 2"]);
    check(format!("{good}\njump\n").as_bytes(), ["t.txt", "line 3: expected `IN: command OUT: actions`"]);
    check(format!("{good}{}\n", "x".repeat(1 << 20)).as_bytes(), ["t.txt", "line 2"]);
    check(b"IN: jump\xff OUT: I_JUMP\n", ["t.txt:1", "not valid UTF-8"]);
    check(b"\n\n", ["t.txt", "no example found"]);
    let outcome = sandbox.run(["data", "import", "scan", "t.txt", "missing.txt", "--out", "o"]).exits(2);
    outcome.says(["cannot read missing.txt: there is no such file"]);
    sandbox.run(["data", "import", "scan", ".", "--out", "o"]).exits(2).says(["cannot read ."]);
    assert_eq!(sandbox.names("."), ["t.txt"]);
}

#[test]
fn what_was_there_before_a_failure_is_still_there_after_it() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.txt", "IN: hop OUT: I_JUMP\n");
    sandbox.write("o.jsonl", "mine");
    sandbox.run(["data", "import", "scan", "bad.txt", "--out", "o.jsonl"]).exits(1);
    assert_eq!(
        (sandbox.names("."), sandbox.read("o.jsonl").as_str()),
        (vec!["bad.txt".into(), "o.jsonl".into()], "mine")
    );
}

#[test]
fn outputs_that_cannot_be_written_are_named_and_nothing_is_left_behind() {
    let sandbox = Sandbox::new();
    sandbox.write("t.txt", "IN: jump OUT: I_JUMP\n");
    for (out, text) in [
        (".", "it is a directory"),
        ("missing/o.jsonl", "no such file or directory"),
        ("t.txt/o.jsonl", "cannot write t.txt/o.jsonl"),
        ("/dev/full", "No space left on device"),
    ] {
        sandbox.run(["data", "import", "scan", "t.txt", "--out", out]).exits(1).says([
            "cannot write",
            out,
            text,
        ]);
    }
    sandbox
        .run(["data", "import", "scan", "t.txt", "t.txt", "--out", "t.txt"])
        .exits(1)
        .says(["the folder t.txt"]);
    assert_eq!(sandbox.names("."), ["t.txt"]);
    sandbox.run(["data", "import", "scan", "t.txt", "--out", "/dev/null"]).exits(0);
    sandbox.run(["data", "import", "scan", "t.txt"]).exits(2).says(["--out"]);
}

#[cfg(unix)]
#[test]
fn an_output_that_is_a_link_stays_one_and_keeps_its_permissions() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new();
    sandbox.write("t.txt", "IN: jump OUT: I_JUMP\n");
    sandbox.write("real.jsonl", "old");
    std::fs::set_permissions(sandbox.path("real.jsonl"), std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("real.jsonl", sandbox.path("link.jsonl")).unwrap();
    sandbox.run(["data", "import", "scan", "t.txt", "--out", "link.jsonl"]).exits(0);
    assert!(sandbox.path("link.jsonl").is_symlink() && sandbox.read("real.jsonl").contains("I_JUMP"));
    let mode = sandbox.path("real.jsonl").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn an_import_names_the_file_that_is_wrong() {
    let sandbox = Sandbox::new();
    sandbox.write("train.txt", GOOD_SCAN);
    sandbox.write("test.txt", format!("{GOOD_SCAN}oops\n"));
    let outcome = sandbox.run(["data", "import", "scan", "train.txt", "test.txt", "--out", "o"]).exits(1);
    assert!(
        outcome.stderr.contains("test.txt") && !outcome.stderr.contains("train.txt"),
        "{}",
        outcome.stderr
    );
    sandbox.write("corpus", "id:1\nnl:q\nmrl:f(x)\n");
    sandbox.write("train.list", "7\n");
    sandbox
        .run(["data", "import", "geo", "corpus", "train.list", "--out", "o"])
        .exits(1)
        .says(["train.list"]);
    sandbox.write("q.json", "{\"questions\": [{\"question\": \"q\", \"image_index\": 0}]}");
    sandbox.write("s.json", "{\"scenes\": [\n{]}");
    let args = ["data", "import", "clevr", "q.json", "--scenes", "s.json", "--out", "o"];
    sandbox.run(args).exits(1).says(["s.json", "line 2"]);
}

#[test]
fn an_import_writes_nothing_that_the_reader_refuses() {
    let sandbox = Sandbox::new();
    sandbox.write("q.json", "{\"questions\": [{\"question\": \" \"}]}");
    sandbox.run(["data", "import", "clevr", "q.json", "--out", "o.jsonl"]).exits(1).says(["question 0"]);
    sandbox.write("corpus", "id:1\nnl:\nmrl:f(x)\nid:2\nnl:q\nmrl:g(x)\n");
    sandbox.write("ids", "2\n");
    sandbox
        .run(["data", "import", "geo", "corpus", "ids", "--out", "o"])
        .exits(1)
        .says(["line 2 of the corpus"]);
}

// ---- geo ----------------------------------------------------------------------------------------------------

#[test]
fn a_geo_corpus_becomes_three_divisions_of_the_same_examples() {
    let sandbox = Sandbox::new();
    write_geo(&sandbox, 30, 20);
    sandbox.run(["data", "import", "geo", "geo.corpus", "train.ids", "--out", "o"]).exits(0);
    assert_eq!(sandbox.names("o").len(), 9);
    for suffix in ["", "_template", "_length"] {
        let sides =
            ["train", "dev", "test"].map(|name| sandbox.json_lines(&format!("o/{name}{suffix}.jsonl")));
        let mut all: Vec<String> = sides.iter().flatten().map(|it| it["utterance"].to_string()).collect();
        all.sort();
        all.dedup();
        assert_eq!((all.len(), sides.iter().map(Vec::len).sum::<usize>()), (30, 30), "{suffix}");
        assert_eq!(sides[1].len(), 2, "dev{suffix}");
    }
    let test = sandbox.json_lines("o/test.jsonl");
    assert_eq!(
        test[0],
        json!({"utterance": "what's thing 20 ?", "program": "answer ( len ( riverid ( 'r 20' ) ) )"})
    );
    let before = sandbox.read("o/train_template.jsonl");
    sandbox.run(["data", "import", "geo", "geo.corpus", "train.ids", "--out", "o"]).exits(0);
    assert_eq!(sandbox.read("o/train_template.jsonl"), before);
}

#[test]
fn a_broken_geo_corpus_is_named_with_the_line_and_leaves_no_folder() {
    let sandbox = Sandbox::new();
    let check = |corpus: &[u8], ids: &[u8], texts: [&str; 2]| {
        sandbox.write("c", corpus);
        sandbox.write("ids", ids);
        sandbox.run(["data", "import", "geo", "c", "ids", "--out", "o"]).exits(1).says(texts);
        assert_eq!(sandbox.names("."), ["c", "ids"]);
    };
    let good = "id:1\nnl:q\nmrl:f(x)\nid:2\nnl:q\nmrl:g(x)\n";
    check(b"", b"", ["c", "no example found"]);
    check(b"id:1\nmrl:f(x)\n", b"1", ["c", "line 2 of the corpus"]);
    check(b"id:1\nnl:q\nmrl:f(x\n", b"", ["c", "line 3 of the corpus"]);
    check(b"id:1\nnl:\xff\nmrl:f(x)\n", b"", ["c:2", "not valid UTF-8"]);
    check(good.as_bytes(), b"1\n\n7\n", ["line 3 of the train ids", "no record with id `7`"]);
    check(good.as_bytes(), b"\xff", ["ids:1", "not valid UTF-8"]);
    check(good.as_bytes(), b"", ["nothing is left for training", "error"]);
    sandbox
        .run(["data", "import", "geo", "c", "missing", "--out", "o"])
        .exits(2)
        .says(["missing: there is no such"]);
    sandbox.run(["data", "import", "geo", "c", "--out", "o"]).exits(2).says(["<TRAIN_IDS>"]);
    assert_eq!(sandbox.names("."), ["c", "ids"]);
}

#[test]
fn a_geo_corpus_cut_off_or_with_an_id_twice_is_refused() {
    let sandbox = Sandbox::new();
    let good = "id:1\nnl:q\nmrl:f(x)\nid:2\nnl:r\nmrl:g(x)\n";
    sandbox.write("ids", "1\n");
    for (rest, text) in [
        ("id:3\nnl:s\n", "line"),
        ("id:3\nid:4\nnl:s\nmrl:h(x)\n", "line"),
        ("id:1\nnl:s\nmrl:h(x)\n", "`1`"),
    ] {
        sandbox.write("corpus", format!("{good}{rest}"));
        sandbox.run(["data", "import", "geo", "corpus", "ids", "--out", "o"]).exits(1).says(["corpus", text]);
        assert_eq!(sandbox.names("."), ["corpus", "ids"]);
    }
}

// ---- clevr --------------------------------------------------------------------------------------------------

#[test]
fn clevr_questions_get_their_programs_and_scenes() {
    let sandbox = Sandbox::new();
    write_clevr(&sandbox, &[question(4), question(2)], &[scene(2), scene(4)]);
    let outcome =
        sandbox.run(["data", "import", "clevr", "q.json", "--scenes", "s.json", "--out", "o.jsonl"]);
    outcome.exits(0).says(["2 examples to o.jsonl"]);
    let examples = sandbox.json_lines("o.jsonl");
    let expected = json!({"utterance": "How many red things?", "program": "count ( filter ( red , scene ( ) ) )",
        "answer": "1", "context": "cube metal small red 0 0", "image_index": 4});
    assert_eq!((&examples[0], &examples[1]["image_index"]), (&expected, &json!(2)));
    sandbox.run(["check", "clevr", "o.jsonl", "--execute"]).exits(0).prints(["answers equal"]);
}

#[test]
fn clevr_questions_without_scenes_have_no_context() {
    let sandbox = Sandbox::new();
    write_clevr(&sandbox, &[question(4), json!({"question": "Why?"})], &[]);
    sandbox.run(["data", "import", "clevr", "q.json", "--out", "o.jsonl"]).exits(0);
    let examples = sandbox.json_lines("o.jsonl");
    assert!(examples[0].get("context").is_none() && examples[0].get("program").is_some());
    assert_eq!(examples[1], json!({"utterance": "Why?"}));
}

#[test]
fn broken_clevr_files_are_named_with_the_place_and_leave_no_output() {
    let sandbox = Sandbox::new();
    let check = |code: i32, texts: [&str; 2]| {
        let outcome =
            sandbox.run(["data", "import", "clevr", "q.json", "--scenes", "s.json", "--out", "o.jsonl"]);
        outcome.exits(code).says(texts);
        assert_eq!(sandbox.names("."), ["q.json", "s.json"]);
    };
    write_clevr(&sandbox, &[question(0), question(1)], &[scene(0)]);
    check(1, ["question 1", "no scene with `image_index` 1"]);
    write_clevr(&sandbox, &[question(0)], &[scene(0), scene(0)]);
    check(1, ["scene 1", "another scene with `image_index` 0"]);
    let mut unknown = question(0);
    unknown["program"][1]["function"] = json!("filter_colour");
    write_clevr(&sandbox, &[question(0), unknown], &[scene(0)]);
    check(1, ["question 1: step 1 of the program", "`filter_colour`"]);
    let mut ahead = question(0);
    ahead["program"][1]["inputs"] = json!([7]);
    write_clevr(&sandbox, &[ahead], &[scene(0)]);
    check(1, ["question 0: step 1", "input 7 is not the number of an earlier step"]);
    write_clevr(&sandbox, &[json!(3)], &[scene(0)]);
    check(1, ["question 0", "expected a JSON object"]);
    write_clevr(&sandbox, &[question(0)], &[scene(0)]);
    sandbox.write("q.json", "{\"questions\": [\n{\"question\": \"q\", \"image_index\": 0},\n{]}");
    check(1, ["q.json", "not valid JSON at line 3"]);
    sandbox.write("q.json", "{\"other\": []}");
    check(1, ["q.json", "there is no list `questions`"]);
    sandbox.write("q.json", b"\n\n{\"questions\": [\"\xff\"]}");
    check(1, ["q.json:3", "not valid UTF-8"]);
    sandbox.write("q.json", "");
    check(1, ["q.json", "expected a JSON object"]);
    sandbox.write("q.json", format!("{{\"questions\": [{}", "[".repeat(1 << 20)));
    check(1, ["q.json", "not valid JSON at line 1: EOF"]);
    sandbox.write("q.json", format!("{{\"questions\": [{}{}]}}", "[".repeat(1 << 20), "]".repeat(1 << 20)));
    check(1, ["question 0", "recursion limit"]);
    let outcome = sandbox.run(["data", "import", "clevr", "nope.json", "--out", "o.jsonl"]).exits(2);
    outcome.says(["cannot read nope.json"]);
}

#[test]
fn a_clevr_file_without_questions_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("q.json", "{\"questions\": []}");
    sandbox
        .run(["data", "import", "clevr", "q.json", "--out", "o.jsonl"])
        .exits(1)
        .says(["q.json", "no example"]);
    assert_eq!(sandbox.names("."), ["q.json"]);
}

#[test]
fn a_clevr_file_that_does_not_end_as_json_does_is_refused() {
    let sandbox = Sandbox::new();
    for rest in ["", ", \"info\": {", "} and more", "]"] {
        sandbox.write("q.json", format!("{{\"questions\": [{{\"question\": \"q\"}}]{rest}"));
        let outcome = sandbox.run(["data", "import", "clevr", "q.json", "--out", "o.jsonl"]);
        outcome.exits(1).says(["q.json", "line 1"]);
        assert_eq!(sandbox.names("."), ["q.json"]);
    }
}
