//! Calibrated confidence: `--abstain-below`, `--out-of-domain`, and `spanwise calibrate`.

use crate::common::{Sandbox, json_lines, lamps};
use serde_json::{Value, json};
use std::path::Path;

const OUT_OF_DOMAIN: &str = include_str!("../data/out_of_domain.txt");

/// A copy of the model in the format of version 1, from before models had a confidence.
fn old_model(sandbox: &Sandbox) {
    let directory = Path::new(lamps());
    let text = std::fs::read_to_string(directory.join("model.json")).unwrap();
    let mut model: Value = serde_json::from_str(&text).unwrap();
    let fields = model.as_object_mut().unwrap();
    fields.remove("confidence").unwrap();
    fields.remove("digest").unwrap();
    let files = fields.remove("files").unwrap();
    let Value::Object(state) = fields.remove("state").unwrap() else { panic!("the state is an object") };
    fields.extend(state);
    model["version"] = json!(1);
    sandbox.write("old/model.json", model.to_string());
    for (name, role) in [("tokenizer.json", "tokenizer"), ("weights.safetensors", "weights")] {
        let path = directory.join(files[role]["path"].as_str().unwrap());
        sandbox.write(&format!("old/{name}"), std::fs::read(path).unwrap());
    }
}

#[test]
fn the_list_of_out_of_domain_utterances_has_two_hundred_different_ones() {
    let mut lines: Vec<&str> = OUT_OF_DOMAIN.lines().filter(|line| !line.starts_with("# ")).collect();
    assert_eq!(lines.len(), 200);
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 200);
    assert!(OUT_OF_DOMAIN.contains("# near-domain\n"));
}

#[test]
fn an_answer_below_the_threshold_is_withheld_and_kept_as_a_guess() {
    let sandbox = Sandbox::new();
    let ask = |below: &str| {
        let call =
            ["parse", lamps(), "--json", "--k", "2", "--abstain-below", below, "turn on the hall lamp"];
        sandbox.run(call).exits(0).json()
    };
    let answered = ask("0");
    assert_eq!(answered["program"], "do(on(lamp('hall')))");
    assert!(answered.get("guess").is_none() && answered.get("reason").is_none());
    let probability = answered["probability"].as_f64().unwrap();
    assert!(probability < 1.0);
    let product = answered["in_domain"].as_f64().unwrap();
    assert!(probability <= product && answered["posterior"].is_number());

    let withheld = ask("1");
    for field in ["program", "denotation", "probability", "tree", "score"] {
        assert!(withheld[field].is_null(), "{field} in {withheld}");
    }
    assert_eq!(withheld["guess"]["program"], answered["program"]);
    assert_eq!(withheld["guess"]["probability"], answered["probability"]);
    let reason = withheld["reason"].as_str().unwrap();
    assert!(reason.contains("(probability 0.") && reason.contains("the threshold is 1)"), "{reason}");
    assert!(withheld["cause"].is_string() && withheld["threshold"] == 1.0, "{withheld}");
    assert_eq!(
        (withheld["alternatives"].clone(), withheld["tokens"].as_array().unwrap().len()),
        (json!([]), 5)
    );
}

#[test]
fn people_are_told_plainly_that_there_is_no_answer() {
    let sandbox = Sandbox::new();
    let call = ["parse", lamps(), "--abstain-below", "1", "turn on the hall lamp"];
    let outcome = sandbox.run(call).exits(0);
    let outcome = outcome.prints([
        "turn on the hall lamp\n  I cannot answer this: ",
        "the threshold is 1).\n",
        "\n  --always-answer shows the best guess\n",
    ]);
    assert!(!outcome.stdout.contains("probability  "), "{}", outcome.stdout);
    let drawn = sandbox.run(["explain", lamps(), "--abstain-below", "1", "turn on the hall lamp"]).exits(1);
    let drawn = drawn.says(["I cannot answer this: ", "--always-answer draws the best guess"]);
    assert_eq!(drawn.stdout, "");
}

