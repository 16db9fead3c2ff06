//! How long an engine takes, learned from what it did.

use crate::engine::Ask;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// An utterance with more words, or with more alternatives, is estimated by its engine: its time depends on more than its
/// length.
const LONG: usize = 24;
const MANY: usize = 5;
/// The estimate before anything was measured, in nanoseconds a word. It is high, so that the first batches are small.
const FIRST: u64 = 2_000_000;
/// How much slower than expected a batch may count: a machine that was busy for a moment says little.
const MAX_JUMP: u64 = 4;

/// The time that an engine takes for short utterances, in nanoseconds a word. It includes evaluating programs, so that
/// an engine with a slow executor is known to be slow.
pub(crate) struct Pace(AtomicU64);

/// Whether the length of an utterance tells enough about its time.
pub(super) fn is_plain(ask: &Ask, n_words: usize) -> bool {
    n_words <= LONG && ask.k <= MANY
}

impl Default for Pace {
    fn default() -> Self {
        Self(AtomicU64::new(FIRST))
    }
}

impl Pace {
    /// The expected time for an utterance.
    pub(super) fn estimate(&self, n_words: usize) -> Duration {
        Duration::from_nanos(self.0.load(Relaxed).saturating_mul(n_words.max(1) as u64))
    }

    /// Takes a batch of short utterances into account: the mean of the old value and the new one.
    pub(super) fn learn(&self, n_words: usize, took: Duration) {
        let old = self.0.load(Relaxed);
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX) / n_words.max(1) as u64;
        self.0.store((old / 2 + took.min(old.saturating_mul(MAX_JUMP)) / 2).max(1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_approach_what_was_measured_and_one_stall_says_little() {
        let pace = Pace::default();
        for _ in 0..30 {
            pace.learn(100, Duration::from_millis(10));
        }
        let usual = pace.estimate(10);
        assert!((Duration::from_micros(990)..Duration::from_micros(1100)).contains(&usual), "{usual:?}");
        pace.learn(1, Duration::from_secs(1000));
        assert!(pace.estimate(10) < 3 * usual);
        for _ in 0..30 {
            pace.learn(1, Duration::from_secs(1));
        }
        assert!(
            pace.estimate(1) > Duration::from_millis(900),
            "an engine that stays slow is known to be slow"
        );
    }
}
