//! The gold chart against enumeration filtered by program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{options, repeated_cases};
use proptest::prelude::*;
use spanwise_chart::gold::{GoldChart, Joins, Underivable};
use spanwise_chart::grammar::{Discontinuity, Options};
use spanwise_chart::outside::log_partition;
use spanwise_chart::semiring::{Count, LogSum, Max};
use spanwise_chart::typed::RuleValues;
use std::collections::BTreeMap;

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn gold_sums_counts_and_best_equal_the_enumeration_of_that_program(seed: u64, options in options()) {
        for case in repeated_cases(seed, options) {
            let mut by_program: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for (score, program) in case.enumerate() {
                by_program.entry(program).or_default().push(score);
            }
            let rules = RuleValues::new(&case.grammar, &case.rules);
            let total = log_partition(&case.input(), &rules);
            let flat: Vec<f64> =
                case.flat().into_iter().map(f64::from).collect();
            let narrow: Vec<f32> = flat.iter().map(|&score| score as f32).collect();
            for (text, scores) in by_program {
                let mut terms = case.domain.new_terms();
                let program = terms.parse(&text).unwrap();
                let gold = GoldChart::new(&case.domain, &case.grammar, &case.lattice, &terms, program, case.own());
                let gold = gold.unwrap_or_else(|reason| panic!("{text}: {reason:?}, {}", case.describe()));
                let graph = gold.graph();
                // Where a program has several typings, the chart has the derivations of the first.
                if gold.analysis().is_ambiguous {
                    let count = *graph.inside::<Count>(&vec![1.0; flat.len()]).last().unwrap();
                    prop_assert!(count <= scores.len() as f64, "{} {}", text, case.describe());
                    continue;
                }
                let count = *graph.inside::<Count>(&vec![1.0; flat.len()]).last().unwrap();
                prop_assert_eq!(count, scores.len() as f64, "{} {}", text, case.describe());
                let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum = top + scores.iter().map(|score| (score - top).exp()).sum::<f64>().ln();
                let log_z = *graph.inside::<LogSum>(&flat).last().unwrap();
                prop_assert!((log_z - sum).abs() < 1e-6, "{text}: {log_z} {sum}");
                prop_assert!(total.unwrap() - log_z > -1e-9, "a program is more likely than all programs");
                let best = *graph.inside::<Max>(&narrow).last().unwrap();
                prop_assert!((f64::from(best) - top).abs() < 1e-3);
            }
        }
    }
}

#[test]
fn a_program_counts_in_all_its_typings() {
    use spanwise_chart::grammar::{Grammar, N_USAGES};
    use spanwise_chart::lattice::{Lattice, Leaf};
    let file = "name = 'd'\ntypes = ['A', 'B', 'R']\nroot = { types = ['R'] }\n[constants]\n\
                f = ['A = x -> R', 'B -> R']\nx = ['A', 'B']\n";
    let domain = spanwise_lang::Domain::load(file, "d.toml", None, &spanwise_lang::domain::NoTables).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let leaf = |at: u32, name: &str| Leaf::new(at, at + 1, crate::common::constant(&domain, name));
    let lattice = Lattice::new(2, vec![leaf(0, "f"), leaf(1, "x")]).unwrap();
    let mut terms = domain.new_terms();
    let program = terms.parse("f(x)").unwrap();
    let gold = GoldChart::new(&domain, &grammar, &lattice, &terms, program, Joins::None).unwrap();
    let ones = vec![1.0; lattice.leaves().len() * N_USAGES + grammar.n_rules()];
    // As an A, as a B, and as the default, where the second word means nothing.
    assert_eq!(gold.graph().inside::<Count>(&ones).last(), Some(&3.0));
}

