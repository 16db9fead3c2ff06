//! What is known about single words: how often training utterances have them, and how often they mean nothing there.

use std::collections::BTreeMap;

/// A word that is aligned to no constant at least this often carries no meaning of its own.
const USUALLY_NULL: f64 = 0.5;

/// For each word of the training utterances, how often it occurs, how often it is aligned to no constant, and how often to
/// each predicate.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WordCounts {
    /// Occurrences, and those that are aligned to nothing.
    words: BTreeMap<String, [u32; 2]>,
    /// By predicate.
    predicates: BTreeMap<String, BTreeMap<String, u32>>,
}

/// What a word is aligned to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ReadAs<'a> {
    /// Nothing.
    Null,
    /// A predicate of this name.
    Predicate(&'a str),
    /// An entity or a literal.
    Value,
}

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
    pub fn add(&mut self, word: &str, read_as: ReadAs<'_>) {
        let counts = entry(&mut self.words, word);
        counts[0] += 1;
        counts[1] += u32::from(read_as == ReadAs::Null);
        if let ReadAs::Predicate(predicate) = read_as {
            *entry(entry(&mut self.predicates, predicate), word) += 1;
        }
    }

    /// Puts stored counts together: for each word its occurrences and those without a meaning, and for each predicate its
    /// words.
    #[must_use]
    pub fn from_parts(
        words: BTreeMap<String, [u32; 2]>,
        predicates: BTreeMap<String, BTreeMap<String, u32>>,
    ) -> Self {
        Self { words, predicates }
    }

    /// For each word, its occurrences and those without a meaning.
    #[must_use]
    pub fn words(&self) -> &BTreeMap<String, [u32; 2]> {
        &self.words
    }

    /// For each predicate, the words that are aligned to it, and how often.
    #[must_use]
    pub fn predicates(&self) -> &BTreeMap<String, BTreeMap<String, u32>> {
        &self.predicates
    }

    /// Every word, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.keys().map(String::as_str)
    }

    /// Whether there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether there is such a word.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// How often a word is read in one way. Values are not counted.
    #[must_use]
    pub fn count(&self, word: &str, read_as: ReadAs<'_>) -> u32 {
        match read_as {
            ReadAs::Null => self.words.get(word).map_or(0, |counts| counts[1]),
            ReadAs::Predicate(predicate) => {
                self.predicates.get(predicate).and_then(|words| words.get(word)).copied().unwrap_or(0)
            }
            ReadAs::Value => 0,
        }
    }

    /// All words that are read in one way, each with the number of times. Values are not counted.
    #[must_use]
    pub fn read_as(&self, read_as: ReadAs<'_>) -> Vec<(&str, u32)> {
        match read_as {
            ReadAs::Null => {
                let words = self.words.iter().filter(|(_, counts)| counts[1] > 0);
                words.map(|(word, counts)| (word.as_str(), counts[1])).collect()
            }
            ReadAs::Predicate(predicate) => {
                let words = self.predicates.get(predicate).into_iter().flatten();
                words.map(|(word, count)| (word.as_str(), *count)).collect()
            }
            ReadAs::Value => Vec::new(),
        }
    }

    /// What is known about a word.
    #[must_use]
    pub fn familiarity(&self, word: &str) -> Familiarity {
        self.without(word, [0, 0])
    }

    /// The same without some of its occurrences: what would be known if an utterance had not been in the training data.
    #[must_use]
    pub fn without(&self, word: &str, left_out: [u32; 2]) -> Familiarity {
        let [n, n_null] = self.words.get(word).copied().unwrap_or_default();
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

/// The entry of a key, without a copy of the key where there is one.
fn entry<'a, T: Default>(map: &'a mut BTreeMap<String, T>, key: &str) -> &'a mut T {
    if !map.contains_key(key) {
        map.insert(key.to_owned(), T::default());
    }
    map.get_mut(key).unwrap_or_else(|| unreachable!("it was inserted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_by_what_it_usually_means() {
        let mut counts = WordCounts::default();
        for read_as in [ReadAs::Null, ReadAs::Null, ReadAs::Predicate("loc")] {
            counts.add("of", read_as);
        }
        counts.add("river", ReadAs::Predicate("river"));
        counts.add("ohio", ReadAs::Value);
        assert_eq!(counts.familiarity("of"), Familiarity::Null);
        assert_eq!(counts.familiarity("river"), Familiarity::Content);
        assert_eq!(counts.familiarity("ohio"), Familiarity::Content);
        assert_eq!(counts.familiarity("stream"), Familiarity::Unknown);
        assert_eq!(counts.without("river", [1, 0]), Familiarity::Unknown);
        assert_eq!(counts.without("of", [2, 2]), Familiarity::Content);
    }

    #[test]
    fn words_are_counted_by_what_they_are_read_as() {
        let mut counts = WordCounts::default();
        for (word, read_as) in [("of", ReadAs::Null), ("of", ReadAs::Predicate("loc")), ("in", ReadAs::Null)]
        {
            counts.add(word, read_as);
        }
        assert_eq!(counts.count("of", ReadAs::Predicate("loc")), 1);
        assert_eq!(counts.count("in", ReadAs::Predicate("loc")), 0);
        assert_eq!(counts.read_as(ReadAs::Null), [("in", 1), ("of", 1)]);
        assert_eq!(counts.read_as(ReadAs::Predicate("loc")), [("of", 1)]);
        let (words, predicates) = (counts.words(), counts.predicates());
        assert_eq!(WordCounts::from_parts(words.clone(), predicates.clone()), counts);
    }
}
