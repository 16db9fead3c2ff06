//! Number words: `two hundred and five thousand`, `twenty-first`, `a dozen`.

use crate::atoms::Atoms;
use crate::language::{ENGLISH, number};
use crate::ratio::Ratio;

/// A whole number in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Phrase {
    pub(crate) end: usize,
    pub(crate) value: i64,
    pub(crate) ordinal: bool,
}

/// Reads number words.
pub(crate) struct Words<'a, 'u> {
    pub(crate) atoms: &'a Atoms<'u>,
}

impl Words<'_, '_> {
    /// The position after a hyphen between two words.
    pub(crate) fn hyphen(&self, at: usize) -> usize {
        if self.atoms.is(at, "-") && self.atoms.tight(at) { at + 1 } else { at }
    }

    /// The position after `and`, with or without hyphens, and whether there is one.
    fn skip_and(&self, at: usize) -> (usize, bool) {
        let at = self.hyphen(at);
        if self.atoms.is_any(at, ENGLISH.and) { (self.hyphen(at + 1), true) } else { (at, false) }
    }

    /// A number below a hundred.
    pub(crate) fn below_hundred(&self, at: usize) -> Option<(usize, i64)> {
        let word = self.atoms.text(at);
        if let Some(small) = number(ENGLISH.small, word) {
            return Some((at + 1, small));
        }
        let tens = number(ENGLISH.tens, word)?;
        let next = self.hyphen(at + 1);
        let unit = number(ENGLISH.small, self.atoms.text(next)).filter(|unit| (1..10).contains(unit));
        Some(unit.map_or((at + 1, tens), |unit| (next + 1, tens + unit)))
    }

    fn ordinal_below_hundred(&self, at: usize) -> Option<(usize, i64)> {
        let word = self.atoms.text(at);
        let single = number(ENGLISH.small_ordinals, word).or_else(|| number(ENGLISH.tens_ordinals, word));
        if let Some(value) = single {
            return Some((at + 1, value));
        }
        let tens = number(ENGLISH.tens, word)?;
        let next = self.hyphen(at + 1);
        let unit = number(ENGLISH.small_ordinals, self.atoms.text(next)).filter(|unit| *unit < 10)?;
        Some((next + 1, tens + unit))
    }

    /// A hundred, a scale or a group, which multiply what is before them.
    pub(crate) fn multiplier(&self, at: usize) -> Option<(usize, i64)> {
        let word = self.atoms.text(at);
        let hundred = self.is_hundred(at).then_some(100);
        let found = hundred.or_else(|| number(ENGLISH.scales, word)).or_else(|| {
            // A couple is no measure of other numbers.
            number(ENGLISH.groups, word).filter(|value| *value > 2)
        });
        found.filter(|_| self.atoms.is_word(at)).map(|value| (at + 1, value))
    }

    fn is_hundred(&self, at: usize) -> bool {
        self.atoms.is_any(at, ENGLISH.hundred)
    }

    /// `a dozen`, `dozen`, `a couple`.
    pub(crate) fn group(&self, at: usize) -> Option<(usize, i64)> {
        let article = self.atoms.is_any(at, ENGLISH.articles);
        let end = if article { at + 1 } else { at };
        let value = number(ENGLISH.groups, self.atoms.text(end)).filter(|value| article || *value > 2)?;
        Some((end + 1, value))
    }

    /// The longest phrase that begins there. With `ordinals`, its last word may be an ordinal.
    pub(crate) fn phrase(&self, at: usize, ordinals: bool) -> Option<Phrase> {
        let joins = !(at > 0 && self.atoms.is(at - 1, "between"));
        let article = self.atoms.is_any(at, ENGLISH.articles);
        let start = if article { at + 1 } else { at };
        let mut segment = match self.segment(start, joins, ordinals) {
            // An article is a one only before a hundred or a scale.
            Some(segment) if !article || self.is_scale(start) => segment,
            _ if self.is_scale(start) => Phrase { end: start, value: 1, ordinal: false },
            _ => return None,
        };
        let (mut total, mut last) = (0i64, i64::MAX);
        while !segment.ordinal {
            let Some(scale) =
                self.scale(self.hyphen(segment.end), ordinals).filter(|scale| scale.value < last)
            else {
                break;
            };
            total = total.checked_add(segment.value.checked_mul(scale.value)?)?;
            last = scale.value;
            segment = Phrase { value: 0, ..scale };
            match self.segment_after(segment.end, last, joins, ordinals).filter(|_| !scale.ordinal) {
                Some(next) => segment = next,
                None => break,
            }
        }
        let end_is_bare_article = segment.end == start;
        let value = total.checked_add(segment.value)?;
        (!end_is_bare_article).then_some(Phrase { value, ..segment })
    }

