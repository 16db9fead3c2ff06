//! The word-pieces of encoder-decoders, which take whole texts apart and write texts again: byte-level pairs as BART has
//! them, and scored pieces (SentencePiece) as Marian has them, for the language that is read and the one that is written.

use super::word_pieces::{Ends, id_of, index};
use super::{FILE_NAME, Pieces, TokenizerError, allowed, json_object, read};
use serde_json::{Map, Value, json};
use spanwise_core::Utterance;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::path::Path;

/// Marks the files of [`TextPieces::to_bytes`].
pub(super) const TEXT_FORMAT: &str = "spanwise-text-pieces";
/// Beside `tokenizer.json` where texts are written with other pieces than they are read with.
const TARGET_NAME: &str = "target_tokenizer.json";
/// A longer word is not even looked at: it is unknown.
const MAX_WORD_BYTES: usize = 10_000;
/// What pieces have in place of a space.
const SPACE: char = '▁';
const BYTE_SPACE: char = 'Ġ';
/// Pieces that are never part of a text, whether or not a file lists them.
const SPECIAL: [&str; 5] = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"];

/// Word-pieces of whole texts, for reading and for writing.
///
/// With [`TextPieces::trimmed`], only some pieces have numbers. A text that has others is spelled with shorter ones.
#[derive(Clone)]
pub struct TextPieces {
    read: Side,
    /// `None` where texts are written with the pieces they are read with.
    write: Option<Side>,
    /// All pieces, before any were left out.
    texts: Vec<String>,
    special: BTreeSet<u32>,
    unknown: u32,
    /// Whether pieces stand for bytes.
    is_bytes: bool,
    kept: Option<Kept>,
}

/// The description of a tokenizer, and what errors call its file.
type Described = (Map<String, Value>, String);

/// One direction: how texts are taken apart.
#[derive(Clone)]
struct Side {
    /// Without a post-processor, truncation, padding and added tokens.
    inner: tokenizers::Tokenizer,
    begin: Vec<u32>,
    end: Vec<u32>,
    /// The JSON it was read from.
    json: Map<String, Value>,
}

/// The pieces that have numbers.
#[derive(Clone)]
struct Kept {
    /// The pieces, in the order of their numbers.
    rows: Vec<u32>,
    numbers: HashMap<u32, u32>,
    /// The numbers of those that can be part of a text.
    by_text: HashMap<String, u32>,
}

impl fmt::Debug for TextPieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextPieces").field("vocab_size", &self.vocab_size()).finish_non_exhaustive()
    }
}

impl TextPieces {
    /// Reads the tokenizer in a directory: `tokenizer.json`, and `target_tokenizer.json` where there is one.
    ///
    /// # Errors
    /// When there is none, or it cannot be read or used.
    pub fn from_dir(dir: &Path) -> Result<Self, TokenizerError> {
        let open = |name: &str| -> Result<Option<Described>, TokenizerError> {
            let path = dir.join(name);
            let file = path.display().to_string();
            read(&path)?.map(|bytes| Ok((json_object(&bytes, &file)?, file))).transpose()
        };
        let Some((source, file)) = open(FILE_NAME)? else {
            return Err(TokenizerError::Nothing { directory: dir.display().to_string() });
        };
        Self::new((source, &file), open(TARGET_NAME)?, None)
    }

    /// Restores what [`TextPieces::to_bytes`] wrote.
    pub(super) fn from_object(mut object: Map<String, Value>, file: &str) -> Result<Self, TokenizerError> {
        let damaged = |what: &str| TokenizerError::Format {
            file: file.to_owned(),
            reason: format!("its `{what}` is not what it should be"),
        };
        let Some(Value::Object(source)) = object.remove("read") else { return Err(damaged("read")) };
        let target = match object.remove("write") {
            None | Some(Value::Null) => None,
            Some(Value::Object(target)) => Some((target, file.to_owned())),
            Some(_) => return Err(damaged("write")),
        };
        let rows = match object.remove("kept") {
            None | Some(Value::Null) => None,
            Some(Value::Array(rows)) => {
                Some(rows.iter().map(id_of).collect::<Option<Vec<_>>>().ok_or_else(|| damaged("kept"))?)
            }
            Some(_) => return Err(damaged("kept")),
        };
        Self::new((source, file), target, rows)
    }

