//! Atoms: the digits, words and marks of an utterance, finer than its tokens, and where a literal may begin and end.

use spanwise_core::{Span, Utterance};

/// What an atom consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shape {
    /// A run of the digits 0 to 9.
    Digits,
    /// One character that is a fraction, such as `½`.
    Fraction,
    /// A run of other letters.
    Word,
    /// One punctuation mark or symbol.
    Mark,
}

/// A part of a token: `1h30` is one token and three atoms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Atom<'a> {
    /// In lower case.
    pub(crate) text: &'a str,
    pub(crate) shape: Shape,
    pub(crate) token: u32,
    /// Whether nothing separates it from the atom before.
    pub(crate) glued: bool,
    /// Whether it is the first of its token.
    pub(crate) first: bool,
    /// Whether it is the last of its token.
    pub(crate) last: bool,
}

/// The atoms of an utterance.
pub(crate) struct Atoms<'a> {
    list: Vec<Atom<'a>>,
}

/// Marks that join a number to what is before or after it.
const JOINING: &[&str] =
    &[".", ",", ":", "/", "-", "'", "’", "+", "*", "^", "@", "&", "=", "~", "·", "−", "\\", "°"];

/// Of these, the ones that only join digits to digits: `size:5` and `red,5` contain a 5, `covid-19` no 19.
const WEAK_BEFORE: &[&str] = &[",", ":", "=", "~"];
const WEAK_AFTER: &[&str] = &[",", ":", "=", "-", "/", "~", "°"];

impl<'a> Atoms<'a> {
    /// Cost: linear in the text.
    pub(crate) fn new(utterance: &'a Utterance) -> Self {
        let mut list: Vec<Atom<'a>> = Vec::with_capacity(utterance.len() + 4);
        let mut end = None;
        for (index, token) in utterance.tokens().iter().enumerate() {
            let mut glued = end == Some(token.bytes.start);
            end = Some(token.bytes.end);
            let mut rest = token.lower.as_str();
            let mut first = true;
            while let Some(head) = rest.chars().next() {
                let shape = shape_of(head);
                let cut = match shape {
                    Shape::Mark | Shape::Fraction => head.len_utf8(),
                    _ => rest.find(|ch| shape_of(ch) != shape).unwrap_or(rest.len()),
                };
                let (text, after) = rest.split_at(cut);
                list.push(Atom { text, shape, token: index as u32, glued, first, last: after.is_empty() });
                (rest, first, glued) = (after, false, true);
            }
        }
        Self { list }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<&Atom<'a>> {
        self.list.get(at)
    }

