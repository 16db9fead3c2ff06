//! A vocabulary that finds the words near a misspelt one.
//!
//! Two words within `k` edits have a common form after at most `k` letters are left out of each. So every word is
//! listed under the forms that arise when letters are left out of its beginning, and a typed word is looked up under its own.

use super::edits::{Edits, typo_cost_of};
use super::fold::fold;
use crate::texts::{Texts, hash32};
use std::cmp::Reverse;

/// Letters of the beginning of a word that the index looks at.
const PREFIX: usize = 7;
/// Cost of a difference in accents only.
pub const ACCENT: f32 = 0.1;

/// Most edits of a word of `n_chars` letters: more would make another word of it.
///
/// None below 3 letters, one below 6, two from there on. Of a typed and a meant word, the smaller number counts.
#[must_use]
pub const fn max_edits(n_chars: usize) -> u8 {
    match n_chars {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    }
}

/// A word near a typed one.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Near<'a> {
    /// The word, in lower case.
    pub word: &'a str,
    /// Edits between the folded words.
    pub edits: u8,
    /// How unlikely the typing error is ([`super::typo_cost`] of the folded words), and [`ACCENT`] where accents differ.
    pub cost: f32,
    /// How often the word occurs.
    pub count: u32,
}

/// An index over a vocabulary that finds all words within a few edits.
///
/// 99,000 made-up words of ten letters take 23 MB and are indexed in 0.2 s; a search takes 20 microseconds (a test
/// build, one core), more where many words have the same beginning.
///
/// ```
/// use spanwise_lang::matching::Speller;
///
/// let speller = Speller::new([("capital", 20), ("capitol", 2), ("texas", 7), ("route66", 1)]);
/// let words: Vec<&str> = speller.near("captial", 5).iter().map(|near| near.word).collect();
/// assert_eq!(words, ["capital", "capitol"]);
/// assert_eq!(speller.count("texas"), Some(7));
/// assert!(speller.near("route6", 5).is_empty() && speller.near("rout", 5).is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Speller {
    /// In alphabetic order.
    words: Texts,
    counts: Vec<u32>,
    /// The hash of a form in the upper half, the word in the lower, sorted.
    forms: Vec<u64>,
    /// Where the forms with given upper bits of the hash begin.
    buckets: Vec<u32>,
}

/// Upper bits of a hash that choose the bucket.
const BUCKET_BITS: u32 = 16;

impl Speller {
    /// Indexes a vocabulary. Words are put in lower case; the counts of equal words are added.
    #[must_use]
    pub fn new(words: impl IntoIterator<Item = (impl AsRef<str>, u32)>) -> Self {
        let lower = words.into_iter().map(|(word, count)| (word.as_ref().to_lowercase(), count));
        let mut vocabulary: Vec<(String, u32)> = lower.filter(|(word, _)| !word.is_empty()).collect();
        vocabulary.sort_unstable();
        vocabulary.dedup_by(|(word, count), (kept, total)| {
            let is_same = word == kept;
            if is_same {
                *total = total.saturating_add(*count);
            }
            is_same
        });
        let mut speller = Self::default();
        // They are most of the memory: one that grew would have up to twice as much.
        let n_forms = vocabulary.iter().map(|(word, _)| n_forms(fold(word).chars().count())).sum();
        speller.forms.reserve_exact(n_forms);
        let mut chars = Vec::new();
        for (id, (word, count)) in vocabulary.iter().enumerate() {
            speller.words.push(word);
            speller.counts.push(*count);
            chars.clear();
            chars.extend(fold(word).chars());
            if !chars.iter().any(|ch| ch.is_numeric()) {
                let add = |form| speller.forms.push((u64::from(form) << 32) | id as u64);
                for_each_form(&chars, add);
            }
        }
        speller.words.shrink();
        speller.counts.shrink_to_fit();
        speller.sort_forms();
        speller
    }

    fn sort_forms(&mut self) {
        self.forms.sort_unstable();
        self.forms.dedup();
        self.forms.shrink_to_fit();
        self.buckets = vec![0; (1 << BUCKET_BITS) + 1];
        for form in &self.forms {
            self.buckets[(form >> (64 - BUCKET_BITS)) as usize + 1] += 1;
        }
        for at in 1..self.buckets.len() {
            self.buckets[at] += self.buckets[at - 1];
        }
    }

