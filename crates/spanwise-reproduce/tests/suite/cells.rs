//! Cells that are kept, continued, run again or fail, with a runner that does not train.

use crate::common::{Fake, Mishap, Sandbox, kinds};
use spanwise_reproduce::gather::{Results, State};
use spanwise_reproduce::{Outcome, ReproduceError};
use std::fs;

const WELL: Outcome = Outcome { failed: 0, stopped: false };

#[test]
fn a_finished_cell_is_kept_by_the_next_call() {
    let sandbox = Sandbox::new();
    let first = Fake::default();
    let (outcome, _) = sandbox.run(&["spanwise"], &["geo-iid"], 1, &first);
    assert_eq!((outcome, kinds(&first)), (WELL, ["train", "eval", "eval"].map(str::to_owned).into()));
    let record = fs::read(sandbox.cell("spanwise", "geo-iid", 1).join("cell.json")).unwrap();
    let second = Fake::default();
    let (outcome, lines) = sandbox.run(&["spanwise"], &["geo-iid"], 1, &second);
    assert_eq!((outcome, kinds(&second)), (WELL, vec![]));
    assert_eq!(lines, ["kept spanwise geo-iid seed 1"]);
    assert_eq!(fs::read(sandbox.cell("spanwise", "geo-iid", 1).join("cell.json")).unwrap(), record);
}

#[test]
fn a_cell_holds_what_was_measured_and_what_it_cost() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["spanwise"], &["geo-iid"], 1, &Fake::default());
    let results = Results::read(&sandbox.store(), sandbox.tables.clone()).unwrap();
    let record = results.cells[0].record().unwrap();
    assert_eq!((record.eval.denotation, record.trees.tree_f1), (Some(90.0), Some(80.0)));
    assert_eq!((record.train_seconds, record.eval_seconds, record.attempts), (2.0, 4.0, 1));
    assert_eq!(record.peak_bytes, Some(3_000_000));
    assert_eq!(record.commands.len(), 3);
    assert!(record.commands[0].starts_with("spanwise train geo-iid --data "), "{}", record.commands[0]);
    assert!(record.commands[2].contains("test_spans.json"), "{}", record.commands[2]);
    let config = fs::read_to_string(sandbox.cell("spanwise", "geo-iid", 1).join("config.toml")).unwrap();
    assert!(config.contains("test = \"geo/splits/test.json\""), "{config}");
}

#[test]
fn a_changed_row_is_run_again_with_a_note() {
    let mut sandbox = Sandbox::new();
    let _ = sandbox.run(&["spanwise"], &["scan-iid"], 1, &Fake::default());
    fs::write(sandbox.cell("spanwise", "scan-iid", 1).join("old"), "").unwrap();
    let at = sandbox.tables.rows.iter().position(|row| row.name == "spanwise").unwrap();
    sandbox.tables.rows[at].set.push("training.epochs=9".to_owned());
    let again = Fake::default();
    let (outcome, lines) = sandbox.run(&["spanwise"], &["scan-iid"], 1, &again);
    assert_eq!((outcome, kinds(&again).len()), (WELL, 3));
    assert!(lines[0].contains("have changed") && lines[0].contains("run again"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("starts from the beginning")), "{lines:?}");
    assert_eq!(*again.continued.lock().unwrap(), 0);
    assert!(!sandbox.cell("spanwise", "scan-iid", 1).join("old").exists());
}

#[test]
fn a_changed_test_set_is_measured_again_without_training() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["spanwise"], &["scan-iid"], 1, &Fake::default());
    sandbox.write("scan_sp/test_simple.json".as_ref(), "other data");
    let again = Fake::default();
    let _ = sandbox.run(&["spanwise"], &["scan-iid"], 1, &again);
    assert_eq!(kinds(&again), ["eval", "eval"]);
    sandbox.write("scan_sp/train_simple.json".as_ref(), "other data");
    let again = Fake::default();
    let _ = sandbox.run(&["spanwise"], &["scan-iid"], 1, &again);
    assert_eq!(kinds(&again), ["train", "eval", "eval"]);
}

#[test]
fn an_interrupted_training_is_continued() {
    let sandbox = Sandbox::new();
    let stopped = Fake { mishaps: vec![Mishap::Stop("train scan-right")], ..Fake::default() };
    let (outcome, _) =
        sandbox.run(&["spanwise"], &["scan-iid", "scan-right", "scan-around-right"], 1, &stopped);
    assert_eq!(outcome, Outcome { failed: 0, stopped: true });
    assert_eq!(kinds(&stopped), ["train", "eval", "eval", "train"]);
    let results = Results::read(&sandbox.store(), sandbox.tables.clone()).unwrap();
    let states: Vec<bool> = results.cells.iter().map(|cell| cell.state == State::Missing).collect();
    assert_eq!(states, [false, true, true]);

    let again = Fake::default();
    let (outcome, lines) = sandbox.run(&["spanwise"], &["scan-iid", "scan-right"], 1, &again);
    assert_eq!((outcome, *again.continued.lock().unwrap()), (WELL, 1));
    assert!(again.calls.lock().unwrap()[0].ends_with("--resume --json"));
    assert!(lines.iter().any(|line| line.contains("is continued")), "{lines:?}");
    let results = Results::read(&sandbox.store(), sandbox.tables.clone()).unwrap();
    let record = results.of("spanwise", "scan-right").next().unwrap().record().unwrap();
    // Five seconds before the interrupt, two after it.
    assert_eq!((record.train_seconds, record.attempts), (7.0, 2));
}

