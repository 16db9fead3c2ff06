//! Number phrases: digits, words, and both together.
//!
//! Phrases are maximal: `two hundred and five` contains no other number. Where the longest reading is not certain (`2 500`,
//! `minus 40`), the phrase is soft and the numbers in it are found as well.

use crate::atoms::{Atoms, Shape, fraction};
use crate::language::{ENGLISH, number};
use crate::number_words::Words;
use crate::numeral::numerals;
use crate::options::DecimalMark;
use crate::ratio::Ratio;

/// A number that begins at an atom.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Number {
    pub(crate) end: usize,
    pub(crate) value: Ratio,
    pub(crate) ordinal: bool,
    /// Whether it is written with a decimal mark and no scale, so that it is no integer even if its value is whole.
    pub(crate) decimal: bool,
    /// Whether it is a part such as a half, which may be the half of something.
    pub(crate) part: bool,
    /// Whether it is a literal of its own, and not only a part of longer ones.
    pub(crate) whole: bool,
    /// Whether the numbers in it count, too.
    pub(crate) soft: bool,
    /// Whether it is in words only.
    pub(crate) words: bool,
}

impl Number {
    fn new(end: usize, value: Ratio) -> Self {
        let no = false;
        Self { end, value, ordinal: no, decimal: no, part: no, whole: true, soft: no, words: no }
    }
}

/// The numbers of an utterance by their first atom.
pub(crate) struct Numbers {
    by_start: Vec<Vec<Number>>,
}

impl Numbers {
    /// Cost: linear in the number of atoms.
    pub(crate) fn new(atoms: &Atoms<'_>, mark: DecimalMark) -> Self {
        let reader = Reader { atoms, mark };
        let mut by_start = vec![Vec::new(); atoms.len() + 1];
        let mut at = 0;
        while at < atoms.len() {
            if let Some((first, pair, second_at, second)) = reader.year(at) {
                by_start[at] = vec![first, pair];
                by_start[second_at] = vec![second];
                at = pair.end;
                continue;
            }
            let found = reader.numbers(at);
            let hard = found.iter().filter(|number| !number.soft).map(|number| number.end).max();
            by_start[at] = found;
            at = hard.filter(|_| !reader.is_article(at)).unwrap_or(0).max(at + 1);
        }
        Self { by_start }
    }

    /// All numbers that begin there, also those that are only parts of longer literals.
    pub(crate) fn at(&self, start: usize) -> &[Number] {
        self.by_start.get(start).map_or(&[], Vec::as_slice)
    }

    /// The cardinal numbers that begin there.
    pub(crate) fn cardinals(&self, start: usize) -> impl Iterator<Item = &Number> {
        self.at(start).iter().filter(|number| !number.ordinal)
    }
}

struct Reader<'a, 'u> {
    atoms: &'a Atoms<'u>,
    mark: DecimalMark,
}

impl Reader<'_, '_> {
    fn is_article(&self, at: usize) -> bool {
        self.atoms.is_any(at, ENGLISH.articles)
    }

    fn numbers(&self, at: usize) -> Vec<Number> {
        let Some(atom) = self.atoms.get(at) else { return Vec::new() };
        match atom.shape {
            Shape::Digits => self.in_digits(at),
            Shape::Fraction => self.character(at).into_iter().collect(),
            Shape::Mark => self.signed(at),
            Shape::Word if ENGLISH.minus.contains(&atom.text) => {
                let numbers = self.numbers_without_sign(at + 1).into_iter().filter(|number| !number.ordinal);
                numbers.map(|number| Number { value: number.value.negated(), soft: true, ..number }).collect()
            }
            Shape::Word => self.in_words(at),
        }
    }

    fn numbers_without_sign(&self, at: usize) -> Vec<Number> {
        match self.atoms.get(at).map(|atom| atom.shape) {
            Some(Shape::Digits) => self.in_digits(at),
            Some(Shape::Word) if !self.atoms.is_any(at, ENGLISH.minus) => self.in_words(at),
            _ => Vec::new(),
        }
    }

    /// `-40`, `.5`.
    fn signed(&self, at: usize) -> Vec<Number> {
        let before = at.checked_sub(1).and_then(|before| self.atoms.get(before));
        let free = !self.atoms.glued(at) || before.is_some_and(|before| before.shape == Shape::Mark);
        if !free || !self.atoms.glued(at + 1) {
            return Vec::new();
        }
        match self.atoms.text(at) {
            "." | "," => self.in_digits(at),
            sign @ ("-" | "−" | "+") => {
                let numbers = match self.atoms.get(at + 1).map(|atom| atom.shape) {
                    Some(Shape::Digits | Shape::Mark) => self.in_digits(at + 1),
                    Some(Shape::Fraction) => self.character(at + 1).into_iter().collect(),
                    _ => Vec::new(),
                };
                let negative = sign != "+";
                let value = |value: Ratio| if negative { value.negated() } else { value };
                let cardinals = numbers.into_iter().filter(|number| !number.ordinal);
                cardinals.map(|number| Number { value: value(number.value), ..number }).collect()
            }
            _ => Vec::new(),
        }
    }

