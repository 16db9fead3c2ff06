//! What replies look like. `playground/openapi.json` says the same; a test compares both.

use crate::engine::{Alternative, Answer, Ask, ChartSpan, Found, Reading, Word};
use crate::models::Slot;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::UNIX_EPOCH;

/// The fields of an object, each as JSON text: trees are too deep for a value.
#[derive(Default)]
struct Object(String);

impl Object {
    fn text(&mut self, name: &str, json: &str) {
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}\"{name}\":{json}");
    }

    fn value(&mut self, name: &str, value: Value) {
        self.text(name, &value.to_string());
    }

    fn close(self) -> String {
        format!("{{{}}}", self.0)
    }
}

/// A reading as one object.
pub(crate) fn reading(ask: &Ask, reading: Reading) -> String {
    let mut object = Object::default();
    object.value("utterance", json!(ask.utterance));
    match reading.found {
        Ok(found) => match ask.abstain_below.filter(|&least| found.probability < least) {
            Some(least) => {
                let probability = found.probability;
                let mut reason = format!(
                    "the best program has probability {probability:.3}, less than the {least} asked for"
                );
                if !found.unknown_words.is_empty() {
                    reason += &format!("; nothing is known about `{}`", found.unknown_words.join("`, `"));
                }
                nothing(&mut object, Some(probability), &reason);
            }
            None => write_found(&mut object, found),
        },
        Err(reason) => nothing(&mut object, None, &reason),
    }
    object.value("tokens", reading.words.iter().map(word).collect());
    if ask.chart {
        object.value("chart", reading.chart.iter().map(chart_span).collect());
    }
    object.close()
}

fn nothing(object: &mut Object, probability: Option<f64>, reason: &str) {
    for name in ["program", "lines", "denotation"] {
        object.value(name, Value::Null);
    }
    object.value("probability", json!(probability));
    for name in ["posterior", "in_domain", "score", "tree"] {
        object.value(name, Value::Null);
    }
    object.value("alternatives", json!([]));
    object.value("reason", json!(reason));
}

fn write_found(object: &mut Object, found: Found) {
    object.value("program", json!(found.program));
    object.value("lines", json!(found.lines));
    let denotation = found.answer.as_ref().and_then(|answer| answer.as_ref().ok()).map(|(text, _)| text);
    object.value("denotation", json!(denotation));
    object.value("probability", json!(found.probability));
    object.value("posterior", json!(found.posterior));
    object.value("in_domain", json!(found.in_domain));
    object.value("score", json!(found.score));
    object.text("tree", &found.tree);
    object.value("alternatives", found.alternatives.iter().map(alternative).collect());
    match found.answer {
        Some(Err(error)) => object.value("error", json!(error)),
        Some(Ok((_, Some(note)))) => object.value("note", json!(note)),
        _ => {}
    }
}

fn alternative(other: &Alternative) -> Value {
    json!({
        "program": other.program,
        "probability": other.probability,
        "posterior": other.posterior,
        "score": other.score,
        "denotation": other.denotation,
    })
}

fn word(word: &Word) -> Value {
    json!({
        "text": word.text,
        "start": word.start,
        "end": word.end,
        "constant": word.constant,
        "span": word.span,
        "probability": word.probability,
        "in_lexicon": word.in_lexicon,
    })
}

fn chart_span(span: &ChartSpan) -> Value {
    json!({ "span": [span.start, span.end], "constant": span.constant, "probability": span.probability })
}

/// Many readings as one object.
pub(crate) fn results(readings: impl Iterator<Item = String>) -> String {
    format!("{{\"results\":[{}]}}", readings.collect::<Vec<_>>().join(","))
}

/// What a program evaluates to.
pub(crate) fn executed(program: &str, answer: Answer) -> String {
    let reply = match answer {
        Ok((text, None)) => json!({ "program": program, "denotation": text }),
        Ok((text, Some(note))) => json!({ "program": program, "denotation": text, "note": note }),
        Err(error) => json!({ "program": program, "denotation": null, "error": error }),
    };
    reply.to_string()
}

/// A model: what it is, since when it serves, and what is wrong with its files.
pub(crate) fn model(slot: &Slot) -> Value {
    let mut reply =
        json!({ "name": slot.name, "ready": false, "generation": 0, "load_error": slot.problem() });
    if let Some(loaded) = slot.current() {
        let seconds = loaded.at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let info = &loaded.info;
        reply["ready"] = json!(true);
        reply["generation"] = json!(loaded.generation);
        reply["loaded_at"] = json!(seconds);
        reply["domain"] = json!(info.domain);
        reply["about"] = json!(info.about);
        reply["encoder"] = json!(info.encoder);
        reply["executor"] = json!(info.executor);
        reply["version"] = json!(info.version);
        reply["settings"] = info.settings.clone();
        reply["metrics"] = info.metrics.clone();
        reply["examples"] = json!(info.examples);
    }
    reply
}
