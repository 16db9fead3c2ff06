//! A small generator of random numbers: the same seed gives the same numbers everywhere.

/// `SplitMix64`.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream of a seed for one purpose and one case: cases can be repeated alone.
    pub(crate) fn new(seed: u64, purpose: &str, case: u64) -> Self {
        let start = purpose.bytes().fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut random = Self(start ^ case.wrapping_mul(0xd6e8_feb8_6659_fd93));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`; 0 if `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.next() % n as u64) as usize }
    }

    /// Whether something of this probability happens, in percent.
    pub(crate) fn percent(&mut self, share: usize) -> bool {
        self.below(100) < share
    }

    /// One of some things, which must not be none.
    pub(crate) fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, things: &mut [T]) {
        for at in (1..things.len()).rev() {
            things.swap(at, self.below(at + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_purpose_and_case_give_the_same_numbers() {
        let draw = |seed, purpose, case| Random::new(seed, purpose, case).next();
        assert_eq!(draw(1, "a", 2), draw(1, "a", 2));
        let others = [draw(2, "a", 2), draw(1, "b", 2), draw(1, "a", 3)];
        assert!(others.iter().all(|&other| other != draw(1, "a", 2)));
        let mut order: Vec<usize> = (0..50).collect();
        Random::new(1, "order", 0).shuffle(&mut order);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(order != sorted && sorted == (0..50).collect::<Vec<_>>());
    }
}
