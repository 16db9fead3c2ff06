//! Fits the [`Confidence`] of a trained model: Platt scaling on dev examples, and novelty detection on training utterances.
//!
//! Both parts are deterministic and have few parameters, so that a small dev set is enough:
//!
//! * **Calibration** is Platt scaling of the log-odds of posteriors; the target is whether a prediction is correct. The
//!   log loss has an L2 penalty towards the identity (slope 1, offset 0), so the minimum is unique and finite even if all
//!   predictions are correct. Newton's method finds it. The slope has a floor, so the calibrated probability always
//!   increases with the posterior.
//! * **Novelty** is the cosine distance to the nearest prototype. Prototypes are contextual vectors of training words,
//!   chosen by greedy k-center selection. The distances expected in the domain are measured on held-out words: on each
//!   training utterance against the prototypes of all *others*, and on dev. No out-of-domain utterances are needed.

mod answerable;
mod corrupt;
mod effects;

pub use effects::{THRESHOLDS, learn_effects, thresholds};

use crate::evaluate::evaluate_with;
use crate::metrics::{Calibration as Bins, Evaluator};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_model::Model;
use spanwise_model::confidence::{
    Calibration, Confidence, Novelty, NoveltyScore, Scale, distance, log_odds, nearest, normalize, sigmoid,
};
use spanwise_nn::Pieces;
use std::collections::{BTreeMap, BTreeSet};

/// The weights of the L2 penalty on slope and offset, relative to the log loss of one example. A dev set of 60 examples with one
/// or two errors says little about the slope, and without a strong penalty it makes answers surer than they should be. Of 1, 10
/// and 30 for the slope and 1, 3 and 10 for the offset, the values with the lowest calibration error (ECE) on six splits of
/// GeoQuery's train and dev sets.
const PENALTY: [f64; 2] = [30.0, 1.0];
/// The smallest slope. It is positive, so that a higher posterior always gives a higher probability.
const MIN_SLOPE: f64 = 0.02;
/// Most steps of Newton's method.
const MAX_STEPS: usize = 100;

/// Most utterances whose words may become prototypes.
const MAX_UTTERANCES: usize = 600;
/// Most words among which prototypes are chosen.
const MAX_WORDS: usize = 1 << 14;
/// Most prototypes. Comparing ten words with all of them takes a few percent of the encoder's time.
const MAX_PROTOTYPES: usize = 512;
/// Words nearer than this to a prototype do not become prototypes.
const MIN_DISTANCE: f64 = 1e-3;
/// An utterance is preferred if one of its words occurs fewer times than this among those already chosen.
const MIN_OCCURRENCES: usize = 2;

/// Most training words that are stored to report unknown words.
const MAX_VOCABULARY: usize = 20_000;

/// The quantile of the novelty of training utterances that still counts as in-domain.
const TRAIN_QUANTILE: f64 = 0.99;
/// The quantile of the novelty of dev utterances that still counts as in-domain. It is lower, because dev sets are small
/// and have outliers.
const DEV_QUANTILE: f64 = 0.95;
/// The distance from the quantile to the center, as a share of the distance to 1 (orthogonal vectors).
const MARGIN: f64 = 0.1;
/// The smallest distance from the quantile to the center.
const MIN_MARGIN: f64 = 0.02;
/// The odds that an utterance at the quantile is in the domain. Of 19 and 49, the value with the lower calibration error on
/// the dev set of GeoQuery's length split.
const QUANTILE_ODDS: f64 = 19.0;

/// The result of [`fit`].
#[derive(Clone, PartialEq, Debug)]
pub struct Fitted {
    /// The confidence to put into the model.
    pub confidence: Confidence,
    /// The calibration error (ECE) of the posteriors without calibration.
    pub ece_of_posteriors: Option<f64>,
    /// Whether the answer to each dev example is right.
    pub right: Vec<bool>,
}

/// Fits the confidence of a model. Without training utterances, the novelty of the model is kept; without dev examples,
/// the calibration is the identity.
///
/// Cost: one evaluation on dev; with training utterances, also one forward pass of the encoder over dev and over at most
/// `MAX_UTTERANCES` of them.
#[must_use]
pub fn fit(model: &Model, evaluator: &Evaluator<'_>, train: &[Utterance], dev: &[Example]) -> Fitted {
    let scored = evaluate_with(model, evaluator, dev, &|_| {}, &|_, _, outcome| outcome.posterior());
    let points: Vec<(f64, bool)> =
        scored.iter().filter_map(|(scored, posterior)| Some(((*posterior)?, scored.is_right()?))).collect();
    let all = scored.iter().filter_map(|(one, posterior)| Some((posterior.unwrap_or(0.0), one.is_right()?)));
    let ece_of_posteriors = Bins::new(all).ece();
    let novelty = if train.is_empty() {
        model.confidence.novelty.clone()
    } else {
        let dev: Vec<Utterance> = dev.iter().map(Example::spoken).collect();
        novelty(model, train, &dev)
    };
    let right = scored.iter().map(|(one, _)| one.is_right().unwrap_or(false)).collect();
    let confidence = Confidence { calibration: fit_curve(&points), novelty, ..model.confidence.clone() };
    Fitted { confidence, ece_of_posteriors, right }
}

