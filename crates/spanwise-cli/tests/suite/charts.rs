//! What the charts add to the command: derivability in `check`, and `bench chart`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::Sandbox;

#[cfg(feature = "geo")]
#[test]
fn check_says_in_which_setting_programs_can_be_derived_and_why_not() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "data.jsonl",
        concat!(
            "{\"utterance\": \"rivers in ohio\", \"program\": \"answer(river(loc_2(stateid('ohio'))))\"}\n",
            "{\"utterance\": \"state with the most people\", \"program\": \"answer(largest_one(population_1(state(all))))\"}\n",
            "{\"utterance\": \"cities\", \"program\": \"answer(city(loc_2(stateid('texas'))))\"}\n",
        ),
    );
    let ran = sandbox.run(["check", "geo", "data.jsonl", "--json"]).exits(0);
    let report = ran.json();
    let lexicon = &report["derivability"][1];
    assert_eq!(lexicon["programs"], 3);
    assert_eq!(lexicon["derivable"]["projective"], 1, "{lexicon}");
    assert_eq!(lexicon["derivable"]["ternary"], 2, "{lexicon}");
    assert_eq!(lexicon["causes"]["constant not in the words"], 1, "{lexicon}");

    let text = sandbox.run(["check", "geo", "data.jsonl"]).exits(0);
    assert!(text.stdout.contains("open + implicit") && text.stdout.contains("no words can be aligned to"));
    let quick = sandbox.run(["check", "geo", "data.jsonl", "--quick"]).exits(0);
    assert!(!quick.stdout.contains("open + implicit"));
}

#[test]
fn bench_chart_prints_rows_of_numbers_without_any_data() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(["bench", "chart", "--domain", "scan", "--sentences", "2", "--json"]).exits(0);
    let rows = ran.json();
    let rows = rows.as_array().unwrap();
    for (chart, task) in [
        ("typed", "best"),
        ("typed", "marginals"),
        ("typed", "kbest"),
        ("gold", "marginals"),
        ("paper", "best"),
    ] {
        let row = rows.iter().find(|row| row["chart"] == chart && row["task"] == task).unwrap();
        for number in ["threads", "sentences", "mean_tokens", "mean_us", "p99_us"] {
            assert!(row[number].as_f64().unwrap() > 0.0, "{number} in {row}");
        }
        assert_eq!(row["domain"], "scan");
    }
    sandbox.run(["bench", "chart", "--domain", "nowhere"]).exits(2);
    sandbox.run(["bench", "chart", "--data", "missing"]).exits(2);
}
