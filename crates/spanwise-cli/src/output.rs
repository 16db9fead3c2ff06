//! Exit codes, messages, tables and progress bars, alike for all commands.

use anyhow::Error;
use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use indicatif::{ProgressBar, ProgressStyle};
use spanwise_domains::data::DataError;
use spanwise_render::visible_lines;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// The result of a command that ran to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// All of the input was processed.
    Success,
    /// Some of the input was invalid, which the command has reported.
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

/// Prints the error, if there is one, and returns the exit code.
pub(crate) fn finish(outcome: Result<Status, Error>) -> ExitCode {
    match outcome {
        Ok(Status::Success) => ExitCode::SUCCESS,
        Ok(Status::PartialFailure) => ExitCode::from(1),
        // The reader of our output has closed the pipe: it has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let text = format!("{error:#}");
            // Diagnostics that point into a file have the prefix already.
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

/// Prints a line to standard error, apart from the output. Control characters, which may come from a file or an executor,
/// are written out.
pub(crate) fn say(text: &str) {
    // Where standard error is closed, there is no place to report that.
    let _ = writeln!(io::stderr().lock(), "{}", visible_lines(text));
}

/// Writes human-readable text, which may hold parts of a file, a model or an answer: control characters are written out, so
/// that none of them acts on a terminal. JSON is written as it is.
pub(crate) fn write_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    out.write_all(visible_lines(text).as_bytes())
}

/// A table without borders: the first column to the left, the others to the right.
pub(crate) struct Columns(Table);

impl Columns {
    pub(crate) fn new<const N: usize>(header: [&str; N]) -> Self {
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('-'))).set_header(header);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if at + 1 < N { 2 } else { 0 }));
            column.set_cell_alignment(if at == 0 { CellAlignment::Left } else { CellAlignment::Right });
        }
        Self(table)
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.0.add_row(cells);
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.0.row_count()
    }

    pub(crate) fn render(&self) -> String {
        self.0.lines().map(|line| format!("  {}", line.trim_end()).trim_end().to_owned() + "\n").collect()
    }
}

/// A progress bar on standard error; there is none where that is no terminal.
pub(crate) fn progress_bar(length: usize, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("templates are fixed and valid");
    ProgressBar::new(length as u64).with_style(style)
}

/// The same where the length is not known: something that turns.
pub(crate) fn progress_spinner(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("templates are fixed and valid");
    let spinner = ProgressBar::new_spinner().with_style(style);
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// A share as `12.3 %`, or a dash where it is undefined.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{share:.1} %"))
}

/// The first `most` characters of a text, with dots where it is longer.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}...", &text[..cut]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_align_the_first_column_left_and_the_others_right() {
        let mut table = Columns::new(["constant", "uses", "share"]);
        table.row(["Köln".to_owned(), "7".to_owned(), "12.5 %".to_owned()]);
        table.row(["  nested".to_owned(), "1234".to_owned(), String::new()]);
        let expected = "  constant  uses   share\n  ----------------------\n  Köln         7  12.5 %\n    nested  1234\n";
        assert_eq!(table.render(), expected);
        assert_eq!(table.n_rows(), 2);
    }
}
