//! Decoding: the Viterbi program of a scored chart, its posterior, k-best alternatives and provenance.

use super::scores::ScoredChart;
use crate::outcome::{Alternative, Details, Parse, Provenance, Refused, Rival};
use crate::provenance::align;
use crate::span_model::{Decoded, exhausted};
use spanwise_chart::budget::{Exhausted, Meter};
use spanwise_chart::derivation::BestChart;
use spanwise_chart::grammar::N_USAGES;
use spanwise_chart::lattice::{ChartError, Gradient};
use spanwise_chart::objective::posterior;
use spanwise_chart::outside::InsideChart;
use spanwise_chart::spans::span_posteriors;
use spanwise_chart::tree::{Category, SpanTree};
use spanwise_chart::typed::Input;
use spanwise_core::Span;
use spanwise_lang::{TermId, Terms};

/// Derivations looked at for each alternative program: several derivations may give one program.
const DERIVATIONS_PER_PROGRAM: usize = 50;

/// What leaving out a word that must be used costs where no program uses all of them.
const MUST_BE_USED: f32 = 30.0;

/// Derivations looked at until one has a program whose sets are allowed.
const MAX_TRIED: usize = 200;

/// Spans that are less probable than this are left out.
const MIN_POSTERIOR: f64 = 1e-4;

/// The best program of a chart, or why there is none; and posteriors of spans if they are requested.
pub(super) fn decode(mut scored: ScoredChart<'_>, details: Details, meter: &Meter) -> Decoded {
    let input = match scored.chart() {
        Ok(input) => input,
        Err(error) => return Decoded::nothing(broken(&error)),
    };
    match found(&scored, input, details, meter) {
        Ok(Some(decoded)) => decoded,
        // Then as few as possible of the words that must be used are left out.
        Ok(None) if scored.relax(MUST_BE_USED) => decode(scored, details, meter),
        Ok(None) => Decoded::nothing(Refused::no_program("the words allow no complete program")),
        Err(limit) => Decoded::nothing(exhausted(&scored.input.prepared, limit)),
    }
}

fn broken(error: &ChartError) -> Refused {
    Refused::no_program(format!("the scores are broken: {error}"))
}

/// The same; `None` when the words allow no program.
fn found(
    scored: &ScoredChart<'_>,
    input: Input<'_>,
    details: Details,
    meter: &Meter,
) -> Result<Option<Decoded>, Exhausted> {
    let parser = scored.parser;
    let (best_rules, sum_rules) =
        (scored.input.rules(&parser.best_rules), scored.input.rules(&parser.sum_rules));
    let chart = BestChart::within(input, &best_rules, meter)?;
    let mut terms = parser.model.domain.new_terms();
    let Some((best, program, tree)) = chart.best_tree(&mut terms, MAX_TRIED) else { return Ok(None) };
    let listed = others(&chart, &mut terms, program, details.alternatives, meter);
    drop(chart);
    // Joins are counted where they have a score; a score of zero changes nothing else.
    let zeros = if details.chart && scored.joins.is_empty() {
        vec![0.0; input.lattice().n_cells()]
    } else {
        Vec::new()
    };
    let counted = if zeros.is_empty() { input } else { input.with_joins(&zeros) };
    let inside = InsideChart::new(counted, &sum_rules, meter)?;
    let log_z = inside.log_partition().unwrap_or(f64::INFINITY);
    let posterior = posterior(&input, log_z, &terms, program, meter)?;
    let expected = if details.provenance || details.chart { inside.marginals(meter)? } else { None };
    drop(inside);
    let expected = expected.unwrap_or_default();
    let spans =
        if details.chart { span_posteriors(input.lattice(), &expected, MIN_POSTERIOR) } else { Vec::new() };
    let alternatives = alternatives(&input, log_z, &terms, listed, meter)?;
    let rival = match alternatives.first() {
        _ if !details.rival || posterior >= Rival::SURE => None,
        Some(first) => Some(Rival { program: first.program, posterior: first.posterior }),
        None => {
            let chart = BestChart::within(input, &best_rules, meter)?;
            let second = others(&chart, &mut terms, program, 1, meter);
            let second = self::alternatives(&input, log_z, &terms, second, meter)?;
            second.first().map(|second| Rival { program: second.program, posterior: second.posterior })
        }
    };
    let prepared = &scored.input.prepared;
    let own = scored.own_scores();
    let whole =
        parser.model.whole_phrases(prepared, (&mut terms, program), &tree, meter, || (own, scored.flat()));
    let trees = (&tree, whole.as_ref());
    let provenance = if details.provenance { provenance(scored, &expected, trees) } else { Vec::new() };
    let parse = Parse::new(prepared.utterance.clone(), terms, program, posterior, best.score);
    let parse = Parse { rival, ..parse };
    let parse = Parse { tree: Some(tree), whole, alternatives, provenance, ..parse };
    Ok(Some(Decoded { parse: Ok(Box::new(parse)), spans }))
}

