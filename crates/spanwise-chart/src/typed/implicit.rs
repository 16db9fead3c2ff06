//! Implicit constants in the loops of the typed chart. [`crate::implicit`] has the rules.

use super::{Input, Merge, Occupied, Part, RuleValues};
use crate::grammar::{FillResult, N_USAGES, Usage};
use crate::implicit::InsertedResult;
use crate::semiring::Semiring;
use spanwise_core::Idx;

/// Adds a leaf with an argument without words.
pub(super) fn add_unsaid<S: Semiring>(
    input: &Input<'_>,
    rules: &RuleValues<S>,
    leaf: usize,
    offset: f64,
    target: &mut [S::Value],
) {
    let grammar = input.grammar;
    let score = input.scores.leaves[leaf * N_USAGES + Usage::Closed.index()];
    for id in grammar.unsaid_of(input.lattice.leaves()[leaf].constant) {
        let place = grammar.layout.unsaid.start + id as usize;
        for &(number, rule) in &grammar.implicit.unsaid[id as usize].fills {
            let own = S::lift(input.unsaid_score(leaf, number));
            let argument = S::times(rules.rules[rule as usize], own);
            let value = S::times(S::lift_scaled(score, offset), argument);
            target[place] = S::plus(target[place], value);
        }
    }
}

impl<S: Semiring> Merge<'_, S> {
    /// The score of a constant that is inserted in this cell.
    fn own(&self, number: u16) -> S::Value {
        self.implicit.get(number as usize).map_or(S::ONE, |&score| S::lift(f64::from(score)))
    }

    /// Functions without words take an argument from the right.
    pub(super) fn fill_inserted(
        &self,
        left: Part<'_, S::Value>,
        right: Part<'_, S::Value>,
        target: &mut [S::Value],
        occupied: &mut Occupied,
    ) {
        for fill in &self.grammar.implicit.fills {
            let function = left.values[self.layout.inserted.start + fill.from as usize];
            let argument = right.values[self.layout.filling.start + fill.argument as usize];
            let value = S::times(S::times(function, self.rules.rules[fill.rule as usize]), argument);
            if value == S::ZERO {
                continue;
            }
            match fill.to {
                InsertedResult::Done(ty, number) => {
                    let value = S::times(value, self.own(number));
                    Self::add(target, self.layout.raw.start + ty.index(), value);
                }
                InsertedResult::Inserted(id) => {
                    occupied.inserted = true;
                    Self::add(target, self.layout.inserted.start + id as usize, value);
                }
            }
        }
    }

    /// What is complete, with arguments without words, and with constants inserted above it.
    pub(super) fn insert(&self, target: &mut [S::Value], occupied: &mut Occupied) {
        let (grammar, layout) = (self.grammar, self.layout);
        for (id, unsaid) in grammar.implicit.unsaid.iter().enumerate() {
            let value = target[layout.unsaid.start + id];
            let to = match unsaid.to {
                FillResult::Done(ty) => layout.raw.start + ty.index(),
                FillResult::Partial(id) => layout.partial.start + id as usize,
            };
            occupied.partial |= value != S::ZERO;
            Self::add(target, to, value);
        }
        for n_inserted in 1..=grammar.implicit.chain {
            let (before, after) = (layout.stage(n_inserted - 1), layout.stage(n_inserted));
            target.copy_within(layout.raw.clone(), after);
            for step in &grammar.implicit.steps {
                let sum = Self::sum_types(target, before, &grammar.accepted[step.slot as usize]);
                let weight = S::times(self.rules.rules[step.rule as usize], self.own(step.number));
                Self::add(target, after + step.result.index(), S::times(sum, weight));
            }
        }
    }

    /// Functions without words get their first argument.
    pub(super) fn start_inserted(&self, target: &mut [S::Value], occupied: &mut Occupied) {
        let (grammar, layout) = (self.grammar, self.layout);
        for start in &grammar.implicit.starts {
            let argument = target[layout.filling.start + start.argument as usize];
            let value = S::times(argument, self.rules.rules[start.rule as usize]);
            occupied.inserted |= value != S::ZERO;
            Self::add(target, layout.inserted.start + start.to as usize, value);
        }
    }
}
