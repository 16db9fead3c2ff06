//! `cargo run -p xtask` checks what the compiler does not: who may import whom, that the map in
//! ARCHITECTURE.md is true, that nothing names a machine. The same checks run as tests.

#![allow(clippy::print_stderr, reason = "a command for people who work on Spanwise")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use toml_edit::Document;

/// Which rooms may import which. A new arrow is a topic of its own: change ARCHITECTURE.md with it.
const ARROWS: &[(&str, &[&str])] = &[
    ("spanwise-core", &[]),
    ("spanwise-lang", &["spanwise-core"]),
    ("spanwise-domains", &["spanwise-core", "spanwise-lang", "spanwise-reading"]),
    ("spanwise-chart", &["spanwise-core", "spanwise-lang"]),
    ("spanwise-reading", &[]),
    (
        "spanwise-eval",
        &[
            "spanwise-core",
            "spanwise-lang",
            "spanwise-domains",
            "spanwise-chart",
            "spanwise-nn",
            "spanwise-model",
        ],
    ),
    ("spanwise-render", &["spanwise-core", "spanwise-reading"]),
    ("spanwise-nn", &["spanwise-core"]),
    (
        "spanwise-model",
        &[
            "spanwise-core",
            "spanwise-lang",
            "spanwise-domains",
            "spanwise-chart",
            "spanwise-nn",
            "spanwise-reading",
        ],
    ),
    (
        "spanwise-train",
        &[
            "spanwise-core",
            "spanwise-lang",
            "spanwise-domains",
            "spanwise-chart",
            "spanwise-render",
            "spanwise-nn",
            "spanwise-model",
            "spanwise-eval",
        ],
    ),
    ("spanwise-server", &["spanwise-core", "spanwise-lang", "spanwise-reading"]),
    (
        "spanwise-reproduce",
        &["spanwise-lang", "spanwise-domains", "spanwise-render", "spanwise-train", "spanwise-eval"],
    ),
    (
        "spanwise",
        &[
            "spanwise-core",
            "spanwise-lang",
            "spanwise-domains",
            "spanwise-chart",
            "spanwise-model",
            "spanwise-reading",
        ],
    ),
    (
        "spanwise-cli",
        &[
            "spanwise-core",
            "spanwise-lang",
            "spanwise-domains",
            "spanwise-chart",
            "spanwise-reading",
            "spanwise-render",
            "spanwise-nn",
            "spanwise-model",
            "spanwise-eval",
            "spanwise-train",
            "spanwise-reproduce",
            "spanwise-server",
        ],
    ),
];

/// Rooms that touch no file, clock, environment or network.
const PURE: &[&str] = &["spanwise-core", "spanwise-lang"];

/// Names of predicates that must not occur outside the rooms of domains.
const PREDICATES: &[&str] = &["\"next_to_2\"", "\"loc_2\"", "\"relate_attribute_equal\"", "\"i_twice\""];

fn main() -> ExitCode {
    let problems = tidy();
    for problem in &problems {
        eprintln!("{problem}");
    }
    ExitCode::from(u8::from(!problems.is_empty()))
}

fn tidy() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut problems = Vec::new();
    arrows(&root, &mut problems);
    pure_rooms(&root, &mut problems);
    predicates(&root, &mut problems);
    map(&root, &mut problems);
    problems
}

fn arrows(root: &Path, problems: &mut Vec<String>) {
    for entry in fs::read_dir(root.join("crates")).expect("the crates are there").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(text) = fs::read_to_string(entry.path().join("Cargo.toml")) else { continue };
        let document = Document::parse(text).expect("cargo has read it already");
        let found: Vec<&str> = document
            .get("dependencies")
            .and_then(|item| item.as_table_like())
            .into_iter()
            .flat_map(|table| table.iter().map(|(key, _)| key))
            .filter(|key| key.starts_with("spanwise"))
            .collect();
        match ARROWS.iter().find(|(room, _)| *room == name) {
            None => problems.push(format!("crates/{name} is not in the table of arrows")),
            Some((_, allowed)) => problems.extend(
                found
                    .iter()
                    .filter(|to| !allowed.contains(to))
                    .map(|to| format!("{name} must not import {to}")),
            ),
        }
    }
}

fn pure_rooms(root: &Path, problems: &mut Vec<String>) {
    for room in PURE {
        for (path, text) in sources(&root.join("crates").join(room).join("src")) {
            for forbidden in ["std::fs", "std::env", "std::net", "std::process", "Instant::now", "SystemTime"]
            {
                if text.contains(forbidden) {
                    problems.push(format!("{} uses {forbidden}", path.display()));
                }
            }
        }
    }
}

fn predicates(root: &Path, problems: &mut Vec<String>) {
    for (room, _) in ARROWS.iter().filter(|(room, _)| *room != "spanwise-domains") {
        for (path, text) in sources(&root.join("crates").join(room).join("src")) {
            for name in PREDICATES.iter().filter(|name| text.contains(*name)) {
                problems.push(format!("{} knows the predicate {name}", path.display()));
            }
        }
    }
}

/// Every path in backquotes that ARCHITECTURE.md names must exist.
fn map(root: &Path, problems: &mut Vec<String>) {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    if text.is_empty() {
        problems.push("ARCHITECTURE.md is missing".to_owned());
    }
    let quoted = text.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| {
        ["crates/", "docs/", "xtask", ".ci/"].iter().any(|start| word.starts_with(start))
            && !word.contains([' ', '*', '<'])
    };
    for path in quoted.filter(is_path) {
        if !root.join(path).exists() {
            problems.push(format!("ARCHITECTURE.md names `{path}`, which is not there"));
        }
    }
}

fn sources(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut todo = vec![directory.to_path_buf()];
    while let Some(next) = todo.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((path.clone(), fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_repository_is_tidy() {
        let problems = super::tidy();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}
