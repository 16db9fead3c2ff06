//! Tokenizers: the ids of sub-word tokens that an encoder reads for an utterance, and which word each belongs to.
//!
//! A pretrained encoder comes with its own word-pieces ([`WordPieces`]); an encoder that is trained from scratch
//! learns a [`WordTable`]. Word-pieces do not exist outside encoders: all other crates count words.

use serde_json::{Map, Value, json};
use spanwise_core::Utterance;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use thiserror::Error;
use tokenizers::{Model, ModelWrapper};

/// The name under which a tokenizer is stored in a directory.
pub const FILE_NAME: &str = "tokenizer.json";
/// What older encoders have instead: one piece per line.
const VOCAB_NAME: &str = "vocab.txt";
/// How the pieces of a `vocab.txt` are to be used.
const VOCAB_CONFIG_NAME: &str = "tokenizer_config.json";
/// No tokenizer is larger.
const MAX_FILE: u64 = 256 << 20;
/// Marks the JSON of a [`WordTable`].
const WORDS_FORMAT: &str = "spanwise-words";
const WORDS_VERSION: u64 = 1;
/// No number of buckets may be larger.
const MAX_BUCKETS: u64 = 10_000_000;

/// The input of an encoder for one utterance: its word-pieces (sub-word tokens) and which of them make up each word.
///
/// With word-pieces `[CLS] what rivers cross mis ##souri [SEP]`, the last of the four words consists of the pieces 4 and
/// 5, so that `words` is `[(1, 1), (2, 2), (3, 3), (4, 5)]`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pieces {
    /// The ids of the pieces, with the special ones at both ends.
    pub ids: Vec<u32>,
    /// For each word of the utterance, its first and its last piece, both inclusive.
    pub words: Vec<(u32, u32)>,
    /// For each piece, the buckets of its character trigrams; empty for word-pieces.
    pub ngrams: Vec<Vec<u32>>,
}

/// Why there is no tokenizer.
#[derive(Debug, Error)]
pub enum TokenizerError {
    /// A file cannot be read.
    #[error("cannot read {file}: {reason}; expected the tokenizer of an encoder")]
    Read {
        /// The file.
        file: String,
        /// The error of the system.
        reason: io::Error,
    },
    /// There is neither of the files that can hold a tokenizer.
    #[error(
        "{directory} has no tokenizer, expected `tokenizer.json` or `vocab.txt`; fetch the encoder again"
    )]
    Nothing {
        /// The directory.
        directory: String,
    },
    /// A file holds something else.
    #[error("{file} is not a tokenizer: {reason}; fetch the encoder again")]
    Format {
        /// The file.
        file: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file holds a tokenizer of another kind.
    #[error("{file}: {what} is {found}, expected {expected}; choose an encoder of the BERT family")]
    Unsupported {
        /// The file.
        file: String,
        /// The part of the tokenizer.
        what: String,
        /// What it is.
        found: String,
        /// What can be used.
        expected: String,
    },
}

/// Turns the words of an utterance into the ids that an encoder reads.
///
/// ```
/// use spanwise_core::Utterance;
/// use spanwise_nn::Tokenizer;
/// use spanwise_nn::tokenizer::WordTable;
///
/// let known = Utterance::new("which rivers cross texas");
/// let tokenizer = Tokenizer::Words(WordTable::from_utterances([&known], 1));
/// let pieces = tokenizer.encode(&Utterance::new("rivers in Texas"));
/// // One piece per word between the two special ones; `in` is an unknown word.
/// assert_eq!(pieces.words, [(1, 1), (2, 2), (3, 3)]);
/// assert_eq!(pieces.ids[2], WordTable::UNKNOWN);
/// ```
#[derive(Clone, Debug)]
pub enum Tokenizer {
    /// The word-pieces of a pretrained encoder.
    WordPiece(Box<WordPieces>),
    /// A table of words, for encoders trained from scratch.
    Words(WordTable),
}

