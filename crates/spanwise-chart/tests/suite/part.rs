//! Charts of the part of a grammar that an utterance can use, against those of the whole.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Case, built_in_cases, cases, options};
use proptest::prelude::*;
use spanwise_chart::budget::Meter;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::gold::GoldChart;
use spanwise_chart::grammar::{Grammar, Options};
use spanwise_chart::outside::marginals;
use spanwise_chart::semiring::{Max, Sum};
use spanwise_chart::typed::{Input, RuleValues};

/// The best programs with their scores, rounded.
fn listed(case: &Case, input: Input<'_>, rules: &RuleValues<Max>) -> Vec<(String, i64)> {
    let mut terms = case.domain.new_terms();
    let found = BestChart::new(input, rules).programs(&mut terms, 4, 400, &Meter::unlimited());
    let shown = |score: f32| (f64::from(score) * 1e3).round() as i64;
    let mut all: Vec<(String, i64)> = found
        .into_iter()
        .map(|(program, derivation)| (terms.display(program).to_string(), shown(derivation.score)))
        .collect();
    // Programs of one score come in any order.
    all.sort();
    all
}

fn check(case: &Case) {
    let whole = case.input();
    let grammar: Grammar = case.grammar.smallest_part(&case.domain, &case.lattice);
    let part = whole.with_part(&grammar);
    assert_eq!(
        spanwise_chart::count_derivations(&whole),
        spanwise_chart::count_derivations(&part),
        "{}",
        case.describe()
    );
    let (max, sum): (RuleValues<Max>, RuleValues<Sum>) =
        (RuleValues::new(&case.grammar, &case.rules), RuleValues::new(&case.grammar, &case.rules));
    assert_eq!(listed(case, whole, &max), listed(case, part, &max.part(&grammar)), "{}", case.describe());
    let (Some((log_z, slopes)), Some((part_log_z, part_slopes))) =
        (marginals(&whole, &sum), marginals(&part, &sum.part(&grammar)))
    else {
        assert!(marginals(&whole, &sum).is_none() && marginals(&part, &sum.part(&grammar)).is_none());
        return;
    };
    assert!((log_z - part_log_z).abs() < 1e-9 * log_z.abs().max(1.0), "{log_z} {part_log_z}");
    let arrays = |it: &spanwise_chart::lattice::Gradient| {
        [it.leaves.clone(), it.rules.clone(), it.joins.clone(), it.implicit.clone()].concat()
    };
    for (a, b) in arrays(&slopes).into_iter().zip(arrays(&part_slopes)) {
        assert!((a - b).abs() < 1e-5, "{a} {b} {}", case.describe());
    }
    for (_, program) in case.enumerate().into_iter().take(3) {
        let mut terms = case.domain.new_terms();
        let program = terms.parse(&program).unwrap();
        let gold = |grammar: &Grammar| {
            let gold = GoldChart::new(&case.domain, grammar, &case.lattice, &terms, program, case.own());
            gold.map(|gold| {
                gold.graph()
                    .marginals(&case.flat().iter().map(|&score| f64::from(score)).collect::<Vec<_>>())
                    .map(|(sum, _)| (sum * 1e6).round() as i64)
            })
            .ok()
        };
        assert_eq!(gold(&case.grammar), gold(&grammar), "{}", case.describe());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn charts_of_a_part_equal_those_of_the_whole(seed: u64, options in options()) {
        for case in cases(seed, options) {
            check(&case);
        }
    }
}

#[test]
fn charts_of_a_part_of_the_built_in_domains_equal_those_of_the_whole() {
    for name in spanwise_domains::load::builtin_names() {
        for seed in 0..20 {
            let options = Options { implicit: seed % 2 == 0, ..Options::default() };
            built_in_cases(seed, name, options).iter().for_each(check);
        }
    }
}
