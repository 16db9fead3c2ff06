//! Reads the text of a fragment: its holes, its quotes, and what it must not contain.
//!
//! This is no parser of SQL. It knows enough to tell text in quotes and comments from the rest, so that a hole can never
//! stand where a value would become part of a text, and no second statement can follow the first.

mod quotes;

use super::fragment::{Fragment, Hole, Piece, Yields};
use crate::diag::Diagnostic;
use crate::domain::file::At;
use std::ops::Range;

/// The notation of quotes and parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flavor {
    /// `[name]` and `` `name` `` are quoted names; `?`, `:name`, `@name` and `$name` are parameters.
    Sqlite,
    /// `$$text$$` and `E'text'` are texts; `$1` is a parameter; comments nest.
    Postgres,
}

/// What kind of holes a fragment can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holes {
    /// Arguments of a constant: `{1}`.
    Arguments,
    /// Columns of the form of a class: `{name}`.
    Columns,
    /// None.
    No,
}

/// Words that start a statement which does not only read.
const WRITES: &[&str] = &[
    "insert", "update", "delete", "merge", "drop", "create", "alter", "attach", "detach", "pragma",
    "truncate", "copy", "vacuum", "grant", "revoke", "call", "do", "set", "begin", "commit", "rollback",
    "explain", "reindex", "analyze",
];
/// Words that start a statement which reads.
const READS: &[&str] = &["select", "values", "with"];

/// A fragment without holes: the query of a table.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_query(text: &At<String>, flavor: Flavor) -> Result<Fragment, Diagnostic> {
    read(text, Yields::Keys, Holes::No, flavor)
}

/// Reads a fragment.
///
/// # Errors
/// What is wrong with it, with the place.
pub(crate) fn read(
    text: &At<String>,
    yields: Yields,
    holes: Holes,
    flavor: Flavor,
) -> Result<Fragment, Diagnostic> {
    // With escapes in the file, places in the text are not places in the file.
    let is_exact = text.range.len() == text.value.len();
    let base = text.range.clone();
    let place = Place { base, is_exact };
    let scan = Scan {
        text: &text.value,
        at: 0,
        place,
        flavor,
        holes,
        depth: Vec::new(),
        inside: None,
        pieces: Vec::new(),
        plain: String::new(),
        plain_at: 0,
        is_ordered: false,
        word_before: String::new(),
        is_statement_start: true,
    };
    let (pieces, is_ordered) = scan.all()?;
    Ok(Fragment { yields, pieces, range: text.range.clone(), is_ordered })
}

/// Where the bytes of a text are in the file.
struct Place {
    base: Range<usize>,
    is_exact: bool,
}

impl Place {
    fn of(&self, range: Range<usize>) -> Range<usize> {
        if self.is_exact {
            self.base.start + range.start..self.base.start + range.end
        } else {
            self.base.clone()
        }
    }
}

/// A condition that is open: its slot, whether it must be filled, where it starts, the pieces before it, and how many
/// parentheses were open there.
struct Open {
    slot: usize,
    is_given: bool,
    start: usize,
    before: Vec<Piece>,
    depth: usize,
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    place: Place,
    flavor: Flavor,
    holes: Holes,
    /// The places of open parentheses.
    depth: Vec<usize>,
    inside: Option<Open>,
    pieces: Vec<Piece>,
    plain: String,
    plain_at: usize,
    is_ordered: bool,
    word_before: String,
    /// Whether the next word starts a statement.
    is_statement_start: bool,
}

