//! `spanwise parse`: utterances to programs and answers.

mod reply;

use super::allow::AllowArgs;
use super::format::{Format, FormatArgs, write_csv};
use super::lines::{Line, Windows, text_of, utterance_of, without_mark};
use super::now::NowArgs;
use super::parser;
use super::withhold::WithholdArgs;
use crate::output::{Status, say, write_text};
use anyhow::{Context as _, Result};
use rayon::prelude::*;
use serde_json::{Value, json};
use spanwise_core::Moment;
use spanwise_model::{Budget, Parser, Question, Withhold};
use spanwise_reading::Reading;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

/// Turn utterances into programs and answers.
///
/// With texts as arguments, prints for each the program, its answer, its calibrated probability, and the tree over the
/// words that yields the program. An answer that is less probable than the threshold of the model is withheld: "I cannot
/// answer this", with the reason and, where two programs are about as likely, a question back. `spanwise calibrate` and
/// training fit the threshold; --abstain-below sets another one, and --always-answer withholds nothing. Words that were
/// read as others, and words that were not read at all, are listed. --format csv and --format plain print the answer alone;
/// where there is none, the reason goes to standard error and the exit code is 1.
///
/// Without texts, reads lines from standard input: JSON objects with `utterance` (or `question`) and optionally `context`
/// (or `scene`) and `now` (the date that relative dates refer to), or plain text, one utterance a line. Writes one JSON
/// object for each line, in order: `utterance`, `program`, `lines`, `answer`, `denotation`, `probability`, `posterior`,
/// `in_domain`, `score`, `tree`, `alternatives`, `tokens`, `unknown_words`, `corrections`, `unread` and `threshold`. The
/// `answer` is typed (list, number, text, table, boolean); the `denotation` is the same as text. The `probability` that
/// the program is right is the calibrated `posterior` times the probability that the utterance is in the domain
/// (`in_domain`). A `program` that is null comes with a `reason` and its `cause`; where it was withheld, with a `guess`
/// and perhaps a `clarification`. A model that gives answers without programs has an `answer` and no `reason` instead. An
/// answer that could not be computed comes with an `error`. The `start` and `end` of tokens count characters (Unicode code
/// points) of the utterance, `span` counts tokens. A line that is no utterance gives an object with `line` and `error`,
/// the other lines are parsed all the same, and the exit code is 1 in the end.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise parse runs/geo \"what states border texas\"\n  \
    spanwise parse runs/geo --k 3 --json \"what is the capital of ohio\"\n  \
    spanwise parse runs/geo --always-answer \"how do i boil an egg\"\n  \
    spanwise parse runs/shop --now 2011-03-05 \"orders of last month\"\n  \
    spanwise parse runs/shop --format csv \"orders of last month\" > orders.csv\n  \
    spanwise parse runs/geo < questions.txt > answers.jsonl")]
