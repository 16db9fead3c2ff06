//! `spanwise data`: data sets in and out.

mod import;
mod scan;
mod split;
mod stats;

use crate::output::{Done, WrongCall, say};
use anyhow::Result;
use spanwise_domains::data::{DataError, Example, write_all_atomic, write_examples};
use spanwise_lang::{Domain, Shape, TermId, Terms};
use std::path::PathBuf;

/// Make, import, split and describe data sets.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Scan(scan::Args),
    #[command(subcommand)]
    Import(import::Command),
    Split(split::Args),
    Stats(stats::Args),
}

pub(crate) fn run(args: &Args) -> Result<Done> {
    match &args.command {
        Command::Scan(args) => scan::run(args)?,
        Command::Import(command) => import::run(command)?,
        Command::Split(args) => split::run(args)?,
        Command::Stats(args) => stats::run(args)?,
    }
    Ok(Done::Well)
}

/// A data file that cannot be opened makes the call wrong; anything else is the file's fault.
pub(crate) fn wrong_file(error: DataError) -> anyhow::Error {
    match error {
        DataError::Open { .. } => WrongCall(error.to_string()).into(),
        _ => error.into(),
    }
}

/// All examples of some files, one after the other.
fn read_examples(paths: &[PathBuf]) -> Result<Vec<Example>> {
    let mut all = Vec::new();
    for path in paths {
        all.extend(spanwise_domains::data::read(path).map_err(wrong_file)?);
    }
    Ok(all)
}

/// Writes files that belong together and says what was written.
fn write_files(files: &[(PathBuf, Vec<Example>)]) -> Result<()> {
    write_all_atomic(files, |examples, writer| write_examples(writer, examples))?;
    for (path, examples) in files {
        say(&format!("{} examples to {}", examples.len(), path.display()));
    }
    Ok(())
}

/// The class of a term that stands for one thing. With a domain, its entity classes; without, a quoted name
/// and any call whose arguments are nothing but names in quotes, numbers and holes.
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
