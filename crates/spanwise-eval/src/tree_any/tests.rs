#![cfg_attr(
    not(feature = "geo"),
    allow(dead_code, unused_imports, reason = "some tests need the domain geo")
)]
use super::*;
use proptest::prelude::*;
use spanwise_chart::candidates::{Candidates, PredicatePlacement};
use spanwise_chart::derivation::BestChart;
use spanwise_chart::grammar::Options;
use spanwise_chart::lattice::{Leaf, Scores};
use spanwise_chart::semiring::Max;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::Utterance;
use spanwise_domains::load::load;
use spanwise_lang::domain::NoTables;

/// All trees over a lattice, each with its program.
fn trees(
    domain: &Domain,
    grammar: &Grammar,
    lattice: &Lattice,
    terms: &mut Terms,
) -> Vec<(TermId, SpanTree)> {
    let (leaves, rules) = (vec![0.0; lattice.leaves().len() * N_USAGES], vec![0.0; grammar.n_rules()]);
    let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
    let input = Input::new(domain, grammar, lattice, scores).unwrap();
    let chart = BestChart::new(input, &RuleValues::<Max>::new(grammar, &rules));
    let derivations: Vec<_> = chart.derivations().take(4_000).collect();
    assert!(derivations.len() < 4_000, "too many trees for brute force");
    derivations.iter().filter_map(|derivation| chart.tree(terms, derivation)).collect()
}

/// The counts by brute force: the prediction compared with every tree of a program.
fn by_hand(predicted: Option<&SpanTree>, gold: &[&SpanTree]) -> Option<TreeCounts> {
    let predicted = predicted.map(labelled_spans).unwrap_or_default();
    let compare = |tree: &&SpanTree| {
        let spans = labelled_spans(tree);
        (spans.intersection(&predicted).count(), std::cmp::Reverse(spans.len()))
    };
    let (matched, std::cmp::Reverse(gold)) = gold.iter().map(compare).max()?;
    Some(TreeCounts { matched, predicted: predicted.len(), gold })
}

/// Compares [`nearest`] with brute force for every tree as prediction and every program as gold.
fn check(domain: &Domain, lattice: &Lattice, most_predictions: usize) -> usize {
    let grammar = Grammar::new(domain, Options { implicit: true, ..Options::default() });
    let mut terms = domain.new_terms();
    let all = trees(domain, &grammar, lattice, &mut terms);
    let mut programs: Vec<TermId> = all.iter().map(|(program, _)| *program).collect();
    programs.sort_unstable();
    programs.dedup();
    for &program in &programs {
        let gold: Vec<&SpanTree> =
            all.iter().filter(|(found_program, _)| *found_program == program).map(|(_, tree)| tree).collect();
        let predictions = all.iter().take(most_predictions);
        for (found_program, tree) in
            predictions.map(|(found_program, tree)| (Some(*found_program), Some(tree))).chain([(None, None)])
        {
            let found = nearest(domain, &grammar, lattice, (&terms, program), tree);
            assert_eq!(found, by_hand(tree, &gold), "{}", terms.display(program));
            if let Some(tree) = tree.filter(|_| found_program == Some(program)) {
                // For a prediction with the gold program, the nearest tree in the chart is the tree itself.
                assert_eq!(found.unwrap().matched, against_itself(tree).matched);
            }
        }
    }
    programs.len()
}

const TOY: &str = r#"
    name = "toy"
    types = ["S", "T"]
    [root]
    types = ["T"]
    [constants]
    a = "S"
    b = "S"
    f = "S -> T"
    g = { type = "T -> T", implicit = true }
    h = "S, S -> T"
"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_nearest_tree_is_the_one_that_brute_force_finds(
        places in prop::collection::vec((0u32..5, 1u32..3, 0usize..5), 2..6),
    ) {
        let domain = Domain::load(TOY, "toy.toml", None, &NoTables).unwrap();
        let constants = ["a", "b", "f", "g", "h"].map(|name| domain.predicate(name).unwrap());
        let mut leaves: Vec<Leaf> = places
            .iter()
            .map(|&(start, length, at)| Leaf::new(start, (start + length).min(6), constants[at]))
            .collect();
        leaves.sort_unstable();
        leaves.dedup();
        check(&domain, &Lattice::new(6, leaves).unwrap(), 40);
    }
}

#[test]
fn the_nearest_tree_of_real_questions_is_the_one_that_brute_force_finds() {
    let candidates = Candidates { predicates: PredicatePlacement::Lexicon, ..Candidates::default() };
    for (name, text, least) in [
        #[cfg(feature = "geo")]
        ("geo", "how many rivers in texas ?", 2),
        #[cfg(feature = "geo")]
        ("geo", "what state has the smallest area ?", 1),
        ("clevr", "what color is the large red block ?", 1),
        ("scan", "jump left twice and walk", 1),
    ] {
        let domain = load(name).unwrap();
        let lattice = candidates.lattice(&domain, &Utterance::new(text)).unwrap();
        let n_programs = check(&domain, &lattice, 30);
        assert!(n_programs >= least, "{text}: {n_programs}");
    }
}

#[test]
fn a_prediction_with_the_gold_program_scores_one_whatever_its_tree() {
    let domain = load("scan").unwrap();
    let lattice = Candidates::default().lattice(&domain, &Utterance::new("jump please")).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let mut terms = domain.new_terms();
    for (_, tree) in trees(&domain, &grammar, &lattice, &mut terms).iter().take(50) {
        assert_eq!(against_itself(tree).f1(), Some(100.0));
    }
}

#[test]
fn without_a_tree_for_the_program_there_is_nothing_to_compare_with() {
    let domain = load("scan").unwrap();
    let candidates = Candidates { predicates: PredicatePlacement::Lexicon, ..Candidates::default() };
    let lattice = candidates.lattice(&domain, &Utterance::new("jump")).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let mut terms = domain.new_terms();
    let [walk, jump] = ["i_walk()", "i_jump()"].map(|text| terms.parse(text).unwrap());
    assert_eq!(nearest(&domain, &grammar, &lattice, (&terms, walk), None), None);
    let expected = TreeCounts { matched: 0, predicted: 0, gold: 1 };
    assert_eq!(nearest(&domain, &grammar, &lattice, (&terms, jump), None), Some(expected));
}
