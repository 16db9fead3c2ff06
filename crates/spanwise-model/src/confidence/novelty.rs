//! How unlike the words of the training utterances the words of an utterance are.
//!
//! Every word of an utterance comes as the encoder's vector of it, in its context. Its novelty is the cosine distance to
//! the nearest *prototype*, a vector of some training word. Words of entity names do not count: a name that the domain
//! knows need not have been seen. Which vectors are prototypes, and what distances are usual, training has decided; this
//! module knows no encoder, and of words only which ones were seen.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What the mean novelty of the words weighs against that of the most novel one.
///
/// One strange word is enough to make an utterance foreign ("the capital of germany"), and many slightly strange ones
/// are too; a long utterance of the domain has more words to find one odd one among, but its mean is steady.
const MEAN_WEIGHT: f64 = 2.0;
/// Running sums of a dot product, so that they can be computed side by side.
const LANES: usize = 16;

/// Prototypes, and what to make of the distances to them.
#[derive(Clone, PartialEq, Debug)]
pub struct Novelty {
    /// Numbers of a vector.
    pub width: usize,
    /// Unit vectors, one after the other.
    pub prototypes: Vec<f32>,
    /// What is usual.
    pub scale: Scale,
    /// The words of the training utterances, to name those that are not among them.
    pub vocabulary: BTreeSet<String>,
}

/// What distances are usual in the domain.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// The novelty of an utterance that is as likely of another domain as of this one.
    pub center: f64,
    /// How fast the odds fall around it; positive.
    pub width: f64,
}

/// The novelty of one utterance.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Novel {
    /// For each word, its distance to the nearest prototype; `None` for words of names.
    pub words: Vec<Option<f64>>,
    /// Of the utterance: the highest of the words' and their mean together, from 0 to 2.
    pub total: f64,
}

impl Novel {
    /// Sums up the novelties of words.
    #[must_use]
    pub fn new(words: Vec<Option<f64>>) -> Self {
        let known: Vec<f64> = words.iter().flatten().copied().collect();
        let highest = known.iter().copied().fold(0.0, f64::max);
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        Self { words, total: (highest + MEAN_WEIGHT * mean) / (1.0 + MEAN_WEIGHT) }
    }
}

impl Scale {
    /// The probability that an utterance of this novelty is of the domain.
    #[must_use]
    pub fn in_domain(&self, novel: &Novel) -> f64 {
        super::sigmoid((self.center - novel.total) / self.width)
    }
}

impl Novelty {
    /// The novelty of an utterance from the vectors of its words, where `is_name` says which of them to pass over.
    ///
    /// Cost: a dot product for each word and prototype.
    #[must_use]
    pub fn of(&self, vectors: &[f32], is_name: &[bool]) -> Novel {
        let mut units = vectors.to_vec();
        units.chunks_exact_mut(self.width).for_each(normalize);
        let words: Vec<&[f32]> = units.chunks_exact(self.width).collect();
        let mut found: Vec<Option<f64>> =
            words.iter().zip(is_name).map(|(_, is_name)| (!is_name).then_some(2.0)).collect();
        // Prototypes outside, words inside: the words stay in the cache, and each prototype is read once.
        for prototype in self.prototypes.chunks_exact(self.width) {
            for (nearest, word) in found.iter_mut().zip(&words) {
                if let Some(nearest) = nearest {
                    *nearest = nearest.min(distance(word, prototype));
                }
            }
        }
        Novel::new(found)
    }

    /// The words nothing is known about, of all the words `said`: those that are neither names nor in the vocabulary, or
    /// else the most novel one.
    #[must_use]
    pub fn unknown_words(&self, novel: &Novel, said: &[&str]) -> Vec<usize> {
        let words = || novel.words.iter().enumerate().filter_map(|(at, d)| Some((at, (*d)?)));
        let is_new = |at: &usize| said.get(*at).is_some_and(|word| !self.vocabulary.contains(*word));
        let strange: Vec<usize> = words().map(|(at, _)| at).filter(is_new).collect();
        if strange.is_empty() {
            let most = words().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            return most.map(|(at, _)| at).into_iter().collect();
        }
        strange
    }
}

/// The distance of a unit vector to the nearest of some; 1 where there is none.
#[must_use]
pub fn nearest<'a>(unit: &[f32], others: impl Iterator<Item = &'a [f32]>) -> f64 {
    others.map(|other| distance(unit, other)).min_by(f64::total_cmp).unwrap_or(1.0)
}

/// The cosine distance of two unit vectors, from 0 to 2.
#[must_use]
pub fn distance(a: &[f32], b: &[f32]) -> f64 {
    (1.0 - f64::from(dot(a, b))).clamp(0.0, 2.0)
}

/// Makes a vector one of length 1; a zero vector, or one with what is no number, becomes zero and is at distance 1 of
/// everything.
pub fn normalize(vector: &mut [f32]) {
    let length = dot(vector, vector).sqrt();
    let factor = if length.is_finite() && length > 0.0 { 1.0 / length } else { 0.0 };
    vector.iter_mut().for_each(|x| *x = if factor > 0.0 { *x * factor } else { 0.0 });
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
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
