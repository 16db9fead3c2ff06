//! Approximate matching of words and names: what people type against what a lexicon has.
//!
//! A [`Speller`] finds the words near a misspelt one. A [`Matcher`] finds names and phrases in a text whose words have
//! alternatives. [`crate::lexicon::Lexicon::matches`] stays the exact search, and its matches are always among those found here.

mod candidates;
mod edits;
mod fold;
mod matcher;
mod sequences;
mod speller;
#[cfg(test)]
mod tests;

use crate::domain::ConstantId;
use crate::lexicon::Source;
pub use edits::{DOUBLE, Edits, FIRST_LETTER, INSERT, NEIGHBOUR, SUBSTITUTE, SWAP, VOWEL, edits, typo_cost};
pub use fold::fold;
pub use matcher::{JOIN, MAX_TORN, MIN_JOINED, Matcher};
use spanwise_core::Span;
pub use speller::{ACCENT, Near, Speller, max_edits};

/// Most inexact candidates of a span. Where there are more, the user has to say more.
pub const CAP: usize = 8;

/// How a text matches a name or a phrase, the best first. A match of several words is as good as the worst of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum MatchKind {
    /// Word by word, in lower case; phrases by stem.
    #[default]
    Exact,
    /// But for accents and marks.
    Folded,
    /// But for typing errors and spaces.
    Spelling,
    /// Some of the words of a longer name.
    Part,
    /// By what it means. A [`Matcher`] does not find such matches: they need vectors of words.
    Meaning,
}

/// A word that may have been meant where another was typed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Alternative<'a> {
    /// The word in lower case. It need not be folded.
    pub word: &'a str,
    /// Whether it was typed ([`MatchKind::Exact`]), or what the typed word has to do with it.
    pub kind: MatchKind,
    /// How unlikely it is that it was meant: [`Near::cost`], or zero for the typed word.
    pub cost: f32,
}

impl<'a> Alternative<'a> {
    /// The word as it was typed, in lower case.
    #[must_use]
    pub const fn typed(word: &'a str) -> Self {
        Self { word, kind: MatchKind::Exact, cost: 0.0 }
    }
}

impl<'a> From<Near<'a>> for Alternative<'a> {
    fn from(near: Near<'a>) -> Self {
        let kind = if near.edits == 0 { MatchKind::Folded } else { MatchKind::Spelling };
        Self { word: near.word, kind, cost: near.cost }
    }
}

/// A name or phrase found in a text, perhaps not exactly.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Approximate {
    /// The words it covers.
    pub span: Span,
    /// The constant it names.
    pub constant: ConstantId,
    /// Where the phrase comes from.
    pub source: Source,
    /// How it matches.
    pub kind: MatchKind,
    /// How unlikely it is that it was meant, among matches of the same kind. Zero for exact matches.
    pub cost: f32,
}

/// A span with too many candidates to offer any.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crowd {
    /// The words.
    pub span: Span,
    /// The folded words that the names have in common.
    pub text: String,
    /// Occurrences in names, counted once for each constant of a name.
    pub n: u32,
}

/// What was found in a text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Matches {
    /// By start, then end, then kind and cost.
    pub found: Vec<Approximate>,
    /// By start, then end.
    pub crowded: Vec<Crowd>,
}
