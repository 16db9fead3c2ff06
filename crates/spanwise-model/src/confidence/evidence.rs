//! Evidence against a program from the words that it leaves out, guesses or corrects, and what that evidence has meant.

use serde::{Deserialize, Serialize};
use spanwise_reading::UnreadKind;

/// More occurrences of one kind count no more.
const MAX_COUNT: f64 = 3.0;

/// One number for each kind of evidence that words give.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ByKind {
    /// For numbers that the program leaves out.
    pub numbers: f64,
    /// For names that it leaves out.
    pub names: f64,
    /// For negations that it leaves out.
    pub negations: f64,
    /// For unknown words that it leaves out. Each counts by how little it resembles the words that are usually left out.
    pub unknown: f64,
    /// For known words that it leaves out although training utterances never do, weighted in the same way.
    pub content: f64,
    /// For words aligned to a predicate that neither the lexicon nor training aligns them to, weighted by how little they
    /// resemble the words that are.
    pub guessed: f64,
    /// For the costs of corrected typing errors.
    pub corrected: f64,
    /// For names of which only a part was said.
    #[serde(default)]
    pub parts: f64,
    /// For further questions in one utterance.
    #[serde(default)]
    pub questions: f64,
}

impl ByKind {
    /// The number of kinds.
    pub const N: usize = 9;

    /// As an array.
    #[must_use]
    pub fn array(&self) -> [f64; Self::N] {
        let Self { numbers, names, negations, unknown, content, guessed, corrected, parts, questions } =
            *self;
        [numbers, names, negations, unknown, content, guessed, corrected, parts, questions]
    }
}

impl From<[f64; Self::N]> for ByKind {
    fn from(values: [f64; Self::N]) -> Self {
        let [numbers, names, negations, unknown, content, guessed, corrected, parts, questions] = values;
        Self { numbers, names, negations, unknown, content, guessed, corrected, parts, questions }
    }
}

/// The evidence for and against the program of an utterance, besides its posterior.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Evidence {
    /// How many words speak against it.
    pub words: ByKind,
    /// The log-odds that the utterance can be answered, by how much it resembles utterances that can and cannot; zero if
    /// that is not known. See [`Answerability`](super::Answerability).
    pub answerable: f64,
}

impl Evidence {
    /// Counts a word that is left out, by how unusual that is.
    pub fn add(&mut self, kind: UnreadKind, oddness: f64) {
        *match kind {
            UnreadKind::Number => &mut self.words.numbers,
            UnreadKind::Name => &mut self.words.names,
            UnreadKind::Negation => &mut self.words.negations,
            UnreadKind::Question => &mut self.words.questions,
            UnreadKind::Unknown => &mut self.words.unknown,
            UnreadKind::Content => &mut self.words.content,
        } += oddness;
    }

    /// The counts of words, limited.
    #[must_use]
    pub fn counts(&self) -> [f64; ByKind::N] {
        self.words.array().map(|count| count.min(MAX_COUNT))
    }
}

/// What each kind of evidence has meant: by how much one word of it lowers the log-odds that a program is right. The
/// default is nothing: a model that was never calibrated.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Effects(pub ByKind);

impl Effects {
    /// Above these log-odds, a posterior is no longer more convincing. It compares the programs of one utterance with each
    /// other, and is nearly 1 for many an utterance that no program fits. Of 1, 2, 3 and 4, the value that rejects most of
    /// them where 95 % of the right answers are kept, on splits of GeoQuery's train and dev sets.
    pub const MAX_LOG_ODDS: f64 = 2.0;

    /// The weight of [`Evidence::answerable`] where the utterance resembles unanswerable ones, and
    const AGAINST: f64 = 1.0;

    /// where it resembles answerable ones. It is lower, because it may do so in all words but one.
    /// Of 0.8, 1.0 and 1.2, and of 0.2 to 0.6, chosen as above.
    const FOR: f64 = 0.4;

    /// The share of the effect of odd words that an utterance which resembles answerable ones can make up for. With all of
    /// it, a question of which a part is not read would pass as certain.
    const MAX_MADE_UP: f64 = 0.5;

    /// By how much some evidence lowers the log-odds.
    #[must_use]
    pub fn of(&self, evidence: &Evidence) -> f64 {
        let words = self.0.array().iter().zip(evidence.counts()).map(|(effect, n)| effect * n).sum();
        Self::after_answerable(words, evidence.answerable).0
    }

    /// What is left of the effect of odd words after an utterance's answerability, and its derivative with respect to them.
    #[must_use]
    pub fn after_answerable(words: f64, answerable: f64) -> (f64, f64) {
        let weight = if answerable < 0.0 { Self::AGAINST } else { Self::FOR };
        let (made_up, most) = (weight * answerable, Self::MAX_MADE_UP * words);
        if made_up < most { (words - made_up, 1.0) } else { (words - most, 1.0 - Self::MAX_MADE_UP) }
    }

    /// Log-odds after evidence. Without any against a program, they stay as they are.
    #[must_use]
    pub fn lower(&self, log_odds: f64, evidence: &Evidence) -> f64 {
        let effect = self.of(evidence);
        if effect > 0.0 { log_odds.min(Self::MAX_LOG_ODDS) - effect } else { log_odds }
    }

    /// Whether every effect is a number that is not negative.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.0.array().iter().all(|effect| *effect >= 0.0 && effect.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_lowers_even_a_certain_posterior_and_none_changes_nothing() {
        let effects = Effects(ByKind { unknown: 2.0, ..ByKind::default() });
        let mut evidence = Evidence::default();
        assert_eq!(effects.lower(40.0, &evidence), 40.0);
        evidence.add(UnreadKind::Unknown, 1.0);
        assert_eq!(effects.lower(40.0, &evidence), 0.0);
        assert_eq!(effects.lower(1.0, &evidence), -1.0);
        evidence.words.unknown = 100.0;
        assert_eq!(effects.of(&evidence), 6.0);
        // What has no effect does not limit the posterior.
        let words = ByKind { numbers: 1.0, ..ByKind::default() };
        assert_eq!(effects.lower(40.0, &Evidence { words, answerable: 0.0 }), 40.0);
    }

    #[test]
    fn an_utterance_like_answerable_ones_makes_up_for_some_of_its_odd_words_and_raises_nothing() {
        let effects = Effects(ByKind { unknown: 2.0, ..ByKind::default() });
        let with = |unknown: f64, answerable: f64| Evidence {
            words: ByKind { unknown, ..ByKind::default() },
            answerable,
        };
        assert_eq!(effects.lower(1.5, &with(0.0, 5.0)), 1.5);
        assert!((effects.lower(1.5, &with(1.0, 1.0)) + 0.1).abs() < 1e-12);
        // For half of their effect at most.
        assert_eq!(effects.lower(1.5, &with(1.0, 5.0)), 0.5);
        assert_eq!(effects.lower(40.0, &with(1.0, 5.0)), 1.0);
        // Like those that cannot be answered, although every word is known.
        assert!((effects.lower(40.0, &with(0.0, -5.0)) + 3.0).abs() < 1e-12);
    }
}
