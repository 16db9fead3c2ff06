//! How far a trained model can be trusted, fitted on examples it has not seen.
//!
//! In go a parser, its training utterances and dev examples; out comes a [`Confidence`]. Two things are fitted, both
//! without chance and both with a handful of numbers, so that a small dev set cannot bend them far:
//!
//! * **Calibration**: a logistic curve over the log-odds of posteriors, against whether predictions are right. The loss is
//!   convex, a penalty holds the curve near "as it is", and the slope has a floor: there is one best curve, it is found by
//!   Newton's method, and it is increasing whatever the examples say, also when all of them are right.
//! * **Novelty**: prototypes of the words of training utterances, and how far from them utterances of the domain usually
//!   are. What is usual is measured on each training utterance against the prototypes of all *others*, and on dev. No
//!   utterance of another domain is needed.

use crate::evaluate::evaluate_with;
use crate::metrics::{Calibration as Bins, Evaluator};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_model::Model;
use spanwise_model::confidence::{
    Calibration, Confidence, Novel, Novelty, Scale, distance, log_odds, nearest, normalize, sigmoid,
};
use spanwise_nn::Pieces;
use std::collections::{BTreeMap, BTreeSet};

/// What moving slope or offset by one costs, in examples. Set for the calibration error on dev. Five-fold log loss on the
/// 60 examples of GeoQuery's dev sets prefers more, up to leaving posteriors alone.
const PENALTY: f64 = 1.0;
/// The least slope: a higher posterior always speaks for a program.
const MIN_SLOPE: f64 = 0.02;
/// Steps of Newton's method; a handful is enough.
const MAX_STEPS: usize = 100;

/// Most utterances whose words may become prototypes.
const MAX_UTTERANCES: usize = 600;
/// Most words among which prototypes are chosen.
const MAX_WORDS: usize = 1 << 14;
/// Most prototypes. Comparing ten words with all of them takes a few hundredths of the encoder's time.
const MAX_PROTOTYPES: usize = 512;
/// Words nearer than this to a prototype need none of their own.
const SAME: f64 = 1e-3;
/// How often a word should occur among the chosen utterances before others are preferred.
const ENOUGH: usize = 2;

/// Most words of training utterances that are kept, to name others.
const MAX_VOCABULARY: usize = 20_000;

/// Share of training utterances that are usual.
const USUAL_SHARE: f64 = 0.99;
/// Share of dev utterances that are usual. There are fewer of them, and a few are odd.
const USUAL_DEV_SHARE: f64 = 0.95;
/// How far from the usual to the opposite of it (a right angle) the center lies.
const MARGIN: f64 = 0.1;
/// Least distance between the usual and the center.
const MIN_MARGIN: f64 = 0.02;
/// The odds of being of the domain where the usual ends. Of 19 and 49, the one with the lower calibration error on the dev
/// set of GeoQuery's length split.
const USUAL_ODDS: f64 = 19.0;

/// What fitting came to.
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    /// What to put into the model.
    pub confidence: Confidence,
    /// The calibration error of the posteriors as they are.
    pub ece_of_posteriors: Option<f64>,
}

/// Fits the confidence of a model. Without training utterances, what it knows of novelty stays as it is; without dev
/// examples, posteriors do.
///
/// Cost: a pass over dev, and one of the network over at most `MAX_UTTERANCES` training utterances.
#[must_use]
pub fn fit(model: &Model, evaluator: &Evaluator<'_>, train: &[Utterance], dev: &[Example]) -> Fitted {
    let scored = evaluate_with(model, evaluator, dev, &|_| {}, &|_, _, outcome| {
        outcome.parse().map(|parse| parse.posterior)
    });
    let points: Vec<(f64, bool)> =
        scored.iter().filter_map(|(scored, posterior)| Some(((*posterior)?, scored.is_right()?))).collect();
    let all = scored.iter().filter_map(|(one, posterior)| Some((posterior.unwrap_or(0.0), one.is_right()?)));
    let ece_of_posteriors = Bins::new(all).ece();
    let novelty = if train.is_empty() {
        model.confidence.novelty.clone()
    } else {
        let dev: Vec<Utterance> = dev.iter().map(|example| Utterance::new(&*example.utterance)).collect();
        novelty(model, train, &dev)
    };
    Fitted { confidence: Confidence { calibration: fit_curve(&points), novelty }, ece_of_posteriors }
}

/// The curve that explains which posteriors were right, not further from "as it is" than they ask for.
#[must_use]
pub fn fit_curve(points: &[(f64, bool)]) -> Calibration {
    let points: Vec<(f64, f64)> =
        points.iter().map(|&(p, right)| (log_odds(p), f64::from(u8::from(right)))).collect();
    if points.is_empty() {
        return Calibration::default();
    }
    let free = newton(&points, [1.0, 0.0], true);
    // The loss is convex: if its minimum lies beyond the floor, the best curve that is allowed lies on it.
    let [slope, offset] = if free[0] >= MIN_SLOPE { free } else { newton(&points, [MIN_SLOPE, 0.0], false) };
    Calibration { slope, offset }
}

