//! Trainable scores that are read from tables, and gradients of scores.

use super::SpanModel;
use spanwise_nn::Gradients;

/// The weight of a lexicon match before training.
const LEXICON_WEIGHT: f32 = 5.0;

/// Trainable scores that are read from tables.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tables {
    /// For each label, a score of each usage.
    pub usages: Vec<f32>,
    /// A score of each rule of the grammar.
    pub rules: Vec<f32>,
    /// The weight of a lexicon match.
    pub lexicon: f32,
    /// The score of every rare label.
    pub rare: f32,
}

impl Tables {
    /// Tables at the start of training.
    pub(super) fn initial(n_usages: usize, n_rules: usize) -> Self {
        Self { usages: vec![0.0; n_usages], rules: vec![0.0; n_rules], lexicon: LEXICON_WEIGHT, rare: 0.0 }
    }

    /// Zeros of the same sizes.
    #[must_use]
    pub fn zeros(&self) -> Self {
        Self {
            usages: vec![0.0; self.usages.len()],
            rules: vec![0.0; self.rules.len()],
            lexicon: 0.0,
            rare: 0.0,
        }
    }

    /// Multiplies everything.
    pub fn scale(&mut self, factor: f32) {
        self.usages.iter_mut().chain(&mut self.rules).for_each(|g| *g *= factor);
        self.lexicon *= factor;
        self.rare *= factor;
    }

    /// Adds other tables, entry by entry.
    pub fn add(&mut self, other: &Self) {
        self.usages.iter_mut().zip(&other.usages).for_each(|(a, b)| *a += b);
        self.rules.iter_mut().zip(&other.rules).for_each(|(a, b)| *a += b);
        self.lexicon += other.lexicon;
        self.rare += other.rare;
    }
}

/// The gradient of a loss with respect to logits and tables.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SpanGradient {
    /// For the logits, row by row.
    pub logits: Vec<f32>,
    /// For the tables.
    pub tables: Tables,
}

impl SpanGradient {
    /// Multiplies everything.
    pub fn scale(&mut self, factor: f32) {
        self.logits.iter_mut().for_each(|g| *g *= factor);
        self.tables.scale(factor);
    }
}

impl SpanModel {
    /// Puts the gradient of the tables where the optimizer looks for it: the tables are the last parameters.
    pub(super) fn place(&self, gradient: Tables, gradients: &mut Gradients) {
        let Tables { usages, rules, lexicon, rare } = gradient;
        let n_parameters = gradients.len();
        gradients[n_parameters - 3] = Some(usages);
        gradients[n_parameters - 2] = Some(rules);
        gradients[n_parameters - 1] = Some(vec![lexicon, rare]);
    }
}
