//! Measures how many out-of-domain utterances a model rejects.
//!
//! The file holds one utterance a line, as text or as a JSON object; a line that begins with `# ` names the section that
//! follows.

use crate::commands::lines::{Line, utterance_of};
use crate::commands::read_text;
use crate::output::{Columns, percent};
use anyhow::{Result, bail};
use serde_json::{Map, Value, json};
use spanwise_eval::evaluate::BATCH;
use spanwise_eval::metrics::ScoredExample;
use spanwise_eval::selective::Rejection;
use spanwise_model::{Parser, Request};
use std::path::Path;

/// Largest file of out-of-domain utterances.
const MAX_BYTES: u64 = 64 << 20;
/// The shares of correct answers that are to be kept, in percent.
const KEPT: [f64; 2] = [90.0, 95.0];

/// Out-of-domain utterances by section, each as the probability of what is predicted for it.
pub(super) struct OutOfDomain {
    sections: Vec<(String, Vec<f64>)>,
}

impl OutOfDomain {
    /// Reads a file and parses all of it.
    pub(super) fn read(path: &Path, parser: &Parser) -> Result<Self> {
        let text = read_text(path, MAX_BYTES)?;
        let mut sections: Vec<(String, Vec<Line>)> = vec![(String::new(), Vec::new())];
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(name) = line.strip_prefix("# ") {
                sections.push((name.trim().to_owned(), Vec::new()));
            } else if !line.trim().is_empty() {
                let line = utterance_of(line)
                    .map_err(|error| anyhow::anyhow!("{}:{number}: {error}", path.display()))?;
                let last = sections.len() - 1;
                sections[last].1.push(line);
            }
        }
        sections.retain(|(_, lines)| !lines.is_empty());
        if sections.is_empty() {
            bail!("{} has no utterances; expected one a line", path.display());
        }
        let parsed = |(name, lines): (String, Vec<Line>)| (name, probabilities(parser, &lines));
        Ok(Self { sections: sections.into_iter().map(parsed).collect() })
    }

    fn all(&self) -> Vec<f64> {
        self.sections.iter().flat_map(|(_, probabilities)| probabilities).copied().collect()
    }

    /// Thresholds and shares of rejected utterances as JSON, over all and by section.
    pub(super) fn to_json(&self, scored: &[ScoredExample]) -> Value {
        let shares = |out_of_domain: &[f64]| {
            let of = |kept: f64| Rejection::new(scored, out_of_domain, kept);
            let kept = KEPT.map(|kept| (format!("kept_{kept:.0}"), of(kept).map(|one| one.to_json())));
            let kept = kept.into_iter().map(|(name, one)| (name, json!(one)));
            kept.chain([("n".to_owned(), json!(out_of_domain.len()))]).collect::<Map<_, _>>()
        };
        let mut object = shares(&self.all());
        let section = |(name, out_of_domain): &(String, Vec<f64>)| {
            let mut object = shares(out_of_domain);
            object.insert("section".to_owned(), json!(name));
            Value::Object(object)
        };
        object.insert("sections".to_owned(), self.sections.iter().map(section).collect());
        Value::Object(object)
    }

    /// The same as a table.
    pub(super) fn to_text(&self, scored: &[ScoredExample]) -> String {
        let mut table = Columns::new(["out-of-domain utterances rejected", "of", "90 % kept", "95 % kept"]);
        let mut row = |name: &str, out_of_domain: &[f64]| {
            let share = |kept| percent(Rejection::new(scored, out_of_domain, kept).map(|one| one.rejected));
            let [at_90, at_95] = KEPT.map(share);
            table.row([name.to_owned(), out_of_domain.len().to_string(), at_90, at_95]);
        };
        let all = self.all();
        row("all", &all);
        if self.sections.len() > 1 {
            for (name, out_of_domain) in &self.sections {
                row(if name.is_empty() { "(no section)" } else { name }, out_of_domain);
            }
        }
        let threshold = |kept| Rejection::new(scored, &all, kept).map(|one| format!("{:.3}", one.threshold));
        let [at_90, at_95] = KEPT.map(|kept| threshold(kept).unwrap_or_else(|| "-".to_owned()));
        table.row(["threshold (--abstain-below)".to_owned(), String::new(), at_90, at_95]);
        table.render()
    }
}

/// The probability of what is predicted for each utterance; 0 if nothing is.
fn probabilities(parser: &Parser, lines: &[Line]) -> Vec<f64> {
    let batches = lines.chunks(BATCH);
    batches
        .flat_map(|batch| parser.model().parse_requests(batch.iter().map(request).collect()))
        .map(|outcome| outcome.probability().unwrap_or(0.0))
        .collect()
}

fn request(line: &Line) -> Request<'_> {
    Request { context: line.context.as_ref(), ..Request::new(line.utterance(None)) }
}
