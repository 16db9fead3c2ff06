//! A parse on its way to a picture: everything known about it gathered, and the forms it can be drawn in.
//!
//! Shared by the commands that show trees. Nothing is printed or written here.

use anyhow::{Context as _, Result};
use serde_json::Value;
use spanwise_lang::TermId;
use spanwise_model::{Parse, Parser};
use spanwise_render::{Answer, Diagram, Explanation, Kind, Node, Program, Screen, Word, pretty};
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
    pub(super) fn draw(self, explanation: &Explanation, screen: Screen) -> Result<String> {
        Ok(match self {
            Self::Ascii => spanwise_render::ascii(explanation, screen),
            Self::Svg => spanwise_render::svg(explanation),
            Self::Html => spanwise_render::html(explanation),
            Self::Tikz => spanwise_render::tikz(&explanation.diagram)?,
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
/// Characters of a line of the program on a page.
const PROGRAM_COLUMNS: usize = 88;

/// How wide the output may be, and whether it is colored. `COLUMNS` goes before what the terminal says.
pub(super) fn screen(color: Color, to_stdout: bool) -> Screen {
    let on_terminal = to_stdout && io::stdout().is_terminal();
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let asked = set("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
    let found = || {
        let (width, _) = terminal_size::terminal_size().filter(|_| on_terminal)?;
        Some(width.0.into())
    };
    Screen { width: asked.or_else(found).unwrap_or(COLUMNS), color: color.is_on(on_terminal, set) }
}

impl Color {
    /// Whether to color. What the call says goes before the environment.
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

/// Everything a picture may show of a parse.
pub(super) fn explanation(parser: &Parser, parse: &Parse, context: Option<&Value>) -> Result<Explanation> {
    let domain = &parser.model().domain;
    let tree = parse.tree.as_ref().context("the model has no trees")?;
    let diagram = Diagram::new(tree, domain, &parse.terms, &parse.utterance)?;
    let root = tree.nodes.len() - 1;
    let sure = |at: usize, node: &Node| match node.kind {
        _ if at == root => Some(parse.probability),
        Kind::Constant => parse.provenance.get(node.span.start as usize).map(|word| word.probability),
        Kind::Join | Kind::Implicit | Kind::Null => None,
    };
    let line = |program: TermId| parse.terms.display(program).to_string();
    let words = parse.provenance.iter().zip(parse.utterance.tokens()).map(|(found, token)| Word {
        text: parse.utterance.text()[token.bytes.clone()].to_owned(),
        constant: found.constant.map(|id| domain.constants()[id].name.clone()),
        probability: found.probability,
    });
    Ok(Explanation {
        text: parse.utterance.text().to_owned(),
        diagram: diagram.with_probabilities(sure),
        words: words.collect(),
        program: Some(Program {
            line: line(parse.program),
            lines: pretty(&parse.terms, parse.program, PROGRAM_COLUMNS),
            probability: parse.probability,
        }),
        answer: answer(parser, parse, context),
        alternatives: parse
            .alternatives
            .iter()
            .map(|other| (line(other.program), other.probability))
            .collect(),
    })
}

/// What the program evaluates to, or why it does not; `None` where programs are not evaluated.
fn answer(parser: &Parser, parse: &Parse, context: Option<&Value>) -> Option<Answer> {
    Some(match parser.execute(&parse.terms, parse.program, context)? {
        Ok(found) => Answer::Value { text: found.text, note: found.note },
        Err(error) => Answer::Failed(error.to_string().lines().map(str::trim).collect::<Vec<_>>().join(" ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_for_terminals_that_have_them_and_people_who_want_them() {
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