impl Tokenizer {
    /// Reads the tokenizer in a directory: `tokenizer.json`, or else `vocab.txt` with
    /// `tokenizer_config.json`.
    ///
    /// # Errors
    /// When there is none, or it cannot be read or used.
    pub fn from_dir(dir: &Path) -> Result<Self, TokenizerError> {
        if let Some(bytes) = read(&dir.join(FILE_NAME))? {
            return parse(&bytes, &dir.join(FILE_NAME).display().to_string());
        }
        let path = dir.join(VOCAB_NAME);
        let Some(vocab) = read(&path)? else {
            return Err(TokenizerError::Nothing { directory: dir.display().to_string() });
        };
        let config_path = dir.join(VOCAB_CONFIG_NAME);
        let config = match read(&config_path)? {
            Some(bytes) => json_object(&bytes, &config_path.display().to_string())?,
            None => Map::new(),
        };
        let file = path.display().to_string();
        let object = from_vocab(&vocab, &config, &file)?;
        Ok(Self::WordPiece(Box::new(WordPieces::from_object(object, &file)?)))
    }

    /// Parses the content of a `tokenizer.json`, one of Hugging Face or one of [`Tokenizer::to_bytes`].
    ///
    /// # Errors
    /// When it is not a tokenizer, or not one that can be used.
    pub fn from_bytes(json: &[u8]) -> Result<Self, TokenizerError> {
        parse(json, FILE_NAME)
    }

    /// The content of a `tokenizer.json` with this tokenizer; always the same for the same tokenizer.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::WordPiece(pieces) => pieces.json.clone(),
            Self::Words(table) => table.to_bytes(),
        }
    }

    /// The pieces of an utterance: nothing is cut off and nothing is filled up.
    #[must_use]
    pub fn encode(&self, utterance: &Utterance) -> Pieces {
        match self {
            Self::WordPiece(pieces) => {
                let words = utterance.tokens().iter().map(|token| &utterance.text()[token.bytes.clone()]);
                pieces.encode(&words.collect::<Vec<_>>())
            }
            Self::Words(table) => {
                let words: Vec<&str> = utterance.tokens().iter().map(|token| token.lower.as_str()).collect();
                table.encode(&words)
            }
        }
    }

    /// One more than the largest id: the rows that an encoder's table of pieces needs.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        match self {
            Self::WordPiece(pieces) => pieces.vocab_size,
            Self::Words(table) => table.vocab_size(),
        }
    }

    /// The id that batches are filled up with.
    #[must_use]
    pub fn pad_id(&self) -> u32 {
        match self {
            Self::WordPiece(pieces) => pieces.pad,
            Self::Words(_) => WordTable::PAD,
        }
    }

    /// Number of buckets for character trigrams; 0 for word-pieces.
    #[must_use]
    pub fn n_buckets(&self) -> usize {
        match self {
            Self::WordPiece(_) => 0,
            Self::Words(table) => table.n_buckets(),
        }
    }
}

/// Word-pieces of the BERT family, as Hugging Face describes them in `tokenizer.json`.
#[derive(Clone)]
pub struct WordPieces {
    /// Without a post-processor, truncation and padding.
    inner: tokenizers::Tokenizer,
    /// The special pieces before and after an utterance.
    begin: Vec<u32>,
    end: Vec<u32>,
    unknown: u32,
    pad: u32,
    vocab_size: usize,
    /// What it was read from, less truncation and padding.
    json: Vec<u8>,
}

impl fmt::Debug for WordPieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordPieces").field("vocab_size", &self.vocab_size).finish_non_exhaustive()
    }
}

impl WordPieces {
    /// Parses a `tokenizer.json`; `file` is what errors call it.
    fn from_object(mut object: Map<String, Value>, file: &str) -> Result<Self, TokenizerError> {
        let format = |reason: String| TokenizerError::Format { file: file.to_owned(), reason };
        for key in ["truncation", "padding"] {
            object.insert(key.to_owned(), Value::Null);
        }
        let json = serde_json::to_vec(&object).map_err(|error| format(error.to_string()))?;
        let Ends { begin, end } = Ends::read(object.get("post_processor"), file)?;
        object.insert("post_processor".to_owned(), Value::Null);
        object.insert("decoder".to_owned(), Value::Null);
        let inner: tokenizers::Tokenizer =
            serde_json::from_value(Value::Object(object)).map_err(|error| format(error.to_string()))?;
        let ModelWrapper::WordPiece(model) = inner.get_model() else {
            let found = match inner.get_model() {
                ModelWrapper::BPE(_) => "BPE",
                ModelWrapper::WordLevel(_) => "WordLevel",
                ModelWrapper::Unigram(_) => "Unigram",
                ModelWrapper::WordPiece(_) => "WordPiece",
            };
            return Err(unsupported(file, "its model", found.to_owned(), "WordPiece"));
        };
        let unknown = model
            .token_to_id(&model.unk_token)
            .ok_or_else(|| format(format!("its vocabulary lacks its unknown token `{}`", model.unk_token)))?;
        let vocabulary: BTreeMap<String, u32> = inner.get_vocab(true).into_iter().collect();
        let largest = vocabulary.values().copied().max().unwrap_or(0);
        if let Some(id) = begin.iter().chain(&end).find(|id| inner.id_to_token(**id).is_none()) {
            return Err(format(format!("its special token number {id} is not in its vocabulary")));
        }
        let pad = ["[PAD]", "<pad>"].iter().find_map(|token| vocabulary.get(*token)).copied().unwrap_or(0);
        Ok(Self { inner, begin, end, unknown, pad, vocab_size: largest as usize + 1, json })
    }

