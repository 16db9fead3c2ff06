//! Gaps: arguments that are missing where they belong and are named elsewhere: *what did emma say that the cat ate*.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use spanwise_lang::Domain;
use spanwise_lang::domain::{NoTables, Table, TableSource};

const QUESTIONS: &str = r#"
name = "questions"
types = ["Thing", "Animal < Thing", "Sentence", "Infinitive", "Noise", "Question"]
gap = "Thing"
root = { types = ["Sentence", "Question"] }
[constants]
emma = "Thing"
cat = "Animal"
purr = { type = "<Thing/ -> Noise" }
sleep = { type = "<Thing/ -> Sentence" }
eat = { type = "Thing/>, <Thing/ -> Sentence", form = "eat(agent({2}), theme({1}))" }
say = { type = "Sentence/>, <Thing -> Sentence", form = "say(agent({2}), ccomp({1}))" }
know = { type = "Sentence>, <Thing -> Sentence" }
to_dance = { type = "Infinitive", form = "dance(agent({0}))" }
ask = { type = "Thing/>, Infinitive>, <Thing -> Sentence", form = "ask(agent({3}), theme({1}), xcomp({2:1}))" }
what = { type = "Sentence/Thing> -> Question", form = "question({1:what})" }
"#;

fn load(source: &str) -> Result<Domain, String> {
    Domain::load(source, "d.toml", None, &NoTables).map_err(|errors| errors.to_string())
}

fn is_typed(domain: &Domain, text: &str) -> bool {
    let mut terms = domain.new_terms();
    let program = terms.parse(text).unwrap();
    domain.analyze(&terms, program).is_ok_and(|analysis| !analysis.is_ambiguous)
}

#[test]
fn an_argument_is_missing_where_slots_allow_it_and_through_slots_that_hand_it_up() {
    let domain = load(QUESTIONS).unwrap();
    for good in [
        "question(sleep(what))",
        "question(eat(agent(emma), theme(what)))",
        "question(eat(agent(what), theme(cat)))",
        "question(say(agent(emma), ccomp(say(agent(cat), ccomp(eat(agent(cat), theme(what)))))))",
        "say(agent(emma), ccomp(sleep(cat)))",
        // Who is asked is who dances.
        "question(ask(agent(emma), theme(what), xcomp(dance(agent(what)))))",
        "ask(agent(emma), theme(cat), xcomp(dance(agent(cat))))",
    ] {
        assert!(is_typed(&domain, good), "{good}");
    }
    for wrong in [
        "question(sleep(emma))",
        "question(eat(agent(what), theme(what)))",
        "question(say(agent(what), ccomp(sleep(emma))))",
        "question(know(sleep(what), emma))",
        "sleep(what)",
        "sleep({0})",
        "question(sleep({0}))",
        "question(question(sleep(what)))",
        "question(ask(agent(emma), theme(what), xcomp(dance(agent(emma)))))",
    ] {
        assert!(!is_typed(&domain, wrong), "{wrong}");
    }
}

#[test]
fn an_optional_argument_that_is_left_out_hands_up_no_gap() {
    let more = "talk = { type = \"Sentence/? -> Sentence\" }\ndoze = { type = \"Thing/? -> Sentence\" }\n";
    let domain = load(&[QUESTIONS, more].concat()).unwrap();
    for good in
        ["talk()", "talk(sleep(cat))", "question(talk(sleep(what)))", "doze()", "question(doze(what))"]
    {
        assert!(is_typed(&domain, good), "{good}");
    }
    assert!(!is_typed(&domain, "question(talk())"));
    assert!(!is_typed(&domain, "question(doze())"));
}

