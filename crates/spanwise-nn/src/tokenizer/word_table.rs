//! The table of words of encoders that are trained from scratch.

use super::{Pieces, TokenizerError, unsupported};
use serde_json::{Map, Value, json};
use spanwise_core::Utterance;
use std::collections::{BTreeMap, HashMap};

/// Marks the JSON of a [`WordTable`].
pub(super) const WORDS_FORMAT: &str = "spanwise-words";
const WORDS_VERSION: u64 = 1;
/// No number of buckets may be larger.
const MAX_BUCKETS: u64 = 10_000_000;

/// The lower-cased words of training data, with character trigrams for words that are not among them.
///
/// Each word is one piece. A trigram of `^word$` is hashed (FNV-1a, 64 bits, over its UTF-8) into one of
/// [`WordTable::n_buckets`] buckets; of very long words only the first trigrams count.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordTable {
    words: Vec<String>,
    ids: HashMap<String, u32>,
    n_buckets: u32,
}

impl WordTable {
    /// Fills up batches.
    pub const PAD: u32 = 0;
    /// Stands for words that are not in the table.
    pub const UNKNOWN: u32 = 1;
    /// Stands before the first word.
    pub const BEGIN: u32 = 2;
    /// Stands after the last word.
    pub const END: u32 = 3;
    /// The id of the first word.
    pub const FIRST_WORD: u32 = 4;
    /// Number of buckets unless [`WordTable::with_buckets`] sets another.
    pub const DEFAULT_BUCKETS: u32 = 4096;
    /// A word has at most so many trigrams.
    pub const MAX_NGRAMS: usize = 32;

    /// Learns the words that occur at least `min_count` times, frequent ones first.
    pub fn from_utterances<'a>(
        utterances: impl IntoIterator<Item = &'a Utterance>,
        min_count: usize,
    ) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for utterance in utterances {
            for token in utterance.tokens() {
                *counts.entry(token.lower.as_str()).or_default() += 1;
            }
        }
        let mut frequent: Vec<(&str, usize)> =
            counts.into_iter().filter(|(_, count)| *count >= min_count).collect();
        frequent.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let words = frequent.into_iter().map(|(word, _)| word.to_owned()).collect();
        Self::new(words, Self::DEFAULT_BUCKETS)
    }

    /// The same table with more words at its end; those that it has already are left out.
    #[must_use]
    pub fn with_words<'a>(self, more: impl IntoIterator<Item = &'a str>) -> Self {
        let Self { mut words, mut ids, n_buckets } = self;
        for word in more {
            let next = Self::FIRST_WORD + words.len() as u32;
            ids.entry(word.to_owned()).or_insert_with(|| {
                words.push(word.to_owned());
                next
            });
        }
        Self { words, ids, n_buckets }
    }

    /// The same words with another number of buckets, at least one.
    #[must_use]
    pub fn with_buckets(self, n_buckets: u32) -> Self {
        Self { n_buckets: n_buckets.max(1), ..self }
    }

    fn new(words: Vec<String>, n_buckets: u32) -> Self {
        let ids = (Self::FIRST_WORD..).zip(&words).map(|(id, word)| (word.clone(), id)).collect();
        Self { words, ids, n_buckets }
    }

    /// The words in the order of their ids, without the special ones.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// One more than the largest id.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        self.words.len() + Self::FIRST_WORD as usize
    }

    /// Number of buckets for trigrams.
    #[must_use]
    pub const fn n_buckets(&self) -> usize {
        self.n_buckets as usize
    }

    /// The id of a lower-cased word.
    #[must_use]
    pub fn id(&self, word: &str) -> u32 {
        self.ids.get(word).copied().unwrap_or(Self::UNKNOWN)
    }

    /// The buckets of a lower-cased word's trigrams, in the order of the trigrams.
    #[must_use]
    pub fn ngrams(&self, word: &str) -> Vec<u32> {
        let marked: Vec<char> =
            std::iter::once('^').chain(word.chars()).chain(['$']).take(Self::MAX_NGRAMS + 2).collect();
        marked.windows(3).map(|trigram| self.bucket(trigram)).collect()
    }

    #[allow(clippy::cast_possible_truncation, reason = "a remainder is smaller than its divisor")]
    fn bucket(&self, trigram: &[char]) -> u32 {
        (fnv1a(trigram) % u64::from(self.n_buckets)) as u32
    }

    pub(super) fn encode(&self, words: &[&str]) -> Pieces {
        let mut pieces = Pieces::default();
        pieces.ids.push(Self::BEGIN);
        pieces.ids.extend(words.iter().map(|word| self.id(word)));
        pieces.ids.push(Self::END);
        pieces.words.extend((1..).zip(words).map(|(at, _)| (at, at)));
        pieces.ngrams.push(Vec::new());
        pieces.ngrams.extend(words.iter().map(|word| self.ngrams(word)));
        pieces.ngrams.push(Vec::new());
        pieces
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let table = json!({
            "format": WORDS_FORMAT, "version": WORDS_VERSION, "n_buckets": self.n_buckets, "words": self.words
        });
        table.to_string().into_bytes()
    }

    /// Parses what [`WordTable::to_bytes`] wrote.
    pub(super) fn from_object(object: &Map<String, Value>, file: &str) -> Result<Self, TokenizerError> {
        let format =
            |reason: &str| TokenizerError::Format { file: file.to_owned(), reason: reason.to_owned() };
        let number = |key: &str| object.get(key).and_then(Value::as_u64);
        if number("version") != Some(WORDS_VERSION) {
            let found = object.get("version").unwrap_or(&Value::Null).to_string();
            let expected = format!("{WORDS_VERSION} (written by another version of Spanwise?)");
            return Err(unsupported(file, "`version` of its word table", found, &expected));
        }
        let n_buckets = number("n_buckets")
            .filter(|count| (1..=MAX_BUCKETS).contains(count))
            .and_then(|count| u32::try_from(count).ok())
            .ok_or_else(|| format("`n_buckets` is not a whole number from 1 to 10000000"))?;
        let words: Option<Vec<String>> = object
            .get("words")
            .and_then(Value::as_array)
            .and_then(|words| words.iter().map(|word| word.as_str().map(str::to_owned)).collect());
        let table = Self::new(words.ok_or_else(|| format("`words` is not a list of words"))?, n_buckets);
        if table.ids.len() != table.words.len() {
            return Err(format("one of its `words` is there twice"));
        }
        Ok(table)
    }
}

/// FNV-1a over the UTF-8 of characters.
pub(super) fn fnv1a(text: &[char]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for ch in text {
        for byte in ch.encode_utf8(&mut [0; 4]).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}
