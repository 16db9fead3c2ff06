//! The word-pieces of pretrained encoders of the BERT family.

use super::{Pieces, TokenizerError, allowed, unsupported};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use tokenizers::{Model, ModelWrapper};

/// A longer word is not even looked at: it is unknown. Pieces are at most as many as characters.
const MAX_WORD_BYTES: usize = 10_000;

/// Word-pieces of the BERT family, as Hugging Face describes them in `tokenizer.json`.
#[derive(Clone)]
pub struct WordPieces {
    /// Without a post-processor, truncation and padding.
    inner: tokenizers::Tokenizer,
    /// The special pieces before and after an utterance.
    begin: Vec<u32>,
    end: Vec<u32>,
    pub(super) unknown: u32,
    pub(super) pad: u32,
    pub(super) vocab_size: usize,
    /// The JSON it was read from, without truncation and padding.
    pub(super) json: Vec<u8>,
}

impl fmt::Debug for WordPieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WordPieces").field("vocab_size", &self.vocab_size).finish_non_exhaustive()
    }
}

impl WordPieces {
    /// Whether a word is one piece.
    pub(super) fn is_word(&self, word: &str) -> bool {
        self.inner.token_to_id(word).is_some()
    }

    /// The pieces that are whole words of lower-case letters, in alphabetical order.
    pub(super) fn common_words(&self) -> Vec<String> {
        let is_word = |piece: &String| piece.chars().all(|c| c.is_alphabetic() && !c.is_uppercase());
        let mut words: Vec<String> = self.inner.get_vocab(false).into_keys().filter(is_word).collect();
        words.sort_unstable();
        words
    }

    /// Parses a `tokenizer.json`; `file` is what errors call it.
    pub(super) fn from_object(mut object: Map<String, Value>, file: &str) -> Result<Self, TokenizerError> {
        let format = |reason: String| TokenizerError::Format { file: file.to_owned(), reason };
        for key in ["truncation", "padding"] {
            object.insert(key.to_owned(), Value::Null);
        }
        let json = serde_json::to_vec(&object).map_err(|error| format(error.to_string()))?;
        allowed::check(&object, file)?;
        let Ends { begin, end } = Ends::read(object.get("post_processor"), file)?;
        allowed::check_ends([&begin, &end], file)?;
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
    pub(super) fn encode(&self, words: &[&str]) -> Pieces {
        let mut pieces = Pieces { ids: self.begin.clone(), ..Pieces::default() };
        pieces.words.reserve(words.len());
        for word in words {
            let first = pieces.ids.len();
            // A model that knows its unknown token, as was checked, takes any word apart.
            if word.len() <= MAX_WORD_BYTES
                && let Ok(encoding) = self.inner.encode_fast(*word, false)
            {
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
pub(super) struct Ends {
    pub(super) begin: Vec<u32>,
    pub(super) end: Vec<u32>,
}

impl Ends {
    /// Reads them from the description of a post-processor, which must have both.
    fn read(processor: Option<&Value>, file: &str) -> Result<Self, TokenizerError> {
        let ends = Self::of(processor, file)?;
        if ends.begin.is_empty() || ends.end.is_empty() {
            return Err(damaged(file));
        }
        Ok(ends)
    }

    /// Reads them from the description of a post-processor.
    pub(super) fn of(processor: Option<&Value>, file: &str) -> Result<Self, TokenizerError> {
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
        ends.ok_or_else(|| damaged(file))
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

fn damaged(file: &str) -> TokenizerError {
    TokenizerError::Format {
        file: file.to_owned(),
        reason: "its `post_processor` does not list the special tokens it adds".to_owned(),
    }
}

pub(super) fn id_of(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|id| u32::try_from(id).ok())
}

/// An index into pieces. Utterances are far too short to exceed it.
#[allow(clippy::cast_possible_truncation, reason = "an utterance of 2^32 pieces does not fit into memory")]
pub(super) const fn index(at: usize) -> u32 {
    at as u32
}

/// The description of a tokenizer for the pieces of a `vocab.txt`, one per line, numbered from 0.
pub(super) fn from_vocab(
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
