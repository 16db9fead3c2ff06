//! `spanwise data import` and `export` of COGS, ATIS, Overnight and Okapi: small files made by hand, and the official ones.

use crate::common::{Sandbox, releases};
use serde_json::json;
use std::fs::read_to_string;

const COGS: &str = "The fox hoped to sing .\t* fox ( x _ 1 ) ; hope . agent ( x _ 2 , x _ 1 ) AND \
    hope . xcomp ( x _ 2 , x _ 4 ) AND sing . agent ( x _ 4 , x _ 1 )\tin_distribution\n\
    Nora\tNora\tprimitive\n";
const OVERNIGHT: &str = "who leads oslo\tmayor of oslo\t( call SW.listValue ( call SW.getProperty en.city.oslo ( string mayor ) ) )\r\n";
const OKAPI: &str = "on?\tGET event\nnext \tGET event FILTER event.start gt now SEARCH nora's kites TOP 1\n";

#[test]
fn one_file_becomes_one_file_with_all_fields() {
    let sandbox = Sandbox::new();
    sandbox.write("dev.tsv", COGS);
    let outcome = sandbox.run(["data", "import", "cogs", "dev.tsv", "--out", "o.jsonl", "--json"]);
    let report = outcome.exits(0).says(["2 examples to o.jsonl"]).json();
    assert_eq!(
        report,
        json!({"examples": 2, "files": [{"file": "dev.tsv", "out": "o.jsonl", "examples": 2}]})
    );
    let first = "{\"utterance\":\"The fox hoped to sing .\",\"program\":\"hope(agent(the(fox)), xcomp(sing()))\",\
                 \"generalization\":\"in_distribution\"}\n";
    assert!(sandbox.read("o.jsonl").starts_with(first));
    sandbox.write("q.tsv", OVERNIGHT);
    sandbox.run(["data", "import", "overnight", "q.tsv", "--out", "o.jsonl"]).exits(0);
    let expected = json!({"utterance": "who leads oslo", "program": "listValue(getProperty(en.city.oslo, mayor))",
        "canonical_utterance": "mayor of oslo"});
    assert_eq!(sandbox.json_lines("o.jsonl"), [expected]);
}

#[test]
fn several_files_become_files_of_the_same_names() {
    let sandbox = Sandbox::new();
    for name in ["train.v2.tsv", "dev.tsv"] {
        sandbox.write(name, OKAPI);
    }
    sandbox.run(["data", "import", "okapi", "train.v2.tsv", "dev.tsv", "--out", "a/b"]).exits(0);
    assert_eq!(sandbox.names("a/b"), ["dev.jsonl", "train.v2.jsonl"]);
    sandbox
        .run(["data", "import", "okapi", "dev.tsv", "./dev.tsv", "--out", "o"])
        .exits(2)
        .says(["dev.tsv and ./dev.tsv would both become o/dev.jsonl"]);
    assert_eq!(sandbox.names("."), ["a", "dev.tsv", "train.v2.tsv"]);
}

#[test]
fn a_line_that_cannot_be_converted_is_named_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    sandbox.write("good.tsv", "cities\tanswer _city all\n");
    for (line, text) in [
        (&b"cities\tanswer _city"[..], "cannot import bad.tsv: line 2: `_city` has no argument"),
        (b"cities answer _city all", "line 2: expected lines of utterance, tab, program"),
        (b"cities\tanswer  all", "cannot be restored to the official text"),
        (b"\xff\tanswer all", "bad.tsv:2: not valid UTF-8"),
    ] {
        sandbox.write("bad.tsv", [b"cities\tanswer _city all\n", line].concat());
        sandbox.run(["data", "import", "atis", "good.tsv", "bad.tsv", "--out", "o"]).exits(1).says([text]);
        assert_eq!(sandbox.names("."), ["bad.tsv", "good.tsv"]);
    }
    sandbox.write("bad.tsv", "\n");
    sandbox.run(["data", "import", "atis", "bad.tsv", "--out", "o"]).exits(1).says(["no example found"]);
    sandbox.run(["data", "import", "atis", "good.tsv", "no.tsv", "--out", "o"]).exits(2).says(["no.tsv"]);
    sandbox
        .run(["data", "import", "atis", "good.tsv", "--out", "good.tsv"])
        .exits(2)
        .says(["will not overwrite"]);
    sandbox.run(["data", "import", "atis", "--out", "o"]).exits(2).says(["<FILE>"]);
    assert_eq!(sandbox.names("."), ["bad.tsv", "good.tsv"]);
}

#[test]
fn an_export_restores_what_was_imported() {
    let sandbox = Sandbox::new();
    for (name, text) in [("cogs", COGS), ("overnight", OVERNIGHT), ("okapi", OKAPI)] {
        sandbox.write("in.tsv", text);
        sandbox.run(["data", "import", name, "in.tsv", "--out", "o.jsonl"]).exits(0);
        let outcome = sandbox.run(["data", "export", name, "o.jsonl", "--out", "out.tsv", "--json"]);
        let lines = text.lines().count();
        assert_eq!(outcome.exits(0).json(), json!({"lines": lines, "empty": 0}));
        assert_eq!(sandbox.read("out.tsv"), text.replace('\r', ""));
    }
    sandbox.write("o.jsonl", "{\"utterance\":\"Nora\",\"program\":\"Nora\"}\n");
    sandbox
        .run(["data", "export", "cogs", "o.jsonl", "--out", "no.tsv"])
        .exits(1)
        .says(["o.jsonl:1: the example has no text in the field `generalization`"]);
    sandbox
        .run(["data", "export", "cogs", "o.jsonl", "--out", "o.jsonl"])
        .exits(2)
        .says(["will not overwrite"]);
    sandbox
        .run(["data", "export", "geo", "o.jsonl", "--out", "no.tsv"])
        .exits(2)
        .says(["overnight", "okapi"]);
    assert_eq!(sandbox.names("."), ["in.tsv", "o.jsonl", "out.tsv"]);
}

#[test]
fn predictions_are_written_as_official_programs_in_their_order() {
    let sandbox = Sandbox::new();
    let predictions = [
        json!({"utterance": "cities", "program": "answer(_city(all))", "gold": "x", "exact": true}),
        json!({"utterance": "hello", "program": null}),
        json!({"utterance": "flights", "program": "answer(_flight(a, b))"}),
        json!({"utterance": "cities", "program": "answer(_city(all))"}),
    ];
    sandbox.write("p.jsonl", predictions.map(|it| format!("{it}\n")).concat());
    let outcome = sandbox.run(["data", "export", "atis", "p.jsonl", "--programs", "--out", "p.txt"]).exits(0);
    outcome.says(["4 lines to p.txt", "2 of them are empty"]);
    assert_eq!(sandbox.read("p.txt"), "answer _city all\n\n\nanswer _city all\n");
}

#[test]
fn the_official_files_come_back_byte_for_byte() {
    let Some(data) = releases() else { return };
    let sandbox = Sandbox::new();
    for (name, file) in [
        ("cogs", "dev.tsv"),
        ("atis", "atis_funql_test_brackets.tsv"),
        ("overnight", "publications_train.tsv"),
        ("okapi", "test.tsv"),
    ] {
        let official = data.join(name).join(file);
        sandbox.call(["data", "import", name, "--out", "o.jsonl"]).arg(&official).run().exits(0);
        sandbox.run(["data", "export", name, "o.jsonl", "--out", "o.tsv"]).exits(0);
        assert!(sandbox.read("o.tsv") == read_to_string(official).unwrap(), "{name}");
    }
}
