//! Amounts of money: a currency before or after a number.

use crate::atoms::Shape;
use crate::language::{ENGLISH, number};
use crate::literal::{Found, Value};
use crate::ratio::Ratio;
use crate::scene::Scene;

impl Scene<'_> {
    /// All amounts.
    pub(crate) fn amounts(&self) -> Vec<Found> {
        let mut found = self.quantities();
        for start in 0..self.atoms.len() {
            self.prefixed(start, &mut found);
            self.millions(start, &mut found);
            if let Some(currency) = &self.options.currency {
                for number in self.numbers.cardinals(start).filter(|number| number.whole) {
                    let value = Value::Amount(number.value, currency.clone());
                    found.push(Found { soft: number.soft, ..Found::new(start, number.end, value) });
                }
            }
        }
        found
    }

    /// `$5`, `EUR 5`, `-$40`, `$5m`.
    fn prefixed(&self, start: usize, found: &mut Vec<Found>) {
        let sign = self.atoms.is_any(start, &["-", "−"]) && self.atoms.glued(start + 1);
        let before = start.checked_sub(1).and_then(|before| self.atoms.get(before));
        if sign && self.atoms.glued(start) && before.is_some_and(|before| before.shape != Shape::Mark) {
            return;
        }
        let at = if sign { start + 1 } else { start };
        let Some((place, units)) = self.units.at(&self.atoms, at) else { return };
        let written = self.atoms.text(place - 1);
        for unit in units {
            let scale = self.units.get(unit);
            let is_code = written.eq_ignore_ascii_case(&scale.base);
            let is_sign = !self.atoms.is_word(place - 1) && scale.factor == Ratio::ONE;
            if !(is_code || is_sign) {
                continue;
            }
            for number in self.numbers.cardinals(place).filter(|number| number.whole) {
                let (end, value) =
                    self.multiplied(number.end, number.value).unwrap_or((number.end, number.value));
                let value = if sign { value.negated() } else { value };
                // The number may be more than one: `$2 500`.
                let soft = number.soft && !value.is_negative();
                found
                    .push(Found { soft, ..Found::new(start, end, Value::Amount(value, scale.base.clone())) });
                self.and_cents(start, end, (value, &scale.base), found);
            }
        }
    }

    /// `$5 and 30 cents`.
    fn and_cents(&self, start: usize, end: usize, (amount, base): (Ratio, &str), found: &mut Vec<Found>) {
        let at = self.atoms.skip(end, ENGLISH.and);
        for cents in self.measures(at) {
            let scale = self.units.get(cents.unit);
            let fits = scale.base == base && scale.factor != Ratio::ONE && amount.is_whole();
            if let Some(value) = amount.plus(cents.value).filter(|_| fits) {
                let value = Value::Amount(value, base.to_owned());
                found.push(Found { soft: true, ..Found::new(start, cents.end, value) });
            }
        }
    }

    /// `5m usd`: a letter that multiplies, before the currency.
    fn millions(&self, start: usize, found: &mut Vec<Found>) {
        for number in self.numbers.cardinals(start) {
            let Some((end, value)) = self.multiplied(number.end, number.value) else { continue };
            let Some((end, units)) = self.units.at(&self.atoms, end) else { continue };
            for unit in units {
                let scale = self.units.get(unit);
                if let Some(value) = scale.convert(value) {
                    found.push(Found::new(start, end, Value::Amount(value, scale.base.clone())));
                }
            }
        }
    }

    fn multiplied(&self, at: usize, value: Ratio) -> Option<(usize, Ratio)> {
        let attached = self.atoms.get(at).is_some_and(|atom| !atom.first);
        let factor = number(ENGLISH.money_suffixes, self.atoms.text(at)).filter(|_| attached)?;
        Some((at + 1, value.times(Ratio::whole(factor))?))
    }
}
