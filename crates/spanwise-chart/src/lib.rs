//! Exact search and exact learning signals over span trees.
//!
//! Scores come in as plain arrays; trees, programs, partition functions and gradients go out. Nothing here
//! knows a tensor, a data set or a predicate by name.

pub mod candidates;
pub mod derivable;
pub mod derivation;
mod edges;
pub mod gold;
pub mod gold_tree;
pub mod grammar;
pub mod hypergraph;
pub mod kbest;
pub mod lattice;
mod layout;
pub mod objective;
pub mod outside;
pub mod paper;
mod replay;
mod rules;
pub mod semiring;
pub mod spans;
pub mod tree;
pub mod typed;
mod underivable;

pub use tree::{Category, SpanTree, TreeNode};

/// The number of derivations of complete programs, as far as 2^53.
#[must_use]
pub fn count_derivations(input: &typed::Input<'_>) -> f64 {
    let rules = typed::RuleValues::<semiring::Count>::new(input.grammar, input.scores.rules);
    let scales = vec![0.0; input.lattice.n_positions()];
    typed::TypedChart::<semiring::Count>::fill(input, &rules, scales).root()
}
