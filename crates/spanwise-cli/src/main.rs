//! The `spanwise` command: parses arguments, calls the libraries, prints the results.
//!
//! This is the only crate that prints. Exit codes: 0 for success, 1 for invalid input or a failure, 2 for a wrong call.

mod commands;
mod output;
mod signals;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Natural language to programs, with a tree over the words that explains every answer.
#[derive(Parser)]
#[command(name = "spanwise", version, propagate_version = true, max_term_width = 110)]
#[command(
    after_help = "Examples:\n  spanwise demo\n  spanwise new my-domain\n  spanwise train geo-iid --data data --encoder encoders/all-MiniLM-L6-v2 --out runs/geo\n  \
    spanwise parse runs/geo \"what states border texas\"\n  spanwise serve runs/geo\n  spanwise check my-domain.toml train.jsonl\n  \
    spanwise exec geo \"answer(capital(loc_2(stateid('texas'))))\"\n  \
    spanwise data scan --out data/scan"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(commands::demo::Args),
    New(commands::new::Args),
    InferDomain(commands::infer_domain::Args),
    Check(commands::check::Args),
    Exec(commands::exec::Args),
    Data(commands::data::Args),
    Bench(commands::bench::Args),
    Train(commands::train::Args),
    Eval(commands::eval::Args),
    Parse(commands::parse::Args),
    Explain(commands::explain::Args),
    Allow(commands::allow::Args),
    Reproduce(commands::reproduce::Args),
    Calibrate(commands::calibrate::Args),
    Update(commands::update::Args),
    Serve(commands::serve::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
}

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| {
        // The error quotes arguments, which may hold control characters.
        if std::env::args_os().any(|arg| arg.to_string_lossy().chars().any(char::is_control)) {
            output::say(error.render().to_string().trim_end());
            std::process::exit(error.exit_code());
        }
        error.exit()
    });
    signals::survive_size_limit();
    let outcome = match cli.command {
        Command::Demo(args) => commands::demo::run(&args),
        Command::New(args) => commands::new::run(&args),
        Command::InferDomain(args) => commands::infer_domain::run(&args),
        Command::Check(args) => commands::check::run(&args),
        Command::Exec(args) => commands::exec::run(&args),
        Command::Data(args) => commands::data::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Eval(args) => commands::eval::run(&args),
        Command::Parse(args) => commands::parse::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Allow(args) => commands::allow::run(&args),
        Command::Reproduce(args) => commands::reproduce::run(&args),
        Command::Calibrate(args) => commands::calibrate::run(&args),
        Command::Update(args) => commands::update::run(&args),
        Command::Serve(args) => commands::serve::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    };
    output::finish(outcome)
}
