//! The result of parsing one utterance: programs as terms, and the tree as ids.

use spanwise_chart::budget::Exhausted;
use spanwise_chart::spans::SpanPosterior;
use spanwise_chart::tree::SpanTree;
use spanwise_core::{Span, Utterance};
use spanwise_lang::{ConstantId, TermId, Terms};
use spanwise_reading::{Cause, CorrectionKind, UnreadKind};
use std::borrow::Cow;

/// What is computed besides the best program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// Other programs, at most this many.
    pub alternatives: usize,
    /// The constant that each word is aligned to, with its probability.
    pub provenance: bool,
    /// The posterior probability of every span of the chart.
    pub chart: bool,
    /// The second most probable program, where the best one is not much more probable. It costs nothing where it is.
    pub rival: bool,
}

/// A program that was not chosen.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    /// The program.
    pub program: TermId,
    /// Its calibrated probability, never above that of the chosen one.
    pub probability: f64,
    /// Its posterior among all programs.
    pub posterior: f64,
    /// The score of its best derivation.
    pub score: f32,
}

/// The second most probable program.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rival {
    /// The program.
    pub program: TermId,
    /// Its posterior among all programs.
    pub posterior: f64,
}

impl Rival {
    /// A program with at least this posterior has no rival.
    pub(crate) const SURE: f64 = 0.8;
}

/// A rival whose posterior is at least this share of the best program's is as likely to be meant. Two readings of a literal
/// have the same scores.
const TIED: f64 = 0.95;

/// What one word contributes to a parse.
#[derive(Clone, PartialEq, Debug)]
pub struct Provenance {
    /// The constant that the word is aligned to; `None` for a null word.
    pub constant: Option<ConstantId>,
    /// The words that are aligned to the constant together.
    pub span: Span,
    /// The marginal probability of this alignment over all derivations; for a null word, that it is aligned to nothing. For
    /// a phrase that the constant takes in [`Parse::whole`] only, that it is aligned to some of these words.
    pub probability: f64,
}

/// Words that were read as others.
#[derive(Clone, PartialEq, Debug)]
pub struct Correction {
    /// The words.
    pub span: Span,
    /// What they were read as.
    pub to: String,
    /// How the two are related.
    pub kind: CorrectionKind,
    /// How unlikely the change is; zero for the same word.
    pub cost: f32,
}

/// Words that carry a meaning which the program does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unread {
    /// The words.
    pub span: Span,
    /// What kind of words they are.
    pub kind: UnreadKind,
}

/// Words that are aligned to a predicate although neither its phrases nor training utterances have them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guessed {
    /// The words.
    pub span: Span,
    /// The predicate.
    pub constant: ConstantId,
}

/// A part of a name that too many names have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crowded {
    /// The words.
    pub span: Span,
    /// How many names have them.
    pub n_names: usize,
}

/// Why an utterance has no parse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// The kind of reason.
    pub cause: Cause,
    /// The reason, in words.
    pub reason: String,
}

impl Refused {
    /// The words allow no program.
    pub(crate) fn no_program(reason: impl Into<String>) -> Self {
        Self { cause: Cause::NoProgram, reason: reason.into() }
    }

    /// It would have cost too much.
    pub(crate) fn too_costly(reason: impl Into<String>) -> Self {
        Self { cause: Cause::TooCostly, reason: reason.into() }
    }

    /// It was not finished when its budget was used up.
    pub(crate) fn given_up(limit: Exhausted) -> Self {
        Self::too_costly(format!("the work was given up: it reached {limit}"))
    }

    /// The weights are of no use.
    pub(crate) fn diverged() -> Self {
        Self::no_program("the model's scores are no finite numbers: its training diverged; train it again")
    }
}

/// The best program for an utterance. Programs are terms of `terms`.
#[derive(Clone, Debug)]
pub struct Parse {
    /// The utterance.
    pub utterance: Utterance,
    /// The store of all programs here.
    pub terms: Terms,
    /// The program.
    pub program: TermId,
    /// The tree over the words that yields it, with the highest score; `None` for a model family without trees.
    pub tree: Option<SpanTree>,
    /// Another tree that yields it, in which constants take whole phrases of the domain; `None` where `tree` is one.
    pub whole: Option<SpanTree>,
    /// The sum of the tree's scores.
    pub score: f32,
    /// The probability that the program is right: calibrated, and lower where the utterance looks out-of-domain.
    pub probability: f64,
    /// The probability of the program among all programs; for the paper's search, that of the tree under the per-span
    /// softmax.
    pub posterior: f64,
    /// The probability that the utterance is in the domain; 1 for a model without novelty detection.
    pub in_domain: f64,
    /// The log-odds that the utterance can be answered at all, by what it resembles; zero if that is not known.
    pub answerable: f64,
    /// The unknown words, where the utterance is more likely out-of-domain than not.
    pub unknown_words: Vec<u32>,
    /// The words that were read as others.
    pub corrections: Vec<Correction>,
    /// The corrections that change a word of the language, which may have been meant. Where there are any, the program is a
    /// suggestion, to be confirmed.
    pub suggested: Vec<Correction>,
    /// Another correction of a misspelt word that is about as likely, if it leads to another program.
    pub tied: Option<Correction>,
    /// The words that carry a meaning which the program does not have.
    pub unread: Vec<Unread>,
    /// The words whose meaning is only a guess.
    pub guessed: Vec<Guessed>,
    /// Parts of names that too many names have.
    pub crowded: Vec<Crowded>,
    /// The second most probable program, where it was requested and is close to the best one.
    pub rival: Option<Rival>,
    /// Other programs, the most probable first.
    pub alternatives: Vec<Alternative>,
    /// One entry per word, if requested.
    pub provenance: Vec<Provenance>,
    /// The spans of the chart with their posterior probabilities, if requested.
    pub spans: Vec<SpanPosterior>,
}

