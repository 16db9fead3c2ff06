//! CPython's random number generator, as far as shuffling needs it.
//!
//! The paper's splits were drawn with Python's `random.seed` and `random.shuffle`; with the same generator our importers
//! arrive at the same splits, in the same order. It is MT19937 (Matsumoto and Nishimura, 1998): the same on every
//! machine, and not for cryptography.

const N: usize = 624;
const M: usize = 397;

/// A Mersenne Twister that gives the numbers of Python's `random.Random(seed)`.
#[derive(Clone, Debug)]
pub struct PythonRandom {
    state: Box<[u32; N]>,
    /// Words of the state that were returned.
    n_used: usize,
}

impl PythonRandom {
    /// The generator that `random.seed(seed)` leaves behind.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let (low, high) = (seed as u32, (seed >> 32) as u32);
        let key: &[u32] = if high == 0 { &[low] } else { &[low, high] };
        let mut state = Box::new([0; N]);
        init_by_number(&mut state, 19_650_218);
        init_by_array(&mut state, key);
        Self { state, n_used: N }
    }

    /// `random.getrandbits(n_bits)` for up to 64 bits; larger numbers count as 64.
    pub fn bits(&mut self, n_bits: u32) -> u64 {
        let top = |word: u32, n_bits: u32| u64::from(word) >> (32 - n_bits);
        match n_bits {
            0 => 0,
            1..=32 => top(self.next_word(), n_bits),
            _ => {
                let low = u64::from(self.next_word());
                low | top(self.next_word(), n_bits.min(64) - 32) << 32
            }
        }
    }

    /// A number below `n`, as `random.randrange(n)` draws it; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let n_bits = usize::BITS - n.leading_zeros();
        loop {
            let drawn = self.bits(n_bits) as usize;
            if drawn < n || n == 0 {
                return drawn;
            }
        }
    }

    /// `random.shuffle(items)`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last + 1);
            items.swap(last, chosen);
        }
    }

    fn next_word(&mut self) -> u32 {
        if self.n_used == N {
            twist(&mut self.state);
            self.n_used = 0;
        }
        let mut word = self.state[self.n_used];
        self.n_used += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }
}

fn init_by_number(state: &mut [u32; N], seed: u32) {
    state[0] = seed;
    for i in 1..N {
        state[i] = mixed(state[i - 1]).wrapping_mul(1_812_433_253).wrapping_add(i as u32);
    }
}

fn init_by_array(state: &mut [u32; N], key: &[u32]) {
    let mut i = 1;
    for (j, &word) in key.iter().enumerate().cycle().take(N.max(key.len())) {
        let mix = mixed(state[i - 1]).wrapping_mul(1_664_525);
        state[i] = (state[i] ^ mix).wrapping_add(word).wrapping_add(j as u32);
        i = next_index(state, i);
    }
    for _ in 1..N {
        let mix = mixed(state[i - 1]).wrapping_mul(1_566_083_941);
        state[i] = (state[i] ^ mix).wrapping_sub(i as u32);
        i = next_index(state, i);
    }
    state[0] = 0x8000_0000;
}

/// The index after `i` in the circle of 1 to N - 1. Closing the circle copies the last word to index 0.
fn next_index(state: &mut [u32; N], i: usize) -> usize {
    if i + 1 < N {
        return i + 1;
    }
    state[0] = state[N - 1];
    1
}

fn mixed(word: u32) -> u32 {
    word ^ (word >> 30)
}

fn twist(state: &mut [u32; N]) {
    for i in 0..N {
        let joined = (state[i] & 0x8000_0000) | (state[(i + 1) % N] & 0x7fff_ffff);
        let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
        state[i] = state[(i + M) % N] ^ (joined >> 1) ^ odd;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values printed by CPython 3.11:
    //   r = random.Random(seed)
    //   print([r.getrandbits(32) for _ in range(4)], [r.getrandbits(k) for k in (1, 7, 33, 48, 64)])
    #[test]
    fn bits_are_those_of_cpython() {
        let check = |seed, words: [u64; 4], others: [u64; 5]| {
            let mut random = PythonRandom::new(seed);
            assert_eq!(words, [(); 4].map(|()| random.bits(32)), "seed {seed}");
            assert_eq!(others, [1, 7, 33, 48, 64].map(|n_bits| random.bits(n_bits)), "seed {seed}");
        };
        let words = [3_626_764_237, 1_654_615_998, 3_255_389_356, 3_823_568_514];
        check(0, words, [0, 5, 5_407_006_266, 136_775_429_449_314, 16_938_433_693_753_131_896]);
        let words = [2_754_794_679, 1_899_526_012, 2_328_685_183, 3_049_235_403];
        check(123_456_789, words, [1, 115, 7_916_707_634, 169_457_126_067_047, 18_225_381_641_368_186_125]);
        let words = [485_306_839, 1_508_871_100, 1_794_561_286, 4_014_597_330];
        check(1 << 32, words, [0, 2, 6_922_290_953, 214_580_026_335_744, 15_455_483_573_206_641_377]);
        let words = [93_740_670, 1_068_495_656, 1_452_108_352, 2_657_516_307];
        check(u64::MAX, words, [0, 58, 2_641_946_051, 253_557_343_846_644, 14_166_965_630_497_767_659]);
    }

    // r = random.Random(5); print([r.randrange(n) for n in (1, 2, 3, 10, 1000, 1 << 20, 880)])
    #[test]
    fn numbers_below_a_bound_are_those_of_cpython() {
        let mut random = PythonRandom::new(5);
        let drawn = [1, 2, 3, 10, 1000, 1 << 20, 880].map(|n| random.below(n));
        assert_eq!(drawn, [0, 1, 2, 8, 29, 976_481, 794]);
        assert_eq!(random.below(0), 0);
    }

    // r = random.Random(seed); l = list(range(12)); r.shuffle(l); print(l)
    // l = list(range(2000)); r.shuffle(l); print(l[:6], l[-4:])
    #[test]
    fn shuffles_are_those_of_cpython() {
        let check = |seed, short: [u32; 12], start: [u32; 6], end: [u32; 4]| {
            let mut random = PythonRandom::new(seed);
            let mut items: Vec<u32> = (0..12).collect();
            random.shuffle(&mut items);
            assert_eq!(items, short, "seed {seed}");
            let mut items: Vec<u32> = (0..2000).collect();
            random.shuffle(&mut items);
            assert_eq!((&items[..6], &items[1996..]), (&start[..], &end[..]), "seed {seed}");
        };
        let short = [1, 9, 8, 5, 10, 2, 3, 7, 4, 0, 11, 6];
        check(0, short, [931, 1350, 8, 455, 991, 829], [286, 577, 285, 1033]);
        let short = [11, 8, 4, 2, 5, 3, 1, 10, 7, 6, 0, 9];
        check(10, short, [172, 1551, 1086, 435, 1110, 1415], [671, 1003, 1066, 70]);
    }

    #[test]
    fn shuffling_nothing_or_one_item_works() {
        let mut random = PythonRandom::new(0);
        random.shuffle::<u8>(&mut []);
        random.shuffle(&mut [1]);
    }
}
