//! `spanwise data review`: the log of a server to examples, and the questions that are most worth a label.

use crate::commands::{overwrite, parser};
use crate::output::{Columns, WrongCall, percent, say, shorten, write_text};
use anyhow::Result;
use serde_json::{Value, json};
use spanwise_core::Utterance;
use spanwise_domains::data::{Example, write_all_atomic, write_examples};
use spanwise_model::{ExecutorPolicy, Parser, Question, Withhold};
use spanwise_server::journal::{self, Labelled, Log, Review, Unsure};
use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Make examples from the log of a server, and list the questions that are most worth a label.
///
/// The log is what `spanwise serve --log FILE` writes; FILE.1, the part before it, is read too if it is there. A reply that
/// was judged right, or corrected, becomes an example with its program; a question that should not be answered becomes one
/// with `"program": null`. Each question counts once: where judgements differ, the latest counts, and the conflict is
/// reported. Programs that are wrong without a correction are listed.
///
/// With a model, only what was asked about its domain is read, programs that are none in its domain are left out, and the
/// questions most worth a label are read again with it. Look at the examples before you train on them: whoever can reach
/// the server can judge.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise data review questions.jsonl --out reviewed.jsonl\n  \
    spanwise data review questions.jsonl runs/home --top 50\n  \
    cat reviewed.jsonl >> train.jsonl")]
