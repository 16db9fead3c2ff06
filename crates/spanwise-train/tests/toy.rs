//! Training through the library, on a small language of lamps.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "toy/answers.rs"]
mod answers;
#[path = "toy/unsaid.rs"]
mod unsaid;

use spanwise_domains::data;
use spanwise_domains::load::Spec;
use spanwise_eval::annotate::Annotator;
use spanwise_eval::evaluate::evaluate;
use spanwise_eval::metrics::{Evaluator, Report};
use spanwise_model::Parser;
use spanwise_train::{Config, Event, TrainError, Trained, train};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

const TOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/toy");

fn config(settings: &[&str]) -> Config {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let mut config = Config::read(&format!("{TOY}/run.toml"), &settings).unwrap();
    config.domain = format!("{TOY}/lamps.toml");
    config
}

fn run(
    config: &Config,
    out: &Path,
    resume: bool,
    mut watch: impl FnMut(Event<'_>) -> ControlFlow<()>,
) -> Result<Trained, TrainError> {
    train(config, Path::new(TOY), None, out, resume, &mut watch)
}

fn go_on(_: Event<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn exact_match(trained: &Trained, file: &str) -> f64 {
    let examples = data::read(&Path::new(TOY).join(file)).unwrap();
    let evaluator = Evaluator::with_executor(&trained.parser.model().domain, None);
    let scored = evaluate(trained.parser.model(), &evaluator, &examples, &|_| {});
    Report::new(&scored).exact_match.unwrap()
}

/// What two equal runs have in common; `model.json` holds the hash of the weights.
fn files(out: &Path) -> [Vec<u8>; 2] {
    ["metrics.jsonl", "model.json"].map(|name| fs::read(out.join(name)).unwrap())
}

#[test]
fn every_way_to_train_with_exact_search_learns_the_toy() {
    for settings in [&[][..], &["training.objective=hard-em"], &["training.patience=12"]] {
        let out = tempfile::tempdir().unwrap();
        let trained = run(&config(settings), out.path(), false, go_on).unwrap();
        assert_eq!(exact_match(&trained, "train.jsonl"), 100.0, "{settings:?}");
    }
}

#[test]
fn without_a_file_of_gold_trees_they_are_made_from_the_programs() {
    let config = config(&["training.objective=gold-trees"]);
    let spec = Spec::parse(&config.domain);
    let domain = spec.load().unwrap();
    let annotation = spec.annotation(&domain).unwrap();
    let annotator = Annotator::new(&domain, &annotation);
    let examples = data::read(&Path::new(TOY).join("train.jsonl")).unwrap();
    let n_annotated = examples.iter().filter(|example| annotator.example(example).is_ok()).count();
    assert_eq!(n_annotated, 10, "the lexicon has phrases for turning on and off alone");
    let out = tempfile::tempdir().unwrap();
    let mut n_learned = 0;
    let trained = run(&config, out.path(), false, |event| {
        if let Event::Data { n_train, .. } = event {
            n_learned = n_train;
        }
        ControlFlow::Continue(())
    });
    assert_eq!(n_learned, n_annotated);
    let share = 100.0 * n_annotated as f64 / examples.len() as f64;
    assert!(exact_match(&trained.unwrap(), "train.jsonl") >= share);
}

#[test]
fn where_no_tree_can_be_made_the_error_names_the_command_that_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("blink.jsonl");
    let line = r#"{"utterance": "blink the hall lamp", "program": "do(blink(lamp('hall')))"}"#;
    fs::write(&file, line).unwrap();
    let mut config = config(&["training.objective=gold-trees"]);
    config.data.train = file;
    let refused = run(&config, &folder.path().join("out"), false, go_on).err().unwrap().to_string();
    assert!(refused.contains("1 no gold tree (such as `blink the hall lamp`)"), "{refused}");
    assert!(refused.contains("spanwise data annotate") && refused.contains("--verbose"), "{refused}");
}

#[test]
fn generated_examples_are_enough_and_weigh_less_beside_real_ones() {
    let alone = |settings: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        let mut config = config(settings);
        config.data.generated = Some(std::mem::take(&mut config.data.train));
        (
            exact_match(&run(&config, out.path(), false, go_on).unwrap(), "train.jsonl"),
            files(out.path())[0].clone(),
        )
    };
    let (right, metrics) = alone(&[]);
    assert_eq!(right, 100.0);
    // Their weight is relative to that of real ones.
    assert_eq!(alone(&["training.generated_weight=0"]).1, metrics);

    // The same words mean the opposite in the two files: the real ones are believed.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("generated.jsonl");
    let text = fs::read_to_string(Path::new(TOY).join("train.jsonl")).unwrap();
    let swapped = text.replace("do(on(", "do(?(").replace("do(off(", "do(on(").replace("do(?(", "do(off(");
    assert_ne!(text, swapped);
    fs::write(&file, swapped).unwrap();
    let (mut n_train, mut n_generated) = (0, 0);
    let mut config = config(&["training.generated_weight=0.05"]);
    config.data.generated = Some(file);
    let trained = run(&config, &folder.path().join("out"), false, |event| {
        if let Event::Data { n_train: all, n_generated: made, .. } = event {
            (n_train, n_generated) = (all, made);
        }
        ControlFlow::Continue(())
    });
    assert_eq!(n_train, 2 * n_generated);
    assert_eq!(exact_match(&trained.unwrap(), "train.jsonl"), 100.0);
}

