//! `cargo run -p xtask` checks what the compiler does not: the dependencies between the crates, which crates touch the
//! outside world, that documents name files that exist, and the words they are written in. The same checks run as tests.
//!
//! `torture` attacks a binary, and `audit` looks for advisories about dependencies.

#![allow(clippy::print_stderr, reason = "this is a command")]

mod audit;
mod dependencies;
mod links;
mod sources;
mod torture;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        None => check(),
        Some((command, rest)) if command == "torture" => torture::run(rest),
        Some((command, [])) if command == "audit" => audit::run(),
        Some(_) => {
            eprintln!("usage: cargo run -p xtask [-- torture OPTIONS | -- audit]");
            ExitCode::from(2)
        }
    }
}

fn check() -> ExitCode {
    let problems = [tidy(), words::check(&files())].concat();
    for problem in &problems {
        eprintln!("{problem}");
    }
    ExitCode::from(u8::from(!problems.is_empty()))
}

/// Everything that is wrong with the structure of the repository, one line each.
fn tidy() -> Vec<String> {
    let files = files();
    [dependencies::check(&files), sources::check(&files), links::check(&files)].concat()
}

/// A text file of the repository.
struct File {
    /// From the root of the repository, with `/` between the parts.
    path: String,
    text: String,
}

impl File {
    fn extension(&self) -> &str {
        Path::new(&self.path).extension().and_then(|extension| extension.to_str()).unwrap_or_default()
    }

    /// The crate that the file belongs to: `spanwise-core` for `crates/spanwise-core/src/lib.rs`.
    fn package(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The directories that hold what people write; others hold what commands have written.
const DIRECTORIES: &[&str] = &[".ci", ".github", "configs", "crates", "docs", "examples", "tools", "xtask"];

/// The kinds of files that are looked at. Examples in `.jsonl` files are data.
const EXTENSIONS: &[&str] = &["rs", "md", "toml", "py", "js", "mjs", "html", "css", "yml"];

/// Every text file of the repository, sorted by path.
fn files() -> Vec<File> {
    let root = root();
    let is_read = |path: &Path| {
        path.extension().is_some_and(|extension| EXTENSIONS.iter().any(|known| extension == *known))
    };
    let mut found: Vec<PathBuf> =
        entries(&root).into_iter().filter(|path| path.is_file() && is_read(path)).collect();
    let mut open: Vec<PathBuf> = DIRECTORIES.iter().map(|directory| root.join(directory)).collect();
    while let Some(directory) = open.pop() {
        for path in entries(&directory) {
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if is_read(&path) {
                found.push(path);
            }
        }
    }
    let mut files: Vec<File> = found.iter().map(|path| read(&root, path)).collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn read(root: &Path, path: &Path) -> File {
    let parts = path.strip_prefix(root).expect("it was found below the root").components();
    let parts: Vec<_> = parts.map(|part| part.as_os_str().to_string_lossy()).collect();
    File { path: parts.join("/"), text: fs::read_to_string(path).unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    #[test]
    fn dependencies_purity_and_links_are_as_documented() {
        let problems = super::tidy();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn no_file_uses_a_word_that_has_a_better_one() {
        let problems = super::words::check(&super::files());
        assert!(problems.is_empty(), "{} uses:\n{}", problems.len(), problems.join("\n"));
    }
}
