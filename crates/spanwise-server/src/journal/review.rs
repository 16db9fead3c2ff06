//! What a log of questions teaches: examples from judgements, and the questions that are most worth a label.

use super::entry::{Judgement, ModelName, Question, Verdict};
use super::read::Log;
use serde_json::Value;
use spanwise_core::Utterance;
use std::collections::{BTreeMap, BTreeSet};

/// What the parts of a score weigh: how unsure the parser is, how often the question was asked, how unlike the known it is.
const WEIGHTS: [f64; 3] = [0.5, 0.3, 0.2];
/// The novelty of a question where nothing is known about it.
const UNKNOWN: f64 = 0.5;
/// How many times as many questions as are wanted are read again with a model.
const CANDIDATES: usize = 10;

/// A question whose right program is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Labelled {
    /// The words.
    pub utterance: String,
    /// What relative dates referred to.
    pub now: Option<String>,
    /// What it was about.
    pub context: Option<Value>,
    /// The right program; `None` for a question that should not be answered.
    pub program: Option<String>,
}

/// A question whose program is wrong, and nobody said which one is right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong {
    /// The words.
    pub utterance: String,
    /// The program that is wrong.
    pub program: Option<String>,
}

/// A question that was judged in two ways.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The words.
    pub utterance: String,
    /// The earlier judgement, in words.
    pub earlier: String,
    /// The later one, which counts.
    pub later: String,
}

/// A question that is worth a label.
#[derive(Clone, PartialEq, Debug)]
pub struct Unsure {
    /// The words, as they were last asked.
    pub utterance: String,
    /// The best program.
    pub program: Option<String>,
    /// How often it was asked.
    pub count: usize,
    /// The probability of the best program.
    pub probability: Option<f64>,
    /// How unlike the known it is, from 0 to 1.
    pub novelty: Option<f64>,
    /// Whether somebody said that the program is wrong.
    pub is_wrong: bool,
    /// From 0 to 1; the higher, the more it is worth.
    pub score: f64,
}

/// What the judgements of a log say.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Review {
    /// Questions with their programs, in the order in which they were first judged.
    pub examples: Vec<Labelled>,
    /// Questions without one.
    pub wrong: Vec<Wrong>,
    /// Questions that were judged in two ways.
    pub conflicts: Vec<Conflict>,
}

/// What is known about a question after its judgements so far.
#[derive(Clone, PartialEq, Debug)]
enum Label {
    Program(String),
    Unanswerable,
    Wrong(Option<String>),
}

impl Label {
    fn of(judgement: &Judgement) -> Self {
        match (judgement.verdict, &judgement.program) {
            (Verdict::Unanswerable, _) => Self::Unanswerable,
            (Verdict::Right | Verdict::Wrong, Some(program)) => Self::Program(program.clone()),
            (Verdict::Right, None) => match &judgement.replied {
                Some(program) => Self::Program(program.clone()),
                None => Self::Unanswerable,
            },
            (Verdict::Wrong, None) => Self::Wrong(judgement.replied.clone()),
        }
    }

    /// Whether both can be true: a correction after a plain `wrong`, or another program that is wrong as well.
    fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Wrong(_), Self::Wrong(_)) => true,
            (Self::Wrong(wrong), Self::Program(right)) | (Self::Program(right), Self::Wrong(wrong)) => {
                wrong.as_ref() != Some(right)
            }
            (Self::Wrong(_), Self::Unanswerable) | (Self::Unanswerable, Self::Wrong(_)) => true,
            (one, other) => one == other,
        }
    }

    fn in_words(&self) -> String {
        match self {
            Self::Program(program) => format!("it is {program}"),
            Self::Unanswerable => "it should not be answered".to_owned(),
            Self::Wrong(Some(program)) => format!("it is not {program}"),
            Self::Wrong(None) => "it is wrong".to_owned(),
        }
    }
}

/// Gives, with a model, the probability of the best program of a question, and that it is in the domain.
pub type Reread<'a> = &'a dyn Fn(&Question) -> (Option<f64>, Option<f64>);

/// A question with what is known about it.
struct Reviewed<'a> {
    last: &'a Judgement,
    label: Label,
}

/// An utterance by which repeated questions are recognized: words in small letters, without the mark at the end.
#[must_use]
pub fn normal(utterance: &str) -> String {
    let utterance = Utterance::new(utterance);
    let words: Vec<&str> = utterance.tokens().iter().map(|token| token.lower.as_str()).collect();
    let end = words.iter().rposition(|word| !matches!(*word, "?" | "!" | "." | "…")).map_or(0, |at| at + 1);
    words[..end].join(" ")
}

impl Log {
    /// The models in the log, with the number of questions and of judgements of each.
    #[must_use]
    pub fn models(&self) -> Vec<(ModelName, usize, usize)> {
        let mut counts: BTreeMap<&ModelName, (usize, usize)> = BTreeMap::new();
        self.questions.iter().for_each(|it| counts.entry(&it.model).or_default().0 += 1);
        self.judgements.iter().for_each(|it| counts.entry(&it.model).or_default().1 += 1);
        counts.into_iter().map(|(model, (asked, judged))| (model.clone(), asked, judged)).collect()
    }

