//! Statistics over seeds and over test examples: means and deviations, bins, risk-coverage curves.

use serde::{Deserialize, Serialize};
use spanwise_eval::metrics::Calibration;
use spanwise_lang::Terms;

/// Bins of a reliability diagram, as many as the calibration error has.
pub const N_BINS: usize = 10;
/// Most bins of program lengths.
const MAX_LENGTH_BINS: usize = 6;
/// Percent of coverage between two points of a risk curve.
const RISK_STEP: usize = 5;

/// A mean over seeds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Mean {
    /// How many.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// The standard deviation of the sample (over n - 1); one number has none.
    pub deviation: Option<f64>,
}

impl Mean {
    /// The mean of some numbers; `None` of nothing.
    #[must_use]
    pub fn new(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = (n > 1).then(|| (squares / (n - 1) as f64).sqrt());
        Some(Self { n, mean, deviation })
    }

    /// `95.7 ± 0.3 (3)`, or `95.7 (1)` where one number has no deviation. Without `decimals`, numbers are shown in full.
    #[must_use]
    pub fn shown(&self, decimals: Option<usize>) -> String {
        let Self { n, mean, deviation } = *self;
        let mean = fixed(mean, decimals);
        match deviation {
            Some(deviation) => format!("{mean} ± {} ({n})", fixed(deviation, decimals)),
            None => format!("{mean} ({n})"),
        }
    }
}

/// A number with so many decimals, or in full.
pub(crate) fn fixed(number: f64, decimals: Option<usize>) -> String {
    decimals.map_or_else(|| number.to_string(), |decimals| format!("{number:.decimals$}"))
}

/// A prediction for a test example, and whether it is right.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ScoredExample {
    /// Names and calls in the gold program, if there is one that can be parsed.
    pub size: Option<u64>,
    /// The probability of the prediction.
    pub probability: f64,
    /// Whether it is right: by denotation where that is known, by exact match elsewhere.
    pub right: Option<bool>,
}

/// What statistics need of a line that `spanwise eval --predictions` writes.
#[derive(Deserialize)]
struct PredictionLine {
    gold: Option<String>,
    probability: f64,
    exact: Option<bool>,
    denotation_correct: Option<bool>,
}

impl ScoredExample {
    /// Reads a line of the predictions that `spanwise eval` writes; `None` for any other line.
    #[must_use]
    pub fn read(line: &str, terms: &mut Terms) -> Option<Self> {
        let line: PredictionLine = serde_json::from_str(line).ok()?;
        let gold = line.gold.and_then(|text| terms.parse(&text).ok());
        let right = line.denotation_correct.or(line.exact);
        Some(Self { size: gold.map(|program| terms.size(program)), probability: line.probability, right })
    }
}

/// Programs of similar size.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LengthBin {
    /// The smallest size.
    pub from: u64,
    /// The largest size.
    pub to: u64,
}

impl LengthBin {
    /// `5` or `5–7`.
    #[must_use]
    pub fn shown(&self) -> String {
        if self.from == self.to { self.from.to_string() } else { format!("{}–{}", self.from, self.to) }
    }

    /// The share of right predictions among programs of these sizes, in percent, and how many there are.
    #[must_use]
    pub fn accuracy(&self, examples: &[ScoredExample]) -> Option<(f64, usize)> {
        let is_in = |one: &&ScoredExample| one.size.is_some_and(|size| (self.from..=self.to).contains(&size));
        let answers: Vec<bool> = examples.iter().filter(is_in).filter_map(|one| one.right).collect();
        let n_right = answers.iter().filter(|right| **right).count();
        (!answers.is_empty()).then(|| (100.0 * n_right as f64 / answers.len() as f64, answers.len()))
    }
}

/// Cuts sizes into a few bins of about the same number of examples; programs of one size stay together.
#[must_use]
pub fn length_bins(sizes: impl IntoIterator<Item = u64>) -> Vec<LengthBin> {
    let mut sizes: Vec<u64> = sizes.into_iter().collect();
    sizes.sort_unstable();
    let per_bin = sizes.len().div_ceil(MAX_LENGTH_BINS).max(1);
    let mut bins: Vec<(LengthBin, usize)> = Vec::new();
    for group in sizes.chunk_by(|a, b| a == b) {
        match bins.last_mut().filter(|(_, n)| *n < per_bin) {
            Some((bin, n)) => {
                bin.to = group[0];
                *n += group.len();
            }
            None => bins.push((LengthBin { from: group[0], to: group[0] }, group.len())),
        }
    }
    bins.into_iter().map(|(bin, _)| bin).collect()
}

/// A bin of a reliability diagram.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct ReliabilityBin {
    /// Predictions in it.
    pub n: usize,
    /// Their mean probability, from 0 to 1.
    pub probability: f64,
    /// The share of them that is right, from 0 to 1.
    pub right: f64,
}

/// Predictions by probability, in equal bins; empty bins are left out.
#[must_use]
pub fn reliability(examples: &[ScoredExample]) -> Vec<ReliabilityBin> {
    let mut bins = [ReliabilityBin::default(); N_BINS];
    for one in examples {
        let Some(right) = one.right else { continue };
        let bin = &mut bins[((one.probability * N_BINS as f64) as usize).min(N_BINS - 1)];
        bin.n += 1;
        bin.probability += one.probability;
        bin.right += f64::from(u8::from(right));
    }
    let mean = |bin: ReliabilityBin| ReliabilityBin {
        n: bin.n,
        probability: bin.probability / bin.n as f64,
        right: bin.right / bin.n as f64,
    };
    bins.into_iter().filter(|bin| bin.n > 0).map(mean).collect()
}

