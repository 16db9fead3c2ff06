//! What a run has tried and what it has found, as text and as JSON.

use super::process::End;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Failures that are listed for each part.
const LISTED: usize = 20;

/// The counts of one part. Threads share it.
#[derive(Default)]
pub(crate) struct Counts {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    tried: usize,
    /// How many cases there are, where that is known.
    of: Option<usize>,
    /// What became of those that were survived: refused, no effect.
    kinds: BTreeMap<&'static str, usize>,
    failures: Vec<(String, String)>,
    n_failed: usize,
    longest: Duration,
    longest_case: String,
    peak: u64,
    /// Why the part was left out.
    skipped: Option<String>,
    /// More figures, by name.
    figures: BTreeMap<&'static str, Value>,
}

impl Counts {
    fn with<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> T {
        change(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts a case: `Ok` with what became of it, or what is wrong.
    pub(crate) fn count(&self, case: &str, outcome: Result<&'static str, String>) {
        self.with(|inner| {
            inner.tried += 1;
            match outcome {
                Ok(kind) => *inner.kinds.entry(kind).or_default() += 1,
                Err(why) => {
                    inner.n_failed += 1;
                    if inner.failures.len() < LISTED {
                        inner.failures.push((case.to_owned(), why));
                    }
                }
            }
        });
    }

    /// Notes how long a command took and how much memory it had.
    pub(crate) fn measure(&self, case: &str, end: &End) {
        self.took(case, end.took);
        self.peak(end.peak);
    }

    pub(crate) fn took(&self, case: &str, took: Duration) {
        self.with(|inner| {
            if took > inner.longest {
                inner.longest = took;
                case.clone_into(&mut inner.longest_case);
            }
        });
    }

    pub(crate) fn peak(&self, kib: u64) {
        self.with(|inner| inner.peak = inner.peak.max(kib));
    }

    pub(crate) fn of(&self, all: usize) {
        self.with(|inner| inner.of = Some(all));
    }

    pub(crate) fn skip(&self, why: &str) {
        self.with(|inner| inner.skipped = Some(why.to_owned()));
    }

    pub(crate) fn figure(&self, name: &'static str, value: impl Into<Value>) {
        self.with(|inner| inner.figures.insert(name, value.into()));
    }

    pub(crate) fn n_failed(&self) -> usize {
        self.with(|inner| inner.n_failed)
    }

    pub(crate) fn to_json(&self) -> Value {
        self.with(|inner| {
            let failures: Vec<Value> =
                inner.failures.iter().map(|(case, why)| json!({ "case": case, "why": why })).collect();
            json!({
                "tried": inner.tried,
                "of": inner.of,
                "survived": inner.tried - inner.n_failed,
                "outcomes": inner.kinds,
                "longest_seconds": inner.longest.as_secs_f64(),
                "longest_case": inner.longest_case,
                "peak_mib": inner.peak as f64 / 1024.0,
                "skipped": inner.skipped,
                "figures": inner.figures,
                "failures": failures,
            })
        })
    }

    /// One row of the table of figures, in Markdown.
    pub(crate) fn row(&self, name: &str) -> String {
        self.with(|inner| {
            if let Some(why) = &inner.skipped {
                return format!("| {name} | skipped: {why} | | | | |\n");
            }
            let of = inner.of.map_or(String::new(), |of| format!(" of {of}"));
            let kinds: Vec<String> = inner.kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
            let figures = inner.figures.iter().map(|(name, value)| format!("{name} {value}"));
            format!(
                "| {name} | {}{of} | {} | {:.2} s | {:.0} MiB | {} |\n",
                inner.tried,
                inner.tried - inner.n_failed,
                inner.longest.as_secs_f64(),
                inner.peak as f64 / 1024.0,
                kinds.into_iter().chain(figures).collect::<Vec<_>>().join("; ")
            )
        })
    }

    /// The failures, one line each.
    pub(crate) fn failures(&self, name: &str) -> String {
        self.with(|inner| {
            let mut text: String = inner
                .failures
                .iter()
                .map(|(case, why)| format!("{name}: not survived: {case}: {why}\n"))
                .collect();
            let more = inner.n_failed - inner.failures.len();
            if more > 0 {
                text += &format!("{name}: and {more} more\n");
            }
            text
        })
    }
}

/// The head of the table that [`Counts::row`] gives rows of.
pub(crate) const HEAD: &str =
    "| part | tried | survived | longest | peak memory | outcomes |\n|---|---|---|---|---|---|\n";
