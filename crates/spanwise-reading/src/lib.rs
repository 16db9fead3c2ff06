//! What a parser makes of one utterance, as one serialisable type.
//!
//! A [`Reading`] is plain data: texts, numbers and a tree. The terminal, `--json`, HTTP, the page and the pictures
//! render it and nothing else. The model crate makes it; this crate knows neither models nor domains.

mod answer;
mod tree;

pub use answer::Answer;
pub use tree::{NodeKind, Tree, TreeNode};

use serde::{Deserialize, Serialize};

/// What a parser makes of one utterance.
///
/// `program` and `tree` are optional: a model without trees has none, and neither has an answer that was withheld or an
/// utterance that nothing was found for. `reason` then says why.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reading {
    /// The utterance as it was given.
    pub utterance: String,
    /// The program on one line.
    pub program: Option<String>,
    /// The program broken into lines.
    pub lines: Option<String>,
    /// What the program evaluates to, as a typed value.
    pub answer: Option<Answer>,
    /// The same as text, in the notation of the domain's executor.
    pub denotation: Option<String>,
    /// The calibrated probability that the program is right.
    pub probability: Option<f64>,
    /// The probability of the program among all programs for this utterance.
    pub posterior: Option<f64>,
    /// The probability that the utterance is in the domain.
    pub in_domain: Option<f64>,
    /// The score of the best derivation.
    pub score: Option<f32>,
    /// The tree over the words that gives the program.
    pub tree: Option<Tree>,
    /// Other programs, the most probable first.
    pub alternatives: Vec<Alternative>,
    /// Every word with what it is aligned to.
    pub tokens: Vec<Token>,
    /// The words that the model knows nothing about, where the utterance looks out-of-domain.
    pub unknown_words: Vec<String>,
    /// The spans of the chart with their posterior probabilities, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<Vec<ChartSpan>>,
    /// Why there is no program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The best program where it was withheld because it is not probable enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guess: Option<Guess>,
    /// Why the program has no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What there is to say about the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A program that was withheld.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Guess {
    /// The program on one line.
    pub program: String,
    /// Its calibrated probability.
    pub probability: f64,
    /// Its probability among all programs for this utterance.
    pub posterior: f64,
}

/// A program that was not chosen.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Alternative {
    /// The program on one line.
    pub program: String,
    /// Its calibrated probability, never above that of the chosen one.
    pub probability: f64,
    /// Its probability among all programs for this utterance.
    pub posterior: f64,
    /// The score of its best derivation.
    pub score: f32,
    /// What it evaluates to, as a typed value.
    pub answer: Option<Answer>,
    /// The same as text.
    pub denotation: Option<String>,
}

/// A word of the utterance. `start` and `end` count characters (Unicode code points), `span` counts tokens.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Token {
    /// The word as it was written.
    pub text: String,
    /// Its first character.
    pub start: usize,
    /// One past its last character.
    pub end: usize,
    /// The constant that the word is aligned to; `None` for a word without meaning.
    pub constant: Option<String>,
    /// The words that are aligned to the constant together; `None` where there is no program.
    pub span: Option<[u32; 2]>,
    /// The probability of that alignment.
    pub probability: Option<f64>,
    /// Whether a phrase of the lexicon contains this word.
    pub in_lexicon: bool,
}

/// A span of the chart with its posterior probability.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChartSpan {
    /// First word and one past the last.
    pub span: [u32; 2],
    /// The constant on exactly these words; `None` where parts join.
    pub constant: Option<String>,
    /// The probability over all derivations.
    pub probability: f64,
}
