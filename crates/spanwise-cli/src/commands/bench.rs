//! `spanwise bench`: how fast things are, on this machine.

mod chart;
mod encoder;
mod large;
mod train;

use crate::output::Status;
use anyhow::Result;

/// Measure speed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise bench chart\n  spanwise bench encoder --model runs/geo")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Chart(chart::Args),
    Encoder(encoder::Args),
    Train(train::Args),
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    match &args.command {
        Command::Chart(args) => chart::run(args)?,
        Command::Encoder(args) => encoder::run(args)?,
        Command::Train(args) => train::run(args)?,
    }
    Ok(Status::Success)
}
