//! `spanwise check` on examples.

use crate::common::{LAMPS, Sandbox, TINY, example, no_python};
use serde_json::json;

/// Two good examples, then one for each way in which a program can be wrong.
fn mixed() -> String {
    [
        ("turn on the reading lamp", "do(on(lamp('desk')))"),
        ("darkness", "do(off(lamp('hall')))"),
        ("huh", "do(dim(lamp('hall')))"),
        ("huh", "do(on(lamp('attic')))"),
        ("huh", "do(on(lamp('hall'), lamp('desk')))"),
        ("huh", "do(on(on(lamp('hall'))))"),
        ("huh", "on(lamp('hall'))"),
        ("huh", "do(lamp('hall'))"),
        ("huh", "do(on(lamp('hall'))"),
    ]
    .map(|(utterance, program)| example(utterance, program))
    .concat()
}

#[test]
fn good_data_exits_with_0_and_a_table() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", example("turn on the reading lamp", "do(on(lamp('desk')))"));
    let outcome = sandbox.run(["check", "lamps.toml", "d.jsonl"]).exits(0);
    assert_eq!(outcome.stderr, "");
    outcome.prints([
        "examples",
        "well-typed       1      100.0 %",
        "[lamp]",
        "never used here, by type (2 of 4):\n  Task: off, both\n",
    ]);
}

#[test]
fn every_kind_of_wrong_program_is_counted_and_shown_with_its_line() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", mixed());
    let outcome = sandbox.run(["check", "lamps.toml", "d.jsonl"]).exits(1);
    outcome.prints([
        "unknown constant `dim` in 1 programs",
        "d.jsonl:3: unknown constant: unknown constant `dim`",
        "d.jsonl:4: unknown entity: `lamp('attic')`",
        "d.jsonl:5: wrong arguments: `on` with 2 arguments, expected on(Lamp)",
        "d.jsonl:6: types do not fit: `on` of (Task), expected (Lamp)",
        "d.jsonl:7: not wrapped",
        "d.jsonl:8: not a root type",
        "d.jsonl:9: syntax: column 3: this parenthesis is never closed",
    ]);
}

#[test]
fn json_holds_the_counts_and_the_failures() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", mixed());
    let report = sandbox.run(["check", "lamps.toml", "d.jsonl", "--json"]).exits(1).json();
    let counts = ["examples", "programs", "typed", "ambiguous"].map(|key| report[key].as_u64().unwrap());
    assert_eq!(counts, [9, 9, 2, 0]);
    let one_each = json!({"not a root type": 1, "not wrapped": 1, "syntax": 1, "types do not fit": 1,
        "unknown constant": 1, "unknown entity": 1, "wrong arguments": 1});
    assert_eq!(report["problems"], one_each);
    assert_eq!(report["unknown_constants"], json!({"dim": 1}));
    assert_eq!((&report["domain"], &report["type_system"]), (&json!("lamps"), &json!(null)));
    assert_eq!(report["predicates"], json!({"uses": 2, "said": 1}));
    assert_eq!(report["entities"], json!({"uses": 2, "said": 1}));
    assert_eq!(report["answers"], json!(null));
    let failures = report["failures"].as_array().unwrap();
    let lines: Vec<u64> = failures.iter().map(|failure| failure["line"].as_u64().unwrap()).collect();
    assert_eq!(lines, [3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(failures[0]["file"], "d.jsonl");
    assert_eq!(failures[0]["program"], "do(dim(lamp('hall')))");
}

#[test]
fn programs_that_leave_out_words_that_must_be_used_are_counted() {
    let sandbox = Sandbox::with_lamps();
    let lamps = LAMPS.replacen("class = \"lamp\"", "class = \"lamp\"\nmust_be_used = true", 1);
    assert_ne!(lamps, LAMPS);
    sandbox.write("strict.toml", lamps);
    let examples = [
        ("turn on the desk lamp in the hall", "do(on(lamp('desk')))"),
        ("turn on the hall lamp", "do(on(lamp('hall')))"),
    ];
    sandbox.write("d.jsonl", examples.map(|(utterance, program)| example(utterance, program)).concat());
    let outcome = sandbox.run(["check", "strict.toml", "d.jsonl"]).exits(0);
    outcome
        .prints(["leave out words with `must_be_used`: 1", "  hall\n    turn on the desk lamp in the hall"]);
    let outcome = sandbox.run(["check", "lamps.toml", "d.jsonl", "--json"]).exits(0).json();
    assert_eq!(outcome["derivability"][0]["leave_out_words"], 0);
}

#[test]
fn json_without_data_describes_the_domain() {
    let sandbox = Sandbox::with_lamps();
    let report = sandbox.run(["check", "lamps.toml", "--json"]).exits(0).json();
    assert_eq!(
        (&report["types"], &report["constants"], &report["examples"]),
        (&json!(2), &json!(5), &json!(0))
    );
    if cfg!(feature = "geo") {
        let report = sandbox.run(["check", "geo@paper", "--json"]).exits(0).json();
        assert_eq!(report["type_system"], "paper");
    }
}

#[cfg(feature = "geo")]
#[test]
fn a_type_system_decides_what_is_well_typed() {
    let sandbox = Sandbox::new();
    sandbox
        .write("d.jsonl", example("people of austin texas", "answer(population_1(cityid('austin', 'tx')))"));
    sandbox.run(["check", "geo", "d.jsonl"]).exits(0).prints(["domain geo: "]);
    sandbox.run(["check", "geo@paper", "d.jsonl"]).exits(1).prints(["domain geo@paper: ", "d.jsonl:1: "]);
}

#[test]
fn show_says_how_many_failures_are_printed() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", mixed());
    let shown = |n| {
        let outcome = sandbox.run(["check", "lamps.toml", "d.jsonl", "--show", n]).exits(1);
        let n_shown = outcome.stdout.matches("\nd.jsonl:").count();
        (n_shown, outcome.stdout.contains("more failures"))
    };
    assert_eq!(shown("0"), (0, true));
    assert_eq!(shown("2"), (2, true));
    assert_eq!(shown("7"), (7, false));
    assert_eq!(shown("1000000"), (7, false));
    for n in ["-1", "x", "99999999999999999999"] {
        sandbox.run(["check", "lamps.toml", "d.jsonl", "--show", n]).exits(2);
    }
}

