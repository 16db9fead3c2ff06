//! Undoes what implicit constants do in the typed chart.

use super::{Outside, Part};
use crate::grammar::{N_USAGES, Usage};
use crate::implicit::InsertedResult;
use crate::semiring::{Semiring, Sum};
use spanwise_core::Idx;

impl Outside<'_> {
    /// Undoes the insertion of the last of at most so many implicit constants on the same words.
    pub(super) fn insertions(&mut self, values: &[f64], own: &mut [f64], n_inserted: usize, cell: usize) {
        let (grammar, layout) = (self.input.grammar, &self.chart.layout);
        let (before, after) = (layout.stage(n_inserted - 1), layout.stage(n_inserted));
        for ty in 0..grammar.n_types {
            own[layout.raw.start + ty] += own[after + ty];
        }
        for step in &grammar.implicit.steps {
            let weight = self.rules.rules[step.rule as usize] * self.own(cell, step.number);
            let slope = own[after + step.result.index()] * weight;
            let mut share = 0.0;
            for ty in &grammar.accepted[step.slot as usize] {
                own[before + ty.index()] += slope;
                share += slope * values[before + ty.index()];
            }
            self.rule_counts[step.rule as usize] += share;
            self.count_inserted(cell, step.number, share);
        }
    }

    /// The factor of a constant that is inserted in a cell.
    fn own(&self, cell: usize, number: u16) -> f64 {
        self.input.implicit_of(cell).get(number as usize).map_or(1.0, |&score| f64::from(score).exp())
    }

    fn count_inserted(&mut self, cell: usize, number: u16, share: f64) {
        let at = self.input.grammar.implicit_at_cell(cell, number as usize);
        if let Some(count) = self.implicit.get_mut(at) {
            *count += share;
        }
    }

    /// Undoes the fills of functions without words; returns the expected number of joins in them.
    pub(super) fn fill_inserted(
        &mut self,
        left: &mut Part<'_>,
        right: &mut Part<'_>,
        own: &[f64],
        join: f64,
        cell: usize,
    ) -> f64 {
        let (layout, grammar) = (&self.chart.layout, self.input.grammar);
        let mut sum = 0.0;
        if !(left.occupied.inserted && right.occupied.closed) {
            return sum;
        }
        for fill in &grammar.implicit.fills {
            let function = layout.inserted.start + fill.from as usize;
            let argument = layout.filling.start + fill.argument as usize;
            let slope = join
                * match fill.to {
                    InsertedResult::Done(ty, number) => {
                        own[layout.raw.start + ty.index()] * self.own(cell, number)
                    }
                    InsertedResult::Inserted(id) => own[layout.inserted.start + id as usize],
                };
            if slope == 0.0 {
                continue;
            }
            let share = self.product(slope, fill.rule, (left, function), (right, argument));
            if let InsertedResult::Done(_, number) = fill.to {
                self.count_inserted(cell, number, share);
            }
            sum += share;
        }
        sum
    }

    /// The same for leaves with an argument without words.
    pub(super) fn unsaid(&mut self, own: &[f64], leaf: usize, value: f64) {
        let (layout, input) = (&self.chart.layout, self.input);
        for id in input.grammar.unsaid_of(input.lattice.leaves()[leaf].constant) {
            let slope = own[layout.unsaid.start + id as usize] * value;
            for &(number, rule) in &input.grammar.implicit.unsaid[id as usize].fills {
                let score = Sum::lift(input.unsaid_score(leaf, number));
                let share = slope * self.rules.rules[rule as usize] * score;
                self.leaves[leaf * N_USAGES + Usage::Closed.index()] += share;
                self.rule_counts[rule as usize] += share;
                let at = input.grammar.implicit_at_leaf(input.lattice, leaf, number as usize);
                if let Some(count) = self.implicit.get_mut(at) {
                    *count += share;
                }
            }
        }
    }
}
