//! Progress of a grid: a growing table on a terminal, otherwise a line for each event.

use crate::output::say;
use indicatif::{ProgressBar, ProgressStyle};
use spanwise_reproduce::{CellId, Event, Job, Record, Tables};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Width of a column of numbers.
const COLUMN: usize = 9;

/// The progress display. It receives events from several threads.
pub(crate) struct Live {
    bar: ProgressBar,
    rows: Vec<String>,
    splits: Vec<String>,
    n_cells: usize,
    n_at_once: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Denotation of finished cells, or exact match without an executor, by row and split.
    values: BTreeMap<(String, String), Vec<f64>>,
    failed: BTreeMap<(String, String), usize>,
    n_over: usize,
    running: BTreeMap<String, Instant>,
    /// Homes of jobs that have not begun.
    waiting: BTreeMap<String, String>,
    /// Homes of jobs that are over, with their seconds.
    took: Vec<(String, f64)>,
}

impl Live {
    pub(crate) fn new(tables: &Tables, cells: &[CellId], jobs: &[Job], n_at_once: usize) -> Self {
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{msg}  ({elapsed} so far)");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let rows = tables.rows.iter().map(|row| row.name.clone());
        let splits = tables.splits.iter().map(|split| split.name.clone());
        let waiting = jobs.iter().map(|job| (name(job), job.home.clone())).collect();
        let live = Self {
            rows: rows.filter(|row| cells.iter().any(|cell| cell.row == *row)).collect(),
            splits: splits.filter(|split| cells.iter().any(|cell| cell.split == *split)).collect(),
            n_cells: cells.len(),
            n_at_once,
            state: Mutex::new(State { waiting, ..State::default() }),
            bar,
        };
        live.bar.enable_steady_tick(Duration::from_secs(1));
        live.draw();
        live
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state stays valid if a thread panics while holding the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn event(&self, event: &Event<'_>) {
        let (line, is_important) = self.update(event);
        // On a terminal the table shows the rest.
        if is_important || self.bar.is_hidden() {
            self.bar.suspend(|| line.iter().for_each(|line| say(line)));
        }
        self.draw();
    }

    /// Updates the state; returns a line for the log, and whether it is shown on a terminal too.
    fn update(&self, event: &Event<'_>) -> (Option<String>, bool) {
        let mut state = self.state();
        match event {
            Event::Started(job) => {
                state.waiting.remove(&name(job));
                state.running.insert(name(job), Instant::now());
                (Some(format!("started   {}", name(job))), false)
            }
            Event::Ended(job, seconds) => {
                state.running.remove(&name(job));
                state.took.push((job.home.clone(), *seconds));
                (None, false)
            }
            Event::Kept(cell, record) => {
                state.waiting.remove(&format!("{} {} seed {}", cell.row, record.home, cell.seed));
                state.done(cell, record);
                (Some(format!("kept      {cell}: {}", summary(record))), false)
            }
            Event::Done(cell, record) => {
                state.done(cell, record);
                let seconds = record.train_seconds + record.eval_seconds;
                let count = format!("{} of {}", state.n_over, self.n_cells);
                (Some(format!("finished  {cell}: {} in {seconds:.0} s ({count})", summary(record))), false)
            }
            Event::Failed(cell, error) => {
                state.n_over += 1;
                *state.failed.entry((cell.row.clone(), cell.split.clone())).or_default() += 1;
                (Some(format!("failed    {cell}: {error}")), true)
            }
            Event::Note(cell, text) => (Some(format!("note      {cell}: {text}")), true),
        }
    }

    fn draw(&self) {
        if self.bar.is_hidden() {
            return;
        }
        let text = self.table();
        self.bar.set_message(text);
    }

    /// Means so far by row and split, running jobs, and an estimate of the time left.
    fn table(&self) -> String {
        let state = self.state();
        let first = self.rows.iter().map(String::len).max().unwrap_or(0);
        let short = |name: &str| name.chars().take(COLUMN + 8).collect::<String>();
        let widths: Vec<usize> = self.splits.iter().map(|split| short(split).len().max(COLUMN)).collect();
        let mut out = " ".repeat(first);
        for (split, width) in self.splits.iter().zip(&widths) {
            let _ = write!(out, "  {:>width$}", short(split));
        }
        for row in &self.rows {
            let _ = write!(out, "\n{row:<first$}");
            for (split, width) in self.splits.iter().zip(&widths) {
                let _ = write!(out, "  {:>width$}", state.shown(row, split));
            }
        }
        let running: Vec<&str> = state.running.keys().map(String::as_str).collect();
        let _ = write!(
            out,
            "\nrunning: {}",
            if running.is_empty() { "-".to_owned() } else { running.join("; ") }
        );
        let _ = write!(out, "\n{} of {} cells, {}", state.n_over, self.n_cells, state.left(self.n_at_once));
        out
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl State {
    fn done(&mut self, cell: &CellId, record: &Record) {
        self.n_over += 1;
        let place = (cell.row.clone(), cell.split.clone());
        self.values.entry(place).or_default().extend(record.eval.denotation.or(record.eval.exact_match));
    }

    fn shown(&self, row: &str, split: &str) -> String {
        let place = (row.to_owned(), split.to_owned());
        match (self.values.get(&place).filter(|values| !values.is_empty()), self.failed.contains_key(&place))
        {
            (Some(values), _) => {
                let n = values.len();
                format!("{:.1} ({n})", values.iter().sum::<f64>() / n as f64)
            }
            (None, true) => "failed".to_owned(),
            (None, false) => "-".to_owned(),
        }
    }

    /// An estimate of the time left, from the mean time of jobs of the same split, or else of all jobs.
    fn left(&self, n_at_once: usize) -> String {
        if self.took.is_empty() {
            return "time left not known yet".to_owned();
        }
        let mean = |home: &str| {
            let same: Vec<f64> = self.took.iter().filter(|(of, _)| of == home).map(|(_, s)| *s).collect();
            let all: Vec<f64> = self.took.iter().map(|(_, seconds)| *seconds).collect();
            let these = if same.is_empty() { all } else { same };
            these.iter().sum::<f64>() / these.len() as f64
        };
        let waiting: f64 = self.waiting.values().map(|home| mean(home)).sum();
        let running = self.running.iter().map(|(job, since)| {
            let home = job.split(' ').nth(1).unwrap_or_default();
            (mean(home) - since.elapsed().as_secs_f64()).max(0.0)
        });
        let seconds = (waiting + running.sum::<f64>()) / n_at_once as f64;
        format!("about {} left", indicatif::HumanDuration(Duration::from_secs_f64(seconds)))
    }
}

fn name(job: &Job) -> String {
    format!("{} {} seed {}", job.row, job.home, job.seed)
}

fn summary(record: &Record) -> String {
    match (record.eval.denotation, record.eval.exact_match) {
        (Some(denotation), _) => format!("denotation {denotation:.1}"),
        (None, Some(exact_match)) => format!("exact match {exact_match:.1}"),
        (None, None) => "no denotation".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_eval::metrics::Report;

    #[test]
    fn the_time_left_is_that_of_jobs_of_the_same_split() {
        let waiting = BTreeMap::from([("a geo seed 2".to_owned(), "geo".to_owned())]);
        let mut state = State { waiting, ..State::default() };
        assert_eq!(state.left(1), "time left not known yet");
        state.took = vec![("geo".to_owned(), 100.0), ("geo".to_owned(), 140.0), ("scan".to_owned(), 7000.0)];
        assert_eq!(state.left(1), "about 2 minutes left");
        assert_eq!(state.left(2), "about 60 seconds left");
    }

    #[test]
    fn the_table_has_means_so_far_and_shows_what_failed() {
        let tables = Tables::builtin().unwrap();
        let cell = |row: &str, seed| CellId { row: row.to_owned(), split: "scan-iid".to_owned(), seed };
        let cells = [cell("spanwise", 1), cell("spanwise", 2), cell("projective", 1)];
        let live = Live::new(&tables, &cells, &[], 1);
        let record = |value: f64| Record {
            eval: Report { denotation: Some(value), ..Report::default() },
            ..Record::default()
        };
        live.event(&Event::Done(&cells[0], &record(90.0)));
        live.event(&Event::Kept(&cells[1], &record(95.0)));
        live.event(&Event::Failed(&cells[2], "no data"));
        let expected = "            scan-iid\nspanwise    92.5 (2)\nprojective    failed\nrunning: -\n3 of 3 cells, time left not known yet";
        let table: Vec<String> = live.table().lines().map(|line| line.trim_end().to_owned()).collect();
        let wanted: Vec<&str> = expected.lines().collect();
        for (line, wanted) in table.iter().zip(&wanted) {
            assert_eq!(
                line.split_whitespace().collect::<Vec<_>>(),
                wanted.split_whitespace().collect::<Vec<_>>()
            );
        }
        assert_eq!(table.len(), wanted.len());
    }
}
