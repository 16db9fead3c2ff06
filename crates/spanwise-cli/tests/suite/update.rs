//! `spanwise update`: other tables for a trained model of lamps.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Sandbox, lamps};
use serde_json::{Value, json};
use std::path::Path;

/// A copy of a model, in `model`.
pub(crate) fn copied(sandbox: &Sandbox, model: &str) {
    for entry in std::fs::read_dir(model).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_file() {
            sandbox.write(&format!("model/{name}"), std::fs::read(entry.path()).unwrap());
        }
    }
}

/// The table of the toy domain, with a lamp more and without one.
pub(crate) fn new_table() -> String {
    let table = include_str!("../../../spanwise-train/tests/toy/lamps.tsv");
    let (head, rows) = table.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().filter(|row| !row.starts_with("hall")).collect();
    let n_columns = head.split('\t').count();
    format!("{head}\n{}\nveranda{}\n", rows.join("\n"), "\t".repeat(n_columns - 1))
}

fn program(sandbox: &Sandbox, text: &str) -> Value {
    sandbox.run(["parse", "model", "--json", "--always-answer", text]).exits(0).json()["program"].clone()
}

#[test]
fn new_rows_are_understood_at_once_and_gone_ones_are_not() {
    let sandbox = Sandbox::new();
    copied(&sandbox, lamps());
    sandbox.write("new/lamps.tsv", new_table());
    let before = sandbox.bytes("model/model.json");
    assert_eq!(program(&sandbox, "turn on the hall lamp"), "do(on(lamp('hall')))");

    let dry = sandbox.run(["update", "model", "--tables", "new", "--dry-run"]).exits(0);
    dry.prints(["lamps.tsv: ", "added        1  veranda\n", "dropped      1  hall\n", "--dry-run"]);
    assert_eq!(sandbox.bytes("model/model.json"), before);

    let report = sandbox.run(["update", "model", "--tables", "new", "--json"]).exits(0).json();
    assert_eq!((&report["written"], &report["consent"]), (&json!(true), &json!("none")));
    let table = &report["tables"][0];
    assert_eq!((&table["table"], &table["status"]), (&json!("lamps.tsv"), &json!("replaced")));
    assert_eq!((&table["added"], &table["dropped"]), (&json!(["veranda"]), &json!(["hall"])));
    assert_eq!(program(&sandbox, "turn on the veranda lamp"), "do(on(lamp('veranda')))");
    assert_ne!(program(&sandbox, "turn on the hall lamp"), "do(on(lamp('hall')))");

    // Again: nothing changes, so a server has nothing to load.
    let before = sandbox.bytes("model/model.json");
    let same = sandbox.run(["update", "model", "--tables", "new"]).exits(0);
    same.prints(["lamps.tsv: the same", "nothing changes; model stays as it is"]);
    assert_eq!(sandbox.bytes("model/model.json"), before);
}

#[test]
fn tables_that_change_the_language_are_refused_and_the_model_stays() {
    let sandbox = Sandbox::new();
    copied(&sandbox, lamps());
    let before = sandbox.bytes("model/model.json");
    for (table, reason) in [
        ("name\taliases\n", "has no members"),
        ("title\naliases\n", "there is no column `name`"),
        ("name\tname\nx\ty\n", "column"),
    ] {
        sandbox.write("new/lamps.tsv", table);
        let refused = sandbox.run(["update", "model", "--tables", "new"]).exits(1);
        refused.says([reason]);
        assert_eq!(sandbox.bytes("model/model.json"), before, "{table}");
    }
}

#[test]
fn calls_that_cannot_work_are_refused() {
    let sandbox = Sandbox::new();
    copied(&sandbox, lamps());
    sandbox.write("empty/other.tsv", "name\nx\n");
    let none = sandbox.run(["update", "model", "--tables", "empty"]).exits(2);
    none.says(["empty has no table of this model; expected lamps.tsv"]);
    sandbox.run(["update", "model", "--tables", "nowhere"]).exits(2).says(["nowhere is not a directory"]);
    sandbox
        .run(["update", "nowhere", "--tables", "empty"])
        .exits(2)
        .says(["nowhere is not a model directory"]);
    let scan = crate::common::scan();
    let none = sandbox.run(["update", scan, "--tables", "empty"]).exits(2);
    none.says(["the domain scan has no tables that could be replaced"]);
    sandbox.run(["update", "--help"]).exits(0).prints(["Examples:", "--dry-run", "spanwise allow"]);
}

#[test]
#[cfg(unix)]
fn consent_goes_on_for_who_had_given_it_and_for_nobody_else() {
    let sandbox = Sandbox::new();
    let model = &crate::allow::models()[0];
    copied(&sandbox, model);
    sandbox.write("new/lamps.tsv", new_table());
    let text = "turn on the veranda lamp";
    let stranger = sandbox.run(["update", "model", "--tables", "new", "--dry-run"]).exits(0);
    stranger.prints(["is not allowed to run with the new tables; `spanwise allow MODEL`"]);
    sandbox.run(["allow", "model", "--yes"]).exits(0);
    let kept = sandbox.run(["update", "model", "--tables", "new"]).exits(0);
    kept.prints(["you had allowed its executor to run"]);
    let reply = sandbox.run(["parse", "model", "--json", "--always-answer", text]).exits(0).json();
    assert_eq!(reply["denotation"], "first", "{reply}");
    // Someone else, with other consents, has to allow it.
    let other = sandbox.call(["parse", "model", "--json", "--always-answer", text]);
    let reply = other.env("SPANWISE_STATE", sandbox.path("other")).run().exits(0).json();
    assert!(reply["error"].as_str().unwrap().contains("is not allowed"), "{reply}");
    assert!(Path::new(model).join("model.json").exists());
}

#[test]
#[cfg(unix)]
fn an_update_of_the_tables_is_served_without_a_restart() {
    let sandbox = Sandbox::new();
    copied(&sandbox, lamps());
    sandbox.write("new/lamps.tsv", new_table());
    let model = sandbox.path("model");
    let server = crate::serve::Server::start([model.to_str().unwrap()]);
    let body = json!({ "utterance": "turn on the veranda lamp", "always_answer": true });
    assert_ne!(server.post("/v1/parse", &body)["program"], "do(on(lamp('veranda')))");
    sandbox.run(["update", "model", "--tables", "new"]).exits(0);
    server.until(|server| server.post("/v1/parse", &body)["program"] == "do(on(lamp('veranda')))");
    let (_, text) = server.get("/v1/model");
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&found["generation"], &found["load_error"]), (&json!(2), &Value::Null));
    server.end();
}
