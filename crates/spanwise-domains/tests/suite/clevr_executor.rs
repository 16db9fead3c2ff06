//! The CLEVR executor: every answer of the data sets, both notations of scenes, limits and errors.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use serde_json::{Value, json};
use spanwise_domains::clevr::{ClevrExecutor, Scene};
use spanwise_domains::data;
use spanwise_domains::exec::{ExecError, Executor, Limits};
use spanwise_lang::Terms;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Red metal cube left and in the back, small blue rubber sphere right and in front, gray one between them.
const SCENE: &str = "cube metal large red 0 2***sphere rubber small blue 2 0***sphere rubber small gray 1 1";

fn run(program: &str, scene: impl Into<Value>) -> Result<String, ExecError> {
    let mut terms = Terms::new();
    let program = terms.parse(program).unwrap();
    ClevrExecutor::new().execute(&terms, program, Some(&scene.into())).map(|denotation| denotation.text)
}

fn check(program: &str, answer: &str) {
    assert_eq!(run(program, SCENE).unwrap(), answer, "{program}");
}

#[test]
fn each_predicate_does_what_it_says() {
    check("count(scene())", "3");
    check("count(filter(small, rubber, sphere, scene()))", "2");
    check("exist(filter(green, scene()))", "no");
    check("query(color, relate(left, filter(gray, scene())))", "red");
    check("query(color, relate(right, filter(gray, scene())))", "blue");
    check("query(color, relate(front, filter(gray, scene())))", "blue");
    check("query(color, relate(behind, filter(gray, scene())))", "red");
    check("query(color, relate_attribute_equal(shape, filter(gray, scene())))", "blue");
    check("count(relate_attribute_equal(shape, filter(cube, scene())))", "0");
    check("query_attribute_equal(size, filter(gray, scene()), filter(blue, scene()))", "yes");
    check("query_attribute_equal(color, filter(gray, scene()), filter(blue, scene()))", "no");
    check("count(union(filter(cube, scene()), filter(gray, scene())))", "2");
    check("count(intersect(filter(sphere, scene()), filter(gray, scene())))", "1");
    check("count_greater(filter(sphere, scene()), filter(cube, scene()))", "yes");
    check("count_less(filter(sphere, scene()), filter(cube, scene()))", "no");
    check("count_equal(filter(gray, scene()), filter(cube, scene()))", "yes");
}

#[test]
fn answers_are_typed_and_sets_are_tables() {
    let typed = |program: &str| {
        let mut terms = Terms::new();
        let program = terms.parse(program).unwrap();
        let found = ClevrExecutor::new().execute(&terms, program, Some(&json!(SCENE))).unwrap();
        serde_json::to_value(found.answer).unwrap()
    };
    assert_eq!(typed("count(scene())"), json!(3));
    assert_eq!(typed("exist(filter(green, scene()))"), json!(false));
    assert_eq!(typed("query(color, filter(cube, scene()))"), json!("red"));
    let columns = ["object", "size", "color", "material", "shape"];
    let rows = json!([[0, "large", "red", "metal", "cube"]]);
    assert_eq!(typed("filter(cube, scene())"), json!({"columns": columns, "rows": rows}));
    assert_eq!(typed("filter(green, scene())"), json!({"columns": columns, "rows": []}));
}

#[test]
fn several_objects_where_one_is_needed_means_the_first() {
    check("query(color, filter(sphere, scene()))", "blue");
    check("count(relate(left, scene()))", "0");
}

#[test]
fn a_program_that_gives_a_set_denotes_its_objects() {
    check("filter(sphere, scene())", "[1 small blue rubber sphere, 2 small gray rubber sphere]");
    let mut terms = Terms::new();
    let program = terms.parse("filter(green, scene())").unwrap();
    let denotation = ClevrExecutor::new().execute(&terms, program, Some(&json!(SCENE))).unwrap();
    assert_eq!((denotation.text.as_str(), denotation.is_empty), ("[]", true));
}

#[test]
fn an_empty_set_where_an_object_is_needed_has_no_value() {
    let none = "filter(green, scene())";
    for (predicate, program) in [
        ("relate", format!("count(relate(left, {none}))")),
        ("relate_attribute_equal", format!("count(relate_attribute_equal(size, {none}))")),
        ("query", format!("query(size, {none})")),
        ("query_attribute_equal", format!("query_attribute_equal(size, scene(), {none})")),
    ] {
        let message = format!("`{predicate}` needs an object and got an empty set");
        assert_eq!(run(&program, SCENE), Err(ExecError::NoValue(message)));
    }
}