    /// The content of a file with this tokenizer; always the same for the same tokenizer.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let object = json!({
            "format": TEXT_FORMAT,
            "read": self.read.json,
            "write": self.write.as_ref().map(|side| &side.json),
            "kept": self.kept.as_ref().map(|kept| &kept.rows),
        });
        object.to_string().into_bytes()
    }

    fn new(
        (source, file): (Map<String, Value>, &str),
        target: Option<Described>,
        rows: Option<Vec<u32>>,
    ) -> Result<Self, TokenizerError> {
        let format =
            |reason: &str| TokenizerError::Format { file: file.to_owned(), reason: reason.to_owned() };
        let is_bytes = allowed::is_byte_level(&source);
        let listed = source.get("added_tokens").and_then(Value::as_array).cloned().unwrap_or_default();
        let unknown = source.get("model").and_then(|model| id_of(model.get("unk_id")?));
        let read = Side::new(source, file)?;
        let write = target.map(|(target, file)| Side::new(target, &file)).transpose()?;
        let texts = read.texts(&listed);
        if write.as_ref().is_some_and(|write| write.texts(&[]) != texts) {
            return Err(format("the pieces that are read are not numbered as those that are written"));
        }
        let sides = [Some(&read), write.as_ref()].into_iter().flatten();
        let ends: BTreeSet<u32> =
            sides.flat_map(|side| side.begin.iter().chain(&side.end)).copied().collect();
        if ends.iter().any(|&id| id as usize >= texts.len()) {
            return Err(format("one of its special tokens is not in its vocabulary"));
        }
        let named = (0..).zip(&texts).filter(|(_, text)| SPECIAL.contains(&text.as_str()));
        let mut special: BTreeSet<u32> = named.map(|(id, _)| id).collect();
        special.extend(listed.iter().filter_map(|token| id_of(token.get("id")?)));
        let by_name = || (0..).zip(&texts).find(|(_, text)| *text == "<unk>").map(|(id, _)| id);
        let unknown = unknown.or_else(by_name).unwrap_or(0);
        special.extend(ends.iter().copied().chain([unknown]));
        let mut pieces = Self { read, write, texts, special, unknown, is_bytes, kept: None };
        if let Some(rows) = rows {
            let mut needed = ends.iter().chain([&unknown]);
            if rows.iter().any(|&row| row as usize >= pieces.texts.len())
                || needed.any(|id| !rows.contains(id))
            {
                return Err(format("its `kept` pieces are not those of its vocabulary"));
            }
            pieces.keep(rows);
        }
        Ok(pieces)
    }

    fn keep(&mut self, rows: Vec<u32>) {
        let numbers: HashMap<u32, u32> = rows.iter().copied().zip(0..).collect();
        let texts = (0..).zip(&rows).filter(|(_, row)| !self.special.contains(row));
        let by_text = texts.map(|(number, &row)| (self.texts[row as usize].clone(), number)).collect();
        self.kept = Some(Kept { rows, numbers, by_text });
    }

    /// The same pieces, of which only some have numbers: those that these texts are read and written with, single
    /// characters, and the `special` ones. Also returns these pieces, in the order of their new numbers.
    #[must_use]
    pub fn trimmed<'a>(
        mut self,
        read: impl IntoIterator<Item = &'a str>,
        written: impl IntoIterator<Item = &'a str>,
        special: &[u32],
    ) -> (Self, Vec<u32>) {
        self.kept = None;
        let is_single = |text: &String| text.chars().nth(1).is_none() && !text.is_empty();
        let singles = (0..).zip(&self.texts).filter(|(_, text)| is_single(text)).map(|(id, _)| id);
        let mut kept: BTreeSet<u32> = singles.chain(self.special.iter().copied()).collect();
        kept.extend(special.iter().filter(|&&id| (id as usize) < self.texts.len()));
        for text in read {
            kept.extend(self.take_apart(&self.read, text).into_iter().map(|(id, _)| id));
        }
        for text in written {
            kept.extend(self.take_apart(self.writing(), text).into_iter().map(|(id, _)| id));
        }
        let rows: Vec<u32> = kept.into_iter().collect();
        self.keep(rows.clone());
        (self, rows)
    }

    /// The pieces of an utterance, between those that begin and end a text.
    pub(super) fn encode(&self, utterance: &Utterance) -> Pieces {
        let mut pieces = Pieces { ids: self.numbers(&self.read.begin), ..Pieces::default() };
        let first = pieces.ids.len();
        let parts = self.take_apart(&self.read, utterance.text());
        pieces.ids.extend(parts.iter().map(|(id, _)| *id));
        pieces.ids.extend(self.numbers(&self.read.end));
        // A piece may belong to two words, and a word may have lost all its characters: then the piece before it is taken.
        let mut at = 0;
        for token in utterance.tokens() {
            while parts.get(at).is_some_and(|(_, bytes)| bytes.end <= token.bytes.start) {
                at += 1;
            }
            let own = parts[at..].iter().take_while(|(_, bytes)| bytes.start < token.bytes.end).count();
            let place = (first + at).min(pieces.ids.len().saturating_sub(1));
            pieces.words.push((index(place), index((place + own.max(1) - 1).min(pieces.ids.len() - 1))));
        }
        pieces
    }

    /// The pieces that a text is written with, those that begin and end it included; `None` if it has a character that
    /// cannot be written.
    #[must_use]
    pub fn written(&self, text: &str) -> Option<Vec<u32>> {
        let side = self.writing();
        let unknown = self.number(self.unknown);
        let mut ids = self.numbers(&side.begin);
        for (id, _) in self.take_apart(side, text) {
            if id == unknown {
                return None;
            }
            ids.push(id);
        }
        ids.extend(self.numbers(&side.end));
        Some(ids)
    }

    /// The text that pieces write; special ones write nothing.
    #[must_use]
    pub fn text(&self, ids: &[u32]) -> String {
        let full = |&id: &u32| match &self.kept {
            None => Some(id),
            Some(kept) => kept.rows.get(id as usize).copied(),
        };
        let parts = ids.iter().filter_map(full).filter(|id| !self.special.contains(id));
        let text: String = parts.filter_map(|id| self.texts.get(id as usize)).map(String::as_str).collect();
        if self.is_bytes {
            let bytes: Vec<u8> = text.chars().filter_map(byte_of).collect();
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        text.replace(SPACE, " ").trim_start().to_owned()
    }

    /// The number of a special piece that may not be written: all but the one that ends a text.
    #[must_use]
    pub fn silent(&self) -> Vec<u32> {
        let side = self.writing();
        let is_silent = |id: &&u32| !side.end.contains(id) && !side.begin.contains(id);
        let silent = self.special.iter().filter(is_silent);
        match &self.kept {
            None => silent.copied().collect(),
            Some(kept) => silent.filter_map(|id| kept.numbers.get(id).copied()).collect(),
        }
    }

    pub(super) fn vocab_size(&self) -> usize {
        self.kept.as_ref().map_or(self.texts.len(), |kept| kept.rows.len())
    }

    /// Whether a word is one piece.
    pub(super) fn is_word(&self, word: &str) -> bool {
        let Ok(encoding) = self.read.inner.encode(format!(" {word}"), false) else { return false };
        !word.is_empty() && matches!(encoding.get_ids(), [id] if *id != self.unknown)
    }

    /// The pieces that are whole words of lower-case letters, in alphabetical order.
    pub(super) fn common_words(&self) -> Vec<String> {
        let word = |piece: &String| piece.strip_prefix([SPACE, BYTE_SPACE]).map(str::to_owned);
        let is_word = |word: &String| word.chars().all(|c| c.is_alphabetic() && !c.is_uppercase());
        let words = self.texts.iter().filter_map(word).filter(|word| is_word(word) && self.is_word(word));
        words.collect::<BTreeSet<_>>().into_iter().collect()
    }

    pub(super) fn pad(&self) -> u32 {
        let pad = (0..).zip(&self.texts).find(|(_, text)| *text == "<pad>").map_or(0, |(id, _)| id);
        self.number(pad)
    }

    fn writing(&self) -> &Side {
        self.write.as_ref().unwrap_or(&self.read)
    }

    /// The number of a special piece.
    fn number(&self, id: u32) -> u32 {
        self.kept.as_ref().map_or(id, |kept| kept.numbers.get(&id).copied().unwrap_or(0))
    }

    fn numbers(&self, ids: &[u32]) -> Vec<u32> {
        ids.iter().map(|&id| self.number(id)).collect()
    }

    /// The numbers of the pieces of a text, each with its bytes.
    fn take_apart(&self, side: &Side, text: &str) -> Vec<(u32, Range<usize>)> {
        let mut found = Vec::new();
        let mut after = 0;
        // Word by word: no piece has a space but in front, and what is long is bounded.
        for word in text.split_whitespace() {
            let Some(start) = text[after..].find(word).map(|at| after + at) else { continue };
            let is_first = after == 0 && found.is_empty();
            after = start + word.len();
            let encoding = (word.len() <= MAX_WORD_BYTES).then(|| {
                side.inner.encode(if is_first { word.to_owned() } else { format!(" {word}") }, false)
            });
            let Some(Ok(encoding)) = encoding else {
                found.push((self.number(self.unknown), start..after));
                continue;
            };
            let shift = |at: usize| (start + at).saturating_sub(usize::from(!is_first)).clamp(start, after);
            for (&id, &(from, to)) in encoding.get_ids().iter().zip(encoding.get_offsets()) {
                // A piece that is only the space before a word belongs to the word.
                let bytes = shift(from)..shift(to).max(shift(from) + 1).min(after);
                found.extend(self.spelled(id).into_iter().map(|id| (id, bytes.clone())));
            }
        }
        found
    }

    /// The number of a piece, or of the longest pieces that spell it.
    fn spelled(&self, id: u32) -> Vec<u32> {
        let Some(kept) = &self.kept else { return vec![id] };
        if let Some(&number) = kept.numbers.get(&id) {
            return vec![number];
        }
        let mut rest = self.texts.get(id as usize).map_or("", String::as_str);
        let mut numbers = Vec::new();
        while let Some(first) = rest.chars().next() {
            let ends = rest.char_indices().rev().map(|(at, c)| at + c.len_utf8());
            let longest = ends.filter_map(|end| Some((end, *kept.by_text.get(&rest[..end])?))).next();
            let (end, number) = longest.unwrap_or((first.len_utf8(), self.number(self.unknown)));
            numbers.push(number);
            rest = &rest[end..];
        }
        numbers
    }
}

