//! Model directories as engines of the HTTP server.

use crate::commands::withhold::UNCALIBRATED;
use crate::commands::{check_types, now};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use spanwise_core::{Moment, Utterance};
use spanwise_domains::exec::Until;
use spanwise_domains::text::{Kind, read_text};
use spanwise_lang::domain::ExecutorChoice;
use spanwise_model::{Budget, ExecutorPolicy, Model, Parser, Question, Withhold};
use spanwise_reading::Reading;
use spanwise_server::{self as server, Ask, Engine, Executed, ModelInfo, Refusal, Source, Stamp, Waiting};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Most examples that a model shows, and most characters of each.
const MAX_EXAMPLES: usize = 12;
const MAX_EXAMPLE: usize = 200;
/// Most bytes of `examples.txt`.
const MAX_EXAMPLES_FILE: u64 = 1 << 20;

/// What holds for all requests that do not say otherwise.
#[derive(Clone, Copy)]
pub(super) struct Defaults {
    pub(super) policy: ExecutorPolicy,
    pub(super) withhold: Withhold,
    /// What relative dates refer to; without it, the day of the request.
    pub(super) now: Option<Moment>,
}

/// A model directory.
pub(super) struct ModelSource {
    directory: PathBuf,
    defaults: Defaults,
    /// The hash of the executor that the call of the server allows: that of the model as it was first loaded.
    allowed: Mutex<Option<String>>,
}

impl ModelSource {
    pub(super) fn new(directory: PathBuf, defaults: Defaults) -> Self {
        Self { directory, defaults, allowed: Mutex::default() }
    }

    /// What the executor of a model that is loaded now may do. `--allow-executor` is about what the model was at the start:
    /// an executor that came later must have been allowed by `spanwise allow`.
    fn policy(&self, model: &Model) -> ExecutorPolicy {
        let policy = self.defaults.policy;
        let Ok(Some(executor)) = model.external_executor() else { return policy };
        let mut allowed = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = *allowed.get_or_insert_with(|| executor.sha256.clone()) == executor.sha256;
        if is_same { policy } else { ExecutorPolicy::Remembered }
    }
}

impl Source for ModelSource {
    fn load(&self) -> Result<Arc<dyn Engine>, String> {
        // Before the load: a model that is replaced meanwhile is loaded again.
        let digest = digest(&self.directory);
        let model = Model::load(&self.directory).map_err(|error| error.to_string())?;
        let policy = self.policy(&model);
        let parser = Parser::with_policy(model, policy).map_err(|error| error.to_string())?;
        let notes = &parser.model().training;
        let (training, examples) = (training(notes), examples(&self.directory, &notes["examples"]));
        Ok(Arc::new(ModelEngine { parser, training, examples, defaults: self.defaults, digest }))
    }

    /// `model.json` is written last: a new model is complete only when it changes. After a load that failed, a change of
    /// any file counts, since each may be the damaged one.
    fn stamp(&self, broken: bool) -> Option<Stamp> {
        let manifest = self.directory.join("model.json");
        fs::metadata(&manifest).ok()?;
        let mut files = vec![manifest];
        if broken {
            files.extend(fs::read_dir(&self.directory).ok()?.flatten().map(|entry| entry.path()));
            files.sort();
        }
        let mut stamp = DefaultHasher::new();
        for file in files {
            let found = fs::metadata(&file).ok().map(|found| (found.len(), found.modified().ok()));
            (file, found).hash(&mut stamp);
        }
        Some(stamp.finish())
    }
}

/// The beginning of the SHA-256 of `model.json`, which names all other files with theirs.
fn digest(directory: &Path) -> String {
    let bytes = fs::read(directory.join("model.json")).unwrap_or_default();
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// What clients may see of the training notes: no names of files.
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
    let own =
        read_text(&directory.join("examples.txt"), Kind::Regular, MAX_EXAMPLES_FILE).unwrap_or_default();
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
    defaults: Defaults,
    digest: String,
}

impl Engine for ModelEngine {
    fn describe(&self) -> ModelInfo {
        let model = self.parser.model();
        let encoder = model.family.encoder();
        let executor = match model.domain.executor() {
            ExecutorChoice::None => None,
            ExecutorChoice::Builtin(name) => Some(name.value.clone()),
            _ if self.parser.executor_refusal().is_some() => Some("not allowed".to_owned()),
            ExecutorChoice::Command { .. } => Some("command".to_owned()),
            ExecutorChoice::Url { .. } => Some("url".to_owned()),
            ExecutorChoice::Sql(_) => Some("sql".to_owned()),
        };
        let architecture = format!("{:?}", encoder.architecture).to_lowercase();
        ModelInfo {
            domain: model.domain.name().to_owned(),
            about: model.domain.about().to_owned(),
            encoder: match encoder.layers {
                0 => format!("word vectors of {}", encoder.hidden),
                n => format!("{architecture}, {n} layers of {}", encoder.hidden),
            },
            executor,
            threshold: model.confidence.threshold,
            version: model.format_version,
            settings: serde_json::to_value(model.family.settings()).unwrap_or_default(),
            metrics: self.training.clone(),
            examples: self.examples.clone(),
            digest: self.digest.clone(),
        }
    }

