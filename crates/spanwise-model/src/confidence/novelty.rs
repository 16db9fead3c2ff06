//! Novelty detection: how far the words of an utterance are from the words of the training utterances.
//!
//! A word is represented by the encoder's contextual vector. Its novelty is the cosine distance to the nearest
//! *prototype*, the vector of a training word; prototypes are chosen by k-center selection when the model is calibrated.
//! Words of entity names, and of literals that the program takes, do not count: they are in the domain even if no
//! training utterance has them. Those of free text count, because it can be any words.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The weight of the mean novelty of the words, relative to a weight of 1 for their maximum.
///
/// The maximum detects a single unknown word ("the capital of germany"), the mean detects many slightly novel ones. The
/// maximum alone would grow with the length of an utterance; the mean does not.
const MEAN_WEIGHT: f64 = 2.0;
/// Partial sums of a dot product; several, so that the compiler can vectorize it.
const LANES: usize = 16;

/// Prototypes, and the scale that turns distances to them into a probability.
///
/// ```
/// use spanwise_model::confidence::{Novelty, Scale};
///
/// // One prototype in two dimensions.
/// let scale = Scale { center: 0.5, width: 0.05 };
/// let novelty = Novelty { width: 2, prototypes: vec![1.0, 0.0], scale, vocabulary: ["states".to_owned()].into() };
/// // The first word has the direction of the prototype, the second one is orthogonal to it.
/// let score = novelty.of(&[2.0, 0.0, 0.0, 1.0], &[false, false]);
/// assert_eq!(score.words, [Some(0.0), Some(1.0)]);
/// assert!(scale.in_domain(&score) < 0.5);
/// assert_eq!(novelty.unknown_words(&score, &["states", "govern"]), [1]);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Novelty {
    /// The dimension of a vector.
    pub width: usize,
    /// Unit vectors, concatenated.
    pub prototypes: Vec<f32>,
    /// Maps the novelty of an utterance to a probability.
    pub scale: Scale,
    /// The words of the training utterances, to report unknown words.
    pub vocabulary: BTreeSet<String>,
}

/// A logistic function from the novelty of an utterance to the probability that it is in the domain.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// The novelty at which the probability is one half.
    pub center: f64,
    /// The change of novelty that divides the odds by e; positive.
    pub width: f64,
}

/// The novelty of one utterance.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct NoveltyScore {
    /// For each word, its cosine distance to the nearest prototype; `None` for words of names.
    pub words: Vec<Option<f64>>,
    /// The novelty of the utterance, from 0 to 2: a weighted mean of the maximum and the mean over its words.
    pub total: f64,
}

impl NoveltyScore {
    /// Aggregates the novelties of words.
    #[must_use]
    pub fn new(words: Vec<Option<f64>>) -> Self {
        let known: Vec<f64> = words.iter().flatten().copied().collect();
        let highest = known.iter().copied().fold(0.0, f64::max);
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        Self { words, total: (highest + MEAN_WEIGHT * mean) / (1.0 + MEAN_WEIGHT) }
    }
}

impl Scale {
    /// The probability that an utterance with this novelty is in the domain.
    #[must_use]
    pub fn in_domain(&self, score: &NoveltyScore) -> f64 {
        super::sigmoid((self.center - score.total) / self.width)
    }
}

impl Novelty {
    /// The novelty of an utterance from the vectors of its words; words of names are skipped.
    ///
    /// Cost: one dot product per word and prototype.
    #[must_use]
    pub fn of(&self, vectors: &[f32], is_name: &[bool]) -> NoveltyScore {
        let mut units = vectors.to_vec();
        units.chunks_exact_mut(self.width).for_each(normalize);
        let words: Vec<&[f32]> = units.chunks_exact(self.width).collect();
        let mut found: Vec<Option<f64>> =
            words.iter().zip(is_name).map(|(_, is_name)| (!is_name).then_some(2.0)).collect();
        // Prototypes in the outer loop: the few words stay in the cache, and each prototype is read once.
        for prototype in self.prototypes.chunks_exact(self.width) {
            for (nearest, word) in found.iter_mut().zip(&words) {
                if let Some(nearest) = nearest {
                    *nearest = nearest.min(distance(word, prototype));
                }
            }
        }
        NoveltyScore::new(found)
    }

    /// The indices of unknown words, of all `words` of an utterance: those that are neither names nor in the vocabulary. If
    /// there are none, the word with the highest novelty.
    #[must_use]
    pub fn unknown_words(&self, score: &NoveltyScore, words: &[&str]) -> Vec<usize> {
        let scored = || score.words.iter().enumerate().filter_map(|(at, d)| Some((at, (*d)?)));
        let is_new = |at: &usize| words.get(*at).is_some_and(|word| !self.vocabulary.contains(*word));
        let unknown: Vec<usize> = scored().map(|(at, _)| at).filter(is_new).collect();
        if unknown.is_empty() {
            let most = scored().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            return most.map(|(at, _)| at).into_iter().collect();
        }
        unknown
    }
}

/// The cosine distance of a unit vector to the nearest of `others`; 1 if there are none.
#[must_use]
pub fn nearest<'a>(unit: &[f32], others: impl Iterator<Item = &'a [f32]>) -> f64 {
    others.map(|other| distance(unit, other)).min_by(f64::total_cmp).unwrap_or(1.0)
}

/// The cosine distance of two unit vectors, from 0 to 2.
#[must_use]
pub fn distance(a: &[f32], b: &[f32]) -> f64 {
    (1.0 - f64::from(dot(a, b))).clamp(0.0, 2.0)
}

/// Scales a vector to length 1. A zero vector, or one with values that are not finite, becomes zero; its distance to every
/// vector is 1.
pub fn normalize(vector: &mut [f32]) {
    let length = dot(vector, vector).sqrt();
    let factor = if length.is_finite() && length > 0.0 { 1.0 / length } else { 0.0 };
    vector.iter_mut().for_each(|x| *x = if factor > 0.0 { *x * factor } else { 0.0 });
}

/// The dot product of two vectors.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f32 = left.remainder().iter().zip(right.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in left.zip(right) {
        // Arrays of a known length become vector instructions.
        let x: &[f32; LANES] = x.try_into().expect("chunks are exact");
        let y: &[f32; LANES] = y.try_into().expect("chunks are exact");
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    sums.iter().sum::<f32>() + tail
}
