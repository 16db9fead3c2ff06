//! Compiles terms into a list of well-typed operations.
//!
//! The language is the table [`PREDICATES`], one row per predicate. A name, a number of arguments or a kind of argument
//! that the table does not allow is [`ExecError::BadProgram`].

use super::words::{Attribute, AttributeValue, Direction};
use crate::data::message::{did_you_mean, shown};
use crate::exec::ExecError;
use hashbrown::HashMap;
use spanwise_lang::{Shape, TermId, Terms};
use std::cmp::Ordering;

/// An operation. Operands are places of earlier operations, each of which gives a set.
#[derive(Debug)]
pub(super) enum Op {
    Scene,
    Filter { values: Vec<AttributeValue>, of: usize },
    Relate { direction: Direction, of: usize },
    RelateEqual { attribute: Attribute, of: usize },
    Union(usize, usize),
    Intersect(usize, usize),
    Exist(usize),
    Count(usize),
    Query { attribute: Attribute, of: usize },
    QueryEqual { attribute: Attribute, of: [usize; 2] },
    CompareCounts { expected: Ordering, of: [usize; 2] },
}

impl Op {
    fn gives_set(&self) -> bool {
        match self {
            Self::Scene
            | Self::Filter { .. }
            | Self::Relate { .. }
            | Self::RelateEqual { .. }
            | Self::Union(..)
            | Self::Intersect(..) => true,
            Self::Exist(_)
            | Self::Count(_)
            | Self::Query { .. }
            | Self::QueryEqual { .. }
            | Self::CompareCounts { .. } => false,
        }
    }
}

struct Predicate {
    name: &'static str,
    /// The arguments, as messages show them.
    signature: &'static str,
    n_args: usize,
    /// Whether more arguments than `n_args` are allowed.
    variadic: bool,
    build: fn(&Call<'_>) -> Result<Op, ExecError>,
}

const fn pred(
    name: &'static str,
    signature: &'static str,
    n_args: usize,
    build: fn(&Call<'_>) -> Result<Op, ExecError>,
) -> Predicate {
    Predicate { name, signature, n_args, variadic: false, build }
}

const PREDICATES: [Predicate; 13] = [
    pred("scene", "", 0, |_| Ok(Op::Scene)),
    Predicate { name: "filter", signature: "value, ..., set", n_args: 2, variadic: true, build: filter },
    pred("relate", "direction, set", 2, |call| {
        Ok(Op::Relate { direction: call.direction(0)?, of: call.set(1)? })
    }),
    pred("relate_attribute_equal", "attribute, set", 2, |call| {
        Ok(Op::RelateEqual { attribute: call.attribute(0)?, of: call.set(1)? })
    }),
    pred("union", "set, set", 2, |call| Ok(Op::Union(call.set(0)?, call.set(1)?))),
    pred("intersect", "set, set", 2, |call| Ok(Op::Intersect(call.set(0)?, call.set(1)?))),
    pred("exist", "set", 1, |call| Ok(Op::Exist(call.set(0)?))),
    pred("count", "set", 1, |call| Ok(Op::Count(call.set(0)?))),
    pred("query", "attribute, set", 2, |call| {
        Ok(Op::Query { attribute: call.attribute(0)?, of: call.set(1)? })
    }),
    pred("query_attribute_equal", "attribute, set, set", 3, |call| {
        Ok(Op::QueryEqual { attribute: call.attribute(0)?, of: [call.set(1)?, call.set(2)?] })
    }),
    pred("count_greater", "set, set", 2, |call| call.compare(Ordering::Greater)),
    pred("count_less", "set, set", 2, |call| call.compare(Ordering::Less)),
    pred("count_equal", "set, set", 2, |call| call.compare(Ordering::Equal)),
];

fn filter(call: &Call<'_>) -> Result<Op, ExecError> {
    let last = call.args.len() - 1;
    Ok(Op::Filter {
        values: (0..last).map(|arg| call.value(arg)).collect::<Result<_, _>>()?,
        of: call.set(last)?,
    })
}

/// The operations of `program`, each different subterm once, the program itself last.
pub(super) fn compile(terms: &Terms, program: TermId) -> Result<Vec<Op>, ExecError> {
    if terms.shape(program) != Shape::Call {
        let name = shown(terms.head_text(program));
        return Err(bad(format!("`{name}` is not a program; expected a call such as `count(scene())`")));
    }
    let mut ops: Vec<Op> = Vec::new();
    let mut places = HashMap::new();
    for term in terms.bottom_up(program) {
        if terms.shape(term) != Shape::Call {
            continue;
        }
        let name = terms.head_text(term);
        let predicate = PREDICATES.iter().find(|predicate| predicate.name == name).ok_or_else(|| {
            let hint = did_you_mean(name, PREDICATES.iter().map(|predicate| predicate.name));
            bad(format!("unknown predicate `{}`{hint}", shown(name)))
        })?;
        let call = Call { terms, predicate, args: terms.args(term), ops: &ops, places: &places };
        let op = call.build()?;
        places.insert(term, ops.len());
        ops.push(op);
    }
    Ok(ops)
}

/// One call of a predicate, whose arguments are compiled already.
struct Call<'a> {
    terms: &'a Terms,
    predicate: &'a Predicate,
    args: &'a [TermId],
    ops: &'a [Op],
    places: &'a HashMap<TermId, usize>,
}

impl Call<'_> {
    fn build(&self) -> Result<Op, ExecError> {
        let Predicate { name, signature, n_args, variadic, build } = self.predicate;
        let n_found = self.args.len();
        if n_found < *n_args || (n_found > *n_args && !variadic) {
            return Err(bad(format!(
                "expected `{name}({signature})`, found `{name}` with {n_found} arguments"
            )));
        }
        build(self)
    }

