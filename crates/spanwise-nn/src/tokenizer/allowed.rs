//! What a `tokenizer.json` may ask for: parts whose time and memory are bounded, in bounded numbers.
//!
//! The file may come from someone else. Some parts of the library behind [`WordPieces`](super::WordPieces) trust it: a
//! damaged `Precompiled` map ends the process, `Replace` runs any regular expression, and `Prepend` and `Replace` can
//! make a short word as long as they like. Encoders of the BERT family need none of them. The decoder and the
//! post-processor are never built at all.

use super::{TokenizerError, unsupported};
use serde_json::{Map, Value};

/// Normalizers: each looks at every character once.
const NORMALIZERS: &[&str] = &[
    "BertNormalizer",
    "Lowercase",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Nmt",
    "Sequence",
    "Strip",
    "StripAccents",
];
/// Pre-tokenizers with fixed rules.
const PRE_TOKENIZERS: &[&str] =
    &["BertPreTokenizer", "Digits", "Punctuation", "Sequence", "Whitespace", "WhitespaceSplit"];
/// What takes whole texts apart: at spaces, or at spaces and punctuation into bytes, with a rule of its own.
const TEXT_PRE_TOKENIZERS: &[&str] = &["ByteLevel", "Metaspace"];
/// The most parts of a sequence; sequences do not hold sequences.
const MAX_PARTS: usize = 16;
/// The most pieces of a vocabulary, and the most bytes of one.
pub(super) const MAX_PIECES: usize = 2_000_000;
const MAX_PIECE_BYTES: usize = 1_000;
/// The most tokens beside the vocabulary, and the most bytes of all of them.
const MAX_ADDED: usize = 2_000;
const MAX_ADDED_BYTES: usize = 1 << 16;
/// The most characters of a word that is taken apart; longer ones are unknown. Time grows with its square.
const MAX_CHARS_PER_WORD: u64 = 200;
/// The most bytes of the mark of pieces that continue a word.
const MAX_PREFIX: usize = 16;
/// The most special pieces before or after an utterance.
const MAX_SPECIAL: usize = 16;

/// Checks all parts that the library would build.
pub(super) fn check(object: &Map<String, Value>, file: &str) -> Result<(), TokenizerError> {
    let rule = Rule { file };
    rule.part(object.get("normalizer"), "its normalizer", NORMALIZERS, "normalizers")?;
    rule.part(object.get("pre_tokenizer"), "its pre_tokenizer", PRE_TOKENIZERS, "pretokenizers")?;
    rule.added(object.get("added_tokens").unwrap_or(&Value::Null))?;
    rule.model(object.get("model").unwrap_or(&Value::Null))
}

/// Checks all parts that the library would build for pieces of whole texts.
pub(super) fn check_text(object: &Map<String, Value>, file: &str) -> Result<(), TokenizerError> {
    let rule = Rule { file };
    rule.part(object.get("normalizer"), "its normalizer", NORMALIZERS, "normalizers")?;
    let splitter = object.get("pre_tokenizer").unwrap_or(&Value::Null);
    rule.kind(splitter, "its pre_tokenizer", TEXT_PRE_TOKENIZERS)?;
    rule.added(object.get("added_tokens").unwrap_or(&Value::Null))?;
    rule.text_model(object.get("model").unwrap_or(&Value::Null), is_byte_level(object))
}

/// Whether pieces stand for bytes.
pub(super) fn is_byte_level(object: &Map<String, Value>) -> bool {
    let kind = object.get("pre_tokenizer").and_then(|part| part.get("type")).and_then(Value::as_str);
    kind == Some("ByteLevel")
}

/// Checks the number of special pieces at one end of an utterance.
pub(super) fn check_ends(ends: [&[u32]; 2], file: &str) -> Result<(), TokenizerError> {
    let most = ends.iter().map(|end| end.len()).max().unwrap_or(0);
    Rule { file }.at_most(most, MAX_SPECIAL, "special tokens at one end")
}

struct Rule<'a> {
    file: &'a str,
}

