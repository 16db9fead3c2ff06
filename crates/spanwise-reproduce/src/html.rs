//! Writes a document as one self-contained HTML file.

use crate::document::{Block, Document, Table};
use spanwise_render::xml;
use std::fmt::Write as _;

const STYLE: &str = "\
:root { color-scheme: light dark; --ink: #1d2329; --paper: #ffffff; --line: #d5dae0; --soft: #f4f6f8; --warn: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dfe4ea; --paper: #14181d; --line: #343b44; --soft: #1c2229; --warn: #ff8a80; }
}
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: var(--ink); background: var(--paper);
  font: 16px/1.5 system-ui, sans-serif; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.3rem 0.7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
.name { text-align: left; }
tbody tr:nth-child(even) { background: var(--soft); }
code, pre { font: 0.85rem/1.5 ui-monospace, monospace; background: var(--soft); }
pre { padding: 0.7rem; overflow-x: auto; }
.warning { color: var(--warn); font-weight: 700; font-size: 1.2rem; }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; } svg { max-width: 100%; height: auto; }
";

/// The whole document.
pub(crate) fn document(document: &Document) -> String {
    let title = xml(&document.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    );
    if let Some(warning) = &document.warning {
        let _ = writeln!(out, "<p class=\"warning\">{}</p>", inline(warning));
    }
    let _ = writeln!(out, "<h1>{title}</h1>");
    document.blocks.iter().for_each(|one| block(&mut out, one));
    out + "</body>\n</html>\n"
}

fn block(out: &mut String, block: &Block) {
    let _ = match block {
        Block::Heading(text) => writeln!(out, "<h2>{}</h2>", inline(text)),
        Block::Text(text) => writeln!(out, "<p>{}</p>", inline(text)),
        Block::Table(content) => writeln!(out, "{}", table(content)),
        Block::List(items) => {
            let items: String = items.iter().map(|item| format!("<li>{}</li>\n", inline(item))).collect();
            writeln!(out, "<ul>\n{items}</ul>")
        }
        Block::Figures(figures) => {
            let figures: String =
                figures.iter().map(|figure| format!("<figure>\n{}</figure>\n", figure.svg)).collect();
            writeln!(out, "<div class=\"figures\">\n{figures}</div>")
        }
        Block::Commands { title, lines } => writeln!(
            out,
            "<details>\n<summary>{}</summary>\n<pre>{}</pre>\n</details>",
            inline(title),
            lines.iter().map(|line| xml(line)).collect::<Vec<_>>().join("\n")
        ),
    };
}

fn table(table: &Table) -> String {
    let line = |cells: &[String], tag: &str| {
        let cell = |(column, text): (usize, &String)| {
            let class = if column < table.n_names { " class=\"name\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", inline(text))
        };
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    let body: String = table.rows.iter().map(|row| line(row, "td")).collect();
    let head = line(&table.head, "th");
    format!("<div class=\"scroll\"><table>\n<thead>\n{head}</thead>\n<tbody>\n{body}</tbody>\n</table></div>")
}

/// Escaped text; `code` in backquotes becomes an element.
fn inline(text: &str) -> String {
    let mut out = String::new();
    let parts: Vec<&str> = text.split('`').collect();
    for (at, part) in parts.iter().enumerate() {
        // A single backquote is plain text.
        let is_code = at % 2 == 1 && at + 1 < parts.len();
        let part = xml(part);
        out += &match (is_code, at % 2) {
            (true, _) => format!("<code>{part}</code>"),
            (false, 1) => format!("`{part}"),
            _ => part,
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(inline("a < b & `c > d`"), "a &lt; b &amp; <code>c &gt; d</code>");
        assert_eq!(inline("one ` alone"), "one ` alone");
    }
}
