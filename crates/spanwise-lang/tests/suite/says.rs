//! The keys `say` and `weight`: what they mean, what they fall back to, and what is refused.

use spanwise_lang::domain::NoTables;
use spanwise_lang::say::{Part, Template, Wordings};
use spanwise_lang::{Domain, Table, TableSource};

struct Verbs;

impl TableSource for Verbs {
    fn read(&self, _: &str) -> Result<Table, String> {
        let cells = |row: [&str; 3]| row.iter().map(|&cell| cell.to_owned()).collect();
        let rows = vec![(2, cells(["see", "sees", "views"])), (3, cells(["find", "finds", ""]))];
        let columns = ["lemma", "third", "other"].map(str::to_owned).to_vec();
        Ok(Table { columns, rows })
    }
}

const START: &str = r#"name = "d"
types = ["A", "B < A", "C", "Count", "R"]
[root]
types = ["R", "A"]
"#;

fn load(more: &str) -> Result<Domain, String> {
    Domain::load(&format!("{START}{more}"), "d.toml", None, &Verbs).map_err(|errors| errors.to_string())
}

#[track_caller]
fn fine(more: &str) -> Domain {
    load(more).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Checks that a file is refused with these texts, the first of which holds line and column.
#[track_caller]
fn refused<const N: usize>(more: &str, texts: [&str; N]) {
    let shown = load(more).map(|_| ()).unwrap_err();
    for text in texts {
        assert!(shown.contains(text), "expected `{text}` in\n{shown}");
    }
}

fn shown(parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Hole(arg) => format!("<{arg}>"),
        Part::Column(name) => format!("<{name}>"),
        Part::Optional(parts) => format!("({})", shown(parts)),
    };
    parts.iter().map(one).collect()
}

/// How each frame of a constant is said, in the order of frames.
fn said(domain: &Domain, constant: &str) -> Vec<Vec<String>> {
    let (wordings, id) = (Wordings::new(domain), domain.predicate(constant).unwrap());
    let texts = |all: Vec<Template>| all.iter().map(|it| shown(&it.parts)).collect();
    domain.frames_of(id).map(|(frame, _)| texts(wordings.of(id, frame))).collect()
}

#[test]
fn texts_without_holes_stand_before_one_argument_and_between_two() {
    let domain = fine(
        "[constants]\nthing = { type = \"C\", say = [\"thing\", \"the one\"] }\n\
         near = { type = \"C -> A\", say = \"near\" }\nbetween = { type = \"C, A -> R\", say = \"from\" }",
    );
    assert_eq!(said(&domain, "thing"), [["thing", "the one"]]);
    assert_eq!(said(&domain, "near"), [["near <0>"]]);
    assert_eq!(said(&domain, "between"), [["<0> from <1>"]]);
}

#[test]
fn without_say_phrases_or_the_name_are_said_on_the_sides_of_the_slots() {
    let domain = fine(
        "[constants]\nnext_to = \"C -> A\"\nthing = \"C\"\nsees = \"A>, <C -> R\"\n[lexicon]\nthing = [\"thing\", \"one\"]",
    );
    assert_eq!(said(&domain, "thing"), [["thing", "one"]]);
    assert_eq!(said(&domain, "next_to"), [["next to <0>"]]);
    assert_eq!(said(&domain, "sees"), [["<1> sees <0>"]]);
}

#[test]
fn optional_parts_are_said_where_their_argument_is() {
    let domain = fine(
        "[constants]\nthing = \"C\"\nb = \"B\"\n\
         list = { type = \"C?, A? -> R\", say = [\"[the] list[ of {1}][ in {2}]\", \"all {1}\"] }",
    );
    // Frames: both, without the first, without the second, none. The argument of the second is number 0 there.
    let expected = [
        vec!["(the) list( of <0>)( in <1>)"],
        vec!["(the) list( in <0>)"],
        vec!["(the) list( of <0>)", "all <0>"],
        vec!["(the) list"],
    ];
    assert_eq!(said(&domain, "list"), expected);
}

#[test]
fn a_list_of_lists_has_one_for_each_signature() {
    let domain = fine(
        "[constants]\nthing = \"C\"\nb = \"B\"\n\
         size = { type = [\"C -> R\", \"T -> Count where T in [A, Count]\"], say = [[\"size of {}\"], [\"number of {}\"]] }",
    );
    assert_eq!(said(&domain, "size"), [["size of <0>"], ["number of <0>"], ["number of <0>"]]);
}

#[test]
fn rows_of_classes_fill_columns() {
    let domain = fine(
        "[constants]\nthing = \"C\"\n[[predicates]]\nclass = \"verb\"\ntable = \"verbs.tsv\"\ntype = \"C>, <C -> R\"\n\
         form = \"{lemma}({2}, {1})\"\nphrases = \"{third}\"\nsay = [\"{2} {third} {1}\", \"{2} {other} {1}\"]\n\
         [[entities]]\nclass = \"e\"\ntype = \"C\"\nform = \"e('{lemma}')\"\ntable = \"x.tsv\"\nsay = \"[the] {other}\"",
    );
    let wordings = Wordings::new(&domain);
    let verbs: Vec<Vec<String>> = domain
        .predicates()
        .filter(|(_, constant)| constant.class.is_some())
        .map(|(id, _)| {
            let (frame, _) = domain.frames_of(id).next().unwrap();
            wordings.of(id, frame).iter().map(|it| shown(&it.parts)).collect()
        })
        .collect();
    // An empty cell gives no text.
    assert_eq!(verbs, [vec!["<1> sees <0>", "<1> views <0>"], vec!["<1> finds <0>"]]);
    let names = wordings.names();
    let names: Vec<_> = names.values().flatten().map(|(_, names)| names.join("|")).collect();
    assert_eq!(names, ["the views|views"], "a row without a name is not said");
}

