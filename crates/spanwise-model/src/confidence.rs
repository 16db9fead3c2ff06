//! Calibrated probabilities of answers, from the posterior of a program and the novelty of its utterance.
//!
//! The posterior compares the programs of one utterance with each other. It does not show whether the utterance is in the
//! domain at all, nor how often programs with such a posterior are correct. So
//!
//! > probability = P(the utterance is in the domain) x P(the program is correct | the utterance is in the domain)
//!
//! The second factor is Platt scaling ([`Calibration`]): a logistic function of the log-odds of the posterior. The first
//! one is a logistic function of the novelty of the words ([`Novelty`]). Words that a program leaves out or guesses, and
//! what the utterance resembles, lower the second one ([`Effects`]). All are fitted by `spanwise_eval::calibrate`.

mod answerable;
mod evidence;
mod novelty;
mod words;

pub use answerable::{Answerability, WordRole};
pub use evidence::{ByKind, Effects, Evidence};
pub use novelty::{Novelty, NoveltyScore, Scale, distance, nearest, normalize};

pub use words::{Familiarity, ReadAs, WordCounts};

use serde::{Deserialize, Serialize};

/// Log-odds are clamped to plus or minus this.
const MAX_LOG_ODDS: f64 = 40.0;

/// Platt scaling: the log-odds of the calibrated probability are `slope * x + offset`, where `x` are the log-odds of the
/// posterior.
///
/// ```
/// use spanwise_model::confidence::Calibration;
///
/// // A slope below 1 corrects overconfidence: a posterior of 0.9 becomes a probability of 0.75.
/// let calibration = Calibration { slope: 0.5, offset: 0.0 };
/// assert!((calibration.of(0.9) - 0.75).abs() < 1e-12);
/// // The default is the identity.
/// assert_eq!(Calibration::default().of(0.9), 0.9);
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Not negative, so that a higher posterior never gives a lower probability.
    pub slope: f64,
    /// The calibrated log-odds of a posterior of one half.
    pub offset: f64,
}

impl Default for Calibration {
    /// The identity.
    fn default() -> Self {
        Self { slope: 1.0, offset: 0.0 }
    }
}

impl Calibration {
    /// The probability that a program with this posterior is correct.
    #[must_use]
    pub fn of(&self, posterior: f64) -> f64 {
        // The identity is exact: without a calibration the result is the posterior itself, without rounding.
        if *self == Self::default() {
            return if posterior.is_nan() { 0.0 } else { posterior.clamp(0.0, 1.0) };
        }
        sigmoid(self.slope * log_odds(posterior) + self.offset)
    }
}

/// The log-odds of a probability, clamped to a finite range.
#[must_use]
pub fn log_odds(p: f64) -> f64 {
    let p = if p.is_nan() { 0.0 } else { p.clamp(0.0, 1.0) };
    (p.ln() - (-p).ln_1p()).clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)
}

/// The logistic function: the probability with these log-odds.
#[must_use]
pub fn sigmoid(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// The calibration and the novelty detection of a model.
///
/// ```
/// use spanwise_model::Confidence;
/// use spanwise_model::confidence::{Calibration, Evidence};
///
/// let calibration = Calibration { slope: 0.5, offset: 0.0 };
/// let confidence = Confidence { calibration, ..Confidence::default() };
/// // The utterance is in the domain with probability 0.8. The posteriors of its programs are 0.9, 0.06 and 0.04.
/// let (best, others) = confidence.probabilities(0.8, &Evidence::default(), 0.9, &[0.06, 0.04]);
/// // 0.8 x 0.75, and the other programs share 0.8 x 0.25 in proportion to their posteriors.
/// assert!((best - 0.6).abs() < 1e-12);
/// assert!((others[0] - 0.12).abs() < 1e-12 && (others[1] - 0.08).abs() < 1e-12);
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Confidence {
    /// Maps posteriors to probabilities.
    pub calibration: Calibration,
    /// What the words of training utterances usually mean, to find those that a program leaves out.
    pub words: WordCounts,
    /// What it has meant that words are left out, guessed or corrected.
    pub effects: Effects,
    /// Detects out-of-domain utterances; with `None`, every utterance counts as in-domain.
    pub novelty: Option<Novelty>,
    /// Recognizes utterances that cannot be answered, where examples of such were given.
    pub answerability: Option<Answerability>,
    /// Answers that are less probable than this are withheld; `None` for a model that was never calibrated.
    pub threshold: Option<f64>,
}

impl Confidence {
    /// The probabilities of the Viterbi (1-best) program and of others, from their posteriors; the order is kept.
    ///
    /// The others share the remaining probability in proportion to their posteriors, and none of them gets more than the
    /// best one. The sum is at most `in_domain`, the probability that the utterance is in the domain.
    #[must_use]
    pub fn probabilities(
        &self,
        in_domain: f64,
        evidence: &Evidence,
        best: f64,
        others: &[f64],
    ) -> (f64, Vec<f64>) {
        let right = self.calibration.of(best);
        // What is left out speaks against all programs of the utterance alike.
        let credit = self.credit(right, evidence) * in_domain;
        let known: f64 = others.iter().sum();
        // Rounding can make posteriors sum to more than one.
        let rest = (1.0 - best).max(known);
        let share = |posterior: &f64| {
            let part = if rest > 0.0 { posterior / rest } else { 0.0 };
            ((1.0 - right) * part).min(right) * credit
        };
        (right * credit, others.iter().map(share).collect())
    }

    /// The factor by which evidence lowers the probability of a program.
    fn credit(&self, right: f64, evidence: &Evidence) -> f64 {
        let before = log_odds(right);
        let after = self.effects.lower(before, evidence);
        if after < before && right > 0.0 { sigmoid(after) / right } else { 1.0 }
    }
}

#[cfg(test)]
mod tests;
