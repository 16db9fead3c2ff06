//! `spanwise demo`: trains a parser on built-in examples, evaluates it, and answers questions.
//!
//! [`store`] keeps the model on disk, [`reply`] writes an answer as text, and [`prompt`] reads questions.

mod data;
mod prompt;
mod reply;
mod store;

use super::picture::{Color, screen};
use super::serve;
use super::withhold::WithholdArgs;
use crate::output::{Columns, Status, WrongCall, percent, say};
use anyhow::Result;
use reply::Answers;
use serde_json::{Map, Value, json};
use spanwise_domains::data::Example;
use spanwise_domains::load::builtin_names;
use spanwise_eval::evaluate::evaluate;
use spanwise_eval::metrics::{Evaluator, Report};
use spanwise_model::{Parser, Withhold};
use std::io::{self, BufRead as _, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use store::{Home, Trained};

/// Train a parser in a minute and ask it questions.
///
/// The demo needs nothing but this program: 448 questions about the geography of the United States with their programs
/// are inside. It trains a parser on them from nothing, measures it on questions it has not seen, and then answers yours:
/// with the tree over your words, the program and its answer. Where it is too unsure, it says so and why, and keeps its
/// guess to itself until you ask for it (`:guess`, or --always-answer). The model is kept, so that the next demo starts at
/// once. With --serve you ask in the browser. If standard input is not a terminal, it is read as questions, one a line.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise demo\n  spanwise demo --out runs/demo --no-questions\n  \
    spanwise demo --serve\n  \
    echo \"which rivers run through the state that contains el paso?\" | spanwise demo\n  \
    echo \"how do i boil an egg\" | spanwise demo --always-answer\n  \
    spanwise demo --fresh --json")]
pub(crate) struct Args {
    /// Keep the model and the data here instead of in the cache directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Train again, even if there is a trained model
    #[arg(long)]
    fresh: bool,
    /// Stop after the accuracies
    #[arg(long)]
    no_questions: bool,
    /// Ask in the browser instead: serve the page to try the parser with, until Ctrl-C
    #[arg(long, conflicts_with_all = ["no_questions", "json"])]
    serve: bool,
    /// With --serve, where to listen; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT", default_value = serve::ADDRESS, requires = "serve")]
    addr: String,
    #[command(flatten)]
    withhold: WithholdArgs,
    /// A few examples and two epochs: does it run at all? The answers will be poor
    #[arg(long)]
    quick: bool,
    /// Colors; `auto`: on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Color::Auto)]
    color: Color,
    /// Print one JSON object with accuracies and seconds, and ask for nothing
    #[arg(long)]
    json: bool,
}

/// The sets that the parser is evaluated on, with their names in JSON and in the table.
const HELD_OUT: [(&str, &str, &str); 2] = [
    ("held_out", "questions it has not seen", data::TEST_IID),
    ("compositions", "compositions it has not seen", data::TEST_COMPOSITIONS),
];

/// Indices of the questions that are answered at the start: a plain one, one that composes, one that composes in a way
/// that no training example does.
const SHOWN: [usize; 3] = [0, 9, 18];

pub(crate) fn run(args: &Args) -> Result<Status> {
    let started = Instant::now();
    // A wrong address is reported before anything is trained.
    serve::address(&args.addr)?;
    if !builtin_names().any(|name| name == data::DOMAIN) {
        return Err(WrongCall(format!(
            "the demo needs the domain {}, which is not in this build; build Spanwise with the cargo feature `{0}`, \
             which is on by default (see NOTICE), or start from a domain of your own with `spanwise new DIR`",
            data::DOMAIN
        ))
        .into());
    }
    let mut out = io::stdout().lock();
    if !args.json {
        writeln!(out, "{}", intro())?;
        out.flush()?;
    }
    let home = Home::new(args.out.as_deref(), args.quick);
    let trained = home.model(args.fresh, !args.json)?;
    let reports = measure(&trained.parser)?;
    if args.json {
        let mut object = as_json(&trained, &reports, &home.directory);
        object.insert("seconds".to_owned(), json!(started.elapsed().as_secs_f64()));
        writeln!(out, "{}", Value::Object(object))?;
        return Ok(Status::Success);
    }
    write!(out, "{}", table(&trained, &reports, &home.directory))?;
    if args.no_questions {
        return Ok(Status::Success);
    }
    if args.serve {
        drop(trained);
        writeln!(out, "\nOpen the address below in a browser; Ctrl-C ends.")?;
        out.flush()?;
        drop(out);
        return serve::show("demo", &home.directory, &args.addr, args.withhold.choice());
    }
    let (screen, withhold) = (screen(args.color, true), args.withhold.choice());
    if withhold == Withhold::Default && trained.parser.model().confidence.threshold.is_none() {
        say("note: this model was never calibrated; nothing is withheld; --fresh trains it again");
    }
    let answers = Answers { parser: &trained.parser, screen, withhold };
    let questions = data::questions()?;
    for at in SHOWN {
        writeln!(out, "\n> {}\n", questions[at].utterance)?;
        write!(out, "{}", answers.answer(&questions[at].utterance)?.text)?;
    }
    out.flush()?;
    let is_interactive = io::stdin().is_terminal();
    let input = io::stdin().lock();
    let prompt = prompt::Prompt { answers, questions: &questions, is_interactive };
    prompt.converse(&mut input.lines(), &mut out)
}

fn intro() -> String {
    let n = data::TRAIN.lines().count();
    format!(
        "Spanwise learns to turn questions into programs, from examples. Here it learns from {n} questions about\n\
         US geography, on this machine, with a small network that starts from nothing. Afterwards you can ask it\n\
         questions of your own; every answer comes with the tree over your words that it was read from.\n"
    )
}

/// The metrics of the parser on each held-out set.
fn measure(parser: &Parser) -> Result<Vec<Report>> {
    let evaluator = Evaluator::of_parser(parser);
    let report = |(_, name, text): &(&str, &str, &str)| -> Result<Report> {
        let examples: Vec<Example> = data::examples(name, text)?;
        Ok(Report::new(&evaluate(parser.model(), &evaluator, &examples, &|_| {})))
    };
    HELD_OUT.iter().map(report).collect()
}

fn as_json(trained: &Trained, reports: &[Report], directory: &Path) -> Map<String, Value> {
    let figures = |report: &Report| json!({ "n": report.n, "exact_match": report.exact_match, "denotation": report.denotation });
    let accuracy =
        HELD_OUT.iter().zip(reports).map(|((name, ..), report)| ((*name).to_owned(), figures(report)));
    Map::from_iter([
        ("model".to_owned(), json!(directory.display().to_string())),
        ("accuracy".to_owned(), Value::Object(accuracy.collect())),
        ("training".to_owned(), json!({ "reused": trained.reused, "seconds": trained.seconds })),
    ])
}

fn table(trained: &Trained, reports: &[Report], directory: &Path) -> String {
    let mut table = Columns::new(["right on", "of", "same program", "same answer"]);
    for ((_, name, _), report) in HELD_OUT.iter().zip(reports) {
        let n = report.n.to_string();
        table.row([(*name).to_owned(), n, percent(report.exact_match), percent(report.denotation)]);
    }
    let how = if trained.reused { "trained before, in" } else { "trained in" };
    let place = directory.display();
    format!(
        "{how} {:.0} s\n\n{}\n\
         No program of the second row has a training program of the same shape, names aside.\n\
         model: {place}\nnext:  spanwise explain {place} what states border texas\n       spanwise eval {place} {}\n",
        trained.seconds,
        table.render(),
        directory.join(store::DATA).join("test_compositions.jsonl").display(),
    )
}
