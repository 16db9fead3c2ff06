//! What is known about single words: how often training utterances have them, and how often they mean nothing there.

use std::collections::BTreeMap;

/// A word that is aligned to no constant at least this often carries no meaning of its own.
const USUALLY_NULL: f64 = 0.5;

/// For each word of the training utterances, how often it occurs, and how often it is aligned to no constant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WordCounts(BTreeMap<String, [u32; 2]>);

/// What the counts say about a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Familiarity {
    /// Training utterances do not have it.
    Unknown,
    /// It usually means nothing.
    Null,
    /// It usually has a meaning.
    Content,
}

impl WordCounts {
    /// Counts one occurrence.
    pub fn add(&mut self, word: &str, is_null: bool) {
        let counts = match self.0.get_mut(word) {
            Some(counts) => counts,
            None => self.0.entry(word.to_owned()).or_default(),
        };
        counts[0] += 1;
        counts[1] += u32::from(is_null);
    }

    /// Adds stored counts: occurrences, and those without a meaning.
    pub fn insert(&mut self, word: String, counts: [u32; 2]) {
        self.0.insert(word, counts);
    }

    /// Every word with its counts, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, [u32; 2])> {
        self.0.iter().map(|(word, counts)| (word.as_str(), *counts))
    }

    /// Number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is such a word.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.0.contains_key(word)
    }

    /// What is known about a word.
    #[must_use]
    pub fn familiarity(&self, word: &str) -> Familiarity {
        self.without(word, [0, 0])
    }

    /// The same without some of its occurrences: what would be known if an utterance had not been in the training data.
    #[must_use]
    pub fn without(&self, word: &str, left_out: [u32; 2]) -> Familiarity {
        let [n, n_null] = self.0.get(word).copied().unwrap_or_default();
        let (n, n_null) = (n.saturating_sub(left_out[0]), n_null.saturating_sub(left_out[1]));
        if n == 0 {
            Familiarity::Unknown
        } else if f64::from(n_null) >= USUALLY_NULL * f64::from(n) {
            Familiarity::Null
        } else {
            Familiarity::Content
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_by_what_it_usually_means() {
        let mut counts = WordCounts::default();
        for is_null in [true, true, false] {
            counts.add("of", is_null);
        }
        counts.add("river", false);
        assert_eq!(counts.familiarity("of"), Familiarity::Null);
        assert_eq!(counts.familiarity("river"), Familiarity::Content);
        assert_eq!(counts.familiarity("stream"), Familiarity::Unknown);
        assert_eq!(counts.without("river", [1, 0]), Familiarity::Unknown);
        assert_eq!(counts.without("of", [2, 2]), Familiarity::Content);
    }
}