pub(crate) struct Args {
    /// The model directory
    model: PathBuf,
    /// Utterances to parse instead of reading standard input
    texts: Vec<String>,
    /// Give up to N other programs too, the most probable first
    #[arg(long = "k", value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=100))]
    alternatives: u16,
    #[command(flatten)]
    withhold: WithholdArgs,
    #[command(flatten)]
    now: NowArgs,
    #[command(flatten)]
    context: super::context::ContextArgs,
    /// Do not evaluate programs: no answers
    #[arg(long)]
    no_execute: bool,
    #[command(flatten)]
    allow: AllowArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// Utterances that go through the network together.
const BATCH: usize = 32;
/// Longest utterance. Lines may be longer: they can hold a scene.
const MAX_UTTERANCE_BYTES: usize = 1 << 20;

pub(crate) fn run(args: &Args) -> Result<Status> {
    let (format, limits) = (args.format.for_arguments(args.texts.len())?, args.format.limits());
    let context = args.context.read()?;
    let parser = parser(&args.model, args.allow.policy())?;
    args.withhold.say_uncalibrated(parser.model());
    let worker = Worker {
        parser: &parser,
        alternatives: args.alternatives.into(),
        context: context.map(|context| context.value),
        withhold: args.withhold.choice(),
        now: args.now.moment(),
        execute: !args.no_execute,
        // Only JSON shows their answers.
        execute_alternatives: format == Format::Json || args.texts.is_empty(),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.texts.is_empty() {
        return worker.stream(&mut out);
    }
    let mut status = Status::Success;
    for (at, text) in args.texts.iter().enumerate() {
        let line = Line { text: text.clone(), context: None, now: None };
        let reading = parser.read(&worker.question(&line));
        match (format, &reading.answer) {
            (Format::Json, _) => writeln!(out, "{}", as_json(&reading)?)?,
            (Format::Table, _) => {
                if at > 0 {
                    writeln!(out)?;
                }
                write_text(&mut out, &reply::text(&reading, limits))?;
            }
            (Format::Csv, Some(answer)) => write_csv(&mut out, answer)?,
            (Format::Plain, Some(_)) => {
                write_text(&mut out, &format!("{}\n", reading.denotation.as_deref().unwrap_or_default()))?;
            }
            (Format::Csv | Format::Plain, None) => {
                status = Status::PartialFailure;
                say(&format!("no answer: {}", reading.reason.or(reading.error).unwrap_or_default()));
            }
        }
        out.flush()?;
    }
    Ok(status)
}

/// A reading as one JSON object on one line.
fn as_json(reading: &Reading) -> serde_json::Result<String> {
    serde_json::to_string(reading)
}

/// Reads a line: a JSON object, or an utterance as it is.
fn read_line(line: &[u8]) -> Result<Line, String> {
    let text = text_of(line)?;
    let line = utterance_of(text.strip_suffix('\r').unwrap_or(text))?;
    if line.text.len() > MAX_UTTERANCE_BYTES {
        return Err(format!(
            "the utterance is longer than {MAX_UTTERANCE_BYTES} bytes; expected one utterance a line"
        ));
    }
    Ok(line)
}

struct Worker<'a> {
    parser: &'a Parser,
    alternatives: usize,
    context: Option<Value>,
    withhold: Withhold,
    now: Option<Moment>,
    execute: bool,
    execute_alternatives: bool,
}

impl Worker<'_> {
    /// The question of a line; its own context and date take precedence over those of the call.
    fn question<'a>(&'a self, line: &'a Line) -> Question<'a> {
        Question {
            utterance: line.utterance(self.now),
            context: line.context.as_ref().or(self.context.as_ref()),
            alternatives: self.alternatives,
            withhold: self.withhold,
            execute: self.execute,
            execute_alternatives: self.execute_alternatives,
            chart: false,
            budget: Budget::interactive(),
        }
    }

    /// Parses standard input window by window, so that memory does not grow with it.
    fn stream(&self, out: &mut dyn Write) -> Result<Status> {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            say("reading utterances from the terminal, one a line; end with Ctrl-D");
        }
        let mut windows = Windows::new(stdin);
        let (mut number, mut n_failed) = (0, 0);
        loop {
            let lines = windows.next().context("cannot read standard input")?;
            if lines.is_empty() {
                break;
            }
            let lines = lines.into_iter().map(|line| {
                number += 1;
                read_line(without_mark(&line, number)).map_err(|error| (number, error))
            });
            for reply in self.window(lines.collect())? {
                match reply {
                    Ok(reply) => writeln!(out, "{reply}")?,
                    Err((line, error)) => {
                        n_failed += 1;
                        writeln!(out, "{}", json!({ "line": line, "error": error }))?;
                    }
                }
            }
            // The sender may wait for these replies before it sends the next line.
            out.flush()?;
        }
        if n_failed > 0 {
            say(&format!("{n_failed} of {number} lines could not be read"));
        }
        Ok(if n_failed == 0 { Status::Success } else { Status::PartialFailure })
    }

    /// The replies in the order of the lines. Utterances of similar length share a batch, batches run in parallel.
    fn window(&self, lines: Vec<Result<Line, BadLine>>) -> Result<Vec<Result<String, BadLine>>> {
        let questions = lines.iter().map(|line| line.as_ref().ok().map(|line| self.question(line)));
        let mut good: Vec<(usize, Question<'_>)> =
            questions.enumerate().filter_map(|(at, question)| Some((at, question?))).collect();
        good.sort_by_key(|(_, question)| question.utterance.len());
        let size = good.len().div_ceil(rayon::current_num_threads()).clamp(1, BATCH);
        let replies: Vec<(usize, serde_json::Result<String>)> = good
            .par_chunks(size)
            .flat_map_iter(|batch| {
                let (places, questions): (Vec<usize>, Vec<Question<'_>>) = batch.iter().cloned().unzip();
                let readings = self.parser.read_batch(&questions);
                places
                    .into_iter()
                    .zip(readings)
                    .map(|(at, reading)| (at, as_json(&reading)))
                    .collect::<Vec<_>>()
            })
            .collect();
        let mut window: Vec<Result<String, BadLine>> =
            lines.into_iter().map(|line| line.map(|_| String::new())).collect();
        for (at, reply) in replies {
            window[at] = Ok(reply?);
        }
        Ok(window)
    }
}

/// The number of a line, and what is wrong with it.
type BadLine = (usize, String);
