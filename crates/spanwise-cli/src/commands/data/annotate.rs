//! `spanwise data annotate`: derives gold trees from programs.

use super::{read_examples, wrong_file};
use crate::commands::{domain_help, load, overwrite, read_file, tokenizer};
use crate::output::{Columns, percent, progress_bar, say, write_text};
use anyhow::Result;
use rayon::prelude::*;
use serde_json::{Value, json};
use spanwise_domains::data::{self, Example, write_atomic, write_examples};
use spanwise_domains::load::Spec;
use spanwise_domains::text::MAX_BYTES;
use spanwise_eval::agreement::{Agreement, OtherTrees, annotated_example, by_kind};
use spanwise_eval::annotate::{Annotated, Annotator, Omission};
use spanwise_lang::{Annotation, Domain};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Make gold trees from programs: which words are aligned to which constant.
///
/// Phrases give the words that each constant can be aligned to, and the program decides which of these alignments fit
/// together. Examples with more than one possible tree are left out and counted. A parser can be trained on the result with
/// `--set data.trees=FILE --set training.objective=gold-trees`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise data annotate geo train.jsonl --out trees.jsonl\n  \
    spanwise data annotate my-domain.toml train.jsonl --phrases phrases.toml --out trees.jsonl\n  \
    spanwise data annotate geo train.jsonl --compare train_spans.json --pieces runs/geo")]
