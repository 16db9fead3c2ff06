//! `spanwise data export`: restores the official text of imported benchmarks.

use super::wrong_file;
use crate::commands::overwrite;
use crate::output::{progress_spinner, say};
use anyhow::{Result, anyhow};
use indicatif::ProgressBar;
use serde_json::json;
use spanwise_domains::data::import::Benchmark;
use spanwise_domains::data::{self, Example, Examples, write_atomic};
use std::io::{self, BufRead, Write as _};
use std::path::PathBuf;

/// Write examples or predictions in the official form of a benchmark.
///
/// The lines are exactly those that `data import` has read. With `--programs`, only the programs are written, so that the
/// predictions of a parser can be compared with official ones: `eval --predictions` writes a file for it.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise data export cogs data/cogs/gen.jsonl --out gen.tsv\n  \
    spanwise data export cogs predictions.jsonl --programs --out predictions.txt")]
pub(crate) struct Args {
    /// The benchmark
    #[arg(value_enum)]
    benchmark: Name,
    /// JSON lines with `utterance`, `program` and the other fields of the benchmark
    file: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Write the programs only; the line of one that is missing, or has no official form, is empty
    #[arg(long)]
    programs: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Name {
    Cogs,
    Atis,
    Overnight,
    Okapi,
}

impl Name {
    fn benchmark(self) -> Benchmark {
        match self {
            Self::Cogs => Benchmark::Cogs,
            Self::Atis => Benchmark::Atis,
            Self::Overnight => Benchmark::Overnight,
            Self::Okapi => Benchmark::Okapi,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let benchmark = args.benchmark.benchmark();
    let examples = data::open(&args.file).map_err(wrong_file)?;
    overwrite::refuse([&args.out], [&args.file])?;
    let spinner = progress_spinner("{spinner} {pos} lines, {per_sec}");
    let lines = lines(args, benchmark, examples, &spinner);
    spinner.finish_and_clear();
    let lines = lines?;
    write_atomic(&args.out, |writer| lines.iter().try_for_each(|line| writeln!(writer, "{line}")))?;
    say(&format!("{} lines to {}", lines.len(), args.out.display()));
    let n_empty = lines.iter().filter(|line| line.is_empty()).count();
    if n_empty > 0 {
        say(&format!("{n_empty} of them are empty: no program, or none that {benchmark} has a form for"));
    }
    if args.json {
        writeln!(io::stdout().lock(), "{}", json!({ "lines": lines.len(), "empty": n_empty }))?;
    }
    Ok(())
}

fn lines<R: BufRead>(
    args: &Args,
    benchmark: Benchmark,
    mut examples: Examples<R>,
    spinner: &ProgressBar,
) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    while let Some(example) = examples.next() {
        let example = example?;
        lines.push(if args.programs {
            // A prediction that is no program of the benchmark is wrong, but others may be right.
            program(benchmark, &example).unwrap_or_default()
        } else {
            let line = benchmark.line(&example);
            line.map_err(|reason| anyhow!("{}:{}: {reason}", args.file.display(), examples.line()))?
        });
        spinner.inc(1);
    }
    Ok(lines)
}

/// The official text of a program, on one line.
fn program(benchmark: Benchmark, example: &Example) -> Option<String> {
    let program = benchmark.official_program(&example.utterance, example.program.as_deref()?).ok()?;
    // Texts of Okapi may hold a line end, which would shift all lines after it.
    (!program.contains(['\n', '\r'])).then_some(program)
}
