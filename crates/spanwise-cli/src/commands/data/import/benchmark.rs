//! Imports benchmarks whose files have one example on each line: COGS, ATIS, Overnight and Okapi.

use super::{about, read};
use crate::commands::data::write_files;
use crate::commands::{make_directory, overwrite};
use crate::output::{WrongCall, progress_bar};
use anyhow::Result;
use serde_json::{Value, json};
use spanwise_domains::data::Example;
use spanwise_domains::data::import::Benchmark;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The files of a benchmark, and where they go.
#[derive(clap::Args)]
pub(crate) struct Files {
    /// The official files, with tabs between the fields
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The file to write; with several files, the directory, in which each keeps its name with the ending .jsonl
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(benchmark: Benchmark, args: &Files) -> Result<()> {
    let outputs = outputs(&args.files, &args.out)?;
    overwrite::refuse(&outputs, &args.files)?;
    // A missing file is reported before any error of content.
    let texts: Vec<String> = args.files.iter().map(|file| read(file)).collect::<Result<_>>()?;
    let n_lines = texts.iter().map(|text| text.lines().count()).sum();
    let bar = progress_bar(n_lines, "{bar:30} {pos}/{len} {per_sec} {eta}");
    let converted = args.files.iter().zip(&texts).map(|(file, text)| {
        let examples: Result<Vec<Example>, _> = benchmark.examples(text).inspect(|_| bar.inc(1)).collect();
        examples.map_err(|error| about(file, error))
    });
    let converted: Result<Vec<Vec<Example>>> = converted.collect();
    bar.finish_and_clear();
    let written: Vec<(PathBuf, Vec<Example>)> = outputs.into_iter().zip(converted?).collect();
    let report = as_json(&args.files, &written);
    if args.files.len() > 1 {
        make_directory(&args.out)?;
    }
    write_files(written)?;
    if args.json {
        writeln!(io::stdout().lock(), "{report}")?;
    }
    Ok(())
}

/// The file that each file becomes.
fn outputs(files: &[PathBuf], out: &Path) -> Result<Vec<PathBuf>> {
    if let [_] = files {
        return Ok(vec![out.to_owned()]);
    }
    let mut outputs: Vec<PathBuf> = Vec::new();
    for file in files {
        let mut name = file.file_stem().unwrap_or_default().to_owned();
        name.push(".jsonl");
        let output = out.join(name);
        if let Some(at) = outputs.iter().position(|other| *other == output) {
            let [one, other, output] = [&files[at], file, &output].map(|path| path.display());
            let message = format!("{one} and {other} would both become {output}; import them one at a time");
            return Err(WrongCall(message).into());
        }
        outputs.push(output);
    }
    Ok(outputs)
}

fn as_json(files: &[PathBuf], written: &[(PathBuf, Vec<Example>)]) -> Value {
    let text = |path: &Path| path.display().to_string();
    let file = |(from, (to, examples)): (&PathBuf, &(PathBuf, Vec<Example>))| json!({ "file": text(from), "out": text(to), "examples": examples.len() });
    let n_examples: usize = written.iter().map(|(_, examples)| examples.len()).sum();
    json!({ "examples": n_examples, "files": files.iter().zip(written).map(file).collect::<Vec<_>>() })
}
