//! One file per subcommand.

pub(crate) mod allow;
pub(crate) mod bench;
pub(crate) mod calibrate;
pub(crate) mod check;
pub(crate) mod completions;
mod context;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod exec;
pub(crate) mod explain;
mod format;
pub(crate) mod infer_domain;
mod lines;
pub(crate) mod man;
pub(crate) mod new;
mod now;
mod overwrite;
pub(crate) mod parse;
mod picture;
mod progress;
pub(crate) mod reproduce;
pub(crate) mod serve;
pub(crate) mod train;
pub(crate) mod update;
mod withhold;

use crate::output::{WrongCall, say};
use crate::signals;
use anyhow::{Context, Result};
use spanwise_domains::exec::Executor;
use spanwise_domains::load::{LoadError, Spec, builtin_list};
use spanwise_domains::text::{self, TextError};
use spanwise_lang::domain::ExecutorChoice;
use spanwise_lang::{Domain, TermId, Terms};
use spanwise_model::{ExecutorPolicy, ModelError, Parser};
use spanwise_nn::Tokenizer;
use std::path::Path;

/// Help text shared by every argument that names a domain.
pub(crate) fn domain_help() -> String {
    format!(
        "A built-in domain ({}) or a domain file; NAME@SYSTEM picks one of its type systems",
        builtin_list()
    )
}

/// Loads the domain that an argument names.
pub(crate) fn domain(spec: &str) -> Result<Domain> {
    load(Spec::parse(spec))
}

/// Loads the domain that a spec names; one that does not exist is a wrong call.
fn load(spec: Spec<'_>) -> Result<Domain> {
    spec.load().map_err(|error| match error {
        LoadError::Invalid(_) => error.into(),
        _ => WrongCall(error.to_string()).into(),
    })
}

/// Opens the executor of a domain; a domain without one is a wrong call.
fn executor(domain: &Domain, spec: Spec<'_>) -> Result<Box<dyn Executor>> {
    if matches!(domain.executor(), ExecutorChoice::Command { .. }) {
        signals::stop_executors();
    }
    let executor = spanwise_domains::exec::open(domain, spec.directory())?;
    executor.ok_or_else(|| {
        let name = domain.name();
        WrongCall(format!("the domain {name} has no [executor], so its programs have no value")).into()
    })
}

/// Refuses an ill-typed program before it reaches an executor outside of this process, which need not expect one. Executors
/// inside this process evaluate whatever has a value.
pub(crate) fn check_types(domain: &Domain, terms: &Terms, program: TermId) -> Result<(), String> {
    match domain.executor() {
        ExecutorChoice::None | ExecutorChoice::Builtin(_) => Ok(()),
        ExecutorChoice::Command { .. } | ExecutorChoice::Url { .. } | ExecutorChoice::Sql(_) => {
            let problem = domain.analyze(terms, program).err();
            problem.map_or(Ok(()), |problem| Err(problem.describe(domain, terms)))
        }
    }
}

/// Loads the model in a directory; a directory without one is a wrong call.
pub(crate) fn parser(directory: &Path, policy: ExecutorPolicy) -> Result<Parser> {
    // The executor of the model may be a separate process.
    signals::stop_executors();
    let parser = Parser::load_with(directory, policy).map_err(wrong_model)?;
    parser.model().warnings().iter().for_each(|text| say(&format!("warning: {text}")));
    Ok(parser)
}

/// A directory without a model is a wrong call.
fn wrong_model(error: ModelError) -> anyhow::Error {
    match error {
        ModelError::Missing { .. } => WrongCall(error.to_string()).into(),
        _ => error.into(),
    }
}

/// Loads the tokenizer in a directory; a directory without one is a wrong call.
pub(crate) fn tokenizer(directory: &Path) -> Result<Tokenizer> {
    Tokenizer::from_dir(directory).map_err(|error| WrongCall(error.to_string()).into())
}

/// Parses an argument that is a probability.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err("expected a number from 0 to 1, such as 0.5".to_owned()),
    }
}

/// Reads a regular file of at most `limit` bytes, without its byte order mark.
pub(crate) fn read_file(path: &Path, limit: u64) -> Result<String> {
    read(path, text::Kind::Regular, limit)
}

/// The same for a file that may also be a pipe.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String> {
    read(path, text::Kind::Stream, limit)
}

fn read(path: &Path, kind: text::Kind, limit: u64) -> Result<String> {
    text::read_text(path, kind, limit).map_err(|error| match error {
        TextError::NotUtf8 { line } => anyhow::anyhow!("{}:{line}: not valid UTF-8", path.display()),
        _ => WrongCall(format!("cannot read {}: {error}", path.display())).into(),
    })
}

/// Makes a directory for outputs.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).with_context(|| format!("cannot make the directory {}", path.display()))
}
