//! Quotes and comments, where there are no holes.

use super::{Flavor, Scan, is_word};
use crate::diag::Diagnostic;

impl Scan<'_> {
    /// Whether the quote that starts here is that of `E'..'`.
    pub(super) fn has_escapes(&self) -> bool {
        let before = &self.text[..self.at];
        let mut chars = before.chars().rev();
        let is_e = matches!(chars.next(), Some('e' | 'E'));
        self.flavor == Flavor::Postgres && is_e && !chars.next().is_some_and(is_word)
    }

    /// Text or a name in quotes; a doubled quote is part of it.
    pub(super) fn quoted(&mut self, quote: char, has_escapes: bool) -> Result<(), Diagnostic> {
        let start = self.at;
        if self.is_statement_start {
            return Err(self.no_statement(start..start + 1));
        }
        self.word_before.clear();
        self.take(1);
        while let Some(ch) = self.peek() {
            match ch {
                '\\' if has_escapes => {
                    self.take(1);
                    let n = self.peek().map_or(0, char::len_utf8);
                    self.take(n);
                }
                ch if ch == quote => {
                    self.take(1);
                    if self.peek() != Some(quote) {
                        return Ok(());
                    }
                    self.take(1);
                }
                ch => self.inner(ch, "quotes")?,
            }
        }
        Err(self.problem(start..start + 1, "this quote is never closed"))
    }

    /// Everything up to an end.
    pub(super) fn until(&mut self, end: &str, open: &str) -> Result<(), Diagnostic> {
        let start = self.at;
        self.word_before.clear();
        self.take(1);
        while let Some(ch) = self.peek() {
            if self.text[self.at..].starts_with(end) {
                self.take(end.len());
                return Ok(());
            }
            self.inner(ch, "quotes")?;
        }
        Err(self.problem(start..start + 1, open))
    }

    pub(super) fn line_comment(&mut self) -> Result<(), Diagnostic> {
        while let Some(ch) = self.peek().filter(|&ch| ch != '\n') {
            self.inner(ch, "a comment")?;
        }
        Ok(())
    }

    pub(super) fn comment(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        let mut level = 0;
        while let Some(ch) = self.peek() {
            let rest = &self.text[self.at..];
            if rest.starts_with("/*") && (level == 0 || self.flavor == Flavor::Postgres) {
                level += 1;
                self.take(2);
            } else if rest.starts_with("*/") {
                level -= 1;
                self.take(2);
                if level == 0 {
                    return Ok(());
                }
            } else {
                self.inner(ch, "a comment")?;
            }
        }
        Err(self.problem(start..start + 2, "this comment is never closed"))
    }

    /// `$$text$$`, `$tag$text$tag$`, or the parameter `$1`.
    pub(super) fn dollar(&mut self) -> Result<(), Diagnostic> {
        let rest = &self.text[self.at..];
        let name = rest[1..].find(|ch| !is_word(ch)).map(|len| &rest[1..1 + len]);
        match name.filter(|name| rest[1 + name.len()..].starts_with('$')) {
            Some(name) if !name.starts_with(|ch: char| ch.is_ascii_digit()) => {
                let tag = format!("${name}$");
                self.take(tag.len() - 1);
                self.until(&tag, "this quote is never closed")
            }
            _ => Err(self.own_parameter(self.at)),
        }
    }

    /// A character inside quotes or a comment, where there are no holes.
    pub(super) fn inner(&mut self, ch: char, where_: &str) -> Result<(), Diagnostic> {
        let start = self.at;
        let rest = &self.text[start..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            self.brace_itself();
            return Ok(());
        }
        match ch {
            '{' | '}' => {
                let message = format!("a hole in {where_}");
                let hint = "a value is bound as a parameter and needs no quotes; write `{{` for a brace";
                Err(self.problem(start..start + 1, message).hint(hint))
            }
            '\0' => Err(self.problem(start..start + 1, "a NUL character")),
            ch => {
                self.take(ch.len_utf8());
                Ok(())
            }
        }
    }

    /// `{{` or `}}`: one brace.
    pub(super) fn brace_itself(&mut self) {
        self.take(1);
        self.at += 1;
    }
}
