//! `cargo run -p xtask -- audit` looks for advisories about dependencies, with `cargo deny` or `cargo audit`.
//!
//! Where neither is installed, or their database cannot be reached, it says so and succeeds: nothing is known then.

use crate::root;
use std::process::{Command, ExitCode};

/// What the tools print if their database of advisories cannot be had.
const UNREACHABLE: &[&str] = &[
    "failed to fetch advisory database",
    "failed to load advisory database",
    "couldn't fetch advisory database",
    "error loading advisory database",
    "could not resolve host",
    "Could not resolve host",
];

pub(crate) fn run() -> ExitCode {
    // Licenses, bans and sources need no database.
    let offline = ["deny", "--offline", "check", "bans", "licenses", "sources"];
    if is_installed("deny") {
        let Some((is_good, _)) = cargo(&offline) else { return ExitCode::from(1) };
        if !is_good {
            return ExitCode::from(1);
        }
        return advisories(&["deny", "check", "advisories"]);
    }
    if is_installed("audit") {
        return advisories(&["audit"]);
    }
    eprintln!("skipped: neither cargo-deny nor cargo-audit is installed (cargo install cargo-deny)");
    ExitCode::SUCCESS
}

fn advisories(args: &[&str]) -> ExitCode {
    match cargo(args) {
        Some((true, _)) => ExitCode::SUCCESS,
        Some((false, text)) if UNREACHABLE.iter().any(|part| text.contains(part)) => {
            eprintln!("skipped: the database of advisories cannot be reached");
            ExitCode::SUCCESS
        }
        _ => ExitCode::from(1),
    }
}

fn is_installed(tool: &str) -> bool {
    let found = Command::new("cargo").args([tool, "--version"]).output();
    found.is_ok_and(|output| output.status.success())
}

/// Runs cargo in the repository, and prints what it says. Whether it succeeded, and its text.
fn cargo(args: &[&str]) -> Option<(bool, String)> {
    let output = Command::new("cargo").args(args).current_dir(root()).output().ok()?;
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    eprintln!("cargo {}\n{}", args.join(" "), text.trim_end());
    Some((output.status.success(), text))
}
