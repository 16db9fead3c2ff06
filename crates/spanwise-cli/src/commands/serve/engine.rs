//! Model directories as engines of the HTTP server.

use serde_json::{Value, json};
use spanwise_core::Utterance;
use spanwise_lang::domain::ExecutorChoice;
use spanwise_model::{FORMAT_VERSION, Parser, Question};
use spanwise_reading as reading;
use spanwise_server::{
    Alternative, Answer, Ask, ChartSpan, Engine, Found, ModelInfo, Reading, Refusal, Source, Stamp, Word,
};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most examples that a model shows, and most characters of each.
const MAX_EXAMPLES: usize = 12;
const MAX_EXAMPLE: usize = 200;

/// A model directory.
pub(super) struct ModelSource(pub(super) PathBuf);

impl Source for ModelSource {
    fn load(&self) -> Result<Arc<dyn Engine>, String> {
        let parser = Parser::load(&self.0).map_err(|error| error.to_string())?;
        let written = written(&self.0);
        let examples = examples(&self.0, &written["examples"]);
        Ok(Arc::new(ModelEngine { parser, training: training(&written), examples }))
    }

    /// `model.json` is written last: a new model is complete only when it changes. After a load that failed, a change of
    /// any file counts, since each may be the damaged one.
    fn stamp(&self, broken: bool) -> Option<Stamp> {
        let files = ["model.json", "weights.safetensors", "tokenizer.json"];
        let mut stamp = DefaultHasher::new();
        for (at, name) in files.iter().enumerate().take(if broken { 3 } else { 1 }) {
            let found = fs::metadata(self.0.join(name));
            if at == 0 && found.is_err() {
                return None;
            }
            let found = found.ok().map(|found| (found.len(), found.modified().ok()));
            found.hash(&mut stamp);
        }
        Some(stamp.finish())
    }
}

/// The part of `model.json` about training.
fn written(directory: &Path) -> Value {
    let text = fs::read_to_string(directory.join("model.json")).unwrap_or_default();
    let mut all: Value = serde_json::from_str(&text).unwrap_or_default();
    all["training"].take()
}

/// The part of it that clients may see: no names of files.
fn training(training: &Value) -> Value {
    let config = &training["config"]["training"];
    json!({
        "n_pairs": training["n_pairs"],
        "dev": training["dev"],
        "objective": config["objective"],
        "epochs": config["epochs"],
    })
}

/// Utterances to try: the lines of `examples.txt` in the model directory, or some that it was trained on.
fn examples(directory: &Path, trained_on: &Value) -> Vec<String> {
    let own = fs::read_to_string(directory.join("examples.txt")).unwrap_or_default();
    let usable = |text: &&str| !text.is_empty() && text.len() <= MAX_EXAMPLE;
    let own: Vec<&str> = own.lines().map(str::trim).filter(usable).collect();
    let trained_on = trained_on.as_array().into_iter().flatten().filter_map(Value::as_str).filter(usable);
    let shown = if own.is_empty() { trained_on.collect() } else { own };
    shown.into_iter().take(MAX_EXAMPLES).map(str::to_owned).collect()
}

struct ModelEngine {
    parser: Parser,
    training: Value,
    examples: Vec<String>,
}

impl Engine for ModelEngine {
    fn describe(&self) -> ModelInfo {
        let model = self.parser.model();
        let encoder = model.family.encoder();
        let executor = match model.domain.executor() {
            ExecutorChoice::None => None,
            ExecutorChoice::Builtin(name) => Some(name.value.clone()),
            ExecutorChoice::Command { .. } => Some("command".to_owned()),
            ExecutorChoice::Url { .. } => Some("url".to_owned()),
        };
        let architecture = format!("{:?}", encoder.architecture).to_lowercase();
        ModelInfo {
            domain: model.domain.name().to_owned(),
            about: model.domain.about().to_owned(),
            encoder: format!("{architecture}, {} layers of {}", encoder.layers, encoder.hidden),
            executor,
            version: FORMAT_VERSION,
            settings: serde_json::to_value(model.family.settings()).unwrap_or_default(),
            metrics: self.training.clone(),
            examples: self.examples.clone(),
        }
    }

    fn parse(&self, batch: &[Ask]) -> Vec<Reading> {
        let questions: Vec<Question<'_>> = batch.iter().map(question).collect();
        self.parser.read_batch(&questions).into_iter().map(served).collect()
    }

    fn execute(&self, program: &str, context: Option<&Value>) -> Result<Answer, Refusal> {
        let mut terms = self.parser.model().domain.new_terms();
        let bad = |problem: spanwise_lang::Diagnostic| Refusal::Bad(problem.one_line(program));
        let term = terms.parse(program).map_err(bad)?;
        let outcome = self.parser.execute(&terms, term, context).ok_or(Refusal::NoExecutor)?;
        let one_line = |text: String| text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        Ok(outcome.map(|found| (found.text, found.note)).map_err(|error| one_line(error.to_string())))
    }
}

fn question(ask: &Ask) -> Question<'_> {
    Question {
        utterance: Utterance::new(ask.utterance.as_str()),
        context: ask.context.as_deref(),
        alternatives: ask.k,
        abstain_below: ask.abstain_below,
        chart: ask.chart,
    }
}

/// A reading in the types of the server.
fn served(reading: reading::Reading) -> Reading {
    let tree = serde_json::to_string(&reading.tree).unwrap_or_else(|_| "null".to_owned());
    let answer = match (reading.denotation, reading.error) {
        (Some(text), _) => Some(Ok((text, reading.note))),
        (None, error) => error.map(Err),
    };
    let alternative = |other: reading::Alternative| Alternative {
        program: other.program,
        probability: other.probability,
        posterior: other.posterior,
        score: other.score,
        denotation: other.denotation,
    };
    let found = reading.program.map(|program| Found {
        program,
        lines: reading.lines.unwrap_or_default(),
        answer,
        probability: reading.probability.unwrap_or_default(),
        posterior: reading.posterior.unwrap_or_default(),
        in_domain: reading.in_domain.unwrap_or_default(),
        unknown_words: reading.unknown_words,
        score: reading.score.unwrap_or_default(),
        tree,
        alternatives: reading.alternatives.into_iter().map(alternative).collect(),
    });
    let word = |token: reading::Token| Word {
        text: token.text,
        start: token.start,
        end: token.end,
        constant: token.constant,
        span: token.span,
        probability: token.probability,
        in_lexicon: token.in_lexicon,
    };
    let chart_span = |found: reading::ChartSpan| ChartSpan {
        start: found.span[0],
        end: found.span[1],
        constant: found.constant,
        probability: found.probability,
    };
    Reading {
        words: reading.tokens.into_iter().map(word).collect(),
        found: found.ok_or(reading.reason.unwrap_or_default()),
        chart: reading.chart.unwrap_or_default().into_iter().map(chart_span).collect(),
    }
}
