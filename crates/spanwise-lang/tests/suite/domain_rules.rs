//! Which domain files are rejected, so that every program has one notation and one derivation, and which must be accepted.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use spanwise_core::{Span, Utterance};
use spanwise_lang::domain::{NoTables, type_system_names};
use spanwise_lang::{Domain, DomainErrors, Table, TableSource};
use std::time::{Duration, Instant};

/// One table with two columns, under any path that holds no `=`.
struct Lamps;

impl TableSource for Lamps {
    fn read(&self, path: &str) -> Result<Table, String> {
        if path.contains('=') {
            return Err(format!("no table `{path}`"));
        }
        let rows = match path {
            "header.tsv" => Vec::new(),
            _ => vec![(2, vec!["desk lamp".to_owned(), "7".to_owned()])],
        };
        Ok(Table { columns: vec!["name".to_owned(), "id".to_owned()], rows })
    }
}

const START: &str =
    "name = \"d\"\ntypes = [\"A\", \"B < A\", \"C\", \"R\"]\n[root]\ntypes = [\"A\", \"R\"]\n[constants]\n";

fn load(more: &str) -> Result<Domain, DomainErrors> {
    Domain::load(&format!("{START}{more}"), "d.toml", None, &Lamps)
}

#[track_caller]
fn fine(more: &str) -> Domain {
    load(more).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Checks that the file is refused, and that the problems hold each of these texts.
#[track_caller]
fn refused<const N: usize>(more: &str, texts: [&str; N]) {
    let shown = load(more).map(|_| ()).unwrap_err().to_string();
    for text in texts {
        assert!(shown.contains(text), "expected `{text}` in\n{shown}");
    }
}

/// The type of a program, or why it has none.
fn typed(domain: &Domain, program: &str) -> String {
    let mut terms = domain.new_terms();
    let id = terms.parse(program).unwrap();
    match domain.analyze(&terms, id) {
        Ok(analysis) => domain.types().name(analysis.types[0]).to_owned(),
        Err(problem) => problem.kind().to_owned(),
    }
}

fn class(more: &str) -> String {
    format!("[[entities]]\nclass = \"lamp\"\ntype = \"B\"\n{more}\n")
}

fn accumulator(more: &str) -> String {
    format!("[[accumulators]]\nelements = [\"C\"]\nover = \"A\"\nresult = \"R\"\n{more}\n")
}

// ---- constants ----------------------------------------------------------------------------------------------

#[test]
fn defaults_keep_their_spaces_in_either_kind_of_quotes() {
    let domain =
        fine("f = \"A = 'new york' -> A\"\ng = 'A = \"new york\" -> A'\nh = \"A = k( 'a  b' , 1) -> A\"\n");
    for program in ["f('new york')", "g('new york')", "h(k('a  b', 1))"] {
        assert_eq!(typed(&domain, program), "A", "{program}");
    }
    assert_eq!(typed(&domain, "f(newyork)"), "unknown constant");
}

#[test]
fn a_default_of_several_bare_words_is_an_error_with_a_hint() {
    refused("f = \"A = new york -> B\"", ["must be quoted", "d.toml:6:10", "write `'new york'`"]);
    refused("f = \"A = k(a, b c d) -> B\"", ["must be quoted", "d.toml:6:15", "write `'b c d'`"]);
}

#[test]
fn a_bad_default_and_too_many_slots_are_pointed_at_in_their_own_signature() {
    refused("f = [\"A -> B\", \"C, A = k(x)) -> B\"]", ["found more text", "d.toml:6:28"]);
    let many = "A, ".repeat(17);
    refused(&format!("f = [\"A -> B\", \"{many}A -> B\"]"), ["at most 16 slots", "d.toml:6:17"]);
    let system = format!(
        "f = \"A\"\n[type_systems.t]\ntypes = [\"A\"]\nroot = [\"A\"]\nconstants.f = \"{many}A -> A\""
    );
    let errors = Domain::load(&format!("{START}{system}"), "d.toml", Some("t"), &Lamps).unwrap_err();
    assert!(errors.to_string().contains("d.toml:10:16"), "{errors}");
}

#[test]
fn a_signature_with_variables_and_too_many_slots_is_reported_once() {
    let text = format!("{}T -> A where T in [A, B, C]", "A, ".repeat(17));
    assert_eq!(load(&format!("f = \"{text}\"")).unwrap_err().problems.len(), 1);
}

#[test]
fn two_optional_slots_of_one_type_are_called_ambiguous() {
    refused("f = \"C?, C? -> A\"", ["two optional slots of type `C` are ambiguous", "d.toml:6:6"]);
    refused("f = \"C = x, A, C = y -> A\"", ["two optional slots of type `C` are ambiguous"]);
    fine("f = \"C?, C, A? -> A\"");
}

#[test]
fn names_of_constants_must_be_names_that_a_program_can_write() {
    for name in ["a b", "g(", "it's", "a,b", "", "_", "12", "-1.5", "a\\tb", "\\u0001"] {
        refused(&format!("\"{name}\" = \"A\""), ["no program could write it", "d.toml:6:1"]);
    }
    fine("\"größer-als?\" = \"A\"\n\"->\" = \"A\"\n");
}

#[test]
fn an_implicit_constant_is_inserted_with_one_argument_or_with_those_that_it_takes() {
    let inserted = |implicit: &str, types: &str| -> Vec<usize> {
        let domain = fine(&format!("f = {{ type = {types}, implicit = {implicit} }}"));
        let frames = domain.frames_of(domain.predicate("f").unwrap());
        frames.filter(|(_, frame)| frame.implicit).map(|(_, frame)| frame.slots.len()).collect()
    };
    assert_eq!(inserted("true", "\"A, C? -> A\""), [1]);
    assert_eq!(inserted("true", "\"A\""), [0]);
    assert_eq!(inserted("true", "[\"A, C -> A\", \"A\"]"), [2, 0]);
    assert_eq!(inserted("[2]", "\"A, C? -> A\""), [2]);
    assert_eq!(inserted("[0, 1]", "[\"C -> A\", \"C\"]"), [1, 0]);
    assert_eq!(inserted("false", "\"A\""), []);
    refused(
        "f = { type = \"A, C? -> A\", implicit = [1, 3] }",
        ["`f` has no signature with 3 arguments", "d.toml:6:43"],
    );
    for wrong in ["[]", "[-1]", "\"yes\"", "2"] {
        refused(
            &format!("f = {{ type = \"A\", implicit = {wrong} }}"),
            ["`implicit` must be true, false, or a list of numbers of arguments"],
        );
    }
}

#[test]
fn many_frames_are_checked_quickly_and_too_many_are_refused() {
    let types: Vec<String> = (0..64).map(|n| format!("T{n}")).collect();
    let list = types.join(", ");
    let source = |n_optional: usize| {
        let optional: String = (0..n_optional).map(|n| format!(", O{n}?")).collect();
        format!(
            "name = \"d\"\ntypes = [\"{list}, O0, O1, O2, O3\"]\n[root]\ntypes = [\"T0\"]\n[constants]\n\
             f = \"X, Y{optional} -> T0 where X in [{list}], Y in [{list}]\"\n"
        )
    };
    let start = Instant::now();
    let found =
        |n| Domain::load(&source(n), "d.toml", None, &NoTables).map(|_| ()).map_err(|e| e.to_string());
    let error = found(3).unwrap_err();
    assert!(error.contains("`f` has more than 20000 frames") && error.contains("d.toml:6:6"), "{error}");
    // As many as there may be: what is wrong with them, if anything, is that they have too many states.
    assert!(found(2).err().is_none_or(|error| error.contains("meaning states")));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn composites_of_large_domains_are_not_listed_and_of_too_large_ones_refused() {
    let source = |n_types: usize| {
        let types: Vec<String> = (0..n_types).map(|n| format!("\"T{n}\"")).collect();
        let list: Vec<String> = (0..n_types).map(|n| format!("T{n}")).collect();
        format!(
            "name = \"d\"\ntypes = [{}]\n[root]\ntypes = [\"T0\"]\n[constants]\nx = \"T1\"\nf = \"A -> B where A in [{list}], B in [T0, T1, T2]\"\ng = \"A -> B where A in [T0, T1, T2], B in [{list}]\"\n",
            types.join(", "),
            list = list.join(", ")
        )
    };
    let load = |n_types| Domain::load(&source(n_types), "d.toml", None, &NoTables);
    let domain = load(300).unwrap();
    assert_eq!((domain.states().has_composites(), domain.states().n_plain()), (false, domain.states().len()));
    // `x`, what the functions give and what they take: every type, and 3 pairs of each type with one of three.
    assert_eq!(domain.states().len(), 300 + 3 * 297 + 3 * 300);
    assert!(load(100).unwrap().states().has_composites());
    let errors = load(500).unwrap_err();
    assert!(errors.to_string().contains("pairs of a slot and a result"), "{errors}");
}

#[test]
fn thousands_of_unknown_names_are_reported_in_little_time() {
    let constants: String = (0..5_000).map(|n| format!("constant_number_{n} = \"A\"\n")).collect();
    let phrases: String = (0..5_000).map(|n| format!("konstant_number_{n} = \"x\"\n")).collect();
    let start = Instant::now();
    let errors = load(&format!("{constants}[lexicon]\n{phrases}")).unwrap_err();
    assert_eq!(errors.problems.len(), 5_000);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let types: Vec<String> = (0..1_000).map(|n| format!("Type{n}")).collect();
    let constants: String = (0..5_000).map(|n| format!("c{n} = \"Tpye{n}\"\n")).collect();
    let source =
        format!("{}{constants}", START.replace("\"A\", \"B", &format!("\"A, {}\", \"B", types.join(", "))));
    assert_eq!(Domain::load(&source, "d.toml", None, &NoTables).unwrap_err().problems.len(), 5_000);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    refused("large = \"A\"\n[lexicon]\nlagre = \"x\"", ["did you mean `large`?"]);
}

// ---- entities -----------------------------------------------------------------------------------------------

#[test]
fn an_open_class_of_quoted_names_accepts_any_quoted_name() {
    let domain = fine(&class("form = \"'{name}'\"\nopen = true"));
    assert_eq!(typed(&domain, "'anything at all'"), "B");
    assert_eq!(typed(&domain, "anything"), "unknown constant");
    assert_eq!(typed(&domain, "7"), "unknown constant");
    let bare = fine(&class("form = \"{name}\"\nopen = true"));
    assert_eq!(typed(&bare, "7"), "B");
    assert_eq!(typed(&bare, "'anything'"), "unknown constant");
}

#[test]
fn an_open_class_accepts_what_a_closed_one_of_the_same_form_refuses() {
    let other = class("form = \"'{name}'\"\nopen = true").replace("\"lamp\"", "\"other\"");
    let domain = fine(&format!("{}{other}", class("form = \"'{name}'\"\nnames = [\"desk\"]")));
    assert_eq!(typed(&domain, "'hall'"), "B");
}

/// The members on all of these words that no table lists.
fn unlisted(domain: &Domain, words: &str) -> Vec<String> {
    let utterance = Utterance::new(words);
    let whole = Span::new(0, utterance.len() as u32);
    let literals = domain.literals(&utterance).into_iter();
    literals.filter(|(span, ..)| *span == whole).map(|(.., value)| value).collect()
}

#[test]
fn an_open_class_of_text_writes_words_as_its_names_do_and_others_as_they_are_said() {
    let members = "form = \"lamp('{name}')\"\nnames = [\"Conf Hall 7\", \"Ada\", \"ADA\"]\nopen = \"text\"\n";
    let domain = fine(&class(&format!("{members}max_words = 3")));
    assert_eq!(unlisted(&domain, "conf HALL 12"), ["lamp('Conf Hall 12')"]);
    assert_eq!(unlisted(&domain, "nora's box"), ["lamp('nora''s box')"]);
    // Its names are matched as phrases.
    assert!(unlisted(&domain, "conf hall 7").is_empty());
    // Two names write this word in different ways.
    assert_eq!(unlisted(&domain, "ada"), ["lamp('ada')"]);
    assert!(unlisted(&domain, "one two three four").is_empty());
    assert_eq!(typed(&domain, "lamp('Anything At all')"), "B");
    let domain = fine(&class(&format!("{members}capitals = true")));
    assert_eq!(unlisted(&domain, "nora's HALL éa"), ["lamp('Nora''s Hall Éa')"]);
}

#[test]
fn an_open_class_of_text_needs_one_column_in_quotes() {
    for form in ["lamp({name})", "{name}", "lamp('{name}', '{id}')"] {
        let text = format!("form = \"{form}\"\ntable = \"lamps.tsv\"\nopen = \"text\"");
        refused(&class(&text), ["text fills a form with one column, in quotes", "d.toml:9:9"]);
    }
    let closed = |more: &str| class(&format!("form = \"lamp('{{name}}')\"\nnames = [\"a\"]\n{more}"));
    for key in ["max_words = 3", "capitals = true"] {
        let problem =
            format!("`{}` belongs to a class with `open = \"text\"`", key.split(' ').next().unwrap());
        refused(&closed(key), [&problem, "d.toml:11:"]);
        refused(&closed(&format!("open = true\n{key}")), [&problem[..]]);
    }
    refused(&closed("open = \"words\""), ["`open` must be true, false or \"text\"", "d.toml:11:8"]);
    refused(&closed("open = \"text\"\nmax_words = 51"), ["a number of words from 1 to 50"]);
}

#[test]
fn a_class_whose_tables_have_no_row_is_refused_unless_it_is_open() {
    let header = class("form = \"lamp('{name}')\"\ntable = \"header.tsv\"");
    refused(&header, ["entity class `lamp` has no members", "d.toml:7:10"]);
    fine(&format!("{header}open = true\n"));
}

#[test]
fn the_path_of_a_table_may_hold_spaces_before_its_renames() {
    let domain = fine(&class("form = \"lamp('{name}')\"\ntable = \"my lamps.tsv  name=id\""));
    assert_eq!(domain.tables()[0].0, "my lamps.tsv");
    assert_eq!(typed(&domain, "lamp('7')"), "B");
    refused(
        &class("form = \"lamp('{name}')\"\ntable = \"my lamps.tsv name=size\""),
        ["`name=size` is not `new=old`", "the columns are name, id"],
    );
}

#[test]
fn a_member_must_not_be_written_like_a_constant() {
    let texts = ["the member `desk` is written like the constant `desk`", "d.toml:8:10"];
    refused(&format!("desk = \"A\"\n{}", class("form = \"{name}\"\nnames = [\"desk\"]")), texts);
    let form = format!(
        "x = {{ type = \"A\", form = \"lamp('a')\" }}\n{}",
        class("form = \"lamp('{name}')\"\nnames = [\"a\"]")
    );
    refused(&form, ["the member `lamp('a')` is written like the constant `x`"]);
}

#[test]
fn phrases_of_a_class_must_have_balanced_braces_and_a_word() {
    let with = |phrase: &str| {
        class(&format!("form = \"lamp('{{name}}')\"\nnames = [\"a\"]\nphrases = [\"{phrase}\"]"))
    };
    for phrase in ["the {name", "the name}", "the {name}}", "{{name}"] {
        refused(&with(phrase), ["this phrase has an unbalanced brace", "d.toml:11:13"]);
    }
    for phrase in ["", "  "] {
        refused(&with(phrase), ["a phrase needs at least one word"]);
    }
    fine(&with("the {name} lamp"));
}

#[test]
fn members_in_names_must_have_every_column_of_the_form() {
    let table = "table = \"lamps.tsv\"\nnames = [\"hall\"]";
    refused(
        &class(&format!("form = \"lamp({{id}})\"\n{table}")),
        ["members in `names` have no column `id`, which the form needs", "d.toml:11:11"],
    );
    fine(&class(&format!("form = \"lamp('{{name}}')\"\n{table}")));
}

// ---- accumulators -------------------------------------------------------------------------------------------

#[test]
fn a_default_may_also_be_an_entity() {
    let rest = accumulator("head = \"pick\"\ndefault = \"lamp('a')\"");
    let n_typings = |class: String| {
        let domain = fine(&format!("c = \"C\"\nroot = \"R -> A\"\n{class}{rest}"));
        let mut terms = domain.new_terms();
        let program = terms.parse("root(pick(c, lamp('a')))").unwrap();
        domain.analyses(&terms, program, 10).unwrap().len()
    };
    assert_eq!(n_typings(class("form = \"lamp('{name}')\"\nnames = [\"a\"]")), 2);
    assert_eq!(n_typings(class("form = \"lamp('{name}')\"\nopen = true")), 2);
    assert_eq!(n_typings(class("form = \"lamp('{name}')\"\nnames = [\"b\"]")), 1);
}

#[test]
fn the_head_of_an_accumulator_must_be_a_name_of_its_own() {
    for head in ["a b", "3", ""] {
        refused(&accumulator(&format!("head = \"{head}\"")), ["no program could write it", "d.toml:10:"]);
    }
    let like = "x = { type = \"A -> A\", form = \"pick(all, {})\" }\n";
    refused(
        &format!("{like}{}", accumulator("head = \"pick\"")),
        ["`pick` is also how the constant `x` is written", "d.toml:11:9"],
    );
}

#[test]
fn too_many_classes_or_accumulators_are_an_error_and_no_panic() {
    let many = |n: usize, one: &dyn Fn(usize) -> String| (0..n).map(one).collect::<String>();
    let classes = |n| {
        many(n, &|n| {
            class(&format!("form = \"c{n}('{{name}}')\"\nopen = true"))
                .replace("\"lamp\"", &format!("\"c{n}\""))
        })
    };
    fine(&classes(1_000));
    refused(&classes(1_001), ["more than 1000 entity classes"]);
    let accumulators = |n| many(n, &|n| accumulator(&format!("head = \"h{n}\"")));
    refused(&accumulators(1_001), ["more than 1000 accumulators"]);
    refused(&accumulators(70_000), ["more than 1000 accumulators"]);
}

// ---- the rest -----------------------------------------------------------------------------------------------

#[test]
fn a_type_system_gives_each_class_exactly_one_type() {
    let system = |types: &str| {
        let rest = class("form = \"lamp('{name}')\"\nnames = [\"a\"]");
        format!("{rest}[type_systems.t]\ntypes = [\"A\"]\nroot = [\"A\"]\nentities.lamp = {types}\n")
    };
    refused(
        &system("[\"A\", \"A\"]"),
        ["entity class `lamp` must have exactly one type, found 2", "d.toml:14:10"],
    );
    refused(&system("[]"), ["found 0"]);
    refused(&system("3"), ["`lamp` must be text"]);
    fine(&system("[\"A\"]"));
    assert_eq!(type_system_names(&format!("{START}{}", system("3"))).unwrap(), ["t"]);
    assert_eq!(type_system_names("= ="), None);
}

#[test]
fn whole_phrases_are_for_known_predicates_and_are_not_in_the_lexicon() {
    let phrases = |lines: &str| format!("f = \"B -> A\"\ng = \"A\"\n[phrases]\n{lines}\n");
    refused(&phrases("h = \"turn on\""), ["unknown constant `h`", "d.toml:9:1"]);
    refused(&phrases("f = [\"turn on\", \" \"]"), ["a phrase needs at least one word", "d.toml:9:18"]);
    let system = "[type_systems.t]\ntypes = [\"A\"]\nroot = [\"A\"]\nconstants.g = \"A\"\n";
    let source = format!("{}{system}", phrases("f = \"turn on\"\ng = [\"the lamp\", \"it all\"]"));
    let shown = |domain: &Domain| {
        let listed = domain.phrases().phrases();
        listed.map(|(phrase, it)| format!("{} {phrase}", domain.constants()[it].name)).collect::<Vec<_>>()
    };
    let domain = fine(&source);
    assert_eq!(shown(&domain), ["f turn on", "g the lamp", "g it all"]);
    assert!(domain.lexicon().is_empty());
    // Another type system leaves `f` out.
    let domain = Domain::load(&format!("{START}{source}"), "d.toml", Some("t"), &Lamps).unwrap();
    assert_eq!(shown(&domain), ["g the lamp", "g it all"]);
}

#[test]
fn keys_of_the_executor_that_do_not_go_together_are_refused() {
    let executor = |lines: &str| format!("[executor]\n{lines}\n");
    let token = "token_env = \"T\"";
    refused(
        &executor(&format!("command = \"x\"\n{token}")),
        ["`token_env` goes with `url` only", "d.toml:8:1"],
    );
    refused(&executor(&format!("builtin = \"geo\"\n{token}")), ["`token_env` goes with `url` only"]);
    refused(
        &executor("builtin = \"geo\"\ntimeout_seconds = 3"),
        ["`timeout_seconds` goes with `command` and `url` only", "d.toml:8:1"],
    );
    let processes = "`processes` goes with `command` only";
    refused(&executor("builtin = \"geo\"\nprocesses = 3"), [processes, "d.toml:8:1"]);
    refused(&executor("url = \"http://localhost/\"\nprocesses = 3"), [processes]);
    for wrong in ["0", "65", "-1", "1.5", "\"3\""] {
        let wrong = executor(&format!("command = \"x\"\nprocesses = {wrong}"));
        refused(&wrong, ["`processes` must be a number of processes from 1 to 64"]);
    }
    let domain = fine(&executor(&format!("url = \"http://localhost/\"\n{token}\ntimeout_seconds = 3")));
    let range = domain.executor_range();
    assert_eq!(&domain.source()[range], "http://localhost/");
}

// ---- sets -----------------------------------------------------------------------------------------------------

fn set(more: &str) -> String {
    format!("[[sets]]\nelements = [\"C\"]\n{more}\n")
}

#[test]
fn programs_that_differ_in_the_order_or_nesting_of_a_set_are_one_term() {
    let constants = "a = \"C\"\nb = \"C\"\nf = \"R -> A\"\ng = \"A -> C\"\n";
    let domain = fine(&format!("{constants}{}", set("head = \"all\"\nresult = \"R\"")));
    let mut terms = domain.new_terms();
    let mut parse = |text: &str| terms.parse(text).unwrap();
    let first = parse("f(all(g(f(all(b, a))), a, b))");
    assert_eq!(parse("f(all(b, all(a, g(f(all(a, b))))))"), first);
    assert_ne!(parse("f(all(a, b))"), first);
    assert_ne!(parse("f(all(a, b, b))"), parse("f(all(a, b))"));
    assert_eq!(terms.display(first).to_string(), "f(all(a, b, g(f(all(a, b)))))");
    // The order does not depend on what a store has seen before.
    let mut other = domain.new_terms();
    other.parse("f(all(b, b))").unwrap();
    let copy = other.import(&terms, first);
    assert_eq!(other.display(copy).to_string(), terms.display(first).to_string());
    for (program, ty) in [
        ("all(a, b)", "R"),
        ("f(all(a, b, a))", "A"),
        ("all(a)", "wrong arguments"),
        ("f(a)", "types do not fit"),
    ] {
        assert_eq!(typed(&domain, program), ty, "{program}");
    }
}

#[test]
fn a_set_in_a_set_is_refused() {
    let nested = set("head = \"all\"\nresult = \"C\"");
    refused(&nested, ["the result of the set `all` must not be one of its elements", "d.toml:"]);
    refused(&set("head = \"all\""), ["[[sets]] needs the key `result`"]);
    refused(&set("head = \"a b\"\nresult = \"R\""), ["no program could write it"]);
    let both = format!("{}{}", accumulator("head = \"pick\""), set("head = \"all\"\nresult = \"R\""));
    refused(&both, ["a type can be an element of one accumulator or set only"]);
}

// ---- classes of predicates ------------------------------------------------------------------------------------

/// Verbs, one without a participle, one twice.
struct Verbs;

impl TableSource for Verbs {
    fn read(&self, path: &str) -> Result<Table, String> {
        let row = |line, cells: [&str; 3]| (line, cells.map(str::to_owned).to_vec());
        let mut rows = vec![
            row(2, ["see", "saw", "seen"]),
            row(3, ["sleep", "slept", ""]),
            row(4, ["see", "spotted", "spotted"]),
        ];
        if path == "odd.tsv" {
            rows.push(row(5, ["a b", "x", "y"]));
        }
        Ok(Table { columns: ["lemma", "past", "participle"].map(str::to_owned).to_vec(), rows })
    }
}

fn verbs(more: &str) -> Result<Domain, DomainErrors> {
    let source =
        format!("{START}[[predicates]]\nclass = \"verb\"\ntype = [\"C -> A\", \"C, R -> A\"]\n{more}\n");
    Domain::load(&source, "d.toml", None, &Verbs)
}

#[test]
fn rows_with_one_form_are_one_predicate_and_rows_without_it_none() {
    let source = format!(
        "{START}c = \"C\"\n[[predicates]]\nclass = \"verb\"\ntable = \"v.tsv\"\ntype = \"C -> A\"\n\
         form = \"{{lemma}}({{participle}}, {{}})\"\nphrases = [\"was {{participle}}\", \"{{past}}\"]\n"
    );
    let domain = Domain::load(&source, "d.toml", None, &Verbs).unwrap_or_else(|errors| panic!("{errors}"));
    let names: Vec<&str> = domain.predicates().map(|(_, predicate)| predicate.name.as_str()).collect();
    assert_eq!(names, ["c", "see", "see"]);
    assert_eq!(typed(&domain, "see(seen, c)"), "A");
    assert_eq!(typed(&domain, "see(spotted, c)"), "A");
    assert_ne!(typed(&domain, "sleep(slept, c)"), "A");
    let found = domain.lexicon().matches(&Utterance::new("it was seen and spotted"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(domain.predicate_classes(), ["verb"]);
    assert_eq!(domain.predicate_names().collect::<Vec<_>>(), ["c"]);
}

#[test]
fn what_is_wrong_with_a_class_of_predicates_is_said_once() {
    let wrong = |more: &str| verbs(more).map(|_| ()).unwrap_err().to_string();
    let fine = "table = \"v.tsv\"\nphrases = \"{past}\"\n";
    let lacks_hole = wrong(&format!("{fine}form = \"{{lemma}}({{1}})\""));
    assert!(lacks_hole.contains("must have a hole for each of its 2 slots"), "{lacks_hole}");
    let unknown = wrong(&format!("{fine}form = \"{{verb}}({{1}})\""));
    assert!(
        unknown.contains("there is no column `verb`") && unknown.matches("error").count() == 1,
        "{unknown}"
    );
    let plain = wrong(&format!("{fine}form = \"see({{1}})\""));
    assert!(plain.contains("names a column"), "{plain}");
    let odd = wrong("table = \"odd.tsv\"\nphrases = \"{past}\"\nform = \"{lemma}({1})\"");
    assert!(odd.contains("must have a hole") || odd.contains("`a b` cannot be a name"), "{odd}");
    let bare = wrong("form = \"{lemma}({1})\"");
    assert!(bare.contains("needs the key `table`") && bare.contains("needs the key `phrases`"), "{bare}");
    let brace = wrong(&format!("{fine}form = \"{{lemma({{1}})\""));
    assert!(brace.contains("unbalanced brace") || brace.contains("no column"), "{brace}");
}

// ---- where constants are allowed ------------------------------------------------------------------------------

#[test]
fn a_constant_that_is_allowed_on_its_phrases_only_needs_one() {
    let file = |only: &str| {
        let top = START.replace("[root]", &format!("only_phrases = [{only}]\n[root]"));
        let source = format!("{top}a = \"A\"\nb = \"A\"\n[lexicon]\na = \"word\"\n");
        Domain::load(&source, "d.toml", None, &NoTables).map_err(|errors| errors.to_string())
    };
    let domain = file("\"a\"").unwrap();
    let only = |name: &str| domain.constants()[domain.predicate(name).unwrap()].only_phrases;
    assert!(only("a") && !only("b"));
    assert!(file("\"b\"").unwrap_err().contains("allowed on no words"));
    let unknown = file("\"aa\"").unwrap_err();
    assert!(unknown.contains("`aa`") && unknown.contains("d.toml:"), "{unknown}");
}

#[test]
fn words_that_must_be_used_are_those_of_names_phrases_and_values_that_a_program_can_contain() {
    let file = |key: &str| {
        let source = format!(
            "{START}a = {{ type = \"A\", must_be_used = {key} }}\nb = \"A\"\nc = {{ type = \"C\", must_be_used = true }}\n\
             [lexicon]\na = \"first word\"\nb = \"word\"\nc = \"lost\"\n\
             [[literals]]\nclass = \"n\"\ntype = \"R\"\nform = \"n({{value}})\"\nkind = \"integer\"\nmust_be_used = 2.5\n"
        );
        Domain::load(&source, "d.toml", None, &NoTables).map_err(|errors| errors.to_string())
    };
    let domain = file("true").unwrap();
    let found = |name: &str| domain.predicate(name).unwrap();
    let literal = domain.classes().iter().next().unwrap().holder.unwrap();
    let span = |start, end| Span::new(start, end);
    let all =
        [(span(0, 2), found("a")), (span(1, 2), found("b")), (span(2, 3), literal), (span(3, 4), found("c"))];
    let omissions = domain.omissions(5, all.into_iter());
    use spanwise_lang::domain::Omission::{Cost, Forbidden, Free};
    assert_eq!(omissions, [Forbidden, Forbidden, Cost(2.5), Free, Free]);
    assert_eq!(domain.omissions(2, [(span(0, 1), found("b"))].into_iter()), [Free, Free]);
    assert!(file("false").is_ok());
    for wrong in ["0", "-1", "1000", "nan", "\"yes\""] {
        let problem = file(wrong).unwrap_err();
        assert!(problem.contains("`must_be_used` must be") && problem.contains("d.toml:6:"), "{problem}");
    }
}

#[test]
fn must_be_used_needs_words_that_it_can_be_about() {
    let silent = load("a = { type = \"A\", must_be_used = true }\n").unwrap_err().to_string();
    assert!(silent.contains("`a` has no phrase in the lexicon"), "{silent}");
    let text =
        "a = \"A\"\n[[literals]]\nclass = \"t\"\ntype = \"A\"\nform = \"t('{value}')\"\nkind = \"text\"\n";
    assert!(load(text).is_ok());
    let text = load(&format!("{text}must_be_used = 1\n")).unwrap_err().to_string();
    assert!(text.contains("can be any words") && text.contains("d.toml:12:"), "{text}");
}

#[test]
fn unique_constants_are_known_and_make_elements_of_the_set() {
    let set = |unique: &str| {
        format!(
            "e = \"C\"\n[[sets]]\nhead = \"all\"\nelements = [\"C\"]\nresult = \"R\"\nunique = {unique}\n"
        )
    };
    fine(&set("[\"e\"]"));
    refused(&set("[\"x\"]"), ["unknown constant `x`"]);
    refused(&set("[\"e\", \"e\"]"), ["`e` is listed twice"]);
    refused(&format!("g = \"C -> R\"\n{}", set("[\"g\"]")), ["`g` makes no element of this set"]);
}