    /// Leaves only what a model of this domain was asked.
    pub fn keep_domain(&mut self, domain: &str) {
        self.questions.retain(|it| it.model.domain == domain);
        self.judgements.retain(|it| it.model.domain == domain);
    }
}

impl Review {
    /// Makes examples of the judgements of a log: each question once, and where judgements differ, the latest counts.
    #[must_use]
    pub fn of(log: &Log) -> Self {
        let mut places: BTreeMap<(String, &Option<String>, Option<String>), usize> = BTreeMap::new();
        let mut judged: Vec<Reviewed<'_>> = Vec::new();
        let mut review = Self::default();
        for judgement in &log.judgements {
            let context = judgement.context.as_ref().map(Value::to_string);
            let key = (normal(&judgement.utterance), &judgement.now, context);
            let label = Label::of(judgement);
            let place = *places.entry(key).or_insert(judged.len());
            let Some(before) = judged.get_mut(place) else {
                judged.push(Reviewed { last: judgement, label });
                continue;
            };
            if !before.label.agrees(&label) {
                let (earlier, later) = (before.label.in_words(), label.in_words());
                review.conflicts.push(Conflict { utterance: judgement.utterance.clone(), earlier, later });
            }
            // A program that is right stays, whichever others are wrong.
            let says_less = matches!(label, Label::Wrong(_)) && before.label.agrees(&label);
            if !says_less {
                before.label = label;
            }
            before.last = judgement;
        }
        for Reviewed { last, label } in judged {
            let utterance = last.utterance.clone();
            let (now, context) = (last.now.clone(), last.context.clone());
            match label {
                Label::Program(program) => {
                    review.examples.push(Labelled { utterance, now, context, program: Some(program) });
                }
                Label::Unanswerable => {
                    review.examples.push(Labelled { utterance, now, context, program: None });
                }
                Label::Wrong(program) => review.wrong.push(Wrong { utterance, program }),
            }
        }
        review
    }

    /// The `n` questions without a label that are most worth one: least sure, most frequent, most unlike what is known.
    /// `read` gives, where there is a model, the probability of its best program and of the utterance being in the domain.
    #[must_use]
    pub fn most_worth(&self, log: &Log, n: usize, read: Option<Reread<'_>>) -> Vec<Unsure> {
        let (mut found, most) = self.unlabelled(log);
        found.sort_by(|one, other| one.0.before(&other.0));
        if let Some(read) = read {
            // Reading all of a large log again would take too long.
            found.truncate(n.saturating_mul(CANDIDATES));
            for (unsure, question) in &mut found {
                let (probability, in_domain) = read(question);
                unsure.probability = probability;
                unsure.novelty = in_domain.map(|share| 1.0 - share);
                unsure.rate(most);
            }
            found.sort_by(|one, other| one.0.before(&other.0));
        }
        found.into_iter().take(n).map(|(unsure, _)| unsure).collect()
    }

    /// The questions without a label, each once with its last reply, and how often the most frequent one was asked.
    fn unlabelled<'a>(&self, log: &'a Log) -> (Vec<(Unsure, &'a Question)>, usize) {
        let labelled: BTreeSet<String> = self.examples.iter().map(|it| normal(&it.utterance)).collect();
        let wrong: BTreeSet<String> = self.wrong.iter().map(|it| normal(&it.utterance)).collect();
        let mut asked: BTreeMap<String, (&Question, usize)> = BTreeMap::new();
        for question in &log.questions {
            let entry = asked.entry(normal(&question.utterance)).or_insert((question, 0));
            *entry = (question, entry.1 + 1);
        }
        asked.retain(|text, _| !text.is_empty() && !labelled.contains(text));
        let most = asked.values().map(|(_, count)| *count).max().unwrap_or(1);
        let unsure = |(text, &(question, count)): (&String, &(&'a Question, usize))| {
            let mut unsure = Unsure {
                utterance: question.utterance.clone(),
                program: question.program.clone(),
                count,
                probability: question.probability,
                novelty: question.in_domain.map(|share| 1.0 - share),
                is_wrong: wrong.contains(text),
                score: 0.0,
            };
            unsure.rate(most);
            (unsure, question)
        };
        (asked.iter().map(unsure).collect(), most)
    }
}

impl Unsure {
    fn rate(&mut self, most: usize) {
        // A program that is wrong is as doubtful as one can be.
        let doubt = if self.is_wrong { 1.0 } else { 1.0 - self.probability.unwrap_or(0.0) };
        let frequency = (1.0 + self.count as f64).ln() / (1.0 + most as f64).ln();
        let parts = [doubt, frequency, self.novelty.unwrap_or(UNKNOWN)];
        self.score = parts.iter().zip(WEIGHTS).map(|(part, weight)| part.clamp(0.0, 1.0) * weight).sum();
    }

    fn before(&self, other: &Self) -> std::cmp::Ordering {
        let by_score = other.score.total_cmp(&self.score);
        by_score.then_with(|| self.utterance.cmp(&other.utterance))
    }
}

#[cfg(test)]
mod tests;
