//! ATIS in FunQL, prefix notation with brackets around conjunctions and disjunctions only.
//!
//! `answer _flight ( intersection _from_2 city_name oslo _nonstop all )` becomes
//! `answer(_flight(intersection(_from_2(city_name(oslo)), _nonstop(all))))`. Outside brackets, a function has as many arguments
//! as its name tells. The name of a type is followed by a value, which is not a function even where it looks like one.

use super::tabular::{leaf, word};
use crate::data::message::shown;
use spanwise_lang::surface::is_name;
use spanwise_lang::{Shape, TermId, Terms};

/// The functions that brackets are written around, with any number of arguments.
const CONNECTIVES: [&str; 2] = ["intersection", "or"];

/// The functions of one argument that have none of these prefixes.
const FUNCTIONS: [&str; 3] = ["answer", "count", "not"];
const PREFIXES: [&str; 4] = ["_", "argmin_", "argmax_", "sum_"];

/// The functions of two arguments.
const BINARY: [&str; 3] = ["_equals", "_miles_distant", "_services"];

/// Types of values, each a function of one value.
const TYPES: [&str; 22] = [
    "aircraft_code",
    "airline_code",
    "airport_code",
    "basis_type",
    "city_name",
    "class_description",
    "day",
    "day_number",
    "day_period",
    "days_code",
    "dollar",
    "fare_basis_code",
    "flight_number",
    "hour",
    "integer",
    "manufacturer",
    "meal_code",
    "meal_description",
    "month",
    "state_name",
    "time",
    "year",
];

/// The number of arguments of a function without brackets; `None` for a name that is none.
fn arity(token: &str) -> Option<usize> {
    if BINARY.contains(&token) {
        return Some(2);
    }
    let has_prefix = PREFIXES.iter().any(|prefix| token.starts_with(prefix));
    let is_unary = is_name(token) && (has_prefix || FUNCTIONS.contains(&token));
    (is_unary || TYPES.contains(&token)).then_some(1)
}

/// A call whose arguments are still to be read.
struct OpenCall<'a> {
    head: &'a str,
    /// The number of its arguments; without one, it ends with a bracket.
    arity: Option<usize>,
    args: Vec<TermId>,
}

impl OpenCall<'_> {
    fn unfinished(&self) -> String {
        match self.arity {
            None => format!("the bracket of `{}` is never closed", self.head),
            Some(1) => format!("`{}` has no argument", shown(self.head)),
            Some(arity) => format!("`{}` has {} arguments, expected {arity}", self.head, self.args.len()),
        }
    }
}

/// The term of an official program.
pub(super) fn program(terms: &mut Terms, official: &str) -> Result<TermId, String> {
    let mut open: Vec<OpenCall<'_>> = Vec::new();
    let mut tokens = official.split_whitespace();
    while let Some(token) = tokens.next() {
        let done = match (token, arity(token)) {
            ("(", _) => {
                let head = tokens.next().unwrap_or_default();
                if !CONNECTIVES.contains(&head) {
                    return Err(format!(
                        "expected `intersection` or `or` after `(`, found `{}`",
                        shown(head)
                    ));
                }
                open.push(OpenCall { head, arity: None, args: Vec::new() });
                continue;
            }
            (")", _) => match open.pop() {
                Some(call) if call.arity.is_none() => terms.call(call.head, &call.args),
                Some(call) => return Err(call.unfinished()),
                None => return Err("there is a `)` without `(`".to_owned()),
            },
            _ if TYPES.contains(&token) => match tokens.next() {
                Some(value) if !matches!(value, "(" | ")") => {
                    let value = leaf(terms, value);
                    terms.call(token, &[value])
                }
                _ => return Err(format!("expected a value after `{token}`")),
            },
            (head, Some(arity)) => {
                open.push(OpenCall { head, arity: Some(arity), args: Vec::new() });
                continue;
            }
            _ => leaf(terms, token),
        };
        if let Some(program) = add_argument(terms, &mut open, done) {
            return match tokens.next() {
                None => Ok(program),
                Some(more) => Err(format!("expected the end of the program before `{}`", shown(more))),
            };
        }
    }
    Err(open.pop().map_or_else(|| "there is no program".to_owned(), |call| call.unfinished()))
}

/// Gives a term to the innermost open call, and closes the calls that have all their arguments with it. The term is returned
/// if no call is open.
fn add_argument(terms: &mut Terms, open: &mut Vec<OpenCall<'_>>, mut term: TermId) -> Option<TermId> {
    while let Some(call) = open.last_mut() {
        call.args.push(term);
        let call = open.pop_if(|call| call.arity == Some(call.args.len()))?;
        term = terms.call(call.head, &call.args);
    }
    Some(term)
}

/// A term as an official program.
pub(super) fn official(terms: &Terms, root: TermId) -> Result<String, String> {
    let mut tokens: Vec<&str> = Vec::new();
    // What is still to be written, the next on top; `None` is a closing bracket.
    let mut pending = vec![Some(root)];
    while let Some(next) = pending.pop() {
        let Some(term) = next else {
            tokens.push(")");
            continue;
        };
        if terms.shape(term) != Shape::Call {
            tokens.push(word(terms, term)?);
            continue;
        }
        let (head, args) = (terms.head_text(term), terms.args(term));
        if CONNECTIVES.contains(&head) {
            tokens.extend(["(", head]);
            pending.push(None);
        } else if arity(head) == Some(args.len()) {
            tokens.push(head);
        } else {
            return Err(format!("there is no function `{}` of {} arguments", shown(head), args.len()));
        }
        pending.extend(args.iter().rev().copied().map(Some));
    }
    Ok(tokens.join(" "))
}
