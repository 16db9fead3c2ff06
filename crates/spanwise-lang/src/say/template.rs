//! Templates: text with holes for the arguments of a constant, and with parts that may be left out.

use crate::diag::Diagnostic;
use crate::domain::file::At;
use std::ops::Range;

/// A part of a template.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Words.
    Text(String),
    /// The place of an argument: the number of its slot, from 0.
    Hole(usize),
    /// A cell of the row that the member of a class has, `{name}`.
    Column(String),
    /// What may be left out, `[the]`. A part with a hole is said exactly where the argument is there.
    Optional(Vec<Part>),
}

/// How something is said.
///
/// ```
/// use spanwise_lang::say::{Part, Template};
///
/// let template = Template::parse("[the] {1} longer than {2}").map_err(|problem| problem.message)?;
/// assert_eq!(template.holes(), [0, 1]);
/// assert!(matches!(&template.parts[0], Part::Optional(_)));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Template {
    /// Its parts, in order.
    pub parts: Vec<Part>,
}

impl Template {
    /// Parses a template that is in no file.
    ///
    /// # Errors
    /// What is wrong, with its position in the text.
    pub fn parse(text: &str) -> Result<Self, Diagnostic> {
        Self::parse_at(&At { value: text.to_owned(), range: 0..text.len() })
    }

    /// Parses a template: `{}` is the next hole, `{2}` the second one, `{name}` a column, `[..]` can be left out. Two
    /// braces or brackets are one that is meant as such.
    ///
    /// # Errors
    /// A brace or bracket that is not closed, brackets inside brackets, a hole that occurs twice.
    pub fn parse_at(text: &At<String>) -> Result<Self, Diagnostic> {
        let mut parser = Parser { text, parts: Vec::new(), open: None, next: 0 };
        parser.run()?;
        let template = Self { parts: parser.parts };
        let mut holes = template.holes();
        holes.sort_unstable();
        if let Some(twice) = holes.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("the hole `{{{}}}` occurs twice", twice[0] + 1);
            return Err(Diagnostic::new(text.range.clone(), message));
        }
        Ok(template)
    }

    /// The numbers of its holes in order.
    #[must_use]
    pub fn holes(&self) -> Vec<usize> {
        holes(&self.parts)
    }

    /// The columns that it names.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        columns(&self.parts)
    }

    /// Whether it has no part at all that is always said.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Text(text) => text.trim().is_empty(),
            Part::Optional(parts) => holes(parts).is_empty(),
            Part::Hole(_) | Part::Column(_) => false,
        })
    }

    /// The template for a use of the constant with some slots only: `place` gives the number of an argument for that of its
    /// slot. Optional parts with an absent argument go; `None` if one outside of them is absent, or an argument has no hole.
    #[must_use]
    pub fn for_slots(&self, n_args: usize, place: &dyn Fn(usize) -> Place) -> Option<Self> {
        let parts = placed(&self.parts, place, false)?;
        let template = Self { parts };
        let holes = template.holes();
        (0..n_args).all(|arg| holes.contains(&arg)).then_some(template)
    }

    /// The template with the cells of a row; `None` where one of them is empty.
    #[must_use]
    pub fn filled(&self, cell: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        Some(Self { parts: filled(&self.parts, cell)? })
    }
}

/// Where the argument of a slot is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// It is the argument with this number.
    Argument(usize),
    /// It was left out.
    Absent,
    /// It is said elsewhere: the term lacks it.
    Lacking,
}

fn holes(parts: &[Part]) -> Vec<usize> {
    let of = |part: &Part| match part {
        Part::Hole(n) => vec![*n],
        Part::Optional(parts) => holes(parts),
        Part::Text(_) | Part::Column(_) => Vec::new(),
    };
    parts.iter().flat_map(of).collect()
}

fn columns(parts: &[Part]) -> Vec<&str> {
    let mut found = Vec::new();
    for part in parts {
        match part {
            Part::Column(name) => found.push(name.as_str()),
            Part::Optional(parts) => found.extend(columns(parts)),
            Part::Text(_) | Part::Hole(_) => {}
        }
    }
    found
}

/// The parts for some slots; `None` if one of them cannot be said. Inside brackets, that takes them out.
fn placed(parts: &[Part], place: &dyn Fn(usize) -> Place, in_brackets: bool) -> Option<Vec<Part>> {
    let mut kept = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Hole(slot) => match place(*slot) {
                Place::Argument(arg) => kept.push(Part::Hole(arg)),
                Place::Lacking if !in_brackets => {}
                Place::Absent | Place::Lacking => return None,
            },
            Part::Optional(inner) => {
                if let Some(inner) = placed(inner, place, true) {
                    kept.push(Part::Optional(inner));
                }
            }
            other => kept.push(other.clone()),
        }
    }
    Some(kept)
}

fn filled(parts: &[Part], cell: &dyn Fn(&str) -> Option<String>) -> Option<Vec<Part>> {
    let one = |part: &Part| match part {
        Part::Column(name) => cell(name).map(Part::Text),
        Part::Optional(inner) => Some(Part::Optional(filled(inner, cell).unwrap_or_default())),
        other => Some(other.clone()),
    };
    parts.iter().map(one).collect()
}

