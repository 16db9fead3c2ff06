//! The formats that a reading can be drawn in, and the screen that it is drawn for.

use anyhow::Result;
use spanwise_reading::Reading;
use spanwise_render::Screen;
use std::io::{self, IsTerminal};

/// The forms of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Format {
    Ascii,
    Svg,
    Html,
    Tikz,
}

impl Format {
    /// The picture as text; `screen` matters to `ascii` only.
    pub(super) fn draw(self, reading: &Reading, screen: Screen) -> Result<String> {
        Ok(match self {
            Self::Ascii => spanwise_render::ascii(reading, screen)?,
            Self::Svg => spanwise_render::svg(reading)?,
            Self::Html => spanwise_render::html(reading)?,
            Self::Tikz => spanwise_render::tikz(reading)?,
        })
    }
}

/// When to color.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

/// Columns where there is neither a terminal nor `COLUMNS`.
const COLUMNS: usize = 120;

/// How wide the output may be, and whether it is colored. `COLUMNS` takes precedence over the width of the terminal.
pub(super) fn screen(color: Color, to_stdout: bool) -> Screen {
    let on_terminal = to_stdout && io::stdout().is_terminal();
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let requested = set("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
    let found = || {
        let (width, _) = terminal_size::terminal_size().filter(|_| on_terminal)?;
        Some(width.0.into())
    };
    Screen { width: requested.or_else(found).unwrap_or(COLUMNS), color: color.is_on(on_terminal, set) }
}

impl Color {
    /// Whether to color. The option takes precedence over the environment.
    fn is_on(self, on_terminal: bool, set: impl Fn(&str) -> Option<String>) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                on_terminal && set("NO_COLOR").is_none() && set("TERM").is_none_or(|term| term != "dumb")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_for_terminals_that_have_them_unless_they_are_switched_off() {
        let set = |pairs: &'static [(&str, &str)]| {
            move |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned())
        };
        assert!(Color::Auto.is_on(true, set(&[("TERM", "xterm")])));
        assert!(!Color::Auto.is_on(false, set(&[("TERM", "xterm")])));
        assert!(!Color::Auto.is_on(true, set(&[("NO_COLOR", "1")])));
        assert!(!Color::Auto.is_on(true, set(&[("TERM", "dumb")])));
        assert!(Color::Always.is_on(false, set(&[("NO_COLOR", "1")])));
        assert!(!Color::Never.is_on(true, set(&[])));
    }
}
