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
    /// vectors of them. Words that stand for names and values say nothing about what is asked; without any others, all
    /// words count.
    #[must_use]
    pub fn vector(embeddings: &[Vec<f32>], encoded: &[f32], width: usize, is_value: &[bool]) -> Vec<f32> {
        let mut vector = vec![0.0; 2 * width];
        let all = is_value.iter().all(|is_value| *is_value);
        let (first, second) = vector.split_at_mut(width);
        let words = embeddings.iter().zip(encoded.chunks_exact(width)).zip(is_value);
        for ((embedding, encoded), _) in words.filter(|(_, is_value)| all || !**is_value) {
            first.iter_mut().zip(embedding).for_each(|(sum, x)| *sum += x);
            second.iter_mut().zip(encoded).for_each(|(sum, x)| *sum += x);
        }
        normalize(first);
        normalize(second);
        vector
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_of_an_utterance_has_the_directions_of_its_words_but_not_of_names() {
        let embeddings = [vec![2.0, 0.0], vec![0.0, 9.0]];
        let encoded = [0.0, -3.0, 8.0, 8.0];
        let vector = |is_value: [bool; 2]| Answerability::vector(&embeddings, &encoded, 2, &is_value);
        assert_eq!(vector([false, true]), [1.0, 0.0, 0.0, -1.0]);
        // Only names: what else is there to go by?
        assert_eq!(vector([true, true]), vector([false, false]));
        assert_eq!(Answerability::vector(&[], &[], 2, &[]), [0.0; 4]);
    }
}
