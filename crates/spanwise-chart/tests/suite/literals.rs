//! Literals: leaves whose value comes from the words.

use spanwise_chart::candidates::{Candidates, PredicatePlacement};
use spanwise_chart::derivation::BestChart;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
use spanwise_chart::lattice::Scores;
use spanwise_chart::semiring::LogSum;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::{Random, Utterance};
use spanwise_lang::Domain;
use spanwise_lang::domain::NoTables;
use std::collections::BTreeMap;

const DOMAIN: &str = r#"
name = "sums"
types = ["Number", "Day", "Fact"]
root = { types = ["Fact"] }
lexicon = { over = "over", and = "and", on = "on" }
[constants]
over = "Number, Number -> Fact"
and = "Fact, Fact -> Fact"
on = "Day -> Fact"
[[literals]]
class = "number"
type = "Number"
kind = "integer"
form = "{value}"
[[literals]]
class = "day"
type = "Day"
kind = "date"
form = "day('{value}')"
"#;

fn domain() -> Domain {
    Domain::load(DOMAIN, "sums.toml", None, &NoTables).unwrap()
}

/// The programs of a text with the log-sum of their derivations, by enumeration; and those of their gold charts.
fn check(text: &str, seed: u64) -> Vec<String> {
    let domain = domain();
    let candidates = Candidates { predicates: PredicatePlacement::Lexicon, ..Candidates::default() };
    let lattice = candidates.lattice(&domain, &Utterance::new(text)).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let mut random = Random::new(seed, &[]);
    let leaves: Vec<f32> = (0..lattice.leaves().len() * N_USAGES).map(|_| random.normal()).collect();
    let rules: Vec<f32> = (0..grammar.n_rules()).map(|_| random.normal()).collect();
    let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
    let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
    let chart = BestChart::new(input, &RuleValues::new(&grammar, &rules));
    let mut terms = domain.new_terms();
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for derivation in chart.derivations() {
        let (program, _) = chart.tree(&mut terms, &derivation).unwrap();
        *sums.entry(terms.display(program).to_string()).or_default() += f64::from(derivation.score).exp();
    }
    for (text, sum) in &sums {
        let program = terms.parse(text).unwrap();
        assert!(domain.analyze(&terms, program).is_ok(), "{text}");
        let gold = GoldChart::new(&domain, &grammar, &lattice, &terms, program, Joins::None).unwrap();
        let inside = *gold.graph().inside::<LogSum>(&scores.flat()).last().unwrap();
        assert!((inside - sum.ln()).abs() < 1e-4, "{text}: {inside} instead of {}", sum.ln());
        let flat: Vec<f32> = scores.flat().iter().map(|&score| score as f32).collect();
        let tree = gold.best_tree(&domain, &lattice, &mut terms, &flat).unwrap();
        let root = tree.tree.root().unwrap().program.unwrap();
        assert_eq!(terms.display(root).to_string(), *text);
    }
    sums.into_keys().collect()
}

#[test]
fn the_gold_chart_of_every_program_with_literals_sums_its_derivations() {
    // A function takes its arguments from either side first.
    assert_eq!(check("1,000 over 5", 1), ["over(1000, 5)", "over(5, 1000)"]);
    let both = check("5 over twenty-one and 7 over 1.5 million", 2);
    assert!(both.contains(&"and(over(5, 21), over(7, 1500000))".to_owned()), "{both:?}");
    assert_eq!(check("over 5 5", 3), ["over(5, 5)"]);
}

#[test]
fn all_readings_of_an_ambiguous_literal_are_programs() {
    let days = ["on(day('2011-03-05'))", "on(day('2011-05-03'))"];
    for seed in 0..5 {
        let found = check("on 03/05/2011", seed);
        assert!(days.iter().all(|day| found.iter().any(|text| text == day)), "{found:?}");
    }
}

#[test]
fn a_program_whose_value_no_words_have_is_not_derivable() {
    let domain = domain();
    let lattice = Candidates::default().lattice(&domain, &Utterance::new("4 over 5")).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let mut terms = domain.new_terms();
    let program = terms.parse("over(4, 6)").unwrap();
    let error = GoldChart::new(&domain, &grammar, &lattice, &terms, program, Joins::None).unwrap_err();
    assert_eq!(error.kind(), "literal not in the words");
    // What no recognizer writes is no program.
    let program = terms.parse("on(day('5 March'))").unwrap();
    assert!(domain.analyze(&terms, program).is_err());
}

#[test]
fn a_verbatim_class_keeps_the_words_of_its_values() {
    let text = DOMAIN.replace("kind = \"date\"", "kind = \"date\"\nverbatim = true");
    let domain = Domain::load(&text, "sums.toml", None, &NoTables).unwrap();
    let lattice = Candidates::default().lattice(&domain, &Utterance::new("on the 3rd of  May 2011")).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let mut terms = domain.new_terms();
    let mut derives = |program: &str| {
        let program = terms.parse(program).unwrap();
        domain.analyze(&terms, program).is_ok()
            && GoldChart::new(&domain, &grammar, &lattice, &terms, program, Joins::None).is_ok()
    };
    assert!(derives("on(day('3rd of May 2011'))") || derives("on(day('the 3rd of May 2011'))"));
    assert!(!derives("on(day('2011-05-03'))"));
}
