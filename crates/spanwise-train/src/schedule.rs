//! The learning-rate schedule and the order of batches, as pure functions of the settings and the seed.

use crate::config::Training;
use spanwise_nn::{Random, Rates};

/// Learning rates at a point of training, `progress` from 0 to 1: linear warm-up, then linear decay to zero.
pub(crate) fn rates(training: &Training, progress: f32) -> Rates {
    let warm_up = training.warm_up;
    let factor = if progress < warm_up {
        progress / warm_up
    } else {
        ((1.0 - progress) / (1.0 - warm_up).max(f32::EPSILON)).max(0.0)
    };
    Rates {
        encoder: training.rate_encoder * factor,
        head: training.rate_head * factor,
        table: training.rate_tables * factor,
    }
}

/// Batches of examples of similar length, in random order. The examples are shuffled and cut into pools of 16 batches;
/// each pool is sorted by length and cut into batches, and then all batches are shuffled.
pub(crate) fn batches(
    n: usize,
    n_words: impl Fn(usize) -> usize,
    size: usize,
    seed: u64,
    epoch: usize,
) -> Vec<Vec<usize>> {
    const POOL: usize = 16;
    let mut random = Random::new(seed, &[6, epoch as u64]);
    let mut order: Vec<usize> = (0..n).collect();
    random.shuffle(&mut order);
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for pool in order.chunks_mut(size * POOL) {
        pool.sort_by_key(|&at| n_words(at));
        batches.extend(pool.chunks(size).map(<[usize]>::to_vec));
    }
    random.shuffle(&mut batches);
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_rise_to_their_full_height_and_fall_to_zero() {
        let training = Training { warm_up: 0.1, rate_head: 2.0, ..Training::default() };
        let at = |progress| rates(&training, progress).head;
        assert_eq!((at(0.0), at(0.05), at(0.1), at(1.0)), (0.0, 1.0, 2.0, 0.0));
        assert!((at(0.55) - 1.0).abs() < 1e-6);
        let at_once = Training { warm_up: 0.0, ..training };
        assert_eq!(rates(&at_once, 0.0).head, 2.0);
    }

    #[test]
    fn batches_hold_every_example_once_and_similar_lengths_together() {
        let n_words = |at: usize| at % 20;
        let found = batches(1000, n_words, 16, 1, 2);
        let mut all: Vec<usize> = found.iter().flatten().copied().collect();
        all.sort_unstable();
        assert_eq!(all, (0..1000).collect::<Vec<_>>());
        let spread = |batch: &Vec<usize>| {
            let words = batch.iter().map(|&at| n_words(at));
            words.clone().max().unwrap_or(0) - words.min().unwrap_or(0)
        };
        assert!(found.iter().map(spread).sum::<usize>() < 3 * found.len());
        assert_eq!(found, batches(1000, n_words, 16, 1, 2));
        assert_ne!(found, batches(1000, n_words, 16, 1, 3));
    }
}
