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

/// Who is asked, in which context, and from which probability on there is an answer.
#[derive(Clone, Copy)]
pub(super) struct Asker<'a> {
    pub(super) parser: &'a Parser,
    pub(super) context: Option<&'a Value>,
    pub(super) abstain_below: f64,
}

impl Asker<'_> {
    /// Why the answer is withheld, if it is.
    fn withheld(&self, parse: &Parse) -> Option<String> {
        if parse.probability >= self.abstain_below {
            return None;
        }
        let (said, below) = (rounded_down(parse.probability, self.abstain_below), self.abstain_below);
        let mut reason = format!("unsure: probability {said} is below {below}");
        if !parse.unknown_words.is_empty() {
            let words = parse.unknown().collect::<Vec<_>>().join("`, `");
            reason += &format!("; the utterance looks out-of-domain, nothing is known about `{words}`");
        }
        Some(reason)
    }
}

/// A number in few digits that is still below a limit.
fn rounded_down(p: f64, limit: f64) -> String {
    let short = |digits: usize| format!("{p:.digits$}");
    let is_below = |text: &String| text.parse::<f64>().is_ok_and(|p| p < limit);
    (2..17).map(short).find(is_below).unwrap_or_else(|| p.to_string())
}

impl Asker<'_> {
    /// An outcome as one JSON object.
    pub(super) fn as_json(&self, outcome: &Outcome) -> String {
        let Self { parser, context, .. } = *self;
        let mut fields = Fields::default();
        fields.value("utterance", json!(outcome.utterance().text()));
        match outcome {
            Outcome::Nothing { utterance, reason, .. } => nothing(&mut fields, parser, utterance, reason),
            Outcome::Found(parse) => {
                if let Some(reason) = self.withheld(parse) {
                    nothing(&mut fields, parser, &parse.utterance, &reason);
                    let program = written(parser, parse, parse.program);
                    let (probability, posterior) = (parse.probability, parse.posterior);
                    let guess =
                        json!({ "program": program, "probability": probability, "posterior": posterior });
                    fields.value("guess", guess);
                    return format!("{{{}}}", fields.0);
                }
                let found = denotation(parser, parse, parse.program, context);
                let text = found.as_ref().and_then(|found| found.as_ref().ok()).map(|found| &found.text);
                fields.value("program", json!(written(parser, parse, parse.program)));
                fields.value("denotation", json!(text));
                fields.value("probability", json!(parse.probability));
                fields.value("posterior", json!(parse.posterior));
                fields.value("in_domain", json!(parse.in_domain));
                fields.value("score", json!(parse.score));
                fields.text(
                    "tree",
                    &parse.tree.clone().unwrap_or_default().to_json(
                        &parser.model().domain,
                        &parse.terms,
                        &parse.utterance,
                    ),
                );
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
}

/// The fields of an utterance without an answer.
fn nothing(fields: &mut Fields, parser: &Parser, utterance: &Utterance, reason: &str) {
    for name in ["program", "denotation", "probability", "posterior", "in_domain", "score", "tree"] {
        fields.value(name, Value::Null);
    }
    fields.value("alternatives", json!([]));
    fields.value("tokens", tokens(parser, utterance, &[]));
    fields.value("reason", json!(reason));
}

fn alternatives(parser: &Parser, parse: &Parse, context: Option<&Value>) -> Value {
    let one = |other: &Alternative| {
        let found = denotation(parser, parse, other.program, context);
        json!({
            "program": written(parser, parse, other.program),
            "probability": other.probability,
            "posterior": other.posterior,
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
    let mut list = Vec::with_capacity(utterance.len());
    for (at, (token, place)) in utterance.tokens().iter().zip(utterance.char_ranges()).enumerate() {
        let found = provenance.get(at);
        list.push(json!({
            "text": &text[token.bytes.clone()],
            "start": place.start,
            "end": place.end,
            "constant": found.and_then(|found| found.constant).map(|id| constants[id].name.as_str()),
            "span": found.map(|found| [found.span.start, found.span.end]),
            "probability": found.map(|found| found.probability),
        }));
    }
    Value::Array(list)
}

impl Asker<'_> {
    /// Program, answer, probability, tree, and other programs; or why there is none of it.
    pub(super) fn for_people(&self, outcome: &Outcome) -> String {
        let Self { parser, context, .. } = *self;
        let mut out = format!("{}\n", outcome.utterance().text());
        let parse = match outcome {
            Outcome::Found(parse) => parse,
            Outcome::Nothing { reason, .. } => return format!("{out}  no program: {reason}\n"),
        };
        if let Some(reason) = self.withheld(parse) {
            let guess = written(parser, parse, parse.program);
            return format!("{out}  no answer    {reason}\n  best guess   {guess}\n");
        }
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
        if !parse.unknown_words.is_empty() {
            let words: Vec<&str> = parse.unknown().collect();
            line("out-of-domain", &format!("nothing is known about {}", words.join(", ")));
        }
        let tree = parse.tree.clone().unwrap_or_default().render(
            &parser.model().domain,
            &parse.terms,
            &parse.utterance,
        );
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
}
