//! How outcomes become text and exit codes.

use anyhow::Error;
use spanwise_domains::data::DataError;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

/// What a command came to, if it did not break off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// All of it worked.
    Success,
    /// It ran to its end, but some of its input was not as it should be, and it has said so.
    PartialFailure,
}

/// The call itself was wrong: a file that is not there, a name that does not exist.
#[derive(Debug)]
pub(crate) struct WrongCall(pub(crate) String);

impl std::fmt::Display for WrongCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongCall {}

/// Says what went wrong, if anything did, and gives the exit code.
pub(crate) fn finish(outcome: Result<Status, Error>) -> ExitCode {
    match outcome {
        Ok(Status::Success) => ExitCode::SUCCESS,
        Ok(Status::PartialFailure) => ExitCode::from(1),
        // Whoever reads us has closed the pipe: there is nobody left to tell.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let text = format!("{error:#}");
            // Diagnostics with a caret bring their own prefix.
            let text = if text.starts_with("error: ") { text } else { format!("error: {text}") };
            say(&text);
            ExitCode::from(if error.is::<WrongCall>() { 2 } else { 1 })
        }
    }
}

fn is_broken_pipe(error: &Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| match cause.downcast_ref::<DataError>() {
        Some(DataError::Write { reason, .. }) => broken(reason),
        _ => cause.downcast_ref::<io::Error>().is_some_and(broken),
    })
}

/// A line for the person at the terminal, beside the output.
pub(crate) fn say(text: &str) {
    // Nothing sensible can be done when even this fails.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Text with columns: the first to the left, the others to the right.
pub(crate) struct Columns {
    rows: Vec<Vec<String>>,
}

impl Columns {
    pub(crate) fn new<const N: usize>(header: [&str; N]) -> Self {
        Self { rows: vec![header.iter().map(|&cell| cell.to_owned()).collect()] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len() - 1
    }

    pub(crate) fn render(&self) -> String {
        let n_columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
        };
        let widths: Vec<usize> = (0..n_columns).map(|column| width(column).unwrap_or(0)).collect();
        let mut out = String::new();
        for (at, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
                let _ =
                    if column == 0 { write!(line, "  {cell}{pad}") } else { write!(line, "  {pad}{cell}") };
            }
            out.push_str(line.trim_end());
            out.push('\n');
            if at == 0 {
                let total = widths.iter().sum::<usize>() + 2 * n_columns - 2;
                let _ = writeln!(out, "  {}", "-".repeat(total));
            }
        }
        out
    }
}

/// A share as `12.3 %`, or a dash where there is nothing to share.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.1} %"))
}

/// Text of at most `most` characters.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}...", &text[..cut]),
    }
}
