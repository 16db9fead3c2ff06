//! The notation of answers: names and numbers as the reference executor's Prolog writes them.

/// A name, quoted when it would not read back as one name.
///
/// Symbols outside ASCII are always quoted; no name of the domain has any.
pub(super) fn write_name(out: &mut String, name: &str) {
    if is_plain(name) {
        out.push_str(name);
        return;
    }
    out.push('\'');
    for ch in name.chars() {
        match ch {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ => out.push(ch),
        }
    }
    out.push('\'');
}

/// The name behind the text that [`write_name`] writes for it. A call stays as it is.
pub(super) fn plain_name(written: &str) -> String {
    let inner = written.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
    let Some(inner) = inner else { return written.to_owned() };
    let mut plain = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(ch) = chars.next() {
        plain.push(match (ch, ch == '\\') {
            (_, false) => ch,
            _ => match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(escaped) => escaped,
                None => '\\',
            },
        });
    }
    plain
}

/// Whether a name needs no quotes: a word that starts small, a run of symbols, or one of a few special names.
fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    let Some(first) = chars.next() else { return false };
    let is_word = first.is_alphabetic()
        && !first.is_uppercase()
        && chars.all(|ch| ch == '_' || ch.is_alphabetic() || ch.is_ascii_digit());
    let is_symbols = name != "."
        && !name.starts_with("/*")
        && name.bytes().all(|byte| b"#$&*+-./:<=>?@^~\\".contains(&byte));
    is_word || is_symbols || matches!(name, "!" | ";" | "{}")
}

/// A number of a program in its one spelling: `007` is `7`, `1.50` is `1.5`.
pub(super) fn write_number_literal(out: &mut String, literal: &str) {
    let (sign, digits) = literal.strip_prefix('-').map_or(("", literal), |digits| ("-", digits));
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let digits = digits.trim_start_matches('0');
        out.push_str(if digits.is_empty() { "" } else { sign });
        out.push_str(if digits.is_empty() { "0" } else { digits });
    } else {
        write_float(out, literal.parse().expect("the reader of programs calls only finite floats numbers"));
    }
}

/// A number with a decimal point, in the fewest digits that read back as the same number.
pub(super) fn write_float(out: &mut String, value: f64) {
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').expect("`{:e}` writes an exponent");
    let exponent: i32 = exponent.parse().expect("`{:e}` writes a whole exponent");
    let digits = mantissa.replace('.', "");
    if value.is_sign_negative() {
        out.push('-');
    }
    // Digits before the point; the notation turns scientific outside -4..=14.
    let whole = exponent + 1;
    if whole <= -4 || (whole > 15 && digits.len() <= whole as usize) {
        out.push_str(mantissa);
        if digits.len() == 1 {
            out.push_str(".0");
        }
        out.push_str(if exponent > 0 { "e+" } else { "e" });
        out.push_str(&exponent.to_string());
    } else if whole <= 0 {
        out.push_str("0.");
        out.extend(std::iter::repeat_n('0', whole.unsigned_abs() as usize));
        out.push_str(&digits);
    } else if digits.len() > whole as usize {
        out.push_str(&digits[..whole as usize]);
        out.push('.');
        out.push_str(&digits[whole as usize..]);
    } else {
        out.push_str(&digits);
        out.extend(std::iter::repeat_n('0', whole as usize - digits.len()));
        out.push_str(".0");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> String {
        let mut out = String::new();
        write_name(&mut out, name);
        out
    }

    fn numbered(literal: &str) -> String {
        let mut out = String::new();
        write_number_literal(&mut out, literal);
        out
    }

    #[test]
    fn names_are_quoted_only_when_they_must_be() {
        for plain in ["texas", "a1_B", "élan", "日本", "+", ":-", "\\", "...", "!", ";", "{}"] {
            assert_eq!(named(plain), plain);
        }
        for (name, quoted) in [
            ("new york", "'new york'"),
            ("Texas", "'Texas'"),
            ("", "''"),
            ("_a", "'_a'"),
            ("1a", "'1a'"),
            ("st. louis", "'st. louis'"),
            ("winston-salem", "'winston-salem'"),
            ("[]", "'[]'"),
            (".", "'.'"),
            ("/*", "'/*'"),
            (",", "','"),
            ("coeur d'alene", r"'coeur d\'alene'"),
            (r"a\b", r"'a\\b'"),
            ("a\n\tb", r"'a\n\tb'"),
        ] {
            assert_eq!(named(name), quoted);
            assert_eq!(plain_name(quoted), name);
        }
    }

    #[test]
    fn numbers_have_one_spelling() {
        for (literal, expected) in [
            ("007", "7"),
            ("-0", "0"),
            ("-5", "-5"),
            ("99999999999999999999999", "99999999999999999999999"),
            ("1.50", "1.5"),
            ("-0.0", "-0.0"),
            ("1e10", "10000000000.0"),
            ("1.0e14", "100000000000000.0"),
            ("1.0e15", "1.0e+15"),
            ("123456789012345680.0", "1.2345678901234568e+17"),
            ("1.5e300", "1.5e+300"),
            ("0.0001", "0.0001"),
            ("0.00012", "0.00012"),
            ("1.0e-5", "1.0e-5"),
            ("284413.25", "284413.25"),
        ] {
            assert_eq!(numbered(literal), expected);
        }
    }
}