/// The share of errors, in percent, among the most probable predictions: coverage in percent, then risk.
#[must_use]
pub fn risk_curve(examples: &[ScoredExample]) -> Vec<(f64, f64)> {
    let points = examples.iter().filter_map(|one| Some((one.probability, one.right?)));
    let calibration = Calibration::new(points);
    let at = |coverage: usize| Some((coverage as f64, calibration.risk_at(coverage as f64)?));
    (RISK_STEP..=100).step_by(RISK_STEP).filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(size: u64, probability: f64, right: bool) -> ScoredExample {
        ScoredExample { size: Some(size), probability, right: Some(right) }
    }

    #[test]
    fn means_and_deviations_are_those_of_the_textbook() {
        assert_eq!(Mean::new(&[]), None);
        assert_eq!(Mean::new(&[80.0]), Some(Mean { n: 1, mean: 80.0, deviation: None }));
        // Squared distances 9, 1, 1, 1, 0, 0, 4, 16 of the mean 5 sum to 32; over 7.
        let mean = Mean::new(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!(mean.mean, 5.0);
        assert!((mean.deviation.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn one_seed_is_shown_without_a_spread() {
        assert_eq!(Mean::new(&[95.71]).unwrap().shown(Some(1)), "95.7 (1)");
        assert_eq!(Mean::new(&[95.0, 96.0]).unwrap().shown(Some(1)), "95.5 ± 0.7 (2)");
        assert_eq!(Mean::new(&[0.021, 0.025, 0.023]).unwrap().shown(Some(3)), "0.023 ± 0.002 (3)");
    }

    #[test]
    fn a_line_of_predictions_has_size_probability_and_correctness() {
        let mut terms = Terms::new();
        let read = |line: &str, terms: &mut Terms| ScoredExample::read(line, terms);
        let line =
            r#"{"gold": "f(g(a), 'b')", "probability": 0.5, "exact": false, "denotation_correct": true}"#;
        assert_eq!(read(line, &mut terms), Some(example(4, 0.5, true)));
        let line = r#"{"gold": null, "probability": 0.5, "exact": false, "denotation_correct": null}"#;
        let expected = ScoredExample { size: None, probability: 0.5, right: Some(false) };
        assert_eq!(read(line, &mut terms), Some(expected));
        assert_eq!(read("no line", &mut terms), None);
    }

    #[test]
    fn bins_of_lengths_hold_everything_once() {
        assert_eq!(length_bins([]), []);
        let bin = |from, to| LengthBin { from, to };
        assert_eq!(length_bins([3, 3, 3]), [bin(3, 3)]);
        assert_eq!(length_bins([5, 1, 2, 4, 3, 6]), [1, 2, 3, 4, 5, 6].map(|size| bin(size, size)));
        // Twelve sizes, two to a bin; the three of size 2 stay together.
        let sizes = [1, 2, 2, 2, 5, 6, 7, 8, 9, 10, 11, 12];
        let bins = length_bins(sizes);
        assert_eq!(bins, [bin(1, 2), bin(5, 6), bin(7, 8), bin(9, 10), bin(11, 12)]);
        let all: Vec<ScoredExample> = sizes.iter().map(|&size| example(size, 1.0, size > 5)).collect();
        let counted: Vec<(f64, usize)> = bins.iter().filter_map(|bin| bin.accuracy(&all)).collect();
        assert_eq!(counted, [(0.0, 4), (50.0, 2), (100.0, 2), (100.0, 2), (100.0, 2)]);
    }

    #[test]
    fn the_reliability_diagram_adds_up_to_the_calibration_error() {
        let all = [
            example(1, 1.0, true),
            example(1, 0.95, false),
            example(1, 0.55, true),
            example(1, 0.51, false),
            example(1, 0.0, false),
            ScoredExample { size: None, probability: 0.3, right: None },
        ];
        let bins = reliability(&all);
        assert_eq!(bins.iter().map(|bin| bin.n).collect::<Vec<_>>(), [1, 2, 2]);
        let n: usize = bins.iter().map(|bin| bin.n).sum();
        let error = |bin: &ReliabilityBin| bin.n as f64 * (bin.probability - bin.right).abs();
        let by_hand = bins.iter().map(error).sum::<f64>() / n as f64;
        let points = all.iter().filter_map(|one| Some((one.probability, one.right?)));
        assert!((by_hand - Calibration::new(points).ece().unwrap()).abs() < 1e-12);
        assert!((by_hand - (0.0 + 0.95 + 0.06) / 5.0).abs() < 1e-12, "{by_hand}");
    }

    #[test]
    fn risk_rises_to_the_share_of_all_errors() {
        let all =
            [example(1, 0.9, true), example(1, 0.8, true), example(1, 0.7, false), example(1, 0.1, true)];
        let curve = risk_curve(&all);
        assert_eq!(curve.len(), 20);
        assert_eq!(curve[9], (50.0, 0.0));
        assert_eq!(curve[14], (75.0, 100.0 / 3.0));
        assert_eq!(curve[19], (100.0, 25.0));
        assert_eq!(risk_curve(&[]), []);
    }
}