    fn in_digits(&self, at: usize) -> Vec<Number> {
        let mut found = Vec::new();
        if let Some(number) = self.slashed(at) {
            found.push(number);
        }
        for numeral in numerals(self.atoms, at, self.mark) {
            let base = Number {
                decimal: numeral.decimal,
                soft: numeral.soft,
                ..Number::new(numeral.end, numeral.value)
            };
            if self.attached(base.end) && self.atoms.is_any(base.end, ENGLISH.ordinal_suffixes) {
                if !numeral.decimal {
                    found.push(Number { end: base.end + 1, ordinal: true, ..base });
                }
                continue;
            }
            self.extend(base, &mut found);
        }
        found
    }

    /// Whether the atom belongs to the token before it.
    fn attached(&self, at: usize) -> bool {
        self.atoms.get(at).is_some_and(|atom| !atom.first)
    }

    fn character(&self, at: usize) -> Option<Number> {
        let (numerator, denominator) = self.atoms.text(at).chars().next().and_then(fraction)?;
        let value = Ratio::new(numerator, denominator)?;
        Some(Number { part: true, decimal: true, ..Number::new(at + 1, value) })
    }

    /// `1/2`, glued.
    fn slashed(&self, at: usize) -> Option<Number> {
        let (numerator, denominator) = (self.atoms.digits(at)?, self.atoms.digits(at + 2)?);
        let glued = self.atoms.is_any(at + 1, &["/", "⁄"]) && self.atoms.tight(at + 1);
        let short = numerator.len() <= 3 && denominator.len() <= 3 && !denominator.starts_with('0');
        if !glued || !short {
            return None;
        }
        let value = Ratio::new(numerator.parse().ok()?, denominator.parse().ok()?)?;
        Some(Number { part: true, decimal: true, ..Number::new(at + 3, value) })
    }

    fn in_words(&self, at: usize) -> Vec<Number> {
        let mut found = Vec::new();
        if let Some(part) = self.part(at) {
            let scaled = self.scaled_part(part);
            found.extend(scaled);
            found.push(Number { whole: scaled.is_none(), ..part });
            return found;
        }
        let words = Words { atoms: self.atoms };
        if let Some((end, value)) = words.group(at) {
            found.push(Number { words: true, ..Number::new(end, Ratio::whole(value)) });
            return found;
        }
        let ordinal = words.phrase(at, true).filter(|phrase| phrase.ordinal);
        if let Some(phrase) = ordinal {
            let number = Number::new(phrase.end, Ratio::whole(phrase.value));
            found.push(Number { ordinal: true, words: true, ..number });
        }
        if let Some(phrase) = words.phrase(at, false) {
            let value = words.decimals(phrase.end);
            let base = Number { words: true, ..Number::new(phrase.end, Ratio::whole(phrase.value)) };
            match value.and_then(|(end, part)| Some((end, base.value.plus(part)?))) {
                Some((end, value)) => self.extend(Number { end, value, decimal: true, ..base }, &mut found),
                None if ordinal.is_some() => found.push(Number { whole: false, ..base }),
                None => self.extend(base, &mut found),
            }
        }
        found
    }

    /// `half`, `a half`, `a quarter`.
    fn part(&self, at: usize) -> Option<Number> {
        let article = self.is_article(at);
        let end = if article { at + 1 } else { at };
        let denominator = number(ENGLISH.parts, self.atoms.text(end))?;
        let known = article || self.atoms.is_any(end, ENGLISH.half);
        let value = Ratio::new(1, denominator.into()).filter(|_| known)?;
        Some(Number { part: true, decimal: true, words: true, ..Number::new(end + 1, value) })
    }

    /// `half a million`, `a quarter of a million`, `half a dozen`.
    fn scaled_part(&self, part: Number) -> Option<Number> {
        let at = self.atoms.skip(part.end, ENGLISH.of);
        let at = self.atoms.skip(at, ENGLISH.articles);
        let words = Words { atoms: self.atoms };
        let (end, factor) = words.multiplier(at)?;
        let value = part.value.times(Ratio::whole(factor))?;
        Some(Number { end, value, part: false, decimal: false, ..part })
    }

