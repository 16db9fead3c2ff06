//! A grid without training: a runner that leaves the files a real one would leave.

use serde_json::json;
use spanwise_eval::metrics::Report;
use spanwise_reproduce::{
    Call, CellId, Event, Options, Outcome, Ran, RunContext, RunError, Runner, Selection, Store, Tables, jobs,
    run,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a fake run does with a call that holds a given text.
#[derive(Clone, Debug)]
pub(crate) enum Mishap {
    Fail(&'static str),
    /// Someone presses Ctrl-C while it runs.
    Stop(&'static str),
}

/// Leaves the files of `train` and `eval`, and keeps the calls.
#[derive(Default)]
pub(crate) struct Fake {
    pub(crate) mishaps: Vec<Mishap>,
    pub(crate) calls: Mutex<Vec<String>>,
    /// Trainings that found a checkpoint.
    pub(crate) continued: Mutex<usize>,
}

impl Runner for Fake {
    fn run(&self, call: &Call, stop: &AtomicBool) -> Result<Ran, RunError> {
        let text = call.args.join(" ");
        self.calls.lock().unwrap().push(text.clone());
        let is_training = call.args[0] == "train";
        let model = PathBuf::from(if is_training { after(&call.args, "--out") } else { &call.args[1] });
        if is_training {
            let checkpoint = model.join("checkpoint.safetensors");
            *self.continued.lock().unwrap() += usize::from(checkpoint.exists());
            fs::write(checkpoint, "c").unwrap();
        }
        for mishap in &self.mishaps {
            match mishap {
                Mishap::Fail(part) if text.contains(part) => {
                    return Err(RunError::Failed(format!("no luck with {part}")));
                }
                Mishap::Stop(part) if text.contains(part) => {
                    stop.store(true, Ordering::Relaxed);
                    return Err(RunError::Stopped { seconds: 5.0 });
                }
                _ => {}
            }
        }
        let stdout = if is_training {
            for name in
                ["weights-00112233445566aa.safetensors", "tokenizer-00112233445566bb.json", "model.json"]
            {
                fs::write(model.join(name), "m").unwrap();
            }
            "{}".to_owned()
        } else {
            evaluated(call, &model)
        };
        Ok(Ran { stdout, seconds: 2.0, peak_bytes: Some(if is_training { 3_000_000 } else { 1_000_000 }) })
    }
}

fn after<'a>(args: &'a [String], name: &str) -> &'a str {
    let at = args.iter().position(|arg| arg == name).unwrap();
    &args[at + 1]
}

/// What `eval` prints; there must be a model and a test set.
fn evaluated(call: &Call, model: &Path) -> String {
    for path in [
        model.join("model.json"),
        model.join("weights-00112233445566aa.safetensors"),
        PathBuf::from(&call.args[2]),
    ] {
        assert!(path.exists(), "{} is not there for {:?}", path.display(), call.args);
    }
    if call.args.iter().any(|arg| arg == "--predictions") {
        let line = json!({"gold": "f(a)", "probability": 0.8, "exact": true, "denotation_correct": true});
        fs::write(after(&call.args, "--predictions"), format!("{line}\n")).unwrap();
    }
    let n_trees = usize::from(call.args[2].contains("spans"));
    let report = Report { n: 1, denotation: Some(90.0), n_trees, tree_f1: Some(80.0), ..Report::default() };
    serde_json::to_string(&report).unwrap()
}

/// A folder with placeholder data sets, and a grid.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
    pub(crate) options: Options,
    pub(crate) tables: Tables,
    pub(crate) n_at_once: usize,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let tables = Tables::builtin().unwrap();
        let sandbox = Self { options: Options { data, ..Options::default() }, folder, tables, n_at_once: 1 };
        let (row, seed) = ("sbsp-gold-trees".to_owned(), 1);
        for split in &sandbox.tables.splits {
            let cell = CellId { row: row.clone(), split: split.name.clone(), seed };
            let job = jobs(&sandbox.tables, &[cell], &sandbox.options).unwrap().remove(0);
            let data = &job.config.data;
            let named = [Some(&data.train), data.dev.as_ref(), data.trees.as_ref(), split.trees.as_ref()];
            for path in named.into_iter().flatten().chain([&job.evaluations[0].test]) {
                sandbox.write(path, "data");
            }
        }
        sandbox
    }

    /// Replaces a data file.
    pub(crate) fn write(&self, path: &Path, text: &str) {
        let path = self.options.data.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn store(&self) -> Store {
        Store::new(self.folder.path().join("out"))
    }

    /// The folder of a cell.
    pub(crate) fn cell(&self, row: &str, split: &str, seed: u64) -> PathBuf {
        self.store().folder(&CellId { row: row.to_owned(), split: split.to_owned(), seed })
    }

    /// Requests cells and runs them; returns the outcome and a line for each event.
    pub(crate) fn run(
        &self,
        rows: &[&str],
        splits: &[&str],
        seeds: u64,
        runner: &Fake,
    ) -> (Outcome, Vec<String>) {
        let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let selection = Selection { rows: own(rows), splits: own(splits), seeds, ..Selection::default() };
        let cells = selection.cells(&self.tables).unwrap();
        let store = self.store();
        let _lock = store.lock().unwrap();
        store.request(&cells, "spanwise reproduce", self.options.quick).unwrap();
        let jobs = jobs(&self.tables, &cells, &self.options).unwrap();
        let lines = Mutex::new(Vec::new());
        let watch = |event: Event<'_>| {
            let line = match event {
                Event::Started(job) => format!("started {} {}", job.row, job.home),
                Event::Ended(..) => return,
                Event::Kept(cell, _) => format!("kept {cell}"),
                Event::Done(cell, _) => format!("done {cell}"),
                Event::Failed(cell, error) => format!("failed {cell}: {error}"),
                Event::Note(cell, text) => format!("note {cell}: {text}"),
            };
            lines.lock().unwrap().push(line);
        };
        let stop = AtomicBool::new(false);
        let options = &self.options;
        let at_once = self.n_at_once;
        let context = RunContext { store: &store, runner, options, at_once, stop: &stop, watch: &watch };
        let outcome = run(&jobs, &context);
        (outcome, lines.into_inner().unwrap())
    }
}

/// The kinds of commands that were run.
pub(crate) fn kinds(runner: &Fake) -> Vec<String> {
    let calls = runner.calls.lock().unwrap();
    calls.iter().map(|call| call.split(' ').next().unwrap().to_owned()).collect()
}