#[test]
fn asking_for_more_failures_shows_more_failures() {
    let sandbox = Sandbox::new();
    sandbox.write("d.jsonl", example("a", "i_hop()").repeat(1100));
    let outcome = sandbox.run(["check", "scan", "d.jsonl", "--show", "2000"]).exits(1);
    assert_eq!(outcome.stdout.matches("\nd.jsonl:").count(), 1100);
}

#[test]
fn several_files_are_checked_together_and_failures_name_theirs() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("a.jsonl", example("a", "do(on(lamp('desk')))") + &example("b", "do(a)"));
    sandbox.write("b.jsonl", example("c", "do(b)"));
    let outcome = sandbox.run(["check", "lamps.toml", "a.jsonl", "b.jsonl"]).exits(1);
    outcome.prints(["a.jsonl:2: unknown constant", "b.jsonl:1: unknown constant"]);
}

#[test]
fn examples_without_programs_are_counted_and_remarked() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", "{\"utterance\": \"a\"}\n{\"question\": \"b\", \"program\": null}\n");
    let outcome = sandbox.run(["check", "lamps.toml", "d.jsonl", "--json"]).exits(0);
    let report = outcome.json();
    assert_eq!((&report["examples"], &report["programs"]), (&json!(2), &json!(0)));
    outcome.says(["note: no example has a program"]);
}

#[test]
fn files_that_are_no_data_are_named_with_the_line() {
    let sandbox = Sandbox::with_lamps();
    let check = |content: &[u8], text: &str| {
        sandbox.write("d.jsonl", content);
        let outcome = sandbox.run(["check", "lamps.toml", "d.jsonl"]).exits(1).says([text]);
        assert_eq!(outcome.stdout, "", "{text}");
    };
    check(b"", "d.jsonl is empty; expected one JSON object per line");
    check(b"\n\r\n \n", "d.jsonl is empty");
    check(b"[{\"utterance\": \"a\"}]", "d.jsonl:1: this is a JSON array");
    sandbox.run(["check", "lamps.toml", "missing.jsonl"]).exits(2).says(["cannot open missing.jsonl"]);
    sandbox.run(["check", "lamps.toml", "."]).exits(2).says(["cannot open .: it is a directory"]);
}

#[test]
fn a_line_that_is_no_example_is_a_failure_and_the_others_are_still_checked() {
    let sandbox = Sandbox::with_lamps();
    let good = example("a", "do(on(lamp('desk')))");
    let check = |line: &[u8], text: &str| {
        sandbox.write("d.jsonl", [good.as_bytes(), line, b"\n", good.as_bytes()].concat());
        let outcome = sandbox.run(["check", "lamps.toml", "d.jsonl"]).exits(1);
        outcome.prints(["bad line", "well-typed       2", &format!("\nd.jsonl:2: bad line: {text}")]);
    };
    check(b"oops", "column 1: not valid JSON: expected value\n");
    check(b"{\"utterance\": \"a\",", "column 18: not valid JSON");
    check(b"{\"utterance\": \"\xff\"}", "column 16: not UTF-8");
    check(b"{\"utterance\": 3}", "the field `utterance` must be a string");
    check(b"{\"utterance\": \"a\", \"program\": [1]}", "the field `program`");
    check(b"{\"program\": \"x\"}", "the example has no utterance");
    check(b"7", "expected a JSON object, found a number");
    check("[".repeat(1 << 20).as_bytes(), "column");
    let report = sandbox.run(["check", "lamps.toml", "d.jsonl", "--json"]).exits(1).json();
    assert_eq!((&report["examples"], &report["problems"]), (&json!(2), &json!({"bad line": 1})));
}

