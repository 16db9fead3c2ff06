//! `spanwise explain`: one parse as a picture.

use super::context::Context;
use super::parser;
use crate::output::{Done, say};
use anyhow::Result;
use serde_json::Value;
use spanwise_domains::data::write_atomic;
use spanwise_lang::TermId;
use spanwise_model::{Details, Outcome, Parse, Parser};
use spanwise_render::{Answer, Diagram, Explanation, Kind, Node, Program, Screen, Word, pretty};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

/// Draw the tree that explains a program.
///
/// The words of the utterance stand in a row; above them stand the constants they say, and above those how the parts
/// compose. Words without meaning are gray. Where two parts compose around a third, a double line (in pictures an arc)
/// passes over what stands between them.
///
/// `ascii` draws on the terminal: the tree, if it fits the width, and an outline with types and sub-programs. `svg` is
/// a picture, light or dark as the reader's screen is; its nodes tell more under the pointer. `html` is a page with
/// everything that is known. `tikz` is a LaTeX document. Where no program is found, the reason is said and the exit
/// code is 1.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise explain runs/geo what states border texas\n  \
    spanwise explain runs/geo \"what states border texas\" --format svg --out tree.svg\n  \
    spanwise explain runs/geo \"what states border texas\" --format html --k 5 --out parse.html\n  \
    spanwise explain runs/geo \"what states border texas\" --format tikz > tree.tex\n  \
    spanwise explain runs/clevr \"how many cubes are there\" --context scenes.json --index 3\n  \
    COLUMNS=200 spanwise explain runs/geo what states border texas | less -S")]
pub(crate) struct Args {
    /// The model directory
    model: PathBuf,
    /// The utterance; several arguments are joined with spaces
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Ascii)]
    format: Format,
    /// The file to write; without, standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// What the program is evaluated in: a file with a scene
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
    /// Which scene of a file with many (`scenes`) to take, by its `image_index`
    #[arg(long, value_name = "N", requires = "context")]
    index: Option<u64>,
    /// List up to N other programs too, the most probable first (ascii and html)
    #[arg(long = "k", value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=100))]
    alternatives: u16,
    /// Colors in `ascii`; `auto`: on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,
}

/// What is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Format {
    Ascii,
    Svg,
    Html,
    Tikz,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// Columns where there is neither a terminal nor `COLUMNS`.
const COLUMNS: usize = 120;
/// Characters of a line of the program on a page.
const PROGRAM_COLUMNS: usize = 88;

pub(crate) fn run(args: &Args) -> Result<Done> {
    let context = args.context.as_ref().map(|path| Context::read(path, args.index)).transpose()?;
    let parser = parser(&args.model)?;
    let text = args.text.join(" ");
    let details = Details { alternatives: args.alternatives.into(), provenance: true };
    let parse = match parser.parse_with(spanwise_core::Utterance::new(text.as_str()), details) {
        Outcome::Found(parse) => parse,
        Outcome::Nothing { reason, .. } => {
            say(&format!("no program for {text:?}: {reason}"));
            return Ok(Done::WithFailures);
        }
    };
    let explanation = explanation(&parser, &parse, context.as_ref().map(|context| &context.value))?;
    let picture = match args.format {
        Format::Ascii => spanwise_render::ascii(&explanation, screen(args)),
        Format::Svg => spanwise_render::svg(&explanation),
        Format::Html => spanwise_render::html(&explanation),
        Format::Tikz => spanwise_render::tikz(&explanation.diagram)?,
    };
    match &args.out {
        Some(path) => write_atomic(path, |out| out.write_all(picture.as_bytes()))?,
        None => {
            let mut out = io::stdout().lock();
            out.write_all(picture.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(Done::Well)
}

/// How wide the output may be, and whether it is colored. `COLUMNS` goes before what the terminal says.
fn screen(args: &Args) -> Screen {
    let on_terminal = args.out.is_none() && io::stdout().is_terminal();
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let asked = set("COLUMNS").and_then(|columns| columns.parse().ok()).filter(|&columns| columns > 0);
    let found = || {
        let (width, _) = terminal_size::terminal_size().filter(|_| on_terminal)?;
        Some(width.0.into())
    };
    Screen { width: asked.or_else(found).unwrap_or(COLUMNS), color: args.color.is_on(on_terminal, set) }
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

fn explanation(parser: &Parser, parse: &Parse, context: Option<&Value>) -> Result<Explanation> {
    let domain = &parser.model().domain;
    let diagram = Diagram::new(&parse.tree, domain, &parse.terms, &parse.utterance)?;
    let root = parse.tree.nodes.len() - 1;
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