impl Parse {
    /// A parse of which nothing is known but its program.
    #[must_use]
    pub fn new(utterance: Utterance, terms: Terms, program: TermId, posterior: f64, score: f32) -> Self {
        Self {
            utterance,
            terms,
            program,
            tree: None,
            whole: None,
            score,
            probability: posterior,
            posterior,
            in_domain: 1.0,
            answerable: 0.0,
            unknown_words: Vec::new(),
            corrections: Vec::new(),
            suggested: Vec::new(),
            tied: None,
            unread: Vec::new(),
            guessed: Vec::new(),
            crowded: Vec::new(),
            rival: None,
            alternatives: Vec::new(),
            provenance: Vec::new(),
            spans: Vec::new(),
        }
    }

    /// A parse without a tree, from programs with their log-probabilities, the most probable first; `None` without any.
    pub(crate) fn without_tree(
        utterance: Utterance,
        terms: Terms,
        programs: &[(TermId, f64)],
        details: Details,
    ) -> Option<Self> {
        let (&(best, log_probability), others) = programs.split_first()?;
        let posterior = log_probability.exp();
        let alternative = |&(program, log): &(TermId, f64)| {
            let posterior = log.exp();
            Alternative { program, probability: posterior, posterior, score: log as f32 }
        };
        let second = others.first().filter(|_| details.rival && posterior < Rival::SURE);
        let parse = Self::new(utterance, terms, best, posterior, log_probability as f32);
        Some(Self {
            alternatives: others.iter().take(details.alternatives).map(alternative).collect(),
            rival: second.map(|&(program, log)| Rival { program, posterior: log.exp() }),
            ..parse
        })
    }

    /// The utterance as it was read: with typing errors corrected. It has the same words at the same places.
    #[must_use]
    pub fn read(&self) -> Cow<'_, Utterance> {
        let spelling = || self.corrections.iter().filter(|it| it.kind == CorrectionKind::Spelling);
        if spelling().next().is_none() {
            return Cow::Borrowed(&self.utterance);
        }
        let words = spelling().map(|it| (it.span.start as usize, it.to.as_str()));
        Cow::Owned(self.utterance.with_words(words))
    }

    /// The tree that is shown.
    #[must_use]
    pub fn shown_tree(&self) -> Option<&SpanTree> {
        self.whole.as_ref().or(self.tree.as_ref())
    }

    /// Whether the program is a suggestion: it rests on other words than those that were written.
    #[must_use]
    pub fn is_suggestion(&self) -> bool {
        !self.suggested.is_empty()
    }

    /// Whether two programs are equally likely.
    #[must_use]
    pub fn is_tied(&self) -> bool {
        self.rival.is_some_and(|rival| rival.posterior >= TIED * self.posterior)
    }

    /// Whether it must be asked which word or which program was meant, however probable the program is.
    #[must_use]
    pub fn must_ask(&self) -> bool {
        self.is_suggestion() || self.tied.is_some() || self.is_tied()
    }

    /// The [`unknown_words`](Self::unknown_words) as they were written.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.unknown_words.iter().map(|&at| self.utterance.slice(Span { start: at, end: at + 1 }))
    }
}

/// The result of parsing one utterance. That there is no program is an outcome, not an error.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A program was found.
    Found(Box<Parse>),
    /// No program was found.
    Nothing {
        /// The utterance.
        utterance: Utterance,
        /// The kind of reason.
        cause: Cause,
        /// The reason, in words.
        reason: String,
        /// The spans of the chart with their posterior probabilities, if requested.
        spans: Vec<SpanPosterior>,
    },
}

impl Outcome {
    /// The parse, if there is one.
    #[must_use]
    pub fn parse(&self) -> Option<&Parse> {
        match self {
            Self::Found(parse) => Some(parse),
            Self::Nothing { .. } => None,
        }
    }

    /// The utterance.
    #[must_use]
    pub fn utterance(&self) -> &Utterance {
        match self {
            Self::Found(parse) => &parse.utterance,
            Self::Nothing { utterance, .. } => utterance,
        }
    }

    /// The spans of the chart with their posterior probabilities; empty unless they were requested.
    #[must_use]
    pub fn spans(&self) -> &[SpanPosterior] {
        match self {
            Self::Found(parse) => &parse.spans,
            Self::Nothing { spans, .. } => spans,
        }
    }
}
