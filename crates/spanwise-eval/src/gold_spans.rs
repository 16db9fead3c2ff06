//! Reads and writes gold trees in data files, the field `gold_spans`.
//!
//! There are two formats, distinguished by the keys of their entries:
//!
//! * `{"span": [first, last], "type": name}` as released with the paper: inclusive, in word-pieces of a tokenizer of
//!   the BERT family. Reading them needs the number of word-pieces of each word.
//! * `{"words": [start, end], "type": name}` as Spanwise writes it: half-open, in words of [`Utterance`].
//!
//! The type `span` is a join, every other type a constant. Discontinuous nodes need no special entry: functions that are
//! composed before they have their argument have no span, and the join over them and the argument has more than two
//! parts.

use crate::tree_f1::{Label, LabelledSpans};
use serde_json::{Value, json};
use spanwise_core::{Span, Utterance};
use spanwise_domains::data::Example;
use spanwise_nn::Tokenizer;
use std::cmp::Reverse;

/// The type of joins in data files.
pub(crate) const JOIN: &str = "span";

/// A tree as the value of `gold_spans`, in words; outer spans come before inner ones.
#[must_use]
pub fn to_json(tree: &LabelledSpans) -> Value {
    let mut spans: Vec<(&Span, &Label)> = tree.iter().collect();
    spans.sort_by_key(|(span, _)| (span.start, Reverse(span.end)));
    let one = |(span, label): (&Span, &Label)| {
        let name = match label {
            Label::Join => JOIN,
            Label::Constant(name) => name,
        };
        json!({ "words": [span.start, span.end], "type": name })
    };
    spans.into_iter().map(one).collect()
}

/// The range of an entry.
#[derive(Clone, Copy)]
enum Place {
    /// From the first to the last word-piece.
    Pieces(usize, usize),
    /// From a word to one past the last.
    Words(usize, usize),
}

/// The gold spans of an example over its `n_words` words, longer ones first. If two have the same words, the later one
/// counts.
///
/// `pieces` is the number of word-pieces of each word. Without it, spans in word-pieces are read only if every word must
/// be one word-piece, that is, if there are as many word-pieces as words.
pub(crate) fn word_spans<'a>(
    example: &'a Example,
    pieces: Option<&[usize]>,
    n_words: usize,
) -> Option<Vec<(Span, &'a str)>> {
    let mut entries: Vec<(Place, &str)> =
        example.gold_spans.as_ref()?.as_array()?.iter().map(entry).collect::<Option<_>>()?;
    let last_piece = entries.iter().filter_map(|(place, _)| match place {
        Place::Pieces(_, last) => Some(*last),
        Place::Words(..) => None,
    });
    let word_of: Vec<u32> = match (last_piece.max(), pieces) {
        (None, _) if !entries.is_empty() => Vec::new(),
        (Some(_), Some(pieces)) if pieces.len() == n_words => {
            (0u32..).zip(pieces).flat_map(|(word, &n)| std::iter::repeat_n(word, n)).collect()
        }
        (Some(last), None) if last + 1 == n_words => (0..n_words as u32).collect(),
        _ => return None,
    };
    let length = |place: &Place| match *place {
        Place::Pieces(first, last) => (last + 1).saturating_sub(first),
        Place::Words(start, end) => end.saturating_sub(start),
    };
    let to_words = |(place, name): (Place, &'a str)| {
        let (start, end) = match place {
            Place::Pieces(first, last) => (*word_of.get(first)?, *word_of.get(last)? + 1),
            Place::Words(start, end) if end <= n_words => (start as u32, end as u32),
            Place::Words(..) => return None,
        };
        (start < end).then(|| (Span::new(start, end), name))
    };
    entries.sort_by_key(|(place, _)| Reverse(length(place)));
    entries.into_iter().map(to_words).collect()
}

fn entry(value: &Value) -> Option<(Place, &str)> {
    let numbers = |key: &str| {
        let [first, second] = value.get(key)?.as_array()?.as_slice() else { return None };
        let number = |value: &Value| usize::try_from(value.as_u64()?).ok().filter(|&n| n < 1 << 31);
        Some((number(first)?, number(second)?))
    };
    let name = value.get("type")?.as_str()?;
    match (numbers("span"), numbers("words")) {
        (Some((first, last)), None) => Some((Place::Pieces(first, last), name)),
        (None, Some((start, end))) => Some((Place::Words(start, end), name)),
        _ => None,
    }
}

/// The number of word-pieces of each word, for gold trees over word-pieces; `None` if the tokens are whole words.
#[must_use]
pub fn pieces_per_word(tokenizer: &Tokenizer, utterance: &Utterance) -> Option<Vec<usize>> {
    match tokenizer {
        Tokenizer::WordPiece(_) => {
            let pieces = tokenizer.encode(utterance);
            Some(pieces.words.iter().map(|&(first, last)| (last - first + 1) as usize).collect())
        }
        // A piece of a whole text may belong to two words.
        Tokenizer::Words(_) | Tokenizer::Text(_) => None,
    }
}