    /// How often a word occurs; `None` for a word that is not in the vocabulary. The word is given in lower case.
    ///
    /// Cost: a binary search.
    #[must_use]
    pub fn count(&self, word: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.words.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.words.get(middle).cmp(word) {
                std::cmp::Ordering::Equal => return Some(self.counts[middle as usize]),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is no word.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The words within [`max_edits`] of a typed word, at most `max`: by cost, then the most frequent first, then in
    /// alphabetic order. The word itself is among them if the vocabulary has it.
    ///
    /// Digits are never corrected: a typed word with a digit has no near words, and words with digits are not offered.
    ///
    /// Cost: up to 29 searches, and a comparison with every word they find.
    #[must_use]
    pub fn near(&self, typed: &str, max: usize) -> Vec<Near<'_>> {
        let lower = typed.to_lowercase();
        let folded: Vec<char> = fold(&lower).chars().collect();
        if folded.is_empty() || folded.iter().any(|ch| ch.is_numeric()) {
            return Vec::new();
        }
        let mut ids = Vec::new();
        for_each_form(&folded, |form| self.with_form(form, &mut ids));
        ids.sort_unstable();
        ids.dedup();
        let allowed = max_edits(folded.len());
        let (mut rows, mut word) = (Edits::default(), Vec::new());
        let mut found = Vec::new();
        for id in ids {
            let text = self.words.get(id);
            word.clear();
            word.extend(fold(text).chars());
            let Some(edits) = rows.at_most(&folded, &word, allowed.min(max_edits(word.len()))) else {
                continue;
            };
            let accents = if edits == 0 && text != lower { ACCENT } else { 0.0 };
            let cost = typo_cost_of(&folded, &word) + accents;
            found.push(Near { word: text, edits, cost, count: self.counts[id as usize] });
        }
        found.sort_by(|a, b| {
            a.cost.total_cmp(&b.cost).then((Reverse(a.count), a.word).cmp(&(Reverse(b.count), b.word)))
        });
        found.truncate(max);
        found
    }

    fn with_form(&self, form: u32, ids: &mut Vec<u32>) {
        let bucket = (form >> (32 - BUCKET_BITS)) as usize;
        let forms = &self.forms[self.buckets[bucket] as usize..self.buckets[bucket + 1] as usize];
        let first = forms.partition_point(|&at| ((at >> 32) as u32) < form);
        let same = forms[first..].iter().take_while(|&&at| (at >> 32) as u32 == form);
        ids.extend(same.map(|&at| at as u32));
    }

    /// Bytes of memory that the index takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.words.bytes()
            + (self.counts.capacity() + self.buckets.capacity()) * size_of::<u32>()
            + self.forms.capacity() * size_of::<u64>()
    }
}

/// How many forms a word of `n_chars` letters has.
fn n_forms(n_chars: usize) -> usize {
    let n = n_chars.min(PREFIX);
    match max_edits(n_chars) {
        0 => 1,
        1 => 1 + n,
        _ => 1 + n + n * n.saturating_sub(1) / 2,
    }
}

