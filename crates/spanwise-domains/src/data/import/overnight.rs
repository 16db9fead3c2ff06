//! Overnight: lambda DCS as s-expressions, `( call SW.getProperty en.city.oslo ( string mayor ) )`.
//!
//! Calls become calls, without the prefix that all of them have: `getProperty(en.city.oslo, mayor)`. Strings become bare names:
//! they are the properties, comparisons and aggregates that calls are given. Atoms begin with `en.` or are numbers, so
//! the two are never confused; other atoms are written `atom(x)`. Lists that are none of these become `list(..)`, so
//! that every expression has a term. Filters of a filtered set become one filter with several conditions (`filters`).

use super::filters::{ALL, CONDITION, flat, nested};
use super::tabular::{leaf, word};
use crate::data::message::shown;
use spanwise_lang::surface::is_name;
use spanwise_lang::{Shape, TermId, Terms};

/// The prefix of the functions that are called.
const PREFIX: &str = "SW.";

/// Lists whose elements are atoms in the first place: a number with its unit, a date, a variable.
const VALUES: [&str; 6] = ["string", "number", "time", "date", "var", "lambda"];

/// Heads of terms that stand for something other than the call of a function.
fn is_reserved(head: &str) -> bool {
    VALUES.contains(&head) || ["call", "list", "atom", ALL, CONDITION].contains(&head)
}

/// An element of a list. How it is written depends on the list.
#[derive(Clone, Copy)]
enum Element<'a> {
    Atom(&'a str),
    /// `( string x )`.
    Text(&'a str),
    List(TermId),
}

impl Element<'_> {
    /// As an argument of a call, where texts are more frequent than atoms.
    fn of_call(self, terms: &mut Terms) -> TermId {
        match self {
            Self::Atom(atom) if is_bare_atom(atom) => leaf(terms, atom),
            Self::Atom(atom) => {
                let atom = leaf(terms, atom);
                terms.call("atom", &[atom])
            }
            Self::Text(text) if is_name(text) && !is_bare_atom(text) => leaf(terms, text),
            Self::Text(_) | Self::List(_) => self.of_value(terms),
        }
    }

    /// As an element of a value, where all leaves are atoms.
    fn of_value(self, terms: &mut Terms) -> TermId {
        match self {
            Self::Atom(atom) => leaf(terms, atom),
            Self::Text(text) => {
                let text = leaf(terms, text);
                terms.call("string", &[text])
            }
            Self::List(term) => term,
        }
    }
}

/// Whether a leaf is an atom and not a text.
fn is_bare_atom(text: &str) -> bool {
    text.starts_with("en.") || (text != "_" && !is_name(text))
}

/// The term of an official program.
pub(super) fn program(terms: &mut Terms, official: &str) -> Result<TermId, String> {
    let mut open: Vec<Vec<Element<'_>>> = Vec::new();
    let mut tokens = official.split_whitespace();
    while let Some(token) = tokens.next() {
        let done = match token {
            "(" => {
                open.push(Vec::new());
                continue;
            }
            ")" => {
                let elements = open.pop().ok_or("there is a `)` without `(`")?;
                list(terms, &elements)
            }
            atom => Element::Atom(atom),
        };
        if let Some(outer) = open.last_mut() {
            outer.push(done);
            continue;
        }
        return match tokens.next() {
            None => {
                let root = done.of_call(terms);
                Ok(flat(terms, root))
            }
            Some(more) => Err(format!("expected the end of the program before `{}`", shown(more))),
        };
    }
    Err(if open.is_empty() { "there is no program" } else { "a `(` is never closed" }.to_owned())
}

fn list<'a>(terms: &mut Terms, elements: &[Element<'a>]) -> Element<'a> {
    let (head, elements, is_value) = match *elements {
        [Element::Atom("string"), Element::Atom(text)] => return Element::Text(text),
        [Element::Atom("call"), Element::Atom(function), ref args @ ..] if short(function).is_some() => {
            (short(function).unwrap_or_default(), args, false)
        }
        [Element::Atom("call"), ref rest @ ..] => ("call", rest, false),
        [Element::Atom(head), ref rest @ ..] if VALUES.contains(&head) => (head, rest, true),
        _ => ("list", elements, false),
    };
    let written = |element: &Element<'_>, terms: &mut Terms| {
        if is_value { element.of_value(terms) } else { element.of_call(terms) }
    };
    let args: Vec<TermId> = elements.iter().map(|element| written(element, terms)).collect();
    Element::List(terms.call(head, &args))
}

/// The name of a function in a term: without the prefix, but with the dot of `.size`.
fn short(function: &str) -> Option<&str> {
    let name = match function.strip_prefix(PREFIX) {
        Some(name) if !name.starts_with('.') => name,
        None if function.starts_with('.') => function,
        _ => return None,
    };
    (is_name(name) && !is_reserved(name)).then_some(name)
}

/// A part of an official program that is still to be written.
enum Pending<'a> {
    Term { term: TermId, in_value: bool },
    Token(&'a str),
}

/// A term as an official program.
pub(super) fn official(terms: &mut Terms, root: TermId) -> Result<String, String> {
    let root = nested(terms, root);
    let mut tokens: Vec<String> = Vec::new();
    let mut pending = vec![Pending::Term { term: root, in_value: false }];
    while let Some(next) = pending.pop() {
        let (term, in_value) = match next {
            Pending::Token(token) => {
                tokens.push(token.to_owned());
                continue;
            }
            Pending::Term { term, in_value } => (term, in_value),
        };
        let (head, args) = (terms.head_text(term), terms.args(term));
        if terms.shape(term) != Shape::Call {
            let text = word(terms, term)?;
            tokens.push(match in_value || is_bare_atom(text) {
                true => text.to_owned(),
                false => format!("( string {text} )"),
            });
            continue;
        }
        let mut is_value = false;
        match head {
            "atom" => {
                let &[atom] = args else { return Err("`atom` takes one argument".to_owned()) };
                tokens.push(word(terms, atom)?.to_owned());
                continue;
            }
            "list" => tokens.push("(".to_owned()),
            "call" => tokens.push("( call".to_owned()),
            _ if VALUES.contains(&head) => {
                is_value = true;
                tokens.push(format!("( {head}"));
            }
            _ if head.starts_with('.') => tokens.push(format!("( call {head}")),
            _ => tokens.push(format!("( call {PREFIX}{head}")),
        }
        pending.push(Pending::Token(")"));
        pending.extend(args.iter().rev().map(|&term| Pending::Term { term, in_value: is_value }));
    }
    Ok(tokens.join(" "))
}
