//! Writes a document as Markdown with aligned tables, which is readable as plain text too.

use crate::document::{Block, Document, Table};
use std::fmt::Write as _;

/// The whole document. Pictures are links to `plots/NAME.svg`.
pub(crate) fn document(document: &Document) -> String {
    let mut out = String::new();
    if let Some(warning) = &document.warning {
        let _ = writeln!(out, "**{warning}**\n");
    }
    let _ = writeln!(out, "# {}", document.title);
    for block in &document.blocks {
        out.push('\n');
        match block {
            Block::Heading(text) => {
                let _ = writeln!(out, "## {text}");
            }
            Block::Text(text) => {
                let _ = writeln!(out, "{text}");
            }
            Block::Table(content) => out += &table(content),
            Block::List(items) => items.iter().for_each(|item| {
                let _ = writeln!(out, "- {item}");
            }),
            Block::Figures(figures) => figures.iter().for_each(|figure| {
                let _ = writeln!(out, "![{}](plots/{}.svg)", figure.title, figure.name);
            }),
            Block::Commands { title, lines } => {
                let _ = writeln!(out, "{title}:\n\n```sh\n{}\n```", lines.join("\n"));
            }
        }
    }
    out
}

/// An aligned table: names to the left, numbers to the right.
pub(crate) fn table(table: &Table) -> String {
    let Table { head, rows, n_names } = table;
    let escaped = |row: &[String]| row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>();
    let all: Vec<Vec<String>> =
        std::iter::once(escaped(head)).chain(rows.iter().map(|row| escaped(row))).collect();
    let width = |column: usize| {
        let widths = all.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        widths.max().unwrap_or(0).max(3)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut out = String::new();
    for (at, row) in all.iter().enumerate() {
        out.push('|');
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let is_name = column < *n_names;
            let _ = if is_name { write!(out, " {cell}{pad} |") } else { write!(out, " {pad}{cell} |") };
        }
        out.push('\n');
        if at == 0 {
            out.push('|');
            for (column, &width) in widths.iter().enumerate() {
                let rule = "-".repeat(width + 1);
                let _ = write!(out, "{rule}{}|", if column < *n_names { '-' } else { ':' });
            }
            out.push('\n');
        }
    }
    out
}
