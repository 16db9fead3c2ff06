//! `spanwise check --execute --senseless`.

use crate::common::{Sandbox, example};
use serde_json::{Value, json};

/// The finding about a signature as a whole.
fn find<'a>(list: &'a Value, constant: &str, signature: &str) -> Option<&'a Value> {
    let is_it =
        |it: &&Value| it["constant"] == constant && it["signature"] == signature && it["argument"].is_null();
    list.as_array().unwrap().iter().find(is_it)
}

#[cfg(feature = "geo")]
#[test]
fn cities_of_geo_have_no_density_and_each_repeats_its_argument() {
    let sandbox = Sandbox::new();
    let args = ["check", "geo", "--execute", "--senseless", "--max-programs", "5000"];
    let report = sandbox.call(args).arg("--json").run().exits(0).json();
    let senseless = &report["senseless"];
    assert!(senseless["programs"].as_u64().unwrap() <= 5000);
    let density =
        find(&senseless["unused"], "density_1", "City -> Number").expect("only states have a density");
    assert_eq!(
        (&density["kind"], &density["result"], &density["in_use"]),
        (&json!("empty"), &json!(null), &json!(0))
    );
    assert!(density["arguments"].as_u64().unwrap() >= 5 && density["line"].as_u64().unwrap() > 50);
    let each = find(&senseless["unused"], "each", "Rivers -> Rivers").unwrap();
    assert_eq!(each["kind"], "repeats");
    assert_eq!(find(&senseless["unused"], "population_1", "City -> Number"), None, "cities have people");

    let text = sandbox.call(args).arg("--show=1000").run().exits(0);
    text.prints(["density_1: City -> Number: always gives nothing", "answer ( density_1 ( cityid ( '"]);
}

#[cfg(feature = "geo")]
#[test]
fn what_an_example_uses_is_listed_apart() {
    let sandbox = Sandbox::new();
    sandbox.write("d.jsonl", example("how dense is austin", "answer(density_1(cityid('austin', _)))"));
    let args =
        ["check", "geo", "d.jsonl", "--execute", "--senseless", "--max-programs=3000", "--quick", "--json"];
    let report = sandbox.run(args).exits(0).json();
    let senseless = &report["senseless"];
    assert_eq!(find(&senseless["unused"], "density_1", "City -> Number"), None);
    assert_eq!(find(&senseless["in_use"], "density_1", "City -> Number").unwrap()["in_use"], 1);
}

#[test]
fn programs_that_need_a_context_run_in_those_of_the_examples_only() {
    let sandbox = Sandbox::new();
    let without = sandbox.run(["check", "clevr", "--execute", "--senseless"]).exits(0);
    without.prints(["nothing could be run: a CLEVR program needs a scene"]);
    let scene = "cube rubber large red 1 0***sphere metal small blue 0 1";
    let line = json!({"utterance": "any cubes", "program": "exist(filter(cube, scene()))", "scene": scene});
    sandbox.write("d.jsonl", line.to_string());
    let args = ["check", "clevr", "d.jsonl", "--execute", "--senseless", "--max-programs=500", "--quick"];
    sandbox.run(args).exits(0).prints(["ran 400 small programs, in one context; the limits left out others"]);
}

#[test]
fn a_search_needs_an_executor_and_its_options_need_a_search() {
    let sandbox = Sandbox::new();
    sandbox.run(["check", "scan", "--senseless"]).exits(2).says(["--execute"]);
    sandbox.run(["check", "scan", "--execute", "--max-programs", "7"]).exits(2).says(["--senseless"]);
    sandbox.run(["check", "scan", "--execute", "--senseless"]).exits(0).prints(["none found"]);
}
