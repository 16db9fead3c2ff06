//! `spanwise infer-domain`: a file guessed from examples loads, types them, can be trained from, and is the same every time.

use crate::common::{Sandbox, example};
use std::fs;
use std::path::Path;

fn tutorial() -> Sandbox {
    let sandbox = Sandbox::new();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial/examples.jsonl");
    sandbox.write("examples.jsonl", fs::read(path).unwrap());
    sandbox
}

#[test]
fn the_programs_of_the_tutorial_are_typed_and_derivable_with_what_was_guessed() {
    let sandbox = tutorial();
    let made = sandbox.run(["infer-domain", "examples.jsonl", "--out", "home"]).exits(0);
    made.prints(["well-typed", "100.0 %", "spanwise check home/domain.toml examples.jsonl"]);
    let check = sandbox.run(["check", "home/domain.toml", "examples.jsonl", "--json"]).exits(0).json();
    assert_eq!((&check["programs"], &check["typed"]), (&185.into(), &185.into()));
    let derivable = check["derivability"][0]["derivable"]["open + implicit"].as_u64().unwrap();
    assert!(derivable >= 180, "{}", check["derivability"][0]);
    let source = sandbox.read("home/domain.toml");
    for text in [
        "light = \"Place? -> ",
        "kind = \"time\"",
        "kind = \"date\"",
        "measure = \"percent\"",
        "form = \"place('{name}')\"",
        "where = [\"where\"",
    ] {
        assert!(source.contains(text), "{text}\n{source}");
    }
    // A place that is never named as it is written has the words that people use for it.
    assert!(source.contains("aliases"), "{source}");
}

#[test]
fn a_parser_can_be_trained_from_it() {
    let sandbox = Sandbox::with_toy();
    sandbox.run(["infer-domain", "train.jsonl", "--out", "guess"]).exits(0);
    let call = ["train", "run.toml", "--set", "domain=guess/domain.toml", "--out", "model", "--json"];
    sandbox.run(call).exits(0);
    let report = sandbox.run(["eval", "model", "train.jsonl", "--json"]).exits(0).json();
    let exact = report["exact_match"].as_f64().unwrap_or_else(|| panic!("{report}"));
    assert!(exact > 60.0, "{report}");
}

#[test]
fn the_same_examples_give_the_same_files_and_json_has_the_counts() {
    let sandbox = tutorial();
    let report = sandbox.run(["infer-domain", "examples.jsonl", "--out", "a/home", "--json"]).exits(0).json();
    sandbox.run(["infer-domain", "examples.jsonl", "--out", "b/home"]).exits(0);
    assert_eq!(sandbox.names("a/home"), sandbox.names("b/home"));
    for name in sandbox.names("a/home") {
        assert_eq!(sandbox.read(&format!("a/home/{name}")), sandbox.read(&format!("b/home/{name}")));
    }
    assert_eq!((&report["programs"], &report["typed"]), (&185.into(), &185.into()));
    assert_eq!(report["constants"], 19);
    assert!(report["held_out"].as_f64().unwrap() > 0.9, "{report}");
}

#[test]
fn wrong_input_is_named_with_its_line_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    let refused = |content: &str, text: &str| {
        sandbox.write("d.jsonl", content);
        sandbox.run(["infer-domain", "d.jsonl", "--out", "made"]).exits(1).says([text]);
        assert!(!sandbox.path("made").exists());
    };
    let good = example("a", "f(x)");
    refused(&(good.clone() + &example("b", "f(x")), "d.jsonl:2: the program cannot be read: column 2");
    refused(&(good.clone() + "oops\n"), "d.jsonl:2:1: not valid JSON");
    refused("{\"utterance\": \"a\"}\n", "no example has a program");
    sandbox.write("d.jsonl", &good);
    sandbox.run(["infer-domain", "d.jsonl", "--out", "My"]).exits(2).says(["lower-case letters"]);
    sandbox.run(["infer-domain", "none.jsonl", "--out", "made"]).exits(2).says(["cannot open none.jsonl"]);
    sandbox.write("full/notes.txt", "mine");
    sandbox.run(["infer-domain", "d.jsonl", "--out", "full"]).exits(2).says(["holds something"]);
    assert_eq!(sandbox.names("full"), ["notes.txt"]);
}

#[test]
fn odd_names_and_single_programs_still_give_a_file_that_loads() {
    let sandbox = Sandbox::new();
    for (at, programs) in [
        &["x"][..],
        &["f()"],
        &["f(f(f(x)))", "f(x)"],
        &["!type(a.b, >=)", "!type(c, <)"],
        &["f('a\tb')", "f('#c')", "f('it''s')", "f(' d ')", "f('')"],
        &["scene", "scene()", "count(scene)", "count(scene())"],
        &["and(a, b)", "and(b, a, c)", "and(c, b, a, a)", "and(a, and(b, c))"],
        &["f(1)", "f(2.50)", "f(-3)", "g(7, x)", "g(8, y)"],
        &["S(T)", "T(S)", "größe(x)", "größe(größe(x))"],
    ]
    .into_iter()
    .enumerate()
    {
        let data: String = programs.iter().map(|program| example("some words", program)).collect();
        sandbox.write("d.jsonl", data);
        let directory = format!("made{at}");
        sandbox.run(["infer-domain", "d.jsonl", "--out", &directory]).exits(0);
        sandbox.run(["check", &format!("{directory}/domain.toml")]).exits(0);
    }
}
