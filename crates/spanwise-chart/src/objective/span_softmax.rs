//! The paper's likelihood: every span has a category of its own, drawn from a softmax (section 3.1).

use super::{Loss, Target, expected_counts};
use crate::gold::GoldChart;
use crate::grammar::N_USAGES;
use crate::lattice::Lattice;
use crate::paper::{PaperScores, category_index, span_index, spans};
use crate::tree::Category;
use spanwise_core::Span;

/// Minus the log of the summed probability of all trees of the gold program that count, under the per-span softmax. The
/// chart must have been built with [`crate::gold::Joins::Tree`] over `lattice`. The gradient is in the layout of the
/// scores. `None` when no tree has a probability above zero.
///
/// With [`Target::All`] it is the likelihood that the paper replaces by its largest summand. With [`Target::Best`] it is
/// hard EM: the cross-entropy of the best tree, which is found without a beam. With [`Target::BestWithLeaves`] it is the
/// cross-entropy of the gold tree; if several trees have its leaves, of the best one.
#[must_use]
pub fn marginal(
    scores: &PaperScores,
    lattice: &Lattice,
    n_rules: usize,
    gold: &GoldChart,
    target: Target<'_>,
) -> Option<Loss<Vec<f32>>> {
    let places = Places { scores, lattice };
    let flat = tree_scores(scores, lattice, n_rules);
    let (log_gold, expected) = expected_counts(gold, flat, target)?;
    let (mut value, mut gradient) = log_normalizer(scores);
    let n_categories = scores.n_categories();
    // Every span is null but for the nodes of the tree.
    for (row, span) in spans(scores.n_tokens()).enumerate() {
        value -= f64::from(scores.logit(span, Category::Null));
        gradient[row * n_categories + scores.n_constants() + 1] -= 1.0;
    }
    value -= log_gold;
    for (at, &count) in expected.iter().enumerate().filter(|(_, count)| **count != 0.0) {
        let Some((span, category)) = places.of(at, n_rules) else { continue };
        let row = span_index(scores.n_tokens(), span) * n_categories;
        let column = category_index(scores.n_constants(), category)?;
        gradient[row + column] -= count as f32;
        gradient[row + scores.n_constants() + 1] += count as f32;
    }
    Some(Loss { value, gradient })
}

/// The scores of spans as a gold chart with [`crate::gold::Joins::Tree`] over `lattice` numbers them.
#[must_use]
pub fn tree_scores(scores: &PaperScores, lattice: &Lattice, n_rules: usize) -> Vec<f64> {
    let places = Places { scores, lattice };
    let n_scores = lattice.leaves().len() * N_USAGES + n_rules + lattice.n_cells() + 1;
    let score = |(span, category)| scores.shifted(span, category);
    (0..n_scores).map(|at| places.of(at, n_rules).map_or(0.0, score)).collect()
}

/// The span and category that each score of a gold chart stands for.
struct Places<'a> {
    scores: &'a PaperScores,
    lattice: &'a Lattice,
}

impl Places<'_> {
    /// `None` for the scores of rules, which the paper does not have.
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
fn log_normalizer(scores: &PaperScores) -> (f64, Vec<f32>) {
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
