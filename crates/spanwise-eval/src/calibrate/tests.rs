#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use spanwise_nn::Random;

/// Random posteriors, each with whether the answer is correct, drawn with the probability that `truth` gives.
fn sample(n: usize, truth: Calibration, seed: u64) -> Vec<(f64, bool)> {
    let mut random = Random::new(seed, &[]);
    let mut share = || (random.next() % 1_000_000) as f64 / 1e6;
    (0..n)
        .map(|_| {
            let posterior = sigmoid(8.0 * share() - 2.0);
            (posterior, share() < truth.of(posterior))
        })
        .collect()
}

fn loss(points: &[(f64, bool)], at: [f64; 2]) -> f64 {
    let points: Vec<_> =
        points.iter().map(|&(p, right)| (log_odds(p), f64::from(u8::from(right)), 1.0)).collect();
    curve_loss(&points, PENALTY, at).0
}

#[test]
fn no_point_of_a_grid_has_a_lower_loss_than_the_fit() {
    for (seed, truth) in
        [(1, (1.0, 0.0)), (2, (0.4, 1.0)), (3, (2.5, -2.0)), (4, (0.0, 0.5)), (5, (-1.0, 0.0))]
    {
        let points = sample(60, Calibration { slope: truth.0, offset: truth.1 }, seed);
        let curve = fit_curve(&points);
        let best = loss(&points, [curve.slope, curve.offset]);
        for slope in 0..200 {
            for offset in -100..=100 {
                let at = [MIN_SLOPE + f64::from(slope) * 0.025, f64::from(offset) * 0.05];
                assert!(best <= loss(&points, at) + 1e-9, "seed {seed}: {curve:?} against {at:?}");
            }
        }
    }
}

#[test]
fn gradient_and_hessian_are_the_finite_differences_of_the_loss() {
    let points: Vec<(f64, f64, f64)> = sample(30, Calibration::default(), 9)
        .iter()
        .enumerate()
        .map(|(at, &(p, right))| (log_odds(p), f64::from(u8::from(right)), 1.0 + f64::from(at as u32 % 3)))
        .collect();
    let h = 1e-5;
    for at in [[1.0, 0.0], [0.3, -1.2], [4.0, 2.0]] {
        let (_, gradient, hessian) = curve_loss(&points, PENALTY, at);
        for (k, expected) in gradient.into_iter().enumerate() {
            let (mut up, mut down) = (at, at);
            up[k] += h;
            down[k] -= h;
            let (up, down) = (curve_loss(&points, PENALTY, up), curve_loss(&points, PENALTY, down));
            let slope = (up.0 - down.0) / (2.0 * h);
            assert!((slope - expected).abs() < 1e-5 * (1.0 + slope.abs()), "{slope} {expected}");
            for other in 0..2 {
                let second = (up.1[other] - down.1[other]) / (2.0 * h);
                assert!((second - hessian[k + other]).abs() < 1e-4 * (1.0 + second.abs()));
            }
        }
    }
}

#[test]
fn the_slope_is_positive_even_if_accuracy_falls_with_the_posterior() {
    let points: Vec<(f64, bool)> = (1..100).map(|at| (f64::from(at) / 100.0, at < 50)).collect();
    let curve = fit_curve(&points);
    assert_eq!(curve.slope, MIN_SLOPE);
    assert!(curve.of(0.9) > curve.of(0.1));
}

#[test]
fn the_fit_is_finite_if_all_answers_are_correct_or_all_are_wrong() {
    for right in [true, false] {
        let points: Vec<(f64, bool)> = (0..60).map(|at| (0.9 + f64::from(at) * 0.001, right)).collect();
        let curve = fit_curve(&points);
        assert!(curve.slope.is_finite() && curve.offset.abs() < 6.0, "{curve:?}");
        assert_eq!(curve.of(0.95) > 0.95, right, "{curve:?}");
    }
    let certain = fit_curve(&[(1.0, true), (1.0, true), (0.0, false)]);
    assert!((certain.slope - 1.0).abs() < 1e-6 && certain.offset.abs() < 1e-6, "{certain:?}");
    assert_eq!(fit_curve(&[]), Calibration::default());
}

