//! Trees with whole phrases against all derivations of the chart.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Case, options, repeated_cases};
use proptest::prelude::*;
use spanwise_chart::budget::Meter;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::typed::RuleValues;
use spanwise_chart::whole_phrases::{Found, whole_phrases};
use spanwise_chart::{Category, SpanTree, TreeNode, count_derivations};
use spanwise_core::{Random, Span};
use spanwise_lang::ConstantId;
use spanwise_lang::lexicon::{Match, Source};

/// Charts with more derivations are not enumerated.
const MAX_DERIVATIONS: f64 = 2_000.0;

fn constants(tree: &SpanTree) -> Vec<(Span, ConstantId)> {
    let aligned = |node: &TreeNode| match node.category {
        Category::Constant(constant) => Some((node.span, constant)),
        _ => None,
    };
    let mut found: Vec<_> = tree.nodes.iter().filter_map(aligned).collect();
    found.sort_unstable();
    found
}

fn rows(tree: &SpanTree) -> Vec<(usize, Span, Category)> {
    tree.preorder().iter().map(|(depth, node)| (*depth, node.span, node.category)).collect()
}

/// About half of the leaves as phrases, and a phrase on words that the chart may not allow.
fn phrases(case: &Case, seed: u64) -> Vec<Match> {
    let mut random = Random::new(seed, &[9]);
    let leaves = case.lattice.leaves().iter().filter(|_| random.below(2) == 0);
    let mut spans: Vec<(Span, ConstantId)> = leaves.map(|leaf| (leaf.span(), leaf.constant)).collect();
    let whole = Span::new(0, case.lattice.n_tokens() as u32);
    spans.extend(case.lattice.leaves().first().map(|leaf| (whole, leaf.constant)));
    spans.into_iter().map(|(span, constant)| Match { span, constant, source: Source::Phrase }).collect()
}

/// Returns whether a constant takes a longer phrase.
fn check(case: &Case, seed: u64) -> bool {
    let input = case.input();
    if count_derivations(&input) > MAX_DERIVATIONS {
        return false;
    }
    let chart = BestChart::new(input, &RuleValues::new(&case.grammar, &case.rules));
    let Some(best) = chart.best() else { return false };
    let mut terms = case.domain.new_terms();
    let (program, tree) = chart.tree(&mut terms, &best).unwrap();
    // A gold chart holds the derivations of the first typing.
    if case.domain.analyze(&terms, program).unwrap().is_ambiguous {
        return false;
    }
    let (own, phrases) = (constants(&tree), phrases(case, seed));

    // Of all derivations of the program, the best with these words.
    let is_phrase = |(span, constant): &(Span, ConstantId)| {
        let is_around = |(words, its): &(Span, ConstantId)| its == constant && span.contains(*words);
        phrases.iter().any(|it| (it.span, it.constant) == (*span, *constant)) && own.iter().any(is_around)
    };
    let mut expected: Option<((usize, usize), f32, SpanTree)> = None;
    for derivation in chart.derivations() {
        let (its_program, its_tree) = chart.tree(&mut terms, &derivation).unwrap();
        let aligned = constants(&its_tree);
        if its_program != program || !aligned.iter().all(|it| own.contains(it) || is_phrase(it)) {
            continue;
        }
        let in_phrases = aligned.iter().filter(|it| is_phrase(it)).map(|(span, _)| span.len()).sum();
        let key = (in_phrases, aligned.iter().filter(|it| own.contains(it)).count());
        // Derivations come in the order of their scores.
        if expected.as_ref().is_none_or(|(known, ..)| key > *known) {
            expected = Some((key, derivation.score, its_tree));
        }
    }
    let (_, _, expected) = expected.unwrap();

    let scores = case.flat();
    let (domain, grammar, lattice) = (&case.domain, &case.grammar, &case.lattice);
    let found = Found { domain, grammar, lattice, own: case.own(), scores: &scores };
    let whole = whole_phrases(&found, (&mut terms, program), &tree, &phrases, &Meter::unlimited()).unwrap();
    match &whole {
        None => assert_eq!(constants(&expected), own),
        Some(whole) => {
            assert_eq!(whole.root().unwrap().program, Some(program));
            assert_eq!(constants(whole), constants(&expected));
            assert_eq!(rows(whole), rows(&expected));
        }
    }
    whole.is_some()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_shown_tree_is_the_derivation_of_its_program_with_the_most_words_in_phrases(
        seed: u64,
        options in options(),
    ) {
        for case in repeated_cases(seed, options) {
            check(&case, seed);
        }
    }
}

#[test]
fn random_cases_have_longer_phrases() {
    let options = spanwise_chart::grammar::Options::default();
    let n = (0..200).flat_map(|seed| repeated_cases(seed, options).into_iter().map(move |it| (it, seed)));
    assert!(n.filter(|(case, seed)| check(case, *seed)).count() > 5);
}
