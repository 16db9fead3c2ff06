//! A model directory as an engine of the server.
//!
//! Utterances and programs come in as texts; readings go out as the server wants them. HTTP is unknown here.

use serde_json::{Value, json};
use spanwise_core::Utterance;
use spanwise_domains::exec::Denotation;
use spanwise_lang::TermId;
use spanwise_lang::domain::ExecutorChoice;
use spanwise_model::{Details, FORMAT_VERSION, Outcome, Parse, Parser};
use spanwise_render::pretty;
use spanwise_server::{
    Alternative, Answer, Ask, ChartSpan, Engine, Found, ModelInfo, Reading, Refusal, Source, Stamp, Word,
};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Characters of a line of a program.
const PROGRAM_COLUMNS: usize = 72;
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

    /// `model.json` is written last: only when it changes is a new model complete. After a load that failed, any of the
    /// files may be the one that is repaired.
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

/// What `model.json` says about training.
fn written(directory: &Path) -> Value {
    let text = fs::read_to_string(directory.join("model.json")).unwrap_or_default();
    let mut all: Value = serde_json::from_str(&text).unwrap_or_default();
    all["training"].take()
}

/// What is told of training: no names of files.
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
        let utterances = batch.iter().map(|ask| Utterance::new(ask.utterance.as_str())).collect();
        let details = Details {
            alternatives: batch.first().map_or(0, |ask| ask.k),
            provenance: true,
            chart: batch.iter().any(|ask| ask.chart),
        };
        let outcomes = self.parser.parse_batch(utterances, details);
        batch.iter().zip(outcomes).map(|(ask, outcome)| self.reading(ask, &outcome)).collect()
    }

    fn execute(&self, program: &str, context: Option<&Value>) -> Result<Answer, Refusal> {
        let mut terms = self.parser.model().domain.new_terms();
        let bad = |problem: spanwise_lang::Diagnostic| Refusal::Bad(problem.one_line(program));
        let term = terms.parse(program).map_err(bad)?;
        let outcome = self.parser.execute(&terms, term, context).ok_or(Refusal::NoExecutor)?;
        Ok(answer(outcome))
    }
}

fn answer(outcome: Result<Denotation, spanwise_domains::exec::ExecError>) -> Answer {
    let one_line = |text: String| text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    outcome.map(|found| (found.text, found.note)).map_err(|error| one_line(error.to_string()))
}

impl ModelEngine {
    fn reading(&self, ask: &Ask, outcome: &Outcome) -> Reading {
        let model = self.parser.model();
        let found = match outcome {
            Outcome::Nothing { reason, .. } => Err(reason.clone()),
            Outcome::Found(parse) => Ok(self.found(ask, parse)),
        };
        let chart = if ask.chart { outcome.spans().to_vec() } else { Vec::new() };
        let constants = model.domain.constants();
        let chart_span = |found: spanwise_chart::spans::SpanPosterior| ChartSpan {
            start: found.span.start,
            end: found.span.end,
            constant: found.constant.map(|id| constants[id].name.clone()),
            probability: found.probability,
        };
        Reading { words: self.words(outcome), found, chart: chart.into_iter().map(chart_span).collect() }
    }

    fn found(&self, ask: &Ask, parse: &Parse) -> Found {
        let domain = &self.parser.model().domain;
        let written = |program: TermId| domain.display(&parse.terms, program).to_string();
        // What is not told need not be evaluated either: executors may be slow, or strangers.
        let is_told = ask.abstain_below.is_none_or(|least| parse.probability >= least);
        let evaluate = |program: TermId| {
            let outcome =
                is_told.then(|| self.parser.execute(&parse.terms, program, ask.context.as_deref()))?;
            outcome.map(answer)
        };
        let alternatives = parse.alternatives.iter().map(|other| Alternative {
            program: written(other.program),
            probability: other.probability,
            posterior: other.posterior,
            score: other.score,
            denotation: evaluate(other.program).and_then(Result::ok).map(|(text, _)| text),
        });
        Found {
            program: written(parse.program),
            lines: pretty(&parse.terms, parse.program, PROGRAM_COLUMNS),
            answer: evaluate(parse.program),
            probability: parse.probability,
            posterior: parse.posterior,
            in_domain: parse.in_domain,
            unknown_words: parse.unknown().map(str::to_owned).collect(),
            score: parse.score,
            tree: parse.tree.clone().unwrap_or_default().to_json(domain, &parse.terms, &parse.utterance),
            alternatives: alternatives.collect(),
        }
    }

    /// The words with their places in characters, what they say, and whether the lexicon has them.
    fn words(&self, outcome: &Outcome) -> Vec<Word> {
        let domain = &self.parser.model().domain;
        let utterance = outcome.utterance();
        let provenance = outcome.parse().map(|parse| parse.provenance.as_slice()).unwrap_or_default();
        let mut in_lexicon = vec![false; utterance.len()];
        for found in domain.lexicon().matches(utterance) {
            in_lexicon[found.span.start as usize..found.span.end as usize].fill(true);
        }
        let text = utterance.text();
        let word = |(at, (token, place)): (usize, (&spanwise_core::Token, std::ops::Range<usize>))| {
            let found = provenance.get(at);
            let constant = found.and_then(|found| found.constant);
            Word {
                text: text[token.bytes.clone()].to_owned(),
                start: place.start,
                end: place.end,
                constant: constant.map(|id| domain.constants()[id].name.clone()),
                span: found.map(|found| [found.span.start, found.span.end]),
                probability: found.map(|found| found.probability),
                in_lexicon: in_lexicon[at],
            }
        };
        utterance.tokens().iter().zip(utterance.char_ranges()).enumerate().map(word).collect()
    }
}
