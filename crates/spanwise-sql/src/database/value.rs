//! Parameters and cells that both databases treat alike.

use super::DatabaseError;
use spanwise_reading::Answer;

/// How a blob is shown.
pub(super) fn bytes(length: usize) -> Answer {
    Answer::Text(format!("<{length} byte{}>", if length == 1 { "" } else { "s" }))
}

/// Checks that a parameter is a number: a sign, digits with a point, an exponent. No `NaN`, no `0x10`.
pub(super) fn check_decimal(number: usize, digits: &str) -> Result<(), DatabaseError> {
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = are_digits(whole)
        && are_digits(fraction)
        && are_digits(exponent)
        && !(whole.is_empty() && fraction.is_empty())
        && !exponent.is_empty();
    if is_number {
        return Ok(());
    }
    Err(DatabaseError::Parameter { number, message: format!("'{}' is not a number", shown(digits)) })
}

/// The nearest double, for a database without decimals.
#[cfg(feature = "sqlite")]
pub(super) fn double(number: usize, digits: &str) -> Result<f64, DatabaseError> {
    check_decimal(number, digits)?;
    let value: Option<f64> = digits.parse().ok().filter(|value: &f64| value.is_finite());
    value.ok_or_else(|| DatabaseError::Parameter {
        number,
        message: format!("the number {} is too large for SQLite", shown(digits)),
    })
}

/// The beginning of a value, for a message.
fn shown(text: &str) -> String {
    let mut beginning: String = text.chars().take(40).collect();
    if beginning.len() < text.len() {
        beginning.push('…');
    }
    beginning
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_digits_with_a_sign_a_point_and_an_exponent() {
        for digits in ["0", "-1.50", "+.5", "5.", "1e9", "1.5E-3", "99999999999999999999999999"] {
            assert_eq!(check_decimal(1, digits), Ok(()), "{digits}");
        }
        for digits in
            ["", "-", ".", "e5", "1e", "1e+", "NaN", "inf", "0x10", "1_000", "1 ", "--1", "1.2.3", "１"]
        {
            assert!(
                matches!(check_decimal(3, digits), Err(DatabaseError::Parameter { number: 3, .. })),
                "{digits}"
            );
        }
    }

    #[test]
    fn blobs_are_shown_by_their_length() {
        assert_eq!(bytes(0), Answer::from("<0 bytes>"));
        assert_eq!(bytes(1), Answer::from("<1 byte>"));
        assert_eq!(bytes(12), Answer::from("<12 bytes>"));
    }
}
