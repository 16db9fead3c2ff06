//! `spanwise man`: the help of every command as manual pages.

use super::make_directory;
use crate::output::{Status, say};
use anyhow::Result;
use clap::CommandFactory as _;
use clap_mangen::Man;
use spanwise_domains::data::write_atomic;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Write the manual pages.
///
/// Without --out, the page of `spanwise` itself goes to standard output. With it, the directory gets a page for every
/// command: `spanwise.1`, `spanwise-train.1` and so on.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise man | man -l -\n  spanwise man --out ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// The directory for a page of every command; made if it is not there
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    let mut root = crate::Cli::command();
    // Fills in the full names of subcommands.
    root.build();
    let Some(out) = &args.out else {
        io::stdout().lock().write_all(&page(root)?)?;
        return Ok(Status::Success);
    };
    make_directory(out)?;
    let mut open = vec![root];
    let mut n_pages = 0;
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().filter(|command| command.get_name() != "help").cloned());
        let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        let text = page(command)?;
        write_atomic(&out.join(format!("{name}.1")), |file| file.write_all(&text))?;
        n_pages += 1;
    }
    say(&format!("{n_pages} pages in {}", out.display()));
    Ok(Status::Success)
}

fn page(command: clap::Command) -> Result<Vec<u8>> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut text = Vec::new();
    Man::new(command)
        .title(name.to_uppercase())
        .source(format!("spanwise {}", env!("CARGO_PKG_VERSION")))
        .manual("Spanwise")
        .render(&mut text)?;
    Ok(text)
}
