//! Probabilities of spans against the list of all derivations.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Case, options, repeated_cases};
use proptest::prelude::*;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::lattice::Scores;
use spanwise_chart::outside::marginals;
use spanwise_chart::spans::span_posteriors;
use spanwise_chart::tree::{Category, SpanTree};
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::Span;
use spanwise_lang::ConstantId;
use std::collections::BTreeMap;

type Spans = BTreeMap<(Span, Option<ConstantId>), f64>;

/// The spans of a tree: constants, and nodes whose parts both mean something.
fn spans(tree: &SpanTree) -> Vec<(Span, Option<ConstantId>)> {
    let is_null = |child: &usize| tree.nodes[*child].category == Category::Null;
    let found = tree.nodes.iter().filter_map(|node| match node.category {
        Category::Constant(constant) => Some((node.span, Some(constant))),
        Category::Join if !node.children.iter().any(is_null) => Some((node.span, None)),
        _ => None,
    });
    found.collect()
}

/// Posteriors from the list of all derivations.
fn listed(case: &Case, input: Input<'_>) -> Spans {
    let rules = RuleValues::new(&case.grammar, &case.rules);
    let chart = BestChart::new(input, &rules);
    let mut terms = case.domain.new_terms();
    let (mut total, mut sums) = (0.0, Spans::new());
    for derivation in chart.derivations() {
        let weight = f64::from(derivation.score).exp();
        total += weight;
        let (_, tree) = chart.tree(&mut terms, &derivation).unwrap();
        for span in spans(&tree) {
            *sums.entry(span).or_default() += weight;
        }
    }
    sums.values_mut().for_each(|sum| *sum /= total);
    sums
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn a_span_is_as_probable_as_the_derivations_that_have_it(seed: u64, options in options()) {
        for case in repeated_cases(seed, options) {
            let bare = Scores { joins: &[], ..case.scores() };
            let bare = Input::new(&case.domain, &case.grammar, &case.lattice, bare).unwrap();
            // Joins are counted where they have a score, of zero if need be.
            let zeros = vec![0.0; case.lattice.n_cells()];
            let scored = if case.joins.is_empty() { case.input().with_joins(&zeros) } else { case.input() };
            for (input, counted) in [(case.input(), scored), (bare, bare.with_joins(&zeros))] {
                let rules = RuleValues::new(&case.grammar, &case.rules);
                let mut found = Spans::new();
                let Some((_, expected)) = marginals(&counted, &rules) else { continue };
                for posterior in span_posteriors(&case.lattice, &expected, 0.0) {
                    *found.entry((posterior.span, posterior.constant)).or_default() += posterior.probability;
                }
                let expected = listed(&case, input);
                for (span, probability) in &found {
                    let wanted = expected.get(span).copied().unwrap_or(0.0);
                    prop_assert!((probability - wanted).abs() < 1e-3, "{span:?} {probability} {wanted} {}", case.describe());
                }
                prop_assert!(expected.keys().all(|span| found.contains_key(span)));
            }
        }
    }
}
