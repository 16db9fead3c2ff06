//! Selective prediction: coverage and accuracy of a model that abstains below a threshold, and how many out-of-domain
//! utterances the threshold rejects.
//!
//! All shares are percentages from 0 to 100; thresholds are probabilities from 0 to 1.

use crate::metrics::ScoredExample;
use serde_json::{Map, Value, json};

/// Coverage and accuracy at a threshold: the model abstains from all answers with a lower probability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SelectiveAccuracy {
    /// The coverage: answered examples in percent of all.
    pub answered: Option<f64>,
    /// Correct answers in percent of the answered examples that can be scored; 100 minus the selective risk.
    pub accuracy_answered: Option<f64>,
}

impl SelectiveAccuracy {
    /// The model answers if its probability is at least `threshold`. A missing prediction is never an answer.
    #[must_use]
    pub fn new(scored: &[ScoredExample], threshold: f64) -> Self {
        let kept = || scored.iter().filter(|one| one.found && one.probability >= threshold);
        let known: Vec<bool> = kept().filter_map(ScoredExample::is_right).collect();
        Self {
            answered: percent(kept().count(), scored.len()),
            accuracy_answered: percent(known.iter().filter(|right| **right).count(), known.len()),
        }
    }
}

/// The share of out-of-domain utterances that are rejected at a threshold that keeps a share of the correct answers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rejection {
    /// The share of correct answers to keep, in percent.
    pub kept: f64,
    /// The highest threshold that keeps them.
    pub threshold: f64,
    /// Out-of-domain utterances with a lower probability, in percent.
    pub rejected: f64,
}

impl Rejection {
    /// `out_of_domain` has the probability of the answer to each out-of-domain utterance, 0 for no answer. `None` if it is
    /// empty, or if no in-domain answer is correct.
    #[must_use]
    pub fn new(scored: &[ScoredExample], out_of_domain: &[f64], kept: f64) -> Option<Self> {
        let threshold = threshold_keeping(scored, kept)?;
        let n = out_of_domain.iter().filter(|p| **p < threshold).count();
        Some(Self { kept, threshold, rejected: percent(n, out_of_domain.len())? })
    }

    /// The fields of a JSON object.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let fields = [("kept", self.kept), ("threshold", self.threshold), ("rejected", self.rejected)];
        fields.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
    }
}

/// The highest threshold that at least `kept` percent of the correct answers reach; `None` if no answer is correct.
#[must_use]
pub fn threshold_keeping(scored: &[ScoredExample], kept: f64) -> Option<f64> {
    let mut right: Vec<f64> =
        scored.iter().filter(|one| one.is_right() == Some(true)).map(|one| one.probability).collect();
    right.sort_by(|a, b| b.total_cmp(a));
    // Slightly less, because rounding errors would make 90 % of 10 the next integer, 10.
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
    fn answers_below_the_threshold_count_neither_for_coverage_nor_for_accuracy() {
        let mut all = scored(&[(0.9, true), (0.5, true), (0.4, false), (0.3, true)]);
        all.push(ScoredExample { exact: Some(false), ..ScoredExample::default() });
        let at = |threshold| {
            let SelectiveAccuracy { answered, accuracy_answered } = SelectiveAccuracy::new(&all, threshold);
            (answered, accuracy_answered)
        };
        assert_eq!(at(0.5), (Some(40.0), Some(100.0)));
        assert_eq!(at(0.4), (Some(60.0), Some(200.0 / 3.0)));
        // A missing prediction is not an answer at any threshold.
        assert_eq!(at(0.0), (Some(80.0), Some(75.0)));
        assert_eq!(at(0.95), (Some(0.0), None));
        let none = SelectiveAccuracy { answered: None, accuracy_answered: None };
        assert_eq!(SelectiveAccuracy::new(&[], 0.5), none);
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
    fn out_of_domain_utterances_are_rejected_only_below_the_threshold() {
        let all = scored(&[(0.5, true)]);
        let rejection = Rejection::new(&all, &[0.0, 0.49, 0.5, 0.9], 90.0).unwrap();
        assert_eq!((rejection.threshold, rejection.rejected), (0.5, 50.0));
        assert_eq!(rejection.to_json()["kept"], 90.0);
        assert_eq!(Rejection::new(&all, &[], 90.0), None);
    }
}
