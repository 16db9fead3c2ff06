//! Reads the ids of a program as items, and unifies items.
//!
//! Names that no fact uses, numbers, and even whole calls can be in an id. They match no fact, but answers
//! show them and they can equal each other. Each is interned for the length of one evaluation, by the text
//! that answers show for it.

use super::budget::Budget;
use super::facts::Names;
use super::notation;
use super::predicates::Kind;
use super::value::{Item, Name};
use crate::exec::ExecError;
use hashbrown::HashMap;
use spanwise_lang::{Shape, TermId, Terms};

/// The names of one evaluation: those of the facts, and those that only the program has.
#[derive(Debug)]
pub(super) struct Literals {
    known: &'static Names,
    own: Vec<Own>,
    by_shown: HashMap<String, Name>,
}

/// A name that only the program has.
#[derive(Debug)]
struct Own {
    shown: String,
    /// For a call, its parts in reading order.
    call: Vec<Part>,
}

/// A name or number within a call, or the head of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    shown: String,
    n_args: usize,
}

/// How an open place is shown.
const HOLE: &str = "_";

impl Literals {
    /// The names of the facts and no others.
    pub(super) fn new(known: &'static Names) -> Self {
        Self { known, own: Vec::new(), by_shown: HashMap::new() }
    }

    /// The item that an id names. `args` has two terms for a city, one for all others.
    pub(super) fn item(
        &mut self,
        budget: &mut Budget,
        terms: &Terms,
        kind: Kind,
        args: &[TermId],
    ) -> Result<Item, ExecError> {
        let name = self.name(budget, terms, args[0])?;
        Ok(match kind {
            Kind::State => Item::State(name),
            Kind::River => Item::River(name),
            Kind::Country => Item::Country(name),
            Kind::Place => Item::Place(name),
            Kind::City => Item::City(name, self.name(budget, terms, args[1])?),
        })
    }

    fn name(&mut self, budget: &mut Budget, terms: &Terms, term: TermId) -> Result<Name, ExecError> {
        if terms.shape(term) == Shape::Call {
            let size = terms.size(term);
            budget.hold(size)?;
            budget.spend(size)?;
            let call = parts_of(terms, term);
            return Ok(self.intern(show_call(&call), call));
        }
        Ok(match terms.shape(term) {
            Shape::Wildcard => Name::ANY,
            Shape::Number => self.intern(show_leaf(terms, term), Vec::new()),
            _ => match self.known.find(terms.head_text(term)) {
                Some(name) => name,
                None => self.intern(show_leaf(terms, term), Vec::new()),
            },
        })
    }

    fn intern(&mut self, shown: String, call: Vec<Part>) -> Name {
        if let Some(&name) = self.by_shown.get(&shown) {
            return name;
        }
        let id = u32::try_from(self.known.len() + self.own.len()).expect("fewer names than terms");
        self.own.push(Own { shown: shown.clone(), call });
        self.by_shown.insert(shown, Name(id));
        Name(id)
    }

    /// What both items are when their open places are filled from each other, if they can be the same.
    pub(super) fn unify(&mut self, budget: &mut Budget, a: Item, b: Item) -> Result<Option<Item>, ExecError> {
        if a == b {
            return Ok(Some(a));
        }
        let (make, a, b): (fn(Name) -> Item, Name, Name) = match (a, b) {
            (Item::City(a, a_state), Item::City(b, b_state)) => {
                let Some(name) = self.unify_names(budget, a, b)? else { return Ok(None) };
                let state = self.unify_names(budget, a_state, b_state)?;
                return Ok(state.map(|state| Item::City(name, state)));
            }
            (Item::State(a), Item::State(b)) => (Item::State, a, b),
            (Item::River(a), Item::River(b)) => (Item::River, a, b),
            (Item::Country(a), Item::Country(b)) => (Item::Country, a, b),
            (Item::Place(a), Item::Place(b)) => (Item::Place, a, b),
            _ => return Ok(None),
        };
        Ok(self.unify_names(budget, a, b)?.map(make))
    }

    fn unify_names(&mut self, budget: &mut Budget, a: Name, b: Name) -> Result<Option<Name>, ExecError> {
        if a.matches(b) {
            // The open place has the largest number, so this is the name that fills it.
            return Ok(Some(a.min(b)));
        }
        // Two names with different numbers can only be the same as calls with open places.
        let (Some(a), Some(b)) = (self.own(a), self.own(b)) else { return Ok(None) };
        budget.spend((a.call.len() + b.call.len()) as u64)?;
        Ok(unify_calls(&a.call, &b.call).map(|call| self.intern(show_call(&call), call)))
    }

    /// The name as answers show it.
    pub(super) fn shown(&self, name: Name) -> &str {
        match self.known.shown(name) {
            Some(shown) => shown,
            None => self.own(name).map_or(HOLE, |own| &own.shown),
        }
    }

    fn own(&self, name: Name) -> Option<&Own> {
        self.own.get((name.0 as usize).checked_sub(self.known.len())?)
    }
}

/// The parts of a call in reading order, heads before their arguments.
fn parts_of(terms: &Terms, call: TermId) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut pending = vec![call];
    while let Some(term) = pending.pop() {
        let args = terms.args(term);
        parts.push(Part { shown: show_leaf(terms, term), n_args: args.len() });
        pending.extend(args.iter().rev());
    }
    parts
}

/// The top of a term as answers show it.
fn show_leaf(terms: &Terms, term: TermId) -> String {
    let text = terms.head_text(term);
    let mut shown = String::new();
    match terms.shape(term) {
        Shape::Wildcard => shown.push_str(HOLE),
        Shape::Number => notation::write_number_literal(&mut shown, text),
        Shape::Name | Shape::Quoted | Shape::Call => notation::write_name(&mut shown, text),
    }
    shown
}

fn show_call(parts: &[Part]) -> String {
    let mut shown = String::new();
    // How many arguments each open parenthesis still waits for.
    let mut waiting: Vec<usize> = Vec::new();
    for part in parts {
        shown.push_str(&part.shown);
        if part.n_args > 0 {
            shown.push('(');
            waiting.push(part.n_args);
            continue;
        }
        while let Some(n_args) = waiting.last_mut() {
            *n_args -= 1;
            if *n_args > 0 {
                shown.push(',');
                break;
            }
            shown.push(')');
            waiting.pop();
        }
    }
    shown
}

/// The call that both become when open places of one are filled from the other. Every open place is one of
/// its own, so filling one never touches another.
fn unify_calls(mut a: &[Part], mut b: &[Part]) -> Option<Vec<Part>> {
    let mut unified = Vec::with_capacity(a.len().max(b.len()));
    while let (Some(first_a), Some(first_b)) = (a.first(), b.first()) {
        let (taken_a, taken_b) = match (first_a.shown == HOLE, first_b.shown == HOLE) {
            (true, _) => (1, first_term_len(b)),
            (_, true) => (first_term_len(a), 1),
            _ if first_a == first_b => (1, 1),
            _ => return None,
        };
        unified.extend_from_slice(if first_a.shown == HOLE { &b[..taken_b] } else { &a[..taken_a] });
        (a, b) = (&a[taken_a..], &b[taken_b..]);
    }
    // Names and numbers have no parts; a call is never the same as one of them.
    (!unified.is_empty()).then_some(unified)
}

/// Number of parts of the first whole term.
fn first_term_len(parts: &[Part]) -> usize {
    let mut n_pending = 1;
    let mut len = 0;
    while n_pending > 0 {
        n_pending += parts[len].n_args;
        n_pending -= 1;
        len += 1;
    }
    len
}
