//! `spanwise explain`, with a small model of lamps.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Sandbox, lamps};

const TEXT: &str = "blink the hall lamp";

#[test]
fn the_tree_is_drawn_over_the_words_and_outlined() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["explain", lamps(), TEXT, "--k", "2", "--always-answer"]).exits(0);
    let outcome =
        outcome.prints(["program      do(blink(lamp('hall')))", "probability", "┌", "└─", "other programs"]);
    assert!(!outcome.stdout.contains('\u{1b}') && outcome.stderr.is_empty());
    let row = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ") == TEXT;
    assert_eq!(outcome.stdout.lines().filter(|line| row(line)).count(), 1, "{}", outcome.stdout);
    let apart = sandbox
        .run(["explain", lamps(), "blink", "the", "hall", "lamp", "--k", "2", "--always-answer"])
        .exits(0);
    assert_eq!(apart.stdout, outcome.stdout);
}

#[test]
fn colors_are_printed_on_request_and_the_width_is_that_of_the_environment() {
    let sandbox = Sandbox::new();
    let plain = sandbox.call(["explain", lamps(), TEXT]).env("COLUMNS", "150").run().exits(0).stdout;
    let colored = sandbox.run(["explain", lamps(), TEXT, "--color", "always"]).exits(0).stdout;
    assert!(colored.contains("\u{1b}[1;36m") && !plain.contains('\u{1b}'));
    let narrow = sandbox.call(["explain", lamps(), TEXT]).env("COLUMNS", "20").run().exits(0).stdout;
    assert!(plain.contains('┌') && !narrow.contains('┌') && narrow.contains("└─"), "{narrow}");
}

#[test]
fn pictures_are_written_as_whole_files() {
    let sandbox = Sandbox::new();
    for (format, start, part) in [
        ("svg", "<?xml", "class=\"sw-word\""),
        ("html", "<!DOCTYPE html>", "<svg"),
        ("tikz", "\\documentclass", "\\Tree"),
        ("ascii", "program", "blink"),
    ] {
        let outcome = sandbox
            .run(["explain", lamps(), TEXT, "--format", format, "--out", format, "--always-answer"])
            .exits(0);
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
        let text = sandbox.read(format);
        assert!(text.starts_with(start) && text.contains(part), "{text}");
        let printed = sandbox.run(["explain", lamps(), TEXT, "--format", format]).exits(0).stdout;
        assert_eq!(printed, text);
    }
    assert_eq!(sandbox.names("."), ["ascii", "html", "svg", "tikz"]);
}

#[test]
fn without_a_program_the_reason_is_said_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["explain", lamps(), "!", "--format", "svg", "--out", "tree.svg"]).exits(1);
    assert_eq!(outcome.says(["I cannot answer this: "]).stdout, "");
    sandbox.run(["explain", lamps(), ""]).exits(1).says(["the utterance has no words"]);
    assert!(sandbox.names(".").is_empty());
}

#[test]
fn calls_that_cannot_work_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.run(["explain", "nowhere", "x"]).exits(2).says(["nowhere is not a model directory"]);
    sandbox.run(["explain", lamps()]).exits(2).says(["Usage: spanwise explain"]);
    sandbox
        .run(["explain", lamps(), "x", "--format", "png"])
        .exits(2)
        .says(["'png'", "ascii, svg, html, tikz"]);
    sandbox.run(["explain", lamps(), "x", "--context", "none.json"]).exits(2).says(["none.json"]);
    sandbox.run(["explain", lamps(), TEXT, "--out", "no/where.svg"]).exits(1).says(["no/where.svg"]);
    sandbox
        .run(["explain", "--help"])
        .exits(0)
        .prints(["Examples:", "spanwise explain runs/geo what states"]);
}