impl Rule<'_> {
    fn wrong(&self, reason: String) -> TokenizerError {
        TokenizerError::Format { file: self.file.to_owned(), reason }
    }

    fn at_most(&self, found: usize, most: usize, what: &str) -> Result<(), TokenizerError> {
        if found > most {
            return Err(self.wrong(format!("it has {found} {what}, expected at most {most}")));
        }
        Ok(())
    }

    /// A part that is absent, one of `allowed`, or a sequence of those under `key`.
    fn part(
        &self,
        part: Option<&Value>,
        what: &str,
        allowed: &[&str],
        key: &str,
    ) -> Result<(), TokenizerError> {
        let Some(part) = part.filter(|part| !part.is_null()) else { return Ok(()) };
        self.kind(part, what, allowed)?;
        if part.get("type").and_then(Value::as_str) != Some("Sequence") {
            return Ok(());
        }
        let parts = part.get(key).and_then(Value::as_array);
        let parts = parts.ok_or_else(|| self.wrong(format!("{what} is a sequence without `{key}`")))?;
        self.at_most(parts.len(), MAX_PARTS, &format!("{key} in a sequence"))?;
        let single: Vec<&str> = allowed.iter().copied().filter(|kind| *kind != "Sequence").collect();
        parts.iter().try_for_each(|part| self.kind(part, &format!("a part of {what}"), &single))
    }

    fn kind(&self, part: &Value, what: &str, allowed: &[&str]) -> Result<(), TokenizerError> {
        let found = part.get("type").and_then(Value::as_str).unwrap_or("of no type");
        if allowed.contains(&found) {
            return Ok(());
        }
        let found = found.chars().take(60).collect();
        let one_of = if allowed.len() > 1 { "one of " } else { "" };
        Err(unsupported(self.file, what, found, &format!("{one_of}{}", allowed.join(", "))))
    }

    fn added(&self, added: &Value) -> Result<(), TokenizerError> {
        let tokens = match added {
            Value::Null => return Ok(()),
            Value::Array(tokens) => tokens,
            _ => return Err(self.wrong("its `added_tokens` are not a list".to_owned())),
        };
        self.at_most(tokens.len(), MAX_ADDED, "added tokens")?;
        let bytes = |token: &Value| token.get("content").and_then(Value::as_str).map_or(0, str::len);
        self.at_most(tokens.iter().map(bytes).sum(), MAX_ADDED_BYTES, "bytes of added tokens")
    }

    /// Scored pieces, or pairs of bytes, without chance.
    fn text_model(&self, model: &Value, is_byte_level: bool) -> Result<(), TokenizerError> {
        self.kind(model, "its model", if is_byte_level { &["BPE"] } else { &["Unigram"] })?;
        let missing = || self.wrong("its model has no `vocab`".to_owned());
        let vocab = model.get("vocab").ok_or_else(missing)?;
        let lengths: Option<Vec<usize>> = if is_byte_level {
            vocab.as_object().map(|vocab| vocab.keys().map(String::len).collect())
        } else {
            let length = |entry: &Value| entry.get(0).and_then(Value::as_str).map(str::len);
            vocab.as_array().and_then(|vocab| vocab.iter().map(length).collect())
        };
        let lengths = lengths.ok_or_else(missing)?;
        self.at_most(lengths.len(), MAX_PIECES, "pieces")?;
        self.at_most(
            lengths.iter().copied().max().unwrap_or(0),
            MAX_PIECE_BYTES,
            "bytes in its longest piece",
        )?;
        if lengths.contains(&0) {
            return Err(self.wrong("one of its pieces is empty".to_owned()));
        }
        let n_merges = model.get("merges").and_then(Value::as_array).map_or(0, Vec::len);
        self.at_most(n_merges, MAX_PIECES, "merges")?;
        for key in ["dropout", "continuing_subword_prefix", "end_of_word_suffix"] {
            let is_set = |value: &&Value| !value.is_null() && value.as_str() != Some("");
            if model.get(key).filter(is_set).is_some() {
                return Err(self.wrong(format!("its model has `{key}`, which is not supported")));
            }
        }
        let unknown = model.get("unk_id").and_then(Value::as_u64);
        if !is_byte_level && unknown.is_none_or(|unknown| unknown >= lengths.len() as u64) {
            return Err(self.wrong("its model has no `unk_id` that is one of its pieces".to_owned()));
        }
        Ok(())
    }

    fn model(&self, model: &Value) -> Result<(), TokenizerError> {
        // Old files do not name the type of the model, but only this one has such a limit.
        let untyped = model.get("type").is_none() && model.get("max_input_chars_per_word").is_some();
        if !untyped {
            self.kind(model, "its model", &["WordPiece"])?;
        }
        let vocab = model.get("vocab").and_then(Value::as_object);
        let vocab = vocab.ok_or_else(|| self.wrong("its model has no `vocab`".to_owned()))?;
        self.at_most(vocab.len(), MAX_PIECES, "pieces")?;
        let longest = vocab.keys().map(String::len).max().unwrap_or(0);
        self.at_most(longest, MAX_PIECE_BYTES, "bytes in its longest piece")?;
        let text = |key: &str| model.get(key).and_then(Value::as_str).map_or(0, str::len);
        self.at_most(text("unk_token"), MAX_PIECE_BYTES, "bytes in its unknown token")?;
        self.at_most(
            text("continuing_subword_prefix"),
            MAX_PREFIX,
            "bytes in its `continuing_subword_prefix`",
        )?;
        let limit = model.get("max_input_chars_per_word").filter(|limit| !limit.is_null());
        match limit.map(Value::as_u64) {
            None => Ok(()),
            Some(Some(limit)) if limit <= MAX_CHARS_PER_WORD => Ok(()),
            Some(_) => Err(self.wrong(format!(
                "its `max_input_chars_per_word` is not a whole number up to {MAX_CHARS_PER_WORD}"
            ))),
        }
    }
}
