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
/// The most parts of a sequence; sequences do not hold sequences.
const MAX_PARTS: usize = 16;
/// The most pieces of a vocabulary, and the most bytes of one.
const MAX_PIECES: usize = 2_000_000;
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
