//! `spanwise allow`: consent to run the executor of a model, and `--allow-executor` of the commands that load one.

use super::wrong_model;
use crate::output::{Status, WrongCall, say};
use anyhow::{Context as _, Result};
use spanwise_model::consent::{AllowedExecutors, ExternalExecutor};
use spanwise_model::{ExecutorPolicy, Model, Parser};
use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::PathBuf;

/// Allow the executor of a model to run.
///
/// A model can name a program to start or a server to call for the answers of its programs. Other commands do so only if
/// you trained the model yourself, or allowed it: with --allow-executor for one run, or with this command for good. It
/// shows what would run, and asks. Consent is kept outside of the model, and is for exactly what was shown: it ends when
/// the command, the content of its files, the address, or the name of the variable with its token changes.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise allow runs/home\n  spanwise allow runs/home --yes\n  \
    spanwise allow runs/home --forget")]
pub(crate) struct Args {
    /// The model directory
    model: PathBuf,
    /// Do not ask
    #[arg(long, conflicts_with = "forget")]
    yes: bool,
    /// Withdraw the consent
    #[arg(long)]
    forget: bool,
}

/// The option of commands that load a model.
#[derive(clap::Args)]
pub(crate) struct AllowArgs {
    /// Let the model run its executor (a program or a server that it names) this time; see `spanwise allow`
    #[arg(long)]
    allow_executor: bool,
}

impl AllowArgs {
    pub(crate) fn policy(&self) -> ExecutorPolicy {
        if self.allow_executor { ExecutorPolicy::Allow } else { ExecutorPolicy::Remembered }
    }
}

/// Says why there are no answers, for commands that only count them.
pub(crate) fn say_refusal(parser: &Parser) {
    if let Some(reason) = parser.executor_refusal() {
        say(&format!("note: {reason}"));
    }
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    let model = Model::load(&args.model).map_err(wrong_model)?;
    let place = args.model.display();
    let mut out = io::stdout().lock();
    let Some(executor) = model.external_executor()? else {
        writeln!(out, "{place} runs nothing outside of this program; there is nothing to allow")?;
        return Ok(Status::Success);
    };
    let allowed = AllowedExecutors::of_user()
        .context("there is no directory to remember this in; set SPANWISE_STATE to one")?;
    if args.forget {
        allowed.remove(&executor)?;
        writeln!(out, "the executor of {place} is not allowed to run any more")?;
        return Ok(Status::Success);
    }
    write!(out, "{}", describe(&executor))?;
    out.flush()?;
    if allowed.contains(&executor)? {
        writeln!(out, "it is allowed already")?;
        return Ok(Status::Success);
    }
    if !args.yes && !is_confirmed()? {
        writeln!(out, "not allowed")?;
        return Ok(Status::PartialFailure);
    }
    allowed.add(&executor)?;
    writeln!(out, "allowed; noted in {}", allowed.path().display())?;
    Ok(Status::Success)
}

/// Everything that would run, in full.
fn describe(executor: &ExternalExecutor) -> String {
    let mut text = String::new();
    if let Some(database) = &executor.database {
        let _ = writeln!(text, "the model would read the database\n  {}", database.escape_debug());
        match &executor.token_env {
            Some(name) => {
                let name = name.escape_debug();
                let _ = writeln!(text, "with the password in the environment variable\n  {name}");
            }
            None if !database.starts_with("sqlite:") => {
                text += "with your password for it, if PGPASSWORD or ~/.pgpass has one\n";
            }
            None => {}
        }
        text += "with the statements of its domain file, which only read\n";
        return text;
    }
    match &executor.url {
        Some(url) => {
            let _ = writeln!(text, "the model would send programs to\n  {}", url.escape_debug());
            if let Some(name) = &executor.token_env {
                let name = name.escape_debug();
                let _ = writeln!(text, "with the value of the environment variable\n  {name}");
            }
        }
        None => {
            let _ = writeln!(text, "the model would run\n  {}", executor.command());
            if !executor.files.is_empty() {
                text += "with these files, which the model directory holds as executor-HASH-NAME\n";
            }
            for file in &executor.files {
                let (name, bytes) = (file.word.escape_debug(), file.bytes);
                let _ = writeln!(text, "  {name}  ({bytes} bytes, SHA-256 {})", file.sha256);
            }
        }
    }
    text
}

fn is_confirmed() -> Result<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(WrongCall("--yes is needed where nobody can be asked".to_owned()).into());
    }
    write!(io::stderr().lock(), "allow it from now on? [y/N] ")?;
    let mut reply = String::new();
    io::stdin().lock().read_line(&mut reply)?;
    Ok(matches!(reply.trim().to_lowercase().as_str(), "y" | "yes"))
}
