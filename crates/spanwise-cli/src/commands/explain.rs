//! `spanwise explain`: one parse as a picture.

use super::allow::AllowArgs;
use super::now::NowArgs;
use super::overwrite;
use super::parser;
use super::picture::{Color, Format, screen};
use super::withhold::{WithholdArgs, refusal};
use crate::output::{Status, say};
use anyhow::Result;
use spanwise_core::Utterance;
use spanwise_domains::data::write_atomic;
use spanwise_model::Question;
use std::io::{self, Write};
use std::path::PathBuf;

/// Draw the tree that explains a program.
///
/// The words of the utterance are in a row. Above them are the constants that they are aligned to, and above those how
/// the parts compose. Null words, which are aligned to nothing, are gray. Words that were not read although they carry a
/// meaning are marked (`~1978~` on the terminal), and a word that was read as another one is shown as `typed → read as`.
/// Where two parts compose around a third, a double line (in pictures an arc) passes over the part between them.
///
/// `ascii` draws on the terminal: the tree, if it fits the width, and an outline with types and sub-programs. `svg` is
/// a picture, light or dark as the reader's screen is; its nodes show more under the pointer. `html` is a page with
/// everything that is known. `tikz` is a LaTeX document. Where there is no program, or it is withheld because it is too
/// doubtful, the reason is printed and the exit code is 1; --always-answer draws what was withheld.
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
    #[command(flatten)]
    withhold: WithholdArgs,
    #[command(flatten)]
    now: NowArgs,
    #[command(flatten)]
    context: super::context::ContextArgs,
    /// List up to N other programs too, the most probable first (ascii and html)
    #[arg(long = "k", value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=100))]
    alternatives: u16,
    #[command(flatten)]
    allow: AllowArgs,
    /// Colors in `ascii`; `auto`: on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    let inputs = args.context.file().cloned().into_iter().chain(overwrite::model_files(&args.model));
    overwrite::refuse(&args.out, inputs)?;
    let context = args.context.read()?;
    let parser = parser(&args.model, args.allow.policy())?;
    args.withhold.say_uncalibrated(parser.model());
    let text = args.text.join(" ");
    let question = Question {
        utterance: Utterance::new(text.as_str()).said_at(args.now.moment()),
        withhold: args.withhold.choice(),
        context: context.as_ref().map(|context| &context.value),
        alternatives: args.alternatives.into(),
        ..Question::new("")
    };
    let reading = parser.read(&question);
    if !reading.is_found() {
        say(&refusal(&reading, "--always-answer draws the best guess").join("\n"));
        return Ok(Status::PartialFailure);
    }
    let picture = args.format.draw(&reading, screen(args.color, args.out.is_none()))?;
    match &args.out {
        Some(path) => write_atomic(path, |out| out.write_all(picture.as_bytes()))?,
        None => {
            let mut out = io::stdout().lock();
            out.write_all(picture.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(Status::Success)
}
