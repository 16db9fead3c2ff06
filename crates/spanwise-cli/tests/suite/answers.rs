//! Models that give answers without programs: `parse`, `explain`, `eval`, `calibrate` and `serve` say what there is.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

use crate::common::{Sandbox, scene_examples, scenes};
use serde_json::{Value, json};

const SCENE: &str = "sphere rubber large red 0 1***cube metal large blue 1 0";
const TEXT: &str = "what color is the sphere";

fn with_scene() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("scene.txt", SCENE);
    sandbox
}

#[test]
fn parse_gives_an_answer_with_a_probability_and_no_program() {
    let sandbox = with_scene();
    let call = ["parse", scenes(), TEXT, "--context", "scene.txt", "--always-answer"];
    let expected = "program      none: this model gives answers without a program";
    sandbox.run(call).exits(0).prints([expected, "answer       red", "probability"]);
    let line = json!({"utterance": TEXT, "scene": SCENE});
    let reply = sandbox.feed(["parse", scenes(), "--always-answer"], line.to_string()).exits(0).json();
    assert_eq!(
        (&reply["program"], &reply["tree"], &reply["lines"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!((&reply["answer"], &reply["denotation"]), (&json!("red"), &json!("red")));
    let probability = reply["probability"].as_f64().unwrap();
    assert!(probability > 0.3 && probability <= 1.0 && reply["posterior"].is_number(), "{reply}");
    assert!(reply.get("reason").is_none() && reply.get("guess").is_none(), "{reply}");
    assert_eq!(reply["tokens"].as_array().unwrap().len(), 5);
    let call = ["explain", scenes(), TEXT, "--context", "scene.txt", "--always-answer"];
    sandbox.run(call).exits(0).prints([expected, "answer       red"]);
}

#[test]
fn an_answer_that_is_withheld_is_a_guess_without_a_program() {
    let sandbox = with_scene();
    let call = ["parse", scenes(), TEXT, "--context", "scene.txt", "--abstain-below", "1", "--json"];
    let reply = sandbox.run(call).exits(0).json();
    assert!(reply["denotation"].is_null() && reply["probability"].is_null(), "{reply}");
    assert_eq!((&reply["guess"]["program"], &reply["guess"]["answer"]), (&Value::Null, &json!("red")));
    assert!(reply["reason"].as_str().unwrap().contains("the threshold is 1"), "{reply}");
}

#[test]
fn a_question_without_a_scene_has_a_reason() {
    let sandbox = with_scene();
    sandbox
        .run(["parse", scenes(), TEXT])
        .exits(0)
        .prints(["I cannot answer this: ", "a scene, and there is none"]);
    let reply = sandbox.run(["parse", scenes(), TEXT, "--json"]).exits(0).json();
    assert_eq!((&reply["cause"], &reply["answer"]), (&json!("no-program"), &Value::Null));
    sandbox.write("broken.json", "{\"objects\": 3}");
    let call = ["parse", scenes(), TEXT, "--context", "broken.json"];
    sandbox.run(call).exits(0).prints(["the scene has no list `objects`"]);
}

#[test]
fn eval_and_calibrate_score_answers_and_leave_programs_out() {
    let sandbox = with_scene();
    sandbox.write("d.jsonl", scene_examples());
    let call = ["eval", scenes(), "d.jsonl", "--json", "--predictions", "p.jsonl"];
    let report = sandbox.run(call).exits(0).json();
    assert_eq!((&report["denotation"], &report["n_denotation"]), (&json!(100.0), &json!(54)), "{report}");
    assert_eq!((&report["exact_match"], &report["coverage"]), (&Value::Null, &Value::Null), "{report}");
    assert!(report["ece"].as_f64().unwrap() < 0.2 && report["withheld"]["threshold"].is_number(), "{report}");
    let first = &sandbox.json_lines("p.jsonl")[0];
    assert_eq!((&first["program"], &first["denotation"]), (&Value::Null, &json!("blue")), "{first}");
    assert_eq!(first["denotation_correct"], true);
    let call = ["calibrate", scenes(), "d.jsonl", "--train", "d.jsonl", "--out", "calibrated"];
    sandbox.run(call).exits(0).prints(["calibration error"]);
    let odd = format!("what is the capital of ohio\n{}\n", json!({"utterance": "who is it", "scene": SCENE}));
    sandbox.write("odd.txt", odd);
    let call = ["eval", "calibrated", "d.jsonl", "--out-of-domain", "odd.txt"];
    sandbox.run(call).exits(0).prints(["out-of-domain utterances rejected"]);
}