#[test]
fn sentences_are_those_of_the_nearest_type() {
    let domain = fine(
        "[constants]\nb = \"B\"\nr = \"R\"\na = \"A\"\n[say]\nA = [\"show {}\", \"{}\"]\nB = \"the b {}\"",
    );
    let wordings = Wordings::new(&domain);
    let of = |ty: &str| -> Vec<String> {
        wordings.root(domain.types().find(ty).unwrap()).iter().map(|it| shown(&it.parts)).collect()
    };
    assert_eq!(of("A"), ["show <0>", "<0>"]);
    assert_eq!(of("B"), ["the b <0>"]);
    assert_eq!(of("R"), ["<0>"]);
}

#[test]
fn wrong_holes_are_reported_where_they_are() {
    let constant =
        |say: &str| format!("[constants]\nthing = \"C\"\nf = {{ type = \"C -> A\", say = {say} }}");
    refused(&constant("\"{2} x {1}\""), ["d.toml:7:31", "no slot for the hole `{2}`: `f` has 1"]);
    refused(&constant("[\"x {1}\", \"x {name}\"]"), ["d.toml:7:43", "unknown hole `{name}`"]);
    refused(&constant("\"x {1} {1}\""), ["d.toml:7:31", "occurs twice"]);
    refused(&constant("\"x {1\""), ["d.toml:7:33", "never closed"]);
    refused(&constant("\"x } {1}\""), ["d.toml:7:33", "never opened"]);
    refused(&constant("\"x [y\""), ["d.toml:7:33", "never closed"]);
    refused(&constant("[[\"x\"], [\"y\"]]"), ["d.toml:7:1", "2 lists for 1 signatures"]);
    refused(&constant("[]"), ["`say` has no text"]);
    refused(&constant("7"), ["`say` must be text"]);
    refused(&constant("\" \""), ["at least one word"]);
    fine(&constant("\"x {{y}} [[z]] {1}\""));
    let two = "[constants]\nthing = \"C\"\nb = \"B\"\nf = { type = \"C, A -> R\", say = \"x {1}\" }";
    refused(two, ["d.toml:8:34", "has a hole for each of its 2 arguments"]);
}

#[test]
fn classes_sets_and_sentences_have_holes_of_their_own() {
    let class = |say: &str| {
        format!(
            "[constants]\nb = \"B\"\n[[entities]]\nclass = \"e\"\ntype = \"B\"\nform = \"e('{{name}}')\"\nnames = [\"x\"]\nsay = {say}"
        )
    };
    fine(&class("\"the {name}\""));
    refused(&class("\"{nam}\""), ["d.toml:12:8", "unknown hole `{nam}`", "the columns are name"]);
    refused(&class("\"{1} {name}\""), ["an entity has no arguments"]);
    let literal = |say: &str| {
        format!(
            "[constants]\nb = \"B\"\n[[literals]]\nclass = \"n\"\ntype = \"B\"\nkind = \"duration\"\nform = \"n('{{value}}')\"\nsay = {say}"
        )
    };
    fine(&literal("[\"{}\", \"about {}\", \"2 hours\"]"));
    refused(&literal("[\"{}\", \"some hours\"]"), ["d.toml:12:15", "are not one value of `n`"]);
    refused(&literal("\"{value}\""), ["the hole for a value is `{}`"]);
    let set = |say: &str| {
        format!(
            "[constants]\nb = \"B\"\nf = \"R -> C\"\n[[sets]]\nhead = \"all\"\nelements = [\"B\"]\nresult = \"R\"\nsay = {say}"
        )
    };
    fine(&set("[\"and\", \"{1}, {2}\"]"));
    refused(&set("\"{1} {2} {3}\""), ["so there are two holes"]);
    let root = |text: &str| format!("[constants]\nb = \"B\"\n[say]\n{text}");
    refused(&root("A = \"show\""), ["one hole for the program"]);
    refused(&root("X = \"{}\""), ["d.toml:8:1", "unknown type `X`"]);
    refused(&root("C = \"{}\""), ["no complete program has the type `C`"]);
}

#[test]
fn weights_are_numbers_from_zero() {
    let constant = |weight: &str| format!("[constants]\nb = {{ type = \"B\", weight = {weight} }}");
    let domain = fine(&constant("0.5"));
    assert_eq!(domain.say().weight(&domain, domain.predicate("b").unwrap()), 0.5);
    fine(&constant("0"));
    for weight in ["-1", "\"much\"", "inf"] {
        refused(&constant(weight), ["d.toml:6:", "`weight` must be a number from 0"]);
    }
}

#[test]
fn other_type_systems_keep_what_suits_them() {
    let source = "name = \"d\"\ntypes = [\"A\", \"R\"]\n[root]\ntypes = [\"R\"]\n[constants]\na = \"A\"\n\
        f = { type = [\"A -> R\", \"-> R\"], say = [[\"x {1}\"], [\"y\"]] }\n[say]\nR = \"show {}\"\n\
        [type_systems.one]\ntypes = [\"Any\"]\nroot = [\"Any\"]\nconstants = { f = \"Any -> Any\", a = \"Any\" }";
    let domain = Domain::load(source, "d.toml", Some("one"), &NoTables).unwrap();
    assert_eq!(said(&domain, "f"), [["x <0>"]]);
}
