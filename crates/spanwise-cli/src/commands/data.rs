//! `spanwise data`: makes, generates, imports, exports, annotates, reviews, splits and describes data sets.

mod annotate;
mod export;
pub(crate) mod generate;
mod import;
mod noise;
mod review;
mod scan;
mod split;
mod stats;

use crate::output::{Status, WrongCall, say};
use anyhow::{Context as _, Result};
use spanwise_domains::data::{self, DataError, Example, write_all_atomic, write_examples};
use spanwise_lang::{Domain, Shape, TermId, Terms};
use std::path::PathBuf;
use std::rc::Rc;

/// Make, generate, import, export, annotate, review, split and describe data sets.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise data scan --out data/scan\n  \
    spanwise data stats train.jsonl test.jsonl --domain geo")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Scan(scan::Args),
    Annotate(annotate::Args),
    Export(export::Args),
    Generate(generate::Args),
    Import(import::Args),
    Noise(noise::Args),
    Review(review::Args),
    Split(split::Args),
    Stats(stats::Args),
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    match &args.command {
        Command::Scan(args) => scan::run(args)?,
        Command::Annotate(args) => annotate::run(args)?,
        Command::Export(args) => export::run(args)?,
        Command::Generate(args) => generate::run(args)?,
        Command::Import(args) => import::run(args)?,
        Command::Noise(args) => noise::run(args)?,
        Command::Review(args) => review::run(args)?,
        Command::Split(args) => split::run(args)?,
        Command::Stats(args) => stats::run(args)?,
    }
    Ok(Status::Success)
}

/// An error of a data file: one that cannot be opened is a wrong call, other errors are about its content.
pub(crate) fn wrong_file(error: DataError) -> anyhow::Error {
    match error {
        DataError::Open { .. } => WrongCall(error.to_string()).into(),
        _ => error.into(),
    }
}

/// An example with its file and line.
pub(crate) struct Placed {
    pub(crate) example: Example,
    pub(crate) file: Rc<str>,
    pub(crate) line: usize,
}

/// Reads all examples of some files, in order.
pub(crate) fn read_examples(paths: &[PathBuf]) -> Result<Vec<Placed>> {
    let mut all = Vec::new();
    for path in paths {
        let file: Rc<str> = path.display().to_string().into();
        let mut examples = data::open(path).map_err(wrong_file)?;
        while let Some(example) = examples.next() {
            all.push(Placed { example: example?, file: Rc::clone(&file), line: examples.line() });
        }
    }
    Ok(all)
}

/// Writes a set of files and reports each. A file without examples could not be read again, so it is not written, and an
/// old file of that name is removed.
fn write_files(files: Vec<(PathBuf, Vec<Example>)>) -> Result<()> {
    let (empty, full): (Vec<_>, Vec<_>) = files.into_iter().partition(|(_, examples)| examples.is_empty());
    write_all_atomic(&full, |examples, writer| write_examples(writer, examples))?;
    for (path, examples) in &full {
        say(&format!("{} examples to {}", examples.len(), path.display()));
    }
    for (path, _) in &empty {
        if path.is_file() {
            std::fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        say(&format!("no examples for {}, which is not written", path.display()));
    }
    Ok(())
}

/// The entity class of a term. With a domain, one of its classes; without, a quoted name and any call whose arguments are
/// all quoted names, numbers and wildcards count as entities.
fn class_of(domain: Option<&Domain>, terms: &Terms, term: TermId) -> Option<String> {
    if let Some(domain) = domain {
        return domain.class_of(terms, term).map(|class| domain.classes()[class].name.clone());
    }
    let is_cell = |&arg: &TermId| matches!(terms.shape(arg), Shape::Quoted | Shape::Number | Shape::Wildcard);
    let args = terms.args(term);
    match terms.shape(term) {
        Shape::Quoted => Some("name".to_owned()),
        Shape::Call if !args.is_empty() && args.iter().all(is_cell) => Some(terms.head_text(term).to_owned()),
        _ => None,
    }
}
