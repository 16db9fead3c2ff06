//! The typed chart against enumeration: every reading once, the best one best, sums and slopes exact.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Case, built_in_cases, cases, options};
use proptest::prelude::*;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::grammar::Options;
use spanwise_chart::outside::{log_partition, marginals};
use spanwise_chart::typed::RuleValues;

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, ..ProptestConfig::default() })]

    #[test]
    fn every_reading_has_exactly_one_derivation(seed: u64, options in options()) {
        for case in cases(seed, options) {
            let readings = case.readings();
            prop_assert_eq!(case.count(), readings.len() as f64, "{}", case.describe());
        }
    }

    #[test]
    fn partition_and_best_equal_enumeration(seed: u64, options in options()) {
        for case in cases(seed, options) {
            let scored = case.enumerate();
            let rules = RuleValues::new(&case.grammar, &case.rules);
            let log_z = log_partition(&case.input(), &rules);
            let max_rules = RuleValues::new(&case.grammar, &case.rules);
            let chart = BestChart::new(case.input(), &max_rules);
            if scored.is_empty() {
                prop_assert_eq!(log_z, None);
                prop_assert!(chart.best().is_none());
                continue;
            }
            let top = scored.iter().map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scored.iter().map(|(score, _)| (score - top).exp()).sum();
            prop_assert!((log_z.unwrap() - top - sum.ln()).abs() < 1e-6, "{} {} {}", log_z.unwrap(), top + sum.ln(), case.describe());
            prop_assert!((f64::from(chart.score()) - top).abs() < 1e-3);
            let best = chart.best().unwrap();
            let mut terms = case.domain.new_terms();
            let (program, _) = chart.tree(&mut terms, &best).unwrap();
            let text = terms.display(program).to_string();
            let near = scored.iter().filter(|(score, _)| (score - top).abs() < 1e-3);
            prop_assert!(near.into_iter().any(|(_, known)| *known == text), "{text}");
        }
    }

    #[test]
    fn marginals_equal_finite_differences_of_the_enumeration(seed: u64, options in options()) {
        for case in cases(seed, options).into_iter().take(1) {
            let rules = RuleValues::new(&case.grammar, &case.rules);
            let Some((_, gradient)) = marginals(&case.input(), &rules) else { continue };
            case.check_gradient(&gradient);
        }
    }
}

#[test]
fn the_built_in_domains_equal_enumeration_on_short_utterances() {
    let mut n_derived = 0;
    let paper = cfg!(feature = "geo").then_some("geo@paper");
    for name in spanwise_domains::load::builtin_names().chain(paper) {
        for seed in 0..40 {
            for case in built_in_cases(seed, name, Options { implicit: seed % 2 == 0, ..Options::default() })
            {
                let scored = case.enumerate();
                let rules = RuleValues::new(&case.grammar, &case.rules);
                let log_z = log_partition(&case.input(), &rules);
                assert_eq!(case.count(), scored.len() as f64, "{name}");
                if scored.is_empty() {
                    assert_eq!(log_z, None);
                    continue;
                }
                n_derived += 1;
                let top = scored.iter().map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = scored.iter().map(|(score, _)| (score - top).exp()).sum();
                assert!((log_z.unwrap() - top - sum.ln()).abs() < 1e-6, "{name}");
                let max_rules = RuleValues::new(&case.grammar, &case.rules);
                let best = BestChart::new(case.input(), &max_rules).score();
                assert!((f64::from(best) - top).abs() < 1e-3, "{name}");
            }
        }
    }
    assert!(n_derived > if paper.is_some() { 200 } else { 100 }, "only {n_derived} cases have a derivation");
}

#[test]
fn scores_beyond_linear_space_are_summed_in_log_space() {
    for scale in [200.0f32, 3000.0] {
        for mut case in (0..25).flat_map(|seed| cases(seed, Options::default())) {
            case.leaves.iter_mut().for_each(|score| *score *= scale);
            let scored = case.enumerate();
            if scored.is_empty() {
                continue;
            }
            let top = scored.iter().map(|(score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scored.iter().map(|(score, _)| (score - top).exp()).sum();
            let rules = RuleValues::new(&case.grammar, &case.rules);
            let (log_z, gradient) = marginals(&case.input(), &rules).unwrap();
            assert!((log_z - top - sum.ln()).abs() < 1e-6 * top.abs().max(1.0), "{log_z} {top}");
            assert!(gradient.leaves.iter().all(|count| count.is_finite() && *count >= -1e-6));
        }
    }
}

#[test]
fn the_best_score_is_the_limit_of_cold_sums() {
    for case in
        (0..40).flat_map(|seed| cases(seed, Options { implicit: seed % 2 == 0, ..Options::default() }))
    {
        let max_rules = RuleValues::new(&case.grammar, &case.rules);
        let best = f64::from(BestChart::new(case.input(), &max_rules).score());
        if best == f64::NEG_INFINITY {
            continue;
        }
        let cold = 200.0f32;
        let colder: Case = case.scaled(cold);
        let rules = RuleValues::new(&colder.grammar, &colder.rules);
        let log_z = log_partition(&colder.input(), &rules).unwrap();
        assert!((log_z / f64::from(cold) - best).abs() < 0.05, "{} {best}", log_z / f64::from(cold));
    }
}

#[test]
fn random_cases_have_words_that_must_be_used_and_arguments_that_complete_others() {
    let options = Options { implicit: true, ..Options::default() };
    let (mut n_strict, mut n_completed) = (0, 0);
    for case in (0..800).flat_map(|seed| cases(seed, options)) {
        let readings = case.readings();
        // The words matter: with them, fewer programs are left.
        n_strict += usize::from(!readings.is_empty() && case.lenient().count() > readings.len() as f64);
        n_completed += usize::from(readings.iter().any(|program| case.completes(program)));
    }
    assert!(n_strict > 20 && n_completed > 20, "{n_strict} {n_completed}");
}