pub(crate) struct Args {
    #[arg(help = domain_help())]
    domain: String,
    /// Files of JSON lines with `utterance` (or `question`) and `program`
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Write the annotated examples, with their trees in `gold_spans`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// A file of phrases and preferences, instead of those that come with the domain
    #[arg(long, value_name = "FILE")]
    phrases: Option<PathBuf>,
    /// Compare with other gold trees of the same utterances
    #[arg(long, value_name = "FILE", num_args = 1..)]
    compare: Vec<PathBuf>,
    /// A directory with the tokenizer (tokenizer.json or vocab.txt) whose word-pieces the other trees count; without it,
    /// trees are compared where every word is one piece
    #[arg(long, value_name = "DIR", requires = "compare")]
    pieces: Option<PathBuf>,
    /// List every example that is left out, with the reason
    #[arg(long)]
    verbose: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A name, and whether an annotation is of that kind.
type AnnotationKind = (&'static str, fn(&Annotated) -> bool);

/// The kinds of annotations that the report counts.
const KINDS: [AnnotationKind; 2] = [
    ("with an implicit constant", Annotated::has_implicit),
    ("with free brackets", |annotated| annotated.n_trees > 1.0),
];

/// The annotated examples and the omitted ones, in the order of the data.
struct Outcome {
    annotated: Vec<(Example, Annotated)>,
    omissions: Vec<Omission>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let spec = Spec::parse(&args.domain);
    let domain = load(spec)?;
    let inputs = args.data.iter().chain(&args.phrases).chain(&args.compare).cloned();
    overwrite::refuse(&args.out, inputs.chain(overwrite::domain_files(spec, &domain)))?;
    let annotation = match &args.phrases {
        Some(path) => {
            let text = read_file(path, MAX_BYTES)?;
            Annotation::load(&domain, &text, &path.display().to_string())?
        }
        None => spec.annotation(&domain)?,
    };
    let mut others: Vec<Example> = Vec::new();
    for path in &args.compare {
        others.extend(data::read(path).map_err(wrong_file)?);
    }
    let pieces = args.pieces.as_deref().map(tokenizer).transpose()?;
    let examples = read_examples(&args.data)?.into_iter().map(|placed| placed.example).collect();
    let outcome = annotate(&domain, &annotation, examples);

    if let Some(path) = &args.out {
        write(path, &outcome)?;
    }
    let agreement = (!args.compare.is_empty()).then(|| {
        let others = OtherTrees::new(&others, pieces.as_ref());
        let mut agreement = Agreement::default();
        for (example, annotated) in &outcome.annotated {
            agreement.add(&others, &example.utterance, &annotated.spans);
        }
        agreement
    });
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", as_json(&outcome, agreement.as_ref()))?;
    } else {
        write_text(&mut out, &as_text(&outcome, agreement.as_ref(), args.verbose))?;
    }
    Ok(())
}

/// Annotates on all cores.
fn annotate(domain: &Domain, annotation: &Annotation, examples: Vec<Example>) -> Outcome {
    let annotator = Annotator::new(domain, annotation);
    let bar = progress_bar(examples.len(), "{bar:30} {pos}/{len} {per_sec} {eta}");
    let outcomes: Vec<(Example, Result<Annotated, Omission>)> = examples
        .into_par_iter()
        .map(|example| {
            let outcome = annotator.example(&example);
            bar.inc(1);
            (example, outcome)
        })
        .collect();
    bar.finish_and_clear();
    let mut sorted = Outcome { annotated: Vec::new(), omissions: Vec::new() };
    for (example, outcome) in outcomes {
        match outcome {
            Ok(annotated) => sorted.annotated.push((example, annotated)),
            Err(omission) => sorted.omissions.push(omission),
        }
    }
    sorted
}

fn write(path: &Path, outcome: &Outcome) -> Result<()> {
    if outcome.annotated.is_empty() {
        anyhow::bail!(
            "no example could be annotated, so {} is not written (hint: `--verbose` lists the reasons, \
             `--phrases` adds phrases)",
            path.display()
        );
    }
    let examples: Vec<Example> =
        outcome.annotated.iter().map(|(example, annotated)| annotated_example(example, annotated)).collect();
    write_atomic(path, |file| write_examples(file, &examples))?;
    say(&format!("{} examples to {}", examples.len(), path.display()));
    Ok(())
}

fn as_text(outcome: &Outcome, agreement: Option<&Agreement>, verbose: bool) -> String {
    let (n_annotated, n_left_out) = (outcome.annotated.len(), outcome.omissions.len());
    let n = n_annotated + n_left_out;
    let share = |part: usize| percent((n > 0).then(|| 100.0 * part as f64 / n as f64));
    let mut table = Columns::new(["examples", "number", "percent"]);
    table.row(["all".to_owned(), n.to_string(), share(n)]);
    table.row(["annotated".to_owned(), n_annotated.to_string(), share(n_annotated)]);
    for (name, holds) in KINDS {
        let number = outcome.annotated.iter().filter(|(_, annotated)| holds(annotated)).count();
        if number > 0 {
            table.row([format!("  {name}"), number.to_string(), share(number)]);
        }
    }
    let kinds = by_kind(&outcome.omissions);
    for (kind, number, _) in &kinds {
        table.row([format!("left out: {kind}"), number.to_string(), share(*number)]);
    }
    let mut text = table.render();
    if let Some(agreement) = agreement {
        text += &format!("\nagainst {} other trees", agreement.n_compared);
        if agreement.n_unreadable > 0 {
            let hint = "(hint: `--pieces` names the tokenizer that they count in)";
            text += &format!("; {} more cannot be read over words {hint}", agreement.n_unreadable);
        }
        let mut table = Columns::new(["agreement", "percent"]);
        table.row(["labelled spans, F1".to_owned(), percent(agreement.spans.f1())]);
        table.row(["constants, F1".to_owned(), percent(agreement.constants.f1())]);
        table.row(["identical trees".to_owned(), percent(agreement.identical())]);
        text += &format!("\n{}", table.render());
    }
    if verbose {
        for omission in &outcome.omissions {
            text += &format!("\n{}: {}\n  {}\n", omission.kind, omission.reason, omission.utterance);
        }
    } else {
        for (kind, _, first) in &kinds {
            text += &format!("\n{kind}, for example: {}\n  {}\n", first.reason, first.utterance);
        }
    }
    text
}

fn as_json(outcome: &Outcome, agreement: Option<&Agreement>) -> Value {
    let n = outcome.annotated.len() + outcome.omissions.len();
    let kinds = by_kind(&outcome.omissions);
    let left_out: serde_json::Map<String, Value> =
        kinds.iter().map(|(kind, number, _)| ((*kind).to_owned(), json!(number))).collect();
    let share = (n > 0).then(|| 100.0 * outcome.annotated.len() as f64 / n as f64);
    let agreement = agreement.map(|agreement| {
        json!({
            "n_compared": agreement.n_compared,
            "n_unreadable": agreement.n_unreadable,
            "span_f1": agreement.spans.f1(),
            "constant_f1": agreement.constants.f1(),
            "identical": agreement.identical(),
        })
    });
    json!({
        "n": n,
        "n_annotated": outcome.annotated.len(),
        "annotated": share,
        "left_out": left_out,
        "agreement": agreement,
    })
}
