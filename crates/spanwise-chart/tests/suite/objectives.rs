//! Losses against enumeration, gradients against finite differences.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Case, repeated_cases, score};
use proptest::prelude::*;
use spanwise_chart::budget::Meter;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::gold::{self, GoldChart, Joins, OwnScores};
use spanwise_chart::grammar::{Discontinuity, Options};
use spanwise_chart::objective::{Target, crf, marginal, posterior};
use spanwise_chart::outside::log_partition;
use spanwise_chart::paper::{PaperScores, log_prob, n_spans};
use spanwise_chart::semiring::LogSum;
use spanwise_chart::typed::RuleValues;
use spanwise_chart::{Category, SpanTree, TreeNode};
use spanwise_core::Random;
use spanwise_core::Span;
use spanwise_lang::ConstantId;
use std::collections::BTreeMap;

fn gold(case: &Case, text: &str, own: impl Into<OwnScores>) -> GoldChart {
    let mut terms = case.domain.new_terms();
    let program = terms.parse(text).unwrap();
    GoldChart::new(&case.domain, &case.grammar, &case.lattice, &terms, program, own).unwrap()
}

fn by_program(case: &Case) -> BTreeMap<String, Vec<f64>> {
    let mut found: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (score, program) in case.enumerate() {
        found.entry(program).or_default().push(score);
    }
    found
}

fn log_sum(scores: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = scores.clone().fold(f64::NEG_INFINITY, f64::max);
    top + scores.map(|score| (score - top).exp()).sum::<f64>().ln()
}

/// Expected counts of leaves over all derivations.
fn free_counts(case: &Case) -> Vec<f32> {
    let rules = RuleValues::new(&case.grammar, &case.rules);
    spanwise_chart::outside::marginals(&case.input(), &rules).unwrap().1.leaves
}

fn random_paper_scores(case: &Case, random: &mut Random) -> Vec<f32> {
    (0..n_spans(case.lattice.n_tokens()) * (case.domain.constants().len() + 2))
        .map(|_| score(random))
        .collect()
}

/// All trees of each program, with their log-probabilities.
fn trees_by_program(case: &Case, scores: &PaperScores) -> BTreeMap<String, Vec<(f64, SpanTree)>> {
    let chart = BestChart::new(case.input(), &RuleValues::new(&case.grammar, &case.rules));
    let mut terms = case.domain.new_terms();
    let mut trees: BTreeMap<String, Vec<(f64, SpanTree)>> = BTreeMap::new();
    for derivation in chart.derivations() {
        let (program, tree) = chart.tree(&mut terms, &derivation).unwrap();
        let log = log_prob(scores, &tree);
        trees.entry(terms.display(program).to_string()).or_default().push((log, tree));
    }
    trees
}