#[test]
fn posteriors_far_too_small_are_brought_to_scale() {
    // The paper's search has such posteriors: products over all spans.
    let points: Vec<(f64, bool)> =
        (0..60).map(|at| ((-10.0 - f64::from(at) / 4.0).exp(), at % 10 != 9)).collect();
    let curve = fit_curve(&points);
    let mean = points.iter().map(|(p, _)| curve.of(*p)).sum::<f64>() / 60.0;
    assert!((mean - 0.9).abs() < 0.05, "{curve:?} {mean}");
    assert!(Bins::new(points.iter().map(|&(p, right)| (curve.of(p), right))).ece().unwrap() < 0.06);
}

#[test]
fn fitting_lowers_the_calibration_error_on_other_points() {
    let truth = Calibration { slope: 0.5, offset: -0.5 };
    let (fitted_on, tested_on) = (sample(200, truth, 11), sample(2000, truth, 12));
    let curve = fit_curve(&fitted_on);
    let ece = |curve: Calibration| {
        Bins::new(tested_on.iter().map(|&(p, right)| (curve.of(p), right))).ece().unwrap()
    };
    assert!(ece(curve) < 0.05 && ece(curve) < ece(Calibration::default()) / 2.0);
    assert_eq!(curve, fit_curve(&fitted_on));
}

fn units(n: usize, width: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut random = Random::new(seed, &[]);
    (0..n)
        .map(|_| {
            let mut unit: Vec<f32> =
                (0..width).map(|_| (random.next() % 2001) as f32 / 1000.0 - 1.0).collect();
            normalize(&mut unit);
            unit
        })
        .collect()
}

#[test]
fn k_center_selects_the_farthest_vectors_as_a_naive_search_does() {
    let owned = units(60, 5, 1);
    let vectors: Vec<&[f32]> = owned.iter().map(Vec::as_slice).collect();
    let picked = k_center(&vectors, 12);
    assert_eq!((picked.len(), picked[0]), (12, 0));
    for n in 1..12 {
        let far = |at: usize| nearest(vectors[at], picked[..n].iter().map(|&other| vectors[other]));
        let farthest = (0..60).map(far).fold(0.0, f64::max);
        assert_eq!(far(picked[n]), farthest);
    }
    // Duplicates do not become centers.
    let copies: Vec<&[f32]> = vectors.iter().take(4).cycle().take(40).copied().collect();
    let mut of_copies = k_center(&copies, 12);
    of_copies.sort_unstable();
    assert_eq!(of_copies, [0, 1, 2, 3]);
    assert!(k_center(&[], 12).is_empty());
}

#[test]
fn an_utterance_is_never_compared_with_itself() {
    let owned = units(6, 4, 2);
    let words: Vec<Word> =
        owned.iter().enumerate().map(|(at, unit)| Word { unit: unit.clone(), owner: at / 2 }).collect();
    let all: Vec<usize> = (0..6).collect();
    let novel = held_out(&words, &all, 3);
    for (at, word) in words.iter().enumerate() {
        let others = words.iter().filter(|other| other.owner != word.owner);
        let expected = nearest(&word.unit, others.map(|other| other.unit.as_slice()));
        assert_eq!(novel[at / 2].words[at % 2], Some(expected));
    }
    // Without other utterances, the distance is 1.
    assert_eq!(held_out(&words[..2], &all[..2], 1)[0].total, 1.0);
}

#[test]
fn held_out_distances_count_as_in_domain_and_larger_ones_do_not() {
    let held_out: Vec<NoveltyScore> =
        (0..200).map(|at| NoveltyScore::new(vec![Some(f64::from(at) / 1000.0)])).collect();
    let scale = scale_of(&held_out, &[0.15, 0.21, 0.1]);
    let at = |total: f64| scale.in_domain(&NoveltyScore { words: Vec::new(), total });
    assert!((at(0.21) - 0.95).abs() < 1e-9, "the quantile of dev is higher than that of training");
    assert!(at(0.1) > 0.999 && at(0.6) < 0.001);
    // If even training utterances are far from all prototypes, no utterance is out-of-domain.
    let far = scale_of(&[NoveltyScore::new(vec![Some(1.0)])], &[]);
    assert!(far.width > 0.0 && far.in_domain(&NoveltyScore { words: Vec::new(), total: 1.0 }) > 0.94);
}

#[test]
fn a_quantile_is_the_value_that_the_share_does_not_exceed() {
    let values: Vec<f64> = (1..=100).rev().map(f64::from).collect();
    assert_eq!(
        [0.0, 0.5, 0.95, 0.951, 1.0].map(|share| quantile(&values, share)),
        [1.0, 50.0, 95.0, 96.0, 100.0]
    );
    assert_eq!(quantile(&[], 0.5), 0.0);
}
