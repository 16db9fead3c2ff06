//! What a parser must offer to be served.
//!
//! Plain texts and numbers cross this border. How an engine finds its readings is its own business; trees come as JSON
//! text, for they nest as deep as utterances are long.

use serde_json::Value;
use std::sync::Arc;

/// One utterance, and how it is to be read.
#[derive(Clone, PartialEq, Debug)]
pub struct Ask {
    /// The text.
    pub utterance: String,
    /// Most other programs to give.
    pub k: usize,
    /// Whether the probabilities of all spans are wanted.
    pub chart: bool,
    /// A program that is less probable than this is not to be evaluated, nor told.
    pub abstain_below: Option<f64>,
    /// What programs are evaluated in.
    pub context: Option<Arc<Value>>,
}

/// What became of an utterance.
#[derive(Clone, PartialEq, Debug)]
pub struct Reading {
    /// The words with their places.
    pub words: Vec<Word>,
    /// The program, or the reason why there is none.
    pub found: Result<Found, String>,
    /// The spans that may mean something; empty where that was not asked for.
    pub chart: Vec<ChartSpan>,
}

/// A program and what is known about it.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The program on one line.
    pub program: String,
    /// The program broken into lines.
    pub lines: String,
    /// What it evaluates to; `None` where programs are not evaluated.
    pub answer: Option<Answer>,
    /// How probable it is that it is right.
    pub probability: f64,
    /// Its share among all programs for the utterance.
    pub posterior: f64,
    /// How probable it is that the utterance is one for this domain.
    pub in_domain: f64,
    /// The words that make the utterance look foreign, as they were said.
    pub unknown_words: Vec<String>,
    /// The score of its tree.
    pub score: f32,
    /// The tree as JSON.
    pub tree: String,
    /// Other programs, best first.
    pub alternatives: Vec<Alternative>,
}

/// What a program evaluates to, or why it does not.
pub type Answer = Result<(String, Option<String>), String>;

/// A program that was not chosen.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    /// The program.
    pub program: String,
    /// How probable it is that it is right.
    pub probability: f64,
    /// Its share among all programs for the utterance.
    pub posterior: f64,
    /// The score of its best tree.
    pub score: f32,
    /// What it evaluates to, where it does.
    pub denotation: Option<String>,
}

/// A word of an utterance. Places count characters, spans count words.
#[derive(Clone, PartialEq, Debug)]
pub struct Word {
    /// The word as it was written.
    pub text: String,
    /// Its first character.
    pub start: usize,
    /// One past its last character.
    pub end: usize,
    /// The constant it says; `None` for a word without meaning.
    pub constant: Option<String>,
    /// The words that say the constant together; `None` where there is no program.
    pub span: Option<[u32; 2]>,
    /// How sure that is.
    pub probability: Option<f64>,
    /// Whether some phrase of the lexicon has this word.
    pub in_lexicon: bool,
}

/// How probable it is that a span means something as a whole.
#[derive(Clone, PartialEq, Debug)]
pub struct ChartSpan {
    /// First word.
    pub start: u32,
    /// One past the last word.
    pub end: u32,
    /// The constant on exactly these words; `None` where parts join.
    pub constant: Option<String>,
    /// The probability over all readings.
    pub probability: f64,
}

/// Why a program was not evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It is no program, or the context does not fit it.
    Bad(String),
    /// The domain of the model has no executor.
    NoExecutor,
}

/// What there is to know about a model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ModelInfo {
    /// The name of its domain.
    pub domain: String,
    /// One line about the domain.
    pub about: String,
    /// The encoder, in words.
    pub encoder: String,
    /// Who evaluates programs; `None` for nobody.
    pub executor: Option<String>,
    /// The version of the model's format.
    pub version: u32,
    /// How the model is made.
    pub settings: Value,
    /// What was measured when it was trained.
    pub metrics: Value,
    /// Utterances to try.
    pub examples: Vec<String>,
}

/// A parser that can be shared between threads.
pub trait Engine: Send + Sync + 'static {
    /// What there is to know about it.
    fn describe(&self) -> ModelInfo;

    /// Reads a batch: one reading for each utterance, in their order. All have the same `k`. Nothing of one utterance
    /// may influence another.
    fn parse(&self, batch: &[Ask]) -> Vec<Reading>;

    /// Evaluates a program.
    ///
    /// # Errors
    /// A program that cannot be evaluated at all; one that has no value is an [`Answer`].
    fn execute(&self, program: &str, context: Option<&Value>) -> Result<Answer, Refusal>;
}

/// Tells one state of a model on disk from another. Equal stamps mean: nothing has changed.
pub type Stamp = u64;

/// Where an engine comes from.
pub trait Source: Send + Sync + 'static {
    /// Loads the engine.
    ///
    /// # Errors
    /// What is wrong, in words.
    fn load(&self) -> Result<Arc<dyn Engine>, String>;

    /// The state of what would be loaded; `None` when there is nothing to load. `broken` says that the last load failed,
    /// so that every part of the model may be what needs a change.
    fn stamp(&self, broken: bool) -> Option<Stamp>;
}
