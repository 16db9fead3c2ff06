//! How domain files are compiled, and how their problems are reported.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use expect_test::{Expect, expect};
use spanwise_core::Utterance;
use spanwise_lang::domain::{Constant, NoTables};
use spanwise_lang::{Domain, Kind, Table, TableSource};

/// A small robot language that uses every feature of the format.
const ROBOT: &str = r#"
name = "robot"
about = "a robot that moves boxes"
types = ["Place", "Box, Shelf < Thing", "Thing", "Color", "Weight", "Boxes", "Stored", "Task", "Plan", "Count"]
no_meaning = ["please", "the"]

[root]
types = ["Plan", "Task", "Count"]
wrap = "do({})"

[constants]
bring = ["Thing, Place -> Task", "Thing -> Task"]
go = "Place? -> Task"
then = "Task, Task -> Plan"
box = "Place = anywhere -> Stored"
nearest = { type = "T -> U where (T, U) in [(Boxes, Box), (Stored, Box)]", implicit = true }
behind = { type = "Thing -> Stored", form = "at(behind, {})" }
count = "T -> Count where T in [Boxes, Stored]"
red = "Color"
blue = "Color"
heavy = "Weight"

[lexicon]
bring = ["bring", "carry"]
then = "and then"

[[accumulators]]
head = "pick"
elements = ["Color", "Weight"]
over = "Stored"
result = "Boxes"
default = "all()"

[[entities]]
class = "place"
type = "Place"
form = "place('{name}')"
table = ["places.tsv", "places.tsv name=annex"]
phrases = ["{name}", "place {name}"]
aliases = { kitchen = ["galley"] }

[[entities]]
class = "shelf"
type = "Shelf"
form = "shelf({name})"
names = ["a1", "a2"]
open = true

[executor]
command = ["python3", "robot.py"]
timeout_seconds = 2.5

[type_systems.coarse]
types = ["Any"]
root = ["Any"]
constants = { bring = "Any, Any -> Any", go = "Any? -> Any", red = "Any" }
entities = { place = "Any" }
accumulators = []
"#;

struct Places;

impl TableSource for Places {
    fn read(&self, path: &str) -> Result<Table, String> {
        if path != "places.tsv" {
            return Err(format!("no table `{path}`"));
        }
        let row = |line, cells: [&str; 3]| (line, cells.map(str::to_owned).to_vec());
        Ok(Table {
            columns: ["name", "annex", "aliases"].map(str::to_owned).to_vec(),
            rows: vec![row(2, ["kitchen", "pantry", "cook's room"]), row(3, ["living room", "", ""])],
        })
    }
}

