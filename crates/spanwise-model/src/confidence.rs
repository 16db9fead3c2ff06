//! How far an answer can be trusted: from the posterior of a program and the novelty of an utterance to a probability.
//!
//! The posterior compares readings of one utterance with each other. It cannot know whether the utterance has a reading
//! at all, nor how often such posteriors were right. So
//!
//! > probability = P(the utterance is of this domain) x P(the program is right, given that it is)
//!
//! The second factor is a logistic curve over the log-odds of the posterior, the first one a logistic curve over the
//! novelty of the words. In go numbers and vectors, out come numbers; how they were fitted, and what the words are, is
//! for others to know.

mod novelty;

pub use novelty::{Novel, Novelty, Scale, distance, nearest, normalize};

use serde::{Deserialize, Serialize};

/// Log-odds beyond this are all the same.
const MAX_LOG_ODDS: f64 = 40.0;

/// A logistic curve from log-odds to log-odds: `slope * x + offset`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Never negative, so that a higher posterior never means a lower probability.
    pub slope: f64,
    /// Log-odds of a posterior of one half.
    pub offset: f64,
}

impl Default for Calibration {
    /// Leaves posteriors as they are.
    fn default() -> Self {
        Self { slope: 1.0, offset: 0.0 }
    }
}

impl Calibration {
    /// The probability that a program with this posterior is right. Cost: constant.
    #[must_use]
    pub fn of(&self, posterior: f64) -> f64 {
        // Exactly, not up to rounding: a model without a calibration says what the chart says.
        if *self == Self::default() {
            return if posterior.is_nan() { 0.0 } else { posterior.clamp(0.0, 1.0) };
        }
        sigmoid(self.slope * log_odds(posterior) + self.offset)
    }
}

/// Log-odds of a probability, kept finite.
#[must_use]
pub fn log_odds(p: f64) -> f64 {
    let p = if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) };
    (p.ln() - (-p).ln_1p()).clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)
}

/// The probability with these log-odds.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// What a model knows about how far it can be trusted.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Confidence {
    /// From posteriors to shares of right answers.
    pub calibration: Calibration,
    /// What the words of the domain look like; `None` when nothing is known, and every utterance counts as familiar.
    pub novelty: Option<Novelty>,
}

impl Confidence {
    /// The probabilities of the best program and of others, in their order, from posteriors.
    ///
    /// The others share what the best one leaves, in proportion to their posteriors, and none of them gets more than the
    /// best one. The sum is at most `in_domain`.
    #[must_use]
    pub fn probabilities(&self, in_domain: f64, best: f64, others: &[f64]) -> (f64, Vec<f64>) {
        let right = self.calibration.of(best);
        let known: f64 = others.iter().sum();
        // Rounding can make posteriors sum to more than one.
        let rest = (1.0 - best).max(known);
        let share = |posterior: &f64| {
            let part = if rest > 0.0 { posterior / rest } else { 0.0 };
            ((1.0 - right) * part).min(right) * in_domain
        };
        (right * in_domain, others.iter().map(share).collect())
    }
}

#[cfg(test)]
mod tests;
