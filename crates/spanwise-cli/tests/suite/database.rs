//! A domain whose programs run in a database: checked, shown as SQL, evaluated, trained, allowed, updated.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Sandbox, TOY};
use rusqlite::Connection;
use serde_json::{Value, json};

const SQL: &[(&str, &str)] = &[
    ("on = \"Lamp -> Task\"", "on = { type = \"Lamp -> Task\", sql = \"select key from ({1}) as lit\" }"),
    ("off = \"Lamp -> Task\"", "off = { type = \"Lamp -> Task\", sql = \"select key from ({1}) as dark\" }"),
    (
        "blink = [\"Lamp, Times -> Task\", \"Lamp -> Task\"]",
        "blink = { type = [\"Lamp, Times -> Task\", \"Lamp -> Task\"], sql = [\"select key from ({1}) as l where 1 < any_of({2})\", \"select key from ({1}) as l\"] }",
    ),
    ("twice = \"Times\"", "twice = { type = \"Times\", sql = \"select 2\" }"),
    ("thrice = \"Times\"", "thrice = { type = \"Times\", sql = \"select 3\" }"),
    (
        "both = \"Task, Task -> Task\"",
        "both = { type = \"Task, Task -> Task\", sql = \"select key from ({1}) as a union select key from ({2}) as b\" }",
    ),
    (
        "table = \"lamps.tsv\"",
        "table = \"sql: select name, aliases from lamp\"\nsql = \"select id from lamp where name = {name}\"",
    ),
];

/// The lamps with a database; `any_of` stands where an operator belongs unless it is replaced.
fn domain(operator: &str) -> String {
    let mut text = TOY[0].1.to_owned();
    for (from, to) in SQL {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let end = "\n[executor]\nsql = { database = \"sqlite:lamps.db\", timeout = \"2 s\" }\n\
               [show]\nTask = \"select id as key, name, watts from lamp\"\n";
    text.replace("any_of({2})", operator) + end
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for (file, text) in TOY {
        sandbox.write(file, *text);
    }
    sandbox.write("lamps.toml", domain("(select max(key) from ({2}) as times)"));
    let connection = Connection::open(sandbox.path("lamps.db")).unwrap();
    connection
        .execute_batch("create table lamp(id integer primary key, name text, aliases text, watts integer)")
        .unwrap();
    for (at, line) in TOY[1].1.lines().skip(1).enumerate() {
        let (name, aliases) = line.split_once('\t').unwrap();
        let row = rusqlite::params![name, aliases, at as i64 + 40];
        connection.execute("insert into lamp(name, aliases, watts) values (?1, ?2, ?3)", row).unwrap();
    }
    sandbox
}

const PROGRAM: &str = "do(blink(lamp('hall'), twice))";

#[test]
fn programs_are_evaluated_and_shown_as_sql() {
    let sandbox = sandbox();
    let shown = sandbox.run(["exec", "lamps.toml", "--explain", PROGRAM]).exits(0);
    shown.prints(["with n1(key) as (", "select id from lamp where name = ?1", "-- ?1 = 'hall'"]);
    let reply = sandbox.run(["exec", "lamps.toml", "--json", PROGRAM]).exits(0).json();
    assert_eq!(reply["answer"], json!({ "columns": ["name", "watts"], "rows": [["hall", 40]] }));
    let lines =
        sandbox.feed(["exec", "lamps.toml", "--explain"], json!({ "program": PROGRAM }).to_string()).exits(0);
    assert!(lines.json()["sql"].as_str().unwrap().contains("select id from lamp"));
    sandbox.run(["exec", "lamps.toml", "--explain", "do(on(twice))"]).exits(1);
    sandbox.run(["exec", "scan", "--explain", "i_walk(i_left)"]).exits(2).says(["do not run in a database"]);
}

#[test]
fn check_lets_the_database_prepare_every_fragment() {
    let sandbox = sandbox();
    sandbox.run(["check", "lamps.toml"]).exits(0).prints(["sql: the database accepts all 9 fragments"]);
    sandbox.write("wrong.toml", domain("(select max(keys) from ({2}) as times)"));
    let wrong = sandbox.run(["check", "wrong.toml"]).exits(1);
    wrong.says(["--> wrong.toml:", "of `blink`: no such column: keys", "^^^^"]);
    sandbox.write(
        "names.toml",
        domain("2")
            .replace("{1}) as l where 1 < 2", "{1}) as l{?2:}")
            .replace("sql: select name, aliases from lamp", "lamps.tsv"),
    );
    std::fs::remove_file(sandbox.path("lamps.db")).unwrap();
    let not = sandbox.run(["check", "names.toml"]).exits(0);
    not.prints(["sql: not checked against the database: sqlite:lamps.db: "]);
    sandbox.run(["check", "lamps.toml"]).exits(1).says(["cannot read a table from sqlite:lamps.db"]);
}

#[test]
fn a_model_reads_its_database_with_consent_and_without_it_still_parses() {
    let sandbox = sandbox();
    sandbox.run(["train", "run.toml", "--out", "model", "--set", "training.epochs=8"]).exits(0);
    let ask = ["parse", "model", "--json", "--always-answer", "turn on the hall lamp"];
    let expected = json!({ "columns": ["name", "watts"], "rows": [["hall", 40]] });
    assert_eq!(sandbox.run(ask).exits(0).json()["answer"], expected);
    let place = sandbox.path("lamps.db").display().to_string();
    let shown = sandbox.run(["allow", "model"]).exits(0);
    shown.prints(["the model would read the database", &place, "it is allowed already"]);
    sandbox.run(["allow", "model", "--forget"]).exits(0);
    let refused = sandbox.run(ask).exits(0).json();
    let error = refused["error"].as_str().unwrap();
    assert!(error.contains(&format!("it would read the database sqlite:{place}")), "{error}");
    sandbox.run(["update", "model"]).exits(1).says(["not allowed: this would read the database"]);
    let allowed = sandbox.call(ask).arg("--allow-executor").run().exits(0).json();
    assert_eq!(allowed["answer"], expected);

    // New rows are read again from the database.
    let connection = Connection::open(sandbox.path("lamps.db")).unwrap();
    connection.execute("insert into lamp(name, watts) values ('veranda', 7)", []).unwrap();
    let report = sandbox.run(["update", "model", "--allow-executor", "--json"]).exits(0).json();
    assert_eq!((&report["written"], &report["tables"][0]["added"]), (&json!(true), &json!(["veranda"])));
    sandbox.run(["allow", "model", "--yes"]).exits(0);
    let ask = ["parse", "model", "--json", "--always-answer", "turn on the veranda lamp"];
    let reply = sandbox.run(ask).exits(0).json();
    assert_eq!(reply["answer"]["rows"], json!([["veranda", 7]]));

    // Without its database it loads and parses, and says what is missing.
    drop(connection);
    std::fs::remove_file(sandbox.path("lamps.db")).unwrap();
    let reply = sandbox.run(ask).exits(0).json();
    assert_eq!((&reply["program"], &reply["answer"]), (&json!("do(on(lamp('veranda')))"), &Value::Null));
    assert!(reply["error"].as_str().unwrap().contains("database sqlite:lamps.db: "), "{reply}");
}
