//! Objectives: from scores to a loss and its gradient with respect to the scores.
//!
//! `crf` works on the typed scores: how much less likely the gold program is than all programs together. The
//! others work on the paper's scores of spans and categories, which are normalised span by span: `gold-trees` and
//! `hard-em` take one tree as labels, a given one or the best, `marginal` sums over all trees of the gold program.

use crate::gold::GoldChart;
use crate::grammar::N_USAGES;
use crate::hypergraph::NONE;
use crate::lattice::{Gradient, Lattice};
use crate::outside::{marginals, unflatten};
use crate::paper::{PaperScores, labels};
use crate::semiring::Sum;
use crate::tree::{Category, SpanTree};
use crate::typed::{Input, RuleValues};
use spanwise_core::Span;

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
    /// Only the best one: hard EM against all programs.
    Best,
    /// Those whose leaves are among these, one entry per leaf of the lattice.
    Leaves(&'a [bool]),
    /// The best one of those whose leaves are among these, one entry per leaf of the lattice: a gold tree.
    BestWithLeaves(&'a [bool]),
}

/// Minus the log-probability of the gold program among all programs: the log-sum over all typed derivations less
/// that over the gold ones that count. `None` when neither the scores nor the words allow a gold derivation.
#[must_use]
pub fn crf(
    input: &Input<'_>,
    rules: &RuleValues<Sum>,
    gold: &GoldChart,
    target: Target<'_>,
) -> Option<Loss<Gradient>> {
    let (log_gold, expected) = gold_counts(gold, input.scores.flat(), target)?;
    let (log_z, mut gradient) = marginals(input, rules)?;
    gradient.add_scaled(&unflatten(input, &expected), -1.0);
    let value = log_z - log_gold;
    debug_assert!(
        value > -1e-3 * log_z.abs().max(1.0),
        "a program is more likely than all programs: {value}"
    );
    Some(Loss { value: value.max(0.0), gradient })
}

/// The log-sum over the gold derivations that count, and how often each score is expected in them.
fn gold_counts(gold: &GoldChart, mut flat: Vec<f64>, target: Target<'_>) -> Option<(f64, Vec<f64>)> {
    if let Target::Leaves(allowed) | Target::BestWithLeaves(allowed) = target {
        for (scores, allowed) in flat.chunks_exact_mut(N_USAGES).zip(allowed) {
            if !allowed {
                scores.fill(f64::NEG_INFINITY);
            }
        }
    }
    match target {
        Target::Best | Target::BestWithLeaves(_) => {
            let narrow: Vec<f32> = flat.iter().map(|&score| score as f32).collect();
            let (score, chosen) = gold.graph().best(&narrow)?;
            let mut counts = vec![0.0; flat.len()];
            let weights = chosen.iter().flat_map(|(_, edge)| edge.weights);
            weights.filter(|&weight| weight != NONE).for_each(|weight| counts[weight as usize] += 1.0);
            Some((f64::from(score), counts))
        }
        Target::All | Target::Leaves(_) => gold.graph().marginals(&flat),
    }
}

/// The probability of a program, given the log-partition over all programs: the sum over its derivations.
#[must_use]
pub fn posterior(input: &Input<'_>, log_z: f64, gold: &GoldChart) -> f64 {
    use crate::semiring::LogSum;
    let flat = input.scores.flat();
    let inside = gold.graph().inside::<LogSum>(&flat);
    inside.last().map_or(0.0, |log_gold| (log_gold - log_z).exp().min(1.0))
}

/// Cross-entropy of one tree, summed over all spans: `gold-trees`. The gradient is in the layout of the scores.
#[must_use]
pub fn cross_entropy(scores: &PaperScores, tree: &SpanTree) -> Loss<Vec<f32>> {
    let targets = labels(tree, scores.n_tokens(), scores.n_constants());
    let (mut value, mut gradient) = log_normaliser(scores);
    let n_categories = scores.n_categories();
    for (row, (span, &target)) in spans(scores.n_tokens()).zip(&targets).enumerate() {
        value -= f64::from(scores.row(span)[target as usize]);
        gradient[row * n_categories + target as usize] -= 1.0;
    }
    Loss { value, gradient }
}

/// Minus the log of the summed probability of all trees that give the gold program, under the per-span softmax:
/// the likelihood that the paper replaces by its largest summand. The chart must have been built with
/// [`crate::gold::Joins::Tree`] over `lattice`. `None` when no tree has a probability above zero.
///
/// With [`Target::Best`] it is `hard-em`: the [`cross_entropy`] of the best tree, which is found without a beam.
#[must_use]
pub fn marginal(
    scores: &PaperScores,
    lattice: &Lattice,
    n_rules: usize,
    gold: &GoldChart,
    target: Target<'_>,
) -> Option<Loss<Vec<f32>>> {
    let places = Places { scores, lattice };
    let mut flat = vec![0.0; lattice.leaves().len() * N_USAGES + n_rules + lattice.n_cells() + 1];
    for (at, value) in flat.iter_mut().enumerate() {
        if let Some((span, category)) = places.of(at, n_rules) {
            *value = scores.shifted(span, category);
        }
    }
    let (log_gold, expected) = gold_counts(gold, flat, target)?;
    let (mut value, mut gradient) = log_normaliser(scores);
    let n_categories = scores.n_categories();
    // Every span is null but for the nodes of the tree.
    for (row, span) in spans(scores.n_tokens()).enumerate() {
        value -= f64::from(scores.logit(span, Category::Null));
        gradient[row * n_categories + scores.n_constants() + 1] -= 1.0;
    }
    value -= log_gold;
    for (at, &count) in expected.iter().enumerate().filter(|(_, count)| **count != 0.0) {
        let Some((span, category)) = places.of(at, n_rules) else { continue };
        let row = crate::paper::span_index(scores.n_tokens(), span) * n_categories;
        let column = crate::paper::category_index(scores.n_constants(), category)?;
        gradient[row + column] -= count as f32;
        gradient[row + scores.n_constants() + 1] += count as f32;
    }
    Some(Loss { value, gradient })
}

/// What the numbers of a gold chart's scores mean for the paper's scores.
struct Places<'a> {
    scores: &'a PaperScores,
    lattice: &'a Lattice,
}