pub(crate) struct Args {
    /// The log
    log: PathBuf,
    /// A model, to check programs with and to tell which questions are new to it
    model: Option<PathBuf>,
    /// Write the examples to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Number of questions to list that are most worth a label
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Read only what models of this domain were asked
    #[arg(long, value_name = "NAME", conflicts_with = "model")]
    domain: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Most lines of a list in the text.
const MAX_LISTED: usize = 20;
/// Most characters of a question in the table.
const MAX_SHOWN: usize = 60;

/// All that there is to report.
struct Report {
    log: Log,
    review: Review,
    /// Examples that are none in the domain of the model, with the reason.
    ill_typed: Vec<(Labelled, String)>,
    top: Vec<Unsure>,
}

pub(super) fn run(args: &Args) -> Result<()> {
    overwrite::refuse(&args.out, [&args.log])?;
    let log = journal::read(&args.log).map_err(|error| {
        WrongCall(format!("cannot read {}: {error}; expected a log of `serve --log`", args.log.display()))
    })?;
    let parser = args.model.as_deref().map(|model| parser(model, ExecutorPolicy::Off)).transpose()?;
    let domain = parser.as_ref().map(|parser| parser.model().domain.name().to_owned());
    let report = report(log, parser.as_ref(), domain.or_else(|| args.domain.clone()), args.top)?;
    if let Some(out) = &args.out {
        let examples: Vec<Example> = report.review.examples.iter().map(example).collect();
        if examples.is_empty() {
            say(&format!("no examples for {}, which is not written", out.display()));
        } else {
            let files = [(out.clone(), examples)];
            write_all_atomic(&files, |examples, writer| write_examples(writer, examples))?;
            say(&format!("{} examples to {}", files[0].1.len(), out.display()));
        }
    }
    let mut to = io::stdout().lock();
    if args.json {
        writeln!(to, "{}", as_json(&report))?;
    } else {
        write_text(&mut to, &in_words(&report, args.out.is_some()))?;
    }
    Ok(())
}

fn report(mut log: Log, parser: Option<&Parser>, domain: Option<String>, top: usize) -> Result<Report> {
    let domains: BTreeSet<String> = log.models().into_iter().map(|(model, ..)| model.domain).collect();
    match domain {
        Some(domain) if !domains.is_empty() && !domains.contains(&domain) => {
            let names = domains.into_iter().collect::<Vec<_>>().join(", ");
            return Err(
                WrongCall(format!("the log has no question about `{domain}`; it is about {names}")).into()
            );
        }
        Some(domain) => log.keep_domain(&domain),
        None if domains.len() > 1 => {
            let names = domains.into_iter().collect::<Vec<_>>().join(", ");
            let hint = "choose one with --domain, or name a model";
            return Err(WrongCall(format!("the log is about several domains: {names}; {hint}")).into());
        }
        None => {}
    }
    let mut review = Review::of(&log);
    let mut ill_typed = Vec::new();
    if let Some(parser) = parser {
        let (good, bad) = std::mem::take(&mut review.examples).into_iter().fold(
            (Vec::new(), Vec::new()),
            |(mut good, mut bad), it| {
                match it.program.as_deref().map_or(Ok(()), |program| checked(parser, program)) {
                    Ok(()) => good.push(it),
                    Err(why) => bad.push((it, why)),
                }
                (good, bad)
            },
        );
        (review.examples, ill_typed) = (good, bad);
    }
    let read = parser.map(|parser| move |question: &journal::Question| again(parser, question));
    let read = read.as_ref().map(|read| read as journal::Reread<'_>);
    let top = review.most_worth(&log, top, read);
    Ok(Report { log, review, ill_typed, top })
}

/// Why a program is none of the domain.
fn checked(parser: &Parser, program: &str) -> Result<(), String> {
    let domain = &parser.model().domain;
    let mut terms = domain.new_terms();
    let term = terms.parse(program).map_err(|problem| problem.one_line(program))?;
    domain.analyze(&terms, term).map_err(|problem| problem.describe(domain, &terms))?;
    Ok(())
}

/// What a model makes of a question now: the probability of its program, and of the utterance being in the domain.
fn again(parser: &Parser, question: &journal::Question) -> (Option<f64>, Option<f64>) {
    let now = question.now.as_deref().and_then(|now| now.parse().ok());
    let utterance = Utterance::new(question.utterance.as_str()).said_at(now);
    let reading = parser.read(&Question {
        utterance,
        context: question.context.as_ref(),
        withhold: Withhold::Never,
        execute: false,
        ..Question::new("")
    });
    (reading.probability, reading.in_domain)
}

fn example(labelled: &Labelled) -> Example {
    Example {
        program: labelled.program.clone(),
        unanswerable: labelled.program.is_none(),
        now: labelled.now.as_deref().and_then(|now| now.parse().ok()),
        context: labelled.context.clone(),
        ..Example::new(labelled.utterance.as_str())
    }
}

fn as_json(report: &Report) -> Value {
    let Report { log, review, ill_typed, top } = report;
    let n_unanswerable = review.examples.iter().filter(|it| it.program.is_none()).count();
    let models = log.models().into_iter().map(|(model, questions, judgements)| {
        json!({ "name": model.name, "domain": model.domain, "digest": model.digest, "questions": questions, "judgements": judgements })
    });
    json!({
        "questions": log.questions.len(),
        "judgements": log.judgements.len(),
        "examples": review.examples.len(),
        "unanswerable": n_unanswerable,
        "wrong": review.wrong.iter().map(|it| json!({ "utterance": it.utterance, "program": it.program })).collect::<Vec<_>>(),
        "conflicts": review.conflicts.iter().map(|it| {
            json!({ "utterance": it.utterance, "earlier": it.earlier, "later": it.later })
        }).collect::<Vec<_>>(),
        "ill_typed": ill_typed.iter().map(|(it, why)| {
            json!({ "utterance": it.utterance, "program": it.program, "error": why })
        }).collect::<Vec<_>>(),
        "skipped": log.skipped.iter().map(|it| {
            json!({ "file": it.file.display().to_string(), "line": it.line, "reason": it.reason })
        }).collect::<Vec<_>>(),
        "models": models.collect::<Vec<_>>(),
        "top": top.iter().map(|it| json!({
            "utterance": it.utterance, "program": it.program, "count": it.count, "probability": it.probability,
            "novelty": it.novelty, "wrong": it.is_wrong, "score": it.score,
        })).collect::<Vec<_>>(),
    })
}

fn in_words(report: &Report, is_written: bool) -> String {
    let Report { log, review, ill_typed, top } = report;
    let n_unanswerable = review.examples.iter().filter(|it| it.program.is_none()).count();
    let mut out = format!(
        "{} questions, {} judgements; {} examples, {n_unanswerable} of them without a program\n",
        log.questions.len(),
        log.judgements.len(),
        review.examples.len(),
    );
    let models = log.models();
    if models.len() > 1 {
        let each = |(model, asked, judged): &(journal::ModelName, usize, usize)| {
            format!(
                "{} ({}, {}): {asked} questions, {judged} judgements",
                model.name, model.domain, model.digest
            )
        };
        out += &list("replies of several models", &models.iter().map(each).collect::<Vec<_>>());
    }
    let skipped = log.skipped.iter().map(|it| format!("{}:{}: {}", it.file.display(), it.line, it.reason));
    out += &list("lines that could not be read", &skipped.collect::<Vec<_>>());
    let program = |program: &Option<String>| program.clone().unwrap_or_else(|| "no program".to_owned());
    let lines =
        ill_typed.iter().map(|(it, why)| format!("{}: {}: {why}", it.utterance, program(&it.program)));
    out +=
        &list("left out, since the program is none in the domain of the model", &lines.collect::<Vec<_>>());
    let lines =
        review.conflicts.iter().map(|it| format!("{}: {}, then {}", it.utterance, it.earlier, it.later));
    out += &list("conflicts; the latest judgement counts", &lines.collect::<Vec<_>>());
    let lines = review.wrong.iter().map(|it| format!("{}: not {}", it.utterance, program(&it.program)));
    out += &list("wrong, and nobody said what is right", &lines.collect::<Vec<_>>());
    if !is_written && !review.examples.is_empty() {
        out += "\n--out FILE writes the examples\n";
    }
    if !top.is_empty() {
        let mut table = Columns::new(["most worth a label", "asked", "probability", "novelty"]);
        for it in top {
            let mark = if it.is_wrong { " (wrong)" } else { "" };
            let share = |share: Option<f64>| percent(share.map(|share| share * 100.0));
            let text = shorten(&spanwise_render::visible(&it.utterance), MAX_SHOWN);
            table.row([text + mark, it.count.to_string(), share(it.probability), share(it.novelty)]);
        }
        out += &format!("\n{}", table.render());
    }
    out
}

/// A title with lines below it; nothing without lines.
fn list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let shown = lines.iter().take(MAX_LISTED).map(|line| format!("  {}\n", spanwise_render::visible(line)));
    let more = lines.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!("  and {more} more; --json has all\n") } else { String::new() };
    format!("\n{title} ({})\n{}{more}", lines.len(), shown.collect::<String>())
}
