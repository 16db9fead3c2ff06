//! Folding: the form of a word without case and accents, by which spellings of the same word are equal.

use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// The word in lower case, without accents, with plain letters for ligatures and plain apostrophes.
///
/// Letters of scripts without accents stay as they are. A word of accents only is not changed. Cost: linear; a plain
/// word in lower case is not copied.
///
/// ```
/// use spanwise_lang::matching::fold;
///
/// assert_eq!(fold("Beyoncé"), "beyonce");
/// assert_eq!(fold("Straße"), "strasse");
/// assert_eq!(fold("o\u{2019}brien"), "o'brien");
/// ```
#[must_use]
pub fn fold(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return match word.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(word.to_ascii_lowercase()),
            false => Cow::Borrowed(word),
        };
    }
    // Letter by letter, so that the result does not depend on the neighbours (the Greek final sigma would).
    let lower = word.chars().flat_map(char::to_lowercase);
    let mut plain = String::with_capacity(word.len());
    for ch in lower.nfd().filter(|&ch| !is_accent(ch)) {
        match plain_letters(ch) {
            Some(letters) => plain.push_str(letters),
            None => plain.push(ch),
        }
    }
    // Scripts whose letters were taken apart and are no accents, such as Hangul, are put together again.
    let folded: String = plain.nfc().collect();
    match folded.is_empty() {
        true => Cow::Borrowed(word),
        false => Cow::Owned(folded),
    }
}

/// Accents above and below letters. Vowel signs of other scripts are no accents.
fn is_accent(ch: char) -> bool {
    matches!(ch, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}')
}

/// Letters that no decomposition takes apart.
fn plain_letters(ch: char) -> Option<&'static str> {
    Some(match ch {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'þ' => "th",
        'ħ' => "h",
        'ı' => "i",
        'ŧ' => "t",
        'ŋ' => "n",
        'ſ' => "s",
        'ĳ' => "ij",
        'ς' => "σ",
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2bc}' | '\u{2b9}' | '\u{2032}' | '`' | '´'
        | '\u{ff07}' => "'",
        _ => return None,
    })
}

/// Whether a token is a mark that people leave out or put in without another meaning: `St. Louis`, `O'Brien`.
/// Marks with a meaning of their own (`+`, `#`, `%`, `<`) are words.
pub(super) fn is_mark(token: &str) -> bool {
    let mut chars = token.chars();
    chars.next().is_some_and(is_mark_char) && chars.next().is_none()
}

fn is_mark_char(ch: char) -> bool {
    matches!(ch, '.' | ',' | '\'' | '"' | '-' | '!' | '?' | ':' | ';' | '(' | ')' | '/' | '&' | '`' | '´')
        || matches!(ch, '\u{2010}'..='\u{2027}' | '\u{2032}' | '\u{b7}' | '¡' | '¿' | '«' | '»')
}

/// Adds the characters of a folded word that are no marks: words are compared by them where spaces differ.
pub(super) fn push_letters(letters: &mut String, folded: &str) {
    letters.extend(folded.chars().filter(|&ch| !is_mark_char(ch)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn case_accents_and_ligatures_are_folded() {
        let pairs = [
            ("ÉCOLE", "ecole"),
            ("Łódź", "lodz"),
            ("smørrebrød", "smorrebrod"),
            ("cafe\u{301}", "cafe"),
            ("İstanbul", "istanbul"),
            ("þór", "thor"),
            ("Ὀδυσσεύς", "οδυσσευσ"),
            ("Ёлка", "елка"),
            ("서울", "서울"),
            ("कि", "कि"),
            ("rock\u{2019}n", "rock'n"),
            ("\u{301}", "\u{301}"),
            ("ab1", "ab1"),
        ];
        for (word, folded) in pairs {
            assert_eq!(fold(word), folded, "{word}");
        }
    }

    #[test]
    fn marks_without_a_meaning_are_told_from_signs_and_words() {
        assert!([".", "'", "\u{2019}", "-", "\u{2013}", "&"].into_iter().all(is_mark));
        assert!(["+", "#", "%", "a", "..", "", "<", "é"].into_iter().all(|token| !is_mark(token)));
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing_more_and_leaves_no_word_empty(word in "\\PC{1,12}") {
            let once = fold(&word).into_owned();
            prop_assert!(!once.is_empty());
            prop_assert_eq!(fold(&once).into_owned(), once.clone());
            let lower = word.to_lowercase();
            prop_assert_eq!(fold(&lower), fold(&word));
        }
    }
}
