//! A model: a family's parser for a domain, with calibrated probabilities.

use crate::confidence::{Answerability, Confidence, Evidence, Novelty, ReadAs, WordRole};
use crate::directory::{FORMAT_VERSION, ModelError};
use crate::family::{Family, Parsed, Request};
use crate::outcome::{Answered, Details, Outcome, Parse, Predicted, Refused};
use crate::unread::{Basis, Known, WordEvidence, is_in_phrase, is_known_by_form, read_words, unread};
use spanwise_chart::budget::Budget;
use spanwise_core::Utterance;
use spanwise_domains::exec::ExecError;
use spanwise_domains::exec::files::{ExecutorFiles, read_files};
use spanwise_lang::Domain;
use spanwise_lang::domain::ExecutorChoice;
use spanwise_reading::CorrectionKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A model of any family, for one domain.
///
/// The family finds programs; the model turns their posteriors into calibrated probabilities.
/// [`Parser`](crate::Parser) adds the domain's executor; evaluation and training borrow the model itself.
#[derive(Debug)]
pub struct Model {
    /// The domain.
    pub domain: Arc<Domain>,
    /// How utterances become programs.
    pub family: Box<dyn Family>,
    /// Calibration of probabilities, and novelty detection.
    pub confidence: Confidence,
    /// How the model was trained. It is saved in `model.json` and shown by the page, and has no effect on parsing.
    pub training: serde_json::Value,
    /// The version of the format that it was loaded from; [`FORMAT_VERSION`] for a new model.
    pub format_version: u32,
    /// Files that the executor's command names, which are saved with the model; or why they cannot be part of one.
    pub(crate) executor_files: Result<ExecutorFiles, ExecError>,
    /// For a domain whose programs run in a database that is a file, where the path of that file starts: the directory of
    /// the domain file. A model has no copy of its database.
    pub(crate) database_directory: Option<PathBuf>,
    /// What was noticed when it was loaded.
    pub(crate) warnings: Vec<String>,
}

/// The whole path of the directory that the database of a domain is in, if its address depends on one.
fn database_directory(domain: &Domain, directory: Option<&Path>) -> Option<PathBuf> {
    let ExecutorChoice::Sql(settings) = domain.executor() else { return None };
    let is_relative = spanwise_domains::exec::sql::is_relative(settings);
    let directory = directory.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    is_relative.then(|| std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned()))
}

impl Model {
    /// A new model without calibration. The domain file is in `directory`, and so are the files that the command of its
    /// executor names. They are read now; where they cannot be part of a model, saving it is an error.
    #[must_use]
    pub fn new(domain: Arc<Domain>, family: Box<dyn Family>, directory: Option<&Path>) -> Self {
        let executor_files = read_files(&domain, directory);
        let database_directory = database_directory(&domain, directory);
        Self {
            domain,
            family,
            confidence: Confidence::default(),
            training: serde_json::Value::Null,
            format_version: FORMAT_VERSION,
            executor_files,
            database_directory,
            warnings: Vec::new(),
        }
    }

    /// What the user should know about how the model was loaded, such as that damage to its files could not be detected.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The files that the executor's command names.
    pub(crate) fn executor_files(&self) -> Result<&ExecutorFiles, ModelError> {
        let failed = |error: &ExecError| ModelError::Executor { reason: error.to_string() };
        self.executor_files.as_ref().map_err(failed)
    }

    /// Parses one utterance.
    #[must_use]
    pub fn parse(&self, utterance: Utterance, details: Details) -> Outcome {
        let mut outcomes = self.parse_batch(vec![utterance], details);
        outcomes.pop().unwrap_or_else(|| unreachable!("a batch of one has one outcome"))
    }

    /// Parses a batch in one forward pass of the network. The results are in the order of the utterances, and each depends
    /// on its own utterance only.
    ///
    /// A batch is padded to its longest utterance, so utterances of similar length should share one.
    #[must_use]
    pub fn parse_batch(&self, utterances: Vec<Utterance>, details: Details) -> Vec<Outcome> {
        let request = |utterance| Request { details, ..Request::new(utterance) };
        self.parse_requests(utterances.into_iter().map(request).collect())
    }

    /// The same, with a context, details and a budget for each utterance. One that would exceed its budget has no program, and the
    /// reason says so.
    #[must_use]
    pub fn parse_requests(&self, requests: Vec<Request<'_>>) -> Vec<Outcome> {
        let with_vectors = self.confidence.novelty.is_some() || self.confidence.answerability.is_some();
        let settings: Vec<(Details, Budget)> =
            requests.iter().map(|request| (request.details, request.budget.clone())).collect();
        let parsed = self.family.parse_batch(requests, with_vectors);
        let mut outcomes: Vec<Outcome> = parsed.into_iter().map(|parsed| self.calibrate(parsed)).collect();
        self.read_again(&mut outcomes, settings, with_vectors);
        outcomes
    }

