//! Utterances: texts with their tokens, and spans of tokens.

use crate::moment::Moment;
use std::fmt;
use std::ops::Range;

/// A half-open range `[start, end)` over the tokens of an utterance.
///
/// ```
/// use spanwise_core::Span;
///
/// let (whole, part) = (Span::new(0, 4), Span::new(2, 4));
/// assert!(whole.contains(part) && part.len() == 2);
/// assert_eq!(part.to_string(), "2..4");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First token.
    pub start: u32,
    /// One past the last token.
    pub end: u32,
}

impl Span {
    /// The span `[start, end)`.
    #[must_use]
    pub const fn new(start: u32, end: u32) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    /// Number of tokens covered.
    #[must_use]
    pub const fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether no token is covered.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Whether `inner` lies within this span.
    #[must_use]
    pub const fn contains(self, inner: Self) -> bool {
        self.start <= inner.start && inner.end <= self.end
    }

    /// Whether the two spans share a token.
    #[must_use]
    pub const fn overlaps(self, other: Self) -> bool {
        self.start < other.end && other.start < self.end
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// One word or punctuation mark, with the bytes of the utterance it covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// The token in lower case, the form that lexicons and charts compare.
    pub lower: String,
    /// Its bytes in the utterance's text.
    pub bytes: Range<usize>,
}

/// A text with its tokens.
///
/// ```
/// use spanwise_core::{Span, Utterance};
///
/// let utterance = Utterance::new("What borders New York?");
/// let words: Vec<&str> = utterance.tokens().iter().map(|token| token.lower.as_str()).collect();
/// assert_eq!(words, ["what", "borders", "new", "york", "?"]);
/// assert_eq!(utterance.slice(Span::new(2, 4)), "New York");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Utterance {
    text: String,
    tokens: Vec<Token>,
    now: Option<Moment>,
}

impl Utterance {
    /// Splits `text` into words (runs of letters, digits and underscores, with their combining marks) and
    /// single punctuation marks. White space and control characters separate tokens. Cost: linear in the text.
    ///
    /// The split is at least as fine as the pre-tokenization of the BERT family, so every word-piece lies inside exactly
    /// one token.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let mut tokens: Vec<Token> = Vec::new();
        let mut open_word = false;
        for (at, ch) in text.char_indices() {
            let end = at + ch.len_utf8();
            if ch.is_whitespace() || ch.is_control() {
                open_word = false;
            } else if is_word_char(ch) || (open_word && is_combining(ch)) {
                match tokens.last_mut() {
                    Some(word) if open_word => {
                        word.lower.extend(ch.to_lowercase());
                        word.bytes.end = end;
                    }
                    _ => tokens.push(Token { lower: ch.to_lowercase().collect(), bytes: at..end }),
                }
                open_word = true;
            } else {
                tokens.push(Token { lower: ch.to_string(), bytes: at..end });
                open_word = false;
            }
        }
        Self { text, tokens, now: None }
    }

    /// The same, said at a moment that relative dates such as `last month` refer to. Without one, they have no value.
    #[must_use]
    pub fn said_at(self, now: Option<Moment>) -> Self {
        Self { now, ..self }
    }

    /// The same with other words at some places, in ascending order. A word that would not be one token is not replaced, so
    /// places stay the same.
    #[must_use]
    pub fn with_words<'a>(&self, words: impl IntoIterator<Item = (usize, &'a str)>) -> Self {
        let mut text = String::with_capacity(self.text.len() + 8);
        let mut done = 0;
        for (at, word) in words {
            let Some(token) = self.tokens.get(at).filter(|token| token.bytes.start >= done) else { continue };
            if !word.chars().all(is_word_char) || word.is_empty() {
                continue;
            }
            text += &self.text[done..token.bytes.start];
            text += word;
            done = token.bytes.end;
        }
        text += &self.text[done..];
        Self::new(text).said_at(self.now)
    }

    /// When it was said, if that is known.
    #[must_use]
    pub fn now(&self) -> Option<Moment> {
        self.now
    }

    /// The text as it was given.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The position of each token in characters of the text. Cost: one pass over the text.
    #[must_use]
    pub fn char_ranges(&self) -> Vec<Range<usize>> {
        let (mut n_chars, mut seen) = (0, 0);
        let mut position = |byte: usize| {
            n_chars += self.text[seen..byte].chars().count();
            seen = byte;
            n_chars
        };
        self.tokens.iter().map(|token| position(token.bytes.start)..position(token.bytes.end)).collect()
    }

    /// The tokens in order.
    #[must_use]
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// Number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The text that `span` covers, from its first token to its last.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        if span.is_empty() {
            return "";
        }
        let first = &self.tokens[span.start as usize];
        let last = &self.tokens[span.end as usize - 1];
        &self.text[first.bytes.start..last.bytes.end]
    }
}

fn is_word_char(ch: char) -> bool {
    ch.is_alphanumeric() || ch == '_'
}

/// Combining marks that continue a word: accents written apart, and the joiners of scripts and emoji.
fn is_combining(ch: char) -> bool {
    matches!(ch, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        Utterance::new(text).tokens().iter().map(|token| token.lower.clone()).collect()
    }

    #[test]
    fn words_and_punctuation_are_separate_tokens() {
        assert_eq!(words("What's St. Louis, MO?"), ["what", "'", "s", "st", ".", "louis", ",", "mo", "?"]);
    }

    #[test]
    fn control_characters_and_odd_spaces_only_separate() {
        assert_eq!(words("a\u{0}b\u{a0}c\t\n d"), ["a", "b", "c", "d"]);
    }

    #[test]
    fn combining_accents_stay_with_their_word() {
        assert_eq!(words("cafe\u{301} bar"), ["cafe\u{301}", "bar"]);
    }

    #[test]
    fn other_words_stand_at_the_same_places() {
        let utterance = Utterance::new("the captial of  texsa?");
        let read = utterance.with_words([(1, "capital"), (3, "texas"), (9, "no")]);
        assert_eq!(read.text(), "the capital of  texas?");
        assert_eq!(utterance.with_words([(1, "two words")]).text(), utterance.text());
    }

    #[test]
    fn slice_returns_the_covered_text() {
        let utterance = Utterance::new("in New  York ?");
        assert_eq!(utterance.slice(Span::new(1, 3)), "New  York");
        assert_eq!(utterance.slice(Span::new(2, 2)), "");
    }

    proptest! {
        #[test]
        fn tokens_are_ordered_non_empty_and_cover_all_visible_text(text in "\\PC{0,40}") {
            let utterance = Utterance::new(text.clone());
            let mut at = 0;
            for token in utterance.tokens() {
                prop_assert!(token.bytes.start >= at && token.bytes.end > token.bytes.start);
                prop_assert!(text[at..token.bytes.start].chars().all(|c| c.is_whitespace() || c.is_control()));
                at = token.bytes.end;
            }
            prop_assert!(text[at..].chars().all(|c| c.is_whitespace() || c.is_control()));
        }

        #[test]
        fn positions_in_characters_and_in_bytes_cover_the_same_words(text in "\\PC{0,40}") {
            let utterance = Utterance::new(text.clone());
            let chars: Vec<char> = text.chars().collect();
            for (token, place) in utterance.tokens().iter().zip(utterance.char_ranges()) {
                let word: String = chars[place].iter().collect();
                prop_assert_eq!(&word, &text[token.bytes.clone()]);
            }
        }
    }
}