#[test]
fn bad_programs_are_explained() {
    let check = |program: &str, message: &str| {
        assert_eq!(run(program, SCENE), Err(ExecError::BadProgram(message.to_owned())), "{program}");
    };
    check("cont(scene())", "unknown predicate `cont` (did you mean `count`?)");
    check("xyz(scene())", "unknown predicate `xyz`");
    check("count(filter(rad, scene()))", "unknown value `rad` in `filter` (did you mean `red`?)");
    check("query(colour, scene())", "unknown attribute `colour` in `query` (did you mean `color`?)");
    check("count(relate(up, scene()))", "unknown direction `up` in `relate`");
    check("count(scene(), scene())", "expected `count(set)`, found `count` with 2 arguments");
    check("count(filter(scene()))", "expected `filter(value, ..., set)`, found `filter` with 1 arguments");
    check("count()", "expected `count(set)`, found `count` with 0 arguments");
    check("count(red)", "argument 1 of `count` must be a set of objects, found `red`");
    check("count(scene)", "argument 1 of `count` must be a set of objects, found `scene` (write `scene()`)");
    check(
        "count(exist(scene()))",
        "argument 1 of `count` must be a set of objects, found `exist(...)`, which does not give a set",
    );
    check(
        "count(filter(scene(), scene()))",
        "argument 1 of `filter` must be a value such as `red`, found `scene(...)`",
    );
    check(
        "query('color', scene())",
        "argument 1 of `query` must be an attribute such as `color`, found `color`",
    );
    check("red", "`red` is not a program; expected a call such as `count(scene())`");
    let long = run(&format!("{}(scene())", "x".repeat(1 << 20)), SCENE).unwrap_err().to_string();
    assert!(long.len() < 100, "{}", long.len());
}

#[test]
fn a_broken_program_is_reported_before_an_empty_set_inside_it() {
    let outcome = run("cont(relate(left, filter(green, scene())))", SCENE);
    assert!(matches!(outcome, Err(ExecError::BadProgram(_))), "{outcome:?}");
}

#[test]
fn bad_scenes_are_explained() {
    let check = |scene: Value, message: &str| {
        assert_eq!(run("count(scene())", scene), Err(ExecError::BadContext(message.to_owned())));
    };
    let form = "expected `shape material size color left_rank front_rank`, objects separated by `***`";
    check(json!(""), &format!("the scene is empty; {form}"));
    check(json!("cube metal large red 0"), &format!("object 0 has 5 fields; {form}"));
    check(json!(format!("{SCENE}***")), &format!("object 3 has 0 fields; {form}"));
    check(json!("cube metal large red x 0"), "the left rank of object 0 must be a number, found `x`");
    check(json!("cube metal large red 0 inf"), "the front rank of object 0 must be a number, found `inf`");
    check(
        json!("cube metal large rod 0 0"),
        "object 0 of the scene has an unknown color `rod` (did you mean `red`?)",
    );
    check(json!("metal cube large red 0 0"), "object 0 of the scene has an unknown shape `metal`");
    check(json!(3), "the scene must be a text or a JSON object");
    check(json!({}), "the scene has no list `objects`");
    check(json!({"objects": [{}]}), "object 0 of the scene has no text field `shape`");
    let object = json!({"shape": "cube", "material": "metal", "size": "small", "color": "red"});
    check(
        json!({"objects": [object]}),
        "the scene has neither `relationships` nor `directions` with `right` and `front`",
    );
    check(
        json!({"objects": [object], "directions": {"right": [1, 0, 0], "front": [0, 1, 0]}}),
        "object 0 of the scene needs `3d_coords` with three numbers, or the scene `relationships`",
    );
    check(
        json!({"objects": [object], "relationships": {"left": []}}),
        "`relationships.left` of the scene must be a list of 1 lists, one per object",
    );
    check(
        json!({"objects": [object], "relationships": {"left": [[1]]}}),
        "`relationships.left[0]` of the scene must be a list of object numbers below 1",
    );
}

#[test]
fn no_scene_is_an_error_of_the_context() {
    let mut terms = Terms::new();
    let program = terms.parse("count(scene())").unwrap();
    let outcome = ClevrExecutor::new().execute(&terms, program, None);
    assert!(matches!(outcome, Err(ExecError::BadContext(_))), "{outcome:?}");
}

