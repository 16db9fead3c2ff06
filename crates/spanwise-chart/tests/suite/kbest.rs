//! Lists of derivations and programs against enumeration.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::repeated_cases;
use proptest::prelude::*;
use spanwise_chart::budget::Meter;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::grammar::Options;
use spanwise_chart::typed::RuleValues;
use std::collections::BTreeMap;

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn all_derivations_come_once_and_in_order(seed: u64) {
        for case in repeated_cases(seed, Options { implicit: true, ..Options::default() }) {
            let mut expected: Vec<f64> = case.enumerate().into_iter().map(|(score, _)| score).collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            let rules = RuleValues::new(&case.grammar, &case.rules);
            let chart = BestChart::new(case.input(), &rules);
            let found: Vec<f32> = chart.derivations().map(|derivation| derivation.score).collect();
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((f64::from(*found) - expected).abs() < 1e-3, "{found} {expected}");
            }
        }
    }

    #[test]
    fn the_best_different_programs_equal_enumeration(seed: u64) {
        for case in repeated_cases(seed, Options { implicit: true, ..Options::default() }) {
            let mut best: BTreeMap<String, f64> = BTreeMap::new();
            for (score, program) in case.enumerate() {
                let known = best.entry(program).or_insert(f64::NEG_INFINITY);
                *known = known.max(score);
            }
            let mut expected: Vec<f64> = best.values().copied().collect();
            expected.sort_by(|a, b| b.total_cmp(a));
            let rules = RuleValues::new(&case.grammar, &case.rules);
            let chart = BestChart::new(case.input(), &rules);
            let mut terms = case.domain.new_terms();
            let found = chart.programs(&mut terms, 4, 100_000, &Meter::unlimited());
            prop_assert_eq!(found.len(), expected.len().min(4));
            for ((program, derivation), expected) in found.iter().zip(&expected) {
                prop_assert!((f64::from(derivation.score) - expected).abs() < 1e-3);
                let text = terms.display(*program).to_string();
                prop_assert!((best[&text] - expected).abs() < 2e-3, "{text}");
            }
        }
    }
}