    /// Adds the number with all that multiplies it or adds a fraction; shorter ones are parts of others only.
    fn extend(&self, base: Number, found: &mut Vec<Number>) {
        let mut number = base;
        if let Some(longer) = self.fraction_of(number) {
            found.push(Number { whole: false, ..base });
            found.push(self.scaled_part(longer).unwrap_or(longer));
            return;
        }
        for step in [Self::suffixed, Self::scaled, Self::and_a_part, Self::scaled] {
            number = step(self, number).unwrap_or(number);
        }
        if number.end != base.end && base.words {
            found.push(Number { whole: false, ..base });
        }
        found.push(number);
    }

    /// `three quarters`, `two-thirds`, `one third`.
    fn fraction_of(&self, number: Number) -> Option<Number> {
        let at = Words { atoms: self.atoms }.hyphen(number.end);
        let table = if number.value == Ratio::ONE { ENGLISH.parts } else { ENGLISH.plural_parts };
        let denominator = crate::language::number(table, self.atoms.text(at))?;
        let value = number.value.times(Ratio::new(1, denominator.into())?)?;
        number.value.is_whole().then_some(Number { end: at + 1, value, part: true, decimal: true, ..number })
    }

    /// `3k`.
    fn suffixed(&self, base: Number) -> Option<Number> {
        let factor =
            number(ENGLISH.suffixes, self.atoms.text(base.end)).filter(|_| self.attached(base.end))?;
        let value = base.value.times(Ratio::whole(factor))?;
        Some(Number { end: base.end + 1, value, decimal: false, ..base })
    }

    /// `1.5 million`, `2 hundred thousand`, `two dozen`.
    fn scaled(&self, base: Number) -> Option<Number> {
        let words = Words { atoms: self.atoms };
        let at = words.hyphen(base.end);
        let (end, factor) = words.multiplier(at).filter(|_| !self.attached(at))?;
        let value = base.value.times(Ratio::whole(factor))?;
        let longer = Number { end, value, decimal: false, ..base };
        let again = words.multiplier(words.hyphen(end)).and_then(|(end, factor)| {
            Some(Number { end, value: value.times(Ratio::whole(factor))?, ..longer })
        });
        Some(again.unwrap_or(longer))
    }

    /// `1½`, `2 1/2`, `two and a half`, `two and three quarters`.
    fn and_a_part(&self, base: Number) -> Option<Number> {
        if !base.value.is_whole() || base.value.is_negative() {
            return None;
        }
        let at = self.atoms.skip(base.end, ENGLISH.and);
        let part = if at == base.end {
            self.character(at).or_else(|| self.slashed(at).filter(|_| !base.words && !self.atoms.glued(at)))
        } else {
            let counted = || {
                let words = Words { atoms: self.atoms }.phrase(at, false)?;
                let count = Number { words: true, ..Number::new(words.end, Ratio::whole(words.value)) };
                self.fraction_of(count)
            };
            self.part(at).filter(|_| self.is_article(at)).or_else(counted)
        }?;
        let proper = part.value.compare(Ratio::ONE) == Some(std::cmp::Ordering::Less);
        // A million and a half is half a million more.
        let scale = number(ENGLISH.scales, self.atoms.text(base.end - 1)).unwrap_or(1);
        let added = part.value.times(Ratio::whole(scale))?;
        let value = base.value.plus(added).filter(|_| proper)?;
        Some(Number { end: part.end, value, decimal: scale == 1, ..base })
    }

    /// A year in two halves: `nineteen ninety-nine`, `twenty twelve`, `nineteen oh five`. The halves come with it.
    fn year(&self, at: usize) -> Option<(Number, Number, usize, Number)> {
        let words = Words { atoms: self.atoms };
        let (end, century) = words.below_hundred(at)?;
        let second_at = words.hyphen(end);
        let (last, rest) = words.below_hundred(second_at).filter(|(_, rest)| *rest >= 10).or_else(|| {
            words.below_hundred(second_at + 1).filter(|(_, rest)| *rest < 10 && self.is_oh(second_at))
        })?;
        let more = words.multiplier(words.hyphen(last)).is_some();
        if !(15..=20).contains(&century) || more || self.atoms.is_any(last, ENGLISH.point) {
            return None;
        }
        let number = |end, value| Number { words: true, ..Number::new(end, Ratio::whole(value)) };
        let inner = |end, value| Number { whole: false, ..number(end, value) };
        Some((inner(end, century), number(last, century * 100 + rest), second_at, inner(last, rest)))
    }

    fn is_oh(&self, at: usize) -> bool {
        self.atoms.is_any(at, ENGLISH.oh)
    }
}