#[cfg(feature = "geo")]
#[test]
fn underivable_programs_have_a_reason() {
    use spanwise_chart::grammar::Grammar;
    use spanwise_chart::lattice::{Lattice, Leaf};
    let domain = spanwise_domains::load::load("geo").unwrap();
    let grammar = Grammar::new(&domain, Options { discontinuity: Discontinuity::None, implicit: false });
    let constant = |name: &str| crate::common::constant(&domain, name);
    let words = ["state", "population_1", "largest_one"];
    let lattice = |order: &[usize]| {
        let leaf =
            |(at, &which): (usize, &usize)| Leaf::new(at as u32, at as u32 + 1, constant(words[which]));
        Lattice::new(order.len(), order.iter().enumerate().map(leaf).collect()).unwrap()
    };
    let why = |program: &str, order: &[usize]| {
        let mut terms = domain.new_terms();
        let program = terms.parse(program).unwrap();
        GoldChart::new(&domain, &grammar, &lattice(order), &terms, program, Joins::None).err()
    };
    let most = "answer(largest_one(population_1(state(all))))";
    assert_eq!(why(most, &[2, 1, 0]), None);
    assert_eq!(why(most, &[0, 2, 1]), Some(Underivable::Order));
    assert_eq!(why(most, &[0, 1]), Some(Underivable::Unaligned(constant("largest_one"))));
    assert_eq!(
        why("answer(state(next_to_2(state(all))))", &[0, 1]).unwrap().kind(),
        "constant not in the words"
    );
    assert!(matches!(why("answer(foo)", &[0]), Some(Underivable::Untypeable(_))));
    assert!(matches!(
        why("answer(population_1(cityid('nowhere', 'zz')))", &[1]),
        Some(Underivable::UnlistedEntity(_))
    ));
}

#[cfg(feature = "geo")]
#[test]
fn the_ternary_example_of_the_paper_needs_a_discontinuous_rule() {
    use spanwise_chart::grammar::Grammar;
    use spanwise_chart::lattice::{Lattice, Leaf};
    let domain = spanwise_domains::load::load("geo").unwrap();
    let leaf = |at: u32, name: &str| Leaf::new(at, at + 1, crate::common::constant(&domain, name));
    let lattice =
        Lattice::new(7, vec![leaf(0, "state"), leaf(4, "largest_one"), leaf(5, "population_1")]).unwrap();
    let mut terms = domain.new_terms();
    let program = terms.parse("answer(largest_one(population_1(state(all))))").unwrap();
    for (discontinuity, expected) in
        [(Discontinuity::None, false), (Discontinuity::Ternary, true), (Discontinuity::Open, true)]
    {
        let grammar = Grammar::new(&domain, Options { discontinuity, implicit: false });
        let gold = GoldChart::new(&domain, &grammar, &lattice, &terms, program, Joins::None);
        assert_eq!(gold.is_ok(), expected, "{discontinuity:?}");
    }
}

#[cfg(feature = "geo")]
#[test]
fn programs_of_sixty_five_constants_are_derived_in_either_order_of_the_words() {
    use spanwise_chart::grammar::Grammar;
    use spanwise_chart::lattice::{Lattice, Leaf};
    let domain = spanwise_domains::load::load("geo").unwrap();
    let n = 32;
    let text = format!("answer({}stateid('ohio'){})", "state(next_to_2(".repeat(n), "))".repeat(n));
    let mut terms = domain.new_terms();
    let program = terms.parse(&text).unwrap();
    let mut names: Vec<&str> = ["state", "next_to_2"].into_iter().cycle().take(2 * n).collect();
    names.push("stateid('ohio')");
    for discontinuity in [Discontinuity::None, Discontinuity::Open] {
        let grammar = Grammar::new(&domain, Options { discontinuity, implicit: false });
        names.reverse();
        let leaf = |(at, name): (usize, &&str)| {
            Leaf::new(at as u32, at as u32 + 1, crate::common::constant(&domain, name))
        };
        let lattice = Lattice::new(names.len(), names.iter().enumerate().map(leaf).collect()).unwrap();
        let gold = GoldChart::new(&domain, &grammar, &lattice, &terms, program, Joins::None).unwrap();
        let n_scores = lattice.leaves().len() * spanwise_chart::grammar::N_USAGES + grammar.n_rules();
        let count = *gold.graph().inside::<Count>(&vec![1.0; n_scores]).last().unwrap();
        // Without discontinuity every word has its place; with it, equal constants can change theirs.
        assert!(if discontinuity == Discontinuity::None { count == 1.0 } else { count > 1.0 }, "{count}");
    }
}
