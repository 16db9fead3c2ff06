//! What it is worth to say nothing: answers withheld below a probability, and utterances of other domains.
//!
//! In go scored predictions and the probabilities that foreign utterances got; out come shares in percent and thresholds.

use crate::metrics::ScoredExample;
use serde_json::{Map, Value, json};

/// What is left when answers below a probability are withheld.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Answered {
    /// Examples that are answered, in percent.
    pub answered: Option<f64>,
    /// Right answers, in percent of the answered examples of which it is known.
    pub accuracy_answered: Option<f64>,
}

impl Answered {
    /// Answers what is at least this probable.
    #[must_use]
    pub fn new(scored: &[ScoredExample], below: f64) -> Self {
        let kept = || scored.iter().filter(|one| one.found && one.probability >= below);
        let known: Vec<bool> = kept().filter_map(ScoredExample::is_right).collect();
        Self {
            answered: percent(kept().count(), scored.len()),
            accuracy_answered: percent(known.iter().filter(|right| **right).count(), known.len()),
        }
    }
}

/// How many foreign utterances are turned away at a threshold that keeps a share of the right answers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rejection {
    /// The share of right answers to keep, in percent.
    pub kept: f64,
    /// The highest threshold that keeps them.
    pub threshold: f64,
    /// Foreign utterances below it, in percent.
    pub rejected: f64,
}

impl Rejection {
    /// `foreign` are the probabilities of the answers to foreign utterances, 0 where there is none. `None` where no
    /// answer of the domain is right or nothing is foreign.
    #[must_use]
    pub fn new(scored: &[ScoredExample], foreign: &[f64], kept: f64) -> Option<Self> {
        let threshold = threshold_keeping(scored, kept)?;
        let n = foreign.iter().filter(|p| **p < threshold).count();
        Some(Self { kept, threshold, rejected: percent(n, foreign.len())? })
    }

    /// The fields of a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let fields = [("kept", self.kept), ("threshold", self.threshold), ("rejected", self.rejected)];
        fields.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
    }
}

/// The highest probability that at least `kept` percent of the right answers have.
#[must_use]
pub fn threshold_keeping(scored: &[ScoredExample], kept: f64) -> Option<f64> {
    let mut right: Vec<f64> =
        scored.iter().filter(|one| one.is_right() == Some(true)).map(|one| one.probability).collect();
    right.sort_by(|a, b| b.total_cmp(a));
    // A hair less, so that 90 % of 10 is not 10 where the product comes out above 9.
    let n = (kept.clamp(0.0, 100.0) / 100.0 * right.len() as f64 - 1e-9).ceil() as usize;
    right.get(n.max(1) - 1).copied()
}

fn percent(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(points: &[(f64, bool)]) -> Vec<ScoredExample> {
        let one = |&(probability, right): &(f64, bool)| ScoredExample {
            exact: Some(right),
            found: true,
            probability,
            ..ScoredExample::default()
        };
        points.iter().map(one).collect()
    }

    #[test]
    fn withholding_answers_leaves_the_ones_that_are_probable_enough() {
        let mut all = scored(&[(0.9, true), (0.5, true), (0.4, false), (0.3, true)]);
        all.push(ScoredExample { exact: Some(false), ..ScoredExample::default() });
        let at = |below| {
            let Answered { answered, accuracy_answered } = Answered::new(&all, below);
            (answered, accuracy_answered)
        };
        assert_eq!(at(0.5), (Some(40.0), Some(100.0)));
        assert_eq!(at(0.4), (Some(60.0), Some(200.0 / 3.0)));
        // What was not found is no answer, whatever the threshold.
        assert_eq!(at(0.0), (Some(80.0), Some(75.0)));
        assert_eq!(at(0.95), (Some(0.0), None));
        assert_eq!(Answered::new(&[], 0.5), Answered { answered: None, accuracy_answered: None });
    }

    #[test]
    fn the_threshold_is_the_highest_that_keeps_the_share() {
        let points: Vec<(f64, bool)> = (1..=20).map(|at| (f64::from(at) / 20.0, at % 2 == 0)).collect();
        let all = scored(&points);
        for kept in [0.0, 10.0, 50.0, 90.0, 95.0, 100.0] {
            let threshold = threshold_keeping(&all, kept).unwrap();
            let share = |t: f64| 10.0 * points.iter().filter(|(p, right)| *right && *p >= t).count() as f64;
            assert!(share(threshold) >= kept);
            assert!(share(threshold + 0.01) < kept.max(1.0), "{kept} could be kept at more than {threshold}");
        }
        assert_eq!(threshold_keeping(&scored(&[(0.5, false)]), 90.0), None);
    }

    #[test]
    fn foreign_utterances_are_rejected_below_the_threshold_only() {
        let all = scored(&[(0.5, true)]);
        let rejection = Rejection::new(&all, &[0.0, 0.49, 0.5, 0.9], 90.0).unwrap();
        assert_eq!((rejection.threshold, rejection.rejected), (0.5, 50.0));
        assert_eq!(rejection.to_json()["kept"], 90.0);
        assert_eq!(Rejection::new(&all, &[], 90.0), None);
    }
}
