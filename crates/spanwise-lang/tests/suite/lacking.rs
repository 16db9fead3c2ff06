//! Terms that lack an argument, which what takes them completes: *ann hated to dance*.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use spanwise_lang::domain::NoTables;
use spanwise_lang::{Domain, Meaning, Node, Terms};

const SENTENCES: &str = r#"
name = "sentences"
types = ["Person", "Infinitive", "Event"]
root = { types = ["Event"] }
[constants]
ann = "Person"
ben = "Person"
sleep = { type = "Person -> Event", form = "sleep(agent({1}))" }
to_dance = { type = "Infinitive", form = "dance(agent({0}))" }
to_see = { type = "Person -> Infinitive", form = "see(agent({0}), theme({1}))" }
to_want = { type = "Infinitive -> Infinitive", form = "want(agent({0}), xcomp({1}))" }
hate = { type = "Infinitive, Person -> Event", form = "hate(agent({2}), xcomp({1:2}))" }
ask = { type = "Person, Infinitive, Person -> Event", form = "ask(agent({1}), theme({3}), xcomp({2:3}))" }
"#;

fn load(source: &str) -> Result<Domain, String> {
    Domain::load(source, "d.toml", None, &NoTables).map_err(|errors| errors.to_string())
}

fn leaf(domain: &Domain, terms: &mut Terms, name: &str) -> Meaning {
    let constant = domain.predicate(name).unwrap();
    let (frame, _) = domain.frames_of(constant).next().unwrap();
    domain.leaf(terms, constant, frame).unwrap()
}

/// The program of functions that are applied one after the other, each to what the last one gave or to a constant.
fn program(domain: &Domain, terms: &mut Terms, names: &[&str]) -> String {
    let mut done: Vec<Meaning> = Vec::new();
    for name in names {
        let mut meaning = leaf(domain, terms, name);
        while matches!(meaning, Meaning::Open { .. }) {
            let argument = done.pop().unwrap();
            meaning = domain.apply(terms, &meaning, &argument).unwrap();
        }
        done.push(meaning);
    }
    let program = domain.program(terms, &done.pop().unwrap()).unwrap();
    terms.display(program).to_string()
}

#[test]
fn an_argument_is_copied_to_where_another_lacks_it_at_any_depth() {
    let domain = load(SENTENCES).unwrap();
    let mut terms = domain.new_terms();
    let mut built = |names: &[&str]| program(&domain, &mut terms, names);
    assert_eq!(built(&["ann", "to_dance", "hate"]), "hate(agent(ann), xcomp(dance(agent(ann))))");
    assert_eq!(
        built(&["ann", "ben", "to_see", "to_want", "hate"]),
        "hate(agent(ann), xcomp(want(agent(ann), xcomp(see(agent(ann), theme(ben))))))"
    );
}

#[test]
fn type_checking_takes_a_copied_argument_for_one_and_accepts_no_other_in_its_place() {
    let domain = load(SENTENCES).unwrap();
    let mut terms = domain.new_terms();
    let mut check = |text: &str| {
        let program = terms.parse(text).unwrap();
        let analysis = domain.analyze(&terms, program).map_err(|problem| problem.kind())?;
        assert!(!analysis.is_ambiguous, "{text}");
        let name = |node: &Node| match node {
            Node::Constant { constant, .. } => domain.constants()[*constant].name.clone(),
            other => panic!("{other:?}"),
        };
        Ok::<_, &str>(analysis.nodes.iter().map(name).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(check("hate(agent(ann), xcomp(dance(agent(ann))))").unwrap(), "hate to_dance ann");
    // Ann is seen by herself: only one of the three is a copy.
    assert_eq!(check("hate(agent(ann), xcomp(see(agent(ann), theme(ann))))").unwrap(), "hate to_see ann ann");
    let nested = "hate(agent(ann), xcomp(want(agent(ann), xcomp(dance(agent(ann))))))";
    assert_eq!(check(nested).unwrap(), "hate to_want to_dance ann");
    assert_eq!(
        check("ask(agent(ann), theme(ben), xcomp(see(agent(ben), theme(ann))))").unwrap(),
        "ask ann to_see ann ben"
    );
    for wrong in [
        "hate(agent(ann), xcomp(dance(agent(ben))))",
        "hate(agent(ann), xcomp(want(agent(ann), xcomp(dance(agent(ben))))))",
        "ask(agent(ann), theme(ben), xcomp(dance(agent(ann))))",
        "hate(agent(ann), xcomp(sleep(agent(ann))))",
        "hate(agent(ann), xcomp(dance(agent({0}))))",
        "dance(agent(ann))",
        "dance(agent({0}))",
    ] {
        check(wrong).unwrap_err();
    }
    assert!(check("sleep(agent(ben))").is_ok());
}

#[test]
fn a_deep_chain_of_what_lacks_an_argument_is_checked_without_recursion() {
    let domain = load(SENTENCES).unwrap();
    let mut terms = domain.new_terms();
    let n = 20_000;
    let text = format!(
        "hate(agent(ann), xcomp({}dance(agent(ann)){}))",
        "want(agent(ann), xcomp(".repeat(n),
        "))".repeat(n)
    );
    let program = terms.parse(&text).unwrap();
    assert_eq!(domain.analyze(&terms, program).unwrap().nodes.len(), n + 3);
}

#[test]
fn what_lacks_an_argument_must_be_completed_before_a_program_is() {
    let wrong = |from: &str, to: &str| {
        assert!(SENTENCES.contains(from), "{from}");
        load(&SENTENCES.replace(from, to)).unwrap_err()
    };
    let with = |form: &str| wrong("hate(agent({2}), xcomp({1:2}))", form);
    for (problem, expected) in [
        (with("hate({2}, {1})"), "`Infinitive` can lack something, and the form does not complete them"),
        (with("hate({1:2}, {1}, {2})"), "in several ways"),
        (with("hate({2:1}, {1:2})"), "terms of type `Person` lack nothing"),
        (with("hate({1:3}, {2})"), "`{1:3}` names no other argument of `hate`"),
        (with("hate({1:1}, {2})"), "`{1:1}` names no other argument of `hate`"),
        (with("hate({1:2})"), "a hole for each of its 2 slots"),
        (with("hate({x:1}, {2})"), "holes are written"),
        (wrong("types = [\"Event\"]", "types = [\"Event\", \"Infinitive\"]"), "so it is no program"),
        (wrong("Infinitive, Person -> Event", "Infinitive, Person? -> Event"), "cannot be left out"),
        (wrong("Infinitive, Person -> Event", "Infinitive, Person = ben -> Event"), "cannot be left out"),
        (wrong("Infinitive, Person -> Event", "Infinitive, Infinitive -> Event"), "so it completes no other"),
        (wrong("\"dance(agent({0}))\"", "\"{0}\""), "a form needs more than a hole"),
        (wrong("root = {", "root = { wrap = \"do({}, {0})\","), "`wrap` needs exactly one hole"),
        (
            load(
                &[SENTENCES, "[[sets]]\nhead = \"all\"\nelements = [\"Infinitive\"]\nresult = \"Event\"\n"]
                    .concat(),
            )
            .unwrap_err(),
            "so they cannot be gathered",
        ),
    ] {
        assert!(problem.contains(expected) && problem.contains("d.toml:"), "{problem}");
    }
}
