//! `spanwise data generate`.

use crate::common::Sandbox;
use serde_json::Value;
use std::path::Path;

/// The project that `spanwise new` writes, with a pair of opposites.
fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.run(["new", "home"]).exits(0);
    let text = sandbox.read("home/domain.toml");
    let text = text.replace("[root]\n", "contrasts = [[\"on\", \"off\"]]\n[root]\n");
    sandbox.write("home/domain.toml", text);
    sandbox
}

#[test]
fn the_programs_of_a_new_project_are_derived_from_their_words_and_the_same_seed_gives_the_same_file() {
    let sandbox = project();
    let generate = |out: &str, seed: &str| {
        let args = ["data", "generate", "home/domain.toml", "--n", "300", "--seed", seed, "--out", out];
        sandbox.call(args).run().exits(0)
    };
    let outcome = generate("one.jsonl", "1").says(["300 examples to one.jsonl"]);
    outcome.prints(["300 examples", "contrasting pairs on/off", "both", "percent"]);
    generate("new/folder", "1").says(["300 examples to new/folder/generated.jsonl"]);
    generate("two.jsonl", "2");
    assert_eq!(sandbox.bytes("one.jsonl"), sandbox.bytes("new/folder/generated.jsonl"));
    assert_ne!(sandbox.bytes("one.jsonl"), sandbox.bytes("two.jsonl"));

    let report = sandbox.run(["check", "home/domain.toml", "one.jsonl", "--json"]).exits(0).json();
    assert_eq!(report["typed"], 300, "{report}");
    let anywhere = &report["derivability"][0];
    assert_eq!(anywhere["derivable"]["open + implicit"], 300, "{anywhere}");
}

#[test]
fn the_report_as_json_has_every_signature_and_every_reason() {
    let sandbox = project();
    let text = sandbox
        .read("home/domain.toml")
        .replace("[constants]\n", "[constants]\nlost = \"Percent -> Percent\"\n");
    sandbox.write("home/domain.toml", text);
    let args =
        ["data", "generate", "home/domain.toml", "--n", "200", "--plain", "--out", "g.jsonl", "--json"];
    let report: Value = sandbox.run(args).exits(0).json();
    assert_eq!((&report["examples"], &report["short_of"]), (&200.into(), &Value::Null));
    for one in report["coverage"].as_array().unwrap() {
        let is_missing = one["name"] == "lost";
        // It can be part of a program: `dim` takes what it gives.
        assert!(one["examples"].as_u64().unwrap() > 0 || is_missing, "{one}");
    }
    assert!(report["contrasts"]["on/off"].as_u64().unwrap() > 5, "{report}");
    let first = &sandbox.json_lines("g.jsonl")[0];
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["utterance", "program"]);
}

#[test]
fn training_takes_generated_examples_alone_and_beside_others() {
    let sandbox = project();
    let generate = ["data", "generate", "home/domain.toml", "--n", "80", "--out", "home/generated.jsonl"];
    sandbox.run(generate).exits(0);
    let train = |out: &str, setting: &str| {
        let args = ["train", "home/train.toml", "--out", out, "--set", "training.epochs=1", "--set", setting];
        sandbox.call(args).run().exits(0)
    };
    train("both", "data.generated=generated.jsonl").says(["90 training pairs (80 generated)"]);
    train("alone", "data.train=generated.jsonl").says(["80 training pairs,"]);
}

#[test]
fn wrong_calls_name_what_is_wrong_and_leave_files_alone() {
    let sandbox = project();
    let domain = "home/domain.toml";
    sandbox.run(["data", "generate", domain, "--out", domain]).exits(2);
    sandbox.run(["data", "generate", "no.toml", "--out", "g.jsonl"]).exits(2);
    sandbox.run(["data", "generate", domain, "--n", "0", "--out", "g.jsonl"]).exits(2);
    sandbox
        .run(["data", "generate", domain, "--now", "soon", "--out", "g.jsonl"])
        .exits(2)
        .says(["is not a date"]);
    let text = sandbox.read(domain).replace("say = [", "say = [\"{nobody}\", ");
    sandbox.write("wrong.toml", text.replace("places.tsv", "home/places.tsv"));
    sandbox
        .run(["data", "generate", "wrong.toml", "--out", "g.jsonl"])
        .exits(1)
        .says(["unknown hole `{nobody}`"]);
    assert!(!Path::new(&sandbox.path("g.jsonl")).exists());
}

#[cfg(feature = "geo")]
#[test]
fn a_built_in_domain_without_say_gives_programs_with_answers() {
    let sandbox = Sandbox::new();
    let args = ["data", "generate", "geo", "--n", "120", "--out", "g.jsonl", "--json"];
    let report = sandbox.run(args).exits(0).json();
    assert_eq!(report["examples"], 120, "{report}");
    let executed = sandbox.run(["check", "geo", "g.jsonl", "--json"]).exits(0).json();
    assert_eq!(executed["typed"], 120);
}