#[test]
fn every_way_to_train_with_the_search_of_the_paper_learns_the_toy() {
    for objective in ["hard-em", "marginal"] {
        let out = tempfile::tempdir().unwrap();
        let objective = format!("training.objective={objective}");
        let settings = ["model.search=paper", &objective, "training.epochs=40"];
        let trained = run(&config(&settings), out.path(), false, go_on).unwrap();
        assert_eq!(exact_match(&trained, "train.jsonl"), 100.0, "{objective}");
    }
}

/// However narrow the lists of the search are: trees to learn from are not looked for with them.
#[test]
fn hard_em_learns_from_every_example_from_the_first_epoch_on() {
    let out = tempfile::tempdir().unwrap();
    let settings = [
        "model.search=paper",
        "model.beam=1",
        "model.lexicon=none",
        "training.objective=hard-em",
        "training.epochs=1",
    ];
    run(&config(&settings), out.path(), false, |event| {
        if let Event::Epoch { row } = event {
            assert_eq!(row.learned, 100.0);
        }
        ControlFlow::Continue(())
    })
    .unwrap();
}

#[test]
fn events_come_in_order_and_count_what_is_done() {
    let out = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    run(&config(&["training.epochs=2", "training.augment_from=0"]), out.path(), false, |event| {
        seen.push(match event {
            Event::Data { n_train, left_out, n_dev, n_trained, .. } => {
                assert!(left_out.is_empty() && n_trained > 1000);
                format!("data {n_train} {n_dev}")
            }
            Event::Step { epoch, epochs, step, steps, loss } => {
                assert!(loss.is_finite());
                format!("step {epoch}/{epochs} {step}/{steps}")
            }
            Event::Epoch { row } => format!("epoch {}", row.epoch),
            Event::Cache { .. } => "cache".to_owned(),
            Event::Resumed { epoch } => format!("resumed {epoch}"),
            Event::Warning { text } => format!("warning {text}"),
        });
        ControlFlow::Continue(())
    })
    .unwrap();
    let steps = |epoch: usize| (1..=5).map(move |step| format!("step {epoch}/2 {step}/5"));
    let mut expected = vec!["data 35 4".to_owned()];
    expected.extend(steps(1));
    expected.push("epoch 1".to_owned());
    expected.extend(steps(2));
    expected.push("epoch 2".to_owned());
    assert_eq!(seen, expected);
}

