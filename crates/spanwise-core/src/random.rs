//! The random numbers of training and tests: a generator whose output depends on nothing but its seed.

/// A SplitMix64 generator: small, fast, and the same on every machine.
///
/// ```
/// use spanwise_core::Random;
///
/// // One seed gives unrelated streams, one for each purpose: here epochs 1 and 2 of purpose 6.
/// let mut first = Random::new(42, &[6, 1]);
/// let mut second = Random::new(42, &[6, 2]);
/// assert_ne!(first.next(), second.next());
/// assert!(first.below(10) < 10);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A stream for a seed and a purpose; streams of different purposes are unrelated.
    #[must_use]
    pub fn new(seed: u64, purpose: &[u64]) -> Self {
        let mut random = Self(seed ^ 0x5bf0_3635_d1c2_47a9);
        for part in purpose {
            random.0 = random.next().wrapping_add(part.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        }
        random
    }

    /// A stream whose state is the seed itself, without mixing: its first numbers are those of the published
    /// SplitMix64. [`Random::new`] is the right choice for anything new.
    #[must_use]
    pub const fn from_state(state: u64) -> Self {
        Self(state)
    }

    /// The next 64 bits.
    #[allow(clippy::should_implement_trait, reason = "an infinite stream has no use for Option")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..n`.
    ///
    /// # Panics
    /// When `n` is zero.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0, "nothing to choose from");
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A number in `[0, 1)`.
    pub fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u32 << 24) as f32
    }

    /// A number from the standard normal distribution.
    pub fn normal(&mut self) -> f32 {
        // Box and Muller; the first number must not be zero.
        let radius = (-2.0 * (1.0 - f64::from(self.uniform())).ln()).sqrt();
        (radius * (std::f64::consts::TAU * f64::from(self.uniform())).cos()) as f32
    }

    /// Shuffles in place.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_purposes_differ() {
        let draw = |seed, purpose: &[u64]| {
            let mut random = Random::new(seed, purpose);
            [random.next(), random.next(), random.next()]
        };
        assert_eq!(draw(1, &[2, 3]), draw(1, &[2, 3]));
        assert_ne!(draw(1, &[2, 3]), draw(1, &[3, 2]));
        assert_ne!(draw(1, &[2]), draw(2, &[2]));
    }

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        // The first outputs of the reference implementation for the seed 1234567.
        let mut random = Random::from_state(1_234_567);
        let found = [random.next(), random.next(), random.next()];
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let mut random = Random::new(7, &[]);
        let draws: Vec<f32> = (0..20_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f32>() / draws.len() as f32;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / draws.len() as f32;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }

    #[test]
    fn shuffling_keeps_every_item_and_reaches_every_order() {
        let mut random = Random::new(1, &[]);
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            seen.insert(items);
        }
        assert_eq!(seen.len(), 6);
    }
}
