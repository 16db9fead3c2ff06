//! Which words of an utterance its best program leaves out although they carry a meaning, and which it only guesses.

use crate::confidence::{Evidence, Familiarity, WordCounts};
use crate::outcome::{Parse, Unread};
use spanwise_chart::tree::{Category, SpanTree};
use spanwise_core::{Span, Utterance};
use spanwise_lang::{ConstantId, Domain, Kind};
use spanwise_reading::UnreadKind;

/// What words are compared with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// All utterances that words were counted in.
    All,
    /// The others: as if this utterance had not been one of them.
    Others,
}

/// The words of one parse, as they were read.
struct Words<'a> {
    domain: &'a Domain,
    counts: &'a WordCounts,
    basis: Basis,
    read: &'a Utterance,
    /// The constant that each word is aligned to.
    aligned: Vec<Option<(ConstantId, Span)>>,
}

/// The words that a parse leaves out although they carry a meaning, and the evidence against its program. Nothing, where
/// no words were counted or where the family has no trees. `read` is the utterance as it was read, after corrections.
///
/// Cost: a few look-ups for each word.
#[must_use]
pub fn unread(
    domain: &Domain,
    counts: &WordCounts,
    parse: &Parse,
    read: &Utterance,
    basis: Basis,
) -> (Vec<Unread>, Evidence) {
    let mut evidence = Evidence::default();
    let Some(tree) = parse.tree.as_ref().filter(|_| !counts.is_empty()) else {
        return (Vec::new(), evidence);
    };
    let words = Words { domain, counts, basis, read, aligned: aligned(tree, read.len()) };
    evidence.corrected = parse.corrections.iter().map(|it| f64::from(it.cost)).sum();
    let mut found: Vec<Unread> = Vec::new();
    for (at, is_name) in domain.lexicon().is_name(read).into_iter().enumerate() {
        let Some(kind) = words.kind(at, is_name) else { continue };
        let here = at as u32;
        match found.last_mut().filter(|last| last.kind == kind && last.span.end == here) {
            Some(last) => {
                last.span.end = here + 1;
                if matches!(kind, UnreadKind::Unknown | UnreadKind::Content) {
                    evidence.add(kind);
                }
            }
            None => {
                evidence.add(kind);
                found.push(Unread { span: Span::new(here, here + 1), kind });
            }
        }
    }
    evidence.guessed = words.n_guessed() as f64;
    (found, evidence)
}

/// The constant that each word is aligned to.
fn aligned(tree: &SpanTree, n_words: usize) -> Vec<Option<(ConstantId, Span)>> {
    let mut aligned = vec![None; n_words];
    for node in &tree.nodes {
        if let Category::Constant(constant) = node.category {
            aligned[node.span.start as usize..node.span.end as usize].fill(Some((constant, node.span)));
        }
    }
    aligned
}

/// Every word, and whether a tree aligns it to nothing.
#[must_use]
pub fn null_words<'a>(tree: &SpanTree, read: &'a Utterance) -> Vec<(&'a str, bool)> {
    let aligned = aligned(tree, read.len());
    let words = read.tokens().iter().zip(aligned);
    words.map(|(token, aligned)| (token.lower.as_str(), aligned.is_none())).collect()
}

impl Words<'_> {
    fn word(&self, at: usize) -> &str {
        &self.read.tokens()[at].lower
    }

    /// What is known about a word.
    fn familiarity(&self, at: usize) -> Familiarity {
        let word = self.word(at);
        let left_out = match self.basis {
            Basis::All => [0, 0],
            Basis::Others => {
                let same = || (0..self.read.len()).filter(|&other| self.word(other) == word);
                let n_null = same().filter(|&other| self.aligned[other].is_none()).count();
                [same().count() as u32, n_null as u32]
            }
        };
        self.counts.without(word, left_out)
    }

    /// Why a word counts as unread; `None` if it is read, or carries no meaning.
    fn kind(&self, at: usize, is_name: bool) -> Option<UnreadKind> {
        let word = self.word(at);
        let language = self.domain.language();
        let is_negation = language.is_some_and(|language| language.negations.contains(&word));
        // Single letters are what is left of `what's` and of initials.
        let is_word = has_digit(word) || word.chars().filter(|c| c.is_alphabetic()).count() > 1;
        if self.aligned[at].is_some() || !(is_word || is_negation) || self.domain.is_no_meaning(word) {
            return None;
        }
        let familiarity = self.familiarity(at);
        if familiarity == Familiarity::Null {
            return None;
        }
        if is_negation {
            return Some(UnreadKind::Negation);
        }
        if has_digit(word) || language.is_some_and(|language| language.number_words.contains(&word)) {
            return Some(UnreadKind::Number);
        }
        if is_name {
            return Some(UnreadKind::Name);
        }
        match familiarity {
            Familiarity::Unknown => Some(UnreadKind::Unknown),
            Familiarity::Content => Some(UnreadKind::Content),
            Familiarity::Null => None,
        }
    }

    /// The number of unknown words and of numbers under predicates without a phrase of the lexicon: a predicate that was
    /// learned on one number says nothing of another.
    fn n_guessed(&self) -> usize {
        let matches = self.domain.lexicon().matches(self.read);
        let is_guess = |at: &usize| {
            let Some((constant, span)) = self.aligned[*at] else { return false };
            self.domain.constants()[constant].kind == Kind::Predicate
                && (self.familiarity(*at) == Familiarity::Unknown || has_digit(self.word(*at)))
                && !matches.iter().any(|found| found.constant == constant && found.span == span)
        };
        (0..self.read.len()).filter(is_guess).count()
    }
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}
