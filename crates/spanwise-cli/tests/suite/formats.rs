//! `--format` of `exec` and `parse`: human-readable tables, CSV, JSON, plain texts.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

use crate::common::{Sandbox, TINY, scan};
use serde_json::json;

/// A domain whose executor answers every program with what is in `reply.json`.
fn answering(reply: &serde_json::Value) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("tiny.toml", format!("{TINY}[executor]\ncommand = [\"sh\", \"run.sh\"]\n"));
    sandbox.write("reply.json", reply.to_string());
    sandbox.write("run.sh", "while read -r line; do cat reply.json; echo; done\n");
    sandbox
}

fn orders() -> serde_json::Value {
    let rows: Vec<_> = (0..60).map(|at| json!([format!("order {at}"), 1000 * at, at % 2 == 0])).collect();
    let table = json!({ "columns": ["name", "total", "paid"], "rows": rows });
    json!({ "denotation": table, "units": ["", "USD"], "total_rows": 1240, "truncated": true })
}

#[test]
fn tables_are_readable_and_other_formats_have_all_rows_and_bare_numbers() {
    let sandbox = answering(&orders());
    let text = sandbox.run(["exec", "tiny.toml", "x"]).exits(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "name           total  paid");
    assert_eq!(lines[2], "order 0        0 USD  yes");
    assert_eq!(lines[51], "order 49  49,000 USD  no");
    assert_eq!((lines.len(), lines[52]), (53, "50 of 1,240 rows"));
    let all = sandbox.run(["exec", "tiny.toml", "x", "--rows", "0"]).exits(0).stdout;
    assert!(all.ends_with("order 59  59,000 USD  no\n60 of 1,240 rows\n"), "{all}");
    let csv = sandbox.run(["exec", "tiny.toml", "x", "--format", "csv"]).exits(0).stdout;
    assert!(csv.starts_with("name,total,paid\r\norder 0,0,true\r\n"), "{csv}");
    assert_eq!(csv.matches("\r\n").count(), 61);
    for call in [["--format", "json"].as_slice(), &["--json"]] {
        let run = call.iter().fold(sandbox.call(["exec", "tiny.toml", "x"]), |run, arg| run.arg(arg));
        let reply = run.run().exits(0).json();
        assert_eq!(reply["answer"]["rows"][59], json!(["order 59", 59000, false]));
        let info = json!({ "truncated": true, "total_rows": 1240, "units": ["", "USD"] });
        assert_eq!(reply["answer_info"], info);
    }
    let plain = sandbox.run(["exec", "tiny.toml", "x", "--format", "plain"]).exits(0).stdout;
    assert!(
        plain.starts_with("{\"columns\":[\"name\",\"total\",\"paid\"],\"rows\":[[\"order 0\",0,true]"),
        "{plain}"
    );
}

#[test]
fn the_width_of_the_screen_is_respected_and_other_output_is_never_cut() {
    let table = json!({ "columns": ["name", "n"], "rows": [["x".repeat(300), 1234567]] });
    let sandbox = answering(&json!({ "denotation": table }));
    let cut = sandbox.call(["exec", "tiny.toml", "x"]).env("COLUMNS", "40").run().exits(0).stdout;
    assert!(cut.lines().all(|line| line.chars().count() <= 40) && cut.contains("x…  1,234,567\n"), "{cut}");
    let whole = sandbox.run(["exec", "tiny.toml", "x"]).exits(0).stdout;
    assert!(whole.contains(&"x".repeat(300)), "{whole}");
}

#[test]
fn lists_and_single_values_stay_as_they_are_and_numbers_have_their_units() {
    let shown = |reply: serde_json::Value| answering(&reply).run(["exec", "tiny.toml", "x"]).exits(0).stdout;
    assert_eq!(shown(json!({ "denotation": ["hall", "kitchen"] })), "[\"hall\",\"kitchen\"]\n");
    assert_eq!(shown(json!({ "denotation": 12500 })), "12500\n");
    assert_eq!(shown(json!({ "denotation": 12500, "units": ["km"] })), "12,500 km\n");
    assert_eq!(shown(json!({ "denotation": 1, "units": "km", "truncated": 7 })), "1\n");
    let reply =
        answering(&json!({ "denotation": 1 })).run(["exec", "tiny.toml", "x", "--json"]).exits(0).json();
    assert_eq!(reply, json!({ "program": "x", "denotation": "1", "answer": 1 }));
}

#[test]
fn formulas_do_not_reach_a_spreadsheet_and_control_characters_do_not_reach_a_terminal() {
    let table = json!({ "columns": ["a"], "rows": [["=cmd|' /C calc'!A0"], ["\u{1b}[2J"]] });
    let sandbox = answering(&json!({ "denotation": table }));
    let csv = sandbox.run(["exec", "tiny.toml", "x", "--format", "csv"]).exits(0).stdout;
    assert!(csv.contains("\r\n'=cmd"), "{csv}");
    let text = sandbox.run(["exec", "tiny.toml", "x"]).exits(0).stdout;
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn formats_that_hold_one_answer_say_so() {
    let sandbox = answering(&orders());
    sandbox.run(["exec", "tiny.toml", "x", "x", "--format", "csv"]).exits(2).says(["holds one table"]);
    sandbox.feed(["exec", "tiny.toml", "--format", "csv"], "").exits(2).says(["lines from standard input"]);
    sandbox.run(["exec", "tiny.toml", "x", "--format", "csv", "--json"]).exits(2);
}

#[test]
fn parse_prints_the_answer_alone_or_says_why_there_is_none() {
    let sandbox = Sandbox::new();
    let call = |format: &'static str, text: &'static str| {
        sandbox.run(["parse", scan(), text, "--always-answer", "--format", format]).exits(0).stdout
    };
    assert_eq!(call("plain", "walk left"), "I_TURN_LEFT I_WALK\n");
    assert_eq!(call("csv", "walk left"), "value\r\nI_TURN_LEFT\r\nI_WALK\r\n");
    let withheld =
        sandbox.run(["parse", scan(), "walk left", "--abstain-below", "1", "--format", "csv"]).exits(1);
    assert!(withheld.stdout.is_empty() && withheld.stderr.contains("no answer: "), "{}", withheld.stderr);
}
