//! `spanwise calibrate`: fits Platt scaling and novelty detection of a trained model.

use super::allow::{AllowArgs, say_refusal};
use super::parser;
use crate::output::{Status, WrongCall, say};
use anyhow::Result;
use serde_json::{Value, json};
use spanwise_core::Utterance;
use spanwise_domains::data::{self, Example};
use spanwise_eval::calibrate::{Fitted, fit, learn_effects, thresholds};
use spanwise_eval::evaluate::evaluate;
use spanwise_eval::metrics::{Evaluator, Report};
use spanwise_model::{DirectoryLock, ModelError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A calibration error that is higher by this is worth a warning.
const WORSE: f64 = 0.005;

/// Calibrate the probabilities of a model without training it again.
///
/// `spanwise train` does this at the end of every run; this command is for models that were trained before, and for dev
/// sets that are closer to what your users ask. Platt scaling, which maps posteriors to probabilities, is fitted on the
/// examples of DEV; they must not be training examples. With --train, the detection of out-of-domain utterances is fitted on
/// the words of those utterances; without, it is kept. Examples whose program is null, in either file, teach what not to
/// answer; with --train and 20 of them, questions that resemble them are recognized. The model is replaced, unless --out
/// names another directory.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise calibrate runs/geo dev.jsonl\n  \
    spanwise calibrate runs/geo dev.jsonl --train train.jsonl --out runs/geo-calibrated")]
pub(crate) struct Args {
    /// The model directory
    model: PathBuf,
    /// Files of JSON lines with `utterance` (or `question`) and `program`
    #[arg(required = true)]
    dev: Vec<PathBuf>,
    /// The examples the model was trained on
    #[arg(long, value_name = "FILE")]
    train: Vec<PathBuf>,
    /// Write the model here instead of replacing it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    allow: AllowArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    let out = args.out.as_deref().unwrap_or(&args.model);
    if out != args.model && out.join("model.json").exists() {
        let out = out.display();
        return Err(
            WrongCall(format!("{out} already holds a model; choose another --out, or remove it")).into()
        );
    }
    // Held from here on: a training into the directory would be lost, or replace this calibration.
    let lock = out.is_dir().then(|| DirectoryLock::take(out)).transpose().map_err(wrong_directory)?;
    let policy = args.allow.policy();
    let parser = parser(&args.model, policy)?;
    say_refusal(&parser);
    let dev = super::eval::read(&args.dev, usize::MAX)?;
    // Examples without a program teach the effects of unread words only: there is no right program to compare with.
    let (unanswerable, dev): (Vec<Example>, Vec<Example>) =
        dev.into_iter().partition(|example| example.unanswerable);
    let mut unanswerable: Vec<Utterance> = unanswerable.iter().map(Example::spoken).collect();
    let train = utterances(&args.train, &mut unanswerable)?;
    if train.is_empty() && parser.model().confidence.novelty.is_none() {
        say("note: without --train, utterances of other domains are not recognized");
    }
    let evaluator = Evaluator::of_parser(&parser);
    let Fitted { confidence, ece_of_posteriors, right } = fit(parser.model(), &evaluator, &train, &dev);
    let mut model = parser.into_model();
    model.confidence = confidence;
    let thresholds = thresholds(&model.training);
    learn_effects(&mut model, &train, &dev, &right, &unanswerable, thresholds);
    if !unanswerable.is_empty() && model.confidence.answerability.is_none() {
        let needed = match (train.is_empty(), unanswerable.len()) {
            (true, _) => "--train".to_owned(),
            (false, n) => format!("at least 20 of them, and there are {n}"),
        };
        say(&format!(
            "note: questions that resemble examples without a program are not recognized; that needs {needed}"
        ));
    }
    match &lock {
        Some(lock) => model.save_locked(lock)?,
        None => model.save(out)?,
    }
    drop(lock);

    // The saved model is evaluated, not the one in memory.
    let parser = super::parser(out, policy)?;
    let evaluator = Evaluator::of_parser(&parser);
    let report = Report::new(&evaluate(parser.model(), &evaluator, &dev, &|_| {}));
    print(args.json, out, &parser.model().confidence, [ece_of_posteriors, report.ece])?;
    if let (Some(before), Some(after)) = (ece_of_posteriors, report.ece)
        && after > before + WORSE
    {
        say(&format!(
            "warning: the calibration error on these {} examples is higher with calibration than without; \
             more examples, or ones that are closer to what users ask, would help",
            dev.len()
        ));
    }
    Ok(Status::Success)
}

/// A directory that is in use is a wrong call.
pub(super) fn wrong_directory(error: ModelError) -> anyhow::Error {
    match error {
        ModelError::Busy { .. } => WrongCall(error.to_string()).into(),
        _ => error.into(),
    }
}

/// The utterances of training files; those without a program are put with the others that have none.
fn utterances(paths: &[PathBuf], unanswerable: &mut Vec<Utterance>) -> Result<Vec<Utterance>> {
    let mut utterances = Vec::new();
    for path in paths {
        let examples: Vec<Example> = data::read(path).map_err(super::data::wrong_file)?;
        for example in examples {
            let kind = if example.unanswerable { &mut *unanswerable } else { &mut utterances };
            kind.push(example.spoken());
        }
    }
    Ok(utterances)
}

fn print(
    as_json: bool,
    directory: &Path,
    confidence: &spanwise_model::Confidence,
    [before, after]: [Option<f64>; 2],
) -> Result<()> {
    let mut out = io::stdout().lock();
    let n_prototypes =
        confidence.novelty.as_ref().map(|novelty| novelty.prototypes.len() / novelty.width.max(1));
    if as_json {
        let object: Value = json!({
            "model": directory.display().to_string(),
            "ece_before": before,
            "ece": after,
            "slope": confidence.calibration.slope,
            "offset": confidence.calibration.offset,
            "prototypes": n_prototypes,
            "threshold": confidence.threshold,
        });
        writeln!(out, "{object}")?;
        return Ok(());
    }
    let shown = |ece: Option<f64>| ece.map_or_else(|| "-".to_owned(), |ece| format!("{ece:.3}"));
    writeln!(out, "calibration error: {} without calibration, {} with it", shown(before), shown(after))?;
    match n_prototypes {
        Some(n) => writeln!(out, "prototypes of words to detect out-of-domain utterances: {n}")?,
        None => writeln!(out, "utterances of other domains are not recognized; give --train to change that")?,
    }
    if let Some(threshold) = confidence.threshold {
        writeln!(out, "answers that are less probable than {threshold:.3} are withheld by default")?;
    }
    writeln!(out, "model: {}", directory.display())?;
    Ok(())
}
