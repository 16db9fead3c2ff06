//! Training objectives: from scores to a loss and its gradient with respect to the scores.
//!
//! An objective is a plain function of scores, a [`GoldChart`] and a [`Target`]; it returns a [`Loss`], or `None` where
//! the scores or the words allow no derivation of the gold program. There is one file per normalization:
//!
//! * [`crf`]: scores of leaves, rules and joins, normalized over all programs (a conditional random field);
//! * [`marginal`]: scores of spans and categories, normalized span by span, as in the paper.
//!
//! Which derivations of the gold program are rewarded is the same choice for both, a [`Target`]:
//!
//! | objective in a configuration | target |
//! |---|---|
//! | `crf`, `marginal` | [`Target::All`] |
//! | `hard-em` | [`Target::Best`] |
//! | `gold-trees` | [`Target::Leaves`] with [`crf`], [`Target::BestWithLeaves`] with [`marginal`] |
//!
//! A new objective is a new file with a function of the same shape; `expected_counts` serves any of them.

mod crf;
mod span_softmax;

pub use crf::{crf, posterior};
pub use span_softmax::{marginal, tree_scores};

use crate::gold::GoldChart;
use crate::grammar::N_USAGES;
use crate::hypergraph::NONE;

/// A loss and its gradient.
#[derive(Clone, PartialEq, Debug)]
pub struct Loss<G> {
    /// The loss, never below zero but for rounding.
    pub value: f64,
    /// Its gradient with respect to the scores.
    pub gradient: G,
}

/// Which derivations of the gold program count.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Target<'a> {
    /// All of them.
    #[default]
    All,
    /// Only the best one, as in hard EM.
    Best,
    /// All whose leaves are among these, one entry per leaf of the lattice ([`Lattice::mask`](crate::lattice::Lattice::mask)).
    Leaves(&'a [bool]),
    /// Only the best one of those: a gold tree, of which only the leaves are known.
    BestWithLeaves(&'a [bool]),
}

/// The log-sum over the gold derivations that count, and how often each score is expected in them. Scores are numbered
/// as the graph of the chart numbers them. `None` when no derivation counts.
fn expected_counts(gold: &GoldChart, mut scores: Vec<f64>, target: Target<'_>) -> Option<(f64, Vec<f64>)> {
    if let Target::Leaves(allowed) | Target::BestWithLeaves(allowed) = target {
        for (scores, allowed) in scores.chunks_exact_mut(N_USAGES).zip(allowed) {
            if !allowed {
                scores.fill(f64::NEG_INFINITY);
            }
        }
    }
    match target {
        Target::Best | Target::BestWithLeaves(_) => {
            let narrow: Vec<f32> = scores.iter().map(|&score| score as f32).collect();
            let (score, chosen) = gold.graph().best(&narrow)?;
            let mut counts = vec![0.0; scores.len()];
            let weights = chosen.iter().flat_map(|(_, edge)| edge.weights);
            weights.filter(|&weight| weight != NONE).for_each(|weight| counts[weight as usize] += 1.0);
            Some((f64::from(score), counts))
        }
        Target::All | Target::Leaves(_) => gold.graph().marginals(&scores),
    }
}
