//! Exact rational numbers, and the decimal text that stands for them.

use std::cmp::Ordering;

/// Digits after the point of a number that no decimal equals, such as a third.
const PLACES: u32 = 12;

/// An exact number with a positive denominator, in lowest terms. Every operation that would overflow returns nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ratio {
    numerator: i128,
    denominator: i128,
}

impl Ratio {
    pub(crate) const ONE: Self = Self::whole(1);

    pub(crate) const fn whole(value: i64) -> Self {
        Self { numerator: value as i128, denominator: 1 }
    }

    /// Nothing for a denominator of zero.
    pub(crate) fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator <= 0 || numerator == i128::MIN {
            return None;
        }
        let divisor = common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs()) as i128;
        Some(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// The number with these digits, the last `scale` of them after the point.
    pub(crate) fn from_digits(digits: &str, scale: usize) -> Option<Self> {
        let numerator = digits.parse::<i128>().ok()?;
        Self::new(numerator, 10i128.checked_pow(u32::try_from(scale).ok()?)?)
    }

    /// Reads a number as `to_text` writes it, and also with zeros that do not matter.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !is_number(whole) || !is_number(part) || text.ends_with('.') {
            return None;
        }
        let value = Self::from_digits(&format!("{whole}{part}"), part.len())?;
        Some(if negative { value.negated() } else { value })
    }

    pub(crate) fn negated(self) -> Self {
        Self { numerator: -self.numerator, ..self }
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let left = self.numerator.checked_mul(other.denominator)?;
        let right = other.numerator.checked_mul(self.denominator)?;
        Self::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator)?)
    }

    pub(crate) fn times(self, other: Self) -> Option<Self> {
        // Crosswise first, so that the product is as small as it can be.
        let a = Self::new(self.numerator, other.denominator)?;
        let b = Self::new(other.numerator, self.denominator)?;
        Some(Self {
            numerator: a.numerator.checked_mul(b.numerator)?,
            denominator: a.denominator.checked_mul(b.denominator)?,
        })
    }

    /// One over it; nothing for zero.
    pub(crate) fn inverse(self) -> Option<Self> {
        match self.numerator.signum() {
            0 => None,
            sign => Self::new(sign * self.denominator, self.numerator.abs()),
        }
    }

    pub(crate) fn is_whole(self) -> bool {
        self.denominator == 1
    }

    /// The value, if it is whole and not too large.
    pub(crate) fn to_integer(self) -> Option<i64> {
        if self.is_whole() { i64::try_from(self.numerator).ok() } else { None }
    }

    pub(crate) fn is_negative(self) -> bool {
        self.numerator < 0
    }

    pub(crate) fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// Which is larger; nothing where that cannot be computed.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        let left = self.numerator.checked_mul(other.denominator)?;
        Some(left.cmp(&other.numerator.checked_mul(self.denominator)?))
    }

    /// The decimal without exponent and needless zeros; one that never ends is rounded to twelve places, halves away from
    /// zero.
    pub(crate) fn to_text(self) -> Option<String> {
        let (mut rest, mut places) = (self.denominator, [0u32; 2]);
        for (count, factor) in places.iter_mut().zip([2, 5]) {
            while rest % factor == 0 {
                (rest, *count) = (rest / factor, *count + 1);
            }
        }
        let ends = rest == 1;
        let scale = if ends { places[0].max(places[1]) } else { PLACES };
        let power = 10i128.checked_pow(scale)?;
        let magnitude = self.numerator.abs();
        let scaled = if ends {
            magnitude.checked_mul(power / self.denominator)?
        } else {
            let doubled = magnitude.checked_mul(power)?.checked_mul(2)?.checked_add(self.denominator)?;
            doubled / self.denominator.checked_mul(2)?
        };
        let (whole, part) = (scaled / power, scaled % power);
        let sign = if self.numerator < 0 && scaled != 0 { "-" } else { "" };
        if part == 0 {
            return Some(format!("{sign}{whole}"));
        }
        let part = format!("{part:0width$}", width = scale as usize);
        Some(format!("{sign}{whole}.{}", part.trim_end_matches('0')))
    }
}

fn common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        if let (Ok(x), Ok(y)) = (u64::try_from(a), u64::try_from(b)) {
            let (mut x, mut y) = (x, y);
            while y != 0 {
                (x, y) = (y, x % y);
            }
            return x.into();
        }
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn decimals_are_exact_and_have_one_text() {
        let text = |n, d| Ratio::new(n, d).and_then(Ratio::to_text).unwrap();
        assert_eq!(text(425, 100), "4.25");
        assert_eq!(text(-5, 10), "-0.5");
        assert_eq!(text(0, 10), "0");
        assert_eq!(text(1, 3), "0.333333333333");
        assert_eq!(text(2, 3), "0.666666666667");
        assert_eq!(text(1, 1 << 20).len(), 22);
        assert_eq!(Ratio::from_text("1.50").and_then(Ratio::to_text).unwrap(), "1.5");
        for wrong in ["", "-", ".5", "5.", "1e3", "+1", " 1"] {
            assert_eq!(Ratio::from_text(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn overflow_gives_nothing() {
        let large = Ratio::new(i128::MAX, 1).unwrap();
        assert_eq!(large.plus(large), None);
        assert_eq!(large.times(large), None);
        assert_eq!(Ratio::new(1, 0), None);
    }

    proptest! {
        #[test]
        fn text_is_read_back(digits in 0i64..i64::MAX, scale in 0usize..19, negative: bool) {
            let value = Ratio::from_digits(&digits.to_string(), scale).unwrap();
            let value = if negative { value.negated() } else { value };
            prop_assert_eq!(Ratio::from_text(&value.to_text().unwrap()), Some(value));
        }

        #[test]
        fn sums_and_products_agree_with_integers(a in -1000i64..1000, b in -1000i64..1000) {
            let (x, y) = (Ratio::whole(a), Ratio::whole(b));
            prop_assert_eq!(x.plus(y), Some(Ratio::whole(a + b)));
            prop_assert_eq!(x.times(y), Some(Ratio::whole(a * b)));
        }
    }
}