    /// A word that an article may count: `a hundred`, `a million`.
    fn is_scale(&self, at: usize) -> bool {
        let word = self.atoms.text(at);
        let singular = self.is_hundred(at) || number(ENGLISH.scales, word).is_some();
        let ordinal = number(ENGLISH.scale_ordinals, word).is_some();
        // Hundreds and thousands alone say no number.
        self.atoms.is_word(at) && (ordinal || (singular && !word.ends_with('s')))
    }

    fn scale(&self, at: usize, ordinals: bool) -> Option<Phrase> {
        let word = self.atoms.text(at);
        if !self.atoms.get(at).is_some_and(|atom| atom.first) {
            return None;
        }
        let phrase = |value, ordinal| Phrase { end: at + 1, value, ordinal };
        let ordinal = || number(ENGLISH.scale_ordinals, word).filter(|value| ordinals && *value > 100);
        number(ENGLISH.scales, word)
            .map(|value| phrase(value, false))
            .or_else(|| Some(phrase(ordinal()?, true)))
    }

    /// The number below a thousand that may follow a scale, which is not itself followed by a larger one.
    fn segment_after(&self, at: usize, last: i64, joins: bool, ordinals: bool) -> Option<Phrase> {
        let (next, and) = self.skip_and(at);
        if and && !joins {
            return None;
        }
        let segment = self.segment(next, joins, ordinals).filter(|_| !self.is_hundred(next))?;
        let scale = self.scale(self.hyphen(segment.end), ordinals);
        let fits = scale.is_none_or(|scale| scale.value < last) && segment.value > 0;
        fits.then_some(segment)
    }

    /// A number below a thousand, or hundreds up to 99.
    fn segment(&self, at: usize, joins: bool, ordinals: bool) -> Option<Phrase> {
        if let Some((end, value)) = self.ordinal_below_hundred(at).filter(|_| ordinals) {
            return Some(Phrase { end, value, ordinal: true });
        }
        let counted = self.below_hundred(at);
        let (end, count) = counted.unwrap_or((at, 1));
        let hundred = self.hyphen(end);
        if ordinals && number(ENGLISH.scale_ordinals, self.atoms.text(hundred)) == Some(100) {
            return Some(Phrase { end: hundred + 1, value: count * 100, ordinal: true });
        }
        let bare = counted.is_none() && !self.is_scale(at);
        if !self.is_hundred(hundred) || bare || count == 0 {
            return counted.map(|(end, value)| Phrase { end, value, ordinal: false });
        }
        let end = hundred + 1;
        let (next, and) = self.skip_and(end);
        let ordinal = self.ordinal_below_hundred(next).filter(|_| ordinals).map(|rest| (rest, true));
        let rest = ordinal.or_else(|| self.below_hundred(next).map(|rest| (rest, false)));
        // In `two hundred and five hundred` the second number is another one.
        let rest = rest
            .filter(|((end, value), _)| *value > 0 && (joins || !and) && !self.is_hundred(self.hyphen(*end)));
        Some(match rest {
            Some(((end, value), ordinal)) => Phrase { end, value: count * 100 + value, ordinal },
            None => Phrase { end, value: count * 100, ordinal: false },
        })
    }

    /// `point five`, `point two five`, after a number.
    pub(crate) fn decimals(&self, at: usize) -> Option<(usize, Ratio)> {
        if !self.atoms.is_any(at, ENGLISH.point) {
            return None;
        }
        let mut end = at + 1;
        let mut digits = String::new();
        while let Some(digit) = number(ENGLISH.small, self.atoms.text(end)).filter(|digit| *digit < 10) {
            digits.push_str(&digit.to_string());
            end += 1;
            if digits.len() > 12 {
                return None;
            }
        }
        Some((end, Ratio::from_digits(&digits, digits.len())?))
    }
}
