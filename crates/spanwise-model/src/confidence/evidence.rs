//! Evidence against a program from the words that it leaves out, guesses or corrects, and what that evidence has meant.

use serde::{Deserialize, Serialize};
use spanwise_reading::UnreadKind;

/// More occurrences of one kind count no more.
const MAX_COUNT: f64 = 3.0;

/// How many words speak against a program, by kind.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Evidence {
    /// Numbers that the program leaves out.
    pub numbers: f64,
    /// Names that it leaves out.
    pub names: f64,
    /// Negations that it leaves out.
    pub negations: f64,
    /// Unknown words that it leaves out, each by how little it resembles the words that are usually left out.
    pub unknown: f64,
    /// Known words that it leaves out although training utterances never do, weighted in the same way.
    pub content: f64,
    /// Words aligned to a predicate that neither the lexicon nor training aligns them to, weighted by how little they
    /// resemble the words that are.
    pub guessed: f64,
    /// The sum of the costs of corrected typing errors.
    pub corrected: f64,
    /// Names of which only a part was said.
    pub parts: f64,
}

impl Evidence {
    /// The number of kinds.
    pub const N: usize = 8;

    /// Counts a word that is left out, by how unusual that is.
    pub fn add(&mut self, kind: UnreadKind, oddness: f64) {
        *match kind {
            UnreadKind::Number => &mut self.numbers,
            UnreadKind::Name => &mut self.names,
            UnreadKind::Negation => &mut self.negations,
            UnreadKind::Unknown => &mut self.unknown,
            UnreadKind::Content => &mut self.content,
        } += oddness;
    }

    /// The counts in the order of [`Effects`], limited.
    #[must_use]
    pub fn counts(&self) -> [f64; Self::N] {
        let Self { numbers, names, negations, unknown, content, guessed, corrected, parts } = *self;
        [numbers, names, negations, unknown, content, guessed, corrected, parts]
            .map(|count| count.min(MAX_COUNT))
    }
}

/// What each kind of evidence has meant: by how much one word of it lowers the log-odds that a program is right.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effects {
    /// For numbers that are left out.
    pub numbers: f64,
    /// For names.
    pub names: f64,
    /// For negations.
    pub negations: f64,
    /// For unknown words.
    pub unknown: f64,
    /// For known words that usually have a meaning.
    pub content: f64,
    /// For words aligned to a predicate as in no training utterance.
    pub guessed: f64,
    /// For the cost of corrections.
    pub corrected: f64,
    /// For names of which only a part was said.
    #[serde(default)]
    pub parts: f64,
}

impl Default for Effects {
    /// No effects: those of a model that was never calibrated with them.
    fn default() -> Self {
        Self::from([0.0; Evidence::N])
    }
}

impl From<[f64; Evidence::N]> for Effects {
    fn from(weights: [f64; Evidence::N]) -> Self {
        let [numbers, names, negations, unknown, content, guessed, corrected, parts] = weights;
        Self { numbers, names, negations, unknown, content, guessed, corrected, parts }
    }
}

impl Effects {
    /// Above these log-odds, a posterior is no longer more convincing. It compares the programs of one utterance with each
    /// other, and is nearly 1 for many an utterance that no program fits. Of 1, 2, 3 and 4, the value that rejects most of
    /// them where 95 % of the right answers are kept, on splits of GeoQuery's train and dev sets.
    pub const MAX_LOG_ODDS: f64 = 2.0;

    /// As an array, in the order of [`Evidence::counts`].
    #[must_use]
    pub fn weights(&self) -> [f64; Evidence::N] {
        let Self { numbers, names, negations, unknown, content, guessed, corrected, parts } = *self;
        [numbers, names, negations, unknown, content, guessed, corrected, parts]
    }

    /// By how much some evidence lowers the log-odds.
    #[must_use]
    pub fn of(&self, evidence: &Evidence) -> f64 {
        self.weights().iter().zip(evidence.counts()).map(|(weight, count)| weight * count).sum()
    }

    /// Log-odds after evidence. Without any, they stay as they are.
    #[must_use]
    pub fn lower(&self, log_odds: f64, evidence: &Evidence) -> f64 {
        let effect = self.of(evidence);
        if effect > 0.0 { log_odds.min(Self::MAX_LOG_ODDS) - effect } else { log_odds }
    }

    /// Whether every effect is a number that is not negative.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.weights().iter().all(|weight| *weight >= 0.0 && weight.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_lowers_even_a_certain_posterior_and_none_changes_nothing() {
        let effects = Effects { unknown: 2.0, ..Effects::default() };
        let mut evidence = Evidence::default();
        assert_eq!(effects.lower(40.0, &evidence), 40.0);
        evidence.add(UnreadKind::Unknown, 1.0);
        assert_eq!(effects.lower(40.0, &evidence), 0.0);
        assert_eq!(effects.lower(1.0, &evidence), -1.0);
        evidence.unknown = 100.0;
        assert_eq!(effects.of(&evidence), 6.0);
        // What has no effect does not limit the posterior.
        let number = Evidence { numbers: 1.0, ..Evidence::default() };
        assert_eq!(effects.lower(40.0, &number), 40.0);
    }
}
