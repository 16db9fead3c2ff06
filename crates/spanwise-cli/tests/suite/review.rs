//! Learning from use: `serve --log`, judgements, `data review`, and training again.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

use crate::common::{Sandbox, lamps};
use crate::serve::Server;
use serde_json::{Value, json};

/// Serves the lamps with a log in the sandbox.
fn serve(sandbox: &Sandbox) -> Server {
    let call = sandbox.call(["serve", "--addr", "127.0.0.1:0", "--log-json", "--log", "log.jsonl"]);
    Server::ready(call.arg(lamps()).spawn())
}

fn ask(server: &Server, utterance: &str) -> Value {
    server.post("/v1/parse", &json!({ "utterance": utterance, "always_answer": true, "k": 3 }))
}

fn judge(server: &Server, reply: &Value, verdict: &str, program: Option<&str>) {
    server.post("/v1/feedback", &json!({ "id": reply["id"], "verdict": verdict, "program": program }));
}

/// A log with three judgements of different kinds and a question that nobody judged.
fn used(sandbox: &Sandbox) -> Value {
    let server = serve(sandbox);
    let right = ask(&server, "turn on the hall lamp");
    judge(&server, &right, "right", None);
    let wrong = ask(&server, "lights out in the hall");
    let other = wrong["alternatives"][0]["program"].as_str().expect("there is another program").to_owned();
    judge(&server, &wrong, "wrong", None);
    judge(&server, &wrong, "wrong", Some(&other));
    let never = ask(&server, "boil an egg");
    judge(&server, &never, "unanswerable", None);
    ask(&server, "switch the desk lamp");
    ask(&server, "Switch the desk lamp?");
    server.end();
    json!([right["program"], other])
}

#[test]
fn what_was_judged_becomes_examples_that_train_takes_as_they_are() {
    let sandbox = Sandbox::with_toy();
    let programs = used(&sandbox);
    let call = ["data", "review", "log.jsonl", lamps(), "--out", "reviewed.jsonl", "--json"];
    let report = sandbox.run(call).exits(0).says(["3 examples to reviewed.jsonl"]).json();
    assert_eq!((&report["examples"], &report["unanswerable"]), (&json!(3), &json!(1)), "{report}");
    assert_eq!((&report["questions"], &report["judgements"]), (&json!(5), &json!(4)));
    for list in ["wrong", "conflicts", "skipped", "ill_typed"] {
        assert_eq!(report[list], json!([]), "{list}");
    }
    let top = &report["top"][0];
    assert_eq!((&top["utterance"], &top["count"]), (&json!("Switch the desk lamp?"), &json!(2)));
    assert!(top["novelty"].is_number() && report["top"].as_array().unwrap().len() == 1, "{report}");
    let expected = [
        json!({ "utterance": "turn on the hall lamp", "program": programs[0] }),
        json!({ "utterance": "lights out in the hall", "program": programs[1] }),
        json!({ "utterance": "boil an egg", "program": null }),
    ];
    assert_eq!(sandbox.json_lines("reviewed.jsonl"), expected);
    let train = sandbox.read("train.jsonl") + &sandbox.read("reviewed.jsonl");
    sandbox.write("train.jsonl", train);
    sandbox.run(["train", "run.toml", "--out", "again", "--set", "training.epochs=1"]).exits(0);
}

#[test]
fn without_a_model_the_log_is_enough_and_the_report_is_readable() {
    let sandbox = Sandbox::new();
    used(&sandbox);
    let text = sandbox.run(["data", "review", "log.jsonl"]).exits(0).stdout;
    for part in
        ["5 questions, 4 judgements; 3 examples, 1 of them without", "most worth a label", "--out FILE"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let damaged = sandbox.read("log.jsonl") + "{\"version\":9,\"kind\":\"question\"}\n{\"version\":1,\"ki";
    sandbox.write("log.jsonl", damaged);
    let text = sandbox.run(["data", "review", "log.jsonl", "--top", "0"]).exits(0).stdout;
    assert!(
        text.contains("log.jsonl:10: its version is 9") && text.contains("log.jsonl:11: it is incomplete"),
        "{text}"
    );
    assert!(!text.contains("most worth a label"), "{text}");
}

#[test]
fn programs_of_another_domain_are_left_out_and_several_domains_must_be_told_apart() {
    let sandbox = Sandbox::new();
    let judged = |utterance: &str, domain: &str, program: &str| {
        let model = json!({ "name": "m", "domain": domain, "digest": "1" });
        let line = json!({
            "version": 1, "kind": "judgement", "id": "1", "time": 1, "model": model, "utterance": utterance,
            "verdict": "wrong", "replied": "x", "program": program,
        });
        format!("{line}\n")
    };
    let name = sandbox.run(["data", "review", "/dev/null", lamps(), "--json"]).exits(0).json();
    assert_eq!(name["examples"], 0);
    let two = judged("a", "lamps", "nonsense(1)") + &judged("b", "geo", "answer(x)");
    sandbox.write("log.jsonl", &two);
    sandbox.run(["data", "review", "log.jsonl"]).exits(2).says(["several domains: geo, lamps"]);
    sandbox
        .run(["data", "review", "log.jsonl", "--domain", "shop"])
        .exits(2)
        .says(["no question about `shop`"]);
    let report = sandbox.run(["data", "review", "log.jsonl", lamps(), "--json", "--out", "e.jsonl"]).exits(0);
    let report = report.says(["no examples for e.jsonl"]).json();
    assert_eq!((&report["judgements"], &report["examples"]), (&json!(1), &json!(0)), "{report}");
    assert_eq!(report["ill_typed"][0]["program"], "nonsense(1)");
    let geo = sandbox.run(["data", "review", "log.jsonl", "--domain", "geo", "--json"]).exits(0).json();
    assert_eq!(geo["examples"], 1);
    sandbox.run(["data", "review", "log.jsonl", "--out", "log.jsonl"]).exits(2).says(["will not overwrite"]);
    assert_eq!(sandbox.read("log.jsonl"), two);
    sandbox.run(["data", "review", "nowhere.jsonl"]).exits(2).says(["cannot read nowhere.jsonl"]);
}

#[test]
fn a_log_that_cannot_be_is_a_wrong_call_and_one_that_is_full_is_reported() {
    let sandbox = Sandbox::new();
    let call = ["serve", lamps(), "--addr", "127.0.0.1:0", "--log", "no/such/place.jsonl"];
    sandbox.run(call).exits(2).says(["cannot keep a log of questions in no/such/place.jsonl"]);
}
