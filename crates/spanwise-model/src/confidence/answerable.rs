//! Whether an utterance resembles those that can be answered or those that cannot, which examples without a program teach.
//!
//! "What is the average length of the rivers in ohio" consists of known words, and a program with a high posterior leaves
//! out one of them. What gives it away is that it is like other questions which the domain cannot express.

use super::novelty::{dot, normalize};
use super::{Calibration, MAX_LOG_ODDS};

/// A logistic regression on vectors of utterances.
///
/// ```
/// use spanwise_model::confidence::{Answerability, Calibration};
///
/// let calibration = Calibration { slope: 1.0, offset: -0.5 };
/// let answerability = Answerability { weights: vec![2.0, 0.0], bias: 0.5, calibration };
/// assert_eq!(answerability.log_odds(&[1.0, 7.0]), 2.0);
/// // Another encoder's vectors say nothing.
/// assert_eq!(answerability.log_odds(&[1.0]), 0.0);
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Answerability {
    /// One weight for each number of an utterance's vector.
    pub weights: Vec<f32>,
    /// The intercept.
    pub bias: f64,
    /// Makes log-odds of what is known on held-out utterances: the regression is too sure of those that it was fitted on.
    pub calibration: Calibration,
}

/// What is known about a word before its vector is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WordRole {
    /// It stands for a name or a value, and says nothing about what is asked.
    Value,
    /// It is part of a phrase of the predicate that it is aligned to.
    Phrase,
    /// Anything else.
    Other,
}

impl Answerability {
    /// The log-odds that an utterance with this vector can be answered. Zero for a vector of another length.
    #[must_use]
    pub fn log_odds(&self, vector: &[f32]) -> f64 {
        if vector.len() != self.weights.len() {
            return 0.0;
        }
        let score = f64::from(dot(&self.weights, vector)) + self.bias;
        let log_odds = self.calibration.slope * score + self.calibration.offset;
        if log_odds.is_nan() { 0.0 } else { log_odds.clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS) }
    }

    /// The vector of an utterance: the mean of its words' embeddings, which no training changes, and that of the encoder's
    /// vectors of them. Words of names and values do not count. Nor do embeddings of words that phrases account for: a
    /// phrase that training utterances happen not to have would look like a word of unanswerable ones. Without any
    /// others, all words count.
    #[must_use]
    pub fn vector(embeddings: &[Vec<f32>], encoded: &[f32], width: usize, roles: &[WordRole]) -> Vec<f32> {
        let is_other = |role: &WordRole| *role == WordRole::Other;
        let is_no_value = |role: &WordRole| *role != WordRole::Value;
        let embeddings = embeddings.iter().map(Vec::as_slice);
        let mut vector = direction(embeddings.zip(roles.iter().map(is_other)), width);
        vector.extend(direction(encoded.chunks_exact(width).zip(roles.iter().map(is_no_value)), width));
        vector
    }
}

/// The direction of the mean of the vectors that count; of all, if none does.
fn direction<'a>(vectors: impl Iterator<Item = (&'a [f32], bool)> + Clone, width: usize) -> Vec<f32> {
    let mut sum = vec![0.0; width];
    let none_counts = !vectors.clone().any(|(_, counts)| counts);
    for (vector, _) in vectors.filter(|(_, counts)| *counts || none_counts) {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
    }
    normalize(&mut sum);
    sum
}

#[cfg(test)]
mod tests {
    use super::WordRole::{Other, Phrase, Value};
    use super::*;

    #[test]
    fn the_vector_of_an_utterance_has_the_directions_of_its_words_but_not_of_names() {
        let embeddings = [vec![2.0, 0.0], vec![0.0, 9.0]];
        let encoded = [0.0, -3.0, 8.0, 8.0];
        let vector = |roles: [WordRole; 2]| Answerability::vector(&embeddings, &encoded, 2, &roles);
        assert_eq!(vector([Other, Value]), [1.0, 0.0, 0.0, -1.0]);
        // Only names: what else is there to go by?
        assert_eq!(vector([Value, Value]), vector([Other, Other]));
        assert_eq!(Answerability::vector(&[], &[], 2, &[]), [0.0; 4]);
    }

    #[test]
    fn embeddings_of_words_that_phrases_account_for_do_not_count() {
        let embeddings = [vec![2.0, 0.0], vec![0.0, 9.0]];
        let encoded = [0.0, -3.0, 3.0, 0.0];
        let vector = |roles: [WordRole; 2]| Answerability::vector(&embeddings, &encoded, 2, &roles);
        let both = vector([Other, Other]);
        assert_eq!(vector([Phrase, Other])[..2], [0.0, 1.0]);
        // In the encoder's vectors they are part of the others' context anyway.
        assert_eq!(vector([Phrase, Other])[2..], both[2..]);
        assert_eq!(vector([Phrase, Phrase]), both);
    }
}
