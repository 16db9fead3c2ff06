//! Tree F1 against any tree: compares predictions with the nearest tree that yields the gold program.
//!
//! Usually several trees yield the same program: null words can be joined in several places, and values of a list in
//! several ways. A prediction with the gold program is therefore compared with its own tree, and all of its spans
//! match. For any other prediction the reference comes from the model's gold chart: of all trees that yield the gold
//! program the one with the most labelled spans in common, and of these one with the fewest spans. Both counts are sums
//! over the parts of a tree, so the reference is a Viterbi derivation.
//!
//! Spans are those of [`crate::tree_f1`], with one difference: trees on both sides come from the same chart, so they are
//! compared in its normal form, and no join is rotated. Null words and functions that are composed before they have
//! their argument have no span.

use crate::tree_f1::TreeCounts;
use hashbrown::HashSet;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::grammar::{Grammar, N_USAGES};
use spanwise_chart::lattice::Lattice;
use spanwise_chart::{Category, SpanTree};
use spanwise_core::Span;
use spanwise_lang::{ConstantId, Domain, TermId, Terms};

/// A span with its label: a constant, or `None` for a join.
type Labelled = (Span, Option<ConstantId>);

/// The score of a common span. It exceeds the number of spans of any tree, which is at most three for each of
/// [`spanwise_chart::gold::MAX_NODES`] constants (its own, one with the null words after it, one join). The sum over a tree
/// is exact in single precision.
const COMMON: f32 = 2048.0;

/// The labelled spans of a tree in the normal form of charts.
#[must_use]
pub fn labelled_spans(tree: &SpanTree) -> HashSet<Labelled> {
    let is_open = |child: &usize| !tree.nodes[*child].open_slots().is_empty();
    let is_null = |child: &usize| tree.nodes[*child].category == Category::Null;
    let label = |node: &spanwise_chart::TreeNode| match node.category {
        Category::Constant(id) => Some((node.span, Some(id))),
        Category::Join if node.children.iter().any(is_null) || !node.children.iter().all(is_open) => {
            Some((node.span, None))
        }
        Category::Join | Category::Implicit(_) | Category::Null => None,
    };
    tree.nodes.iter().filter_map(label).collect()
}

/// The counts of a tree compared with itself, for a prediction with the gold program.
#[must_use]
pub fn against_itself(tree: &SpanTree) -> TreeCounts {
    let n = labelled_spans(tree).len();
    TreeCounts { matched: n, predicted: n, gold: n }
}

/// Compares a predicted tree with the nearest one that yields `program`. A missing prediction counts as an empty tree.
/// `None` if no tree yields the program. Cost: one gold chart.
#[must_use]
pub fn nearest(
    domain: &Domain,
    grammar: &Grammar,
    lattice: &Lattice,
    (terms, program): (&Terms, TermId),
    predicted: Option<&SpanTree>,
) -> Option<TreeCounts> {
    let chart = GoldChart::new(domain, grammar, lattice, terms, program, Joins::Tree).ok()?;
    let predicted = predicted.map(labelled_spans).unwrap_or_default();
    let score_of = |span: Labelled| if predicted.contains(&span) { COMMON - 1.0 } else { -1.0 };
    let of_leaves = lattice.leaves().iter().flat_map(|leaf| {
        let score = score_of((Span::new(leaf.start, leaf.end), Some(leaf.constant)));
        [score; N_USAGES]
    });
    let of_rules = std::iter::repeat_n(0.0, grammar.n_rules());
    let of_cells = (1..=lattice.n_positions()).flat_map(|length| {
        let starts = 0..=lattice.n_positions() - length;
        starts.map(move |p| lattice.span(p, p + length))
    });
    let whole = Span::new(0, lattice.n_tokens() as u32);
    let of_joins = of_cells.chain([whole]).map(|span| score_of((span, None)));
    let scores: Vec<f32> = of_leaves.chain(of_rules).chain(of_joins).collect();
    let (score, _) = chart.graph().best(&scores)?;
    let matched = (score / COMMON).ceil().max(0.0);
    let gold = matched * COMMON - score;
    Some(TreeCounts { matched: matched as usize, predicted: predicted.len(), gold: gold as usize })
}

#[cfg(test)]
mod tests;
