//! Escaping of texts for terminals, XML and LaTeX.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with control characters and direction marks written out as `\n`, `\u{1b}`, so that none of them reaches a
/// terminal or a picture.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    written_out(text, is_hidden, |ch, out| out.extend(ch.escape_default()))
}

/// The same for a text of several lines: line ends and tabs stay. Others are written out as JSON does, `\u001b`, so that a
/// JSON text keeps its value.
#[must_use]
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    let is_hidden = |ch| is_hidden(ch) && ch != '\n' && ch != '\t';
    written_out(text, is_hidden, |ch, out| {
        // All of them are in the first plane: four digits are enough.
        let _ = write!(out, "\\u{:04x}", ch as u32);
    })
}

fn written_out(
    text: &str,
    is_hidden: impl Fn(char) -> bool,
    write: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    if !text.chars().any(&is_hidden) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for ch in text.chars() {
        if is_hidden(ch) {
            write(ch, &mut out);
        } else {
            out.push(ch);
        }
    }
    out.into()
}

/// Characters that act instead of showing: controls, line separators, direction marks, what XML cannot hold.
fn is_hidden(ch: char) -> bool {
    ch.is_control()
        || matches!(ch, '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' | '\u{061c}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Text for XML and HTML, inside elements and attributes. Characters that act instead of showing are written out.
#[must_use]
pub fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in visible(text).chars() {
        match ch {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(ch),
        }
    }
    out
}

/// Text for LaTeX. Characters that pdfTeX's fonts may lack go through the macro `\other{code}{character}`.
pub(crate) fn latex(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for ch in visible(text).chars() {
        match ch {
            '\\' => out += "\\textbackslash{}",
            '{' | '}' | '$' | '&' | '#' | '%' | '_' => out.extend(['\\', ch]),
            '^' => out += "\\textasciicircum{}",
            '~' => out += "\\textasciitilde{}",
            '<' => out += "\\textless{}",
            '>' => out += "\\textgreater{}",
            '|' => out += "\\textbar{}",
            '"' => out += "\\textquotedbl{}",
            '\'' => out += "\\textquotesingle{}",
            '`' => out += "\\textasciigrave{}",
            // Brackets delimit trees, two hyphens would become a dash.
            '[' => out += "{[}",
            ']' => out += "{]}",
            '-' => out += "{-}",
            '→' => out += "$\\to$",
            '…' => out += "\\dots{}",
            ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{ff}' => out.push(ch),
            _ => {
                let _ = write!(out, "\\other{{{:04X}}}{{{ch}}}", ch as u32);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_would_act_on_a_terminal_is_written_out() {
        assert_eq!(visible("a\u{1b}[31m\tb\u{202e}c"), "a\\u{1b}[31m\\tb\\u{202e}c");
        assert!(matches!(visible("plain é 中 😀"), Cow::Borrowed(_)));
        let lines = "a\u{7}\r\n\tb\u{9b}2J\u{2066}\n";
        assert_eq!(visible_lines(lines), "a\\u0007\\u000d\n\tb\\u009b2J\\u2066\n");
        assert!(matches!(visible_lines("one\n\ttwo\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn special_characters_of_latex_become_commands() {
        assert_eq!(latex("50% of A_1 [x]"), "50\\% of A\\_1 {[}x{]}");
        assert_eq!(latex("é中"), "é\\other{4E2D}{中}");
    }

    proptest! {
        #[test]
        fn a_json_text_keeps_its_value_and_loses_what_acts(text in any::<String>()) {
            let json = serde_json::Value::String(text + "\u{9b}\u{7f}\u{202e}").to_string();
            let shown = visible_lines(&json);
            prop_assert!(!shown.chars().any(is_hidden));
            let read: serde_json::Value = serde_json::from_str(&shown).unwrap();
            prop_assert_eq!(read, serde_json::from_str::<serde_json::Value>(&json).unwrap());
        }

        #[test]
        fn xml_holds_any_text_and_gives_it_back(text in any::<String>()) {
            let document = format!("<a b=\"{0}\">{0}</a>", xml(&text));
            let parsed = roxmltree::Document::parse(&document).unwrap();
            let shown = visible(&text);
            prop_assert_eq!(parsed.root_element().text().unwrap_or_default(), &*shown);
            prop_assert_eq!(parsed.root_element().attribute("b").unwrap(), &*shown);
        }

        #[test]
        fn latex_has_no_bare_special_character(text in any::<String>()) {
            let out = latex(&text);
            let without = out.replace("\\{", "").replace("\\}", "").replace("\\_", "").replace("\\%", "");
            prop_assert_eq!(without.matches('{').count(), without.matches('}').count());
            prop_assert!(!without.replace("\\&", "").replace("\\#", "").contains(['%', '&', '#', '_', '^', '~']));
        }
    }
}