impl Places<'_> {
    fn of(&self, at: usize, n_rules: usize) -> Option<(Span, Category)> {
        let n_leaves = self.lattice.leaves().len() * N_USAGES;
        if let Some(leaf) = self.lattice.leaves().get(at / N_USAGES).filter(|_| at < n_leaves) {
            return Some((Span::new(leaf.start, leaf.end), Category::Constant(leaf.constant)));
        }
        let cell = at.checked_sub(n_leaves + n_rules)?;
        if cell == self.lattice.n_cells() {
            return Some((Span::new(0, self.scores.n_tokens() as u32), Category::Join));
        }
        let (p, q) = self.lattice.ends(cell);
        Some((self.lattice.span(p, q), Category::Join))
    }
}

/// The sum over spans of the log of the softmax's denominator, and its gradient: the softmax.
fn log_normaliser(scores: &PaperScores) -> (f64, Vec<f32>) {
    let mut value = 0.0;
    let mut gradient = Vec::new();
    for span in spans(scores.n_tokens()) {
        let row = scores.row(span);
        let top = row.iter().fold(f32::NEG_INFINITY, |top, &score| if score > top { score } else { top });
        let sum: f64 = row.iter().map(|&score| f64::from(score - top).exp()).sum();
        value += f64::from(top) + sum.ln();
        gradient.extend(row.iter().map(|&score| (f64::from(score - top).exp() / sum) as f32));
    }
    (value, gradient)
}

/// All spans in the order of the scores.
fn spans(n_tokens: usize) -> impl Iterator<Item = Span> {
    let n = n_tokens as u32;
    (0..n).flat_map(move |start| (start + 1..=n).map(move |end| Span::new(start, end)))
}