/// The hashes of the forms of a word: the beginning with up to [`max_edits`] letters left out.
///
/// The beginning is enough. Where letters of one beginning are aligned to later letters of the other word, the other
/// beginning is aligned completely, and the same number of letters is left over in both.
fn for_each_form(word: &[char], mut each: impl FnMut(u32)) {
    let start = &word[..word.len().min(PREFIX)];
    let without = |i: usize, j: usize| {
        hash32(start.iter().enumerate().filter(|&(at, _)| at != i && at != j).map(|(_, &ch)| ch))
    };
    let (n, none) = (start.len(), usize::MAX);
    each(without(none, none));
    let allowed = max_edits(word.len());
    for i in 0..if allowed >= 1 { n } else { 0 } {
        each(without(i, none));
        for j in i + 1..if allowed >= 2 { n } else { 0 } {
            each(without(i, j));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matching::{edits, typo_cost};
    use proptest::prelude::*;

    /// Compares with every word of the vocabulary.
    fn scan<'a>(words: &'a [(String, u32)], typed: &str) -> Vec<(&'a str, u8, f32, u32)> {
        let folded = fold(typed).into_owned();
        let len = |word: &str| word.chars().count();
        let mut found: Vec<_> = words
            .iter()
            .filter(|(word, _)| !format!("{typed}{word}").chars().any(char::is_numeric))
            .filter_map(|(word, count)| {
                let other = fold(word).into_owned();
                let n = edits(&folded, &other, max_edits(len(&folded)).min(max_edits(len(&other))))?;
                let accents = if n == 0 && word != typed { ACCENT } else { 0.0 };
                Some((word.as_str(), n, typo_cost(&folded, &other) + accents, *count))
            })
            .collect();
        found.sort_by(|a, b| a.2.total_cmp(&b.2).then((Reverse(a.3), a.0).cmp(&(Reverse(b.3), b.0))));
        found
    }

    fn check(words: Vec<(String, u32)>, typed: &str) {
        let mut words = words;
        words.sort();
        words.dedup_by(|a, b| a.0 == b.0);
        let speller = Speller::new(words.iter().map(|(word, count)| (word, *count)));
        let found: Vec<_> = speller
            .near(typed, 1_000)
            .iter()
            .map(|near| (near.word, near.edits, near.cost, near.count))
            .collect();
        assert_eq!(found, scan(&words, typed));
        assert_eq!(speller.near(typed, 2).len(), found.len().min(2));
        for (word, count) in &words {
            assert_eq!(speller.count(word), Some(*count));
        }
    }

    #[test]
    fn accents_cost_less_than_errors_and_the_word_itself_is_first() {
        let speller = Speller::new([("beyoncé", 1), ("beyonce", 1), ("Beyonce", 2), ("beyond", 9)]);
        let found: Vec<_> = speller.near("beyonce", 9).iter().map(|near| (near.word, near.edits)).collect();
        assert_eq!(found, [("beyonce", 0), ("beyoncé", 0), ("beyond", 2)]);
        assert_eq!((speller.count("beyonce"), speller.count("beyon"), speller.len()), (Some(3), None, 3));
    }

    #[test]
    fn short_words_and_digits_are_left_alone() {
        let speller = Speller::new([("in", 1), ("on", 1), ("2011", 1), ("route66", 1), ("routes", 1)]);
        let near = |typed| speller.near(typed, 9).iter().map(|near| near.word).collect::<Vec<_>>();
        assert_eq!(near("im"), [""; 0]);
        assert_eq!(near("2012"), [""; 0]);
        assert_eq!(near("2011"), [""; 0]);
        assert_eq!(near("route6"), [""; 0]);
        assert_eq!(near("routee"), ["routes"]);
        assert_eq!(near(""), [""; 0]);
        assert!(Speller::new([("", 1)]).is_empty());
    }

    #[test]
    fn the_forms_of_a_word_are_counted() {
        for n in 0..12 {
            let mut count = 0;
            for_each_form(&vec!['a'; n], |_| count += 1);
            assert_eq!(n_forms(n), count, "{n} letters");
        }
    }

    proptest! {
        #[test]
        fn the_index_finds_what_a_scan_finds(
            words in proptest::collection::vec(("[abcé1]{1,10}", 0u32..3), 0..40),
            typed in "[abcé]{1,10}",
        ) {
            check(words, &typed);
        }

        #[test]
        fn errors_in_a_word_are_found_wherever_they_are(
            word in "[a-e]{3,14}", at in 0usize..14, what in 0usize..4, letter in "[a-e]",
        ) {
            let mut typed: Vec<char> = word.chars().collect();
            let at = at % typed.len();
            match what {
                0 => { typed.remove(at); }
                1 => typed.insert(at, letter.chars().next().unwrap()),
                2 => typed[at] = letter.chars().next().unwrap(),
                _ => { let next = (at + 1).min(typed.len() - 1); typed.swap(at, next); }
            }
            let typed: String = typed.into_iter().collect();
            check(vec![(word.clone(), 1), ("other".to_owned(), 1)], &typed);
            let speller = Speller::new([(&word, 1)]);
            prop_assert_eq!(speller.near(&typed, 1).is_empty(), max_edits(typed.len()) == 0);
        }
    }
}
