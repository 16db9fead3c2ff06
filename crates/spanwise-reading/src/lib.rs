//! What a parser makes of one utterance, as one serialisable type: the [`Reading`].
//!
//! A reading is plain data: texts, numbers and a tree. `spanwise_model::Parser::read` makes it; the terminal, `--json`,
//! HTTP, the web page and the pictures all render it. This crate depends on no model, domain or tensor library, so that
//! clients can use it to read replies.

mod answer;
mod info;
mod remarks;
mod tree;

pub use answer::Answer;
pub use info::AnswerInfo;
pub use tree::{NodeKind, Tree, TreeNode};

use serde::{Deserialize, Serialize};

/// What a parser makes of one utterance.
///
/// `program` and `tree` are optional. A model without trees gives none, and some models give an `answer` without a program.
/// Neither is there for an utterance that no
/// program was found for, nor for an answer that was withheld (selective prediction); `reason` then says why, and
/// `guess` holds the program that was withheld. Fields that are absent are `null` in JSON, apart from those that are
/// marked as left out.
///
/// ```
/// use spanwise_reading::{Answer, Reading};
///
/// let reading: Reading = serde_json::from_str(
///     r#"{"utterance": "how many states are there", "program": "answer(count(state(all)))",
///         "answer": [50], "denotation": "[50]", "probability": 0.97}"#,
/// )?;
/// assert_eq!(reading.answer, Some(Answer::List(vec![Answer::from(50u64)])));
/// assert!(reading.tree.is_none() && reading.reason.is_none());
///
/// let withheld: Reading = serde_json::from_str(
///     r#"{"utterance": "how do i boil an egg", "reason": "unsure: probability 0.02 is below 0.5",
///         "guess": {"program": "answer(state(all))", "probability": 0.02, "posterior": 0.4}}"#,
/// )?;
/// assert!(withheld.program.is_none() && withheld.answer.is_none());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reading {
    /// The utterance as it was given.
    pub utterance: String,
    /// The program on one line; null for a model that gives answers without programs.
    pub program: Option<String>,
    /// The program broken into lines.
    pub lines: Option<String>,
    /// What the program evaluates to, as a typed value; null for a model without an executor. A model that gives answers
    /// without programs gives its own.
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub answer: Option<Answer>,
    /// The same as text, in the notation of the domain's executor.
    pub denotation: Option<String>,
    /// The calibrated probability that the program, or the answer without one, is right: `posterior` after Platt scaling, times `in_domain`.
    pub probability: Option<f64>,
    /// The probability of the program among all programs for this utterance, or of the answer among all answers.
    pub posterior: Option<f64>,
    /// The probability that the utterance is in the domain.
    pub in_domain: Option<f64>,
    /// The score of the Viterbi derivation.
    pub score: Option<f32>,
    /// The tree over the words that yields the program.
    pub tree: Option<Tree>,
    /// Other programs, the most probable first.
    #[serde(default)]
    pub alternatives: Vec<Alternative>,
    /// Every word with the constant that it is aligned to.
    #[serde(default)]
    pub tokens: Vec<Token>,
    /// The words that the model knows nothing about, where the utterance looks out-of-domain.
    #[serde(default)]
    pub unknown_words: Vec<String>,
    /// The words that were read as others: typing errors, parts of names, accents.
    #[serde(default)]
    pub corrections: Vec<Correction>,
    /// The words that carry a meaning which the program does not have.
    #[serde(default)]
    pub unread: Vec<Unread>,
    /// The probability below which answers are withheld; null where nothing is withheld.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// The date that relative dates refer to; left out where the domain has no dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The spans of the chart with their posterior probabilities; left out unless requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chart: Option<Vec<ChartSpan>>,
    /// Why there is no program and no answer; left out where there is one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The kind of reason, for programs; left out without a reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What to ask back, where that would help; otherwise left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clarification: Option<Clarification>,
    /// The most probable program or answer, where it was withheld because its probability is too low; otherwise left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guess: Option<Guess>,
    /// Why the program could not be evaluated; otherwise left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// A remark of the executor on the answer, such as why it is empty; otherwise left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What is known about the answer beside its value; left out where that is nothing.
    #[serde(default, skip_serializing_if = "AnswerInfo::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub answer_info: AnswerInfo,
    /// The program as the query of a database, human-readable; left out where programs are not evaluated by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub sql: Option<String>,
    /// The name of this reading in the log of questions of a server, which judgements of it refer to; left out without a
    /// log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub id: Option<String>,
}

