//! What a parse looks like: as a JSON object on one line, and for people.

use crate::output::Columns;
use serde_json::{Value, json};
use spanwise_core::Utterance;
use spanwise_domains::exec::Denotation;
use spanwise_lang::TermId;
use spanwise_model::{Alternative, Outcome, Parse, Parser, Provenance};
use std::fmt::Write as _;

/// A program as text in the domain's style.
fn written(parser: &Parser, parse: &Parse, program: TermId) -> String {
    parser.model().domain.display(&parse.terms, program).to_string()
}

/// What a program evaluates to, or why it does not; `None` where programs are not evaluated.
fn denotation(
    parser: &Parser,
    parse: &Parse,
    program: TermId,
    context: Option<&Value>,
) -> Option<Result<Denotation, String>> {
    let outcome = parser.execute(&parse.terms, program, context)?;
    Some(outcome.map_err(|error| error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ")))
}

/// The fields of an object, each as JSON text: trees nest as deep as utterances are long, too deep for a value.
#[derive(Default)]
struct Fields(String);

impl Fields {
    fn text(&mut self, name: &str, json: &str) {
        let comma = if self.0.is_empty() { "" } else { "," };
        let _ = write!(self.0, "{comma}\"{name}\":{json}");
    }

    fn value(&mut self, name: &str, value: Value) {
        self.text(name, &value.to_string());
    }
}

/// An outcome as one JSON object.
pub(super) fn as_json(parser: &Parser, outcome: &Outcome, context: Option<&Value>) -> String {
    let mut fields = Fields::default();
    fields.value("utterance", json!(outcome.utterance().text()));
    match outcome {
        Outcome::Nothing { utterance, reason } => {
            for name in ["program", "denotation", "probability", "score", "tree"] {
                fields.value(name, Value::Null);
            }
            fields.value("alternatives", json!([]));
            fields.value("tokens", tokens(parser, utterance, &[]));
            fields.value("reason", json!(reason));
        }
        Outcome::Found(parse) => {
            let found = denotation(parser, parse, parse.program, context);
            let text = found.as_ref().and_then(|found| found.as_ref().ok()).map(|found| &found.text);
            fields.value("program", json!(written(parser, parse, parse.program)));
            fields.value("denotation", json!(text));
            fields.value("probability", json!(parse.probability));
            fields.value("score", json!(parse.score));
            fields.text("tree", &parse.tree.to_json(&parser.model().domain, &parse.terms, &parse.utterance));
            fields.value("alternatives", alternatives(parser, parse, context));
            fields.value("tokens", tokens(parser, &parse.utterance, &parse.provenance));
            match found {
                Some(Err(error)) => fields.value("error", json!(error)),
                Some(Ok(Denotation { note: Some(note), .. })) => fields.value("note", json!(note)),
                _ => {}
            }
        }
    }
    format!("{{{}}}", fields.0)
}

fn alternatives(parser: &Parser, parse: &Parse, context: Option<&Value>) -> Value {
    let one = |other: &Alternative| {
        let found = denotation(parser, parse, other.program, context);
        json!({
            "program": written(parser, parse, other.program),
            "probability": other.probability,
            "score": other.score,
            "denotation": found.and_then(Result::ok).map(|found| found.text),
        })
    };
    parse.alternatives.iter().map(one).collect()
}

/// Every word with its place in characters, and what it says.
fn tokens(parser: &Parser, utterance: &Utterance, provenance: &[Provenance]) -> Value {
    let constants = parser.model().domain.constants();
    let text = utterance.text();
    let (mut n_chars, mut seen) = (0, 0);
    let mut place = |byte: usize| {
        n_chars += text[seen..byte].chars().count();
        seen = byte;
        n_chars
    };
    let mut list = Vec::with_capacity(utterance.len());
    for (at, token) in utterance.tokens().iter().enumerate() {
        let (start, end) = (place(token.bytes.start), place(token.bytes.end));
        let found = provenance.get(at);
        list.push(json!({
            "text": &text[token.bytes.clone()],
            "start": start,
            "end": end,
            "constant": found.and_then(|found| found.constant).map(|id| constants[id].name.as_str()),
            "span": found.map(|found| [found.span.start, found.span.end]),
            "probability": found.map(|found| found.probability),
        }));
    }
    Value::Array(list)
}

/// Program, answer, probability, tree, and other programs.
pub(super) fn for_people(parser: &Parser, outcome: &Outcome, context: Option<&Value>) -> String {
    let mut out = format!("{}\n", outcome.utterance().text());
    let parse = match outcome {
        Outcome::Found(parse) => parse,
        Outcome::Nothing { reason, .. } => return format!("{out}  no program: {reason}\n"),
    };
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<11}  {value}");
    };
    line("program", &written(parser, parse, parse.program));
    match denotation(parser, parse, parse.program, context) {
        Some(Ok(found)) => {
            line("answer", if found.text.is_empty() { "(empty)" } else { &found.text });
            if let Some(note) = &found.note {
                line("note", note);
            }
        }
        Some(Err(error)) => line("no answer", &error),
        None => {}
    }
    line("probability", &format!("{:.3}", parse.probability));
    let tree = parse.tree.render(&parser.model().domain, &parse.terms, &parse.utterance);
    out.push('\n');
    for line in tree.lines() {
        let _ = writeln!(out, "  {line}");
    }
    if !parse.alternatives.is_empty() {
        let mut table = Columns::new(["other programs", "probability"]);
        for other in &parse.alternatives {
            table.row([written(parser, parse, other.program), format!("{:.3}", other.probability)]);
        }
        out += &format!("\n{}", table.render());
    }
    out
}
