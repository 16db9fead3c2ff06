//! Learns what it means that a program leaves words out, and the threshold below which answers are withheld.
//!
//! Positive examples are training utterances, with words counted in the others alone: how often does a right answer leave
//! out an unknown word, a number, a name? Negative ones are corrupted utterances, and those that are known to be
//! unanswerable. The effects are the weights of a logistic regression on top of the calibrated posterior. Before that, the
//! unanswerable ones teach what such utterances are like (`answerable`).

use super::answerable;
use super::corrupt::{Truth, Words};
use super::{choose, word_vectors};
use crate::evaluate::{BATCH, request};
use rayon::prelude::*;
use serde_json::Value;
use spanwise_core::{Random, Utterance};
use spanwise_domains::data::Example;
use spanwise_model::confidence::{ByKind, Effects, Evidence, ReadAs, WordCounts, log_odds, sigmoid};
use spanwise_model::unread::{Basis, read_words};
use spanwise_model::{Model, Outcome, Parse, Request};

/// The effects before any evidence, and the weight of the penalty on other ones, relative to one example. On splits of
/// GeoQuery's train and dev sets, effects from 2 to 5 reject about as many unanswerable questions. Corrections are seldom
/// wrong.
const PRIOR: ByKind = ByKind {
    numbers: 2.5,
    names: 2.5,
    negations: 2.5,
    unknown: 2.5,
    content: 2.5,
    guessed: 2.5,
    corrected: 0.5,
    parts: 2.5,
    questions: 2.5,
};
const PENALTY: f64 = 3.0;
/// Steps of gradient descent, and their size relative to the number of examples.
const STEPS: usize = 2_000;
const RATE: f64 = 2.0;
/// The share of right answers on dev that the threshold keeps.
const KEPT: f64 = 0.955;
/// The lowest and the highest threshold, unless a model's configuration has others. A dev set is small: on splits of GeoQuery's
/// train and dev sets, thresholds outside of this range keep too few right answers, or answer too many questions that cannot be
/// answered.
pub const THRESHOLDS: [f64; 2] = [0.5, 0.55];

/// One utterance with what is known about it.
struct Point {
    /// The calibrated log-odds of its posterior, limited.
    log_odds: f64,
    /// The log-odds that it can be answered.
    answerable: f64,
    in_domain: f64,
    counts: [f64; ByKind::N],
    right: bool,
}

/// Learns the effects of unread words and the threshold, and puts them into the confidence of a model whose calibration and
/// novelty are fitted. `right` says which answers on dev are right. Without training utterances, the effects stay as
/// they are, and so does what is known about unanswerable utterances. An utterance in `unanswerable` has no program. Without
/// trees, few words are known to be left out, and dev and what is unanswerable say what that has meant. The threshold is in the
/// range `thresholds`.
///
/// Cost: parses dev twice, and what is unanswerable; with trees, also up to 600 training utterances and about as many corrupted
/// ones.
pub fn learn_effects(
    model: &mut Model,
    train: &[Utterance],
    dev: &[Example],
    right: &[bool],
    unanswerable: &[Utterance],
    thresholds: [f64; 2],
) {
    let on_dev = |model: &Model| parse_requests(model, &dev.iter().map(request).collect::<Vec<_>>());
    if !train.is_empty() && model.family.span_model().is_some() {
        model.confidence.answerability = None;
        let chosen = choose(model, train);
        let parsed = parse(model, &chosen);
        model.confidence.words = counted(model, train, &parsed);
        let mut points = positives_and_negatives(model, &parsed, &parse(model, unanswerable));
        points.extend(corrupted(model, &chosen, &parsed));
        points.extend(all_points(model, &on_dev(model), right, Basis::All));
        model.confidence.effects = fit(&points);
    } else if !train.is_empty() {
        let mut points = all_points(model, &on_dev(model), right, Basis::All);
        let wrong = vec![false; unanswerable.len()];
        points.extend(all_points(model, &parse(model, unanswerable), &wrong, Basis::All));
        model.confidence.effects = fit(&points);
    }
    let answered = on_dev(model);
    let probabilities: Vec<f64> = answered
        .iter()
        .zip(right)
        .filter(|(_, right)| **right)
        .filter_map(|(outcome, _)| outcome.probability())
        .collect();
    model.confidence.threshold = Some(threshold(probabilities, thresholds));
}

