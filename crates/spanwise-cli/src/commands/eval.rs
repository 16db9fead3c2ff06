//! `spanwise eval`: measures a model on examples.

mod out_of_domain;

use super::allow::{AllowArgs, say_refusal};
use super::withhold::UNCALIBRATED;
use super::{overwrite, parser, tokenizer};
use crate::output::{Columns, Status, percent, progress_bar, write_text};
use anyhow::Result;
use out_of_domain::OutOfDomain;
use serde_json::{Value, json};
use spanwise_domains::data::{self, Example, write_atomic};
use spanwise_eval::evaluate::evaluate_with;
use spanwise_eval::metrics::{Evaluator, Report, ScoredExample};
use spanwise_eval::selective::SelectiveAccuracy;
use spanwise_model::{Outcome, Parser};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

/// Measure a model on examples with programs.
///
/// Every utterance is parsed, and the predicted program is compared with the gold program (exact match), and the answers of
/// both with each other (denotation). Coverage is the share of gold programs that the model can derive from the words. The
/// expected calibration error (ECE) is the mean difference between probability and accuracy; risk at 80 % is the share of
/// errors among the 80 % of predictions with the highest probability. A model that gives answers without programs has neither
/// exact match nor coverage.
///
/// With --out-of-domain, a file of out-of-domain utterances is parsed too, one a line, as text or as JSON objects with
/// `utterance`; lines that begin with `# ` name sections. The report has the share of them that is rejected at the
/// thresholds that keep 90 % and 95 % of the correct answers.
///
/// Every reading is scored, also those that `parse` and `serve` would withhold. How many these are at the threshold of the
/// model, and how many of the others are right, is reported apart (`withheld`).
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise eval runs/geo test.jsonl\n  \
    spanwise eval runs/geo test.jsonl --json --predictions predictions.jsonl\n  \
    spanwise eval runs/geo test.jsonl --abstain-below 0.5 --out-of-domain chit-chat.txt")]
pub(crate) struct Args {
    /// The model directory
    model: PathBuf,
    /// Files of JSON lines with `utterance` (or `question`) and `program`
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Write one JSON line per example with the prediction
    #[arg(long, value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Report also coverage and accuracy when the model abstains from answers with a confidence below P
    #[arg(long, value_name = "P", value_parser = super::probability)]
    abstain_below: Option<f64>,
    /// Out-of-domain utterances, to measure how many of them are rejected
    #[arg(long, value_name = "FILE", alias = "foreign")]
    out_of_domain: Option<PathBuf>,
    /// A directory with the tokenizer (tokenizer.json or vocab.txt) whose word-pieces gold trees count [default: the model's; one
    /// without word-pieces compares trees where every word is one piece]
    #[arg(long, value_name = "DIR")]
    pieces: Option<PathBuf>,
    /// Evaluate the first N examples only
    #[arg(long, value_name = "N")]
    limit: Option<NonZeroUsize>,
    #[command(flatten)]
    allow: AllowArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    let inputs = args.data.iter().chain(&args.out_of_domain).cloned();
    overwrite::refuse(&args.predictions, inputs.chain(overwrite::model_files(&args.model)))?;
    let parser = parser(&args.model, args.allow.policy())?;
    say_refusal(&parser);
    let examples = read(&args.data, args.limit.map_or(usize::MAX, NonZeroUsize::get))?;
    let pieces = args.pieces.as_deref().map(tokenizer).transpose()?;
    let mut evaluator = Evaluator::of_parser(&parser);
    if let Some(pieces) = &pieces {
        evaluator = evaluator.with_pieces(pieces);
    }

    let bar = progress_bar(examples.len(), "{bar:30} {pos}/{len} {per_sec} {eta}");
    let started = Instant::now();
    let wants_lines = args.predictions.is_some();
    let scored = evaluate_with(
        parser.model(),
        &evaluator,
        &examples,
        &|done| bar.inc(done as u64),
        &|example, one, outcome| wants_lines.then(|| prediction(&parser, example, one, outcome).to_string()),
    );
    let seconds = started.elapsed().as_secs_f64();
    bar.finish_and_clear();

    if let Some(path) = &args.predictions {
        let lines: Vec<&str> = scored.iter().filter_map(|(_, line)| line.as_deref()).collect();
        write_atomic(path, |file| lines.iter().try_for_each(|line| writeln!(file, "{line}")))?;
    }
    let (unanswerable, scored) = apart(&examples, scored.into_iter().map(|(one, _)| one));
    let report = Report::new(&scored);
    let threshold = parser.model().confidence.threshold;
    let withheld = threshold.map(|threshold| Withheld::new(&scored, threshold, &unanswerable));
    let selective = args.abstain_below.map(|threshold| SelectiveAccuracy::new(&scored, threshold));
    let out_of_domain =
        args.out_of_domain.as_ref().map(|path| OutOfDomain::read(path, &parser)).transpose()?;
    let speed = examples.len() as f64 / seconds.max(f64::MIN_POSITIVE);
    let mut out = io::stdout().lock();
    if args.json {
        let mut object = report.to_json();
        object.insert("seconds".to_owned(), json!(seconds));
        object.insert("utterances_per_second".to_owned(), json!(speed));
        if let Some(SelectiveAccuracy { answered, accuracy_answered }) = selective {
            object.insert("answered".to_owned(), json!(answered));
            object.insert("accuracy_answered".to_owned(), json!(accuracy_answered));
        }
        object.insert("withheld".to_owned(), json!(withheld.as_ref().map(Withheld::to_json)));
        if let Some(out_of_domain) = &out_of_domain {
            object.insert("out_of_domain".to_owned(), out_of_domain.to_json(&scored));
        }
        writeln!(out, "{}", Value::Object(object))?;
    } else {
        let mut text = as_text(&report, selective, withheld.as_ref());
        text += &format!("\n{} utterances in {seconds:.1} s, {speed:.0} a second\n", report.n);
        if let Some(out_of_domain) = &out_of_domain {
            text += &format!("\n{}", out_of_domain.to_text(&scored));
        }
        write_text(&mut out, &text)?;
    }
    Ok(Status::Success)
}

