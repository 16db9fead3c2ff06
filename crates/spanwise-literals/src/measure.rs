//! Quantities: a number with a unit, several of them together, and lengths of time as a clock shows them.

use crate::language::{ENGLISH, number};
use crate::literal::{Found, Value};
use crate::ratio::Ratio;
use crate::scene::Scene;
use std::cmp::Ordering;

/// A number with a unit, or several added up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measured {
    pub(crate) end: usize,
    /// In base units.
    pub(crate) value: Ratio,
    /// The last unit.
    pub(crate) unit: usize,
    pub(crate) soft: bool,
}

/// Parts of a quantity: hours, minutes, seconds and thousandths.
const MAX_PARTS: usize = 4;

/// Between two numbers, of which the first may borrow the unit of the second.
const LENDING: &[&str] = &["and", "to", "or", "–", "—"];

impl Scene<'_> {
    /// All quantities.
    pub(crate) fn quantities(&self) -> Vec<Found> {
        let mut found = Vec::new();
        for start in 0..self.atoms.len() {
            for measured in self.measures(start) {
                let value = Value::Amount(measured.value, self.units.get(measured.unit).base.clone());
                found.push(Found { start, end: measured.end, value, soft: measured.soft });
            }
            self.borrowed_units(start, &mut found);
        }
        found
    }

    /// `5` in `between 5 and 10 km`, which has the unit of the second.
    fn borrowed_units(&self, start: usize, found: &mut Vec<Found>) {
        for number in self.numbers.cardinals(start).filter(|number| number.whole) {
            if !self.atoms.is_any(number.end, LENDING) {
                continue;
            }
            for other in self.singles(number.end + 1) {
                let scale = self.units.get(other.unit);
                if let Some(value) = scale.convert(number.value) {
                    let value = Value::Amount(value, scale.base.clone());
                    found.push(Found { soft: number.soft, ..Found::new(start, number.end, value) });
                }
            }
        }
    }

    /// Quantities that begin at `at`, with one part and with more.
    pub(crate) fn measures(&self, at: usize) -> Vec<Measured> {
        let mut found = self.singles(at);
        let mut done = 0;
        for _ in 1..MAX_PARTS {
            let known = found.len();
            for index in done..known {
                let more = self.longer(found[index]);
                found.extend(more);
            }
            done = known;
        }
        found
    }

    /// One number with one unit.
    fn singles(&self, at: usize) -> Vec<Measured> {
        let mut found = Vec::new();
        for number in self.numbers.cardinals(at) {
            let atoms = &self.atoms;
            let hyphen =
                atoms.is(number.end, "-") && atoms.tight(number.end) && atoms.is_word(number.end + 1);
            let at = if hyphen { number.end + 1 } else { number.end };
            let of = atoms.skip(at, ENGLISH.of);
            let places = if number.part { [at, atoms.skip(of, ENGLISH.articles)] } else { [at, of] };
            let place = places.into_iter().find(|place| self.units.at(atoms, *place).is_some());
            if let Some(place) = place.filter(|place| number.part || *place == at || number.words) {
                self.with_unit((number.value, number.soft), place, &mut found);
            }
        }
        let one = self.atoms.is_any(at, ENGLISH.articles) && self.atoms.text(at + 1).len() > 2;
        if one && self.atoms.is_word(at + 1) {
            self.with_unit((Ratio::ONE, false), at + 1, &mut found);
        }
        found
    }

    fn with_unit(&self, (amount, soft): (Ratio, bool), at: usize, found: &mut Vec<Measured>) {
        let Some((end, units)) = self.units.at(&self.atoms, at) else { return };
        let quote =
            !self.atoms.is_word(at) && matches!(self.atoms.text(at), "'" | "’" | "\"" | "”" | "′" | "″");
        // `5 m/s` are no metres.
        let per = self.atoms.is(end, "/") && self.atoms.tight(end) && self.atoms.is_word(end + 1);
        if per || (quote && !self.atoms.glued(at)) {
            return;
        }
        for unit in units {
            if let Some(value) = self.units.get(unit).convert(amount) {
                found.push(Measured { end, value, unit, soft });
            }
        }
    }

    /// The quantity with another part: `6 feet 2 inches`, `5 min 30`, `an hour and a half`.
    fn longer(&self, first: Measured) -> Vec<Measured> {
        let scale = self.units.get(first.unit);
        let mut found = Vec::new();
        if first.value.is_negative() || !scale.offset.is_zero() {
            return found;
        }
        let and = self.atoms.skip(first.end, ENGLISH.and);
        if let Some((end, denominator)) = self.part_after(first.end, and) {
            let part = Ratio::new(1, denominator.into()).and_then(|part| part.times(scale.factor));
            let value = part.and_then(|part| first.value.plus(part));
            found.extend(value.map(|value| Measured { end, value, ..first }));
        }
        // Also after the point of an abbreviation: `3 min. 20 sec`.
        let linked = self.atoms.skip(and, &[",", "."]);
        for second in self.singles(linked) {
            let other = self.units.get(second.unit);
            let smaller = other.factor.compare(scale.factor) == Some(Ordering::Less);
            if other.base != scale.base || !smaller || second.value.is_negative() {
                continue;
            }
            let value = first.value.plus(second.value);
            found.extend(value.map(|value| Measured {
                value,
                soft: first.soft || linked != first.end,
                ..second
            }));
        }
        found.extend(self.trailing(first));
        found
    }

    /// `and a half` after a unit, with its denominator.
    fn part_after(&self, end: usize, and: usize) -> Option<(usize, i64)> {
        let article = and > end && self.atoms.is_any(and, ENGLISH.articles);
        let denominator = number(ENGLISH.parts, self.atoms.text(and + 1)).filter(|_| article)?;
        Some((and + 2, denominator))
    }

    /// A number without a unit after a quantity: `5 min 30`, `1h30`, `6 feet 2`.
    fn trailing(&self, first: Measured) -> Option<Measured> {
        let next = self.units.get(first.unit).next?;
        let (scale, smaller) = (self.units.get(first.unit), self.units.get(next));
        let (end, count) =
            self.count(first.end).next().filter(|_| !self.atoms.is_any(first.end, ENGLISH.articles))?;
        let value = smaller.convert(Ratio::whole(count))?;
        let fits = count >= 0 && value.compare(scale.factor) == Some(Ordering::Less);
        let free = self.units.at(&self.atoms, end).is_none();
        let soft = first.soft || !self.atoms.glued(first.end);
        (fits && free).then_some(Measured { end, value: first.value.plus(value)?, unit: next, soft })
    }

    /// Lengths of time: quantities, and `4:30` as minutes and seconds or hours and minutes.
    pub(crate) fn durations(&self) -> Vec<Found> {
        let mut found = self.quantities();
        for start in 0..self.atoms.len() {
            self.clock_duration(start, &mut found);
        }
        found
    }

    fn clock_duration(&self, start: usize, found: &mut Vec<Found>) {
        let Some((end, parts)) = self.colons(start) else { return };
        let seconds = |parts: &[i64], largest: i64| {
            let mut unit = largest;
            let mut total = 0;
            for part in parts {
                (total, unit) = (total + part * unit, unit / 60);
            }
            Ratio::whole(total)
        };
        let mut add = |end, value| found.push(Found::new(start, end, Value::Amount(value, "s".to_owned())));
        let unit = self.units.at(&self.atoms, end).and_then(|(end, mut units)| Some((end, units.next()?)));
        let factor = unit.and_then(|(end, unit)| Some((end, self.units.get(unit).factor.to_integer()?)));
        match (parts.len(), factor) {
            (2, Some((end, 60))) => add(end, seconds(&parts, 60)),
            (_, Some((end, 3600))) => add(end, seconds(&parts, 3600)),
            (3, _) => add(end, seconds(&parts, 3600)),
            _ => [60, 3600].into_iter().for_each(|largest| add(end, seconds(&parts, largest))),
        }
    }

    /// `4:30` or `1:02:03`, all but the first below sixty and of two digits.
    pub(crate) fn colons(&self, at: usize) -> Option<(usize, Vec<i64>)> {
        let first = self.atoms.digits(at).filter(|digits| digits.len() <= 3)?;
        let mut parts = vec![first.parse().ok()?];
        let mut end = at + 1;
        while parts.len() < 3 && self.atoms.is(end, ":") && self.atoms.tight(end) {
            let Some(digits) = self.atoms.digits(end + 1).filter(|digits| digits.len() == 2) else { break };
            parts.push(digits.parse().ok().filter(|part| *part < 60)?);
            end += 2;
        }
        (parts.len() > 1).then_some((end, parts))
    }
}
