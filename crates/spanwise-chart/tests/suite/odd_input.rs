//! Input at the edges: nothing, too much, and scores that are no numbers.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use spanwise_chart::candidates::Candidates;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
use spanwise_chart::lattice::{ChartError, Lattice, Leaf, MAX_POSITIONS, MAX_TOKENS, Scores};
use spanwise_chart::outside::{log_partition, marginals};
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::Utterance;
use spanwise_domains::load::load;
use spanwise_lang::Domain;
use spanwise_lang::domain::NoTables;

fn scan() -> (Domain, Grammar) {
    let domain = load("scan").unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    (domain, grammar)
}

#[test]
fn no_words_have_no_derivation() {
    let (domain, grammar) = scan();
    let lattice = Candidates::default().lattice(&domain, &Utterance::new("")).unwrap();
    let rules = vec![0.0; grammar.n_rules()];
    let input = Input::new(
        &domain,
        &grammar,
        &lattice,
        Scores { leaves: &[], rules: &rules, joins: &[], implicit: &[] },
    )
    .unwrap();
    assert!(BestChart::new(input, &RuleValues::new(&grammar, &rules)).best().is_none());
    assert_eq!(marginals(&input, &RuleValues::new(&grammar, &rules)), None);
}

#[test]
fn scores_that_are_no_numbers_or_of_the_wrong_number_are_errors() {
    let (domain, grammar) = scan();
    let lattice = Candidates::default().lattice(&domain, &Utterance::new("walk left")).unwrap();
    let rules = vec![0.0; grammar.n_rules()];
    let check = |leaves: &[f32], rules: &[f32], joins: &[f32]| {
        Input::new(&domain, &grammar, &lattice, Scores { leaves, rules, joins, implicit: &[] }).err()
    };
    let mut leaves = vec![0.0; lattice.leaves().len() * N_USAGES];
    assert_eq!(check(&leaves, &rules, &[]), None);
    assert!(matches!(check(&leaves[1..], &rules, &[]), Some(ChartError::WrongLength { what: "leaf", .. })));
    assert!(matches!(check(&leaves, &rules[1..], &[]), Some(ChartError::WrongLength { what: "rule", .. })));
    assert!(matches!(check(&leaves, &rules, &[0.0]), Some(ChartError::WrongLength { what: "join", .. })));
    for bad in [f32::NAN, f32::INFINITY] {
        leaves[3] = bad;
        assert!(matches!(
            check(&leaves, &rules, &[]),
            Some(ChartError::BadScore { what: "leaf", index: 3, .. })
        ));
    }
}

#[test]
fn impossible_scores_give_no_derivation_and_huge_ones_the_best() {
    let (domain, grammar) = scan();
    let lattice = Candidates::default().lattice(&domain, &Utterance::new("walk left")).unwrap();
    let rules = vec![0.0; grammar.n_rules()];
    for (score, possible) in [(f32::NEG_INFINITY, false), (f32::MIN, true), (1e30, true), (f32::MAX, true)] {
        let leaves = vec![score; lattice.leaves().len() * N_USAGES];
        let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
        let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
        let found = log_partition(&input, &RuleValues::new(&grammar, &rules));
        assert_eq!(found.is_some(), possible, "{score}");
        // Sums of the largest numbers are infinite in single precision: no panic, and no tree by accident.
        let _ = BestChart::new(input, &RuleValues::new(&grammar, &rules)).best();
    }
}

#[test]
fn five_hundred_words_are_parsed_or_refused_in_words() {
    let (domain, grammar) = scan();
    let rules = vec![0.0; grammar.n_rules()];
    // The words between the commands are null words: they cost nothing.
    let text = format!("walk {} left", "um ".repeat(498));
    let utterance = Utterance::new(text);
    let leaf = |at: u32, name: &str| Leaf::new(at, at + 1, crate::common::constant(&domain, name));
    let lattice = Lattice::new(utterance.len(), vec![leaf(0, "i_walk"), leaf(499, "i_left")]).unwrap();
    let leaves = vec![1.0; 2 * N_USAGES];
    let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
    let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
    let values = RuleValues::new(&grammar, &rules);
    let chart = BestChart::new(input, &values);
    let mut terms = domain.new_terms();
    let (program, _) = chart.tree(&mut terms, &chart.best().unwrap()).unwrap();
    assert_eq!(terms.display(program).to_string(), "i_walk(i_left)");

    let crowded = Candidates::default().lattice(&domain, &Utterance::new("walk ".repeat(500)));
    assert_eq!(crowded, Err(ChartError::TooLarge { what: "positions for constants", limit: MAX_POSITIONS }));
    let endless = Candidates::default().lattice(&domain, &Utterance::new("walk ".repeat(MAX_TOKENS + 1)));
    assert_eq!(endless, Err(ChartError::TooLarge { what: "words", limit: MAX_TOKENS }));
}

#[test]
fn a_domain_with_one_constant_is_enough() {
    let source = "name = \"one\"\ntypes = [\"A\"]\n[root]\ntypes = [\"A\"]\n[constants]\nx = \"A\"\n";
    let domain = Domain::load(source, "one.toml", None, &NoTables).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let lattice = Candidates::default().lattice(&domain, &Utterance::new("please do it")).unwrap();
    let rules = vec![0.5; grammar.n_rules()];
    let leaves = vec![1.0; lattice.leaves().len() * N_USAGES];
    let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
    let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
    // One reading for each run of words.
    assert_eq!(spanwise_chart::count_derivations(&input), 6.0);
    let values = RuleValues::new(&grammar, &rules);
    let chart = BestChart::new(input, &values);
    let (program, _) = chart.tree(&mut domain.new_terms(), &chart.best().unwrap()).unwrap();
    assert_eq!(domain.new_terms().len(), 1, "the only term is the constant, {program:?}");
}

#[test]
fn charts_may_be_filled_on_several_threads_at_once() {
    let (domain, grammar) = scan();
    let utterance = Utterance::new("run left twice and look around right");
    let lattice = Candidates::default().lattice(&domain, &utterance).unwrap();
    let rules: Vec<f32> = (0..grammar.n_rules()).map(|at| (at as f32).sin()).collect();
    let leaves: Vec<f32> = (0..lattice.leaves().len() * N_USAGES).map(|at| (at as f32).cos()).collect();
    let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
    let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
    let values = RuleValues::new(&grammar, &rules);
    let alone = BestChart::new(input, &values).score();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    assert_eq!(BestChart::new(input, &values).score(), alone);
                }
            });
        }
    });
}