/// Words that were read as others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Correction {
    /// First word and one past the last.
    pub span: [u32; 2],
    /// The words as they were written.
    pub from: String,
    /// What they were read as.
    pub to: String,
    /// How the two are related.
    pub kind: CorrectionKind,
}

/// How written words are related to what they were read as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CorrectionKind {
    /// The same but for case, accents or punctuation.
    Folded,
    /// A typing error.
    Spelling,
    /// A part of a longer name.
    Part,
    /// Other words of a similar meaning.
    Meaning,
}

/// Words that carry a meaning which the program does not have.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Unread {
    /// First word and one past the last.
    pub span: [u32; 2],
    /// The words as they were written.
    pub words: String,
    /// What kind of words they are.
    pub kind: UnreadKind,
}

/// Why words count as unread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UnreadKind {
    /// A number, an amount, a date.
    Number,
    /// A name of the domain.
    Name,
    /// A negation: `not`, `without`.
    Negation,
    /// The beginning of a second question: `and when`. A program answers one.
    Question,
    /// A word that the parser has never seen.
    Unknown,
    /// A known word that usually has a meaning.
    Content,
}

/// Why there is no program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Words that the parser has never seen.
    UnknownWords,
    /// Words that the best program leaves out: a number, a name, a negation.
    UnreadWords,
    /// Two programs are about as probable.
    Ambiguous,
    /// Part of a name that too many names have.
    ManyNames,
    /// The utterance is unlike what the parser was trained on.
    OutOfDomain,
    /// The utterance resembles examples that have no program.
    Unanswerable,
    /// The best program is not probable enough.
    Unsure,
    /// The words allow no program.
    NoProgram,
    /// It would have cost too much.
    TooCostly,
}

/// What to ask back.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Clarification {
    /// The question, in words.
    pub question: String,
    /// The programs or names to choose from.
    pub choices: Vec<String>,
}

/// A program that was withheld, or an answer without one.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Guess {
    /// The program on one line; null for a model that gives answers without programs.
    pub program: Option<String>,
    /// The answer, where there is no program; otherwise left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub answer: Option<Answer>,
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
    /// The score of its Viterbi derivation.
    pub score: f32,
    /// What it evaluates to, as a typed value.
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub answer: Option<Answer>,
    /// What is known about that value; left out where that is nothing.
    #[serde(default, skip_serializing_if = "AnswerInfo::is_empty")]
    #[cfg_attr(feature = "openapi", schema(required = false))]
    pub answer_info: AnswerInfo,
    /// The same as text, in the notation of the domain's executor.
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
    /// The constant that the word is aligned to; null for a null word.
    pub constant: Option<String>,
    /// The words that are aligned to the constant together; null where there is no program.
    pub span: Option<[u32; 2]>,
    /// The probability of that alignment.
    pub probability: Option<f64>,
    /// Whether a phrase of the lexicon contains this word.
    pub in_lexicon: bool,
    /// Whether the word carries a meaning which the program does not have.
    #[serde(default)]
    pub unread: bool,
    /// The word that it was read as, if that is another one; otherwise left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<String>,
}

/// A span of the chart with its posterior probability.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChartSpan {
    /// First word and one past the last.
    pub span: [u32; 2],
    /// The constant that exactly these words are aligned to; null for a join over them.
    pub constant: Option<String>,
    /// The share of all derivations, weighted by their scores, that contain the span.
    pub probability: f64,
}

#[cfg(test)]
mod tests;
