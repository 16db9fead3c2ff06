//! The forms in which answers are printed, and the size of tables.

use crate::output::{WrongCall, write_text};
use anyhow::Result;
use spanwise_reading::Answer;
use spanwise_render::TableLimits;
use std::io::{self, IsTerminal, Write};

/// The forms of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub(crate) enum Format {
    /// Human-readable: tables with their columns below each other
    #[default]
    Table,
    /// The answer alone, as comma-separated values (RFC 4180); texts that spreadsheets would run as formulas get an apostrophe
    Csv,
    /// One JSON object a line
    Json,
    /// The answer alone, in the notation of the executor
    Plain,
}

/// The options of commands that print answers.
#[derive(clap::Args)]
pub(crate) struct FormatArgs {
    /// How to print answers
    #[arg(long, value_enum, default_value_t, conflicts_with = "json")]
    format: Format,
    /// Rows of a table that are shown; 0 for all. CSV and JSON always have all
    #[arg(long, value_name = "N", default_value_t = 50)]
    rows: u32,
    /// Print JSON, as --format json does
    #[arg(long)]
    json: bool,
}

impl FormatArgs {
    pub(super) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// Lines that are not for a terminal are never cut, unless `COLUMNS` says where.
    pub(super) fn limits(&self) -> TableLimits {
        let rows = Some(self.rows as usize).filter(|&rows| rows > 0);
        TableLimits { width: width(), rows }
    }

    /// The form for so many texts, given as arguments; without any, lines are read and JSON lines are written.
    pub(super) fn for_arguments(&self, n: usize) -> Result<Format> {
        let format = self.format();
        let wrong = match (format, n) {
            (Format::Csv | Format::Plain, 0) => {
                "lines from standard input give JSON lines; give it as an argument instead"
            }
            (Format::Csv, 2..) => "a CSV file holds one table; give one at a time",
            _ => return Ok(format),
        };
        let name = if format == Format::Csv { "csv" } else { "plain" };
        Err(WrongCall(format!("--format {name}: {wrong}")).into())
    }
}

/// How wide a table of the demo may be.
pub(super) fn limits() -> TableLimits {
    TableLimits { width: width(), rows: Some(20) }
}

fn width() -> Option<usize> {
    let requested = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let found = || {
        let (width, _) = terminal_size::terminal_size().filter(|_| io::stdout().is_terminal())?;
        Some(usize::from(width.0))
    };
    requested.filter(|&columns: &usize| columns > 0).or_else(found)
}

/// Writes an answer as comma-separated values: as they are, but for a terminal, on which no character may act.
pub(super) fn write_csv(out: &mut dyn Write, answer: &Answer) -> io::Result<()> {
    let text = spanwise_render::csv(answer);
    if io::stdout().is_terminal() {
        return write_text(out, &text.replace("\r\n", "\n"));
    }
    out.write_all(text.as_bytes())
}