    /// The pieces of words, each taken apart by itself.
    fn encode(&self, words: &[&str]) -> Pieces {
        let mut pieces = Pieces { ids: self.begin.clone(), ..Pieces::default() };
        pieces.words.reserve(words.len());
        for word in words {
            let first = pieces.ids.len();
            // A model that knows its unknown token, as was checked, takes any word apart.
            if let Ok(encoding) = self.inner.encode_fast(*word, false) {
                pieces.ids.extend(encoding.get_ids());
            }
            if pieces.ids.len() == first {
                pieces.ids.push(self.unknown);
            }
            pieces.words.push((index(first), index(pieces.ids.len() - 1)));
        }
        pieces.ids.extend(&self.end);
        pieces
    }
}

/// The special pieces at both ends of an utterance.
struct Ends {
    begin: Vec<u32>,
    end: Vec<u32>,
}

impl Ends {
    /// Reads them from the description of a post-processor.
    fn read(processor: Option<&Value>, file: &str) -> Result<Self, TokenizerError> {
        let damaged = || TokenizerError::Format {
            file: file.to_owned(),
            reason: "its `post_processor` does not list the special tokens it adds".to_owned(),
        };
        let expected = "TemplateProcessing, BertProcessing or RobertaProcessing";
        let processor = processor.unwrap_or(&Value::Null);
        let ends = match processor.get("type").and_then(Value::as_str) {
            Some("BertProcessing" | "RobertaProcessing") => Self::of_pair(processor),
            Some("TemplateProcessing") => Self::of_template(processor),
            found => {
                let found = found.unwrap_or("not there").to_owned();
                return Err(unsupported(file, "its post_processor", found, expected));
            }
        };
        ends.filter(|ends| !ends.begin.is_empty() && !ends.end.is_empty()).ok_or_else(damaged)
    }

    /// From `{"sep": ["[SEP]", 102], "cls": ["[CLS]", 101]}`.
    fn of_pair(processor: &Value) -> Option<Self> {
        let id = |key: &str| id_of(processor.get(key)?.get(1)?);
        Some(Self { begin: vec![id("cls")?], end: vec![id("sep")?] })
    }

    /// From the template for one sequence and its list of special tokens.
    fn of_template(processor: &Value) -> Option<Self> {
        let mut ends = Self { begin: Vec::new(), end: Vec::new() };
        let mut after = false;
        for part in processor.get("single")?.as_array()? {
            if part.get("Sequence").is_some() {
                if after {
                    return None;
                }
                after = true;
                continue;
            }
            let name = part.get("SpecialToken")?.get("id")?.as_str()?;
            let ids = processor.get("special_tokens")?.get(name)?.get("ids")?.as_array()?;
            let ids: Vec<u32> = ids.iter().map(id_of).collect::<Option<_>>()?;
            if after { &mut ends.end } else { &mut ends.begin }.extend(ids);
        }
        after.then_some(ends)
    }
}

fn id_of(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|id| u32::try_from(id).ok())
}

/// An index into pieces. Utterances are far too short to exceed it.
#[allow(clippy::cast_possible_truncation, reason = "an utterance of 2^32 pieces does not fit into memory")]
const fn index(at: usize) -> u32 {
    at as u32
}

