//! Posterior probabilities of spans over all derivations, to show what a chart has considered.
//!
//! They are marginals: in a derivation, parts join in a cell at most once.

use crate::grammar::N_USAGES;
use crate::lattice::Scores;
use crate::outside::marginals;
use crate::semiring::Sum;
use crate::typed::{Input, RuleValues};
use spanwise_core::Span;
use spanwise_lang::ConstantId;

/// A span and how probable it is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpanPosterior {
    /// The words. Where parts join, null words after the last part belong to it, as in trees.
    pub span: Span,
    /// The constant that is aligned to exactly these words; `None` for parts that join to just this span.
    pub constant: Option<ConstantId>,
    /// The probability.
    pub probability: f64,
}

/// All spans that are at least as probable as `least`: constants first, in the order of the leaves, then joins, short
/// ones first. Empty when there is no derivation. Cost: as marginals.
#[must_use]
pub fn span_posteriors(input: &Input<'_>, rules: &RuleValues<Sum>, least: f64) -> Vec<SpanPosterior> {
    let lattice = input.lattice;
    // Without scores of their own, cells are not counted: zeros change nothing and are.
    let zeros = if input.scores.joins.is_empty() { vec![0.0; lattice.n_cells()] } else { Vec::new() };
    let joins = if zeros.is_empty() { input.scores.joins } else { &zeros };
    let input = Input { scores: Scores { joins, ..input.scores }, ..*input };
    let Some((_, expected)) = marginals(&input, rules) else { return Vec::new() };
    let share = |count: f64| count.clamp(0.0, 1.0);
    let leaves = lattice.leaves().iter().zip(expected.leaves.chunks_exact(N_USAGES));
    let constants = leaves.map(|(leaf, usages)| SpanPosterior {
        span: Span::new(leaf.start, leaf.end),
        constant: Some(leaf.constant),
        probability: share(usages.iter().map(|&count| f64::from(count)).sum()),
    });
    let joins = expected.joins.iter().enumerate().map(|(cell, &count)| {
        let (p, q) = lattice.ends(cell);
        SpanPosterior { span: lattice.span(p, q), constant: None, probability: share(count.into()) }
    });
    constants.chain(joins).filter(|found| found.probability >= least).collect()
}