fn robot() -> Domain {
    Domain::load(ROBOT, "robot.toml", None, &Places).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The analysis of a program: every node with its type, or the reason why there is none.
fn check_types(program: &str, expected: Expect) {
    let domain = robot();
    let mut terms = domain.new_terms();
    let id = terms.parse(program).unwrap();
    let shown = match domain.analyze(&terms, id) {
        Err(problem) => format!("{}: {}\n", problem.kind(), problem.describe(&domain, &terms)),
        Ok(analysis) => {
            let mut out = String::new();
            for (node, &ty) in analysis.nodes.iter().zip(&analysis.types) {
                let name = match node {
                    spanwise_lang::Node::Constant { constant, .. } => {
                        domain.constants()[*constant].name.clone()
                    }
                    spanwise_lang::Node::Gather { over, .. } => format!("gather over={}", over.is_some()),
                    spanwise_lang::Node::Unlisted { term, .. } => {
                        format!("unlisted {}", terms.display(*term))
                    }
                };
                let children: Vec<_> = node.children().collect();
                out += &format!("{name}: {} {children:?}\n", domain.types().name(ty));
            }
            if analysis.is_ambiguous { out + "(ambiguous)\n" } else { out }
        }
    };
    expected.assert_eq(&shown);
}

#[test]
fn programs_are_analyzed_into_typed_constants() {
    check_types(
        "do(then(bring(nearest(pick(red, heavy, box(anywhere))), place('kitchen')), go()))",
        expect![[r#"
            then: Plan [1, 8]
            bring: Task [2, 7]
            nearest: Box [3]
            gather over=true: Boxes [4, 5, 6]
            red: Color []
            heavy: Weight []
            box: Stored []
            place('kitchen'): Place []
            go: Task []
        "#]],
    );
    check_types(
        "do(count(pick(red, all())))",
        expect![[r#"
            count: Count [1]
            gather over=false: Boxes [2]
            red: Color []
        "#]],
    );
    check_types(
        "do(bring(shelf(b7)))",
        expect![[r#"
            bring: Task [1]
            unlisted shelf(b7): Shelf []
        "#]],
    );
}

#[test]
fn ill_typed_programs_are_reported_with_the_reason() {
    check_types(
        "go()",
        expect![[r#"
        not wrapped: the program lacks the wrapper declared in [root]
    "#]],
    );
    check_types(
        "do(brign(shelf(a1)))",
        expect![[r#"
        unknown constant: unknown constant `brign`, did you mean `bring`?
    "#]],
    );
    check_types(
        "do(go(place('attic')))",
        expect![[r#"
        unknown entity: `place('attic')` is not in the table of `place`
    "#]],
    );
    check_types(
        "do(bring(red, heavy, blue))",
        expect![[r#"
        wrong arguments: `bring` with 3 arguments, expected bring(Thing, Place) or bring(Thing)
    "#]],
    );
    check_types(
        "do(bring(place('kitchen')))",
        expect![[r#"
        types do not fit: `bring` of (Place), expected (Thing)
    "#]],
    );
    check_types(
        "do(shelf(a1))",
        expect![[r#"
        not a root type: a program must not be of type Shelf, expected Plan or Task or Count
    "#]],
    );
    check_types(
        "do(count(pick(red, shelf(a1), all())))",
        expect![[r#"
        types do not fit: `pick` of (Color, Shelf), expected (Color, Stored) or (Weight, Stored)
    "#]],
    );
    check_types(
        "do(place())",
        expect![[r#"
        wrong arguments: `place` with 0 arguments, expected place('..')
    "#]],
    );
}

#[test]
fn entities_are_found_by_name_alias_and_template() {
    let domain = robot();
    let found = |text: &str| {
        let found = domain.lexicon().matches(&Utterance::new(text));
        let names: Vec<_> =
            found.iter().map(|m| format!("{} {}", m.span, domain.constants()[m.constant].name)).collect();
        names.join("; ")
    };
    assert_eq!(found("the Galley"), "1..2 place('kitchen')");
    assert_eq!(found("cook's room"), "0..4 place('kitchen')");
    assert_eq!(found("place living room"), "0..3 place('living room'); 1..3 place('living room')");
    assert_eq!(found("pantry and then carry"), "0..1 place('pantry'); 1..3 then; 3..4 bring");
    assert!(domain.is_no_meaning("please") && !domain.is_no_meaning("bring"));
}

#[test]
fn constants_states_and_the_rest_are_compiled_as_declared() {
    let domain = robot();
    let bring = domain.predicate("bring").unwrap();
    let states: Vec<_> =
        domain.frames_of(bring).map(|(_, frame)| domain.describe(frame.state.unwrap())).collect();
    assert_eq!(states, ["Thing, Place -> Task", "Thing -> Task"]);
    assert!(domain.constants()[domain.predicate("nearest").unwrap()].implicit);
    // Without the constant that stands for the members of an open class.
    let is_entity = |c: &&Constant| c.kind != Kind::Predicate && c.term.is_some();
    assert_eq!(domain.constants().iter().filter(is_entity).count(), 5);
    assert_eq!(domain.unreachable_constants().count(), 0);
    assert_eq!(domain.type_systems(), ["coarse"]);
    assert!(matches!(domain.executor(), spanwise_lang::domain::ExecutorChoice::Command { argv, timeout, .. }
        if argv.len() == 2 && timeout.as_millis() == 2500));
}

#[test]
fn another_type_system_replaces_types_and_leaves_out_what_it_does_not_list() {
    let domain = Domain::load(ROBOT, "robot.toml", Some("coarse"), &Places).unwrap();
    assert!(domain.predicate("then").is_none());
    assert_eq!(domain.types().len(), 1);
    let mut terms = domain.new_terms();
    let program = terms.parse("do(bring(red, place('kitchen')))").unwrap();
    assert!(domain.analyze(&terms, program).is_ok());
}

/// A minimal file with one line replaced or added.
fn check_error(extra: &str, expected: Expect) {
    let source = format!("name = \"d\"\ntypes = [\"A\", \"B < A\"]\n{extra}\n");
    let errors = Domain::load(&source, "d.toml", None, &NoTables).unwrap_err();
    expected.assert_eq(&errors.to_string());
}

const ROOT: &str = "[root]\ntypes = [\"A\"]\n";

#[test]
fn errors_point_into_the_file() {
    check_error(
        "[root]\ntypes = [\"Z\"]",
        expect![[r#"
        error: unknown type `Z`
         --> d.toml:4:11
          |
        4 | types = ["Z"]
          |           ^
          = hint: declare it in `types`"#]],
    );
    check_error(
        &format!("{ROOT}[constants]\nf = \"A, -> B\""),
        expect![[r#"
        error: expected a type, found `->`
         --> d.toml:6:9
          |
        6 | f = "A, -> B"
          |         ^^"#]],
    );
    check_error(
        &format!("{ROOT}[constants]\nf = \"A -> B\"\nf = \"A\""),
        expect![[r#"
        error: not valid TOML: duplicate key
         --> d.toml:7:1
          |
        7 | f = "A"
          | ^"#]],
    );
    check_error(
        &format!("{ROOT}wrop = \"x({{}})\""),
        expect![[r#"
        error: unknown key `wrop` in [root]
         --> d.toml:5:1
          |
        5 | wrop = "x({})"
          | ^^^^
          = hint: did you mean `wrap`?"#]],
    );
    check_error(
        &format!("{ROOT}wrap = \"x\""),
        expect![[r#"
        error: `wrap` needs exactly one hole, inside a call, as in `answer({})`
         --> d.toml:5:9
          |
        5 | wrap = "x"
          |         ^"#]],
    );
    check_error(
        &format!("{ROOT}[constants]\nf = {{ type = \"A -> B\", form = \"g({{}}, {{}})\" }}"),
        expect![[r#"
        error: the form of `f` must have a hole for each of its 1 slots
         --> d.toml:6:32
          |
        6 | f = { type = "A -> B", form = "g({}, {})" }
          |                                ^^^^^^^^^"#]],
    );
    check_error(
        &format!("{ROOT}[constants]\nf = [\"A -> B\", \"T -> B where T in [A]\"]"),
        expect![[r#"
        error: `f` has this signature twice
         --> d.toml:6:17
          |
        6 | f = ["A -> B", "T -> B where T in [A]"]
          |                 ^^^^^^^^^^^^^^^^^^^^^"#]],
    );
    check_error(
        &format!("{ROOT}[lexicon]\ng = [\"x\"]"),
        expect![[r#"
        error: unknown constant `g`
         --> d.toml:6:1
          |
        6 | g = ["x"]
          | ^
          = hint: declare it under [constants]"#]],
    );
    check_error(
        &format!(
            "{ROOT}[[entities]]\nclass = \"c\"\ntype = \"B\"\nform = \"c({{nam}})\"\nnames = [\"x\", \"x\"]"
        ),
        expect![[r#"
        error: there is no column `nam`
         --> d.toml:8:9
          |
        8 | form = "c({nam})"
          |         ^^^^^^^^
          = hint: the columns are name

        error: `x` is listed twice
         --> d.toml:9:16
          |
        9 | names = ["x", "x"]
          |                ^"#]],
    );
    check_error(
        &format!("{ROOT}[executor]\nbuiltin = \"x\"\nurl = \"y\""),
        expect![[r#"
        error: [executor] needs exactly one of `builtin`, `command`, `url` and `sql`
         --> d.toml:5:2
          |
        5 | [executor]
          |  ^^^^^^^^"#]],
    );
    check_error(
        &format!(
            "{ROOT}[[accumulators]]\nhead = \"f\"\nelements = [\"B\"]\nover = \"A\"\nresult = \"A\"\ndefault = \"s\""
        ),
        expect![[r#"
            error: `f` has a default, so its result must not be a type that it is applied to
             --> d.toml:9:11
              |
            9 | result = "A"
              |           ^
              = hint: otherwise a program has several derivations: choose a `result` that is not a subtype of `over`"#]],
    );
}

#[test]
fn several_errors_are_reported_at_once_and_the_list_is_bounded() {
    let many: String = (0..30).map(|n| format!("k{n} = 1\n")).collect();
    let errors = Domain::load(&format!("{many}name = \"d\"\n{ROOT}"), "d.toml", None, &NoTables).unwrap_err();
    assert!(errors.problems.len() > 30);
    let shown = errors.to_string();
    assert!(shown.matches("unknown key").count() == 20 && shown.ends_with("more"), "{shown}");
}

#[test]
fn a_domain_with_one_constant_works() {
    let source = "name = \"one\"\ntypes = [\"A\"]\n[root]\ntypes = [\"A\"]\n[constants]\nx = \"A\"\n";
    let domain = Domain::load(source, "one.toml", None, &NoTables).unwrap();
    let mut terms = domain.new_terms();
    let program = terms.parse("x").unwrap();
    assert!(domain.analyze(&terms, program).is_ok());
    assert_eq!(domain.states().len(), 1);
}