/// The description of a tokenizer for the pieces of a `vocab.txt`, one per line, numbered from 0.
fn from_vocab(
    bytes: &[u8],
    config: &Map<String, Value>,
    file: &str,
) -> Result<Map<String, Value>, TokenizerError> {
    let format = |reason: String| TokenizerError::Format { file: file.to_owned(), reason };
    let text = str::from_utf8(bytes).map_err(|error| format(error.to_string()))?;
    let vocab: Map<String, Value> =
        text.lines().enumerate().map(|(id, piece)| (piece.to_owned(), Value::from(id))).collect();
    let named = |key: &str, candidates: &[&str]| -> Option<String> {
        let configured =
            config.get(key).and_then(|value| value.as_str().or_else(|| value.get("content")?.as_str()));
        let mut tokens = configured.into_iter().chain(candidates.iter().copied());
        tokens.find(|token| vocab.contains_key(*token)).map(str::to_owned)
    };
    let need = |key: &str, candidates: &[&str]| {
        named(key, candidates)
            .ok_or_else(|| format(format!("none of its lines is `{}`", candidates.join("` or `"))))
    };
    let unknown = need("unk_token", &["[UNK]", "<unk>"])?;
    let begin = need("cls_token", &["[CLS]", "<s>"])?;
    let end = need("sep_token", &["[SEP]", "</s>"])?;
    let mut special = vec![unknown.clone(), begin.clone(), end.clone()];
    special.extend(named("pad_token", &["[PAD]", "<pad>"]));
    special.extend(named("mask_token", &["[MASK]", "<mask>"]));
    special.sort_by_key(|token| vocab[token.as_str()].as_u64());
    special.dedup();
    let added: Vec<Value> = special
        .iter()
        .map(|token| {
            json!({
                "id": vocab[token.as_str()], "content": token, "single_word": false,
                "lstrip": token == "<mask>", "rstrip": false, "normalized": false, "special": true
            })
        })
        .collect();
    let flag = |key: &str| config.get(key).and_then(Value::as_bool);
    let token = |token: &str| json!([token, vocab[token]]);
    let description = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": true,
            "handle_chinese_chars": flag("tokenize_chinese_chars").unwrap_or(true),
            "strip_accents": flag("strip_accents"),
            "lowercase": flag("do_lower_case").unwrap_or(true)
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": token(&end), "cls": token(&begin)},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "model": {
            "type": "WordPiece",
            "unk_token": unknown,
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocab
        }
    });
    match description {
        Value::Object(object) => Ok(object),
        _ => Err(format("it is empty".to_owned())),
    }
}

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
    /// Number of buckets unless [`WordTable::with_buckets`] says otherwise.
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

    fn encode(&self, words: &[&str]) -> Pieces {
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

    fn to_bytes(&self) -> Vec<u8> {
        let table = json!({
            "format": WORDS_FORMAT, "version": WORDS_VERSION, "n_buckets": self.n_buckets, "words": self.words
        });
        table.to_string().into_bytes()
    }

    /// Parses what [`WordTable::to_bytes`] wrote.
    fn from_object(object: &Map<String, Value>, file: &str) -> Result<Self, TokenizerError> {
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
fn fnv1a(text: &[char]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for ch in text {
        for byte in ch.encode_utf8(&mut [0; 4]).bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

fn parse(json: &[u8], file: &str) -> Result<Tokenizer, TokenizerError> {
    let object = json_object(json, file)?;
    if object.get("format").and_then(Value::as_str) == Some(WORDS_FORMAT) {
        return WordTable::from_object(&object, file).map(Tokenizer::Words);
    }
    WordPieces::from_object(object, file).map(|pieces| Tokenizer::WordPiece(Box::new(pieces)))
}

fn json_object(json: &[u8], file: &str) -> Result<Map<String, Value>, TokenizerError> {
    serde_json::from_slice(json).map_err(|error| TokenizerError::Format {
        file: file.to_owned(),
        reason: format!("it is not a JSON object ({error})"),
    })
}

fn unsupported(file: &str, what: &str, found: String, expected: &str) -> TokenizerError {
    let (file, what, expected) = (file.to_owned(), what.to_owned(), expected.to_owned());
    TokenizerError::Unsupported { file, what, found, expected }
}

/// The content of a file, or `None` when there is no such file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, TokenizerError> {
    let fail = |reason| TokenizerError::Read { file: path.display().to_string(), reason };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(fail(error)),
    };
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).map_err(fail)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(fail(io::Error::other(format!("it is larger than {} MiB", MAX_FILE >> 20))));
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests;
