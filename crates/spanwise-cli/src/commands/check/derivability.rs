//! Counts the programs that some tree over the words derives, for each setting of the chart.

use crate::output::{Columns, percent, progress_bar, shorten};
use rayon::prelude::*;
use serde_json::{Value, json};
use spanwise_chart::candidates::PredicatePlacement;
use spanwise_chart::derivable::{Derivability, PREDICATE_PLACEMENTS, SETTINGS};
use spanwise_domains::data::Example;
use spanwise_lang::{ConstantId, Domain};
use spanwise_model::Labels;
use spanwise_model::families::chart::ChartSettings;
use std::collections::{BTreeMap, BTreeSet};

/// The placement that training uses.
const AS_IN_TRAINING: &str = "rare constants on phrases only";

/// The counts for one placement.
pub(super) struct Findings {
    placement: &'static str,
    programs: usize,
    /// Programs derivable in each setting.
    derivable: [usize; SETTINGS.len()],
    causes: BTreeMap<&'static str, usize>,
    failures: Vec<(String, String, String)>,
    /// Programs that leave out words that must be used.
    leaving_out: usize,
    /// The first of these: the words, the utterance, the program.
    left_out: Vec<(String, String, String)>,
}

/// Constants that a model would allow on their phrases only if it was trained on these examples with default settings.
fn rare_constants(domain: &Domain, examples: &[Example]) -> BTreeSet<ConstantId> {
    let mut terms = domain.new_terms();
    let programs: Vec<_> =
        examples.iter().filter_map(|example| terms.parse(example.program.as_ref()?).ok()).collect();
    let mut labels = Labels::new(domain);
    labels.mark_rare(domain, &terms, &programs, ChartSettings::default().rare_below);
    domain.constants().ids().filter(|&constant| labels.is_rare(labels.of(constant))).collect()
}

/// Builds the charts of every example with a program, on all cores. At most `shown` failures are kept for each placement.
pub(super) fn examine(domain: &Domain, examples: &[Example], shown: usize) -> Vec<Findings> {
    let n = examples.len() * (PREDICATE_PLACEMENTS.len() + 1);
    let bar = progress_bar(n, "derivability {bar:30} {pos}/{len}, {eta} left");
    let as_in_training = Derivability::new(domain, PredicatePlacement::Anywhere)
        .with_phrases_only(rare_constants(domain, examples));
    let placements = PREDICATE_PLACEMENTS.iter().map(|&(name, one)| (name, Derivability::new(domain, one)));
    let found = placements.chain([(AS_IN_TRAINING, as_in_training)]).map(|(name, derivability)| {
        let outcomes: Vec<_> = examples
            .par_iter()
            .map_init(
                || domain.new_terms(),
                |terms, example| {
                    bar.inc(1);
                    let program = terms.parse(example.program.as_ref()?).ok()?;
                    let utterance = example.spoken();
                    let setting = derivability
                        .first_setting(&utterance, terms, program)
                        .map_err(|cause| (cause.kind(), cause.describe(domain, terms)));
                    let left_out = derivability.left_out(&utterance, terms, program);
                    let left_out = left_out.iter().map(|&at| utterance.tokens()[at].lower.clone()).collect();
                    Some(Outcome { setting, left_out })
                },
            )
            .collect();
        summarise(name, examples, outcomes, shown)
    });
    let found = found.collect();
    bar.finish_and_clear();
    found
}

struct Outcome {
    /// The first setting that derives the program, or the kind of the cause and the cause.
    setting: Result<usize, (&'static str, String)>,
    /// Words that must be used and are not.
    left_out: Vec<String>,
}

fn summarise(
    placement: &'static str,
    examples: &[Example],
    outcomes: Vec<Option<Outcome>>,
    shown: usize,
) -> Findings {
    let mut findings = Findings {
        placement,
        programs: 0,
        derivable: [0; SETTINGS.len()],
        causes: BTreeMap::new(),
        failures: Vec::new(),
        leaving_out: 0,
        left_out: Vec::new(),
    };
    for (example, outcome) in examples.iter().zip(outcomes) {
        let Some(Outcome { setting, left_out }) = outcome else { continue };
        let texts =
            |first: String| (first, example.utterance.clone(), example.program.clone().unwrap_or_default());
        match setting {
            Ok(first) => findings.derivable[first..].iter_mut().for_each(|n| *n += 1),
            Err((kind, message)) => {
                *findings.causes.entry(kind).or_default() += 1;
                if findings.failures.len() < shown {
                    findings.failures.push(texts(message));
                }
            }
        }
        if !left_out.is_empty() {
            findings.leaving_out += 1;
            if findings.left_out.len() < shown {
                findings.left_out.push(texts(left_out.join(" ")));
            }
        }
        findings.programs += 1;
    }
    findings
}

pub(super) fn as_text(findings: &[Findings]) -> String {
    let share = |n: usize, of: usize| percent((of > 0).then(|| 100.0 * n as f64 / of as f64));
    let mut table = Columns::new(["derivable", SETTINGS[0].0, SETTINGS[1].0, SETTINGS[2].0, SETTINGS[3].0]);
    for found in findings {
        let cell =
            |at: usize| format!("{} ({})", found.derivable[at], share(found.derivable[at], found.programs));
        table.row([found.placement.to_owned(), cell(0), cell(1), cell(2), cell(3)]);
    }
    let mut out =
        format!("\nprograms that some tree over the words gives, setting by setting:\n{}", table.render());
    for found in findings.iter().filter(|found| !found.causes.is_empty()) {
        let causes: Vec<String> = found.causes.iter().map(|(kind, n)| format!("{kind} ({n})")).collect();
        out += &format!("not derivable with {}: {}\n", found.placement, causes.join(", "));
        let kept = found.failures.len();
        for (message, utterance, program) in &found.failures {
            out += &format!("  {message}\n    {}\n    {}\n", shorten(utterance, 150), shorten(program, 200));
        }
        let total: usize = found.causes.values().sum();
        if total > kept {
            out += &format!("  {} more; --show N prints more of them\n", total - kept);
        }
    }
    if let Some(found) = findings.first().filter(|found| found.leaving_out > 0) {
        let n = found.leaving_out;
        out +=
            &format!("programs that leave out words with `must_be_used`: {n}; training allows it for them\n");
        for (words, utterance, program) in &found.left_out {
            out += &format!("  {words}\n    {}\n    {}\n", shorten(utterance, 150), shorten(program, 200));
        }
    }
    out
}

pub(super) fn as_json(findings: &[Findings]) -> Value {
    let one = |found: &Findings| {
        let settings: serde_json::Map<String, Value> = SETTINGS
            .iter()
            .zip(found.derivable)
            .map(|((name, _), n)| ((*name).to_owned(), json!(n)))
            .collect();
        json!({
            "placement": found.placement,
            "programs": found.programs,
            "derivable": settings,
            "causes": found.causes,
            "leave_out_words": found.leaving_out,
            "failures": found.failures.iter().map(|(message, utterance, program)| {
                json!({ "message": message, "utterance": utterance, "program": program })
            }).collect::<Vec<_>>(),
        })
    };
    Value::Array(findings.iter().map(one).collect())
}