#[test]
fn an_interrupt_between_measurements_trains_nothing_twice() {
    let sandbox = Sandbox::new();
    let stopped = Fake { mishaps: vec![Mishap::Stop("test_closure.jsonl")], ..Fake::default() };
    let (outcome, _) = sandbox.run(&["spanwise"], &["clevr-iid", "clevr-closure"], 2, &stopped);
    assert!(outcome.stopped);
    let again = Fake::default();
    let _ = sandbox.run(&["spanwise"], &["clevr-iid", "clevr-closure"], 1, &again);
    assert_eq!(kinds(&again), ["eval", "eval"]);
}

#[test]
fn a_cell_that_fails_does_not_keep_others_from_running_and_is_tried_again() {
    let sandbox = Sandbox::new();
    let unlucky = Fake { mishaps: vec![Mishap::Fail("train geo-template")], ..Fake::default() };
    let (outcome, lines) =
        sandbox.run(&["spanwise"], &["geo-iid", "geo-template", "geo-length"], 1, &unlucky);
    assert_eq!(outcome, Outcome { failed: 1, stopped: false });
    assert!(
        lines.contains(&"failed spanwise geo-template seed 1: no luck with train geo-template".to_owned())
    );
    let results = Results::read(&sandbox.store(), sandbox.tables.clone()).unwrap();
    assert_eq!(results.cells[1].state, State::Failed("no luck with train geo-template".to_owned()));
    assert!(results.cells[0].record().is_some() && results.cells[2].record().is_some());
    let again = Fake::default();
    let (outcome, lines) = sandbox.run(&["spanwise"], &["geo-iid", "geo-template", "geo-length"], 1, &again);
    assert_eq!((outcome, kinds(&again).len()), (WELL, 3));
    assert!(lines.iter().any(|line| line.contains("failed before")), "{lines:?}");
}

#[test]
fn a_measurement_that_prints_no_report_fails_its_cell() {
    struct Mute(Fake);
    impl spanwise_reproduce::Runner for Mute {
        fn run(
            &self,
            call: &spanwise_reproduce::Call,
            stop: &std::sync::atomic::AtomicBool,
        ) -> Result<spanwise_reproduce::Ran, spanwise_reproduce::RunError> {
            let ran = self.0.run(call, stop)?;
            Ok(spanwise_reproduce::Ran { stdout: "hello".to_owned(), ..ran })
        }
    }
    let sandbox = Sandbox::new();
    let cells =
        [spanwise_reproduce::CellId { row: "spanwise".to_owned(), split: "geo-iid".to_owned(), seed: 1 }];
    let jobs = spanwise_reproduce::jobs(&sandbox.tables, &cells, &sandbox.options).unwrap();
    let (store, stop) = (sandbox.store(), std::sync::atomic::AtomicBool::new(false));
    let context = spanwise_reproduce::RunContext {
        store: &store,
        runner: &Mute(Fake::default()),
        options: &sandbox.options,
        at_once: 1,
        stop: &stop,
        watch: &|_| {},
    };
    assert_eq!(spanwise_reproduce::run(&jobs, &context).failed, 1);
    let error = store.record(&cells[0]).unwrap().unwrap().error.unwrap();
    assert!(error.contains("did not print a report"), "{error}");
}

#[test]
fn clevr_and_closure_are_measured_with_one_model() {
    let sandbox = Sandbox::new();
    let runner = Fake::default();
    let _ = sandbox.run(&["projective"], &["clevr-iid", "clevr-closure"], 1, &runner);
    let calls = runner.calls.lock().unwrap();
    let of = |kind: &str| calls.iter().filter(|call| call.starts_with(kind)).count();
    assert_eq!((of("train"), of("eval")), (1, 2));
    assert!(!sandbox.cell("projective", "clevr-closure", 1).join("model.json").exists());
}

