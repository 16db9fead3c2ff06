//! Numbers as people write them: thousands apart, not more decimals than help, the same in a whole column.

use spanwise_reading::{Answer, AnswerInfo};

/// Most decimals that are shown. JSON and CSV have all of them.
const MAX_DECIMALS: usize = 4;
/// Digits from which thousands are set apart: years and house numbers are not.
const GROUPED_FROM: usize = 5;

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Style {
    is_grouped: bool,
    decimals: usize,
}

/// A number without an exponent: sign, digits before and after the point.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (sign, digits) = if let Some(rest) = text.strip_prefix('-') { ("-", rest) } else { ("", text) };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (!whole.is_empty() && are_digits(whole) && are_digits(fraction)).then_some((sign, whole, fraction))
}

impl Style {
    /// The style that suits all numbers of a column.
    pub(super) fn of<'a>(numbers: impl Iterator<Item = &'a str>) -> Self {
        let mut style = Self::default();
        for (_, whole, fraction) in numbers.filter_map(parts) {
            style.is_grouped |= whole.len() >= GROUPED_FROM;
            let (_, shown) = rounded(whole, fraction, fraction.len().min(MAX_DECIMALS));
            style.decimals = style.decimals.max(shown.trim_end_matches('0').len());
        }
        style
    }

    /// A number in this style; one with an exponent, or so small that nothing would be left of it, as it is.
    pub(super) fn write(self, text: &str) -> String {
        let Some((sign, whole, fraction)) = parts(text) else { return text.to_owned() };
        let (whole, fraction) = rounded(whole, fraction, self.decimals);
        let is_zero = |text: &str| text.bytes().all(|byte| byte == b'0');
        if is_zero(&whole) && is_zero(&fraction) {
            let was_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'-'));
            if !was_zero {
                return text.to_owned();
            }
        }
        let whole = if self.is_grouped { grouped(&whole) } else { whole };
        if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
    }
}

/// Rounds half away from zero to so many decimals, digit by digit: numbers may have more digits than machines.
fn rounded(whole: &str, fraction: &str, decimals: usize) -> (String, String) {
    let rest = fraction.get(decimals..).unwrap_or_default();
    let mut digits: Vec<u8> = whole.bytes().chain(fraction.bytes().take(decimals)).collect();
    digits.resize(whole.len() + decimals, b'0');
    if rest.bytes().next().is_some_and(|digit| digit >= b'5') {
        let mut at = digits.len();
        loop {
            let Some(before) = at.checked_sub(1) else {
                digits.insert(0, b'1');
                break;
            };
            at = before;
            if digits[at] < b'9' {
                digits[at] += 1;
                break;
            }
            digits[at] = b'0';
        }
    }
    let text: String = digits.into_iter().map(char::from).collect();
    let (whole, fraction) = text.split_at(text.len() - decimals);
    (whole.to_owned(), fraction.to_owned())
}

fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its thousands apart.
pub(super) fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// A number that is a whole answer, with its unit; `None` for any other answer, and for a number without a unit.
///
/// ```
/// use spanwise_reading::{Answer, AnswerInfo};
///
/// let info = AnswerInfo { units: vec!["km".to_owned()], ..AnswerInfo::default() };
/// assert_eq!(spanwise_render::with_unit(&Answer::from(12500u64), &info).as_deref(), Some("12,500 km"));
/// assert_eq!(spanwise_render::with_unit(&Answer::from("far"), &info), None);
/// ```
#[must_use]
pub fn with_unit(answer: &Answer, info: &AnswerInfo) -> Option<String> {
    let (Answer::Number(number), Some(unit)) = (answer, info.unit(0)) else { return None };
    let text = number.to_string();
    Some(format!("{} {unit}", Style::of([text.as_str()].into_iter()).write(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn column(numbers: &[&str]) -> Vec<String> {
        let style = Style::of(numbers.iter().copied());
        numbers.iter().map(|number| style.write(number)).collect()
    }

    #[test]
    fn a_column_has_one_style() {
        assert_eq!(column(&["1978", "2003"]), ["1978", "2003"]);
        assert_eq!(column(&["1240", "266807", "-12"]), ["1,240", "266,807", "-12"]);
        assert_eq!(column(&["1.5", "12.25", "3"]), ["1.50", "12.25", "3.00"]);
        assert_eq!(column(&["3.0", "4.0"]), ["3", "4"]);
        assert_eq!(column(&["5.728633333333333", "0.1"]), ["5.7286", "0.1000"]);
        assert_eq!(column(&["0.30000000000000004"]), ["0.3"]);
        assert_eq!(column(&["9.99999"]), ["10"]);
        assert_eq!(column(&["0.000012", "1.25"]), ["0.000012", "1.25"]);
        assert_eq!(column(&["1e400", "7", "0", "-0.0"]), ["1e400", "7", "0", "-0"]);
        let long = "99999999999999999999999.5";
        assert_eq!(column(&[long]), ["99,999,999,999,999,999,999,999.5"]);
    }

    proptest! {
        #[test]
        fn whole_numbers_keep_every_digit(number in any::<i64>()) {
            let text = number.to_string();
            let shown = Style::of([text.as_str()].into_iter()).write(&text);
            prop_assert_eq!(shown.replace(',', ""), text);
        }

        #[test]
        fn rounding_is_that_of_exact_arithmetic(whole in 0u64..100_000, fraction in "[0-9]{5,9}") {
            let text = format!("{whole}.{fraction}");
            let (rounded_whole, rounded_fraction) = rounded(&whole.to_string(), &fraction, 4);
            let scale = 10u128.pow(fraction.len() as u32 - 4);
            let all: u128 = format!("{whole}{fraction}").parse().unwrap();
            let expected = (all + scale / 2) / scale;
            let found: u128 = format!("{rounded_whole}{rounded_fraction}").parse().unwrap();
            prop_assert_eq!(found, expected, "{}", text);
        }
    }
}
