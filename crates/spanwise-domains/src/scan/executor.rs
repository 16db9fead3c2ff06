//! Evaluates SCAN-SP programs to sequences of actions.
//!
//! The answer is a sequence of actions. Its length is computed first, on the shared structure of the program, and only a
//! program that stays within the limits is written out: nesting `i_thrice` ten thousand deep costs ten thousand steps.

use super::words::{Action, Direction, Manner, Phrase, Verb};
use crate::data::message::{did_you_mean, shown};
use crate::exec::{Denotation, ExecError, Executor, Limits};
use hashbrown::HashMap;
use serde_json::Value;
use spanwise_lang::{Shape, TermId, Terms};
use spanwise_reading::Answer;

/// Every predicate of the language, for hints.
const PREDICATES: [&str; 9] =
    ["i_walk", "i_look", "i_run", "i_jump", "i_turn", "i_twice", "i_thrice", "i_and", "i_after"];

/// Evaluates SCAN-SP programs; a context is ignored.
///
/// Repetitions and sequences may be nested beyond what SCAN's grammar produces.
#[derive(Clone, Debug, Default)]
pub struct ScanExecutor {
    limits: Limits,
}

impl ScanExecutor {
    /// An executor with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An executor with the given limits. Items are actions; an action written is a step as well.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits }
    }
}

impl Executor for ScanExecutor {
    fn execute(&self, terms: &Terms, program: TermId, _: Option<&Value>) -> Result<Denotation, ExecError> {
        let ops = compile(terms, program)?;
        let n_actions = n_actions(&ops);
        if n_actions > self.limits.items {
            return Err(ExecError::Limit { what: "actions", limit: self.limits.items });
        }
        if n_actions.saturating_add(ops.len() as u64) > self.limits.steps {
            return Err(ExecError::Limit { what: "steps", limit: self.limits.steps });
        }
        let actions = actions(&ops);
        let names = || actions.iter().map(|action| action.name());
        Ok(Denotation::typed(names().collect::<Vec<_>>().join(" "), names().collect::<Answer>()))
    }
}

/// An operation; operands are places of earlier operations.
enum Op {
    Act(Phrase),
    Repeat { times: u64, of: usize },
    Sequence { first: usize, then: usize },
}

/// The operations of `program`, each different subterm once, the program itself last.
fn compile(terms: &Terms, program: TermId) -> Result<Vec<Op>, ExecError> {
    if terms.shape(program) != Shape::Call {
        let name = shown(terms.head_text(program));
        return Err(bad(format!("`{name}` is not a program; expected a call such as `i_walk()`")));
    }
    let mut ops = Vec::new();
    let mut places = HashMap::new();
    for term in terms.bottom_up(program) {
        if terms.shape(term) == Shape::Call {
            let op = Call { terms, name: terms.head_text(term), args: terms.args(term), places: &places }
                .build()?;
            places.insert(term, ops.len());
            ops.push(op);
        }
    }
    Ok(ops)
}

struct Call<'a> {
    terms: &'a Terms,
    name: &'a str,
    args: &'a [TermId],
    places: &'a HashMap<TermId, usize>,
}