/// The parses of utterances without a context.
fn parse(model: &Model, utterances: &[Utterance]) -> Vec<Outcome> {
    let requests: Vec<Request<'_>> = utterances.iter().cloned().map(Request::new).collect();
    parse_requests(model, &requests)
}

/// What is found for requests, those of similar length in one batch.
fn parse_requests(model: &Model, requests: &[Request<'_>]) -> Vec<Outcome> {
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&at| (requests[at].utterance.len(), at));
    let mut parsed: Vec<(usize, Outcome)> = order
        .par_chunks(BATCH)
        .flat_map_iter(|batch| {
            let own = batch.iter().map(|&at| requests[at].clone()).collect();
            batch.iter().copied().zip(model.parse_requests(own)).collect::<Vec<_>>()
        })
        .collect();
    parsed.sort_by_key(|(at, _)| *at);
    parsed.into_iter().map(|(_, outcome)| outcome).collect()
}

/// How often each word occurs in the training utterances, and how often it means nothing in their parses. Words that only
/// occur where nothing was parsed count as words with a meaning.
fn counted(model: &Model, train: &[Utterance], parsed: &[Outcome]) -> WordCounts {
    let mut counts = WordCounts::default();
    for parse in parsed.iter().filter_map(Outcome::parse) {
        let Some(tree) = &parse.tree else { continue };
        let read = parse.read();
        for (word, read_as) in read_words(&model.domain, tree, &read) {
            counts.add(word, read_as);
        }
    }
    for token in train.iter().flat_map(Utterance::tokens) {
        if !counts.contains(&token.lower) && !model.domain.is_no_meaning(&token.lower) {
            counts.add(&token.lower, ReadAs::Value);
        }
    }
    counts
}

/// Training utterances with words counted in the others alone, and unanswerable ones. They also teach the model what
/// unanswerable utterances are like; in these points, each is judged by what the others teach.
fn positives_and_negatives(model: &mut Model, trained: &[Outcome], refused: &[Outcome]) -> Vec<Point> {
    let [yes, no] = [trained, refused].map(|outcomes| vectors(model, outcomes));
    // Without a vector, nothing is known.
    let known =
        |all: &[Vec<f32>]| all.iter().filter(|vector| !vector.is_empty()).cloned().collect::<Vec<_>>();
    let mut held_out = [Vec::new(), Vec::new()];
    if let Some(fitted) = answerable::fit(&known(&yes), &known(&no)) {
        held_out = [fitted.answerable, fitted.unanswerable];
        model.confidence.answerability = Some(fitted.answerability);
    }
    let mut points = Vec::new();
    let bases = [(trained, &yes, Basis::Others, true), (refused, &no, Basis::All, false)];
    for ((outcomes, vectors, basis, right), held_out) in bases.into_iter().zip(held_out) {
        let mut held_out = held_out.into_iter();
        for (outcome, vector) in outcomes.iter().zip(vectors) {
            let answerable = (!vector.is_empty()).then(|| held_out.next()).flatten().unwrap_or(0.0);
            let Some(parse) = outcome.parse() else { continue };
            let evidence = Evidence { answerable, ..model.unread(parse, basis).evidence };
            // What a predicate has to do with a word that no other utterance gives it was learned from this one. Whether
            // it would have been guessed is not known.
            if !right || evidence.words.guessed == 0.0 {
                points.push(point(model, parse, &evidence, right));
            }
        }
    }
    points
}

/// Points of utterances that taught nothing before.
fn all_points(model: &Model, outcomes: &[Outcome], right: &[bool], basis: Basis) -> Vec<Point> {
    let vectors = vectors(model, outcomes);
    let one = |((outcome, vector), &right): ((&Outcome, &Vec<f32>), &bool)| {
        let parse = outcome.parse()?;
        let answerability = model.confidence.answerability.as_ref();
        let answerable = answerability.map_or(0.0, |it| it.log_odds(vector));
        Some(point(model, parse, &Evidence { answerable, ..model.unread(parse, basis).evidence }, right))
    };
    outcomes.iter().zip(&vectors).zip(right).filter_map(one).collect()
}