    fn warnings(&self) -> Vec<String> {
        let refusal = self.parser.executor_refusal().map(|reason| format!("it gives no answers: {reason}"));
        let is_asked = self.defaults.withhold == Withhold::Default;
        let model = self.parser.model();
        let uncalibrated = is_asked && model.confidence.threshold.is_none();
        let uncalibrated = uncalibrated.then(|| UNCALIBRATED.to_owned());
        model.warnings().iter().cloned().chain(refusal).chain(uncalibrated).collect()
    }

    fn cost(&self, ask: &Ask) -> Duration {
        self.parser.estimated_time(&self.question(ask))
    }

    fn parse(&self, batch: &[Ask]) -> Vec<Reading> {
        let questions: Vec<Question<'_>> = batch.iter().map(|ask| self.question(ask)).collect();
        self.parser.read_batch(&questions)
    }

    fn evaluates_apart(&self) -> bool {
        matches!(self.parser.model().domain.executor(), ExecutorChoice::Sql(_))
    }

    fn evaluate(&self, ask: &Ask, mut reading: Reading) -> Reading {
        self.parser.evaluate(&self.question(ask), &mut reading);
        reading
    }

    fn execute(&self, program: &str, context: Option<&Value>) -> Result<Executed, Refusal> {
        self.execute_until(program, context, &Waiting::default())
    }

    fn execute_until(
        &self,
        program: &str,
        context: Option<&Value>,
        waiting: &Waiting,
    ) -> Result<Executed, Refusal> {
        let mut terms = self.parser.model().domain.new_terms();
        let bad = |problem: spanwise_lang::Diagnostic| Refusal::Bad(problem.one_line(program));
        let term = terms.parse(program).map_err(bad)?;
        check_types(&self.parser.model().domain, &terms, term).map_err(Refusal::Bad)?;
        let sql = self.parser.explain(&terms, term);
        let executed = Executed { program: program.to_owned(), sql, ..Executed::default() };
        let one_line = |text: String| text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        let until = Until { deadline: waiting.deadline, cancelled: Some(Arc::clone(&waiting.cancelled)) };
        let outcome = self.parser.execute_until(&terms, term, context, &until);
        Ok(match outcome.ok_or(Refusal::NoExecutor)? {
            Ok(found) => Executed {
                answer: Some(found.answer),
                answer_info: found.info,
                denotation: Some(found.text),
                note: found.note,
                ..executed
            },
            Err(error) => Executed { error: Some(one_line(error.to_string())), ..executed },
        })
    }

    fn check(&self, program: &str) -> Result<String, Refusal> {
        let domain = &self.parser.model().domain;
        let mut terms = domain.new_terms();
        let bad = |problem: spanwise_lang::Diagnostic| Refusal::Bad(problem.one_line(program));
        let term = terms.parse(program).map_err(bad)?;
        domain.analyze(&terms, term).map_err(|problem| Refusal::Bad(problem.describe(domain, &terms)))?;
        Ok(domain.display(&terms, term).to_string())
    }
}

impl ModelEngine {
    fn question<'a>(&self, ask: &'a Ask) -> Question<'a> {
        let now = ask.now.or(self.defaults.now).or_else(now::today);
        Question {
            utterance: Utterance::new(ask.utterance.as_str()).said_at(now),
            context: ask.context.as_deref(),
            alternatives: ask.k,
            withhold: match ask.withhold {
                server::Withhold::Model => Withhold::Default,
                server::Withhold::Below(least) => Withhold::Below(least),
                server::Withhold::Never => Withhold::Never,
            },
            chart: ask.chart,
            budget: Budget {
                deadline: ask.deadline,
                cancelled: Some(Arc::clone(&ask.cancelled)),
                ..Budget::interactive()
            },
            execute: ask.execute,
            execute_alternatives: ask.execute_alternatives,
        }
    }
}

/// Which programs a server withholds from requests that do not say.
pub(super) fn served(withhold: Withhold) -> server::Withhold {
    match withhold {
        Withhold::Default => server::Withhold::Model,
        Withhold::Below(least) => server::Withhold::Below(least),
        Withhold::Never => server::Withhold::Never,
    }
}