    /// The text of an atom of any shape; empty beyond the end.
    pub(crate) fn text(&self, at: usize) -> &'a str {
        self.get(at).map_or("", |atom| atom.text)
    }

    pub(crate) fn is(&self, at: usize, text: &str) -> bool {
        self.text(at) == text
    }

    pub(crate) fn is_any(&self, at: usize, texts: &[&str]) -> bool {
        texts.contains(&self.text(at))
    }

    /// The atom there, if it is digits.
    pub(crate) fn digits(&self, at: usize) -> Option<&'a str> {
        self.get(at).filter(|atom| atom.shape == Shape::Digits).map(|atom| atom.text)
    }

    pub(crate) fn is_word(&self, at: usize) -> bool {
        self.get(at).is_some_and(|atom| atom.shape == Shape::Word)
    }

    /// Whether there is an atom, glued to the one before.
    pub(crate) fn glued(&self, at: usize) -> bool {
        self.get(at).is_some_and(|atom| atom.glued)
    }

    /// Whether the atom is glued to the one before and to the one after.
    pub(crate) fn tight(&self, at: usize) -> bool {
        self.glued(at) && self.glued(at + 1)
    }

    /// The position after any of `texts`, or `at` itself.
    pub(crate) fn skip(&self, at: usize, texts: &[&str]) -> usize {
        if self.is_any(at, texts) { at + 1 } else { at }
    }

    /// The position after these words in order.
    pub(crate) fn after(&self, at: usize, words: &[&str]) -> Option<usize> {
        words.iter().enumerate().all(|(i, word)| self.is(at + i, word)).then_some(at + words.len())
    }

    /// The tokens of `[start, end)`, unless it cuts a token, or a number out of a longer whole such as `1.2.3`.
    pub(crate) fn span(&self, start: usize, end: usize) -> Option<Span> {
        let (first, last) = (self.get(start)?, self.get(end.checked_sub(1)?)?);
        let whole = first.first && last.last && !self.bound_before(start) && !self.bound_after(end);
        (start < end && whole).then(|| Span::new(first.token, last.token + 1))
    }

    /// Whether a joining mark ties the atom to what is before it.
    pub(crate) fn bound_before(&self, start: usize) -> bool {
        let Some(atom) = self.get(start) else { return false };
        if start == 0 || !atom.glued || atom.shape == Shape::Mark {
            return false;
        }
        let mark = &self.list[start - 1];
        if mark.shape != Shape::Mark || !JOINING.contains(&mark.text) {
            return false;
        }
        let before = if mark.glued { self.get(start.wrapping_sub(2)) } else { None };
        let shape = before.map(|before| before.shape).filter(|shape| *shape != Shape::Mark);
        match (atom.shape, shape) {
            (Shape::Word, Some(Shape::Digits | Shape::Fraction)) => matches!(mark.text, "-" | "/" | "."),
            (Shape::Word, _) => false,
            (_, Some(Shape::Word)) => !WEAK_BEFORE.contains(&mark.text),
            (_, Some(_)) => true,
            // A sign, or the mark of a decimal without a whole part.
            (_, None) => matches!(mark.text, "-" | "−" | "+" | "." | "/"),
        }
    }

    /// Whether a joining mark ties the atom before `end` to what follows.
    fn bound_after(&self, end: usize) -> bool {
        let (Some(last), Some(mark), Some(after)) = (self.get(end - 1), self.get(end), self.get(end + 1))
        else {
            return false;
        };
        let joined = mark.glued && after.glued && mark.shape == Shape::Mark && JOINING.contains(&mark.text);
        match (last.shape, after.shape) {
            _ if !joined => false,
            (Shape::Mark, _) | (_, Shape::Mark) => false,
            (Shape::Word, Shape::Word) => false,
            (Shape::Word, _) => matches!(mark.text, "-" | "/" | "." | "'" | ":"),
            (_, Shape::Word) => !WEAK_AFTER.contains(&mark.text),
            _ => true,
        }
    }
}

fn shape_of(ch: char) -> Shape {
    if ch.is_ascii_digit() {
        Shape::Digits
    } else if fraction(ch).is_some() {
        Shape::Fraction
    } else if ch.is_alphanumeric() || ch == '_' || is_combining(ch) {
        Shape::Word
    } else {
        Shape::Mark
    }
}

/// Characters that tokens keep inside words although they are no letters.
fn is_combining(ch: char) -> bool {
    matches!(ch, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{200d}')
}

/// The numerator and denominator of a character such as `½`.
pub(crate) fn fraction(ch: char) -> Option<(i128, i128)> {
    Some(match ch {
        '½' => (1, 2),
        '⅓' => (1, 3),
        '⅔' => (2, 3),
        '¼' => (1, 4),
        '¾' => (3, 4),
        '⅕' => (1, 5),
        '⅖' => (2, 5),
        '⅗' => (3, 5),
        '⅘' => (4, 5),
        '⅙' => (1, 6),
        '⅚' => (5, 6),
        '⅛' => (1, 8),
        '⅜' => (3, 8),
        '⅝' => (5, 8),
        '⅞' => (7, 8),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_and_digits_of_one_token_are_separate_atoms() {
        let utterance = Utterance::new("1h30 $1,5 1½");
        let atoms = Atoms::new(&utterance);
        let texts: Vec<&str> = (0..atoms.len()).map(|at| atoms.text(at)).collect();
        assert_eq!(texts, ["1", "h", "30", "$", "1", ",", "5", "1", "½"]);
    }

    #[test]
    fn a_span_never_cuts_a_token_or_a_written_number() {
        let utterance = Utterance::new("b2b 1.2.3 covid-19 size:5 5-star 555-1234 5.");
        let atoms = Atoms::new(&utterance);
        let free: Vec<&str> = (0..atoms.len())
            .filter(|at| atoms.digits(*at).is_some() && atoms.span(*at, at + 1).is_some())
            .map(|at| atoms.text(at))
            .collect();
        assert_eq!(free, ["5", "5", "5"]);
    }
}