impl Call<'_> {
    fn build(&self) -> Result<Op, ExecError> {
        if let Some(verb) = Verb::ALL.into_iter().find(|verb| is_constant(self.name, verb.word())) {
            return self.phrase(verb).map(Op::Act);
        }
        let operand = |arg| self.operand(arg);
        match (self.name, self.args) {
            ("i_twice", &[x]) => Ok(Op::Repeat { times: 2, of: operand(x)? }),
            ("i_thrice", &[x]) => Ok(Op::Repeat { times: 3, of: operand(x)? }),
            ("i_and", &[x, y]) => Ok(Op::Sequence { first: operand(x)?, then: operand(y)? }),
            ("i_after", &[x, y]) => Ok(Op::Sequence { first: operand(y)?, then: operand(x)? }),
            ("i_twice" | "i_thrice", args) => Err(self.wrong_arity("one command", args.len())),
            ("i_and" | "i_after", args) => Err(self.wrong_arity("two commands", args.len())),
            (name, _) => {
                let hint = did_you_mean(name, PREDICATES);
                Err(bad(format!("unknown predicate `{}`{hint}", shown(name))))
            }
        }
    }

    /// `i_walk()`, `i_walk(direction)` or `i_walk(direction, manner)`.
    fn phrase(&self, verb: Verb) -> Result<Phrase, ExecError> {
        let direction = |arg| self.constant(arg, &Direction::ALL, Direction::word, "`i_left` or `i_right`");
        let manner = |arg| self.constant(arg, &Manner::ALL, Manner::word, "`i_opposite` or `i_around`");
        let direction = match *self.args {
            [] => None,
            [first] => Some((direction(first)?, None)),
            [first, second] => Some((direction(first)?, Some(manner(second)?))),
            _ => return Err(self.wrong_arity("at most a direction and a manner", self.args.len())),
        };
        Phrase::new(verb, direction).ok_or_else(|| self.wrong_arity("a direction and perhaps a manner", 0))
    }

    /// An argument that must be a constant.
    fn constant<T: Copy>(
        &self,
        arg: TermId,
        all: &[T],
        word: fn(T) -> &'static str,
        expected: &str,
    ) -> Result<T, ExecError> {
        let name = self.terms.head_text(arg);
        let is_name = self.terms.shape(arg) == Shape::Name;
        let found = all.iter().copied().find(|&it| is_name && is_constant(name, word(it)));
        found.ok_or_else(|| self.unexpected(arg, expected, ""))
    }

    fn operand(&self, arg: TermId) -> Result<usize, ExecError> {
        self.places.get(&arg).copied().ok_or_else(|| {
            let forgot_parentheses = PREDICATES.contains(&self.terms.head_text(arg));
            self.unexpected(
                arg,
                "a command",
                if forgot_parentheses { "; parentheses are missing" } else { "" },
            )
        })
    }

    fn unexpected(&self, arg: TermId, expected: &str, remark: &str) -> ExecError {
        let dots = if self.terms.shape(arg) == Shape::Call { "(...)" } else { "" };
        let found = shown(self.terms.head_text(arg));
        bad(format!("`{}` expects {expected}, found `{found}{dots}`{remark}", self.name))
    }

    fn wrong_arity(&self, expected: &str, n_found: usize) -> ExecError {
        bad(format!("`{}` expects {expected}, found {n_found} arguments", self.name))
    }
}

/// Constants are the words of commands with `i_` before them.
fn is_constant(name: &str, word: &str) -> bool {
    name.strip_prefix("i_") == Some(word)
}

fn bad(message: String) -> ExecError {
    ExecError::BadProgram(message)
}

/// Number of actions of the last operation. Every operation does at least one, so no earlier one does more.
fn n_actions(ops: &[Op]) -> u64 {
    let mut counts: Vec<u64> = Vec::with_capacity(ops.len());
    for op in ops {
        counts.push(match *op {
            Op::Act(phrase) => phrase.n_actions() as u64,
            Op::Repeat { times, of } => counts[of].saturating_mul(times),
            Op::Sequence { first, then } => counts[first].saturating_add(counts[then]),
        });
    }
    counts.last().copied().unwrap_or(0)
}

/// The actions of the last operation. Cost: linear in their number, for every operation that is not an action
/// splits into at least two.
fn actions(ops: &[Op]) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut to_do: Vec<usize> = ops.len().checked_sub(1).into_iter().collect();
    while let Some(place) = to_do.pop() {
        match ops[place] {
            Op::Act(phrase) => actions.extend(phrase.actions()),
            Op::Repeat { times, of } => to_do.extend((0..times).map(|_| of)),
            Op::Sequence { first, then } => to_do.extend([then, first]),
        }
    }
    actions
}
