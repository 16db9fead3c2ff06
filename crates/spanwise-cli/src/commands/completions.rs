//! `spanwise completions`: scripts that let a shell complete our commands.

use crate::output::Status;
use anyhow::Result;
use clap::CommandFactory as _;
use clap_complete::Shell;
use std::io::{self, Write as _};

/// Print a script with which your shell completes the commands and options of spanwise.
///
/// Where the script belongs depends on the shell; the examples are the usual places.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    spanwise completions bash > ~/.local/share/bash-completion/completions/spanwise\n  \
    spanwise completions zsh > ~/.zfunc/_spanwise\n  \
    spanwise completions fish > ~/.config/fish/completions/spanwise.fish\n  \
    spanwise completions powershell >> $PROFILE")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    // Into memory first: the generator panics where a stream is closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut crate::Cli::command(), "spanwise", &mut script);
    io::stdout().lock().write_all(&script)?;
    Ok(Status::Success)
}
