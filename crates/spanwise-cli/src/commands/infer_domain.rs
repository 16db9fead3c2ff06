//! `spanwise infer-domain`: guesses a first domain file from examples.

use super::data::read_examples;
use super::make_directory;
use super::new;
use crate::output::{Columns, Status, WrongCall, percent, progress_spinner, write_text};
use anyhow::{Result, bail};
use serde_json::json;
use spanwise_domains::data::{Example, write_atomic};
use spanwise_domains::infer::{InferError, Inferred, Stage, infer};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Guess a first domain file from examples, to be edited.
///
/// Types follow from where constants occur in the programs, entities and literals from quoted names and numbers, phrases from
/// which words occur with which constants. The directory gets `domain.toml`, with comments on what is uncertain, and a table for
/// each large class of entities. The file loads, types the programs, and a parser can be trained from it at once.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise infer-domain train.jsonl --out my-domain\n  \
    spanwise check my-domain/domain.toml train.jsonl\n  spanwise infer-domain a.jsonl b.jsonl --out my-domain --json")]
pub(crate) struct Args {
    /// Files of JSON lines with `utterance` (or `question`) and `program`
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// The directory to make; its last part is the name of the domain
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    let name = new::name(&args.out).map_err(WrongCall)?;
    new::refuse_unless_free(&args.out)?;
    let placed = read_examples(&args.data)?;
    let examples: Vec<Example> = placed.iter().map(|one| one.example.clone()).collect();
    let spinner = progress_spinner("{spinner} {msg} {elapsed}");
    let inferred = infer(name, &examples, &mut |stage| spinner.set_message(message(stage)));
    spinner.finish_and_clear();
    let inferred = match inferred {
        Ok(inferred) => inferred,
        Err(InferError::Program { example, reason }) => {
            let one = &placed[example];
            bail!("{}:{}: the program cannot be read: {reason}", one.file, one.line);
        }
        Err(error) => return Err(error.into()),
    };
    let domain = args.out.join("domain.toml");
    make_directory(&args.out)?;
    for (path, text) in &inferred.tables {
        write_atomic(&args.out.join(path), |file| file.write_all(text.as_bytes()))?;
    }
    write_atomic(&domain, |file| file.write_all(inferred.source.as_bytes()))?;
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", as_json(args, &inferred))?;
    } else {
        write_text(&mut out, &as_text(args, &inferred))?;
    }
    Ok(Status::Success)
}

fn message(stage: Stage) -> &'static str {
    match stage {
        Stage::Programs => "reading programs",
        Stage::Types => "finding types",
        Stage::Words => "aligning words",
        Stage::Check => "checking the programs",
    }
}

fn share(inferred: &Inferred) -> Option<f64> {
    (inferred.programs > 0).then(|| 100.0 * inferred.typed as f64 / inferred.programs as f64)
}

fn as_text(args: &Args, inferred: &Inferred) -> String {
    let mut table = Columns::new(["guessed", "number"]);
    let mut row = |what: &str, cell: String| table.row([what.to_owned(), cell]);
    row("types", inferred.types.to_string());
    row("constants", inferred.constants.to_string());
    row("classes of entities and literals", inferred.classes.to_string());
    row("phrases", inferred.phrases.to_string());
    row("programs", inferred.programs.to_string());
    row("  well-typed", percent(share(inferred)));
    row("  well-typed where held out", percent(inferred.held_out.map(|share| 100.0 * share)));
    let mut out = table.render();
    for (what, names) in [
        ("inserted where no words are aligned to them", &inferred.implicit),
        ("without a phrase", &inferred.without_phrase),
    ] {
        if !names.is_empty() {
            out += &format!("{what}: {}\n", names.join(", "));
        }
    }
    let place = args.out.join("domain.toml").display().to_string();
    let data: Vec<String> = args.data.iter().map(|path| path.display().to_string()).collect();
    out + &format!("{place}: read the comments, edit it, then\n  spanwise check {place} {}\n", data.join(" "))
}

fn as_json(args: &Args, inferred: &Inferred) -> serde_json::Value {
    let tables = inferred.tables.iter().map(|(path, _)| path).collect::<Vec<_>>();
    json!({
        "domain": args.out.join("domain.toml").display().to_string(),
        "tables": tables,
        "types": inferred.types,
        "constants": inferred.constants,
        "classes": inferred.classes,
        "phrases": inferred.phrases,
        "programs": inferred.programs,
        "typed": inferred.typed,
        "held_out": inferred.held_out,
        "implicit": inferred.implicit,
        "without_phrase": inferred.without_phrase,
    })
}
