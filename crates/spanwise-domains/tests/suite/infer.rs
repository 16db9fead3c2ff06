//! Domain files guessed from examples: they load, and type the programs they were made from and others.

use crate::real_programs::shared;
use proptest::prelude::*;
use spanwise_domains::data::import::Benchmark;
use spanwise_domains::data::{self, Example};
use spanwise_domains::infer::{Inferred, infer};

fn guessed(examples: &[Example]) -> Inferred {
    infer("guess", examples, &mut |_| {}).unwrap()
}

fn example(utterance: &str, program: &str) -> Example {
    Example { program: Some(program.to_owned()), ..Example::new(utterance) }
}

#[test]
fn geo_has_types_defaults_and_entities() {
    let Some(path) = shared("geo/splits/train.json") else { return };
    let found = guessed(&data::read(&path).unwrap());
    assert_eq!((found.programs, found.typed), (540, 540));
    assert!(found.held_out.unwrap() > 0.9, "{:?}", found.held_out);
    assert!(found.types >= 6, "{}", found.source);
    for text in [
        "wrap = \"answer({})\"",
        " = all -> ",
        "form = \"stateid('{name}')\"",
        "form = \"cityid('{name}', _)\"",
        "inflections = \"english\"",
        "shortest = \"shortest\"",
    ] {
        assert!(found.source.contains(text), "{text}\n{}", found.source);
    }
}

#[test]
fn scan_has_the_types_of_the_file_that_was_written_by_hand() {
    let Some(path) = shared("scan_sp/train_simple.json") else { return };
    let found = guessed(&data::read(&path).unwrap());
    assert_eq!((found.programs, found.typed), (13383, 13383));
    let source = &found.source;
    for text in
        ["# i_left, i_right\n", "# i_twice, i_thrice\n", "# i_and, i_after\n", "i_thrice = \"thrice\""]
    {
        assert!(source.contains(text), "{text}\n{source}");
    }
    assert_eq!((found.constants, found.classes, found.implicit.len()), (13, 0, 0));
}

#[test]
fn cogs_has_classes_of_nouns_and_names() {
    let Some(path) = shared("cogs/train.tsv") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    let examples: Vec<Example> = Benchmark::Cogs.examples(&text).step_by(6).map(Result::unwrap).collect();
    let found = guessed(&examples);
    assert!(found.typed as f64 >= 0.95 * found.programs as f64, "{} of {}", found.typed, found.programs);
    let (_, names) = found.tables.iter().find(|(path, _)| path.starts_with("emma")).unwrap();
    assert!(names.contains("\nLiam\t") && names.lines().count() > 50, "{names}");
}

#[test]
fn arguments_in_any_order_and_number_are_a_set() {
    let data = [
        ("cheap nonstop flights", "flights(all(cheap, nonstop))"),
        ("nonstop early cheap flights", "flights(all(nonstop, early, cheap))"),
        ("early flights", "flights(early)"),
        ("late cheap nonstop evening flights", "flights(all(late, cheap, nonstop, early))"),
        ("cheap late flights", "flights(all(cheap, late))"),
        ("how many late cheap flights", "count(flights(all(late, cheap)))"),
    ];
    let examples = data.repeat(3).into_iter().map(|(utterance, program)| example(utterance, program));
    let found = guessed(&examples.collect::<Vec<_>>());
    assert_eq!(found.typed, found.programs);
    assert!(found.source.contains("[[sets]]\nhead = \"all\"\nelements = ["), "{}", found.source);
}

#[test]
fn numbers_and_bare_names_can_be_classes_at_once() {
    let names = ["ann", "bob", "cid", "dan", "eve", "flo", "gus", "hal", "ida"];
    let call = |name: &&str| example(&format!("call {name}"), &format!("call({name})"));
    let greet = |pair: &[&str]| {
        let [one, other] = [pair[0], pair[1]];
        example(&format!("{one} greets {other}"), &format!("greet({one}, {other})"))
    };
    let wait = |n: usize| {
        example(&format!("wait {n} minutes then call ann"), &format!("then(wait({n}), call(ann))"))
    };
    let wait_twice =
        |n: usize| example(&format!("{n} and {n}"), &format!("both(wait({n}), wait(wait({n})))"));
    let named = names.iter().map(call).chain(names.windows(2).map(greet));
    let examples: Vec<Example> = named.chain((2..9).map(wait)).chain((2..9).map(wait_twice)).collect();
    let found = guessed(&examples);
    assert_eq!(found.typed, found.programs, "{}", found.source);
    for text in ["form = \"{name}\"\nnames = [\"ann\"", "form = \"{name}\"\nnames = [\"2\""] {
        assert!(found.source.contains(text), "{text}\n{}", found.source);
    }
}

/// Programs of a few names, whatever their types.
fn programs() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[a-c]",
        Just("f()".to_owned()),
        Just("'x y'".to_owned()),
        Just("7".to_owned()),
        Just("city('x', _)".to_owned()),
        Just("T".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        ("[f-k]", prop::collection::vec(inner, 1..5))
            .prop_map(|(head, args)| format!("{head}({})", args.join(", ")))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn whatever_the_programs_the_file_loads_and_types_nearly_all_of_them(
        programs in prop::collection::vec(programs(), 1..30),
        words in "[a-e]( [a-e]){0,5}",
    ) {
        let examples: Vec<Example> = programs.iter().map(|program| example(&words, program)).collect();
        let found = infer("guess", &examples, &mut |_| {});
        let found = found.unwrap_or_else(|error| panic!("{programs:?}: {error}"));
        prop_assert!(20 * found.typed >= 19 * found.programs, "{programs:?}\n{} of {}\n{}", found.typed, found.programs, found.source);
        let again = infer("guess", &examples, &mut |_| {}).unwrap();
        prop_assert_eq!(again.source, found.source);
    }
}