/// At most `k` programs besides the best, each with the score of its best derivation. They may cost a part of the budget
/// only: the best program needs the rest.
fn others(
    chart: &BestChart<'_>,
    terms: &mut Terms,
    best: TermId,
    k: usize,
    meter: &Meter,
) -> Vec<(TermId, f32)> {
    if k == 0 {
        return Vec::new();
    }
    let found = chart.programs(terms, k + 1, (k + 1) * DERIVATIONS_PER_PROGRAM, &meter.share(4));
    let others = found.into_iter().filter(|(program, _)| *program != best);
    others.take(k).map(|(program, derivation)| (program, derivation.score)).collect()
}

/// These programs with their posteriors, as far as the budget allows.
fn alternatives(
    input: &Input<'_>,
    log_z: f64,
    terms: &Terms,
    others: Vec<(TermId, f32)>,
    meter: &Meter,
) -> Result<Vec<Alternative>, Exhausted> {
    let mut found = Vec::with_capacity(others.len());
    for (program, score) in others {
        match posterior(input, log_z, terms, program, meter) {
            Ok(posterior) => found.push(Alternative { program, probability: posterior, posterior, score }),
            Err(limit @ (Exhausted::Deadline | Exhausted::Cancelled)) => return Err(limit),
            Err(Exhausted::Work | Exhausted::Memory | Exhausted::Time) => break,
        }
    }
    Ok(found)
}

