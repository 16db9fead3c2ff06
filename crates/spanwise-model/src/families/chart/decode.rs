//! Decoding: the Viterbi program of a scored chart, its posterior, k-best alternatives and provenance.

use super::scores::ScoredChart;
use crate::outcome::{Alternative, Details, Parse, Provenance};
use crate::provenance::align;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::grammar::N_USAGES;
use spanwise_chart::lattice::ChartError;
use spanwise_chart::objective::posterior;
use spanwise_chart::outside::{log_partition, marginals};
use spanwise_chart::tree::SpanTree;
use spanwise_chart::typed::Input;
use spanwise_core::Span;
use spanwise_lang::{TermId, Terms};
use std::collections::HashMap;

/// Derivations looked at for each alternative program: several derivations may give one program.
const DERIVATIONS_PER_PROGRAM: usize = 50;

/// The best program of a chart; or why there is none.
pub(super) fn decode(scored: &ScoredChart<'_>, details: Details) -> Result<Box<Parse>, String> {
    let parser = scored.parser;
    let broken = |error: ChartError| format!("the scores are broken: {error}");
    let input = scored.chart().map_err(broken)?;
    let chart = BestChart::new(input, &parser.best_rules);
    let nothing = || "the words allow no complete program".to_owned();
    let best = chart.best().ok_or_else(nothing)?;
    let mut terms = parser.model.domain.new_terms();
    let (program, tree) = chart.tree(&mut terms, &best).ok_or_else(nothing)?;
    let log_z = log_partition(&input, &parser.sum_rules).unwrap_or(f64::INFINITY);
    let posterior_of = |terms: &Terms, program: TermId| {
        scored.gold(terms, program).map_or(0.0, |gold| posterior(&input, log_z, &gold))
    };
    let mut alternatives = Vec::new();
    if details.alternatives > 0 {
        let wanted = details.alternatives + 1;
        for (other, derivation) in chart.programs(&mut terms, wanted, wanted * DERIVATIONS_PER_PROGRAM) {
            if other != program {
                let (posterior, score) = (posterior_of(&terms, other), derivation.score);
                alternatives.push(Alternative { program: other, probability: posterior, posterior, score });
            }
        }
        alternatives.truncate(details.alternatives);
    }
    let posterior = posterior_of(&terms, program);
    let provenance = if details.provenance { provenance(scored, &input, &tree) } else { Vec::new() };
    let utterance = scored.input.prepared.utterance.clone();
    let parse = Parse::new(utterance, terms, program, posterior, best.score);
    Ok(Box::new(Parse { tree: Some(tree), alternatives, provenance, ..parse }))
}

/// The constant that each word is aligned to, with its marginal probability.
fn provenance(scored: &ScoredChart<'_>, input: &Input<'_>, tree: &SpanTree) -> Vec<Provenance> {
    let rules = &scored.parser.sum_rules;
    let expected = marginals(input, rules).map(|(_, gradient)| gradient.leaves).unwrap_or_default();
    let prepared = &scored.input.prepared;
    let leaves = prepared.lattice.leaves().iter().zip(expected.chunks_exact(N_USAGES));
    let mut null = vec![1.0f64; prepared.utterance.len()];
    let mut aligned = HashMap::new();
    for (leaf, usages) in leaves {
        let probability = usages.iter().map(|&p| f64::from(p)).sum::<f64>().clamp(0.0, 1.0);
        aligned.insert((leaf.start, leaf.end, leaf.constant), probability);
        for at in leaf.start..leaf.end {
            null[at as usize] -= probability;
        }
    }
    let of = |span: Span, constant| aligned.get(&(span.start, span.end, constant)).copied().unwrap_or(0.0);
    align(tree, &null, of)
}
