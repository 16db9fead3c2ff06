//! `spanwise eval`: how good a model is.

use super::parser;
use crate::output::{Columns, Done, percent};
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde_json::{Value, json};
use spanwise_core::Utterance;
use spanwise_domains::data::{self, Example, write_atomic};
use spanwise_model::{Details, Parser};
use spanwise_train::evaluate::{BATCH, evaluate};
use spanwise_train::metrics::{Judge, Judged, Report};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Measure a model on examples with programs.
///
/// Every utterance is parsed, and its program compared with the gold program (exact match) and by what both evaluate to
/// (denotation). Coverage is the share of gold programs that some tree over the words can give at all. The calibration
/// error (ECE) says how far the model's probabilities are from the truth; risk at 80 % is the share of errors among the
/// 80 % of answers that it is most sure of.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise eval runs/geo test.jsonl\n  \
    spanwise eval runs/geo test.jsonl --json --predictions predictions.jsonl")]
pub(crate) struct Args {
    /// The model directory
    model: PathBuf,
    /// Files of JSON lines with `utterance` (or `question`) and `program`
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Write one JSON line per example with what was predicted
    #[arg(long, value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Look at the first N examples only
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Done> {
    let parser = parser(&args.model)?;
    let examples = read(&args.data, args.limit.map_or(usize::MAX, NonZeroUsize::get))?;
    let judge = Judge::new(&parser.model().domain, Some(&args.model))?;

    let bar = ProgressBar::new(examples.len() as u64);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {per_sec} {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    let started = Instant::now();
    let judged = evaluate(&parser, &judge, &examples, &|done| bar.inc(done as u64));
    let seconds = started.elapsed().as_secs_f64();
    bar.finish_and_clear();

    if let Some(path) = &args.predictions {
        write_predictions(path, &parser, &examples, &judged)?;
    }
    let report = Report::new(&judged);
    let speed = examples.len() as f64 / seconds.max(f64::MIN_POSITIVE);
    let mut out = io::stdout().lock();
    if args.json {
        let mut object = report.to_json();
        object.insert("seconds".to_owned(), json!(seconds));
        object.insert("utterances_per_second".to_owned(), json!(speed));
        writeln!(out, "{}", Value::Object(object))?;
    } else {
        out.write_all(as_text(&report, seconds, speed).as_bytes())?;
    }
    Ok(Done::Well)
}

/// The first `limit` examples of some files; there must be something to compare predictions with.
fn read(paths: &[PathBuf], limit: usize) -> Result<Vec<Example>> {
    let mut examples: Vec<Example> = Vec::new();
    for path in paths {
        for example in data::open(path).map_err(super::data::wrong_file)? {
            if examples.len() >= limit {
                break;
            }
            examples.push(example?);
        }
    }
    if !examples.iter().any(|example| example.program.is_some() || example.answer.is_some()) {
        let files: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        anyhow::bail!(
            "no example of {} has a program: there is nothing to compare with; expected a field `program`, \
             or use `spanwise parse` to see what the model says",
            files.join(", ")
        );
    }
    Ok(examples)
}

fn as_text(report: &Report, seconds: f64, speed: f64) -> String {
    let mut table = Columns::new(["measure", "value", "of"]);
    let n = report.n.to_string();
    let n_denotation = report.n_denotation.to_string();
    let n_trees = report.n_trees.to_string();
    let n_trees_any = report.n_trees_any.to_string();
    for (name, share, of) in [
        ("exact match", report.exact_match, &n),
        ("denotation", report.denotation, &n_denotation),
        ("denotation, strict", report.denotation_strict, &n_denotation),
        ("coverage", report.coverage, &n),
        ("no parse", report.no_parse, &n),
        ("tree F1", report.tree_f1, &n_trees),
        ("tree F1, any tree", report.tree_f1_any, &n_trees_any),
        ("risk at 80 %", report.risk_at_80, &n),
        ("risk at 90 %", report.risk_at_90, &n),
        ("risk at 95 %", report.risk_at_95, &n),
    ] {
        table.row([name.to_owned(), percent(share), of.clone()]);
    }
    let ece = report.ece.map_or_else(|| "-".to_owned(), |ece| format!("{ece:.3}"));
    table.row(["calibration error".to_owned(), ece, n.clone()]);
    format!("{}\n{n} utterances in {seconds:.1} s, {speed:.0} a second\n", table.render())
}

/// Writes what was predicted, in the order of the examples. The batches are those of the evaluation, so that the
/// predictions are exactly the ones that were judged.
fn write_predictions(path: &Path, parser: &Parser, examples: &[Example], judged: &[Judged]) -> Result<()> {
    let mut order: Vec<usize> = (0..examples.len()).collect();
    order.sort_by_key(|&at| (examples[at].utterance.split_whitespace().count(), at));
    let mut lines: Vec<(usize, String)> = order
        .par_chunks(BATCH)
        .flat_map_iter(|batch| {
            let utterances =
                batch.iter().map(|&at| Utterance::new(examples[at].utterance.as_str())).collect();
            let outcomes = parser.parse_batch(utterances, Details::default());
            let line = |(&at, outcome): (&usize, spanwise_model::Outcome)| {
                (at, prediction(parser, &examples[at], &judged[at], &outcome).to_string())
            };
            batch.iter().zip(outcomes).map(line).collect::<Vec<_>>()
        })
        .collect();
    lines.sort_unstable_by_key(|(at, _)| *at);
    write_atomic(path, |file| lines.iter().try_for_each(|(_, line)| writeln!(file, "{line}")))?;
    Ok(())
}

fn prediction(
    parser: &Parser,
    example: &Example,
    judged: &Judged,
    outcome: &spanwise_model::Outcome,
) -> Value {
    let found = outcome.parse().map(|parse| {
        let program = parser.model().domain.display(&parse.terms, parse.program).to_string();
        let denotation = parser.execute(&parse.terms, parse.program, example.context.as_ref());
        (program, denotation.and_then(Result::ok).map(|denotation| denotation.text))
    });
    let (program, denotation) =
        found.map_or((None, None), |(program, denotation)| (Some(program), denotation));
    json!({
        "utterance": example.utterance,
        "gold": example.program,
        "program": program,
        "denotation": denotation,
        "probability": judged.probability,
        "exact": judged.exact,
        "denotation_correct": judged.denotation,
    })
}