/// Fits Platt scaling with a penalty to posteriors and whether they were correct. Without points it is the identity.
///
/// ```
/// use spanwise_eval::calibrate::fit_curve;
///
/// // All posteriors are 0.9, but only half of the predictions are correct.
/// let points: Vec<(f64, bool)> = (0..100).map(|at| (0.9, at % 2 == 0)).collect();
/// let calibration = fit_curve(&points);
/// assert!((calibration.of(0.9) - 0.5).abs() < 0.05);
/// ```
#[must_use]
pub fn fit_curve(points: &[(f64, bool)]) -> Calibration {
    let points: Vec<(f64, f64, f64)> =
        points.iter().map(|&(p, right)| (log_odds(p), f64::from(u8::from(right)), 1.0)).collect();
    fit_curve_from(&points, PENALTY)
}

/// The same from log-odds, targets of 0 or 1, and the weights of points, with another penalty.
fn fit_curve_from(points: &[(f64, f64, f64)], penalty: [f64; 2]) -> Calibration {
    if points.is_empty() {
        return Calibration::default();
    }
    let free = newton(points, penalty, [1.0, 0.0], true);
    // The loss is convex: if its minimum is below the floor, the constrained minimum is on the floor.
    let [slope, offset] =
        if free[0] >= MIN_SLOPE { free } else { newton(points, penalty, [MIN_SLOPE, 0.0], false) };
    Calibration { slope, offset }
}

/// Newton's method with backtracking (steps are halved until the loss falls), over slope and offset or the offset alone.
fn newton(points: &[(f64, f64, f64)], penalty: [f64; 2], start: [f64; 2], moves_slope: bool) -> [f64; 2] {
    let mut at = start;
    for _ in 0..MAX_STEPS {
        let (loss, gradient, hessian) = curve_loss(points, penalty, at);
        let [a, b, c] = hessian;
        let step = if moves_slope {
            let det = a * c - b * b;
            [(c * gradient[0] - b * gradient[1]) / det, (a * gradient[1] - b * gradient[0]) / det]
        } else {
            [0.0, gradient[1] / c]
        };
        let mut factor = 1.0;
        let moved = |factor: f64| [at[0] - factor * step[0], at[1] - factor * step[1]];
        while curve_loss(points, penalty, moved(factor)).0 > loss && factor > 1e-9 {
            factor /= 2.0;
        }
        let next = moved(factor);
        let change = (next[0] - at[0]).abs() + (next[1] - at[1]).abs();
        if curve_loss(points, penalty, next).0 <= loss {
            at = next;
        }
        if change < 1e-12 {
            break;
        }
    }
    at
}

/// The penalized log loss, its gradient, and the three distinct entries of its Hessian.
fn curve_loss(
    points: &[(f64, f64, f64)],
    penalty: [f64; 2],
    [slope, offset]: [f64; 2],
) -> (f64, [f64; 2], [f64; 3]) {
    let mut loss = (penalty[0] * (slope - 1.0).powi(2) + penalty[1] * offset.powi(2)) / 2.0;
    let mut gradient = [penalty[0] * (slope - 1.0), penalty[1] * offset];
    let mut hessian = [penalty[0], 0.0, penalty[1]];
    for &(x, right, weight) in points {
        let z = slope * x + offset;
        let p = sigmoid(z);
        // ln(1 + e^z) - right * z, without overflow.
        loss += weight * (z.max(0.0) + (-z.abs()).exp().ln_1p() - right * z);
        gradient[0] += weight * (p - right) * x;
        gradient[1] += weight * (p - right);
        let spread = weight * p * (1.0 - p);
        hessian[0] += spread * x * x;
        hessian[1] += spread * x;
        hessian[2] += spread;
    }
    (loss, gradient, hessian)
}

/// A word of a chosen utterance.
struct Word {
    /// Its vector, normalized.
    unit: Vec<f32>,
    /// The index of its utterance.
    owner: usize,
}

/// Selects prototypes from training utterances and fits the scale of distances; `None` if all words are names.
#[must_use]
pub fn novelty(model: &Model, train: &[Utterance], dev: &[Utterance]) -> Option<Novelty> {
    let chosen = choose(model, train);
    let vectors = word_vectors(model, &chosen);
    let width = model.family.encoder().hidden;
    let mut words: Vec<Word> = Vec::new();
    for (owner, (utterance, vectors)) in chosen.iter().zip(&vectors).enumerate() {
        for (vector, is_name) in vectors.chunks_exact(width).zip(model.domain.lexicon().is_name(utterance)) {
            if !is_name && words.len() < MAX_WORDS {
                let mut unit = vector.to_vec();
                normalize(&mut unit);
                words.push(Word { unit, owner });
            }
        }
    }
    let units: Vec<&[f32]> = words.iter().map(|word| word.unit.as_slice()).collect();
    let picked = k_center(&units, MAX_PROTOTYPES);
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
        .map(|(utterance, vectors)| novelty.of(vectors, &model.domain.lexicon().is_name(utterance)).total)
        .collect();
    novelty.scale = scale_of(&held_out, &on_dev);
    Some(novelty)
}