#[test]
fn an_empty_picture_is_a_scene() {
    let lists = json!({"left": [], "right": [], "front": [], "behind": []});
    assert_eq!(run("count(scene())", json!({"objects": [], "relationships": lists})).unwrap(), "0");
}

#[test]
fn scenes_of_thousands_of_objects_work() {
    let mut scene = String::new();
    for object in 0..5000 {
        let separator = if object == 0 { "" } else { "***" };
        let color = if object % 100 == 7 { "red" } else { "gray" };
        let _ = write!(scene, "{separator}cube metal large {color} {object} {}", 4999 - object);
    }
    let red = "filter(red, scene())";
    assert_eq!(run(&format!("count({red})"), scene.clone()).unwrap(), "50");
    assert_eq!(run(&format!("count(relate(right, {red}))"), scene.clone()).unwrap(), "4992");
    assert_eq!(run(&format!("count(relate(left, {red}))"), scene.clone()).unwrap(), "7");
    let program = format!("count(intersect(relate(front, {red}), union({red}, relate(behind, {red}))))");
    assert_eq!(run(&program, scene.clone()).unwrap(), "49");
    assert_eq!(run(&format!("count(relate_attribute_equal(color, {red}))"), scene).unwrap(), "49");
}

#[test]
fn depth_ten_thousand_and_shared_structure_are_evaluated_in_passing() {
    let deep = format!("count({}scene(){})", "filter(cube, ".repeat(10_000), ")".repeat(10_000));
    assert_eq!(run(&deep, SCENE).unwrap(), "1");
    // A tree of 2^200 nodes, of which 201 are different.
    let mut terms = Terms::new();
    let mut set = terms.parse("scene()").unwrap();
    for _ in 0..200 {
        set = terms.call("union", &[set, set]);
    }
    let program = terms.call("count", &[set]);
    let denotation = ClevrExecutor::new().execute(&terms, program, Some(&json!(SCENE))).unwrap();
    assert_eq!(denotation.text, "3");
}

#[test]
fn limits_are_kept() {
    let mut terms = Terms::new();
    let program = terms.parse("count(filter(red, cube, scene()))").unwrap();
    let run = |steps, items| {
        ClevrExecutor::with_limits(Limits { steps, items }).execute(&terms, program, Some(&json!(SCENE)))
    };
    // Three objects: one pass for the scene, two for the filter, one for the count.
    assert!(run(12, 3).is_ok());
    assert_eq!(run(11, 3), Err(ExecError::Limit { what: "steps", limit: 11 }));
    assert_eq!(run(12, 2), Err(ExecError::Limit { what: "objects in the scene", limit: 2 }));
}

fn data_dir() -> Option<PathBuf> {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    if directory.is_dir() {
        return Some(directory.to_owned());
    }
    // Straight to the stream: what the print macros write is hidden when a test passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED: the data sets are not there ({})", directory.display());
    None
}

#[test]
fn every_answer_of_the_data_sets_is_reproduced() {
    let Some(directory) = data_dir() else { return };
    let executor = ClevrExecutor::new();
    for (name, n_expected) in
        [("train", 10_000), ("dev", 2_000), ("test_iid", 2_500), ("test_closure", 1_120)]
    {
        let mut terms = Terms::new();
        let mut n_examples = 0;
        for example in data::open(&directory.join(format!("clevr/{name}.jsonl"))).unwrap() {
            let example = example.unwrap();
            let program = terms.parse(example.program.as_deref().unwrap()).unwrap();
            let denotation = executor.execute(&terms, program, example.context.as_ref());
            assert_eq!(denotation.map(|it| it.text).ok(), example.answer, "{}", example.utterance);
            n_examples += 1;
        }
        assert_eq!(n_examples, n_expected, "{name}");
    }
}

#[test]
fn official_scenes_read_alike_from_relationships_coordinates_and_ranks() {
    let Some(directory) = data_dir() else { return };
    let text = std::fs::read_to_string(directory.join("clevr/CLEVR_val_scenes_500.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let scenes = file["scenes"].as_array().unwrap();
    assert_eq!(scenes.len(), 500);
    for scene in scenes {
        let compact = Scene::from_context(scene).unwrap().to_compact();
        assert!(compact.is_some(), "ranks express every official scene");
        let mut without = scene.as_object().unwrap().clone();
        without.shift_remove("relationships");
        assert_eq!(Scene::from_json(&without).unwrap().to_compact(), compact);
    }
}