/// Reads the first `limit` examples of some files. At least one must have a program or an answer to compare with.
pub(super) fn read(paths: &[PathBuf], limit: usize) -> Result<Vec<Example>> {
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
             or use `spanwise parse` to see what the model predicts",
            files.join(", ")
        );
    }
    Ok(examples)
}

/// Examples that are known to have no program, and all others: there is nothing to compare the first with.
fn apart(
    examples: &[Example],
    scored: impl Iterator<Item = ScoredExample>,
) -> (Vec<ScoredExample>, Vec<ScoredExample>) {
    let (mut unanswerable, mut others) = (Vec::new(), Vec::new());
    for (example, one) in examples.iter().zip(scored) {
        let side = if example.unanswerable { &mut unanswerable } else { &mut others };
        side.push(one);
    }
    (unanswerable, others)
}

/// What the threshold of the model withholds.
struct Withheld {
    threshold: f64,
    n: usize,
    of: usize,
    /// Examples that have no program, and how many of them are not answered.
    unanswerable: [usize; 2],
    /// What is left.
    rest: SelectiveAccuracy,
}

impl Withheld {
    fn new(scored: &[ScoredExample], threshold: f64, unanswerable: &[ScoredExample]) -> Self {
        let n = scored.iter().filter(|one| is_withheld(one, threshold)).count();
        let silent = unanswerable.iter().filter(|one| !one.found || is_withheld(one, threshold)).count();
        let rest = SelectiveAccuracy::new(scored, threshold);
        Self { threshold, n, of: scored.len(), unanswerable: [unanswerable.len(), silent], rest }
    }

    fn share(&self) -> Option<f64> {
        (self.of > 0).then(|| 100.0 * self.n as f64 / self.of as f64)
    }

    fn share_unanswerable(&self) -> Option<f64> {
        let [n, silent] = self.unanswerable;
        (n > 0).then(|| 100.0 * silent as f64 / n as f64)
    }

    fn to_json(&self) -> Value {
        json!({
            "threshold": self.threshold,
            "n": self.n,
            "share": self.share(),
            "unanswerable": self.unanswerable[0],
            "unanswerable_withheld": self.share_unanswerable(),
            "answered": self.rest.answered,
            "accuracy_answered": self.rest.accuracy_answered,
        })
    }
}

/// Whether a program was found and is less probable than the threshold.
fn is_withheld(scored: &ScoredExample, threshold: f64) -> bool {
    scored.found && scored.probability < threshold
}

fn as_text(report: &Report, selective: Option<SelectiveAccuracy>, withheld: Option<&Withheld>) -> String {
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
    if let Some(SelectiveAccuracy { answered, accuracy_answered }) = selective {
        table.row(["answered".to_owned(), percent(answered), n.clone()]);
        table.row(["right where answered".to_owned(), percent(accuracy_answered), "answered".to_owned()]);
    }
    if let Some(withheld) = withheld {
        let name = format!("withheld below {:.3}", withheld.threshold);
        table.row([name, percent(withheld.share()), n.clone()]);
        let rest = percent(withheld.rest.accuracy_answered);
        table.row(["right of the rest".to_owned(), rest, "answered".to_owned()]);
        if let Some(share) = withheld.share_unanswerable() {
            let of = withheld.unanswerable[0].to_string();
            table.row(["unanswerable, withheld".to_owned(), percent(Some(share)), of]);
        }
    }
    let ece = report.ece.map_or_else(|| "-".to_owned(), |ece| format!("{ece:.3}"));
    table.row(["calibration error".to_owned(), ece, n]);
    let note = if withheld.is_none() { format!("\n{UNCALIBRATED}\n") } else { String::new() };
    table.render() + &note
}

/// The prediction for one example, as a line of --predictions.
fn prediction(parser: &Parser, example: &Example, scored: &ScoredExample, outcome: &Outcome) -> Value {
    let (program, denotation) = match outcome {
        Outcome::Found(parse) => {
            let program = parser.model().domain.display(&parse.terms, parse.program).to_string();
            let denotation = parser.execute(&parse.terms, parse.program, example.context.as_ref());
            (Some(program), denotation.and_then(Result::ok).map(|denotation| denotation.text))
        }
        Outcome::Answered(answered) => (None, Some(answered.answer.clone())),
        Outcome::Nothing { .. } => (None, None),
    };
    json!({
        "utterance": example.utterance,
        "gold": example.program,
        "program": program,
        "denotation": denotation,
        "probability": scored.probability,
        "withheld": parser.model().confidence.threshold.map(|threshold| is_withheld(scored, threshold)),
        "exact": scored.exact,
        "denotation_correct": scored.denotation,
    })
}