impl Side {
    /// Parses a `tokenizer.json`; `file` is what errors call it.
    fn new(mut object: Map<String, Value>, file: &str) -> Result<Self, TokenizerError> {
        let format = |reason: String| TokenizerError::Format { file: file.to_owned(), reason };
        for key in ["truncation", "padding", "decoder"] {
            object.insert(key.to_owned(), Value::Null);
        }
        allowed::check_text(&object, file)?;
        let Ends { begin, end } = Ends::of(object.get("post_processor"), file)?;
        allowed::check_ends([&begin, &end], file)?;
        if end.is_empty() {
            return Err(format("its `post_processor` adds nothing to the end of a text".to_owned()));
        }
        let json = object.clone();
        object.insert("post_processor".to_owned(), Value::Null);
        // What someone writes is never a special piece, whatever it looks like.
        object.insert("added_tokens".to_owned(), json!([]));
        let bytes = Value::Object(object).to_string();
        let inner = tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| format(error.to_string()))?;
        Ok(Self { inner, begin, end, json })
    }

    /// All pieces by their numbers, with those that are listed beside the vocabulary.
    fn texts(&self, listed: &[Value]) -> Vec<String> {
        let vocabulary = self.inner.get_vocab(false);
        let added = listed
            .iter()
            .filter_map(|token| Some((token.get("content")?.as_str()?.to_owned(), id_of(token.get("id")?)?)));
        // Not more than a vocabulary may have: a number beyond it is no piece.
        let all = vocabulary.into_iter().chain(added).filter(|(_, id)| (*id as usize) < allowed::MAX_PIECES);
        let mut texts = Vec::new();
        for (text, id) in all {
            let at = id as usize;
            if texts.len() <= at {
                texts.resize(at + 1, String::new());
            }
            texts[at] = text;
        }
        texts
    }
}

/// The byte that a character of a piece stands for: printable ones stand for themselves, and others are numbered from 256.
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => u8::try_from(code).ok(),
        0x100..=0x120 => u8::try_from(code - 0x100).ok(),
        0x121..=0x142 => u8::try_from(code - 0x121 + 0x7f).ok(),
        0x143 => Some(0xad),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
