//! Fits the logistic regression that tells utterances which can be answered from those which cannot.
//!
//! It is fitted on training utterances and on examples without a program, both classes with the same total weight. There
//! are more weights than utterances, so its scores on them say little. What a score means is measured by cross-validation.

use super::fit_curve_from;
use rayon::prelude::*;
use spanwise_model::confidence::{Answerability, Calibration, sigmoid};

/// Fewer unanswerable examples teach nothing that carries over.
const MIN_UNANSWERABLE: usize = 20;
/// The weight of the L2 penalty, relative to the log loss of one example. Of 1/10 and 1/30, and of corrupted utterances as
/// further negative examples, the setting that rejects most unanswerable questions on splits of GeoQuery's train and dev
/// sets, where 95 % of the right answers are kept.
const PENALTY: f64 = 1.0 / 30.0;
/// The same for the curve from scores to log-odds.
const CURVE_PENALTY: [f64; 2] = [1.0, 1.0];
/// The parts of cross-validation.
const FOLDS: usize = 5;
/// Most steps of Newton's method, and of the conjugate gradient method in each.
const MAX_STEPS: usize = 30;
const MAX_INNER: usize = 200;
/// The norm of the gradient, relative to that at the start, at which the minimum is found.
const PRECISION: f64 = 1e-6;

/// The regression, and the held-out log-odds of each example that it was fitted on.
pub(super) struct FittedAnswerability {
    pub(super) answerability: Answerability,
    pub(super) answerable: Vec<f64>,
    pub(super) unanswerable: Vec<f64>,
}

/// Fits the regression to vectors of utterances that can and that cannot be answered; `None` if there are too few.
///
/// Cost: six regressions of some hundred passes over all vectors each, less than a second for a thousand of 768 numbers.
pub(super) fn fit(answerable: &[Vec<f32>], unanswerable: &[Vec<f32>]) -> Option<FittedAnswerability> {
    if unanswerable.len() < MIN_UNANSWERABLE || answerable.len() < MIN_UNANSWERABLE {
        return None;
    }
    let data = Data::new(answerable, unanswerable);
    let everything = data.minimum(&|_| true);
    let folds: Vec<Vec<f64>> =
        (0..FOLDS).into_par_iter().map(|fold| data.minimum(&|at| data.fold(at) != fold)).collect();
    let held_out: Vec<f64> =
        (0..data.rows.len()).map(|at| data.score(&folds[data.fold(at)], data.rows[at].vector)).collect();
    let points: Vec<(f64, f64, f64)> =
        data.rows.iter().zip(&held_out).map(|(row, &x)| (x, row.target, row.weight)).collect();
    let calibration: Calibration = fit_curve_from(&points, CURVE_PENALTY);
    let log_odds = |x: &f64| calibration.slope * x + calibration.offset;
    let (weights, bias) = everything.split_at(everything.len() - 1);
    let weights = weights.iter().map(|&weight| weight as f32).collect();
    Some(FittedAnswerability {
        answerability: Answerability { weights, bias: bias[0], calibration },
        answerable: held_out[..answerable.len()].iter().map(log_odds).collect(),
        unanswerable: held_out[answerable.len()..].iter().map(log_odds).collect(),
    })
}

struct Row<'a> {
    vector: &'a [f32],
    /// 1 if it can be answered, else 0.
    target: f64,
    weight: f64,
}

struct Data<'a> {
    rows: Vec<Row<'a>>,
    n_answerable: usize,
}

