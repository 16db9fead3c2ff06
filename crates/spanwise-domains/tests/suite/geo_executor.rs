//! The executor of GeoQuery from outside: the reference denotations, and bounds that hold on any program.
//!
//! The reference data is not part of the repository; without it that test prints a note and passes.

#![allow(clippy::print_stderr)]

use serde_json::Value;
use spanwise_domains::exec::{Denotation, ExecError, Executor, Limits};
use spanwise_domains::geo::GeoExecutor;
use spanwise_lang::Terms;

const DENOTATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/geo/denotations.jsonl");

fn run(executor: GeoExecutor, program: &str) -> Result<Denotation, ExecError> {
    let mut terms = Terms::new();
    let id = terms.parse(program).unwrap_or_else(|error| panic!("{}", error.render("program", program)));
    executor.execute(&terms, id, None)
}

#[test]
fn all_programs_of_the_corpus_denote_what_the_reference_says() {
    let Ok(lines) = std::fs::read_to_string(DENOTATIONS) else {
        eprintln!("skipped: no reference denotations at {DENOTATIONS}");
        return;
    };
    let mut n_programs = 0;
    for line in lines.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let (program, expected) = (case["program"].as_str().unwrap(), case["denotation"].as_str().unwrap());
        let found = run(GeoExecutor::new(), program).unwrap();
        assert_eq!((found.text.as_str(), found.is_empty), (expected, expected == "[]"), "for {program}");
        n_programs += 1;
    }
    assert_eq!(n_programs, 645);
}

#[test]
fn limits_stop_growth_with_an_error() {
    let nested = |n: usize| format!("{}stateid('texas'){}", "next_to_2(".repeat(n), ")".repeat(n));
    assert_eq!(
        run(GeoExecutor::new(), &nested(40)),
        Err(ExecError::Limit { what: "items in one value", limit: 1_000_000 })
    );
    let few_steps = GeoExecutor::with_limits(Limits { steps: 100, items: 1_000 });
    assert_eq!(run(few_steps, "city(all)"), Err(ExecError::Limit { what: "steps", limit: 100 }));
    assert_eq!(run(few_steps, "stateid('texas')").unwrap().text, "[stateid(texas)]");
    let few_items = GeoExecutor::with_limits(Limits { steps: 10_000, items: 100 });
    let error = Err(ExecError::Limit { what: "items in one value", limit: 100 });
    assert_eq!(run(few_items, "most(loc_2(state(all)))"), error);
    assert_eq!(run(few_items, "count(state(all))").unwrap().text, "[51]");
}

#[test]
fn depth_costs_no_stack() {
    for (outer, inner, expected) in [
        ("answer(", "state(all)", run(GeoExecutor::new(), "state(all)").unwrap().text),
        ("state(", "stateid('texas')", "[stateid(texas)]".to_owned()),
        ("count(", "state(all)", "[1]".to_owned()),
        ("largest_one(area_1(state(", "stateid('texas')", "[stateid(texas)]".to_owned()),
        ("exclude(stateid('texas'), ", "stateid('texas')", "[stateid(texas)]".to_owned()),
    ] {
        let n_closing = outer.matches('(').count() - outer.matches(')').count();
        let program = format!("{}{inner}{}", outer.repeat(20_000), ")".repeat(20_000 * n_closing));
        assert_eq!(run(GeoExecutor::new(), &program).unwrap().text, expected, "for {outer}");
    }
}

#[test]
fn a_call_in_an_id_may_be_deep_but_not_endless() {
    let deep = format!("{}all{}", "stateid(".repeat(20_000), ")".repeat(20_000));
    assert_eq!(run(GeoExecutor::new(), &deep).unwrap().text.len(), deep.len() + 2);
    // Shared subterms: few terms, but 2^100 nodes when written out.
    let mut terms = Terms::new();
    let mut id = terms.parse("all").unwrap();
    for _ in 0..100 {
        id = terms.call("cityid", &[id, id]);
    }
    let error = GeoExecutor::new().execute(&terms, id, None).unwrap_err();
    assert_eq!(error, ExecError::Limit { what: "items in one value", limit: 1_000_000 });
}

#[test]
fn shared_subterms_are_evaluated_once() {
    let mut terms = Terms::new();
    let mut id = terms.parse("city(all)").unwrap();
    for _ in 0..1_000 {
        id = terms.call("intersection", &[id, id]);
    }
    let count = terms.call("count", &[id]);
    assert_eq!(GeoExecutor::new().execute(&terms, count, None).unwrap().text, "[386]");
}

#[test]
fn large_lists_are_compared_by_hashing() {
    // About half a million items on each side: pair by pair this would take minutes.
    let large = "next_to_2(".repeat(6);
    let closing = ")".repeat(6);
    let list = |inner: &str| format!("{large}{inner}{closing}");
    let (left, right) = (list("state(all)"), list("next_to_1(stateid('missouri'))"));
    let executor = GeoExecutor::with_limits(Limits { steps: 100_000_000, items: 10_000_000 });
    let excluded = run(executor, &format!("exclude({left}, {right})")).unwrap();
    assert_eq!(excluded.text, "[]");
    let common = run(executor, &format!("count(intersection({left}, {right}))")).unwrap();
    assert_eq!(common.text, "[49]");
}

#[test]
fn typed_answers_are_numbers_and_names_without_notation() {
    let shown =
        |program: &str| serde_json::to_string(&run(GeoExecutor::new(), program).unwrap().answer).unwrap();
    for (program, expected) in [
        ("answer(capital(loc_2(stateid('kansas'))))", r#"["topeka (ks)"]"#),
        ("answer(stateid('new mexico'))", r#"["new mexico"]"#),
        ("answer(cityid('new york', 'ny'))", r#"["new york (ny)"]"#),
        ("answer(cityid('austin', _))", r#"["austin"]"#),
        ("answer(placeid('a, b (c)'))", r#"["a, b (c)"]"#),
        ("answer(population_1(stateid('montana')))", "[786.7]"),
        ("answer(count(state(all)))", "[51]"),
        ("answer(area_1(countryid('usa')))", "[]"),
        ("null", "null"),
    ] {
        assert_eq!(shown(program), expected, "for {program}");
    }
}
