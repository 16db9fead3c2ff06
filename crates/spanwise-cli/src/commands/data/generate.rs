//! `spanwise data generate`: examples from the typed grammar of a domain.

use crate::commands::{domain_help, load, overwrite};
use crate::output::{Columns, WrongCall, progress_bar, say, write_text};
use anyhow::Result;
use rayon::prelude::*;
use serde_json::{Value, json};
use spanwise_chart::candidates::PredicatePlacement;
use spanwise_chart::derivable::Derivability;
use spanwise_core::{Moment, Utterance};
use spanwise_domains::data::{Example, write_atomic, write_examples};
use spanwise_domains::exec::{self, Executor};
use spanwise_domains::generate::{Answered, Candidate, Report, Settings, Verdict, answer, generate};
use spanwise_domains::load::Spec;
use spanwise_lang::Domain;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The file that is written in a directory.
const FILE: &str = "generated.jsonl";

/// Make examples from a domain file: well-typed programs, said in varied words.
///
/// Programs are drawn from the root types, so that every constant and every signature is covered, and for each pair in
/// `contrasts` the same program with both. The words come from the keys `say` of the domain file; where there are none,
/// from its phrases and names. Utterances with two programs, programs that cannot be derived from their words, and programs
/// whose answer is empty are dropped. The same seed gives the same file. `docs/generate.md` says how to write `say`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    spanwise data generate my-domain.toml --n 2000 --out generated.jsonl\n  \
    spanwise data generate my-domain.toml --now 2026-03-02 --seed 2 --out data/generated\n  \
    spanwise train my.toml --out runs/mine --set data.generated=generated.jsonl\n\n\
    Generated examples can also be all there is: name the file under `train` in [data].")]
pub(crate) struct Args {
    #[arg(help = domain_help())]
    domain: String,
    /// How many examples
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    n: u32,
    /// The seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A file, or a directory for generated.jsonl
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// The most levels of constants in a program, unless a signature needs more
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=50))]
    depth: u8,
    /// The date that words such as `yesterday` refer to (2026-03-02); without it, all dates are absolute
    #[arg(long, value_name = "DATE")]
    now: Option<Moment>,
    /// Do not run programs, and keep those without an answer
    #[arg(long)]
    no_execute: bool,
    /// Do not check that programs can be derived from their words
    #[arg(long)]
    no_derive: bool,
    /// Leave articles, courtesies, case and punctuation as `say` has them
    #[arg(long)]
    plain: bool,
    /// Stop after so many seconds, with fewer examples. What is written then depends on the machine
    #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
    time_limit: u64,
    /// Print the report as one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let spec = Spec::parse(&args.domain);
    let domain = load(spec)?;
    let path = if is_directory(&args.out) { args.out.join(FILE) } else { args.out.clone() };
    overwrite::refuse([&path], overwrite::domain_files(spec, &domain))?;
    let executor = match args.no_execute {
        true => None,
        false => exec::open(&domain, spec.directory())?,
    };
    let settings = Settings {
        n: args.n as usize,
        seed: args.seed,
        depth: usize::from(args.depth),
        now: args.now,
        is_varied: !args.plain,
    };
    let mut check = Check::new(&domain, executor.as_deref(), !args.no_derive);
    let (examples, report) = drawn(&domain, &mut check, &settings, Duration::from_secs(args.time_limit));
    if examples.is_empty() {
        anyhow::bail!("{}", nothing(&report));
    }
    if let Some(directory) = path.parent().filter(|path| !path.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory)
            .map_err(|error| WrongCall(format!("cannot make {}: {error}", directory.display())))?;
    }
    write_atomic(&path, |file| write_examples(file, &examples))?;
    say(&format!("{} examples to {}", examples.len(), path.display()));
    if let Some(reason) = &check.no_context {
        say(&format!("programs were not run, since they need a context: {reason}"));
    }
    let text = if args.json { format!("{}\n", as_json(&report)) } else { as_text(&report) };
    let mut out = io::stdout().lock();
    if args.json {
        io::Write::write_all(&mut out, text.as_bytes())?
    } else {
        write_text(&mut out, &text)?
    }
    Ok(())
}

/// Examples from the grammar of a domain, checked and run like those of the command.
pub(crate) fn examples(
    domain: &Domain,
    executor: Option<&dyn Executor>,
    settings: &Settings,
    limit: Duration,
) -> (Vec<Example>, Report) {
    drawn(domain, &mut Check::new(domain, executor, true), settings, limit)
}