/// Newton's method with halved steps, over slope and offset or the offset alone.
fn newton(points: &[(f64, f64)], start: [f64; 2], moves_slope: bool) -> [f64; 2] {
    let mut at = start;
    for _ in 0..MAX_STEPS {
        let (loss, gradient, hessian) = curve_loss(points, at);
        let [a, b, c] = hessian;
        let step = if moves_slope {
            let det = a * c - b * b;
            [(c * gradient[0] - b * gradient[1]) / det, (a * gradient[1] - b * gradient[0]) / det]
        } else {
            [0.0, gradient[1] / c]
        };
        let mut factor = 1.0;
        let moved = |factor: f64| [at[0] - factor * step[0], at[1] - factor * step[1]];
        while curve_loss(points, moved(factor)).0 > loss && factor > 1e-9 {
            factor /= 2.0;
        }
        let next = moved(factor);
        let change = (next[0] - at[0]).abs() + (next[1] - at[1]).abs();
        if curve_loss(points, next).0 <= loss {
            at = next;
        }
        if change < 1e-12 {
            break;
        }
    }
    at
}

/// Loss, gradient, and the three different numbers of the second derivative.
fn curve_loss(points: &[(f64, f64)], [slope, offset]: [f64; 2]) -> (f64, [f64; 2], [f64; 3]) {
    let mut loss = PENALTY / 2.0 * ((slope - 1.0).powi(2) + offset.powi(2));
    let mut gradient = [PENALTY * (slope - 1.0), PENALTY * offset];
    let mut hessian = [PENALTY, 0.0, PENALTY];
    for &(x, right) in points {
        let z = slope * x + offset;
        let p = sigmoid(z);
        // ln(1 + e^z) - right * z, without overflow.
        loss += z.max(0.0) + (-z.abs()).exp().ln_1p() - right * z;
        gradient[0] += (p - right) * x;
        gradient[1] += p - right;
        let spread = p * (1.0 - p);
        hessian[0] += spread * x * x;
        hessian[1] += spread * x;
        hessian[2] += spread;
    }
    (loss, gradient, hessian)
}

/// A word of a chosen utterance.
struct Word {
    unit: Vec<f32>,
    owner: usize,
}

/// Prototypes from training utterances, and what is usual there and on dev; `None` where the words are all names.
#[must_use]
pub fn novelty(model: &Model, train: &[Utterance], dev: &[Utterance]) -> Option<Novelty> {
    let chosen = choose(model, train);
    let vectors = word_vectors(model, &chosen);
    let width = model.family.encoder().hidden;
    let mut words: Vec<Word> = Vec::new();
    for (owner, (utterance, vectors)) in chosen.iter().zip(&vectors).enumerate() {
        for (vector, is_name) in vectors.chunks_exact(width).zip(model.is_name(utterance)) {
            if !is_name && words.len() < MAX_WORDS {
                let mut unit = vector.to_vec();
                normalize(&mut unit);
                words.push(Word { unit, owner });
            }
        }
    }
    let units: Vec<&[f32]> = words.iter().map(|word| word.unit.as_slice()).collect();
    let picked = spread_out(&units, MAX_PROTOTYPES);
    let held_out = held_out(&words, &picked, chosen.len());
    if held_out.is_empty() {
        return None;
    }
    let prototypes = picked.iter().flat_map(|&at| units[at]).copied().collect();
    let scale = Scale { center: 1.0, width: 1.0 };
    let mut novelty = Novelty { width, prototypes, scale, vocabulary: vocabulary(model, train) };
    let dev_vectors = word_vectors(model, dev);
    let on_dev: Vec<f64> = dev
        .iter()
        .zip(&dev_vectors)
        .filter(|(_, vectors)| !vectors.is_empty())
        .map(|(utterance, vectors)| novelty.of(vectors, &model.is_name(utterance)).total)
        .collect();
    novelty.scale = scale_of(&held_out, &on_dev);
    Some(novelty)
}

/// Utterances that differ in more than names, at most [`MAX_UTTERANCES`]: first those that bring words not seen often
/// enough yet, then others from all over the data.
fn choose(model: &Model, train: &[Utterance]) -> Vec<Utterance> {
    let mut seen = HashSet::new();
    let distinct: Vec<&Utterance> =
        train.iter().filter(|text| seen.insert(without_names(model, text))).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut is_chosen = vec![distinct.len() <= MAX_UTTERANCES; distinct.len()];
    let mut n_left = MAX_UTTERANCES;
    for (at, utterance) in distinct.iter().enumerate() {
        let words = || utterance.tokens().iter().map(|token| token.lower.as_str());
        if n_left > 0 && words().any(|word| counts.get(word).copied().unwrap_or(0) < ENOUGH) {
            is_chosen[at] = true;
            n_left -= 1;
            words().for_each(|word| *counts.entry(word).or_default() += 1);
        }
    }
    let rest: Vec<usize> = (0..distinct.len()).filter(|&at| !is_chosen[at]).collect();
    for at in 0..n_left.min(rest.len()) {
        is_chosen[rest[at * rest.len() / n_left.min(rest.len())]] = true;
    }
    distinct.into_iter().zip(is_chosen).filter(|(_, keep)| *keep).map(|(text, _)| text.clone()).collect()
}

