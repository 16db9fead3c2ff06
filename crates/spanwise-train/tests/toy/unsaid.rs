//! Training on utterances that leave constants out: the words around decide which ones.

use super::{config, go_on, run};
use serde_json::json;
use spanwise_domains::data;
use spanwise_eval::evaluate::evaluate;
use spanwise_eval::metrics::{Evaluator, Report};
use std::fs;
use std::path::Path;

/// Four constants have phrases that nobody says, so they are always inserted.
const DOMAIN: &str = r#"
name = "flights"
types = ["Query", "Flights, Fares < Things", "Things", "Place", "Name", "Day"]
root = { types = ["Query"] }
implicit_chain = 2
only_phrases = ["answer", "flight", "fare", "today", "tomorrow"]
[constants]
answer = { type = "Things -> Query", implicit = true }
flight = { type = "Place -> Flights", implicit = true }
fare = { type = "Place -> Fares", implicit = true }
to = "Name -> Place"
leaving = "Flights, Day -> Flights"
today = { type = "Day", implicit = true }
tomorrow = { type = "Day", implicit = true }
[lexicon]
answer = "answer"
flight = "flight"
fare = "fare"
to = "to"
leaving = "leaving"
today = "today"
tomorrow = "tomorrow"
[[entities]]
class = "city"
type = "Name"
form = "{name}"
names = ["boston", "denver", "dallas", "austin", "memphis"]
"#;

fn write(path: &Path, cities: &[&str]) {
    let example = |city: &&str| {
        [
            (format!("when to {city}"), format!("answer(flight(to({city})))")),
            (format!("cheaply to {city}"), format!("answer(fare(to({city})))")),
            (format!("leaving soon to {city}"), format!("answer(leaving(flight(to({city})), today))")),
            (format!("leaving later to {city}"), format!("answer(leaving(flight(to({city})), tomorrow))")),
        ]
        .map(|(utterance, program)| format!("{}\n", json!({ "utterance": utterance, "program": program })))
    };
    fs::write(path, cities.iter().flat_map(example).collect::<String>()).unwrap();
}

#[test]
fn the_words_around_decide_which_constants_are_inserted() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    fs::write(file("flights.toml"), DOMAIN).unwrap();
    write(Path::new(&file("train.jsonl")), &["boston", "denver", "dallas", "austin"]);
    write(Path::new(&file("dev.jsonl")), &["memphis"]);
    let data = ["train", "dev"].map(|part| format!("data.{part}={}", file(&format!("{part}.jsonl"))));
    let mut config = config(&["model.implicit=true", "training.epochs=20", &data[0], &data[1]]);
    config.domain = file("flights.toml");
    let out = tempfile::tempdir().unwrap();
    let trained = run(&config, out.path(), false, go_on).unwrap();
    let examples = data::read(Path::new(&file("dev.jsonl"))).unwrap();
    let evaluator = Evaluator::with_executor(&trained.parser.model().domain, None);
    let scored = evaluate(trained.parser.model(), &evaluator, &examples, &|_| {});
    assert_eq!(Report::new(&scored).exact_match, Some(100.0));
}