    fn compare(&self, expected: Ordering) -> Result<Op, ExecError> {
        Ok(Op::CompareCounts { expected, of: [self.set(0)?, self.set(1)?] })
    }

    fn set(&self, arg: usize) -> Result<usize, ExecError> {
        let term = self.args[arg];
        match self.places.get(&term) {
            Some(&place) if self.ops[place].gives_set() => Ok(place),
            Some(_) => Err(self.unexpected(arg, "a set of objects", ", which does not give a set")),
            None if self.terms.head_text(term) == "scene" => {
                Err(self.unexpected(arg, "a set of objects", " (write `scene()`)"))
            }
            None => Err(self.unexpected(arg, "a set of objects", "")),
        }
    }

    fn value(&self, arg: usize) -> Result<AttributeValue, ExecError> {
        let name = self.name(arg, "a value such as `red`")?;
        AttributeValue::from_name(name).ok_or_else(|| self.unknown("value", name, AttributeValue::names()))
    }

    fn attribute(&self, arg: usize) -> Result<Attribute, ExecError> {
        let name = self.name(arg, "an attribute such as `color`")?;
        Attribute::from_name(name)
            .ok_or_else(|| self.unknown("attribute", name, Attribute::ALL.into_iter().map(Attribute::name)))
    }

    fn direction(&self, arg: usize) -> Result<Direction, ExecError> {
        let name = self.name(arg, "a direction such as `left`")?;
        Direction::from_name(name)
            .ok_or_else(|| self.unknown("direction", name, Direction::ALL.into_iter().map(Direction::name)))
    }

    /// An argument that must be a bare name.
    fn name(&self, arg: usize, expected: &str) -> Result<&str, ExecError> {
        let term = self.args[arg];
        if self.terms.shape(term) != Shape::Name {
            return Err(self.unexpected(arg, expected, ""));
        }
        Ok(self.terms.head_text(term))
    }

    fn unexpected(&self, arg: usize, expected: &str, remark: &str) -> ExecError {
        let term = self.args[arg];
        let dots = if self.terms.shape(term) == Shape::Call { "(...)" } else { "" };
        let (name, found, number) = (self.predicate.name, shown(self.terms.head_text(term)), arg + 1);
        bad(format!("argument {number} of `{name}` must be {expected}, found `{found}{dots}`{remark}"))
    }

    fn unknown<'n>(&self, kind: &str, name: &str, known: impl Iterator<Item = &'n str>) -> ExecError {
        let hint = did_you_mean(name, known);
        bad(format!("unknown {kind} `{}` in `{}`{hint}", shown(name), self.predicate.name))
    }
}

fn bad(message: String) -> ExecError {
    ExecError::BadProgram(message)
}
