//! Text in quotes, and any text up to a number of words.

use crate::literal::{Found, Value};
use crate::options::Options;
use crate::scene::Scene;
use spanwise_core::{Span, Utterance};

/// Opening and closing quotes.
const QUOTES: &[(&str, &str)] =
    &[("\"", "\""), ("“", "”"), ("„", "“"), ("‘", "’"), ("«", "»"), ("`", "`"), ("'", "'")];

/// Tokens of a text for each of its words, so that punctuation does not make it endless.
const TOKENS_PER_WORD: usize = 3;

/// The text without outer white space, and with one space for inner white space and control characters.
pub(crate) fn collapsed(text: &str) -> String {
    let parts = text.split(|ch: char| ch.is_whitespace() || ch.is_control());
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A text with its words written as the options say. Words end at white space.
pub(crate) fn spelled(text: &str, options: &Options) -> String {
    let word = |word: &str| match options.spellings.get(&word.to_lowercase()) {
        Some(known) => known.clone(),
        None if options.capitals => capitalized(word),
        None => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn capitalized(word: &str) -> String {
    let mut rest = word.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

impl Scene<'_> {
    /// Text in quotes; the span includes them. Each opening quote is closed by the next closing one.
    pub(crate) fn quoted(&self, utterance: &Utterance) -> Vec<Found> {
        let mut found = Vec::new();
        for (open, close) in QUOTES {
            let mut begun: Option<usize> = None;
            for at in 0..self.atoms.len() {
                match begun {
                    Some(start) if self.atoms.is(at, close) && (open != close || self.closes(at)) => {
                        begun = None;
                        found.extend(self.inside(utterance, start, at));
                    }
                    None if self.atoms.is(at, open) && (open != close || self.opens(at)) => begun = Some(at),
                    _ => {}
                }
            }
        }
        found
    }

    /// An apostrophe is no quote: quotes are free on the outer side, and touch what they enclose.
    fn opens(&self, at: usize) -> bool {
        self.atoms.glued(at + 1) && !(self.atoms.glued(at) && self.is_letter(at.wrapping_sub(1)))
    }

    fn closes(&self, at: usize) -> bool {
        self.atoms.glued(at) && !(self.atoms.glued(at + 1) && self.is_letter(at + 1))
    }

    fn is_letter(&self, at: usize) -> bool {
        self.atoms.is_word(at) || self.atoms.digits(at).is_some()
    }

    fn inside(&self, utterance: &Utterance, open: usize, close: usize) -> Option<Found> {
        let (first, last) = (self.atoms.get(open)?.token, self.atoms.get(close)?.token);
        let text = collapsed(utterance.slice(Span::new(first + 1, last.max(first + 1))));
        (!text.is_empty()).then(|| Found::new(open, close + 1, Value::Words(text)))
    }
}

/// Every span of up to `max_words` words that begins and ends with a whole word.
pub(crate) fn texts(utterance: &Utterance, max_words: usize) -> Vec<Span> {
    let tokens = utterance.tokens();
    let is_word = |at: usize| tokens[at].lower.chars().next().is_some_and(char::is_alphanumeric);
    let glued = |at: usize| at > 0 && at < tokens.len() && tokens[at - 1].bytes.end == tokens[at].bytes.start;
    // An apostrophe, a hyphen or a point inside a word.
    let inner = |at: usize| {
        at > 0
            && at + 1 < tokens.len()
            && is_word(at - 1)
            && !is_word(at)
            && is_word(at + 1)
            && glued(at)
            && glued(at + 1)
    };
    let mut spans = Vec::new();
    for start in (0..tokens.len()).filter(|start| is_word(*start) && !(*start > 0 && inner(start - 1))) {
        let mut words = 0;
        let limit = start + max_words.saturating_mul(TOKENS_PER_WORD).min(tokens.len() - start);
        for last in start..limit {
            if !is_word(last) {
                continue;
            }
            words += usize::from(last == start || !inner(last - 1));
            if words > max_words {
                break;
            }
            if !inner(last + 1) {
                spans.push(Span::new(start as u32, last as u32 + 1));
            }
        }
    }
    spans
}
