//! `docs/tutorial.md` is true: every command in it runs, and prints what the page shows.
//!
//! Blocks marked `sh` run one after the other in one folder that holds nothing but `docs/tutorial`. A block marked `text`
//! behind one shows lines of its output, in order. Numbers may differ a little (a shorter time, another processor), text
//! may not; a line `..` stands for lines that are left out.

#![cfg(unix)]

use crate::common::{Sandbox, no_curl, no_python};
use std::path::Path;

const PAGE: &str = include_str!("../../../../docs/tutorial.md");
/// How far a percentage may be from the page, in points.
const TOLERANCE: f64 = 10.0;

/// Blocks in order: their language and their text.
fn blocks() -> Vec<(&'static str, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in PAGE.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => open = Some((language, String::new())),
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some((_, text))) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

#[test]
fn every_command_of_the_tutorial_runs_and_prints_what_it_shows() {
    if no_python() || no_curl() {
        return;
    }
    let sandbox = Sandbox::new();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial");
    for entry in std::fs::read_dir(files).unwrap() {
        let entry = entry.unwrap();
        let name = format!("docs/tutorial/{}", entry.file_name().to_string_lossy());
        sandbox.write(&name, std::fs::read(entry.path()).unwrap());
    }
    let (mut output, mut n_shown) = (None, 0);
    for (language, block) in blocks() {
        match language {
            "sh" => output = Some(run(&sandbox, &block)),
            "text" => {
                check(&block, output.as_deref().expect("text comes behind a block of commands"));
                n_shown += 1;
            }
            _ => {}
        }
    }
    assert!(n_shown >= 5, "the page shows {n_shown} outputs");
}

/// Runs a block in the folder that the one before it ended in, and gives what it prints.
fn run(sandbox: &Sandbox, block: &str) -> String {
    let script = format!(
        "set -e\nroot=$PWD\nif [ -f .folder ]; then cd \"$(cat .folder)\"; fi\n\
         mkdir -p \"$root/bin\"; ln -sf \"$SPANWISE\" \"$root/bin/spanwise\"; PATH=$root/bin:$PATH\n\
         {block}\npwd > \"$root/.folder\"\n"
    );
    sandbox.shell(&script).env("COLUMNS", "110").run().exits(0).stdout
}

/// Checks that the lines of a block are there, in order.
fn check(block: &str, output: &str) {
    let mut lines = output.lines();
    for wanted in block.lines().filter(|line| *line != "..") {
        assert!(lines.any(|line| is_like(line, wanted)), "`{wanted}` is not in its place in:\n{output}");
    }
}

/// Whether two lines are equal but for their numbers, and their percentages are close.
fn is_like(line: &str, wanted: &str) -> bool {
    let (text, numbers) = taken_apart(line);
    let (wanted_text, wanted_numbers) = taken_apart(wanted);
    let is_close = |(one, other): (&f64, &f64)| (one - other).abs() <= TOLERANCE;
    text == wanted_text && numbers.iter().zip(&wanted_numbers).all(is_close)
}

/// A line without its numbers, and those of them that are percentages; runs of white space count as one.
fn taken_apart(line: &str) -> (String, Vec<f64>) {
    let (mut text, mut numbers, mut number) = (String::new(), Vec::new(), String::new());
    for (at, ch) in line.char_indices().chain([(line.len(), ' ')]) {
        if ch.is_ascii_digit() || (ch == '.' && !number.is_empty()) {
            number.push(ch);
            continue;
        }
        if !number.is_empty() {
            if line[at..].trim_start().starts_with('%') {
                numbers.push(number.trim_end_matches('.').parse().unwrap());
            }
            number.clear();
            text.push('#');
        }
        text.push(ch);
    }
    (text.split_whitespace().collect::<Vec<_>>().join(" "), numbers)
}

#[test]
fn lines_are_compared_by_their_text_and_nearly_by_their_percentages() {
    assert!(is_like("exact match   96.0 %  25", "exact match  92.0 % 25"));
    assert!(!is_like("exact match  50.0 %  25", "exact match  92.0 % 25"));
    assert!(is_like("25 utterances in 0.1 s", "25 utterances in 38.9 s"));
    assert!(is_like("trained in 27 s; exact match 100.0 %", "trained in 5 s; exact match 100.0 %"));
    assert!(!is_like("program  on(light())", "program  off(light())"));
}