#[test]
fn a_run_that_was_stopped_in_any_epoch_continues_to_the_same_result() {
    for patience in ["training.patience=0", "training.patience=9"] {
        let config = config(&["training.epochs=6", patience]);
        let whole = tempfile::tempdir().unwrap();
        run(&config, whole.path(), false, go_on).unwrap();
        let out = tempfile::tempdir().unwrap();
        let mut n_stops = 0;
        loop {
            // Stop in the middle of every epoch that begins, after one was finished.
            let mut is_done = false;
            let outcome = run(&config, out.path(), n_stops > 0, |event| match event {
                Event::Epoch { .. } => {
                    is_done = true;
                    ControlFlow::Continue(())
                }
                Event::Step { step: 2, .. } if is_done => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            });
            match outcome {
                Ok(_) => break,
                Err(TrainError::Stopped { .. }) => n_stops += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert!(n_stops >= 4, "{n_stops}");
        assert!(files(whole.path()) == files(out.path()), "{patience}");
    }
}

#[test]
fn a_finished_run_is_not_overwritten_unless_it_is_continued() {
    let out = tempfile::tempdir().unwrap();
    let config = config(&["training.epochs=1"]);
    run(&config, out.path(), false, go_on).unwrap();
    let before = files(out.path());
    assert!(matches!(run(&config, out.path(), false, go_on), Err(TrainError::Occupied { .. })));
    run(&config, out.path(), true, go_on).unwrap();
    assert!(before == files(out.path()));
}

/// Stops a run after its first epoch.
fn stopped_after_one_epoch(config: &Config, out: &Path) {
    let stopped = run(config, out, false, |event| match event {
        Event::Epoch { .. } => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(matches!(stopped.err().unwrap(), TrainError::Stopped { epoch: 1, .. }));
}

#[test]
fn a_flipped_bit_in_a_checkpoint_is_a_clear_error_and_never_another_result() {
    let out = tempfile::tempdir().unwrap();
    let config = config(&["training.epochs=2", "training.augment_from=0"]);
    stopped_after_one_epoch(&config, out.path());
    let path = out.path().join("checkpoint.safetensors");
    let whole = fs::read(&path).unwrap();
    // The header densely, where names and digests are, and the rest in large steps.
    let header = 8 + u64::from_le_bytes(whole[..8].try_into().unwrap()) as usize;
    let places = (0..header).step_by(97).chain((header..whole.len()).step_by(whole.len() / 40));
    for at in places {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&path, bytes).unwrap();
        let error = run(&config, out.path(), true, |event| {
            assert!(!matches!(event, Event::Resumed { .. }), "byte {at} is not noticed");
            ControlFlow::Continue(())
        });
        let error = error.err().unwrap_or_else(|| panic!("byte {at}")).to_string();
        assert!(error.contains("checkpoint.safetensors is damaged"), "byte {at}: {error}");
    }
    fs::write(&path, whole).unwrap();
    assert!(run(&config, out.path(), true, go_on).is_ok());
}

#[test]
fn two_trainings_cannot_write_into_one_directory() {
    let out = tempfile::tempdir().unwrap();
    let config = config(&["training.epochs=2", "training.augment_from=0"]);
    let mut n_refused = 0;
    let trained = run(&config, out.path(), false, |event| {
        if let Event::Step { step: 1, .. } = event {
            for resume in [false, true] {
                let second = run(&config, out.path(), resume, go_on).err().unwrap().to_string();
                let place = out.path().to_str().unwrap();
                assert!(second.contains(place) && second.contains("is in use"), "{second}");
                n_refused += 1;
            }
        }
        ControlFlow::Continue(())
    });
    assert!(trained.is_ok() && n_refused == 4);
    assert!(run(&config, out.path(), true, go_on).is_ok(), "the lock ends with the run");
}

#[test]
fn a_training_that_diverges_is_a_clear_error_and_the_checkpoint_before_it_stays() {
    let out = tempfile::tempdir().unwrap();
    for rate in ["1e4", "1e5", "1e6"] {
        let rates = ["encoder", "head", "tables"].map(|part| format!("training.rate_{part}={rate}"));
        let settings: Vec<&str> = rates.iter().map(String::as_str).collect();
        let directory = out.path().join(rate);
        let error = run(&config(&settings), &directory, false, go_on).err();
        let error = error.unwrap_or_else(|| panic!("{rate} is trained to the end"));
        let TrainError::Diverged { epoch, .. } = error else { panic!("{rate}: {error}") };
        let text = error.to_string();
        assert!(
            text.contains("training diverged at epoch ") && text.contains("training.rate_encoder"),
            "{text}"
        );
        assert!(!directory.join("model.json").exists());
        assert_eq!(directory.join("checkpoint.safetensors").exists(), epoch > 1);
    }
}

#[test]
fn an_encoder_decoder_is_trained_and_a_run_that_was_stopped_ends_as_if_it_was_not() {
    let encoder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spanwise-nn/tests/data/tiny-marian");
    let settings = ["model.family=bart", "training.epochs=3", "training.rate_encoder=0.02"];
    let [whole, stopped] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let start = |out: &Path, resume: bool, last: usize| {
        let mut losses = Vec::new();
        let trained = train(&config(&settings), Path::new(TOY), Some(&encoder), out, resume, &mut |event| {
            let Event::Epoch { row } = event else { return ControlFlow::Continue(()) };
            losses.push(row.loss);
            if row.epoch == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        (trained, losses)
    };
    let (trained, losses) = start(whole.path(), false, usize::MAX);
    assert!(losses.is_sorted_by(|a, b| a > b) && losses.len() == 3, "{losses:?}");
    assert!(start(stopped.path(), false, 1).0.is_err());
    assert_eq!(start(stopped.path(), true, usize::MAX).1, losses[1..]);
    assert_eq!(files(whole.path()), files(stopped.path()));
    // A model of this width writes no program, which is an outcome like others.
    exact_match(&trained.unwrap(), "train.jsonl");
}

#[test]
fn a_decoder_learns_the_toy_and_copies_names_that_no_training_program_has() {
    let out = tempfile::tempdir().unwrap();
    let settings = ["model.family=seq2seq", "training.epochs=40", "training.noise=0"];
    let trained = run(&config(&settings), out.path(), false, go_on).unwrap();
    assert_eq!(exact_match(&trained, "train.jsonl"), 100.0);
    let text = "turn off the guest room lamp";
    let [before, after] = [trained.parser, Parser::load(out.path()).unwrap()].map(|parser| {
        let outcome = parser.parse(text);
        let parse = outcome.parse().unwrap();
        assert!(parse.tree.is_none());
        (parser.model().written(parse), parse.probability.to_bits())
    });
    assert_eq!(before.0, "do(off(lamp('guest room')))");
    assert_eq!(before, after);
}
