//! Checks that every file a document names exists: links in Markdown, and paths in backquotes.

use crate::{File, root};
use std::path::Path;

/// What a path in backquotes begins with, from the root of the repository.
const STARTS: &[&str] =
    &["crates/", "docs/", "configs/", "tools/", "xtask/", "examples/", ".ci/", ".github/"];

/// Documents about the past, which may name files that are gone.
const HISTORY: &[&str] = &["CHANGELOG.md", "EXPERIMENTS.md", "docs/notebook/"];

pub(crate) fn check(files: &[File]) -> Vec<String> {
    let root = root();
    let mut problems = Vec::new();
    // Documents inside crates are data of tests and of `spanwise new`.
    let is_document = |file: &&File| file.extension() == "md" && !file.path.starts_with("crates/");
    for file in files.iter().filter(is_document) {
        let directory = root.join(Path::new(&file.path).parent().unwrap_or(Path::new("")));
        let links = links(&file.text).filter(|link| !directory.join(link).exists());
        problems.extend(links.map(|link| format!("{} links to {link}, which does not exist", file.path)));
        if HISTORY.iter().any(|history| file.path.starts_with(history)) {
            continue;
        }
        let paths = paths(&file.text).filter(|path| !root.join(path).exists());
        problems.extend(paths.map(|path| format!("{} names `{path}`, which does not exist", file.path)));
    }
    problems
}

/// The targets of links to other files, without the part that names a heading.
fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ', '\n']).next());
    let files = targets.filter_map(|target| target.split('#').next());
    files.filter(|file| !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:"))
}

/// The paths in backquotes, without those that stand for many files.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let outside_blocks = text.split("```").step_by(2);
    let quoted = outside_blocks.flat_map(|part| part.split('`').skip(1).step_by(2));
    let is_path = |word: &&str| {
        STARTS.iter().any(|start| word.starts_with(start)) && !word.contains([' ', '*', '<', '{', '\n'])
    };
    quoted.filter(is_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_are_found_and_links_to_the_web_are_not() {
        let text = "[a](docs/a.md#part) ![b](b.svg \"title\") [c](https://c.example) [d](#here)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["docs/a.md", "b.svg"]);
    }

    #[test]
    fn paths_in_backquotes_are_found_and_patterns_and_code_blocks_are_not() {
        let text =
            "`crates/a/src`, `docs/*.md`, `docs/a b`, `x/y`\n```sh\ncat docs/none.md\n```\n`tools/t.py`";
        assert_eq!(paths(text).collect::<Vec<_>>(), ["crates/a/src", "tools/t.py"]);
    }
}
