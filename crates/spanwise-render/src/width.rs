//! Widths of texts: in columns of a terminal, and as an estimate for proportional fonts.
//!
//! No font is read: averages over common fonts are good enough to keep labels apart.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns on a terminal.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// The text in at most `most` columns, with an ellipsis where something was cut.
pub(crate) fn fit(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for ch in text.chars() {
        // The variation selector for emoji makes the character before it one column wider.
        let width = if ch == '\u{fe0f}' { 1 } else { ch.width().unwrap_or(0) };
        if used + width + 1 > most {
            break;
        }
        used += width;
        out.push(ch);
    }
    if most > 0 {
        out.push('…');
    }
    out
}

/// The width of a text in thousandths of its font size, rather too wide than too narrow.
pub(crate) fn thousandths(text: &str) -> i64 {
    text.chars().map(|ch| glyph(ch) * 21 / 20).sum()
}

fn glyph(ch: char) -> i64 {
    match ch {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '`' => 300,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '\\' | ' ' | '"' => 390,
        'm' | 'M' | 'W' | '@' | '%' => 890,
        'w' => 760,
        'A'..='Z' => 690,
        'a'..='z' | '0'..='9' | '_' => 560,
        '→' | '…' => 900,
        ' '..='~' => 600,
        _ => match ch.width() {
            None | Some(0) => 0,
            Some(1) => 640,
            Some(_) => 1150,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_and_combining_characters_count_as_terminals_show_them() {
        assert_eq!(["ab", "中文", "e\u{301}", "😀", "👩\u{200d}🚀"].map(columns), [2, 4, 1, 2, 2]);
    }

    #[test]
    fn cutting_leaves_space_for_the_ellipsis() {
        assert_eq!(fit("border", 6), "border");
        assert_eq!(fit("borders", 6), "borde…");
        assert_eq!(fit("中文字", 4), "中…");
        assert_eq!(fit("abc", 0), "");
    }

    proptest! {
        #[test]
        fn a_cut_text_fits(text in "[a-z中😀é☺\u{fe0f}\u{301}\u{200d}]{0,20}", most in 0usize..24) {
            prop_assert!(columns(&fit(&text, most)) <= most);
        }
    }
}