#[test]
fn every_question_is_answered_on_request_and_never_both() {
    let sandbox = Sandbox::new();
    let text = "my dog ate hall homework";
    let guessed = sandbox.run(["parse", lamps(), "--json", "--always-answer", text]).exits(0).json();
    assert!(guessed["program"].is_string() && guessed["threshold"].is_null(), "{guessed}");
    assert!(guessed.get("guess").is_none(), "{guessed}");
    let withheld = sandbox.run(["parse", lamps(), "--json", "--abstain-below", "0.99", text]).exits(0).json();
    assert_eq!(withheld["guess"]["program"], guessed["program"]);
    sandbox.run(["explain", lamps(), "--always-answer", text]).exits(0).prints(["program      do("]);
    for command in ["parse", "explain", "serve"] {
        let call = sandbox.call([command, lamps(), "--always-answer", "--abstain-below", "0.5", "x"]);
        call.run().exits(2).says(["cannot be used with"]);
    }
}

/// A copy of the model of lamps with this threshold, in a format whose manifest has no digest.
fn with_threshold(sandbox: &Sandbox, threshold: &Value) {
    for entry in std::fs::read_dir(lamps()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_file() {
            sandbox.write(&format!("model/{name}"), std::fs::read(entry.path()).unwrap());
        }
    }
    let mut model: Value = serde_json::from_str(&sandbox.read("model/model.json")).unwrap();
    model.as_object_mut().unwrap().remove("digest").unwrap();
    model["version"] = json!(3);
    model["confidence"]["threshold"] = threshold.clone();
    sandbox.write("model/model.json", model.to_string());
}

#[test]
fn the_threshold_of_the_model_withholds_by_default_and_eval_reports_it_apart() {
    let sandbox = Sandbox::with_toy();
    with_threshold(&sandbox, &json!(1.0));
    let text = "turn on the hall lamp";
    let withheld = sandbox.run(["parse", "model", "--json", text]).exits(0);
    assert!(!withheld.stderr.contains("never calibrated"), "{}", withheld.stderr);
    let withheld = withheld.json();
    assert!(withheld["program"].is_null() && withheld["guess"].is_object(), "{withheld}");
    assert_eq!(withheld["threshold"], 1.0);
    let all = sandbox.run(["eval", "model", "dev.jsonl", "--json"]).exits(0).json();
    let plain = sandbox.run(["eval", lamps(), "dev.jsonl", "--json"]).exits(0).json();
    assert_eq!(all["exact_match"], plain["exact_match"]);
    let part = &all["withheld"];
    assert_eq!((part["threshold"].as_f64(), part["answered"].as_f64()), (Some(1.0), Some(0.0)));
    assert!(part["n"].as_u64().unwrap() > 0 && part["accuracy_answered"].is_null(), "{part}");
    sandbox
        .run(["eval", "model", "dev.jsonl"])
        .exits(0)
        .prints(["withheld below 1.000", "right of the rest"]);
}

#[test]
fn a_model_without_a_threshold_says_so_once() {
    let sandbox = Sandbox::with_toy();
    with_threshold(&sandbox, &Value::Null);
    let lines = "turn on the hall lamp\nturn off the hall lamp\n";
    let outcome = sandbox.feed(["parse", "model"], lines).exits(0);
    let note = "this model was never calibrated; nothing is withheld; run `spanwise calibrate";
    assert_eq!(outcome.stderr.matches(note).count(), 1, "{}", outcome.stderr);
    assert!(outcome.replies().iter().all(|reply| reply["threshold"].is_null()));
    sandbox.run(["explain", "model", "turn on the hall lamp"]).exits(0).says([note]);
    let quiet = sandbox.run(["parse", "model", "--always-answer", "turn on the hall lamp"]).exits(0);
    assert!(!quiet.stderr.contains(note), "{}", quiet.stderr);
    let report = sandbox.run(["eval", "model", "dev.jsonl"]).exits(0);
    assert!(report.stdout.contains(note) && !report.stdout.contains("withheld below"), "{}", report.stdout);
    let report = sandbox.run(["eval", "model", "dev.jsonl", "--json"]).exits(0).json();
    assert!(report["withheld"].is_null(), "{report}");
}

