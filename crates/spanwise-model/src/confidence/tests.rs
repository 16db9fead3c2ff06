#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::novelty::Scale;
use super::*;
use spanwise_nn::Random;
use std::collections::BTreeSet;

fn unit(random: &mut Random, width: usize) -> Vec<f32> {
    let mut vector: Vec<f32> = (0..width).map(|_| (random.next() % 2001) as f32 / 1000.0 - 1.0).collect();
    normalize(&mut vector);
    vector
}

#[test]
fn without_a_calibration_posteriors_stay_as_they_are() {
    let none = Confidence::default();
    for p in [0.0, 1e-30, 0.25, 0.5, 0.999_999, 1.0] {
        assert_eq!(none.calibration.of(p).to_bits(), p.to_bits());
    }
    assert_eq!(none.probabilities(1.0, &Evidence::default(), 0.5, &[0.25, 0.125]), (0.5, vec![0.25, 0.125]));
    assert_eq!(none.calibration.of(f64::NAN), 0.0);
}

#[test]
fn a_higher_posterior_never_gives_a_lower_probability() {
    let grid: Vec<f64> = (0..=1000).map(|at| f64::from(at) / 1000.0).collect();
    for slope in [0.0, 0.05, 0.7, 1.0, 4.0, 100.0] {
        for offset in [-20.0, -1.0, 0.0, 3.0, 50.0] {
            let curve = Calibration { slope, offset };
            let values: Vec<f64> = grid.iter().map(|&p| curve.of(p)).collect();
            assert!(values.iter().all(|p| (0.0..=1.0).contains(p)), "{curve:?}");
            assert!(values.windows(2).all(|pair| pair[0] <= pair[1]), "{curve:?}");
        }
    }
}

#[test]
fn sigmoid_is_the_inverse_of_log_odds() {
    for p in [1e-9, 0.01, 0.3, 0.5, 0.99, 1.0 - 1e-9] {
        assert!((sigmoid(log_odds(p)) - p).abs() < 1e-12, "{p}");
    }
    assert!(log_odds(0.0) == -MAX_LOG_ODDS && log_odds(1.0) == MAX_LOG_ODDS);
    assert!(sigmoid(-1e6) == 0.0 && sigmoid(1e6) == 1.0);
}

#[test]
fn probabilities_are_in_order_and_sum_to_at_most_one() {
    let mut random = Random::new(3, &[]);
    for round in 0..500 {
        let mut share = || (random.next() % 1000) as f64 / 1000.0;
        let calibration = Calibration { slope: 3.0 * share(), offset: 6.0 * share() - 3.0 };
        let confidence = Confidence { calibration, ..Confidence::default() };
        let (best, in_domain) = (share(), share());
        let mut others: Vec<f64> = (0..4).map(|_| share() * (1.0 - best) / 3.0).collect();
        others.sort_by(|a, b| b.total_cmp(a));
        let (first, rest) = confidence.probabilities(in_domain, &Evidence::default(), best, &others);
        assert!(first + rest.iter().sum::<f64>() <= in_domain + 1e-12, "round {round}");
        assert!(rest.iter().all(|p| *p <= first) && rest.windows(2).all(|pair| pair[0] >= pair[1]));
        assert!(rest.iter().all(|p| *p >= 0.0));
    }
}

#[test]
fn a_certain_best_program_leaves_nothing_to_others() {
    let (best, others) = Confidence::default().probabilities(1.0, &Evidence::default(), 1.0, &[0.0, 0.0]);
    assert_eq!((best, others), (1.0, vec![0.0, 0.0]));
}

#[test]
fn the_nearest_prototype_is_the_one_a_search_in_double_precision_finds() {
    let mut random = Random::new(5, &[]);
    for width in [1, 7, 16, 37, 64] {
        let vectors: Vec<Vec<f32>> = (0..50).map(|_| unit(&mut random, width)).collect();
        let scale = Scale { center: 0.5, width: 0.1 };
        let novelty = Novelty { width, prototypes: vectors.concat(), scale, vocabulary: BTreeSet::new() };
        for _ in 0..20 {
            let query: Vec<f32> = unit(&mut random, width).iter().map(|x| x * 3.5).collect();
            let length = query.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
            let naive = |other: &Vec<f32>| {
                1.0 - query.iter().zip(other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>()
                    / length
            };
            let expected = vectors.iter().map(naive).fold(f64::INFINITY, f64::min);
            assert!(
                (novelty.of(&query, &[false]).words[0].unwrap() - expected).abs() < 1e-5,
                "width {width}"
            );
        }
    }
}

#[test]
fn an_utterance_is_as_novel_as_its_words_and_names_do_not_count() {
    let scale = Scale { center: 0.5, width: 0.05 };
    let novelty = Novelty { width: 2, prototypes: vec![1.0, 0.0], scale, vocabulary: BTreeSet::new() };
    // Two words with the direction of the prototype, one orthogonal to it.
    let vectors = [2.0, 0.0, 0.0, 1.0, 1.0, 0.0];
    let novel = novelty.of(&vectors, &[false, false, false]);
    assert_eq!(novel.words, [Some(0.0), Some(1.0), Some(0.0)]);
    assert!((novel.total - (1.0 + 2.0 / 3.0) / 3.0).abs() < 1e-12);
    assert!(scale.in_domain(&novel) < 0.5);
    let named = novelty.of(&vectors, &[false, true, false]);
    assert_eq!((named.total, named.words[1]), (0.0, None));
    assert!(scale.in_domain(&named) > 0.99);
    assert_eq!(NoveltyScore::new(Vec::new()).total, 0.0);
}

#[test]
fn vectors_that_are_zero_or_not_finite_are_at_distance_one() {
    let scale = Scale { center: 0.5, width: 0.05 };
    let novelty = Novelty { width: 2, prototypes: vec![1.0, 0.0], scale, vocabulary: BTreeSet::new() };
    assert_eq!(novelty.of(&[f32::NAN, 1.0, 0.0, 0.0], &[false; 2]).words, [Some(1.0), Some(1.0)]);
}

#[test]
fn unknown_words_are_those_not_in_the_vocabulary_or_else_the_most_novel_one() {
    let vocabulary = ["states", "border"].map(str::to_owned).into();
    let scale = Scale { center: 0.5, width: 0.05 };
    let novelty = Novelty { width: 2, prototypes: vec![1.0, 0.0], scale, vocabulary };
    let novel = NoveltyScore::new(vec![Some(0.1), Some(0.9), None, Some(0.2)]);
    assert_eq!(novelty.unknown_words(&novel, &["states", "govern", "texas", "badly"]), [1, 3]);
    // The first of the most novel words; a name is never unknown.
    assert_eq!(novelty.unknown_words(&novel, &["states", "border", "texas", "states"]), [1]);
    let equal = NoveltyScore::new(vec![Some(0.3), Some(0.3)]);
    assert_eq!(novelty.unknown_words(&equal, &["border", "border"]), [0]);
    assert!(novelty.unknown_words(&NoveltyScore::new(vec![None]), &["texas"]).is_empty());
}
