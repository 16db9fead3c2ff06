//! A page about one reading: utterance, program, answer, tree, words, other programs.
//!
//! The page is one HTML document that needs no script, no network and no other file.

use crate::ascii::{NO_PROGRAM, NO_TREE};
use crate::diagram::{Diagram, RenderError};
use crate::escape::xml;
use crate::svg::{STYLE, tree_element};
use crate::{answer_text, percent};
use spanwise_reading::{Alternative, Reading, Token};
use std::fmt::Write as _;

const PAGE_STYLE: &str = "\
:root{color-scheme:light dark;--back:#fff;--text:#1f2328;--soft:#59636e;--rule:#d1d9e0;--panel:#f6f8fa;--good:#1a7f37;--bad:#cf222e}\
@media (prefers-color-scheme:dark){:root{--back:#0d1117;--text:#e6edf3;--soft:#9198a1;--rule:#3d444d;--panel:#161b22;--good:#56d364;--bad:#ff7b72}}\
body{margin:0;background:var(--back);color:var(--text);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',Helvetica,Arial,sans-serif}\
main{max-width:72rem;margin:0 auto;padding:1.5rem}\
h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem;overflow-wrap:anywhere}\
h2{font-size:.95rem;color:var(--soft);font-weight:600;margin:1.6rem 0 .4rem}\
pre,.panel{background:var(--panel);border:1px solid var(--rule);border-radius:8px;padding:.8rem 1rem;margin:0;overflow-x:auto}\
pre,code,.answer{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.9rem}\
pre{white-space:pre-wrap}\
.answer{color:var(--good);overflow-wrap:anywhere}\
.failed{color:var(--bad)}\
.tree{border:1px solid var(--rule);border-radius:8px;overflow-x:auto;text-align:center}\
.soft{color:var(--soft)}\
.unread{color:var(--soft);text-decoration:line-through}\
.corrected{text-decoration:underline}\
table{border-collapse:collapse;width:100%}\
th,td{text-align:left;padding:.35rem .8rem .35rem 0;border-bottom:1px solid var(--rule);vertical-align:top;overflow-wrap:anywhere}\
th{font-size:.85rem;color:var(--soft);font-weight:600}\
td.number,th.number{text-align:right;padding-right:0;white-space:nowrap;font-variant-numeric:tabular-nums}";

/// The page. A reading without a tree has a page without one.
///
/// # Errors
/// A tree that is no tree over the words of the reading.
pub fn html(reading: &Reading) -> Result<String, RenderError> {
    let title = xml(&reading.utterance);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{title}</title>\n\
         <style>{PAGE_STYLE}\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    refusal(&mut out, reading);
    program(&mut out, reading);
    answer(&mut out, reading);
    remarks(&mut out, reading);
    if reading.tree.is_some() {
        let tree = tree_element(&reading.utterance, &Diagram::new(reading)?);
        let _ = write!(out, "<h2>Tree</h2>\n<div class=\"tree\">\n{tree}</div>\n");
    } else if reading.program.is_some() {
        let _ = writeln!(out, "<p class=\"soft\">{NO_TREE}</p>");
    }
    words(&mut out, &reading.tokens);
    alternatives(&mut out, &reading.alternatives);
    out += "</main>\n</body>\n</html>\n";
    Ok(out)
}

/// Why there is no program, and what to ask back.
fn refusal(out: &mut String, reading: &Reading) {
    let Some(reason) = reading.reason.as_ref().filter(|_| reading.program.is_none()) else { return };
    let _ = write!(out, "<h2>I cannot answer this</h2>\n<div class=\"panel failed\">{}</div>\n", xml(reason));
    if let Some(clarification) = &reading.clarification {
        let _ = writeln!(out, "<p>{}</p>", xml(&clarification.question));
    }
}

/// What was read as something else, and what was not read.
fn remarks(out: &mut String, reading: &Reading) {
    for remark in reading.remarks() {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", xml(&remark));
    }
}

fn program(out: &mut String, reading: &Reading) {
    let program = reading.lines.as_deref().or(reading.program.as_deref());
    if program.is_none() && !reading.is_answer_alone() {
        return;
    }
    *out += "<h2>Program";
    if let Some(probability) = reading.probability {
        let _ = write!(out, " <span class=\"soft\">({})</span>", xml(&percent(probability)));
    }
    *out += "</h2>\n";
    let _ = match program {
        Some(program) => writeln!(out, "<pre>{}</pre>", lines(program)),
        None => writeln!(out, "<p class=\"soft\">{NO_PROGRAM}</p>"),
    };
}

/// Several lines, each made safe; the breaks stay.
fn lines(text: &str) -> String {
    text.lines().map(xml).collect::<Vec<_>>().join("\n")
}

fn answer(out: &mut String, reading: &Reading) {
    if let Some(text) = answer_text(reading) {
        let _ = write!(out, "<h2>Answer</h2>\n<div class=\"panel answer\">{}</div>\n", xml(text));
    }
    if let Some(note) = &reading.note {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", xml(note));
    }
    if let Some(error) = &reading.error {
        let _ = write!(out, "<h2>No answer</h2>\n<div class=\"panel failed\">{}</div>\n", xml(error));
    }
}

/// The words with the constants that they are aligned to; nothing where no alignment is known.
fn words(out: &mut String, words: &[Token]) {
    if words.iter().all(|word| word.probability.is_none()) {
        return;
    }
    *out += "<h2>Words</h2>\n<table>\n<thead><tr><th>word</th><th>aligned to</th>\
        <th class=\"number\">probability</th></tr></thead>\n<tbody>\n";
    for word in words {
        let constant = match &word.constant {
            Some(constant) => format!("<code>{}</code>", xml(constant)),
            None if word.unread => "<span class=\"soft\">not read</span>".to_owned(),
            None => "<span class=\"soft\">nothing</span>".to_owned(),
        };
        let text = match &word.read_as {
            Some(read_as) => {
                format!("<span class=\"corrected\">{}</span> → {}", xml(&word.text), xml(read_as))
            }
            None if word.unread => format!("<span class=\"unread\">{}</span>", xml(&word.text)),
            None => xml(&word.text),
        };
        let probability = word.probability.map(percent).unwrap_or_default();
        let _ = writeln!(
            out,
            "<tr><td>{text}</td><td>{constant}</td><td class=\"number\">{}</td></tr>",
            xml(&probability)
        );
    }
    *out += "</tbody>\n</table>\n";
}

fn alternatives(out: &mut String, alternatives: &[Alternative]) {
    if alternatives.is_empty() {
        return;
    }
    *out += "<h2>Other programs</h2>\n<table>\n<thead><tr><th>program</th>\
        <th class=\"number\">probability</th></tr></thead>\n<tbody>\n";
    for other in alternatives {
        let (program, probability) = (xml(&other.program), xml(&percent(other.probability)));
        let _ =
            writeln!(out, "<tr><td><code>{program}</code></td><td class=\"number\">{probability}</td></tr>");
    }
    *out += "</tbody>\n</table>\n";
}
