//! The lines of the log of questions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format.
pub const VERSION: u64 = 1;

/// What a line holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A [`Question`].
    Question,
    /// A [`Judgement`].
    Judgement,
}

/// Which model replied.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct ModelName {
    /// The name that the server knows it by.
    pub name: String,
    /// The name of its domain.
    pub domain: String,
    /// The same for the same files.
    #[serde(default)]
    pub digest: String,
}

/// What became of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It has a program, or an answer without one.
    Answered,
    /// It has a guess that was not probable enough.
    Withheld,
    /// Nothing was found.
    Nothing,
}

/// A question with its reply.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Question {
    /// [`VERSION`].
    pub version: u64,
    /// Always `question`.
    pub kind: Kind,
    /// Its name, which judgements refer to.
    pub id: String,
    /// When it was asked, in seconds since 1970.
    pub time: f64,
    /// Which model replied.
    pub model: ModelName,
    /// The words.
    pub utterance: String,
    /// What relative dates referred to, where the domain has dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// What it was about, such as a scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// What became of it.
    pub outcome: Outcome,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The program, or the guess that was withheld.
    pub program: Option<String>,
    /// Its calibrated probability.
    pub probability: Option<f64>,
    /// The probability that the utterance is in the domain.
    #[serde(default)]
    pub in_domain: Option<f64>,
    /// Other programs, the most probable first.
    #[serde(default)]
    pub alternatives: Vec<String>,
}

/// What somebody says about a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Its program is right.
    Right,
    /// It is not; the right program may come with it.
    Wrong,
    /// No program of the domain is right: the question should not be answered.
    Unanswerable,
}

/// A judgement of a reply. It repeats what it is about, so that it has its meaning without the line of the question.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Judgement {
    /// [`VERSION`].
    pub version: u64,
    /// Always `judgement`.
    pub kind: Kind,
    /// The name of the question.
    pub id: String,
    /// When it was judged, in seconds since 1970.
    pub time: f64,
    /// Which model replied.
    pub model: ModelName,
    /// The words.
    pub utterance: String,
    /// What relative dates referred to, where the domain has dates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// What it was about, such as a scene.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Value>,
    /// The judgement.
    pub verdict: Verdict,
    /// The program of the reply, or the guess that was withheld.
    pub replied: Option<String>,
    /// The right program, where it is known.
    pub program: Option<String>,
}

impl Question {
    /// Whether the reply had a program that was not withheld.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.outcome == Outcome::Answered && self.program.is_some()
    }
}

impl Judgement {
    /// A judgement of a question, made now.
    pub(crate) fn of(question: &Question, verdict: Verdict, program: Option<String>) -> Self {
        Self {
            version: VERSION,
            kind: Kind::Judgement,
            id: question.id.clone(),
            time: super::seconds(),
            model: question.model.clone(),
            utterance: question.utterance.clone(),
            now: question.now.clone(),
            context: question.context.clone(),
            verdict,
            replied: question.program.clone(),
            program,
        }
    }
}
