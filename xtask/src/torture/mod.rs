//! `cargo run -p xtask -- torture`: kills, bit flips, malformed files and requests, and a soak test of the program.
//!
//! It needs nothing but a binary: it makes a small project, trains a model and works on copies of both in a temporary
//! directory. Every case is drawn from the seed, so that a failure can be repeated. Whatever it starts it also ends.

mod files;
mod flips;
mod http;
mod kills;
mod mutate;
mod options;
mod process;
mod project;
mod random;
mod report;
mod requests;
mod soak;

use options::Options;
use project::Project;
use report::Counts;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Cases that run at the same time.
const N_THREADS: usize = 2;

/// A part of the torture: its name, its share of the time, and what it does until its time is over.
type Part = (&'static str, u32, fn(&Setting<'_>, &Counts) -> io::Result<()>);

const PARTS: [Part; 5] = [
    ("kills", 25, kills::run),
    ("flips", 20, flips::run),
    ("files", 25, files::run),
    ("requests", 20, requests::run),
    ("soak", 10, soak::run),
];

/// What every part works with.
struct Setting<'a> {
    options: &'a Options,
    project: &'a Project,
    /// When the part has to end.
    deadline: Instant,
}

impl Setting<'_> {
    fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Calls `case` with 0, 1, 2, .. on a few threads, up to `all` or until the time is over.
    fn each(&self, all: usize, case: impl Fn(usize) -> io::Result<()> + Sync) -> io::Result<()> {
        let next = AtomicUsize::new(0);
        let work = || -> io::Result<()> {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= all || self.is_over() {
                    return Ok(());
                }
                case(at)?;
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..N_THREADS).map(|_| scope.spawn(work)).collect();
            let mut ended = threads.into_iter().map(|thread| thread.join());
            ended.try_for_each(|end| end.unwrap_or_else(|_| Err(io::Error::other("a case panicked"))))
        })
    }
}

/// Runs the parts that the arguments name; 1 if something was not survived.
pub(crate) fn run(args: &[String]) -> ExitCode {
    let options = match Options::read(args) {
        Ok(options) => options,
        Err(message) => {
            say(&format!("{message}\n\n{}", options::USAGE));
            return ExitCode::from(2);
        }
    };
    match torture(&options) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(error) => {
            say(&format!("error: {error}"));
            ExitCode::from(1)
        }
    }
}

/// The number of cases that were not survived.
fn torture(options: &Options) -> io::Result<usize> {
    let started = Instant::now();
    let project = Project::new(options)?;
    let parts: Vec<&Part> =
        PARTS.iter().filter(|(name, ..)| options.only.as_ref().is_none_or(|only| only == name)).collect();
    let shares: u32 = parts.iter().map(|(_, share, _)| share).sum();
    let mut all: Vec<(&str, Counts)> = Vec::new();
    for (name, share, part) in parts {
        let time = Duration::from_secs(options.seconds) * *share / shares;
        say(&format!("{name}: up to {:.0} s", time.as_secs_f64()));
        let setting = Setting { options, project: &project, deadline: Instant::now() + time };
        let counts = Counts::default();
        part(&setting, &counts)?;
        say(counts.failures(name).trim_end());
        all.push((name, counts));
    }
    let n_failed = all.iter().map(|(_, counts)| counts.n_failed()).sum();
    print(options, &all, started.elapsed(), n_failed)?;
    Ok(n_failed)
}

fn print(options: &Options, all: &[(&str, Counts)], took: Duration, n_failed: usize) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if options.json {
        let parts: Map<String, Value> =
            all.iter().map(|(name, counts)| ((*name).to_owned(), counts.to_json())).collect();
        let object = json!({
            "seed": options.seed,
            "seconds": took.as_secs_f64(),
            "not_survived": n_failed,
            "parts": parts,
        });
        return writeln!(out, "{object}");
    }
    let rows: String = all.iter().map(|(name, counts)| counts.row(name)).collect();
    write!(out, "{}{rows}", report::HEAD)?;
    let again = if n_failed == 0 { String::new() } else { format!("; repeat with --seed {}", options.seed) };
    writeln!(out, "\n{n_failed} not survived in {:.0} s, seed {}{again}", took.as_secs_f64(), options.seed)
}

/// Prints a line to standard error, unless it is empty.
fn say(text: &str) {
    if !text.is_empty() {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}