    /// Turns the posteriors of a parse into probabilities.
    pub(crate) fn calibrate(&self, parsed: Parsed) -> Outcome {
        let Parsed { utterance, predicted, word_vectors, spans } = parsed;
        let mut parse = match predicted {
            Ok(Predicted::Program(parse)) => parse,
            Ok(Predicted::Answer(answered)) => {
                return Outcome::Answered(self.calibrate_answer(answered, &word_vectors));
            }
            Err(Refused { cause, reason }) => return Outcome::Nothing { utterance, cause, reason, spans },
        };
        parse.spans = spans;
        self.detect_novelty(&mut parse, &word_vectors);
        let WordEvidence { unread, guessed, mut evidence } = self.unread(&parse, Basis::All);
        if let Some(answerability) = &self.confidence.answerability {
            parse.answerable = answerability.log_odds(&self.vector(&parse, &word_vectors));
            evidence.answerable = parse.answerable;
        }
        (parse.unread, parse.guessed) = (unread, guessed);
        parse.alternatives.sort_by(|a, b| b.posterior.total_cmp(&a.posterior));
        let others: Vec<f64> = parse.alternatives.iter().map(|other| other.posterior).collect();
        let (best, others) =
            self.confidence.probabilities(parse.in_domain, &evidence, parse.posterior, &others);
        parse.probability = best;
        parse.alternatives.iter_mut().zip(others).for_each(|(other, p)| other.probability = p);
        Outcome::Found(parse)
    }

    /// Turns the posterior of an answer into a probability. Which words it rests on is not known.
    fn calibrate_answer(&self, mut answered: Box<Answered>, word_vectors: &[f32]) -> Box<Answered> {
        if let Some(novelty) = &self.confidence.novelty {
            let is_name = self.domain.lexicon().is_name(&answered.utterance);
            (answered.in_domain, answered.unknown_words) =
                in_domain(novelty, &answered.utterance, &is_name, word_vectors);
        }
        let (evidence, posterior) = (Evidence::default(), answered.posterior);
        (answered.probability, _) =
            self.confidence.probabilities(answered.in_domain, &evidence, posterior, &[]);
        answered
    }

    /// The words that a parse leaves out although they carry a meaning, those that it guesses, and the evidence against its
    /// program.
    #[must_use]
    pub fn unread(&self, parse: &Parse, basis: Basis) -> WordEvidence {
        let similarity = |word: &str, others: &[&str]| match self.family.span_model() {
            Some(model) => model.similarity(word, others),
            None => 0.0,
        };
        let known = Known { domain: &self.domain, counts: &self.confidence.words, similarity: &similarity };
        unread(known, parse, &parse.read(), basis)
    }

    /// The vector of an utterance that says whether it can be answered, from the encoder's vectors of its words as they
    /// were read. Empty for a family without trees, or if the vectors are not there.
    #[must_use]
    pub fn vector(&self, parse: &Parse, word_vectors: &[f32]) -> Vec<f32> {
        let (Some(spans), Some(tree)) = (self.family.span_model(), &parse.tree) else { return Vec::new() };
        let (read, width) = (parse.read(), self.family.encoder().hidden);
        if word_vectors.len() != read.len() * width {
            return Vec::new();
        }
        let words = read_words(&self.domain, tree, &read);
        let in_phrase = is_in_phrase(&self.domain, tree, &read);
        let role = |((_, read_as), in_phrase): (&(&str, ReadAs<'_>), bool)| match read_as {
            ReadAs::Value => WordRole::Value,
            _ if in_phrase => WordRole::Phrase,
            _ => WordRole::Other,
        };
        let roles: Vec<WordRole> = words.iter().zip(in_phrase).map(role).collect();
        Answerability::vector(&spans.embeddings(&read), word_vectors, width, &roles)
    }

    /// The text of a parse's program, to compare it with that of another store of terms.
    #[must_use]
    pub fn written(&self, parse: &Parse) -> String {
        self.domain.display(&parse.terms, parse.program).to_string()
    }

    /// Sets the probability that the utterance is in the domain and, if it is below one half, the unknown words.
    fn detect_novelty(&self, parse: &mut Parse, word_vectors: &[f32]) {
        let Some(novelty) = &self.confidence.novelty else { return };
        // The vectors are those of the words as they were read: a misspelt name is a name.
        let read = parse.read();
        let mut is_name = self.domain.lexicon().is_name(&read);
        // So is one without its accents, or a part of one.
        let inexact = [CorrectionKind::Folded, CorrectionKind::Part];
        for it in parse.corrections.iter().filter(|it| inexact.contains(&it.kind)) {
            is_name[it.span.start as usize..it.span.end as usize].fill(true);
        }
        // Nor does a number need an example, where the program takes it.
        if let Some(tree) = &parse.tree {
            let words = is_known_by_form(&self.domain, tree, read.len());
            is_name.iter_mut().zip(words).for_each(|(is_name, is_known)| *is_name |= is_known);
        }
        let found = in_domain(novelty, &read, &is_name, word_vectors);
        drop(read);
        (parse.in_domain, parse.unknown_words) = found;
    }
}

/// The probability that an utterance is in the domain and, if it is below one half, the unknown words.
fn in_domain(
    novelty: &Novelty,
    utterance: &Utterance,
    is_name: &[bool],
    word_vectors: &[f32],
) -> (f64, Vec<u32>) {
    let score = novelty.of(word_vectors, is_name);
    let in_domain = novelty.scale.in_domain(&score);
    let mut unknown = Vec::new();
    if in_domain < 0.5 {
        let words: Vec<&str> = utterance.tokens().iter().map(|token| &*token.lower).collect();
        unknown = novelty.unknown_words(&score, &words).into_iter().map(|at| at as u32).collect();
    }
    (in_domain, unknown)
}
