//! Trainable scores that are read from tables, and gradients of scores.

use super::SpanModel;
use spanwise_nn::Gradients;

/// The weight of a lexicon match before training.
const LEXICON_WEIGHT: f32 = 5.0;

/// The number of weights of inexact matches: for those that are folded, misspelt or a part of a name, for their cost, and
/// for those by meaning.
const N_MATCHES: usize = 5;
/// The places of the last two of them.
pub const COST: usize = 3;
pub(super) const MEANING: usize = 4;
/// These weights before training.
const MATCH_WEIGHTS: [f32; N_MATCHES] = [4.5, 4.0, 2.0, -1.0, 4.0];
/// The weight of a word that the lexicon matches, before training.
const MATCHED_WEIGHT: f32 = 2.0;

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
    /// The weights of inexact matches: folded, misspelt, part of a name; that of their cost; and by meaning.
    pub matches: [f32; N_MATCHES],
    /// What a leaf gets for each of its words that a name or phrase matches exactly, whichever constant it belongs to. It is
    /// what it costs to leave such a word out.
    pub matched: f32,
}

impl Tables {
    /// Tables at the start of training.
    pub(super) fn initial(n_usages: usize, n_rules: usize) -> Self {
        Self {
            usages: vec![0.0; n_usages],
            rules: vec![0.0; n_rules],
            lexicon: LEXICON_WEIGHT,
            rare: 0.0,
            matches: MATCH_WEIGHTS,
            matched: MATCHED_WEIGHT,
        }
    }

    /// Zeros of the same sizes.
    #[must_use]
    pub fn zeros(&self) -> Self {
        Self {
            usages: vec![0.0; self.usages.len()],
            rules: vec![0.0; self.rules.len()],
            lexicon: 0.0,
            rare: 0.0,
            matches: [0.0; N_MATCHES],
            matched: 0.0,
        }
    }

    /// Multiplies everything.
    pub fn scale(&mut self, factor: f32) {
        self.usages.iter_mut().chain(&mut self.rules).for_each(|g| *g *= factor);
        self.lexicon *= factor;
        self.rare *= factor;
        self.matches.iter_mut().for_each(|g| *g *= factor);
        self.matched *= factor;
    }

    /// Adds other tables, entry by entry.
    pub fn add(&mut self, other: &Self) {
        self.usages.iter_mut().zip(&other.usages).for_each(|(a, b)| *a += b);
        self.rules.iter_mut().zip(&other.rules).for_each(|(a, b)| *a += b);
        self.lexicon += other.lexicon;
        self.rare += other.rare;
        self.matches.iter_mut().zip(other.matches).for_each(|(a, b)| *a += b);
        self.matched += other.matched;
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
        let Tables { usages, rules, lexicon, rare, matches, matched } = gradient;
        let n_parameters = gradients.len();
        gradients[n_parameters - 6] = Some(usages);
        gradients[n_parameters - 5] = Some(rules);
        gradients[n_parameters - 4] = Some(vec![lexicon, rare]);
        gradients[n_parameters - 3] = Some(matches[..MEANING].to_vec());
        gradients[n_parameters - 2] = Some(matches[MEANING..].to_vec());
        gradients[n_parameters - 1] = Some(vec![matched]);
    }
}
