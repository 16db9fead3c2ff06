//! Patterns: the written form of a class of literals, with a place for each field of a value.

use crate::term::{Shape, TermId, Terms};

/// A part of a pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Part {
    Text(String),
    /// A field, and whether it is written in quotes.
    Field(String, bool),
}

/// A term as text, with a place for each field.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Pattern(Vec<Part>);

impl Pattern {
    /// The pattern of a term whose `{field}` leaves are places.
    pub(crate) fn new(terms: &Terms, template: TermId) -> Self {
        let mut parts = Vec::new();
        let text = terms.display(template).to_string();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let Some((field, tail)) = after.split_once('}') else { break };
            let quote = before.chars().last().filter(|c| matches!(c, '\'' | '"'));
            let is_quoted = quote.is_some_and(|quote| tail.starts_with(quote));
            let (before, tail) =
                if is_quoted { (&before[..before.len() - 1], &tail[1..]) } else { (before, tail) };
            parts.push(Part::Text(before.to_owned()));
            parts.push(Part::Field(field.to_owned(), is_quoted));
            rest = tail;
        }
        parts.push(Part::Text(rest.to_owned()));
        Self(parts)
    }

    /// The fields, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Field(name, _) => Some(name.as_str()),
            Part::Text(_) => None,
        })
    }

    /// The fields, in order, each with whether it is written in quotes.
    pub(crate) fn quoted_fields(&self) -> impl Iterator<Item = (&str, bool)> {
        self.0.iter().filter_map(|part| match part {
            Part::Field(name, is_quoted) => Some((name.as_str(), *is_quoted)),
            Part::Text(_) => None,
        })
    }

    /// Whether it is one field without quotes and nothing else.
    pub(crate) fn is_bare(&self) -> bool {
        self.0.iter().all(|part| match part {
            Part::Text(text) => text.is_empty(),
            Part::Field(_, is_quoted) => !is_quoted,
        })
    }

    /// The field, if there is one only, and that is in quotes.
    pub(crate) fn only_quoted(&self) -> Option<&str> {
        let mut fields = self.0.iter().filter_map(|part| match part {
            Part::Field(name, is_quoted) => Some((name.as_str(), *is_quoted)),
            Part::Text(_) => None,
        });
        match (fields.next(), fields.next()) {
            (Some((name, true)), None) => Some(name),
            _ => None,
        }
    }

    /// The term with these values; `None` when one is missing, or cannot be written without quotes.
    pub(crate) fn fill(&self, value: impl Fn(&str) -> Option<String>) -> Option<String> {
        let mut out = String::new();
        for part in &self.0 {
            match part {
                Part::Text(text) => out += text,
                Part::Field(name, is_quoted) => {
                    let text = value(name)?;
                    let mut terms = Terms::new();
                    let leaf = if *is_quoted {
                        terms.leaf(Shape::Quoted, &text)
                    } else {
                        let bare = terms.parse(&text).ok()?;
                        Some(bare).filter(|&bare| terms.args(bare).is_empty())?
                    };
                    out += &terms.display(leaf).to_string();
                }
            }
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_where_their_fields_are_and_read_back() {
        let mut terms = Terms::new();
        for (form, value, expected) in [
            ("money('{value}')", "40 USD", "money('40 USD')"),
            ("{value}", "-4.25", "-4.25"),
            ("at({value}, 'x', '{value}')", "7", "at(7,'x','7')"),
            ("said('{value}')", "it's", "said('it''s')"),
        ] {
            let template = terms.parse(form).unwrap();
            let pattern = Pattern::new(&terms, template);
            let text = pattern.fill(|_| Some(value.to_owned())).unwrap();
            let read = terms.parse(&text).unwrap();
            assert_eq!(terms.display(read).to_string(), text, "{form}");
            assert_eq!(text.replace(' ', ""), expected.replace(' ', ""), "{form}");
        }
        let template = terms.parse("f({value})").unwrap();
        assert_eq!(Pattern::new(&terms, template).fill(|_| Some("two words".to_owned())), None);
    }
}