#[test]
fn only_types_that_can_have_a_gap_are_generated_with_readable_names() {
    let domain = load(QUESTIONS).unwrap();
    let generated: Vec<&str> =
        domain.types().ids().map(|ty| domain.types().name(ty)).filter(|name| name.contains('/')).collect();
    assert_eq!(generated, ["Sentence/Thing", "Noise/Thing"]);
    let state = |name: &str| {
        let constant = domain.predicate(name).unwrap();
        let states = domain.frames_of(constant).filter_map(|(_, frame)| frame.state);
        states.map(|state| domain.describe(state)).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(state("say"), "Sentence, Thing -> Sentence; Sentence/Thing, Thing -> Sentence/Thing");
    assert_eq!(state("what"), "Sentence/Thing -> Question");
}

#[test]
fn a_file_without_gaps_is_what_it_was() {
    let plain = QUESTIONS.replace("gap = \"Thing\"\n", "").replace("what = {", "# what = {").replace('/', "");
    let domain = load(&plain).unwrap();
    assert_eq!(domain.types().len(), 6);
    assert!(is_typed(&domain, "say(agent(emma), ccomp(sleep(cat)))"));
}

#[test]
fn subtypes_with_a_gap_are_subtypes_of_what_they_are_without() {
    let domain = load(&QUESTIONS.replace("\"Noise\"", "\"Noise < Sentence\"")).unwrap();
    let ty = |name: &str| domain.types().find(name).unwrap();
    assert!(domain.types().is_subtype(ty("Noise/Thing"), ty("Sentence/Thing")));
    assert!(!domain.types().is_subtype(ty("Noise/Thing"), ty("Sentence")));
    assert!(is_typed(&domain, "question(say(agent(emma), ccomp(purr(what))))"));
}

struct Verbs;

impl TableSource for Verbs {
    fn read(&self, _: &str) -> Result<Table, String> {
        let row = |line: usize, verb: &str| (line, vec![verb.to_owned()]);
        Ok(Table { columns: vec!["verb".to_owned()], rows: vec![row(2, "see"), row(3, "find")] })
    }
}

#[test]
fn classes_of_predicates_have_gaps_too() {
    let class = "[[predicates]]\nclass = \"verb\"\ntable = \"verbs.tsv\"\ntype = \"Thing/>, <Thing/ -> Sentence\"\n\
                 form = \"{verb}({2}, {1})\"\nphrases = \"{verb}\"\n";
    let source = [QUESTIONS, class].concat();
    let domain = Domain::load(&source, "d.toml", None, &Verbs).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(is_typed(&domain, "question(say(agent(emma), ccomp(see(cat, what))))"));
    assert!(is_typed(&domain, "question(find(what, cat))"));
    assert!(!is_typed(&domain, "question(find(what, what))"));
}

#[test]
fn what_is_wrong_with_gaps_is_said_with_its_place() {
    let wrong = |from: &str, to: &str| {
        assert!(QUESTIONS.contains(from), "{from}");
        load(&QUESTIONS.replace(from, to)).unwrap_err()
    };
    for (problem, expected) in [
        (wrong("gap = \"Thing\"\n", ""), "a slot with `/` needs a type of what can be missing"),
        (wrong("gap = \"Thing\"", "gap = \"Things\""), "unknown type `Things`"),
        (wrong("gap = \"Thing\"", "gap = 3"), "`gap` must be text"),
        (wrong("Sentence/Thing>", "Question/Thing>"), "unknown type `Question/Thing`"),
        (wrong("<Thing/ -> Noise", "<Animal/ -> Noise"), "may be no `Animal`"),
        // Without sides, both gaps of `eat` would have one signature.
        (wrong("Thing/>, <Thing/ -> Sentence", "Thing/, Thing/ -> Sentence"), "two signatures of `eat`"),
        (
            wrong(
                "to_dance = { type = \"Infinitive\", form = \"dance(agent({0}))\" }",
                "to_dance = { type = \"Thing/ -> Infinitive\", form = \"dance(agent({0}), theme({1}))\" }",
            ),
            "`Infinitive` can lack something by themselves",
        ),
        (wrong("types = [\"Sentence\"", "types = [\"Sentence/Thing\", \"Sentence\""), "so it is no program"),
    ] {
        assert!(problem.contains(expected) && problem.contains("d.toml:"), "{expected}: {problem}");
    }
}
