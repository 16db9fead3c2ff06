//! Errors that point: a range of bytes in some source, what is wrong there, and how to mend it.

use std::fmt::Write as _;
use std::ops::Range;

/// Longest piece of a source line that a rendered diagnostic shows, in characters.
const WINDOW: usize = 96;

/// One thing wrong with a source text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The bytes at fault.
    pub range: Range<usize>,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// How to mend it, where we know.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without a hint.
    pub fn new(range: Range<usize>, message: impl Into<String>) -> Self {
        Self { range, message: message.into(), hint: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Line and column, both from 1, columns in characters.
    #[must_use]
    pub fn position(&self, source: &str) -> (usize, usize) {
        let at = floor_char(source, self.range.start);
        let line_start = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = source[..at].bytes().filter(|&byte| byte == b'\n').count() + 1;
        (line, source[line_start..at].chars().count() + 1)
    }

    /// The message with its place, and the hint, on one line: `column 7: this quote is never closed`.
    #[must_use]
    pub fn one_line(&self, source: &str) -> String {
        let place = match self.position(source) {
            (1, column) => format!("column {column}"),
            (line, column) => format!("line {line}, column {column}"),
        };
        let hint = self.hint.as_ref().map_or(String::new(), |hint| format!(" (hint: {hint})"));
        format!("{place}: {}{hint}", self.message)
    }

    /// The message with file, line, column, the source line and a caret. Long lines are shown around the
    /// caret only, so a megabyte on one line still gives a short message.
    #[must_use]
    pub fn render(&self, name: &str, source: &str) -> String {
        let (line, column) = self.position(source);
        let at = floor_char(source, self.range.start);
        let line_start = source[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = source[at..].find('\n').map_or(source.len(), |newline| at + newline);
        // Only a window of characters on each side is ever looked at.
        let before: Vec<char> =
            source[line_start..at].chars().rev().take(WINDOW / 2).map(printable).collect();
        let after: Vec<char> = source[at..line_end].chars().take(WINDOW / 2).map(printable).collect();
        let cut_left = source[line_start..at].chars().nth(WINDOW / 2).is_some();
        let cut_right = source[at..line_end].chars().nth(WINDOW / 2).is_some();
        let end = floor_char(source, self.range.end.clamp(at, line_end));
        let width = source[at..end].chars().take(WINDOW / 2).count().max(1);

        let number = line.to_string();
        let pad = " ".repeat(number.len());
        let mut out =
            format!("error: {}\n{pad}--> {name}:{line}:{column}\n{pad} |\n{number} | ", self.message);
        let left = if cut_left { "..." } else { "" };
        out.push_str(left);
        out.extend(before.iter().rev());
        out.extend(after.iter());
        if cut_right {
            out.push_str("...");
        }
        let _ = write!(out, "\n{pad} | {}{}", " ".repeat(left.len() + before.len()), "^".repeat(width));
        if let Some(hint) = &self.hint {
            let _ = write!(out, "\n{pad} = hint: {hint}");
        }
        out
    }
}

/// Tabs and control characters as one column, so that the caret stands where it should.
fn printable(ch: char) -> char {
    if ch.is_control() { ' ' } else { ch }
}

fn floor_char(source: &str, at: usize) -> usize {
    source.floor_char_boundary(at.min(source.len()))
}

/// The candidate closest to `word`, when close enough to be a likely typo. Of very many candidates none is
/// suggested.
///
/// Cost: `O(|word| * |candidate|)` per candidate; meant for error paths only.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Beyond this length nobody typed it by hand.
    const LONGEST: usize = 200;
    // With so many names there is a close one for anything, and looking at all of them for each of many
    // mistakes would take minutes.
    const MOST: usize = 2_000;
    let word: String = word.chars().take(LONGEST).map(|ch| ch.to_ascii_lowercase()).collect();
    let n_chars = word.chars().count();
    let limit = (n_chars / 3).max(1).min(n_chars.saturating_sub(1));
    let mut best: Option<(usize, &str)> = None;
    for (n, candidate) in candidates.into_iter().enumerate() {
        if n == MOST {
            return None;
        }
        // Names whose lengths differ by more than the limit are further apart than it.
        if candidate.len() > LONGEST || candidate.chars().count().abs_diff(n_chars) > limit {
            continue;
        }
        // Insertions, deletions, replacements and swaps of neighbours, whatever the case of the letters.
        let distance = strsim::osa_distance(&word, &candidate.to_ascii_lowercase());
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn render_points_with_a_caret() {
        let source = "a = 1\nbb = \"Stat -> City\"\n";
        let at = source.find("Stat").unwrap();
        let shown = Diagnostic::new(at..at + 4, "unknown type `Stat`").hint("did you mean `State`?");
        expect_test::expect![[r#"
            error: unknown type `Stat`
             --> d.toml:2:7
              |
            2 | bb = "Stat -> City"
              |       ^^^^
              = hint: did you mean `State`?"#]]
        .assert_eq(&shown.render("d.toml", source));
    }

    #[test]
    fn a_megabyte_line_gives_a_short_message() {
        let source = "x".repeat(1 << 20);
        let shown = Diagnostic::new(500_000..500_001, "bad").render("f", &source);
        assert!(shown.len() < 500, "{}", shown.len());
        assert!(shown.contains("f:1:500001"));
    }

    #[test]
    fn positions_outside_the_source_or_inside_a_character_do_not_panic() {
        let source = "é";
        for start in 0..5 {
            let _ = Diagnostic::new(start..9, "bad").render("f", source);
        }
    }

    #[test]
    fn closest_finds_typos_and_nothing_else() {
        assert_eq!(closest("lagest", ["largest", "smallest"]), Some("largest"));
        assert_eq!(closest("brign", ["bring", "begin"]), Some("bring"));
        assert_eq!(closest("river", ["state", "city"]), None);
        assert_eq!(closest("Z", ["A"]), None);
        assert_eq!(closest("", ["A"]), None);
    }

    #[test]
    fn of_very_many_candidates_none_is_suggested() {
        let many: Vec<String> = (0..2_001).map(|n| format!("name{n}")).collect();
        assert_eq!(closest("nmae7", many.iter().map(String::as_str)), None);
        assert_eq!(closest("nmae7", many[..2_000].iter().map(String::as_str)), Some("name7"));
    }

    #[test]
    fn one_line_names_the_place_and_the_hint() {
        assert_eq!(Diagnostic::new(2..3, "bad").one_line("a b"), "column 3: bad");
        assert_eq!(
            Diagnostic::new(2..3, "bad").hint("mend").one_line("a\nb"),
            "line 2, column 1: bad (hint: mend)"
        );
    }
}
