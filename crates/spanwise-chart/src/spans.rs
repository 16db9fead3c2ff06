//! Posterior probabilities of spans over all derivations, to show what a chart has considered.
//!
//! They are marginals: in a derivation, parts join in a cell at most once.

use crate::grammar::N_USAGES;
use crate::lattice::{Gradient, Lattice};
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

/// The posteriors of spans, from the expected counts of leaves and joins in `expected`: those that are at least as
/// probable as `least`. Constants come first, in the order of the leaves, then joins, short ones first.
///
/// Joins are counted only where the chart has a score for each of them; zeros will do.
#[must_use]
pub fn span_posteriors(lattice: &Lattice, expected: &Gradient, least: f64) -> Vec<SpanPosterior> {
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