/// The words of all utterances but those of names, the most frequent ones where there are too many.
fn vocabulary(model: &Model, train: &[Utterance]) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for utterance in train {
        for (token, is_name) in utterance.tokens().iter().zip(model.is_name(utterance)) {
            if !is_name {
                *counts.entry(token.lower.clone()).or_default() += 1;
            }
        }
    }
    let mut words: Vec<(String, usize)> = counts.into_iter().collect();
    words.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    words.into_iter().take(MAX_VOCABULARY).map(|(word, _)| word).collect()
}

/// The words of an utterance, with one mark for each run of words of names.
fn without_names(model: &Model, utterance: &Utterance) -> Vec<Option<String>> {
    let words = utterance.tokens().iter().zip(model.is_name(utterance));
    let mut masked: Vec<_> = words.map(|(token, is_name)| (!is_name).then(|| token.lower.clone())).collect();
    masked.dedup_by(|a, b| a.is_none() && b.is_none());
    masked
}

/// The encoder's vectors of the words of each utterance; none for one that is empty or too long.
fn word_vectors(model: &Model, utterances: &[Utterance]) -> Vec<Vec<f32>> {
    let limit = model.family.encoder().max_pieces();
    let pieces: Vec<Pieces> = utterances.iter().map(|text| model.family.tokenizer().encode(text)).collect();
    let fits = |pieces: &Pieces| !pieces.words.is_empty() && pieces.ids.len() <= limit;
    let mut order: Vec<usize> = (0..pieces.len()).filter(|&at| fits(&pieces[at])).collect();
    order.sort_by_key(|&at| (pieces[at].ids.len(), at));
    let computed: Vec<(usize, Vec<f32>)> = order
        .par_chunks(32)
        .flat_map_iter(|batch| {
            let inputs: Vec<&Pieces> = batch.iter().map(|&at| &pieces[at]).collect();
            batch.iter().copied().zip(model.family.word_vectors(&inputs)).collect::<Vec<_>>()
        })
        .collect();
    let mut vectors = vec![Vec::new(); utterances.len()];
    computed.into_iter().for_each(|(at, values)| vectors[at] = values);
    vectors
}

/// At most `most` of some unit vectors, each the farthest from all before it, the first one first: so that every vector
/// is near one of them.
fn spread_out(units: &[&[f32]], most: usize) -> Vec<usize> {
    let mut picked = Vec::new();
    let mut far = vec![f64::INFINITY; units.len()];
    while picked.len() < most {
        // The first of the farthest.
        let next = (0..units.len()).max_by(|&a, &b| far[a].total_cmp(&far[b]).then(b.cmp(&a)));
        let Some(next) = next.filter(|&at| far[at] > SAME) else { break };
        picked.push(next);
        far.par_iter_mut().zip(units).for_each(|(far, unit)| *far = far.min(distance(unit, units[next])));
    }
    picked
}

/// The novelty of each utterance against the prototypes that come from others.
fn held_out(words: &[Word], picked: &[usize], n_utterances: usize) -> Vec<Novel> {
    let distances: Vec<f64> = words
        .par_iter()
        .map(|word| {
            let others = picked.iter().map(|&at| &words[at]).filter(|other| other.owner != word.owner);
            nearest(&word.unit, others.map(|other| other.unit.as_slice()))
        })
        .collect();
    let mut by_utterance: Vec<Vec<Option<f64>>> = vec![Vec::new(); n_utterances];
    words.iter().zip(distances).for_each(|(word, d)| by_utterance[word.owner].push(Some(d)));
    by_utterance.into_iter().filter(|words| !words.is_empty()).map(Novel::new).collect()
}

/// Where the usual ends, and how fast.
fn scale_of(held_out: &[Novel], on_dev: &[f64]) -> Scale {
    let totals: Vec<f64> = held_out.iter().map(|novel| novel.total).collect();
    let usual = quantile(&totals, USUAL_SHARE).max(quantile(on_dev, USUAL_DEV_SHARE));
    let margin = (MARGIN * (1.0 - usual)).max(MIN_MARGIN);
    Scale { center: usual + margin, width: margin / USUAL_ODDS.ln() }
}

/// The smallest value that this share of the values does not exceed; 0 of none.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = ((share * sorted.len() as f64 - 1e-9).ceil() as usize).clamp(1, sorted.len().max(1));
    sorted.get(rank - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