struct Parser<'a> {
    text: &'a At<String>,
    parts: Vec<Part>,
    /// The parts outside of an open bracket, and where that is.
    open: Option<(Vec<Part>, usize)>,
    next: usize,
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), Diagnostic> {
        let text = self.text.value.as_str();
        let mut at = 0;
        while let Some(ch) = text[at..].chars().next() {
            let is_double = "{}[]".contains(ch) && text[at + 1..].starts_with(ch);
            if is_double && !(ch == '{' && text[at + 1..].starts_with("{}")) {
                self.push_char(ch);
                at += 2;
                continue;
            }
            match ch {
                '{' => at = self.hole(at)?,
                '}' => return Err(self.wrong(at..at + 1, "this brace is never opened; `}}` is a brace")),
                '[' => {
                    if self.open.is_some() {
                        return Err(self.wrong(at..at + 1, "brackets inside brackets; `[[` is a bracket"));
                    }
                    self.open = Some((std::mem::take(&mut self.parts), at));
                    at += 1;
                }
                ']' => {
                    let Some((outside, _)) = self.open.take() else {
                        return Err(self.wrong(at..at + 1, "this bracket is never opened; `]]` is a bracket"));
                    };
                    let inside = std::mem::replace(&mut self.parts, outside);
                    self.parts.push(Part::Optional(inside));
                    at += 1;
                }
                _ => {
                    self.push_char(ch);
                    at += ch.len_utf8();
                }
            }
        }
        match self.open.take() {
            Some((_, at)) => Err(self.wrong(at..at + 1, "this bracket is never closed; `[[` is a bracket")),
            None => Ok(()),
        }
    }

    /// Reads a hole or a column, and returns where it ends.
    fn hole(&mut self, at: usize) -> Result<usize, Diagnostic> {
        let text = self.text.value.as_str();
        let Some(length) = text[at..].find('}') else {
            return Err(self.wrong(at..at + 1, "this brace is never closed; `{{` is a brace"));
        };
        let (inner, end) = (text[at + 1..at + length].trim(), at + length + 1);
        let part = if inner.is_empty() {
            self.next += 1;
            Part::Hole(self.next - 1)
        } else if inner.bytes().all(|byte| byte.is_ascii_digit()) {
            let number = inner.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let number = number.filter(|number| *number < 1_000);
            Part::Hole(number.ok_or_else(|| self.wrong(at..end, "the first hole is `{1}`"))?)
        } else if inner.contains(['{', '[', ']']) {
            return Err(self.wrong(at..at + 1, "this brace is never closed; `{{` is a brace"));
        } else {
            Part::Column(inner.to_owned())
        };
        self.parts.push(part);
        Ok(end)
    }

    fn push_char(&mut self, ch: char) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push(ch),
            _ => self.parts.push(Part::Text(ch.to_string())),
        }
    }

    fn wrong(&self, range: Range<usize>, message: &str) -> Diagnostic {
        Diagnostic::new(within(self.text, range), message)
    }
}

/// The bytes of the file for a range of a text in it. With escapes in the text, that of the whole.
pub(crate) fn within(text: &At<String>, range: Range<usize>) -> Range<usize> {
    if text.range.len() == text.value.len() {
        text.range.start + range.start..text.range.start + range.end
    } else {
        text.range.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<Part> {
        Template::parse(text).unwrap().parts
    }

    #[test]
    fn doubled_braces_and_brackets_are_themselves() {
        assert_eq!(parts("a {{b}} [[c]]"), [Part::Text("a {b} [c]".to_owned())]);
        assert_eq!(parts("{{{}}}"), [Part::Text("{".to_owned()), Part::Hole(0), Part::Text("}".to_owned())]);
        assert_eq!(parts("{}{}"), [Part::Hole(0), Part::Hole(1)]);
    }

    #[test]
    fn what_is_not_closed_is_reported_where_it_is_opened() {
        for (text, at) in [("ab {1", 3), ("ab }", 3), ("x [y", 2), ("x ]", 2), ("[a [b]]", 3), ("{0}", 0)] {
            let problem = Template::parse(text).unwrap_err();
            assert_eq!(problem.range.start, at, "{text}: {}", problem.message);
        }
        assert!(Template::parse("{1} {1}").unwrap_err().message.contains("twice"));
    }

    #[test]
    fn brackets_go_with_their_argument() {
        let template = Template::parse("orders[ by {1}][ in {2}]").unwrap();
        let only_second = |slot| if slot == 1 { Place::Argument(0) } else { Place::Absent };
        let used = template.for_slots(1, &only_second).unwrap();
        assert_eq!(used.parts.len(), 2);
        assert_eq!(used.holes(), [0]);
        // Outside of brackets, the argument must be there; and one without a hole could not be said.
        let bare = Template::parse("orders by {1}").unwrap();
        assert_eq!(bare.for_slots(0, &|_| Place::Absent), None);
        assert_eq!(bare.for_slots(2, &|slot| Place::Argument(slot)), None);
        assert_eq!(bare.for_slots(0, &|_| Place::Lacking).unwrap().holes(), []);
    }
}
