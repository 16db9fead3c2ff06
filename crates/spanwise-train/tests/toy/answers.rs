//! Training a family that answers questions about scenes without a program.

use super::{files, go_on};
use serde_json::{Value, json};
use spanwise_domains::data::{self, Example};
use spanwise_eval::evaluate::evaluate;
use spanwise_eval::metrics::{Evaluator, Report};
use spanwise_model::{Question, Withhold};
use spanwise_nn::Random;
use spanwise_train::{Config, Event, TrainError, Trained, train};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

const COLORS: [&str; 3] = ["blue", "green", "red"];

/// Questions about the colors of a cube and a sphere. Every second example has an answer, the others have a program.
fn examples() -> Vec<Value> {
    let mut random = Random::new(1, &[]);
    let example = |at: usize| {
        let colors = [COLORS[random.below(3)], COLORS[random.below(3)]];
        let scene = format!("cube metal large {} 0 1***sphere rubber large {} 1 0", colors[0], colors[1]);
        let asked = at / 2 % 2;
        let shape = ["cube", "sphere"][asked];
        let mut example = json!({"question": format!("what color is the {shape}"), "scene": scene});
        if at.is_multiple_of(2) {
            example["answer"] = colors[asked].into();
        } else {
            let program = format!("query ( color , filter ( {shape} , scene ( ) ) )");
            example["program"] = program.into();
        }
        example
    };
    (0..48).map(example).collect()
}

fn write(folder: &Path, examples: &[Value]) {
    let lines: String = examples.iter().map(|example| format!("{example}\n")).collect();
    fs::write(folder.join("scenes.jsonl"), lines).unwrap();
}

fn run(
    folder: &Path,
    out: &Path,
    settings: &[&str],
    resume: bool,
    mut watch: impl FnMut(Event<'_>) -> ControlFlow<()>,
) -> Result<Trained, TrainError> {
    let file = folder.join("run.toml");
    let text = "domain = 'clevr'\nencoder = 'compact'\n[data]\ntrain = 'scenes.jsonl'\ndev = 'scenes.jsonl'\n\
        [model]\nfamily = 'end2end'\n[training]\nepochs = 12\nbatch = 8\nrate_head = 0.005\n\
        [compact]\nhidden = 32\nlayers = 2\nheads = 2\nintermediate = 64\nngram_buckets = 64\n";
    fs::write(&file, text).unwrap();
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let config = Config::read(&file.display().to_string(), &settings).unwrap();
    train(&config, folder, None, out, resume, &mut watch)
}

#[test]
fn answers_are_learned_from_scenes_and_from_values_of_programs() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &examples());
    let trained = run(folder.path(), &folder.path().join("out"), &["training.epochs=20"], false, go_on);
    let Trained { parser, row, .. } = trained.unwrap();
    let dev = row.dev.unwrap();
    assert_eq!((dev.denotation, dev.denotation_strict), (Some(100.0), Some(100.0)));
    assert_eq!((dev.exact_match, dev.coverage, dev.no_parse), (None, None, Some(0.0)));
    assert!(parser.model().confidence.threshold.is_some() && dev.ece.is_some_and(|ece| ece < 0.1));

    let context = json!("sphere rubber large red 0 1***cube metal large blue 1 0");
    let question = Question {
        context: Some(&context),
        withhold: Withhold::Never,
        ..Question::new("what color is the sphere")
    };
    let reading = parser.read(&question);
    assert_eq!((reading.denotation.as_deref(), reading.program.as_ref()), (Some("red"), None));
    assert!(reading.tree.is_none() && reading.reason.is_none() && reading.probability.is_some());
    let without = parser.read(&Question { context: None, ..question });
    assert!(without.reason.is_some_and(|reason| reason.contains("scene")) && without.denotation.is_none());

    // Another answer than the gold one is wrong, and so is a question without a scene.
    let read = |mut example: Value, key: &str, value: Value| {
        example[key] = value;
        Example::from_json(example).unwrap()
    };
    let wrong = read(examples()[0].clone(), "answer", "purple".into());
    let blind = read(examples()[0].clone(), "scene", Value::Null);
    let examples = data::read(&folder.path().join("scenes.jsonl")).unwrap();
    let evaluator = Evaluator::with_executor(&parser.model().domain, None);
    let scored = evaluate(
        parser.model(),
        &evaluator,
        &[wrong, blind, examples[0].clone(), examples[1].clone()],
        &|_| {},
    );
    // Without an executor, the value of a program is not known.
    let found: Vec<_> = scored.iter().map(|one| (one.denotation, one.found)).collect();
    assert_eq!(found, [(Some(false), true), (Some(false), false), (Some(true), true), (None, true)]);
    let report = Report::new(&scored);
    assert_eq!((report.n_denotation, report.no_parse, report.exact_match), (3, Some(25.0), None));
}

#[test]
fn a_stopped_run_continues_to_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &examples());
    let [whole, out] = ["whole", "out"].map(|name| folder.path().join(name));
    run(folder.path(), &whole, &["training.epochs=4"], false, go_on).unwrap();
    let stopped = run(folder.path(), &out, &["training.epochs=4"], false, |event| match event {
        Event::Step { epoch: 3, step: 2, .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(stopped, Err(TrainError::Stopped { epoch: 2, .. })));
    run(folder.path(), &out, &["training.epochs=4"], true, go_on).unwrap();
    assert!(files(&whole) == files(&out));
}

#[test]
fn examples_without_scenes_or_answers_are_an_error_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let message = |key: &str, value: Value| {
        let mut examples = examples();
        examples[2][key] = value;
        write(folder.path(), &examples);
        let failed = run(folder.path(), &folder.path().join("out"), &[], false, go_on);
        let message = failed.err().unwrap().to_string();
        assert!(!message.contains('\n') && message.contains("scenes.jsonl"), "{message}");
        message
    };
    let no_scene = message("scene", Value::Null);
    assert!(no_scene.contains("example 3: it has no `context` or `scene`"), "{no_scene}");
    let no_answer = message("answer", Value::Null);
    assert!(no_answer.contains("example 3: it has no answer to learn from"), "{no_answer}");
    let broken = message("scene", json!("cube"));
    assert!(broken.contains("the scene of `what color is the sphere`: object 0 has 1 fields"), "{broken}");
}
