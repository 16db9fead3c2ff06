//! Tokenizers: the ids of sub-word tokens that an encoder reads for an utterance, and which word each belongs to.
//!
//! A pretrained encoder comes with its own word-pieces ([`WordPieces`]); an encoder that is trained from scratch
//! learns a [`WordTable`]. An encoder-decoder takes texts apart and writes texts ([`TextPieces`]). Word-pieces do not exist outside encoders: all other crates count words.

mod allowed;
mod text_pieces;
mod word_pieces;
mod word_table;

pub use text_pieces::TextPieces;
pub use word_pieces::WordPieces;
pub use word_table::WordTable;

use crate::files::{MAX_JSON, MAX_VALUES, check_json, read_regular};
use serde_json::{Map, Value};
use spanwise_core::Utterance;
use std::io;
use std::path::Path;
use text_pieces::TEXT_FORMAT;
use thiserror::Error;
use word_pieces::from_vocab;
use word_table::WORDS_FORMAT;

/// The name under which a tokenizer is stored in a directory.
pub const FILE_NAME: &str = "tokenizer.json";
/// What older encoders have instead: one piece per line.
const VOCAB_NAME: &str = "vocab.txt";
/// How the pieces of a `vocab.txt` are to be used.
const VOCAB_CONFIG_NAME: &str = "tokenizer_config.json";

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
    #[error("{file}: {what} is {found}, expected {expected}; choose another encoder")]
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
    /// The pieces of an encoder-decoder.
    Text(Box<TextPieces>),
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

    /// Parses the content of a `tokenizer.json`, one of Hugging Face for an encoder or one of [`Tokenizer::to_bytes`].
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
            Self::Text(pieces) => pieces.to_bytes(),
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
            Self::Text(pieces) => pieces.encode(utterance),
        }
    }

    /// One more than the largest id: the rows that an encoder's table of pieces needs.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        match self {
            Self::WordPiece(pieces) => pieces.vocab_size,
            Self::Words(table) => table.vocab_size(),
            Self::Text(pieces) => pieces.vocab_size(),
        }
    }

    /// Whether a lower-case word is one piece: a common word of the language that the encoder was trained on. Never for a
    /// table of words.
    #[must_use]
    pub fn is_word(&self, word: &str) -> bool {
        match self {
            Self::WordPiece(pieces) => pieces.is_word(word),
            Self::Words(_) => false,
            Self::Text(pieces) => pieces.is_word(word),
        }
    }

    /// The pieces that are whole words of letters, in alphabetical order: common words of the language that the encoder was
    /// trained on. None for a table of words, which knows only those of the training utterances.
    #[must_use]
    pub fn common_words(&self) -> Vec<String> {
        match self {
            Self::WordPiece(pieces) => pieces.common_words(),
            Self::Words(_) => Vec::new(),
            Self::Text(pieces) => pieces.common_words(),
        }
    }

    /// The id that batches are filled up with.
    #[must_use]
    pub fn pad_id(&self) -> u32 {
        match self {
            Self::WordPiece(pieces) => pieces.pad,
            Self::Words(_) => WordTable::PAD,
            Self::Text(pieces) => pieces.pad(),
        }
    }

    /// Number of buckets for character trigrams; 0 for word-pieces.
    #[must_use]
    pub fn n_buckets(&self) -> usize {
        match self {
            Self::WordPiece(_) | Self::Text(_) => 0,
            Self::Words(table) => table.n_buckets(),
        }
    }
}

fn parse(json: &[u8], file: &str) -> Result<Tokenizer, TokenizerError> {
    let object = json_object(json, file)?;
    if object.get("format").and_then(Value::as_str) == Some(WORDS_FORMAT) {
        return WordTable::from_object(&object, file).map(Tokenizer::Words);
    }
    if object.get("format").and_then(Value::as_str) == Some(TEXT_FORMAT) {
        return TextPieces::from_object(object, file).map(|pieces| Tokenizer::Text(Box::new(pieces)));
    }
    WordPieces::from_object(object, file).map(|pieces| Tokenizer::WordPiece(Box::new(pieces)))
}

fn json_object(json: &[u8], file: &str) -> Result<Map<String, Value>, TokenizerError> {
    let format = |reason: String| TokenizerError::Format { file: file.to_owned(), reason };
    check_json(json, MAX_VALUES).map_err(format)?;
    serde_json::from_slice(json).map_err(|error| format(format!("it is not a JSON object ({error})")))
}

fn unsupported(file: &str, what: &str, found: String, expected: &str) -> TokenizerError {
    let (file, what, expected) = (file.to_owned(), what.to_owned(), expected.to_owned());
    TokenizerError::Unsupported { file, what, found, expected }
}

/// The content of a file, or `None` when there is no such file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, TokenizerError> {
    match read_regular(path, MAX_JSON) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(reason) => Err(TokenizerError::Read { file: path.display().to_string(), reason }),
    }
}

#[cfg(test)]
mod tests;
