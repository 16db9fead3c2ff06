//! Implicit constants on sentences, beside the random domains of the other tests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use spanwise_chart::candidates::{Candidates, PredicatePlacement};
use spanwise_chart::derivation::BestChart;
use spanwise_chart::gold::{GoldChart, Joins, Underivable};
use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
use spanwise_chart::lattice::{Lattice, Scores};
use spanwise_chart::semiring::Count;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::Utterance;
use spanwise_lang::Domain;
use spanwise_lang::domain::NoTables;

const FLIGHTS: &str = r#"
name = "flights"
types = ["Query", "Flights, Fares < Things", "Things", "Place", "Name", "Day"]
root = { types = ["Query"] }
implicit_chain = 2
[constants]
answer = { type = "Things -> Query", implicit = true }
flight = { type = "Place -> Flights", implicit = true }
fare = { type = "Place -> Fares", implicit = true }
route = { type = "Place, Place, Place -> Flights", implicit = true }
to = "Name -> Place"
leaving = "Flights, Day -> Flights"
boston = "Name"
denver = "Name"
monday = "Day"
today = { type = "Day", implicit = true }
[lexicon]
to = "to"
leaving = "leaving"
boston = "boston"
denver = "denver"
monday = "monday"
"#;

fn load(chain: usize) -> Domain {
    let source = FLIGHTS.replace("implicit_chain = 2", &format!("implicit_chain = {chain}"));
    Domain::load(&source, "flights.toml", None, &NoTables).unwrap()
}

fn lattice(domain: &Domain, text: &str) -> Lattice {
    let candidates = Candidates { predicates: PredicatePlacement::Lexicon, ..Candidates::default() };
    candidates.lattice(domain, &Utterance::new(text)).unwrap()
}

/// The number of derivations of a program, with constants on their phrases only.
fn count(domain: &Domain, text: &str, program: &str) -> Result<f64, Underivable> {
    let grammar = Grammar::new(domain, Options { implicit: true, ..Options::default() });
    let lattice = lattice(domain, text);
    let mut terms = domain.new_terms();
    let program = terms.parse(program).unwrap();
    let gold = GoldChart::new(domain, &grammar, &lattice, &terms, program, Joins::None)?;
    let ones = vec![1.0; lattice.leaves().len() * N_USAGES + grammar.n_rules()];
    Ok(*gold.graph().inside::<Count>(&ones).last().unwrap())
}

#[test]
fn constants_without_words_stand_above_each_other_as_far_as_the_file_allows() {
    let program = "answer(flight(to(boston)))";
    assert_eq!(count(&load(2), "to boston", program), Ok(1.0));
    assert_eq!(count(&load(8), "to boston", program), Ok(1.0));
    assert_eq!(count(&load(1), "to boston", program), Err(Underivable::Order));
}

#[test]
fn a_function_without_words_takes_its_arguments_in_their_order() {
    let domain = load(1);
    let program = "answer(route(to(boston), to(denver), to(boston)))";
    assert_eq!(count(&domain, "to boston to denver to boston", program), Ok(1.0));
    // With the two on the right exchanged, no words are left for it.
    assert_eq!(count(&domain, "to boston to boston to denver", program), Err(Underivable::Order));
}

#[test]
fn an_argument_without_words_belongs_to_a_function_that_has_some() {
    let domain = load(2);
    assert_eq!(count(&domain, "to boston leaving", "answer(leaving(flight(to(boston)), today))"), Ok(1.0));
    assert_eq!(count(&domain, "leaving to boston", "answer(leaving(flight(to(boston)), today))"), Ok(1.0));
    assert!(count(&domain, "to boston", "answer(leaving(flight(to(boston)), today))").is_err());
    assert!(
        count(&domain, "to boston leaving monday", "answer(leaving(flight(to(boston)), monday))").is_ok()
    );
}

/// The words decide: with equal rules, the scores on words choose which constant is inserted where.
#[test]
fn scores_on_words_choose_the_constant() {
    let domain = load(2);
    let grammar = Grammar::new(&domain, Options { implicit: true, ..Options::default() });
    let lattice = lattice(&domain, "to boston");
    let leaves = vec![0.0; lattice.leaves().len() * N_USAGES];
    let rules = vec![0.0; grammar.n_rules()];
    for (name, expected) in [("flight", "answer(flight(to(boston)))"), ("fare", "answer(fare(to(boston)))")] {
        let constant = domain.predicate(name).unwrap();
        let number = grammar.inserted().iter().position(|&known| known == constant).unwrap();
        let mut implicit = vec![0.0; grammar.n_implicit_scores(&lattice)];
        let whole = lattice.cell(0, lattice.n_positions());
        implicit[grammar.implicit_at_cell(whole, number)] = 1.0;
        let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &implicit };
        let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
        let chart = BestChart::new(input, &RuleValues::new(&grammar, &rules));
        let mut terms = domain.new_terms();
        let (program, tree) = chart.tree(&mut terms, &chart.best().unwrap()).unwrap();
        assert_eq!(terms.display(program).to_string(), expected);
        assert_eq!(tree.nodes.len(), 5, "two constants on words, a join and two constants without words");
    }
}