/// Examples that pass a check, with a progress bar.
fn drawn(
    domain: &Domain,
    check: &mut Check<'_>,
    settings: &Settings,
    limit: Duration,
) -> (Vec<Example>, Report) {
    let bar = progress_bar(settings.n, "generating {bar:30} {pos}/{len}, {eta} left");
    let started = Instant::now();
    let made = generate(domain, settings, &mut |batch| check.verdicts(batch), &mut |done| {
        bar.set_position(done as u64);
        started.elapsed() < limit
    });
    bar.finish_and_clear();
    made
}

/// Whether a path is meant as a directory: it is one, or its name has no extension.
fn is_directory(path: &Path) -> bool {
    path.is_dir() || (!path.exists() && path.extension().is_none())
}

/// Why nothing was generated, and what helps.
fn nothing(report: &Report) -> String {
    let dropped: Vec<String> = report.dropped.iter().map(|(reason, n)| format!("{reason} ({n})")).collect();
    let failure =
        report.first_failure.as_ref().map_or(String::new(), |first| format!("; the first failure: {first}"));
    let dropped = if dropped.is_empty() { "no program can be said".to_owned() } else { dropped.join(", ") };
    format!(
        "no example could be generated: {dropped}{failure} (hint: `--no-execute` and `--no-derive` leave out the checks, \
         `say` gives words to constants)"
    )
}

/// Checks candidates on all cores.
struct Check<'a> {
    domain: &'a Domain,
    executor: Option<&'a dyn Executor>,
    derivability: Option<Derivability<'a>>,
    /// Why programs are not run any more.
    no_context: Option<String>,
}

impl<'a> Check<'a> {
    fn new(domain: &'a Domain, executor: Option<&'a dyn Executor>, derives: bool) -> Self {
        let derivability = derives.then(|| Derivability::new(domain, PredicatePlacement::Anywhere));
        Self { domain, executor, derivability, no_context: None }
    }

    fn verdicts(&mut self, batch: &[Candidate]) -> Vec<Verdict> {
        let executor = self.executor.filter(|_| self.no_context.is_none());
        let judged: Vec<Answered> =
            batch.par_iter().map(|candidate| self.judged(executor, candidate)).collect();
        let verdict = |answered: Answered| match answered {
            Answered::Ran(verdict) => verdict,
            Answered::NoContext(reason) => {
                self.no_context.get_or_insert(reason);
                Verdict::Good
            }
        };
        judged.into_iter().map(verdict).collect()
    }

    fn judged(&self, executor: Option<&dyn Executor>, candidate: &Candidate) -> Answered {
        if let Some(derivability) = &self.derivability {
            let mut terms = self.domain.new_terms();
            let utterance = Utterance::new(candidate.utterance.as_str()).said_at(candidate.now);
            let Ok(program) = terms.parse(&candidate.program) else {
                return Answered::Ran(Verdict::Underivable("the program cannot be read".to_owned()));
            };
            if let Err(cause) = derivability.first_setting(&utterance, &terms, program) {
                return Answered::Ran(Verdict::Underivable(cause.kind().to_owned()));
            }
        }
        match executor {
            Some(executor) => answer(self.domain, executor, candidate),
            None => Answered::Ran(Verdict::Good),
        }
    }
}

fn as_text(report: &Report) -> String {
    let mut text = format!("{} examples, {} different programs\n", report.examples, report.programs);
    if let Some(reason) = &report.short_of {
        text += &format!("fewer than asked for: {reason}\n");
    }
    let mut table = Columns::new(["constant or class", "signature", "examples"]);
    for one in &report.coverage {
        table.row([one.name.clone(), one.signature.clone(), one.count.to_string()]);
    }
    text += &table.render();
    for one in report.coverage.iter().filter(|one| one.empty > 0) {
        text += &format!("{}: {} examples with an empty answer; no other was found\n", one.name, one.empty);
    }
    for one in &report.coverage {
        if let Some(reason) = &one.reason {
            text += &format!("no example of {} ({}): {reason}\n", one.name, one.signature);
        }
    }
    for (pair, n) in &report.contrasts {
        text += &format!("contrasting pairs {pair}: {n}\n");
    }
    for (reason, n) in &report.dropped {
        text += &format!("dropped: {reason}: {n}\n");
    }
    if let Some(first) = &report.first_failure {
        text += &format!("the first that could not be evaluated: {first}\n");
    }
    text
}

fn as_json(report: &Report) -> Value {
    let coverage: Vec<Value> = report
        .coverage
        .iter()
        .map(|one| {
            json!({
                "name": one.name,
                "signature": one.signature,
                "examples": one.count,
                "empty": one.empty,
                "reason": one.reason,
            })
        })
        .collect();
    json!({
        "examples": report.examples,
        "programs": report.programs,
        "short_of": report.short_of,
        "coverage": coverage,
        "contrasts": report.contrasts,
        "dropped": report.dropped,
        "first_failure": report.first_failure,
    })
}