fn point(model: &Model, parse: &Parse, evidence: &Evidence, right: bool) -> Point {
    let log_odds = log_odds(model.confidence.calibration.of(parse.posterior)).min(Effects::MAX_LOG_ODDS);
    let (answerable, counts) = (evidence.answerable, evidence.counts());
    Point { log_odds, answerable, in_domain: parse.in_domain, counts, right }
}

/// The vectors of utterances that say whether they can be answered; empty where nothing was parsed.
fn vectors(model: &Model, outcomes: &[Outcome]) -> Vec<Vec<f32>> {
    let read: Vec<Utterance> = outcomes
        .iter()
        .map(|outcome| outcome.parse().map_or_else(|| Utterance::new(""), |parse| parse.read().into_owned()))
        .collect();
    let words = word_vectors(model, &read);
    let vector = |(outcome, words): (&Outcome, &Vec<f32>)| {
        outcome.parse().map(|parse| model.vector(parse, words)).unwrap_or_default()
    };
    outcomes.iter().zip(&words).map(vector).collect()
}

/// Corrupted training utterances.
fn corrupted(model: &Model, chosen: &[Utterance], parsed: &[Outcome]) -> Vec<Point> {
    let fillers = Words::new(model, chosen);
    let mut random = Random::new(0, &[11]);
    let (mut texts, mut origins) = (Vec::new(), Vec::new());
    for (at, (utterance, outcome)) in chosen.iter().zip(parsed).enumerate() {
        let Some(tree) = outcome.parse().and_then(|parse| parse.tree.as_ref()) else { continue };
        let aligned: Vec<bool> = read_words(&model.domain, tree, utterance)
            .into_iter()
            .map(|(_, read_as)| read_as != ReadAs::Null)
            .collect();
        if let Some((text, truth)) = fillers.corrupt(utterance, &aligned, &mut random) {
            texts.push(Utterance::new(text).said_at(utterance.now()));
            origins.push((at, truth));
        }
    }
    let outcomes = parse(model, &texts);
    let is_right = |(outcome, &(at, truth)): (&Outcome, &(usize, Truth))| {
        let (now, before) = (outcome.parse(), parsed[at].parse());
        truth == Truth::Same
            && now.zip(before).is_some_and(|(now, before)| model.written(now) == model.written(before))
    };
    let right: Vec<bool> = outcomes.iter().zip(&origins).map(is_right).collect();
    all_points(model, &outcomes, &right, Basis::Others)
}

/// The effects under which the points are most likely, with a penalty towards the prior. Gradient descent; no effect is
/// negative.
fn fit(points: &[Point]) -> Effects {
    let mut weights = PRIOR.array();
    for _ in 0..STEPS {
        let gradient = gradient(points, &weights);
        for (weight, slope) in weights.iter_mut().zip(gradient) {
            *weight = (*weight - RATE * slope / points.len().max(1) as f64).max(0.0);
        }
    }
    Effects(ByKind::from(weights))
}

/// The gradient of the penalized log loss. The probability of a point is that it is in the domain, times the logistic
/// function of its log-odds after evidence.
fn gradient(points: &[Point], weights: &[f64; ByKind::N]) -> [f64; ByKind::N] {
    let prior = PRIOR.array();
    let mut gradient: [f64; ByKind::N] = std::array::from_fn(|at| PENALTY * (weights[at] - prior[at]));
    for point in points {
        let words = point.counts.iter().zip(weights).map(|(count, weight)| count * weight).sum();
        let (effect, factor) = Effects::after_answerable(words, point.answerable);
        let q = sigmoid(point.log_odds - effect);
        let p = (point.in_domain * q).clamp(1e-9, 1.0 - 1e-9);
        // The derivative of the log loss with respect to the effect.
        let slope = if point.right { 1.0 - q } else { -p * (1.0 - q) / (1.0 - p) };
        for (sum, count) in gradient.iter_mut().zip(point.counts) {
            *sum += slope * factor * count;
        }
    }
    gradient
}

/// The highest threshold in the allowed range that keeps most of the right answers.
fn threshold(mut probabilities: Vec<f64>, [low, high]: [f64; 2]) -> f64 {
    probabilities.sort_by(f64::total_cmp);
    let lost = ((1.0 - KEPT) * probabilities.len() as f64) as usize;
    let lowest = probabilities.get(lost).copied().unwrap_or(low);
    // Two digits: a person reads it.
    ((lowest * 100.0).floor() / 100.0).clamp(low, high)
}

