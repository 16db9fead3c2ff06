//! Sets and directed slots on sentences, beside the random domains of the other tests.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use spanwise_chart::candidates::{Candidates, PredicatePlacement};
use spanwise_chart::derivation::BestChart;
use spanwise_chart::gold::{GoldChart, Joins, Underivable};
use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
use spanwise_chart::lattice::Scores;
use spanwise_chart::semiring::Count;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::Utterance;
use spanwise_lang::domain::NoTables;
use spanwise_lang::{Domain, Problem};

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
    count_in(FLIGHTS, text, program)
}

fn count_in(source: &str, text: &str, program: &str) -> Result<f64, Underivable> {
    let domain = Domain::load(source, "flights.toml", None, &NoTables).unwrap();
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

/// The domain with these constants at most once in a set.
fn with_unique(names: &[&str]) -> String {
    FLIGHTS.replace("result = \"Filters\"\n", &format!("result = \"Filters\"\nunique = {names:?}\n"))
}

/// The programs of all derivations, best first; none where a program is not allowed.
fn programs(source: &str, text: &str) -> Vec<Option<String>> {
    let domain = Domain::load(source, "flights.toml", None, &NoTables).unwrap();
    let grammar = Grammar::new(&domain, Options::default());
    let candidates = Candidates { predicates: PredicatePlacement::Lexicon, ..Candidates::default() };
    let lattice = candidates.lattice(&domain, &Utterance::new(text)).unwrap();
    let (leaves, rules) = (vec![1.0; lattice.leaves().len() * N_USAGES], vec![0.0; grammar.n_rules()]);
    let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
    let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
    let chart = BestChart::new(input, &RuleValues::new(&grammar, &rules));
    let mut terms = domain.new_terms();
    let derivations: Vec<_> = chart.derivations().collect();
    let shown = derivations.iter().map(|derivation| {
        let (program, _) = chart.tree(&mut terms, derivation)?;
        Some(terms.display(program).to_string())
    });
    let shown: Vec<_> = shown.collect();
    let best = chart.best_tree(&mut terms, 1_000).map(|(_, program, _)| terms.display(program).to_string());
    assert_eq!(best, shown.iter().flatten().next().cloned());
    shown
}

#[test]
fn a_constant_that_is_unique_makes_one_element() {
    let text = "cheap flights from boston from denver to denver";
    let twice = "flights(all(cheap, from(boston), from(denver), to(denver)))".to_owned();
    assert!(programs(FLIGHTS, text).contains(&Some(twice.clone())));
    for unique in [&["from"][..], &["from", "to"], &["monday", "from", "cheap", "to"]] {
        let found = programs(&with_unique(unique), text);
        assert!(!found.contains(&Some(twice.clone())), "{unique:?}");
        let once = "flights(all(cheap, from(denver), to(denver)))".to_owned();
        assert!(found.contains(&Some(once)));
        assert!(found.iter().all(Option::is_some), "nothing else is built: {unique:?}");
        assert!(matches!(
            count_in(&with_unique(unique), text, &twice),
            Err(Underivable::Untypeable(Problem::Repeated { .. }))
        ));
    }
}

#[test]
fn more_unique_constants_than_a_chart_keeps_apart_are_checked_in_the_end() {
    let source = with_unique(&["from", "to", "cheap", "monday", "late", "early"])
        .replace("cheap = \"Filter\"", "cheap = \"Filter\"\nlate = \"Filter\"\nearly = \"Filter\"");
    let found = programs(&source, "cheap flights from boston from denver");
    assert!(found[0].is_none(), "the best derivation has two origins");
    let allowed = |program: &String| program.matches("from").count() < 2;
    assert!(found.iter().flatten().all(allowed) && found.iter().flatten().next().is_some());
}

#[test]
fn elements_that_are_written_alike_are_exchanged_without_another_reading() {
    let source = FLIGHTS
        .replace("cheap = \"Filter\"", "cheap = { type = \"Filter\", form = \"x\" }")
        .replace("monday = \"Filter\"", "monday = { type = \"Filter\", form = \"x\" }");
    for text in ["cheap flights monday", "monday flights cheap", "cheap monday flights"] {
        assert_eq!(count_in(&source, text, "flights(all(x, x))"), Ok(1.0), "{text}");
    }
    assert_eq!(count_in(&source, "cheap flights cheap", "flights(all(x, x))"), Ok(1.0));
}