impl Scan<'_> {
    fn all(mut self) -> Result<(Vec<Piece>, bool), Diagnostic> {
        if self.text.trim().is_empty() {
            return Err(self.problem(0..0, "an empty `sql`").hint("write one `select`"));
        }
        while let Some(ch) = self.peek() {
            self.step(ch)?;
        }
        if let Some(open) = &self.inside {
            return Err(self.problem(open.start..open.start + 1, "this brace is never closed"));
        }
        if let Some(&at) = self.depth.first() {
            return Err(self.problem(at..at + 1, "this parenthesis is never closed"));
        }
        if self.is_statement_start {
            return Err(self
                .problem(0..self.text.len(), "there is no statement here")
                .hint("write one `select`"));
        }
        self.flush();
        Ok((self.pieces, self.is_ordered))
    }

    fn step(&mut self, ch: char) -> Result<(), Diagnostic> {
        let start = self.at;
        let rest = &self.text[start..];
        match ch {
            '\'' => self.quoted('\'', self.has_escapes()),
            '"' => self.quoted('"', false),
            '`' if self.flavor == Flavor::Sqlite => self.quoted('`', false),
            '[' if self.flavor == Flavor::Sqlite => self.until("]", "this bracket is never closed"),
            '-' if rest.starts_with("--") => self.line_comment(),
            '/' if rest.starts_with("/*") => self.comment(),
            '$' if self.flavor == Flavor::Postgres => self.dollar(),
            '$' | '?' | '@' if self.flavor == Flavor::Sqlite => Err(self.own_parameter(start)),
            ':' if self.flavor == Flavor::Sqlite && !rest.starts_with("::") => Err(self.own_parameter(start)),
            '{' => self.brace(),
            '}' => self.closing_brace(),
            ';' => Err(self
                .problem(start..start + 1, "a semicolon outside quotes: `sql` is one statement")
                .hint("leave it out; nothing follows the statement")),
            '(' => {
                self.depth.push(start);
                self.take(1);
                self.is_statement_start = false;
                self.word_before.clear();
                self.check_subquery()
            }
            ')' => {
                let least = self.inside.as_ref().map_or(0, |open| open.depth);
                if self.depth.len() <= least {
                    return Err(self.problem(start..start + 1, "this parenthesis was never opened"));
                }
                self.depth.pop();
                self.take(1);
                self.word_before.clear();
                Ok(())
            }
            ch if is_word(ch) => self.word(),
            '\0' => Err(self.problem(start..start + 1, "a NUL character")),
            ch => {
                if !ch.is_whitespace() {
                    if self.is_statement_start {
                        return Err(self.no_statement(start..start + ch.len_utf8()));
                    }
                    self.word_before.clear();
                }
                self.take(ch.len_utf8());
                Ok(())
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Copies so many bytes.
    fn take(&mut self, n: usize) {
        if self.plain.is_empty() {
            self.plain_at = self.at;
        }
        self.plain.push_str(&self.text[self.at..self.at + n]);
        self.at += n;
    }

    /// Ends the text so far.
    fn flush(&mut self) {
        if !self.plain.is_empty() {
            let at = self.place.of(self.plain_at..self.plain_at).start;
            self.pieces.push(Piece::Text(std::mem::take(&mut self.plain), at));
        }
    }

    fn problem(&self, range: Range<usize>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.place.of(range), message)
    }

    fn own_parameter(&self, start: usize) -> Diagnostic {
        let len = self.text[start + 1..].find(|ch| !is_word(ch)).unwrap_or(self.text.len() - start - 1) + 1;
        let text = &self.text[start..start + len];
        self.problem(start..start + len, format!("`{text}` would be a parameter of its own"))
            .hint("write holes for arguments, such as `{1}` or `{2:value}`; they are bound")
    }

    fn no_statement(&self, range: Range<usize>) -> Diagnostic {
        self.problem(range, "`sql` is one `select`, `values` or `with` statement")
    }

    fn word(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        let len = self.text[start..].find(|ch| !is_word(ch)).unwrap_or(self.text.len() - start);
        let word = self.text[start..start + len].to_lowercase();
        if std::mem::take(&mut self.is_statement_start) && !READS.contains(&word.as_str()) {
            let problem = self.no_statement(start..start + len);
            let is_write = WRITES.contains(&word.as_str());
            return Err(if is_write { problem.hint("a domain only reads its database") } else { problem });
        }
        let is_by = word == "by" && self.word_before == "order";
        self.is_ordered |= is_by && self.depth.is_empty();
        self.word_before = word;
        self.take(len);
        Ok(())
    }

    /// Right behind a parenthesis: a statement that writes cannot start here.
    fn check_subquery(&self) -> Result<(), Diagnostic> {
        let rest = &self.text[self.at..];
        let start = self.at + rest.len() - rest.trim_start().len();
        let len = self.text[start..].find(|ch| !is_word(ch)).unwrap_or(self.text.len() - start);
        let word = self.text[start..start + len].to_lowercase();
        let follows = self.text[start + len..].trim_start();
        // `(do, re)` may be a list of columns.
        let is_statement = follows.starts_with(|ch: char| is_word(ch) || ch == '"');
        if is_statement && WRITES[..6].contains(&word.as_str()) {
            let problem = self.problem(start..start + len, format!("`{word}` does not only read"));
            return Err(problem.hint("a domain only reads its database"));
        }
        Ok(())
    }

    fn closing_brace(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        let Some(open) = self.inside.take() else {
            if self.text[start..].starts_with("}}") {
                self.brace_itself();
                return Ok(());
            }
            let problem = self.problem(start..start + 1, "this brace closes nothing");
            return Err(problem.hint("write `}}` for a brace"));
        };
        if self.depth.len() != open.depth {
            let at = self.depth.last().copied().unwrap_or(start);
            return Err(self.problem(at..at + 1, "this parenthesis is never closed within its braces"));
        }
        self.flush();
        self.at += 1;
        let pieces = std::mem::replace(&mut self.pieces, open.before);
        let range = self.place.of(open.start..self.at);
        self.pieces.push(Piece::If { slot: open.slot, is_given: open.is_given, pieces, range });
        Ok(())
    }

    /// A hole, a condition, or `{{`.
    fn brace(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        if self.text[start..].starts_with("{{") {
            self.brace_itself();
            return Ok(());
        }
        if self.is_statement_start {
            return Err(self.no_statement(start..start + 1));
        }
        self.word_before.clear();
        let rest = &self.text[start + 1..];
        if rest.starts_with(['?', '!']) {
            return self.condition();
        }
        let Some(len) = rest.find(['{', '}']).filter(|&len| rest[len..].starts_with('}')) else {
            return Err(self
                .problem(start..start + 1, "this brace is never closed")
                .hint("write `{{` for a brace"));
        };
        let range = start..start + len + 2;
        let hole = self.hole(rest[..len].trim(), range.clone())?;
        self.flush();
        self.at = range.end;
        self.pieces.push(Piece::Hole(hole, self.place.of(range)));
        Ok(())
    }

    fn hole(&self, text: &str, range: Range<usize>) -> Result<Hole, Diagnostic> {
        match self.holes {
            Holes::Arguments => {
                let (slot, part) = match text.split_once(':') {
                    Some((slot, part)) => (slot.trim(), Some(part.trim())),
                    None => (text, None),
                };
                let slot = slot.parse::<usize>().ok().and_then(|slot| slot.checked_sub(1));
                match (slot, part.is_none_or(|part| !part.is_empty())) {
                    (Some(slot), true) => Ok(Hole::Argument { slot, part: part.map(str::to_owned) }),
                    _ => {
                        let problem = self.problem(range, format!("`{{{text}}}` is no hole"));
                        Err(problem.hint("holes are `{1}`, `{2:value}` and so on; write `{{` for a brace"))
                    }
                }
            }
            Holes::Columns if !text.is_empty() => Ok(Hole::Column(text.to_owned())),
            Holes::Columns => {
                Err(self.problem(range, "a hole without a name").hint("name a column, as in `{name}`"))
            }
            Holes::No => {
                let problem = self.problem(range, "there is nothing that could fill a hole here");
                Err(problem.hint("write `{{` for a brace"))
            }
        }
    }

    /// `{?2: ..}` or `{!2: ..}`.
    fn condition(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        let rest = &self.text[start + 1..];
        let head = rest.find([':', '{', '}']).filter(|&at| rest[at..].starts_with(':'));
        let slot = head
            .and_then(|len| rest[1..len].trim().parse::<usize>().ok())
            .and_then(|slot| slot.checked_sub(1));
        let (Some(len), Some(slot), Holes::Arguments) = (head, slot, self.holes) else {
            let end = start + 2;
            let problem = self.problem(start..end, "this is no condition");
            return Err(
                problem.hint("write `{?2: ..}` for text that is there only if the second slot is filled")
            );
        };
        if self.inside.is_some() {
            let problem = self.problem(start..start + 1, "a condition inside another");
            return Err(problem.hint("close the first one before"));
        }
        let is_given = rest.starts_with('?');
        self.flush();
        self.at = start + 1 + len + 1;
        let before = std::mem::take(&mut self.pieces);
        self.inside = Some(Open { slot, is_given, start, before, depth: self.depth.len() });
        Ok(())
    }
}

/// Whether the first column of a `select` is called `key`.
pub(crate) fn starts_with_key(text: &str) -> bool {
    let mut depth = 0usize;
    let mut quote = None;
    let mut end = text.len();
    let lower = text.to_lowercase();
    for (at, ch) in lower.char_indices() {
        match (quote, ch) {
            (Some(open), ch) if ch == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(ch),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                end = at;
                break;
            }
            (None, _) if depth == 0 && lower[at..].starts_with(" from ") => {
                end = at;
                break;
            }
            (None, _) => {}
        }
    }
    // A `with` has its columns later: the database will tell.
    let first = lower[..end].trim_end().trim_end_matches('"');
    lower.trim_start().starts_with("with")
        || first.ends_with("key") && !first[..first.len() - 3].ends_with(is_word)
}

fn is_word(ch: char) -> bool {
    ch == '_' || ch.is_alphanumeric()
}