#[test]
fn checkpoints_go_and_weights_stay_for_the_first_seed_only() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["spanwise"], &["geo-iid"], 2, &Fake::default());
    let has = |seed, name: &str| sandbox.cell("spanwise", "geo-iid", seed).join(name).exists();
    assert!(has(1, "weights-00112233445566aa.safetensors") && has(1, "model.json"));
    assert!(!has(2, "weights-00112233445566aa.safetensors") && !has(2, "model.json") && has(2, "cell.json"));
    assert!(!has(1, "checkpoint.safetensors") && !has(2, "checkpoint.safetensors"));

    let mut sandbox = Sandbox::new();
    sandbox.options.keep_models = true;
    let _ = sandbox.run(&["spanwise"], &["geo-iid"], 2, &Fake::default());
    assert!(sandbox.cell("spanwise", "geo-iid", 2).join("weights-00112233445566aa.safetensors").exists());
}

#[test]
fn weights_stay_until_every_split_that_shares_them_is_measured() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["spanwise"], &["clevr-closure"], 2, &Fake::default());
    let weights = sandbox.cell("spanwise", "clevr-iid", 2).join("weights-00112233445566aa.safetensors");
    assert!(weights.exists());
    let runner = Fake::default();
    let _ = sandbox.run(&["spanwise"], &["clevr-iid"], 2, &runner);
    assert!(!kinds(&runner).contains(&"train".to_owned()));
    assert!(!weights.exists());
}

#[test]
fn cells_whose_weights_are_gone_are_trained_again_without_losing_their_neighbours() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["spanwise"], &["clevr-iid", "clevr-closure"], 2, &Fake::default());
    sandbox.write("clevr/test_closure.jsonl".as_ref(), "other data");
    let again = Fake::default();
    let (_, lines) = sandbox.run(&["spanwise"], &["clevr-closure"], 2, &again);
    // The first seed has its weights, the second has not.
    assert_eq!(kinds(&again), ["eval", "eval", "train", "eval", "eval"]);
    assert!(lines.iter().any(|line| line.contains("weights of its model are gone")), "{lines:?}");
    assert!(sandbox.cell("spanwise", "clevr-iid", 2).join("cell.json").exists());
}

#[test]
fn a_data_file_that_is_not_there_fails_its_cells_and_takes_no_result_away() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["spanwise"], &["scan-iid"], 1, &Fake::default());
    fs::remove_file(sandbox.options.data.join("scan_sp/train_simple.json")).unwrap();
    let (outcome, lines) = sandbox.run(&["spanwise"], &["scan-iid", "scan-right"], 1, &Fake::default());
    assert_eq!(outcome, Outcome { failed: 1, stopped: false });
    assert!(lines.iter().any(|line| line.contains("train_simple.json")), "{lines:?}");
    let results = Results::read(&sandbox.store(), sandbox.tables.clone()).unwrap();
    assert!(results.cells.iter().all(|cell| cell.record().is_some()));
}

#[test]
fn cells_that_run_at_once_leave_what_cells_in_turn_leave() {
    let sandbox = Sandbox::new();
    let in_turn = sandbox.run(&["spanwise", "sbsp"], &["geo-iid", "scan-iid"], 2, &Fake::default());
    let mut other = Sandbox::new();
    other.n_at_once = 4;
    let at_once = other.run(&["spanwise", "sbsp"], &["geo-iid", "scan-iid"], 2, &Fake::default());
    assert_eq!(in_turn.0, at_once.0);
    let evals = |sandbox: &Sandbox| {
        let results = Results::read(&sandbox.store(), sandbox.tables.clone()).unwrap();
        let one =
            |cell: &spanwise_reproduce::gather::Cell| (cell.id.clone(), cell.record().unwrap().eval.clone());
        results.cells.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(evals(&sandbox).len(), 8);
    assert_eq!(evals(&sandbox), evals(&other));
}

#[test]
fn quick_cells_and_real_ones_do_not_share_a_folder() {
    let mut sandbox = Sandbox::new();
    let _ = sandbox.run(&["spanwise"], &["scan-iid"], 1, &Fake::default());
    sandbox.options.quick = true;
    let refused = sandbox.store().request(&[], "spanwise reproduce --quick", true);
    assert!(matches!(refused, Err(ReproduceError::Mixed { quick: false, .. })), "{refused:?}");
    let text = refused.unwrap_err().to_string();
    assert!(text.contains("without --quick") && text.contains("--out"), "{text}");
}

#[test]
fn two_calls_do_not_work_in_one_folder() {
    let sandbox = Sandbox::new();
    let lock = sandbox.store().lock().unwrap();
    assert!(matches!(sandbox.store().lock(), Err(ReproduceError::Busy { .. })));
    drop(lock);
    assert!(sandbox.store().lock().is_ok());
}

#[test]
fn a_damaged_record_names_its_file() {
    let sandbox = Sandbox::new();
    let _ = sandbox.run(&["spanwise"], &["scan-iid"], 1, &Fake::default());
    fs::write(sandbox.cell("spanwise", "scan-iid", 1).join("cell.json"), "{").unwrap();
    let error = Results::read(&sandbox.store(), sandbox.tables.clone()).unwrap_err().to_string();
    assert!(error.contains("cell.json") && error.contains("remove the file"), "{error}");
}
