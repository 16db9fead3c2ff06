//! `spanwise bench`: how fast things are, on this machine.

mod chart;

use crate::output::Done;
use anyhow::Result;

/// Measure speed.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Chart(chart::Args),
}

pub(crate) fn run(args: &Args) -> Result<Done> {
    match &args.command {
        Command::Chart(args) => chart::run(args)?,
    }
    Ok(Done::Well)
}