/// The constants of a tree and their words.
fn leaves(tree: &SpanTree) -> Vec<(Span, ConstantId)> {
    let leaf = |node: &TreeNode| match node.category {
        Category::Constant(constant) => Some((node.span, constant)),
        _ => None,
    };
    tree.nodes.iter().filter_map(leaf).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn crf_is_minus_the_log_probability_and_its_gradient_is_exact(seed: u64) {
        for mut case in repeated_cases(seed, Options { implicit: true, ..Options::default() }).into_iter().take(2) {
            let programs = by_program(&case);
            let Some((text, scores)) = programs.iter().next() else { continue };
            let gold = gold(&case, text, case.own());
            let loss = |case: &Case| crf(&case.input(), &RuleValues::new(&case.grammar, &case.rules), &gold, Target::All).unwrap();
            let found = loss(&case);
            let total = log_sum(programs.values().flatten().copied());
            let expected = total - log_sum(scores.iter().copied());
            prop_assert!((found.value - expected).abs() < 1e-6, "{} {expected}", found.value);
            let rules = RuleValues::new(&case.grammar, &case.rules);
            let log_z = log_partition(&case.input(), &rules).unwrap();
            let mut terms = case.domain.new_terms();
            let program = terms.parse(text).unwrap();
            let share = posterior(&case.input(), log_z, &terms, program, &Meter::unlimited()).unwrap();
            prop_assert!((share.ln() + expected).abs() < 1e-6);
            // The sum without the chart is the sum over the chart.
            let flat = case.scores().flat();
            let stored = *gold.graph().inside::<LogSum>(&flat).last().unwrap();
            let streamed = gold::log_sum(&case.input(), &terms, program, &Meter::unlimited()).unwrap();
            prop_assert_eq!(streamed, Some(stored));
            for at in (0..case.leaves.len()).filter(|at| found.gradient.leaves[*at].abs() > 1e-5 || at % 11 == 0) {
                let old = case.leaves[at];
                case.leaves[at] = old + 0.01;
                let (high, up) = (loss(&case).value, case.leaves[at]);
                case.leaves[at] = old - 0.01;
                let (low, down) = (loss(&case).value, case.leaves[at]);
                case.leaves[at] = old;
                let slope = (high - low) / f64::from(up - down);
                prop_assert!((slope - f64::from(found.gradient.leaves[at])).abs() < 3e-4, "{slope} {}", found.gradient.leaves[at]);
            }
        }
    }

    #[test]
    fn the_best_gold_derivation_alone_and_gold_leaves_alone_lie_where_they_must(seed: u64) {
        for mut case in repeated_cases(seed, Options::default()).into_iter().take(2) {
            let programs = by_program(&case);
            let Some((text, scores)) = programs.iter().next() else { continue };
            let gold = gold(&case, text, case.own());
            let loss = |case: &Case, target| {
                let rules = RuleValues::new(&case.grammar, &case.rules);
                crf(&case.input(), &rules, &gold, target)
            };
            let total = log_sum(programs.values().flatten().copied());
            let best = loss(&case, Target::Best).unwrap();
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!((best.value - (total - top)).abs() < 1e-4, "{} {}", best.value, total - top);
            // All leaves allowed is no restriction; none allowed leaves no derivation.
            let n_leaves = case.lattice.leaves().len();
            let (all, none) = (vec![true; n_leaves], vec![false; n_leaves]);
            let free = loss(&case, Target::All).unwrap();
            prop_assert_eq!(&loss(&case, Target::Leaves(&all)).unwrap(), &free);
            prop_assert!(loss(&case, Target::Leaves(&none)).is_none());
            prop_assert!(best.value >= free.value - 1e-4);
            // The leaves of the best derivation alone: between it and everything.
            let own: Vec<bool> = best
                .gradient
                .leaves
                .chunks_exact(spanwise_chart::grammar::N_USAGES)
                .zip(free_counts(&case).chunks_exact(spanwise_chart::grammar::N_USAGES))
                .map(|(mine, all)| mine.iter().zip(all).any(|(mine, all)| all - mine > 0.5))
                .collect();
            let some = loss(&case, Target::Leaves(&own)).unwrap();
            prop_assert!(some.value <= best.value + 1e-4 && some.value >= free.value - 1e-4);
            for at in (0..case.leaves.len()).step_by(1 + case.leaves.len() / 6) {
                let old = case.leaves[at];
                case.leaves[at] = old + 0.01;
                let (high, up) = (loss(&case, Target::Leaves(&own)).unwrap().value, case.leaves[at]);
                case.leaves[at] = old - 0.01;
                let (low, down) = (loss(&case, Target::Leaves(&own)).unwrap().value, case.leaves[at]);
                case.leaves[at] = old;
                let slope = (high - low) / f64::from(up - down);
                prop_assert!((slope - f64::from(some.gradient.leaves[at])).abs() < 3e-4, "{slope}");
            }
        }
    }

    #[test]
    fn marginal_sums_the_probabilities_of_the_trees_that_count_or_takes_the_best(seed: u64) {
        let options = Options { discontinuity: Discontinuity::None, implicit: false };
        let mut random = Random::new(seed, &[4]);
        for mut case in repeated_cases(seed, options) {
            // The trees themselves come from the typed chart, all of them.
            case.joins.clear();
            let logits = random_paper_scores(&case, &mut random);
            let scored = |logits: Vec<f32>| PaperScores::new(case.lattice.n_tokens(), case.domain.constants().len(), logits).unwrap();
            let scores = scored(logits.clone());
            let moved = |at: usize, delta: f32| {
                let mut moved = logits.clone();
                moved[at] += delta;
                scored(moved)
            };
            for (text, trees) in trees_by_program(&case, &scores) {
                let chart = gold(&case, &text, Joins::Tree);
                let loss = |scores: &PaperScores, target| {
                    marginal(scores, &case.lattice, case.grammar.n_rules(), &chart, target)
                };
                // All trees, and those with the leaves of one of them.
                let own = leaves(&trees[0].1);
                let is_own = |tree: &SpanTree| leaves(tree).iter().all(|leaf| own.contains(leaf));
                let some: Vec<_> = trees.iter().filter(|(_, tree)| is_own(tree)).cloned().collect();
                let mask = case.lattice.mask(&own);
                for (trees, sum, best) in [
                    (&trees, Target::All, Target::Best),
                    (&some, Target::Leaves(&mask), Target::BestWithLeaves(&mask)),
                ] {
                    let found = loss(&scores, sum).unwrap();
                    let expected = -log_sum(trees.iter().map(|(log, _)| *log));
                    prop_assert!((found.value - expected).abs() < 1e-4, "{text}: {} {expected}", found.value);
                    let hard = loss(&scores, best).unwrap();
                    let (log, tree) = trees.iter().max_by(|(a, _), (b, _)| a.total_cmp(b)).unwrap();
                    prop_assert!((hard.value + log).abs() < 1e-4, "{text}: {} {log}", hard.value);
                    let n_best = trees.iter().filter(|(other, _)| log - other < 1e-4).count();
                    for at in (0..logits.len()).step_by(1 + logits.len() / 12) {
                        let slope = |value: &dyn Fn(&PaperScores) -> f64| {
                            (value(&moved(at, 0.01)) - value(&moved(at, -0.01))) / 0.02
                        };
                        let soft = slope(&|scores| loss(scores, sum).unwrap().value) - f64::from(found.gradient[at]);
                        prop_assert!(soft.abs() < 2e-3, "{soft}");
                        // Of equally good trees either one may be the best.
                        let best = slope(&|scores| -log_prob(scores, tree)) - f64::from(hard.gradient[at]);
                        prop_assert!(best.abs() < 2e-3 || n_best > 1, "{best}");
                    }
                }
                let none = vec![false; mask.len()];
                prop_assert_eq!(loss(&scores, Target::BestWithLeaves(&none)), None);
            }
        }
    }
}