#[test]
fn a_date_may_be_given_and_must_be_one() {
    let sandbox = Sandbox::new();
    let text = "turn on the hall lamp";
    for command in ["parse", "explain"] {
        sandbox.run([command, lamps(), "--always-answer", "--now", "2011-03-05", text]).exits(0);
        let wrong = sandbox.run([command, lamps(), "--now", "2011-02-30", text]).exits(2);
        wrong.says(["`2011-02-30` is not a date; expected one like 2011-03-05"]);
    }
    sandbox.run(["serve", lamps(), "--now", "soon"]).exits(2).says(["`soon` is not a date"]);
    let lines = format!(
        "{{\"utterance\": \"{text}\", \"now\": \"2011-03-05\"}}\n{{\"utterance\": \"x\", \"now\": 7}}\n"
    );
    let replies = sandbox.feed(["parse", lamps(), "--always-answer"], lines).exits(1).replies();
    assert!(replies[0]["program"].is_string(), "{}", replies[0]);
    assert!(replies[1]["error"].as_str().unwrap().contains("`now`"), "{}", replies[1]);
}

#[test]
fn an_out_of_domain_utterance_is_less_probable_and_its_unknown_words_are_named() {
    let sandbox = Sandbox::new();
    let ask = |text: &str| sandbox.run(["parse", lamps(), "--json", "--always-answer", text]).exits(0).json();
    let (known, other) = (ask("turn on the hall lamp"), ask("my dog ate hall homework"));
    let number = |reply: &Value, field: &str| reply[field].as_f64().unwrap();
    assert!(number(&known, "in_domain") > 0.9, "{known}");
    assert!(number(&other, "in_domain") < 0.5, "{other}");
    assert!(number(&other, "probability") <= number(&other, "in_domain"));
    let call = ["parse", lamps(), "--json", "--abstain-below", "0.99", "my dog ate hall homework"];
    let reason = sandbox.run(call).exits(0).json()["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("looks out-of-domain") && reason.contains("`homework`"), "{reason}");
    assert!(!reason.contains("`hall`"), "{reason}");
}

#[test]
fn a_threshold_that_is_no_probability_is_a_wrong_call() {
    let sandbox = Sandbox::with_toy();
    for below in ["2", "-0.1", "half", "NaN"] {
        let argument = format!("--abstain-below={below}");
        sandbox.run(["parse", lamps(), "x", &argument]).exits(2).says(["from 0 to 1"]);
        sandbox.run(["eval", lamps(), "dev.jsonl", &argument]).exits(2).says(["from 0 to 1"]);
    }
}

#[test]
fn eval_reports_what_is_left_when_answers_are_withheld() {
    let sandbox = Sandbox::with_toy();
    let plain = sandbox.run(["eval", lamps(), "dev.jsonl", "--json"]).exits(0).json();
    assert!(plain.get("answered").is_none() && plain.get("accuracy_answered").is_none());
    let at = |below: &str| {
        sandbox.run(["eval", lamps(), "dev.jsonl", "--json", "--abstain-below", below]).exits(0).json()
    };
    let (all, none) = (at("0"), at("1"));
    assert_eq!(all["answered"], 100.0 - all["no_parse"].as_f64().unwrap());
    assert_eq!(all["accuracy_answered"], all["exact_match"]);
    assert_eq!((none["answered"].as_f64(), &none["accuracy_answered"]), (Some(0.0), &Value::Null));
    let text = sandbox.run(["eval", lamps(), "dev.jsonl", "--abstain-below", "0.5"]).exits(0);
    text.prints(["answered", "right where answered"]);
}

#[test]
fn eval_counts_out_of_domain_utterances_by_section() {
    let sandbox = Sandbox::with_toy();
    sandbox.write(
        "other.txt",
        "hello\n\n# cooking\nboil an egg\n{\"utterance\": \"fry an egg\"}\n#include <stdio.h>\n",
    );
    let call = ["eval", lamps(), "dev.jsonl", "--json", "--out-of-domain", "other.txt"];
    let other = sandbox.run(call).exits(0).json()["out_of_domain"].clone();
    assert_eq!(other["n"], 4);
    let sections = other["sections"].as_array().unwrap();
    let names: Vec<(&Value, &Value)> = sections.iter().map(|one| (&one["section"], &one["n"])).collect();
    assert_eq!(names, [(&json!(""), &json!(1)), (&json!("cooking"), &json!(3))]);
    for kept in ["kept_90", "kept_95"] {
        let rejected = |of: &Value| of[kept]["rejected"].as_f64().unwrap();
        let by_section = rejected(&sections[0]) * 0.25 + rejected(&sections[1]) * 0.75;
        assert!((rejected(&other) - by_section).abs() < 1e-9);
        assert!((0.0..=1.0).contains(&other[kept]["threshold"].as_f64().unwrap()));
    }
    let text = sandbox.run(["eval", lamps(), "dev.jsonl", "--out-of-domain", "other.txt"]).exits(0);
    text.prints(["out-of-domain utterances rejected", "cooking", "threshold"]);
    sandbox.write("empty.txt", "# only a heading\n");
    sandbox
        .run(["eval", lamps(), "dev.jsonl", "--out-of-domain", "empty.txt"])
        .exits(1)
        .says(["empty.txt", "no utterances"]);
    sandbox.write("bad.txt", "{\"text\": 1}\n");
    sandbox
        .run(["eval", lamps(), "dev.jsonl", "--out-of-domain", "bad.txt"])
        .exits(1)
        .says(["bad.txt:1", "`utterance`"]);
    sandbox.run(["eval", lamps(), "dev.jsonl", "--out-of-domain", "gone.txt"]).exits(2).says(["gone.txt"]);
}

#[test]
fn calibrate_gives_an_old_model_what_training_gives_a_new_one() {
    let sandbox = Sandbox::with_toy();
    old_model(&sandbox);
    let ask = |model: &str| sandbox.run(["parse", model, "--json", "turn on the hall lamp"]).exits(0).json();
    let before = ask("old");
    assert_eq!((&before["probability"], before["in_domain"].as_f64()), (&before["posterior"], Some(1.0)));
    let call = ["calibrate", "old", "dev.jsonl", "--train", "train.jsonl", "--out", "new", "--json"];
    let report = sandbox.run(call).exits(0).json();
    assert!(report["prototypes"].as_u64().unwrap() > 0 && report["ece"].is_number());
    assert_eq!(ask("old"), before);
    let confidence = |path: &str| json_lines(&sandbox.read(path).replace('\n', " "))[0]["confidence"].clone();
    let trained = std::fs::read_to_string(Path::new(lamps()).join("model.json")).unwrap();
    let trained: Value = serde_json::from_str(&trained).unwrap();
    let new = confidence("new/model.json");
    // The old model corrects no typing errors, so what it learns about words may differ.
    for part in ["calibration", "novelty", "threshold"] {
        assert_eq!(new[part], trained["confidence"][part], "{part}");
    }
    assert!(new["effects"]["numbers"].as_f64().unwrap() > 0.0 && new["words"].is_object());
    assert_eq!(ask("new")["probability"], ask(lamps())["probability"]);

    // Again, in place and without --train: what is known of novelty stays.
    let manifest = sandbox.bytes("new/model.json");
    sandbox
        .run(["calibrate", "new", "dev.jsonl"])
        .exits(0)
        .prints(["calibration error", "prototypes of words"]);
    assert_eq!(confidence("new/model.json"), new);
    assert!(sandbox.bytes("new/model.json") == manifest);
}

#[test]
fn examples_without_a_program_are_evaluated_apart_and_calibrate_learns_from_them() {
    let sandbox = Sandbox::with_toy();
    let before = sandbox.run(["eval", lamps(), "dev.jsonl", "--json"]).exits(0).json();
    let none = "{\"utterance\": \"turn on the purple hall lamp\", \"program\": null}\n";
    sandbox.write("more.jsonl", format!("{}\n{none}", sandbox.read("dev.jsonl").trim_end()));
    let after = sandbox.run(["eval", lamps(), "more.jsonl", "--json"]).exits(0).json();
    for key in ["n", "exact_match", "no_parse", "coverage", "risk_at_80"] {
        assert_eq!(before[key], after[key], "{key}");
    }
    assert_eq!(after["withheld"]["unanswerable"], 1);
    assert_eq!(before["withheld"]["unanswerable"], 0);
    assert_eq!(before["withheld"]["n"], after["withheld"]["n"]);
    sandbox.run(["eval", lamps(), "more.jsonl"]).exits(0).prints(["unanswerable, withheld"]);

    sandbox.write("nulls.jsonl", format!("{}\n{}", sandbox.read("dev.jsonl").trim_end(), none.repeat(40)));
    for (data, out) in [("dev.jsonl", "plain"), ("nulls.jsonl", "taught")] {
        let call = ["calibrate", lamps(), data, "--train", "train.jsonl", "--out", out];
        sandbox.run(call).exits(0);
    }
    let ask = |model: &str| {
        let call = ["parse", model, "--json", "--always-answer", "turn on the purple hall lamp"];
        sandbox.run(call).exits(0).json()["probability"].as_f64().unwrap()
    };
    assert!(ask("taught") < ask("plain"), "{} {}", ask("taught"), ask("plain"));
}

#[test]
fn calibrate_refuses_what_it_cannot_use() {
    let sandbox = Sandbox::with_toy();
    old_model(&sandbox);
    sandbox.run(["calibrate", "nowhere", "dev.jsonl"]).exits(2).says(["nowhere is not a model directory"]);
    sandbox.run(["calibrate", "old", "gone.jsonl"]).exits(2).says(["gone.jsonl"]);
    sandbox.run(["calibrate", "old", "dev.jsonl", "--train", "gone.jsonl"]).exits(2).says(["gone.jsonl"]);
    sandbox.run(["calibrate", "old", "dev.jsonl", "--out", lamps()]).exits(2).says(["already holds a model"]);
    let outcome =
        sandbox.run(["calibrate", "old", "dev.jsonl", "--out", "new"]).exits(0).says(["without --train"]);
    outcome.prints(["not recognized"]);
}

#[test]
#[cfg(unix)]
fn what_a_server_withholds_is_said_at_its_start_and_changed_by_a_request() {
    let sandbox = Sandbox::new();
    let call =
        sandbox.call(["serve", "--addr", "127.0.0.1:0", "--log-json", "--abstain-below", "1", lamps()]);
    let server = crate::serve::Server::ready(call.spawn());
    let body = json!({ "utterance": "turn on the hall lamp", "now": "2011-03-05" });
    let withheld = server.post("/v1/parse", &body);
    assert!(withheld["program"].is_null() && withheld["guess"]["program"].is_string(), "{withheld}");
    let body = json!({ "utterance": "turn on the hall lamp", "always_answer": true });
    assert_eq!(server.post("/v1/parse", &body)["program"], "do(on(lamp('hall')))");
    let (_, text) = server.get("/v1/model");
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["withhold_below"], 1.0);
    assert_eq!(found["calibrated"], found["threshold"].is_number());
    let (_, metrics) = server.get("/metrics");
    assert!(metrics.contains("spanwise_withheld_total{model=\"lamps\",cause=\""), "{metrics}");
    server.end();
}

#[test]
fn typing_errors_are_corrected_and_shown_and_numbers_without_a_place_are_named() {
    let sandbox = Sandbox::new();
    let ask = |text: &str| sandbox.run(["parse", lamps(), "--json", "--always-answer", text]).exits(0).json();
    let reply = ask("turn on the hall lapm");
    assert_eq!(reply["program"], ask("turn on the hall lamp")["program"], "{reply}");
    let correction = &reply["corrections"][0];
    assert_eq!((&correction["from"], &correction["to"]), (&json!("lapm"), &json!("lamp")), "{reply}");
    assert_eq!((&correction["kind"], &correction["span"]), (&json!("spelling"), &json!([4, 5])));
    assert_eq!(reply["tokens"][4]["read_as"], "lamp");
    let number = ask("turn on the hall lamp 1978");
    assert_eq!(number["unread"], json!([{ "span": [5, 6], "words": "1978", "kind": "number" }]));
    let p = |reply: &Value| reply["probability"].as_f64().unwrap();
    assert!(p(&number) < p(&ask("turn on the hall lamp")));
    let clean = ask("turn on the hall lamp");
    assert_eq!((&clean["corrections"], &clean["unread"]), (&json!([]), &json!([])));
}