#[test]
fn a_megabyte_on_one_line_is_checked_and_reported_in_short() {
    let sandbox = Sandbox::with_lamps();
    let long = "x".repeat(1 << 20);
    sandbox.write("d.jsonl", example(&long, "do(on(lamp('desk')))") + &example("b", &format!("do({long})")));
    let outcome = sandbox.run(["check", "lamps.toml", "d.jsonl"]).exits(1);
    assert!(outcome.stdout.len() < 4000, "{} bytes", outcome.stdout.len());
    outcome.prints(["d.jsonl:2: unknown constant"]);
}

#[cfg(feature = "geo")]
#[test]
fn programs_nested_ten_thousand_deep_are_typed() {
    let sandbox = Sandbox::new();
    let nested = |open: &str, leaf: &str, close: &str| {
        format!("answer({}{leaf}{})", open.repeat(10_000), close.repeat(10_000))
    };
    let good = nested("state(next_to_2(", "stateid('texas')", "))");
    let bad = nested("count(", "state(all)", ")");
    sandbox.write("d.jsonl", example("a", &good) + &example("b", &bad));
    let report = sandbox.run(["check", "geo", "d.jsonl", "--json"]).exits(1).json();
    assert_eq!((&report["typed"], &report["problems"]), (&json!(1), &json!({"types do not fit": 1})));
}

#[test]
fn byte_order_marks_and_windows_line_ends_in_data_are_fine() {
    let sandbox = Sandbox::with_lamps();
    let lines = (example("a", "do(on(lamp('desk')))").repeat(2)).replace('\n', "\r\n\r\n");
    sandbox.write("d.jsonl", format!("\u{feff}{lines}"));
    assert_eq!(sandbox.run(["check", "lamps.toml", "d.jsonl", "--json"]).exits(0).json()["typed"], 2);
}

// ---- --execute ----------------------------------------------------------------------------------------------

#[test]
fn answers_are_compared_when_asked_for() {
    let sandbox = Sandbox::new();
    let line = |answer: &str| {
        json!({"utterance": "jump", "program": "i_jump()", "answer": answer}).to_string() + "\n"
    };
    sandbox.write("same.jsonl", line("I_JUMP"));
    sandbox.write("other.jsonl", line("I_JUMP") + &line("I_RUN"));
    let outcome = sandbox.run(["check", "scan", "same.jsonl", "--execute", "--json"]).exits(0);
    assert_eq!(outcome.json()["answers"], json!({"equal": 1, "different": 0, "failed": 0}));
    let outcome = sandbox.run(["check", "scan", "other.jsonl", "--execute", "--json"]).exits(1);
    assert_eq!(outcome.json()["answers"], json!({"equal": 1, "different": 1, "failed": 0}));
    sandbox
        .run(["check", "scan", "other.jsonl", "--execute"])
        .exits(1)
        .prints(["other.jsonl:2: other answer: expected `I_RUN`, found `I_JUMP`"]);
    // Nobody asked: answers are not looked at.
    sandbox.run(["check", "scan", "other.jsonl"]).exits(0);
}

#[test]
fn programs_that_cannot_be_evaluated_are_failures() {
    let sandbox = Sandbox::new();
    let context = "cube rubber large red 0 0";
    let line = |context: Option<&str>| {
        json!({"question": "how many?", "program": "count(scene())", "answer": 1, "scene": context})
            .to_string()
            + "\n"
    };
    sandbox.write("d.jsonl", line(Some(context)) + &line(None));
    let outcome = sandbox.run(["check", "clevr", "d.jsonl", "--execute", "--json"]).exits(1);
    assert_eq!(outcome.json()["answers"], json!({"equal": 1, "different": 0, "failed": 1}));
    assert_eq!(outcome.json()["failures"][0]["kind"], "not evaluated");
}

#[test]
fn an_external_executor_answers_for_check_too() {
    if no_python() {
        return;
    }
    let sandbox = Sandbox::new();
    let script = "import json, sys\nfor line in sys.stdin:\n    request = json.loads(line)\n    \
        print(json.dumps({'id': request['id'], 'denotation': [7]}), flush=True)\n";
    sandbox.write("sub/run.py", script);
    sandbox.write("sub/d.toml", format!("{TINY}[executor]\ncommand = [\"python3\", \"run.py\"]\n"));
    sandbox.write("d.jsonl", json!({"utterance": "a", "program": "f(x)", "answer": [7]}).to_string());
    let outcome = sandbox.run(["check", "sub/d.toml", "d.jsonl", "--execute", "--json"]).exits(0);
    assert_eq!(outcome.json()["answers"]["equal"], 1);
}

#[test]
fn answers_cannot_be_compared_without_an_executor() {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", TINY);
    sandbox.write("d.jsonl", json!({"utterance": "a", "program": "x", "answer": "wrong"}).to_string());
    sandbox.run(["check", "d.toml", "d.jsonl", "--execute"]).exits(2).says(["has no [executor]"]);
}