/// Chooses at most [`MAX_UTTERANCES`] utterances that differ in more than names: first those with words that are not among
/// the chosen ones [`MIN_OCCURRENCES`] times yet, then others at even intervals over the data.
fn choose(model: &Model, train: &[Utterance]) -> Vec<Utterance> {
    let mut seen = HashSet::new();
    let distinct: Vec<&Utterance> =
        train.iter().filter(|text| seen.insert(without_names(model, text))).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut is_chosen = vec![distinct.len() <= MAX_UTTERANCES; distinct.len()];
    let mut n_left = MAX_UTTERANCES;
    for (at, utterance) in distinct.iter().enumerate() {
        let words = || utterance.tokens().iter().map(|token| token.lower.as_str());
        if n_left > 0 && words().any(|word| counts.get(word).copied().unwrap_or(0) < MIN_OCCURRENCES) {
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

/// The words of all utterances, without those of names; at most the [`MAX_VOCABULARY`] most frequent ones.
fn vocabulary(model: &Model, train: &[Utterance]) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for utterance in train {
        for (token, is_name) in utterance.tokens().iter().zip(model.domain.lexicon().is_name(utterance)) {
            if !is_name {
                *counts.entry(token.lower.clone()).or_default() += 1;
            }
        }
    }
    let mut words: Vec<(String, usize)> = counts.into_iter().collect();
    words.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    words.into_iter().take(MAX_VOCABULARY).map(|(word, _)| word).collect()
}

/// The words of an utterance, with one `None` for each run of words of names.
fn without_names(model: &Model, utterance: &Utterance) -> Vec<Option<String>> {
    let words = utterance.tokens().iter().zip(model.domain.lexicon().is_name(utterance));
    let mut masked: Vec<_> = words.map(|(token, is_name)| (!is_name).then(|| token.lower.clone())).collect();
    masked.dedup_by(|a, b| a.is_none() && b.is_none());
    masked
}

/// The encoder's vectors of the words of each utterance; none if it is empty or too long. Utterances of similar length
/// share a batch.
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

/// Greedy k-center selection: the indices of at most `most` unit vectors. The first vector is the first center; each next
/// center is the vector that is farthest from all centers so far. So every vector is near some center.
fn k_center(units: &[&[f32]], most: usize) -> Vec<usize> {
    let mut picked = Vec::new();
    let mut far = vec![f64::INFINITY; units.len()];
    while picked.len() < most {
        // Of equally far vectors, the first.
        let next = (0..units.len()).max_by(|&a, &b| far[a].total_cmp(&far[b]).then(b.cmp(&a)));
        let Some(next) = next.filter(|&at| far[at] > MIN_DISTANCE) else { break };
        picked.push(next);
        far.par_iter_mut().zip(units).for_each(|(far, unit)| *far = far.min(distance(unit, units[next])));
    }
    picked
}

/// The novelty of each utterance against the prototypes that come from other utterances.
fn held_out(words: &[Word], picked: &[usize], n_utterances: usize) -> Vec<NoveltyScore> {
    let distances: Vec<f64> = words
        .par_iter()
        .map(|word| {
            let others = picked.iter().map(|&at| &words[at]).filter(|other| other.owner != word.owner);
            nearest(&word.unit, others.map(|other| other.unit.as_slice()))
        })
        .collect();
    let mut by_utterance: Vec<Vec<Option<f64>>> = vec![Vec::new(); n_utterances];
    words.iter().zip(distances).for_each(|(word, d)| by_utterance[word.owner].push(Some(d)));
    by_utterance.into_iter().filter(|words| !words.is_empty()).map(NoveltyScore::new).collect()
}

/// Fits the center and width of the logistic function from novelties of held-out in-domain utterances.
fn scale_of(held_out: &[NoveltyScore], on_dev: &[f64]) -> Scale {
    let totals: Vec<f64> = held_out.iter().map(|score| score.total).collect();
    let highest = quantile(&totals, TRAIN_QUANTILE).max(quantile(on_dev, DEV_QUANTILE));
    let margin = (MARGIN * (1.0 - highest)).max(MIN_MARGIN);
    Scale { center: highest + margin, width: margin / QUANTILE_ODDS.ln() }
}

/// The smallest value that at least this share of the values does not exceed; 0 if there are no values.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = ((share * sorted.len() as f64 - 1e-9).ceil() as usize).clamp(1, sorted.len().max(1));
    sorted.get(rank - 1).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
