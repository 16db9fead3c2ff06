//! Runs jobs, several at once, and leaves every cell finished, failed with a reason, or in a state from which it can be continued.
//!
//! Trainings and evaluations are commands that a [`Runner`] runs; their outcome is kept in the files of the [`Store`].

use crate::error::ReproduceError;
use crate::fingerprint::Files;
use crate::grid::{CellId, Evaluation, Job, Options};
use crate::runner::{Call, Ran, RunError, Runner};
use crate::store::{Record, Store, Training, write_text};
use spanwise_eval::metrics::Report;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Progress of a grid. Events come from several threads.
#[derive(Clone, PartialEq, Debug)]
pub enum Event<'a> {
    /// A job has begun.
    Started(&'a Job),
    /// A job is over, successfully or not; wall seconds that this call spent on it.
    Ended(&'a Job, f64),
    /// A cell was finished by an earlier call.
    Kept(&'a CellId, &'a Record),
    /// A cell is finished.
    Done(&'a CellId, &'a Record),
    /// A cell failed.
    Failed(&'a CellId, &'a str),
    /// A remark for the user, such as why a cell is run again.
    Note(&'a CellId, &'a str),
}

/// How a call ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Cells that failed.
    pub failed: usize,
    /// Whether it was stopped before the end.
    pub stopped: bool,
}

/// Where and how jobs are run.
pub struct RunContext<'a> {
    /// The files of the grid.
    pub store: &'a Store,
    /// Runs commands.
    pub runner: &'a dyn Runner,
    /// How jobs are run.
    pub options: &'a Options,
    /// How many jobs run at once.
    pub at_once: usize,
    /// Set when everything is to stop.
    pub stop: &'a AtomicBool,
    /// Receives events.
    pub watch: &'a (dyn Fn(Event<'_>) + Sync),
}

/// Runs jobs in their order. Finished cells are kept, interrupted trainings continued, and cells whose
/// settings have changed run again. A job that fails does not keep the others from running.
#[must_use]
pub fn run(jobs: &[Job], context: &RunContext<'_>) -> Outcome {
    let (next, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let files = Files::default();
    std::thread::scope(|scope| {
        for _ in 0..context.at_once.clamp(1, jobs.len().max(1)) {
            scope.spawn(|| {
                while !context.is_stopped()
                    && let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let n_failed = context.job(job, &files);
                    failed.fetch_add(n_failed, Ordering::Relaxed);
                }
            });
        }
    });
    Outcome { failed: failed.into_inner(), stopped: context.is_stopped() }
}

/// Why a job goes no further.
enum Halt {
    Failed(String),
    Stopped,
}

impl From<ReproduceError> for Halt {
    fn from(error: ReproduceError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A cell that has to be run, with its fingerprint.
struct Due<'a> {
    evaluation: &'a Evaluation,
    fingerprint: String,
}

impl RunContext<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Fills the cells of a job; returns how many failed.
    fn job(&self, job: &Job, files: &Files) -> usize {
        let n_failed = match self.due(job, files) {
            Err(error) => {
                let fail =
                    |evaluation: &Evaluation| self.fail(job, &evaluation.cell, None, &error.to_string());
                job.evaluations.iter().for_each(fail);
                job.evaluations.len()
            }
            Ok((_, due)) if due.is_empty() => 0,
            Ok((fingerprint, due)) => {
                let started = std::time::Instant::now();
                (self.watch)(Event::Started(job));
                let n_failed = self.fill(job, &fingerprint, &due);
                (self.watch)(Event::Ended(job, started.elapsed().as_secs_f64()));
                n_failed
            }
        };
        if let Err(error) = self.tidy(job, files) {
            (self.watch)(Event::Note(&job.evaluations[0].cell, &error.to_string()));
        }
        n_failed
    }

    /// Trains, then measures; returns how many cells failed.
    fn fill(&self, job: &Job, fingerprint: &str, due: &[Due<'_>]) -> usize {
        let mut n_failed = 0;
        let mut fail = |due: &Due<'_>, error: &str| {
            self.fail(job, &due.evaluation.cell, Some(&due.fingerprint), error);
            n_failed += 1;
        };
        match self.trained(job, fingerprint) {
            Ok(training) => {
                for due in due {
                    match self.evaluate(job, &training, due) {
                        Ok(record) => (self.watch)(Event::Done(&due.evaluation.cell, &record)),
                        Err(Halt::Failed(error)) => fail(due, &error),
                        Err(Halt::Stopped) => break,
                    }
                }
            }
            Err(Halt::Failed(error)) => due.iter().for_each(|due| fail(due, &error)),
            Err(Halt::Stopped) => {}
        }
        n_failed
    }

