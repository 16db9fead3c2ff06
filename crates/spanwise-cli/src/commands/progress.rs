//! Shows the progress of training on standard error: a bar, and a line for every epoch.

use crate::output::{progress_bar, say};
use indicatif::ProgressBar;
use spanwise_train::{EpochRow, Event, LeftOut};
use std::time::Instant;

/// The progress of one run.
pub(super) struct Shown {
    bar: ProgressBar,
    /// Whether every epoch prints a line.
    lines: bool,
    dev: String,
    derivable: String,
    started: Instant,
}

impl Shown {
    /// With `lines`, every epoch prints a line; without, there is only the bar.
    pub(super) fn new(lines: bool) -> Self {
        let bar = progress_bar(0, "{prefix} {bar:30} {percent:>3} % {msg}");
        Self { bar, lines, dev: String::new(), derivable: String::new(), started: Instant::now() }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, text: &str) {
        if self.lines {
            self.bar.suspend(|| say(text));
        }
    }

    /// Shows an event of training.
    pub(super) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Data { n_train, n_generated, left_out, n_dev, n_trained } => {
                let n_out: usize = left_out.iter().map(|left| left.count).sum();
                let share = 100.0 * *n_train as f64 / (n_train + n_out) as f64;
                self.derivable = format!("{share:.1} % derivable");
                let made =
                    if *n_generated > 0 { format!(" ({n_generated} generated)") } else { String::new() };
                self.line(&format!(
                    "{n_train} training pairs{made}, {n_dev} dev examples, {n_trained} trainable parameters"
                ));
                for left in *left_out {
                    let LeftOut { reason, count, example } = left;
                    self.line(&format!("  left out: {count} {reason}, such as `{example}`"));
                }
            }
            Event::Cache { done, total } => {
                self.bar.set_prefix("frozen layers");
                self.bar.set_length(*total as u64);
                self.bar.set_position(*done as u64);
                self.started = Instant::now();
            }
            // Whether or not epochs are shown.
            Event::Warning { text } => self.bar.suspend(|| say(&format!("warning: {text}"))),
            Event::Resumed { epoch } => self.line(&format!("continuing after epoch {epoch}")),
            Event::Step { epoch, epochs, step, steps, loss } => {
                let done = (epoch - 1) as f64 + *step as f64 / *steps as f64;
                self.bar.set_prefix(format!("epoch {epoch}/{epochs}"));
                self.bar.set_length(1000);
                self.bar.set_position((1000.0 * done / *epochs as f64) as u64);
                let elapsed = self.started.elapsed().as_secs_f64();
                let left = elapsed / done * (*epochs as f64 - done);
                let (dev, derivable) = (&self.dev, &self.derivable);
                self.bar.set_message(format!("loss {loss:.3}{dev}, {derivable}, {left:.0} s left"));
            }
            Event::Epoch { row } => {
                self.dev = dev(row);
                let seconds = self.started.elapsed().as_secs_f64();
                let (epoch, loss, learned) = (row.epoch, row.loss, row.learned);
                let missed = if learned < 99.95 {
                    format!(", no tree for {:.1} %", 100.0 - learned)
                } else {
                    String::new()
                };
                self.line(&format!("epoch {epoch:>2}  loss {loss:.4}{}{missed}  {seconds:.0} s", self.dev));
            }
        }
    }
}

fn dev(row: &EpochRow) -> String {
    let dev = row.dev.as_ref();
    match (dev.and_then(|dev| dev.exact_match), dev.and_then(|dev| dev.denotation)) {
        (Some(exact), Some(denotation)) => format!(", dev {exact:.1} exact {denotation:.1} denotation"),
        (Some(exact), None) => format!(", dev {exact:.1} exact"),
        _ => String::new(),
    }
}
