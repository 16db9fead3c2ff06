//! The executor of GeoQuery: evaluates FunQL programs to answers in the notation of the reference executor.
//!
//! The reference is a logic program over the same facts. Its answer is the first solution it finds, and a
//! query that finds none, or raises an error on the way, denotes `[]`. What follows from that is kept, even
//! where it is not what one would design:
//!
//! - Values are lists. Order and duplicates survive until an answer is written or counted: `sum` adds
//!   duplicates, and of equals the one that comes first in the facts is the largest, the longest, the most.
//! - Answers and counts are sorted and free of duplicates: numbers, bare names, ids of one part by kind and
//!   name, cities. Of two equal numbers the one with a decimal point comes first.
//! - A failure anywhere is the failure of the whole query: `count` of a query that fails is `[]`, not `[0]`.
//! - A name, a number or `_` where a query must be fails, so `elevation_2(0)` is `[]`. `_` in place of
//!   `all` means `all`.
//! - `major(all)` has no rule, and neither has any predicate other than the kinds of things.
//! - `mountain` is `place`; both mean the highest and lowest points of states, not the table of mountains.
//! - `lake(all)` gives bare names. No other predicate knows them, so a lake is nowhere and has no size.
//! - The kind of an open `cityid('springfield', _)` settles on the first fact that fits, and so
//!   does a number. `major` goes on to the first that is major. Relations look at all facts that fit and leave
//!   the id open; an id that stays open is written with `_`.
//! - `exclude` removes all that an open id could be; `intersection` fills the id in from the first match, on
//!   either side, and goes on with what it filled in.
//! - A place that several states list can have several elevations. Its elevation is the first one, and lowest
//!   points come before highest; `higher` and `lower` compare each of them and repeat what they find.
//! - `loc_1` gives the country once for each fact that places the item; lakes and the country are nowhere.
//! - `next_to_1` reads the neighbors in the state's own entry, `next_to_2` the entries that list the state: the
//!   same states in another order, which decides between equals.
//! - A river that lists a state twice traverses it twice.
//! - Area is always written with a decimal point, population as the facts have it: Montana has `786.7` people.
//! - The country has no area, population or size, and only states have a density.
//! - `largest`, `size` and their like take numbers as they are: `largest(population_1(..))` is a number.
//! - `most(..)` and `largest_one(..)` read their argument a second time, as items with the list or number to
//!   compare them by. Only relations, numbers of things and filters over those have that reading.
//! - `largest_one(..)` over lists fails unless there is only one item, which wins without comparison;
//!   `most(..)` over numbers fails unless there are none.
//! - In the second reading a filter over numbers, as in `largest_one(state(population_1(..)))`, leaves nothing.
//! - The program `null` denotes `null`.

use super::budget::{Budget, Stop};
use super::evaluate::evaluate;
use super::facts::Facts;
use super::literals::Literals;
use super::notation;
use super::operations::Operations;
use super::plan::plan;
use super::value::{Item, Name, Number};
use crate::exec::{Denotation, ExecError, Executor, Limits};
use serde_json::Value;
use spanwise_lang::{Shape, TermId, Terms};
use spanwise_reading::Answer;

/// Evaluates FunQL programs over the facts of GeoQuery. Programs need no context, and any given is ignored.
#[derive(Clone, Copy, Debug, Default)]
pub struct GeoExecutor {
    limits: Limits,
}

impl GeoExecutor {
    /// An executor with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An executor with limits of your own.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits }
    }

    fn answer(&self, terms: &Terms, program: TermId) -> Result<Denotation, Stop> {
        let mut budget = Budget::new(self.limits);
        let nodes = plan(terms, program, &mut budget)?;
        let facts = Facts::get();
        let mut ops = Operations { facts, literals: Literals::new(&facts.names), budget };
        let mut items = evaluate(terms, nodes, &mut ops)?;
        items.sort_unstable();
        items.dedup();
        let answer = items.iter().map(|&item| typed(&ops.literals, item)).collect();
        let text = write_items(&ops.literals, &items);
        Ok(Denotation { is_empty: items.is_empty(), ..Denotation::typed(text, answer) })
    }
}

impl Executor for GeoExecutor {
    fn execute(&self, terms: &Terms, program: TermId, _: Option<&Value>) -> Result<Denotation, ExecError> {
        if is_null(terms, program) {
            return Ok(nothing("null", Answer::Null, "`null` is no query".to_owned()));
        }
        match self.answer(terms, program) {
            Ok(denotation) => Ok(denotation),
            Err(Stop::Fails(reason)) => Ok(nothing("[]", Answer::List(Vec::new()), reason)),
            Err(Stop::Error(error)) => Err(error),
        }
    }
}

/// Whether the whole program is `null`, or `_`, which `null` can fill.
fn is_null(terms: &Terms, program: TermId) -> bool {
    match terms.shape(program) {
        Shape::Wildcard => true,
        Shape::Name | Shape::Quoted => terms.head_text(program) == "null",
        Shape::Number | Shape::Call => false,
    }
}

fn nothing(text: &str, answer: Answer, reason: String) -> Denotation {
    Denotation { is_empty: true, note: Some(reason), ..Denotation::typed(text, answer) }
}

/// An item as a typed value: a number, or a name without the notation of ids. The state of a city stands in
/// parentheses, `albany (ny)`; an open place is left out.
fn typed(literals: &Literals, item: Item) -> Answer {
    let plain = |name: Name| notation::plain_name(literals.shown(name));
    match item {
        Item::Number(Number::Int(value)) => Answer::Number(value.into()),
        Item::Number(Number::Float(value)) => match serde_json::Number::from_f64(value) {
            Some(number) => Answer::Number(number),
            None => Answer::Null,
        },
        Item::City(name, abbrev) if abbrev != Name::ANY => {
            Answer::Text(format!("{} ({})", plain(name), plain(abbrev)))
        }
        Item::Lake(name)
        | Item::Country(name)
        | Item::Place(name)
        | Item::River(name)
        | Item::State(name)
        | Item::City(name, _) => Answer::Text(plain(name)),
    }
}

fn write_items(literals: &Literals, items: &[Item]) -> String {
    let mut out = String::with_capacity(2 + 24 * items.len());
    out.push('[');
    for (at, &item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_item(literals, item, &mut out);
    }
    out.push(']');
    out
}

fn write_item(literals: &Literals, item: Item, out: &mut String) {
    let (kind, name) = match item {
        Item::Number(Number::Int(value)) => return out.push_str(&value.to_string()),
        Item::Number(Number::Float(value)) => return notation::write_float(out, value),
        Item::Lake(name) => return out.push_str(literals.shown(name)),
        Item::Country(name) => ("countryid(", name),
        Item::Place(name) => ("placeid(", name),
        Item::River(name) => ("riverid(", name),
        Item::State(name) => ("stateid(", name),
        Item::City(name, _) => ("cityid(", name),
    };
    out.push_str(kind);
    out.push_str(literals.shown(name));
    if let Item::City(_, abbrev) = item {
        out.push(',');
        out.push_str(literals.shown(abbrev));
    }
    out.push(')');
}
