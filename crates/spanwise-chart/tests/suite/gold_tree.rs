//! The best tree of a gold chart against the typed chart, and against the program it explains.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Case, built_in_cases, options, repeated_cases};
use proptest::prelude::*;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::gold::GoldChart;
use spanwise_chart::typed::RuleValues;
use spanwise_chart::{Category, SpanTree};
use spanwise_lang::{Analysis, ConstantId, Node};

/// The constants under a node of the tree, sorted.
fn constants_of_tree(tree: &SpanTree, top: usize) -> Vec<ConstantId> {
    let (mut found, mut todo) = (Vec::new(), vec![top]);
    while let Some(at) = todo.pop() {
        let node = &tree.nodes[at];
        if let Category::Constant(constant) | Category::Implicit(constant) = node.category {
            found.push(constant);
        }
        todo.extend(&node.children);
    }
    found.sort_unstable();
    found
}

/// The constants under a node of the program, sorted.
fn constants_of_program(analysis: &Analysis, top: usize) -> Vec<ConstantId> {
    let (mut found, mut todo) = (Vec::new(), vec![top]);
    while let Some(at) = todo.pop() {
        if let Node::Constant { constant, .. } = analysis.nodes[at] {
            found.push(constant);
        }
        todo.extend(analysis.nodes[at].children());
    }
    found.sort_unstable();
    found
}

/// The best typed derivation is the best gold derivation of its own program.
fn check(case: &Case) {
    let rules = RuleValues::new(&case.grammar, &case.rules);
    let chart = BestChart::new(case.input(), &rules);
    let Some(best) = chart.best() else { return };
    let mut terms = case.domain.new_terms();
    let (program, expected) = chart.tree(&mut terms, &best).unwrap();
    let gold =
        GoldChart::new(&case.domain, &case.grammar, &case.lattice, &terms, program, case.own()).unwrap();
    let flat = case.flat();
    let found = gold.best_tree(&case.domain, &case.lattice, &mut terms, &flat).unwrap();
    assert!((found.score - best.score).abs() < 1e-3);
    assert_eq!(found.tree.root().unwrap().program, Some(program));
    let show = |tree: &SpanTree| {
        let row = |(depth, node): &(usize, &spanwise_chart::TreeNode)| {
            (*depth, node.span, node.category, node.program, node.state.clone())
        };
        tree.preorder().iter().map(row).collect::<Vec<_>>()
    };
    // Random scores have no ties, but where two equal constants can change places.
    let mut constants = constants_of_program(&found.analysis, 0);
    let n_constants = constants.len();
    constants.dedup();
    if constants.len() == n_constants {
        assert_eq!(show(&found.tree), show(&expected));
    }
    for (node, place) in found.says.iter().enumerate() {
        if let Some(place) = place {
            assert_eq!(constants_of_tree(&found.tree, *place), constants_of_program(&found.analysis, node));
        }
    }
    assert!(found.says[0].is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_best_gold_tree_is_the_best_tree_of_that_program(seed: u64, options in options()) {
        repeated_cases(seed, options).iter().for_each(check);
    }
}

#[test]
fn in_the_built_in_domains_too() {
    for name in spanwise_domains::load::builtin_names() {
        for seed in 0..40 {
            built_in_cases(seed, name, spanwise_chart::grammar::Options::default()).iter().for_each(check);
        }
    }
}