    /// Records why a cell failed. Without a fingerprint its files could not be read, and an earlier result is kept.
    fn fail(&self, job: &Job, cell: &CellId, fingerprint: Option<&str>, error: &str) {
        let is_done =
            || self.store.record(cell).is_ok_and(|record| record.is_some_and(|record| record.is_done()));
        if fingerprint.is_some() || !is_done() {
            let record = Record {
                fingerprint: fingerprint.unwrap_or_default().to_owned(),
                error: Some(error.to_owned()),
                home: job.home.clone(),
                encoder: job.config.encoder.clone(),
                version: crate::about::version(),
                ..Record::default()
            };
            // If even this cannot be written, the event still reports the failure.
            let _ = self.store.write_json(&self.store.folder(cell).join("cell.json"), &record);
        }
        (self.watch)(Event::Failed(cell, error));
    }

    /// The fingerprint of the training, and the cells that are not finished with it.
    fn due<'a>(&self, job: &'a Job, files: &Files) -> Result<(String, Vec<Due<'a>>), ReproduceError> {
        let training = files.of_training(job, self.options)?;
        let mut due = Vec::new();
        for evaluation in &job.evaluations {
            let fingerprint = files.of_evaluation(&training, evaluation, self.options)?;
            let cell = &evaluation.cell;
            match self.store.record(cell)? {
                Some(record) if record.is_done() && record.fingerprint == fingerprint => {
                    (self.watch)(Event::Kept(cell, &record));
                    continue;
                }
                Some(record) if record.is_done() => (self.watch)(Event::Note(
                    cell,
                    "its settings, data or encoder have changed since it was finished: it is run again",
                )),
                Some(_) => (self.watch)(Event::Note(cell, "it failed before and is tried again")),
                None => {}
            }
            due.push(Due { evaluation, fingerprint });
        }
        Ok((training, due))
    }

    /// The folder of a job's model.
    fn home(&self, job: &Job) -> PathBuf {
        self.store.folder(&CellId { row: job.row.clone(), split: job.home.clone(), seed: job.seed })
    }

    /// The finished training of a job: the one that is there, or one that is run or continued now.
    fn trained(&self, job: &Job, fingerprint: &str) -> Result<Training, Halt> {
        let home = self.home(job);
        let before = self.store.training(&home)?;
        // It is written last: where it is, the model is complete.
        let has_model = home.join("model.json").exists();
        let is_this = |known: &&Training| known.fingerprint == fingerprint && known.done && has_model;
        if let Some(known) = before.as_ref().filter(is_this) {
            return Ok(known.clone());
        }
        let before = self.begun(job, fingerprint, before)?;
        let mut args = job.train.clone();
        args.extend(["--out".to_owned(), home.display().to_string()]);
        let mut training = before.unwrap_or(Training {
            fingerprint: fingerprint.to_owned(),
            command: shown(&args),
            ..Training::default()
        });
        training.attempts += 1;
        let marker = home.join("training.json");
        self.store.write_json(&marker, &training)?;
        // Without a checkpoint there is nothing to continue, and training begins.
        args.extend(["--resume".to_owned(), "--json".to_owned()]);
        let ran = self.runner.run(&Call { args, log: home.join("train.log") }, self.stop);
        if let Err(RunError::Stopped { seconds }) = &ran {
            training.seconds += seconds;
            self.store.write_json(&marker, &training)?;
        }
        let ran = ran?;
        training.done = true;
        training.seconds += ran.seconds;
        training.peak_bytes = training.peak_bytes.max(ran.peak_bytes);
        self.store.write_json(&marker, &training)?;
        Ok(training)
    }

    /// A training that was begun and can be continued. One with other settings is removed, with everything measured on it.
    fn begun(
        &self,
        job: &Job,
        fingerprint: &str,
        before: Option<Training>,
    ) -> Result<Option<Training>, ReproduceError> {
        let Some(known) = before else { return Ok(None) };
        let cell = &job.evaluations[0].cell;
        let note = |why: &str| (self.watch)(Event::Note(cell, why));
        if known.fingerprint != fingerprint {
            note("its training was begun with other settings, data or encoder: it starts from the beginning");
            for split in &job.sharing {
                let cell = CellId { split: split.clone(), ..cell.clone() };
                self.store.clear(&self.store.folder(&cell))?;
            }
            return Ok(None);
        }
        if known.done {
            note("the weights of its model are gone: it is trained again");
            return Ok(None);
        }
        note("its training was interrupted or failed, and is continued");
        Ok(Some(known))
    }

    /// Measures a model on a test set, and on gold trees where the cell has them.
    fn evaluate(&self, job: &Job, training: &Training, due: &Due<'_>) -> Result<Record, Halt> {
        let Due { evaluation, fingerprint } = due;
        let folder = self.store.folder(&evaluation.cell);
        let mut config = job.config.clone();
        config.data.test = Some(evaluation.test.clone());
        write_text(&folder.join("config.toml"), &config.to_toml())?;
        let mut record = Record {
            fingerprint: fingerprint.clone(),
            home: job.home.clone(),
            encoder: job.config.encoder.clone(),
            commands: vec![training.command.clone()],
            train_seconds: training.seconds,
            attempts: training.attempts,
            peak_bytes: training.peak_bytes,
            version: crate::about::version(),
            commit: crate::about::commit(),
            date: Some(crate::about::today()),
            machine: crate::about::machine(),
            at_once: self.at_once,
            ..Record::default()
        };
        let predictions = folder.join("predictions.jsonl");
        let limit = evaluation.limit;
        let test = Test { file: &evaluation.test, predictions: Some(&predictions), pieces: None, limit };
        let printed = self.measure(job, &folder, &test, &mut record)?;
        record.eval = report(&printed)?;
        write_text(&folder.join("eval.json"), &printed)?;
        if let Some(file) = &evaluation.trees {
            let test = Test { file, predictions: None, pieces: evaluation.pieces.as_deref(), limit };
            record.trees = report(&self.measure(job, &folder, &test, &mut record)?)?;
        }
        self.store.write_json(&folder.join("cell.json"), &record)?;
        Ok(record)
    }

    /// One call of `spanwise eval --json`; returns what it prints.
    fn measure(
        &self,
        job: &Job,
        folder: &Path,
        test: &Test<'_>,
        record: &mut Record,
    ) -> Result<String, Halt> {
        let text = |path: &Path| path.display().to_string();
        let mut args =
            vec!["eval".to_owned(), text(&self.home(job)), text(&self.options.data.join(test.file))];
        args.extend(test.limit.into_iter().flat_map(|n| ["--limit".to_owned(), n.to_string()]));
        args.extend(test.predictions.into_iter().flat_map(|path| ["--predictions".to_owned(), text(path)]));
        args.extend(test.pieces.into_iter().flat_map(|path| ["--pieces".to_owned(), text(path)]));
        args.push("--json".to_owned());
        record.commands.push(shown(&args));
        let Ran { stdout, seconds, peak_bytes } =
            self.runner.run(&Call { args, log: folder.join("eval.log") }, self.stop)?;
        record.eval_seconds += seconds;
        record.peak_bytes = record.peak_bytes.max(peak_bytes);
        Ok(stdout)
    }

    /// Removes what a finished cell does not need: the checkpoint once the model is there, and the weights of seeds other than
    /// the first once every split that shares them is measured.
    fn tidy(&self, job: &Job, files: &Files) -> Result<(), ReproduceError> {
        let home = self.home(job);
        let Some(training) = self.store.training(&home)?.filter(|training| training.done) else {
            return Ok(());
        };
        self.store.remove(&home, &["checkpoint.safetensors"])?;
        if job.seed == 1 || self.options.keep_models {
            return Ok(());
        }
        for split in &job.sharing {
            let cell = CellId { row: job.row.clone(), split: split.clone(), seed: job.seed };
            let record = self.store.record(&cell)?;
            let requested = job.evaluations.iter().find(|evaluation| evaluation.cell == cell);
            let is_fresh = match (requested, &record) {
                (_, None) => false,
                (None, Some(record)) => record.is_done(),
                (Some(evaluation), Some(record)) => {
                    let now = files.of_evaluation(&training.fingerprint, evaluation, self.options)?;
                    record.is_done() && record.fingerprint == now
                }
            };
            if !is_fresh {
                return Ok(());
            }
        }
        self.store.remove_model(&home)
    }
}

/// A file to measure a model on.
struct Test<'a> {
    file: &'a Path,
    predictions: Option<&'a Path>,
    pieces: Option<&'a Path>,
    limit: Option<usize>,
}

/// The report that `spanwise eval --json` printed.
fn report(printed: &str) -> Result<Report, Halt> {
    let refused = |error| Halt::Failed(format!("`spanwise eval --json` did not print a report ({error})"));
    serde_json::from_str(printed).map_err(refused)
}

impl From<RunError> for Halt {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Failed(reason) => Self::Failed(reason),
            RunError::Stopped { .. } => Self::Stopped,
        }
    }
}

/// A command as it can be typed.
pub(crate) fn shown(args: &[String]) -> String {
    let quoted = args.iter().map(|arg| crate::about::quoted(arg));
    std::iter::once("spanwise".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}
