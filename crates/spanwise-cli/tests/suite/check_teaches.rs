//! What `spanwise check` says about examples that cannot be derived, and about files that do not do what they seem to.

use crate::common::{Sandbox, example};
use serde_json::Value;

const DOMAIN: &str = "name = \"d\"\ntypes = [\"Thing\", \"Place\", \"Action\"]\nno_meaning = [\"the\"]\n[root]\ntypes = [\"Action\"]\n\
    [constants]\nlamp = \"Place -> Thing\"\nhall = \"Place\"\non = \"Thing> -> Action\"\nunder = \"<Thing -> Place\"\n\
    then = \"Action, Action -> Action\"\n[lexicon]\nlamp = \"lamp\"\nhall = \"hall\"\non = \"on\"\nthen = \"then\"\n";

fn checked(data: &str) -> (Sandbox, Value) {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", DOMAIN);
    sandbox.write("d.jsonl", data);
    let report = sandbox.run(["check", "d.toml", "d.jsonl", "--json"]).exits(0).json();
    (sandbox, report)
}

#[test]
fn too_few_words_are_told_from_the_order_of_words() {
    let (sandbox, report) =
        checked(&(example("the lamp", "on(lamp(hall))") + &example("x y z", "on(lamp(hall))")));
    let anywhere = &report["derivability"][0];
    assert_eq!(anywhere["causes"], serde_json::json!({"too few words": 1}), "{anywhere}");
    let text = sandbox.run(["check", "d.toml", "d.jsonl"]).exits(0);
    text.prints(["3 constants need words of their own, and there are words for 1 of them"]);

    let (sandbox, report) = checked(&example("lamp hall on", "on(lamp(hall))"));
    let on_phrases = &report["derivability"][1];
    assert_eq!(on_phrases["causes"], serde_json::json!({"order of the words": 1}), "{on_phrases}");
    let text = sandbox.run(["check", "d.toml", "d.jsonl"]).exits(0);
    text.prints(["in the order of the words; in another order they could"]);
}

#[test]
fn a_constant_that_is_rare_in_the_data_is_counted_where_training_allows_it() {
    let common = example("switch on the lamp of the hall", "on(lamp(hall))").repeat(5);
    // `under` has no phrase and one example: any words will do for a chart, and none for training.
    let rare = example("on lamp lamp hall below", "on(lamp(under(lamp(hall))))");
    let (sandbox, report) = checked(&(common + &rare));
    let row = |at: usize| {
        let row = &report["derivability"][at];
        (row["placement"].as_str().unwrap().to_owned(), row["derivable"]["open + implicit"].as_u64().unwrap())
    };
    assert_eq!(row(0), ("predicates on any words".to_owned(), 6));
    assert_eq!(row(2), ("rare constants on phrases only".to_owned(), 5));
    assert_eq!(report["derivability"][2]["causes"], serde_json::json!({"constant not in the words": 1}));
    sandbox.run(["check", "d.toml", "d.jsonl"]).exits(0).prints(["no words can be aligned to `under`"]);
}

#[test]
fn show_limits_underivable_examples_too() {
    let data = example("the", "on(lamp(hall))").repeat(7);
    let (sandbox, _) = checked(&data);
    let n_shown = |n: &str| {
        let outcome = sandbox.run(["check", "d.toml", "d.jsonl", "--show", n]).exits(0);
        (outcome.stdout.matches("    on(lamp(hall))").count(), outcome.stdout.contains("more; --show N"))
    };
    assert_eq!(n_shown("0"), (0, true));
    assert_eq!(n_shown("2"), (3 * 2, true));
    assert_eq!(n_shown("7"), (3 * 7, false));
}

#[test]
fn what_is_never_used_is_listed_by_type() {
    let (sandbox, report) = checked(&example("on", "on(lamp(hall))"));
    let text = sandbox.run(["check", "d.toml", "d.jsonl"]).exits(0);
    text.prints(["never used here, by type (2 of 5):\n", "  Action: then\n", "  Place: under\n"]);
    let types: Vec<&str> =
        report["usage"].as_array().unwrap().iter().map(|usage| usage["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["Thing", "Place", "Action", "Place", "Action"]);
    let many: String = (0..9).map(|at| format!("x{at} = \"Place\"\n")).collect();
    sandbox.write("d.toml", DOMAIN.replace("[lexicon]", &format!("{many}[lexicon]")));
    let text = sandbox.run(["check", "d.toml", "d.jsonl"]).exits(0);
    text.prints(["  Place: under, x0, x1, x2, x3, x4 and 4 more\n"]);
}

#[test]
fn constants_that_are_written_alike_and_open_classes_are_remarked() {
    let sandbox = Sandbox::new();
    let twins = "stand = { type = \"Place -> Thing\", form = \"lamp({})\" }\n[lexicon]";
    let class = "[[entities]]\nclass = \"place\"\ntype = \"Place\"\nform = \"place('{name}', '{street}')\"\ntable = \"p.tsv\"\nopen = true\n";
    sandbox.write("p.tsv", "name\tstreet\nshop\tmain\n");
    sandbox.write("d.toml", DOMAIN.replace("[lexicon]", twins) + class);
    let text = sandbox.run(["check", "d.toml"]).exits(0);
    text.prints([
        "note: `stand` is written like `lamp`: programs with `lamp(Place)` are always read as `lamp`",
        "note: `place` is open, but words cannot fill a form with several columns",
    ]);
    sandbox.write("d.toml", DOMAIN);
    let text = sandbox.run(["check", "d.toml"]).exits(0);
    assert!(!text.stdout.contains("note:"), "{}", text.stdout);
}
