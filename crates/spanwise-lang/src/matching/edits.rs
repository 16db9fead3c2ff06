//! Distances between a typed word and a word that was meant: the number of edits, and what typing errors they look like.
//!
//! Edits are letters put in, left out, exchanged, or swapped with their neighbour; no letter is edited twice (the
//! *optimal string alignment* form of the Damerau-Levenshtein distance).

/// Cost of another letter in the place of the right one.
pub const SUBSTITUTE: f32 = 1.0;
/// Cost of a letter too many or missing.
pub const INSERT: f32 = 0.9;
/// Cost of a vowel in the place of another.
pub const VOWEL: f32 = 0.8;
/// Cost of the letter beside the right one on a QWERTY keyboard.
pub const NEIGHBOUR: f32 = 0.7;
/// Cost of two letters in the wrong order.
pub const SWAP: f32 = 0.6;
/// Cost of a letter typed twice, or of one letter of a pair left out.
pub const DOUBLE: f32 = 0.5;
/// Added for an error in the first letter, which people seldom get wrong.
pub const FIRST_LETTER: f32 = 0.5;

/// The least number of edits between two words, if it is at most `max`.
///
/// Cost: `max` times the length, in a band around the diagonal.
///
/// ```
/// use spanwise_lang::matching::edits;
///
/// assert_eq!(edits("captial", "capital", 2), Some(1));
/// assert_eq!(edits("texsa", "texas", 1), Some(1));
/// assert_eq!(edits("ohio", "iowa", 2), None);
/// ```
#[must_use]
pub fn edits(a: &str, b: &str, max: u8) -> Option<u8> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    Edits::default().at_most(&a, &b, max)
}

/// The rows of the computation, kept between calls.
#[derive(Clone, Debug, Default)]
pub struct Edits {
    before: Vec<u16>,
    last: Vec<u16>,
    row: Vec<u16>,
}

impl Edits {
    /// Like [`edits`], for words that are taken apart into characters already.
    pub fn at_most(&mut self, a: &[char], b: &[char], max: u8) -> Option<u8> {
        let bound = usize::from(max);
        if a.len().abs_diff(b.len()) > bound {
            return None;
        }
        let too_many = u16::from(max) + 1;
        for row in [&mut self.before, &mut self.last, &mut self.row] {
            row.clear();
            row.resize(b.len() + 1, too_many);
        }
        for (n, cell) in self.last.iter_mut().enumerate().take(bound + 1) {
            *cell = n as u16;
        }
        for i in 1..=a.len() {
            let (low, high) = (i.saturating_sub(bound).max(1), b.len().min(i + bound));
            self.row[low - 1] = if low == 1 { (i as u16).min(too_many) } else { too_many };
            let mut least = self.row[low - 1];
            for j in low..=high {
                let exchanged = self.last[j - 1] + u16::from(a[i - 1] != b[j - 1]);
                let mut best = exchanged.min(self.row[j - 1] + 1).min(self.last[j] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(self.before[j - 2] + 1);
                }
                self.row[j] = best.min(too_many);
                least = least.min(best);
            }
            if high < b.len() {
                self.row[high + 1] = too_many;
            }
            // A swap goes back two rows, so both must be hopeless.
            let hopeless = least == too_many && self.last.iter().all(|&cell| cell == too_many);
            if hopeless {
                return None;
            }
            std::mem::swap(&mut self.before, &mut self.last);
            std::mem::swap(&mut self.last, &mut self.row);
        }
        let n = self.last[b.len()];
        (n < too_many).then_some(n as u8)
    }
}

/// How unlikely it is that `typed` is a typing error for `word`: the cheapest way to make one from the other, with the
/// costs of this module. Zero for equal words.
///
/// Cost: the product of the lengths.
///
/// ```
/// use spanwise_lang::matching::typo_cost;
///
/// assert_eq!(typo_cost("texas", "texas"), 0.0);
/// assert!(typo_cost("metalica", "metallica") < typo_cost("metalxica", "metallica"));
/// assert!(typo_cost("texaa", "texas") < typo_cost("texam", "texas"));
/// ```
#[must_use]
pub fn typo_cost(typed: &str, word: &str) -> f32 {
    let (typed, word): (Vec<char>, Vec<char>) = (typed.chars().collect(), word.chars().collect());
    typo_cost_of(&typed, &word)
}

/// Like [`typo_cost`], for words that are taken apart into characters already.
pub(super) fn typo_cost_of(typed: &[char], word: &[char]) -> f32 {
    let width = word.len() + 1;
    let mut costs = vec![f32::INFINITY; (typed.len() + 1) * width];
    costs[0] = 0.0;
    for i in 0..=typed.len() {
        for j in 0..=word.len() {
            let mut best = costs[i * width + j];
            if i > 0 {
                best = best.min(costs[(i - 1) * width + j] + single(typed, i - 1));
            }
            if j > 0 {
                best = best.min(costs[i * width + j - 1] + single(word, j - 1));
            }
            if i > 0 && j > 0 {
                best = best.min(costs[(i - 1) * width + j - 1] + exchange(typed, word, i - 1, j - 1));
            }
            if i > 1 && j > 1 && typed[i - 1] == word[j - 2] && typed[i - 2] == word[j - 1] {
                best = best.min(costs[(i - 2) * width + j - 2] + SWAP + at_front(i - 2, j - 2));
            }
            costs[i * width + j] = best;
        }
    }
    costs[costs.len() - 1]
}