impl<'a> Data<'a> {
    fn new(answerable: &'a [Vec<f32>], unanswerable: &'a [Vec<f32>]) -> Self {
        let total = (answerable.len() + unanswerable.len()) as f64;
        let row = |vector: &'a Vec<f32>, target: f64, n: usize| Row {
            vector: vector.as_slice(),
            target,
            weight: total / (2.0 * n as f64),
        };
        let first = answerable.iter().map(|vector| row(vector, 1.0, answerable.len()));
        let second = unanswerable.iter().map(|vector| row(vector, 0.0, unanswerable.len()));
        Self { rows: first.chain(second).collect(), n_answerable: answerable.len() }
    }

    /// The part of cross-validation that a row belongs to. Every part has its share of both classes.
    fn fold(&self, at: usize) -> usize {
        if at < self.n_answerable { at % FOLDS } else { (at - self.n_answerable) % FOLDS }
    }

    /// The score of a vector: the last parameter is the intercept.
    fn score(&self, parameters: &[f64], vector: &[f32]) -> f64 {
        let (weights, bias) = parameters.split_at(vector.len());
        weights.iter().zip(vector).map(|(weight, x)| weight * f64::from(*x)).sum::<f64>() + bias[0]
    }

    /// The parameters that minimize the penalized log loss of some rows: Newton's method, whose steps come from the method
    /// of conjugate gradients.
    fn minimum(&self, is_in: &dyn Fn(usize) -> bool) -> Vec<f64> {
        let rows: Vec<&Row<'_>> =
            self.rows.iter().enumerate().filter(|(at, _)| is_in(*at)).map(|(_, row)| row).collect();
        let width = self.rows.first().map_or(0, |row| row.vector.len());
        let mut at = vec![0.0; width + 1];
        let (mut loss, mut gradient, mut spreads) = self.loss(&rows, &at);
        let enough = PRECISION * norm(&gradient);
        for _ in 0..MAX_STEPS {
            if norm(&gradient) <= enough {
                break;
            }
            let step = self.newton_step(&rows, &spreads, &gradient);
            let mut factor = 1.0;
            let next = loop {
                let moved: Vec<f64> = at.iter().zip(&step).map(|(x, d)| x - factor * d).collect();
                let next = self.loss(&rows, &moved);
                if next.0 < loss {
                    break Some((moved, next));
                }
                factor /= 2.0;
                if factor < 1e-9 {
                    break None;
                }
            };
            let Some((moved, next)) = next else { break };
            (at, (loss, gradient, spreads)) = (moved, next);
        }
        at
    }

    /// The penalized log loss, its gradient, and the second derivative of each row's loss. The intercept has no penalty.
    fn loss(&self, rows: &[&Row<'_>], at: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let weights = &at[..at.len() - 1];
        let mut loss = PENALTY / 2.0 * weights.iter().map(|x| x * x).sum::<f64>();
        let mut gradient: Vec<f64> = weights.iter().map(|x| PENALTY * x).chain([0.0]).collect();
        let mut spreads = Vec::with_capacity(rows.len());
        for row in rows {
            let z = self.score(at, row.vector);
            let p = sigmoid(z);
            loss += row.weight * (z.max(0.0) + (-z.abs()).exp().ln_1p() - row.target * z);
            add(&mut gradient, row.vector, row.weight * (p - row.target));
            spreads.push(row.weight * p * (1.0 - p));
        }
        (loss, gradient, spreads)
    }

    /// The product of the inverse Hessian and the gradient, by conjugate gradients.
    fn newton_step(&self, rows: &[&Row<'_>], spreads: &[f64], gradient: &[f64]) -> Vec<f64> {
        let mut step = vec![0.0; gradient.len()];
        let mut residual = gradient.to_vec();
        let mut direction = residual.clone();
        let mut square = dot(&residual, &residual);
        let enough = square * 1e-6;
        for _ in 0..MAX_INNER {
            if square <= enough || square == 0.0 {
                break;
            }
            let curved = self.times_hessian(rows, spreads, &direction);
            let length = square / dot(&direction, &curved);
            step.iter_mut().zip(&direction).for_each(|(x, d)| *x += length * d);
            residual.iter_mut().zip(&curved).for_each(|(x, d)| *x -= length * d);
            let next = dot(&residual, &residual);
            direction.iter_mut().zip(&residual).for_each(|(d, x)| *d = x + next / square * *d);
            square = next;
        }
        step
    }

    fn times_hessian(&self, rows: &[&Row<'_>], spreads: &[f64], direction: &[f64]) -> Vec<f64> {
        let weights = &direction[..direction.len() - 1];
        // A little on the intercept, too, so that the product is never singular.
        let mut product: Vec<f64> =
            weights.iter().map(|x| PENALTY * x).chain([1e-9 * direction[weights.len()]]).collect();
        for (row, spread) in rows.iter().zip(spreads) {
            add(&mut product, row.vector, spread * self.score(direction, row.vector));
        }
        product
    }
}

/// Adds a multiple of a vector with an intercept of 1.
fn add(sum: &mut [f64], vector: &[f32], factor: f64) {
    let (weights, bias) = sum.split_at_mut(vector.len());
    weights.iter_mut().zip(vector).for_each(|(sum, x)| *sum += factor * f64::from(*x));
    bias[0] += factor;
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_core::Random;

    /// Random vectors around a center.
    fn cloud(n: usize, center: [f32; 3], seed: u64) -> Vec<Vec<f32>> {
        let mut random = Random::new(seed, &[]);
        let mut noise = || random.below(2001) as f32 / 1000.0 - 1.0;
        (0..n).map(|_| center.iter().map(|x| x + noise()).collect()).collect()
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences_and_vanishes_at_the_minimum() {
        let (yes, no) = (cloud(40, [0.5, 0.0, 0.2], 1), cloud(25, [-0.5, 0.3, 0.0], 2));
        let data = Data::new(&yes, &no);
        let rows: Vec<&Row<'_>> = data.rows.iter().collect();
        let at = [0.3, -1.0, 0.7, 0.1];
        let gradient = data.loss(&rows, &at).1;
        for axis in 0..4 {
            let moved = |step: f64| {
                let mut at = at;
                at[axis] += step;
                data.loss(&rows, &at).0
            };
            let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((gradient[axis] - numeric).abs() < 1e-5, "{axis}: {} and {numeric}", gradient[axis]);
        }
        let minimum = data.minimum(&|_| true);
        assert!(norm(&data.loss(&rows, &minimum).1) < 1e-4);
        // A plain loop of small steps finds the same.
        let mut slow = vec![0.0; 4];
        for _ in 0..20_000 {
            let gradient = data.loss(&rows, &slow).1;
            slow.iter_mut().zip(gradient).for_each(|(x, slope)| *x -= 0.01 * slope);
        }
        assert!(minimum.iter().zip(&slow).all(|(a, b)| (a - b).abs() < 1e-3), "{minimum:?} {slow:?}");
    }

    #[test]
    fn clouds_apart_are_told_apart_and_those_in_one_place_are_not() {
        let apart = fit(&cloud(200, [1.0, 0.0, 0.0], 1), &cloud(60, [-1.0, 0.0, 0.0], 2)).unwrap();
        let of = |x: f32| apart.answerability.log_odds(&[x, 0.0, 0.0]);
        assert!(of(1.5) > 2.0 && of(-1.5) < -2.0, "{} {}", of(1.5), of(-1.5));
        assert_eq!((apart.answerable.len(), apart.unanswerable.len()), (200, 60));
        let mixed = fit(&cloud(200, [0.0; 3], 3), &cloud(60, [0.0; 3], 4)).unwrap();
        // Scores that say nothing on held-out examples say little on new ones.
        assert!(mixed.answerability.log_odds(&[1.0, 1.0, 1.0]).abs() < 0.7);
    }

    #[test]
    fn too_few_examples_teach_nothing() {
        assert!(fit(&cloud(200, [1.0; 3], 1), &cloud(19, [-1.0; 3], 2)).is_none());
        assert!(fit(&[], &[]).is_none());
    }
}