/// The range of thresholds in the configuration of a model, given what `model.json` says of its training; [`THRESHOLDS`] without
/// one.
#[must_use]
pub fn thresholds(training: &Value) -> [f64; 2] {
    let limit = |at: usize| training["config"]["training"]["thresholds"][at].as_f64();
    match (limit(0), limit(1)) {
        (Some(low), Some(high)) if 0.0 <= low && low <= high && high <= 1.0 => [low, high],
        _ => THRESHOLDS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn points() -> Vec<Point> {
        let mut random = Random::new(5, &[]);
        let mut count = || f64::from(random.below(3) as u32);
        (0..40)
            .map(|at| Point {
                log_odds: f64::from(at % 13) - 4.0,
                answerable: f64::from(at % 7) * 2.0 - 6.0,
                in_domain: 1.0 - f64::from(at % 4) * 0.2,
                counts: std::array::from_fn(|_| count()),
                right: at % 3 > 0,
            })
            .collect()
    }

    /// The penalized log loss, written out.
    fn loss(points: &[Point], weights: &[f64; ByKind::N]) -> f64 {
        let one = |point: &Point| {
            let words: f64 = (0..ByKind::N).map(|at| point.counts[at] * weights[at]).sum();
            let weight = if point.answerable < 0.0 { 1.0 } else { 0.4 };
            let effect = words - (weight * point.answerable).min(0.5 * words);
            let p = point.in_domain / (1.0 + (effect - point.log_odds).exp());
            if point.right { -p.ln() } else { -(1.0 - p).ln() }
        };
        let both = weights.iter().zip(PRIOR.array());
        let penalty: f64 = both.map(|(weight, prior)| PENALTY / 2.0 * (weight - prior).powi(2)).sum();
        points.iter().map(one).sum::<f64>() + penalty
    }

    #[test]
    fn the_gradient_of_effects_is_that_of_finite_differences() {
        let (points, weights) = (points(), std::array::from_fn(|at| 0.3 * at as f64));
        let exact = gradient(&points, &weights);
        for at in 0..ByKind::N {
            let moved = |step: f64| {
                let mut weights = weights;
                weights[at] += step;
                loss(&points, &weights)
            };
            let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((exact[at] - numeric).abs() < 1e-5, "{at}: {} instead of {numeric}", exact[at]);
        }
    }

    #[test]
    fn what_only_wrong_answers_leave_out_has_a_large_effect_and_what_right_ones_leave_out_has_none() {
        let point = |kind: usize, right: bool| {
            let mut counts = [0.0; ByKind::N];
            counts[kind] = 1.0;
            Point { log_odds: 2.0, answerable: 0.0, in_domain: 1.0, counts, right }
        };
        let points: Vec<Point> = (0..2_000).flat_map(|_| [point(0, false), point(1, true)]).collect();
        let weights = fit(&points).0.array();
        assert!(weights[0] > 4.0 && weights[1] < 0.5, "{weights:?}");
        // Nothing is known about the others.
        assert!(weights[2..].iter().zip(&PRIOR.array()[2..]).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn the_threshold_keeps_most_right_answers_and_stays_in_its_range() {
        let probabilities: Vec<f64> = (0..100).map(|at| 0.42 + f64::from(at) / 50.0).collect();
        let found = threshold(probabilities.clone(), THRESHOLDS);
        let kept = probabilities.iter().filter(|p| **p >= found).count();
        assert!((95..=97).contains(&kept), "{found} keeps {kept}");
        let of = |probabilities: Vec<f64>| threshold(probabilities, [0.4, 0.45]);
        assert_eq!([of(vec![0.99; 50]), of(vec![0.43; 50]), of(Vec::new())], [0.45, 0.43, 0.4]);
    }

    #[test]
    fn the_range_of_thresholds_is_that_of_the_configuration_where_it_makes_sense() {
        let of = |range: Value| thresholds(&json!({ "config": { "training": { "thresholds": range } } }));
        assert_eq!(of(json!([0.4, 0.45])), [0.4, 0.45]);
        for odd in [json!(null), json!([0.4]), json!([0.6, 0.5]), json!([-1, 0.5]), json!(["a", "b"])] {
            assert_eq!(of(odd), THRESHOLDS);
        }
        // A model from before there was a configuration.
        assert_eq!(thresholds(&Value::Null), THRESHOLDS);
    }
}