/// The cost of a letter that only one of the words has.
fn single(word: &[char], at: usize) -> f32 {
    match at {
        0 => INSERT + FIRST_LETTER,
        _ if word[at] == word[at - 1] => DOUBLE,
        _ => INSERT,
    }
}

fn exchange(typed: &[char], word: &[char], i: usize, j: usize) -> f32 {
    let (a, b) = (typed[i], word[j]);
    let cost = match () {
        () if a == b => return 0.0,
        () if are_neighbours(a, b) => NEIGHBOUR,
        () if is_vowel(a) && is_vowel(b) => VOWEL,
        () => SUBSTITUTE,
    };
    cost + at_front(i, j)
}

fn at_front(i: usize, j: usize) -> f32 {
    if i == 0 || j == 0 { FIRST_LETTER } else { 0.0 }
}

fn is_vowel(ch: char) -> bool {
    matches!(ch, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}

/// Whether two letters touch on a QWERTY keyboard, whose rows are shifted to the right from top to bottom.
fn are_neighbours(a: char, b: char) -> bool {
    const ROWS: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];
    let place = |ch: char| ROWS.iter().enumerate().find_map(|(y, row)| Some((y, row.find(ch)?)));
    let (Some(a), Some(b)) = (place(a), place(b)) else { return false };
    let (upper, lower) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    match lower.0 - upper.0 {
        0 => upper.1.abs_diff(lower.1) == 1,
        1 => upper.1 == lower.1 || upper.1 == lower.1 + 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, letter by letter from the end, without a table.
    fn plain_edits(a: &[char], b: &[char]) -> usize {
        let (n, m) = (a.len(), b.len());
        if n == 0 || m == 0 {
            return n.max(m);
        }
        let mut best = plain_edits(&a[..n - 1], &b[..m - 1]) + usize::from(a[n - 1] != b[m - 1]);
        best = best.min(plain_edits(&a[..n - 1], b) + 1).min(plain_edits(a, &b[..m - 1]) + 1);
        if n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1] {
            best = best.min(plain_edits(&a[..n - 2], &b[..m - 2]) + 1);
        }
        best
    }

    fn plain_cost(a: &[char], b: &[char]) -> f32 {
        let (n, m) = (a.len(), b.len());
        let mut best = if n + m == 0 { 0.0 } else { f32::INFINITY };
        if n > 0 {
            best = best.min(plain_cost(&a[..n - 1], b) + single(a, n - 1));
        }
        if m > 0 {
            best = best.min(plain_cost(a, &b[..m - 1]) + single(b, m - 1));
        }
        if n > 0 && m > 0 {
            best = best.min(plain_cost(&a[..n - 1], &b[..m - 1]) + exchange(a, b, n - 1, m - 1));
        }
        if n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1] {
            best = best.min(plain_cost(&a[..n - 2], &b[..m - 2]) + SWAP + at_front(n - 2, m - 2));
        }
        best
    }

    #[test]
    fn likely_errors_cost_less_than_unlikely_ones() {
        let cost = typo_cost;
        assert!(cost("borderr", "border") < cost("borderx", "border"));
        assert!(cost("metalica", "metallica") < cost("metllica", "metallica"));
        assert!(cost("captial", "capital") < cost("cabtial", "capital"));
        assert!(cost("rivet", "river") < cost("rivel", "river"));
        assert!(cost("definate", "definite") < cost("defintte", "definite"));
        assert!(cost("rivwr", "river") < cost("tiver", "river"));
        assert!(cost("iver", "river") > cost("rver", "river"));
    }

    #[test]
    fn keys_are_neighbours_of_the_keys_they_touch() {
        let around = |key: char| ('a'..='z').filter(|&ch| are_neighbours(key, ch)).collect::<String>();
        assert_eq!(around('g'), "bfhtvy");
        assert_eq!(around('q'), "aw");
        assert_eq!(around('m'), "jkn");
    }

    proptest! {
        #[test]
        fn the_band_agrees_with_the_definition(a in "[abc]{0,7}", b in "[abc]{0,7}", max in 0u8..5) {
            let (left, right): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let n = plain_edits(&left, &right);
            prop_assert_eq!(edits(&a, &b, max), (n <= usize::from(max)).then_some(n as u8));
        }

        #[test]
        fn the_cost_agrees_with_the_definition(a in "[asde]{0,5}", b in "[asde]{0,5}") {
            let (left, right): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            let cost = typo_cost(&a, &b);
            prop_assert!((cost - plain_cost(&left, &right)).abs() < 1e-5);
            prop_assert_eq!(cost == 0.0, a == b);
        }
    }
}
