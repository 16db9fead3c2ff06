//! `spanwise data annotate`: gold trees out, and what can be done with them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Sandbox, example};
use serde_json::{Value, json};

/// Three examples of lamps: one plain, one with a word that no lexicon has, one with two readings.
fn lamps() -> String {
    example("please turn on the hall lamp", "do(on(lamp('hall')))")
        + &example("kill the desk lamp", "do(off(lamp('desk')))")
        + &example("light the light hall", "do(on(lamp('hall')))")
}

fn spans(row: &Value) -> Vec<(u64, u64, String)> {
    let one = |span: &Value| {
        let at = |n: usize| span["words"][n].as_u64().unwrap();
        (at(0), at(1), span["type"].as_str().unwrap().to_owned())
    };
    row["gold_spans"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn trees_are_written_and_what_is_left_out_is_counted() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", lamps());
    let outcome = sandbox.run(["data", "annotate", "lamps.toml", "d.jsonl", "--out", "t.jsonl"]).exits(0);
    let outcome = outcome.prints([
        "annotated",
        "33.3 %",
        "constant not in the words",
        "no words can be aligned to `off`",
    ]);
    outcome.prints(["more than one reading", "light the light hall"]).says(["1 examples to t.jsonl"]);
    let rows = sandbox.json_lines("t.jsonl");
    assert_eq!((rows.len(), &rows[0]["program"]), (1, &json!("do(on(lamp('hall')))")));
    let expected =
        [(0, 6, "span"), (1, 6, "span"), (1, 3, "on"), (1, 4, "span"), (4, 5, "lamp#'hall'"), (4, 6, "span")];
    let mut expected = expected.map(|(start, end, name)| (start, end, name.to_owned())).to_vec();
    expected.sort_by_key(|&(start, end, _)| (start, std::cmp::Reverse(end)));
    assert_eq!(spans(&rows[0]), expected);
}

#[test]
fn phrases_of_a_file_reach_more_examples_and_the_report_is_json_on_demand() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", lamps());
    sandbox.write("p.toml", "[phrases]\noff = [\"turn off\", \"kill\"]\n");
    let call = ["data", "annotate", "lamps.toml", "d.jsonl", "--phrases", "p.toml", "--json"];
    let report = sandbox.run(call).exits(0).json();
    assert_eq!(
        (&report["n"], &report["n_annotated"], &report["agreement"]),
        (&json!(3), &json!(2), &Value::Null)
    );
    assert_eq!(report["left_out"], json!({"more than one reading": 1}));
}

#[test]
fn annotations_agree_with_themselves() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", lamps());
    sandbox.run(["data", "annotate", "lamps.toml", "d.jsonl", "--out", "t.jsonl"]).exits(0);
    let call = ["data", "annotate", "lamps.toml", "d.jsonl", "--compare", "t.jsonl", "--json"];
    let agreement = &sandbox.run(call).exits(0).json()["agreement"];
    let expected = json!({
        "n_compared": 1, "n_unreadable": 0, "span_f1": 100.0, "constant_f1": 100.0, "identical": 100.0,
    });
    assert_eq!(agreement, &expected);
}

#[test]
fn what_is_wrong_is_named() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", lamps());
    sandbox.write("p.toml", "[phrases]\nofff = \"kill\"\n");
    let call = ["data", "annotate", "lamps.toml", "d.jsonl", "--phrases"];
    sandbox.call(call).arg("p.toml").run().exits(1).says([
        "unknown constant `offf`",
        "p.toml:2:1",
        "did you mean `off`?",
    ]);
    sandbox.call(call).arg("none.toml").run().exits(2).says(["cannot read none.toml"]);
    sandbox.run(["data", "annotate", "lamps.toml", "no.jsonl"]).exits(2).says(["no.jsonl"]);
    sandbox.run(["data", "annotate", "lamps.toml", "d.jsonl", "--pieces", "x"]).exits(2).says(["--compare"]);
    sandbox.write("none.jsonl", example("nothing", "do(off(lamp('desk')))"));
    let outcome = sandbox.run(["data", "annotate", "lamps.toml", "none.jsonl", "--out", "o.jsonl"]).exits(1);
    outcome.says(["no example could be annotated, so o.jsonl is not written", "--phrases"]);
    assert!(!sandbox.path("o.jsonl").exists());
}

#[test]
fn a_run_can_learn_from_the_annotated_trees() {
    let sandbox = Sandbox::with_toy();
    let phrases = "[phrases]\nblink = \"blink\"\ntwice = \"twice\"\nboth = \"and\"\n";
    sandbox.write("p.toml", phrases);
    let call = ["data", "annotate", "lamps.toml", "train.jsonl", "--phrases", "p.toml", "--out", "t.jsonl"];
    sandbox.run(call).exits(0);
    let sets = ["data.trees=t.jsonl", "training.objective=gold-trees", "training.epochs=2"];
    let mut call = sandbox.call(["train", "run.toml", "--out", "run"]);
    for set in sets {
        call = call.arg("--set").arg(set);
    }
    call.run().exits(0);
    assert!(sandbox.path("run/model.json").exists());
}
