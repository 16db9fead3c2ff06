//! Sets and directed slots on sentences, beside the random domains of the other tests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use spanwise_chart::candidates::{Candidates, PredicatePlacement};
use spanwise_chart::gold::{GoldChart, Joins, Underivable};
use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
use spanwise_chart::semiring::Count;
use spanwise_core::Utterance;
use spanwise_lang::Domain;
use spanwise_lang::domain::NoTables;

const FLIGHTS: &str = r#"
name = "flights"
types = ["Filter < Filters", "Filters", "City", "Flights"]
root = { types = ["Flights", "Filters"] }
no_meaning = ["i", "want"]
[constants]
boston = "City"
denver = "City"
from = "City> -> Filter"
to = "City> -> Filter"
cheap = "Filter"
monday = "Filter"
nonstop = "Filters -> Filters"
flights = "Filters -> Flights"
[lexicon]
boston = "boston"
denver = "denver"
from = "from"
to = "to"
cheap = "cheap"
monday = "monday"
nonstop = "nonstop"
flights = "flights"
[[sets]]
head = "all"
elements = ["Filter"]
result = "Filters"
"#;

/// The number of derivations of a program, with constants on their phrases only.
fn count(text: &str, program: &str) -> Result<f64, Underivable> {
    let domain = Domain::load(FLIGHTS, "flights.toml", None, &NoTables).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let candidates = Candidates { predicates: PredicatePlacement::Lexicon, ..Candidates::default() };
    let lattice = candidates.lattice(&domain, &Utterance::new(text)).unwrap();
    let mut terms = domain.new_terms();
    let program = terms.parse(program).unwrap();
    let gold = GoldChart::new(&domain, &grammar, &lattice, &terms, program, Joins::None)?;
    let ones = vec![1.0; lattice.leaves().len() * N_USAGES + grammar.n_rules()];
    Ok(*gold.graph().inside::<Count>(&ones).last().unwrap())
}

#[test]
fn elements_stand_in_any_order_and_on_both_sides_of_their_function() {
    let program = "flights(all(cheap, from(boston), to(denver)))";
    for text in [
        "cheap flights from boston to denver",
        "flights to denver from boston cheap",
        "i want to denver cheap flights from boston",
        "cheap from boston to denver flights",
    ] {
        assert_eq!(count(text, program), Ok(1.0), "{text}");
    }
    let nonstop = "flights(nonstop(all(cheap, monday, to(denver))))";
    for text in [
        "cheap nonstop flights to denver monday",
        "cheap monday flights nonstop to denver",
        "nonstop flights to denver cheap monday",
    ] {
        assert_eq!(count(text, nonstop), Ok(1.0), "{text}");
    }
    assert_eq!(count("cheap monday", "all(cheap, monday)"), Ok(1.0));
}

#[test]
fn equal_elements_are_interchangeable() {
    assert_eq!(count("cheap flights cheap", "flights(all(cheap, cheap))"), Ok(1.0));
    assert_eq!(count("cheap cheap cheap flights", "flights(all(cheap, cheap, cheap))"), Ok(1.0));
    assert!(count("cheap flights", "flights(all(cheap, cheap))").is_err());
}

#[test]
fn an_argument_on_the_wrong_side_is_none() {
    assert_eq!(count("flights to denver", "flights(to(denver))"), Ok(1.0));
    assert_eq!(count("flights denver to", "flights(to(denver))"), Err(Underivable::Order));
}

#[test]
fn a_set_with_too_many_elements_is_too_large() {
    let program = |n: usize| format!("all({})", vec!["cheap"; n].join(", "));
    let text = |n: usize| vec!["cheap"; n].join(" ");
    assert_eq!(count(&text(12), &program(12)), Ok(1.0));
    assert_eq!(count(&text(13), &program(13)), Err(Underivable::TooLarge));
}