/// The constant that each word is aligned to in the tree that is shown, with its marginal probability.
fn provenance(
    scored: &ScoredChart<'_>,
    expected: &Gradient,
    (best, whole): (&SpanTree, Option<&SpanTree>),
) -> Vec<Provenance> {
    let prepared = &scored.input.prepared;
    let leaves = prepared.lattice.leaves().iter().zip(expected.leaves.chunks_exact(N_USAGES));
    let mut null = vec![1.0f64; prepared.utterance.len()];
    let mut aligned = Vec::new();
    for (leaf, usages) in leaves {
        let probability = usages.iter().map(|&p| f64::from(p)).sum::<f64>().clamp(0.0, 1.0);
        aligned.push((leaf.span(), leaf.constant, probability));
        for at in leaf.start..leaf.end {
            null[at as usize] -= probability;
        }
    }
    let is_best = |words: Span, constant| {
        best.nodes.iter().any(|node| node.span == words && node.category == Category::Constant(constant))
    };
    let of = |words: Span, constant| {
        let its = aligned.iter().filter(|(_, its, _)| *its == constant);
        if whole.is_none() || is_best(words, constant) {
            its.rev().find(|(span, ..)| *span == words).map_or(0.0, |(.., probability)| *probability)
        } else {
            let sum: f64 = its.filter(|(span, ..)| span.overlaps(words)).map(|(.., p)| p).sum();
            sum.min(1.0)
        }
    };
    align(whole.unwrap_or(best), &null, of)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use crate::families::chart::{ChartParser, ChartSettings};
    use crate::family::{Blueprint, Compact, EncoderSource, Objective, Pair};
    use crate::outcome::Details;
    use crate::span_model::{LossTarget, SpanFamily, SpanModel};
    use spanwise_chart::budget::Meter;
    use spanwise_core::{Random, Utterance};
    use spanwise_lang::Domain;
    use spanwise_lang::domain::NoTables;
    use std::sync::Arc;

    const LAMPS: &str = "name = 'lamps'\ntypes = ['Lamp', 'Task']\nroot = { types = ['Task'] }\n\
        only_phrases = ['on']\n[constants]\non = 'Lamp -> Task'\nboth = 'Lamp, Lamp -> Lamp'\n[lexicon]\non = 'light'\n\
        [[entities]]\nclass = 'lamp'\ntype = 'Lamp'\nform = 'lamp({name})'\nnames = ['desk', 'hall', 'porch']\n";

    fn parser(must_be_used: &str) -> ChartParser {
        let source = format!("{LAMPS}{must_be_used}");
        let domain = Arc::new(Domain::load(&source, "lamps.toml", None, &NoTables).unwrap());
        let mut terms = domain.new_terms();
        let program = terms.parse("on(lamp(desk))").unwrap();
        let pairs = [Pair::new(Utterance::new("light desk"), program)];
        let shape = Compact { hidden: 8, layers: 1, heads: 2, intermediate: 8, ..Compact::default() };
        let encoder = EncoderSource::Compact { shape: &shape, dropout: 0.0 };
        let settings = ChartSettings { label_dropout: 0.0, ..ChartSettings::default() };
        let blueprint = Blueprint { domain, terms: &terms, pairs: &pairs, encoder, seed: 1 };
        let model = SpanModel::build(settings.spec(), blueprint, 0).unwrap();
        ChartParser::new(model, settings)
    }

    fn logits(parser: &ChartParser, n_spans: usize, seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed, &[]);
        let n = n_spans * parser.model.network.head().n_labels;
        (0..n).map(|_| random.below(2001) as f32 / 50.0 - 20.0).collect()
    }

    /// The lamps of the best program under random scores.
    fn lamps(parser: &ChartParser, text: &str, seed: u64) -> Vec<&'static str> {
        let input = parser.prepare(Utterance::new(text)).unwrap();
        let logits = logits(parser, input.spans.len(), seed);
        let decoded = parser.decode(&input, &logits, Details::default(), &Meter::unlimited());
        let parse = decoded.parse.unwrap();
        let program = parse.terms.display(parse.program).to_string();
        ["desk", "hall", "porch"].into_iter().filter(|name| program.contains(name)).collect()
    }

    #[test]
    fn names_that_must_be_used_are_in_every_program_whatever_the_scores() {
        let (free, strict, dear) =
            (parser(""), parser("must_be_used = true\n"), parser("must_be_used = 100\n"));
        let text = "light desk and hall";
        let mut n_left_out = 0;
        for seed in 0..30 {
            n_left_out += usize::from(lamps(&free, text, seed).len() < 2);
            assert_eq!(lamps(&strict, text, seed), ["desk", "hall"], "{seed}");
            assert_eq!(lamps(&dear, text, seed), ["desk", "hall"], "{seed}");
        }
        assert!(n_left_out > 5, "{n_left_out}");
    }

    #[test]
    fn a_program_is_found_where_not_all_names_can_be_used_and_it_uses_the_most() {
        let strict = parser("must_be_used = true\n");
        for seed in 0..30 {
            // No word is left for `both`.
            assert_eq!(lamps(&strict, "light desk hall", seed).len(), 1, "{seed}");
            // It joins two of three.
            assert_eq!(lamps(&strict, "light desk x hall porch", seed).len(), 2, "{seed}");
        }
    }

    #[test]
    fn an_example_that_leaves_out_a_name_is_learned_from() {
        let loss = |must_be_used: &str, text: &str, program: &str| {
            let parser = parser(must_be_used);
            let mut terms = parser.model.domain.new_terms();
            let program = terms.parse(program).unwrap();
            let pair = Pair::new(Utterance::new(text), program);
            let input = parser.prepare(pair.utterance.clone()).unwrap();
            let logits = vec![0.0; input.spans.len() * parser.model.network.head().n_labels];
            let target = LossTarget { objective: Objective::Crf, pair: &pair, seed: 0, terms: &terms };
            parser.loss(&input, &logits, &target).map(|(loss, _)| loss)
        };
        let strict = "must_be_used = true\n";
        let (text, program) = ("light desk and hall", "on(lamp(hall))");
        assert_eq!(loss(strict, text, program), loss("", text, program));
        assert!(loss(strict, text, program).is_some());
        // Against fewer other programs, the loss is lower.
        let whole = "on(both(lamp(desk), lamp(hall)))";
        assert!(loss(strict, text, whole).unwrap() < loss("", text, whole).unwrap());
        assert_eq!(loss(strict, text, "on(lamp(porch))"), None);
    }
}
