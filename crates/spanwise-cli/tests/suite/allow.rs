//! Executors inside models: nothing of a stranger runs without consent, and consent is for exactly what was shown.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Sandbox, TOY};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::OnceLock;

/// Two models of lamps that differ in their executor, which answers with its name and leaves a file where `$MARK` says.
/// They were trained once, by a user whose consents are in a directory of its own.
pub(crate) fn models() -> &'static [String; 2] {
    static MODELS: OnceLock<[String; 2]> = OnceLock::new();
    MODELS.get_or_init(|| {
        ["first", "second"].map(|name| {
            let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("executor-{name}"));
            let _ = std::fs::remove_dir_all(&out);
            let sandbox = with_executor(name);
            let out = out.to_str().unwrap();
            sandbox.run(["train", "run.toml", "--out", out, "--set", "training.epochs=1"]).exits(0);
            // To the one who trained it, it answers without a question.
            let reply = sandbox.run(["parse", out, "--json", TEXT]).exits(0).json();
            assert_eq!(reply["denotation"], name, "{reply}");
            out.to_owned()
        })
    })
}

pub(crate) const TEXT: &str = "turn on the hall lamp";

/// The files of a run on lamps, with an executor that answers `name`.
fn with_executor(name: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    for (file, text) in TOY {
        let executor = "\n[executor]\ncommand = [\"sh\", \"run.sh\"]\n";
        sandbox.write(
            file,
            if *file == "lamps.toml" { format!("{text}{executor}") } else { (*text).to_owned() },
        );
    }
    let script = format!(
        "while read -r line; do [ -z \"$MARK\" ] || : > \"$MARK\"; echo '{{\"denotation\": \"{name}\"}}'; done"
    );
    sandbox.write("run.sh", script);
    sandbox
}

/// What `parse` replies in this sandbox.
fn parse(sandbox: &Sandbox, model: &str, more: &[&str]) -> Value {
    let call = sandbox.call(["parse", model, "--json", TEXT]).env("MARK", sandbox.path("ran"));
    more.iter().fold(call, |call, arg| call.arg(arg)).run().exits(0).json()
}

#[track_caller]
fn is_refused(reply: &Value) {
    assert!(reply["program"].is_string() && reply["answer"].is_null(), "{reply}");
    let error = reply["error"].as_str().unwrap();
    assert!(error.contains("it would run `sh run.sh` with the file run.sh ("), "{error}");
    assert!(error.contains("SHA-256") && error.contains("allow it with --allow-executor"), "{error}");
}

#[test]
fn a_model_from_a_stranger_parses_and_runs_nothing_until_it_is_allowed() {
    let sandbox = Sandbox::new();
    let [model, other] = models();
    is_refused(&parse(&sandbox, model, &[]));
    assert!(!sandbox.path("ran").exists());
    sandbox.run(["explain", model, TEXT]).exits(0).prints(["is not allowed: it would run `sh run.sh`"]);

    assert_eq!(parse(&sandbox, model, &["--allow-executor"])["denotation"], "first");
    assert!(sandbox.path("ran").exists());
    // Once is once.
    is_refused(&parse(&sandbox, model, &[]));

    let shown = sandbox.run(["allow", model]).exits(2).says(["--yes is needed where nobody can be asked"]);
    shown.prints(["the model would run\n  sh run.sh\n", "  run.sh  ("]);
    is_refused(&parse(&sandbox, model, &[]));
    sandbox.run(["allow", model, "--yes"]).exits(0).prints(["allowed; noted in", "allowed-executors.json"]);
    assert_eq!(parse(&sandbox, model, &[])["denotation"], "first");
    // The same command with another file is another executor.
    is_refused(&parse(&sandbox, other, &[]));
    sandbox.run(["allow", model, "--forget"]).exits(0);
    is_refused(&parse(&sandbox, model, &[]));
}

#[test]
fn what_lies_beside_an_allowed_executor_is_not_run() {
    let sandbox = Sandbox::new();
    for entry in std::fs::read_dir(&models()[0]).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        sandbox.write(&format!("model/{name}"), std::fs::read(entry.path()).unwrap());
    }
    // Under the name in the command, but not the file that the model has for it.
    sandbox.write("model/run.sh", "echo evil");
    assert_eq!(parse(&sandbox, "model", &["--allow-executor"])["denotation"], "first");
}

#[test]
fn measuring_without_consent_says_why_there_are_no_answers() {
    let sandbox = Sandbox::with_toy();
    let [model, _] = models();
    let call = |more: &'static str| sandbox.call(["eval", model, "dev.jsonl", "--json"]).arg(more);
    let outcome = call("--limit=3").run().exits(0).says(["note: the model's executor is not allowed"]);
    assert!(outcome.json()["denotation"].is_null());
    assert!(!call("--allow-executor").run().exits(0).json()["denotation"].is_null());
}

#[test]
fn a_list_of_consents_that_is_damaged_allows_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write(".state/allowed-executors.json", "{");
    let reply = parse(&sandbox, &models()[0], &[]);
    is_refused(&reply);
    assert!(reply["error"].as_str().unwrap().contains("remove the file"), "{reply}");
    sandbox.run(["allow", &models()[0], "--yes"]).exits(1).says(["allowed-executors.json"]);
}

#[test]
fn a_model_with_a_built_in_executor_asks_for_nothing() {
    let sandbox = Sandbox::new();
    let model = crate::common::scan();
    sandbox.run(["allow", model]).exits(0).prints(["there is nothing to allow"]);
    let reply = sandbox.run(["parse", model, "--json", "walk left"]).exits(0).json();
    assert_eq!(reply["denotation"], "I_TURN_LEFT I_WALK");
}

#[test]
fn a_link_to_a_file_elsewhere_is_refused_before_training() {
    let sandbox = with_executor("x");
    std::fs::remove_file(sandbox.path("run.sh")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", sandbox.path("run.sh")).unwrap();
    let outcome = sandbox.run(["train", "run.toml", "--out", "model"]).exits(1);
    outcome.says(["`run.sh`, which is a link out of the directory of the domain file"]);
    assert!(!sandbox.path("model").exists());
}

#[test]
fn programs_are_evaluated_only_where_their_answers_are_shown() {
    let sandbox = Sandbox::new();
    let model = crate::common::scan();
    let reply = sandbox.run(["parse", model, "--json", "--k", "2", "walk left"]).exits(0).json();
    assert_eq!(reply["denotation"], "I_TURN_LEFT I_WALK");
    assert!(reply["alternatives"].as_array().unwrap().iter().all(|other| other["denotation"].is_string()));
    let reply = sandbox.run(["parse", model, "--json", "--k", "2", "--no-execute", "walk left"]);
    let reply = reply.exits(0).json();
    assert!(reply["program"].is_string() && reply["denotation"].is_null(), "{reply}");
    assert_eq!(reply.get("error"), None);
    assert!(reply["alternatives"].as_array().unwrap().iter().all(|other| other["answer"] == json!(null)));
}
