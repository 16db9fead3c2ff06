//! `spanwise data stats`: describes data sets.

use super::{class_of, wrong_file};
use crate::commands::{domain, domain_help};
use crate::output::{Columns, percent, write_text};
use anyhow::Result;
use serde_json::{Value, json};
use spanwise_domains::data::stats::{Lengths, Report, Shared, describe};
use spanwise_domains::data::{self, Example};
use spanwise_lang::{Domain, Terms};
use std::io::{self, Write};
use std::path::PathBuf;

/// Describe data sets: counts, lengths, what splits share, constants unseen in the first.
///
/// Give the train file first: overlaps and unseen constants are counted against the files before.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  spanwise data stats train.jsonl dev.jsonl test.jsonl --domain geo")]
pub(crate) struct Args {
    /// Files of JSON lines, train first
    #[arg(required = true)]
    data: Vec<PathBuf>,
    #[arg(long, help = domain_help(), long_help = format!("{}; its entity classes are what templates leave out", domain_help()))]
    domain: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Most unseen constants that are listed by name.
const MAX_LISTED: usize = 40;

pub(crate) fn run(args: &Args) -> Result<()> {
    let domain = args.domain.as_deref().map(domain).transpose()?;
    let mut splits: Vec<(String, Vec<Example>)> = Vec::new();
    for path in &args.data {
        splits.push((path.display().to_string(), data::read(path).map_err(wrong_file)?));
    }
    let named: Vec<(&str, &[Example])> =
        splits.iter().map(|(name, rows)| (name.as_str(), rows.as_slice())).collect();
    let terms = domain.as_ref().map_or_else(Terms::new, Domain::new_terms);
    let report = describe(terms, &named, |terms, term| class_of(domain.as_ref(), terms, term));
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", as_json(&report))?;
    } else {
        write_text(&mut out, &as_text(&report))?;
    }
    Ok(())
}

fn as_text(report: &Report) -> String {
    let mut table = Columns::new([
        "file",
        "examples",
        "programs",
        "answers",
        "words",
        "constants",
        "utterances",
        "programs",
        "templates",
    ]);
    let range =
        |l: Lengths| if l.n == 0 { "-".to_owned() } else { format!("{}-{} ({:.1})", l.min, l.max, l.mean) };
    for summary in &report.summaries {
        table.row([
            summary.name.clone(),
            summary.n_examples.to_string(),
            summary.n_programs.to_string(),
            summary.n_answers.to_string(),
            range(summary.utterance_tokens),
            range(summary.program_constants),
            summary.distinct_utterances.to_string(),
            summary.distinct_programs.to_string(),
            summary.distinct_templates.to_string(),
        ]);
    }
    let mut out = format!(
        "words and constants: shortest-longest (mean); last three columns: different ones\n{}",
        table.render()
    );
    for summary in report.summaries.iter().filter(|summary| summary.n_unreadable > 0) {
        out += &format!("warning: {} programs of {} cannot be read\n", summary.n_unreadable, summary.name);
    }
    if !report.overlaps.is_empty() {
        out += &format!(
            "\nexamples of the second file whose utterance, program or template the first has too:\n{}",
            overlaps(report)
        );
    }
    for unseen in report.unseen.iter().filter(|unseen| !unseen.constants.is_empty()) {
        let listed: Vec<String> =
            unseen.constants.iter().take(MAX_LISTED).map(|(name, n)| format!("{name} ({n})")).collect();
        let more = unseen.constants.len().saturating_sub(MAX_LISTED);
        let tail = if more > 0 { format!(", and {more} more") } else { String::new() };
        out += &format!("\nin {} but not in the first file: {}{tail}\n", unseen.name, listed.join(", "));
    }
    out
}

fn overlaps(report: &Report) -> String {
    let mut table = Columns::new(["first", "second", "utterance", "program", "template"]);
    for overlap in &report.overlaps {
        let n = report.summaries.iter().find(|s| s.name == overlap.second).map_or(0, |s| s.n_examples);
        let cell = |shared: Shared| {
            let share = percent((n > 0).then(|| 100.0 * shared.examples as f64 / n as f64));
            format!("{} ({share})", shared.examples)
        };
        table.row([
            overlap.first.clone(),
            overlap.second.clone(),
            cell(overlap.utterances),
            cell(overlap.programs),
            cell(overlap.templates),
        ]);
    }
    table.render()
}

fn as_json(report: &Report) -> Value {
    let lengths = |l: Lengths| json!({ "min": l.min, "mean": l.mean, "max": l.max });
    let shared = |s: Shared| json!({ "distinct": s.distinct, "examples": s.examples });
    let files: Vec<Value> = report
        .summaries
        .iter()
        .map(|summary| {
            json!({
                "file": summary.name,
                "examples": summary.n_examples,
                "programs": summary.n_programs,
                "unreadable_programs": summary.n_unreadable,
                "answers": summary.n_answers,
                "utterance_tokens": lengths(summary.utterance_tokens),
                "program_constants": lengths(summary.program_constants),
                "distinct_utterances": summary.distinct_utterances,
                "distinct_programs": summary.distinct_programs,
                "distinct_templates": summary.distinct_templates,
            })
        })
        .collect();
    let overlaps: Vec<Value> = report
        .overlaps
        .iter()
        .map(|overlap| {
            json!({
                "first": overlap.first,
                "second": overlap.second,
                "utterances": shared(overlap.utterances),
                "programs": shared(overlap.programs),
                "templates": shared(overlap.templates),
            })
        })
        .collect();
    let unseen: Vec<Value> = report
        .unseen
        .iter()
        .map(|unseen| {
            let constants: serde_json::Map<String, Value> =
                unseen.constants.iter().map(|(name, n)| (name.clone(), json!(n))).collect();
            json!({ "file": unseen.name, "constants": constants })
        })
        .collect();
    json!({ "files": files, "overlaps": overlaps, "unseen": unseen })
}
