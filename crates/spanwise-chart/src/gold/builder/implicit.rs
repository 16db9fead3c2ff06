//! Implicit constants of a gold program: inserted above terms, between terms, and as arguments of functions on words.

use super::{Builder, Joins, Made, Pair};
use crate::gold::Item;
use crate::grammar::{N_USAGES, RuleKind, Side, Usage, first_accepting};
use crate::hypergraph::{Edge, NONE};
use spanwise_lang::{ConstantId, FrameId};

impl Builder<'_> {
    /// Functions on words with an argument without words.
    pub(super) fn unsaid(&self, p: usize, q: usize, made: &mut Made) {
        let span = self.lattice.span(p, q);
        for &(node, _, leaf) in self.starting[p].iter().filter(|(_, ends, _)| ends.contains(&q)) {
            let Some((_, frame, args)) = self.constant(node) else { continue };
            let used = self.domain.frame(frame);
            for (slot, &arg) in args.iter().enumerate() {
                let Some((constant, argument, [])) = self.constant(arg as u16) else { continue };
                let rule = RuleKind::Implicit(argument);
                let rule = self.key(rule, used.slots[slot], used.result, Side::Right);
                let number = self.grammar.unsaid().iter().position(|&known| known == constant);
                let (Some(rule), Some(number)) = (rule, number) else { continue };
                let mut edge = Edge::leaf((leaf * N_USAGES + Usage::Closed.index()) as u32);
                edge.weights[1] = self.rule(rule);
                edge.weights[2] = self.implicit(self.grammar.implicit_at_leaf(self.lattice, leaf, number));
                if self.own.joins == Joins::Tree && self.lattice.leaves()[leaf].end < span.end {
                    edge.weights[2] = self.join(self.lattice.cell(p, q));
                }
                made.push((Item::Unsaid(node, slot as u8), edge));
            }
        }
    }

    /// They are complete, or have one argument.
    pub(super) fn with_unsaid(&self, cell: usize, made: &mut Made) {
        let mut known: Vec<(Item, u32)> =
            self.cells[cell].numbers.iter().map(|(&item, &number)| (item, number)).collect();
        known.sort_unstable();
        for (item, number) in known {
            let Item::Unsaid(node, slot) = item else { continue };
            let n_slots = self.constant(node).map_or(0, |(_, _, args)| args.len());
            let whole = if n_slots == 1 { Item::Raw(node) } else { Item::Partial(node, 1 << slot, None) };
            made.push((whole, self.one(number, NONE)));
        }
    }

    /// Functions without words get their first argument.
    pub(super) fn starts(&self, cell: usize, made: &mut Made) {
        if self.grammar.implicit.starts.is_empty() {
            return;
        }
        for &argument in &self.cells[cell].closed {
            let Some((node, slot)) = self.parents[argument as usize] else { continue };
            let Some((_, frame, args)) = self.constant(node) else { continue };
            if args.len() < 2 || !self.grammar.is_implicit(self.domain, frame) {
                continue;
            }
            let used = self.domain.frame(frame);
            let rule = self.key(RuleKind::Implicit(frame), used.slots[slot], used.result, Side::Right);
            let (Some(rule), Some(number)) = (rule, self.cells[cell].get(Item::Closed(argument))) else {
                continue;
            };
            if self.first_on_right(frame, 0, argument) == Some(slot) {
                made.push((Item::Inserted(node, 1 << slot), self.one(number, self.rule(rule))));
            }
        }
    }

    /// The slot that an argument on the right of a function fills.
    fn first_on_right(&self, frame: FrameId, filled: u16, argument: u16) -> Option<usize> {
        let used = self.domain.frame(frame);
        let ty = self.analysis.types[argument as usize];
        first_accepting(self.domain, (&used.slots, &used.sides), filled, ty, Side::Right)
    }

    /// Functions without words get one more argument.
    pub(super) fn fill_inserted(&self, pair: &Pair<'_>, cell: usize, made: &mut Made) {
        for &(node, filled) in &pair.left.inserted {
            let Some((constant, frame, args)) = self.constant(node) else { continue };
            let used = self.domain.frame(frame);
            for (slot, &argument) in args.iter().enumerate() {
                let argument = argument as u16;
                let is_open = filled >> slot & 1 == 0;
                if !is_open || self.first_on_right(frame, filled, argument) != Some(slot) {
                    continue;
                }
                let rule = self.key(RuleKind::Fill(slot as u8), used.slots[slot], used.result, Side::Right);
                let tails = pair.words(Item::Inserted(node, filled), Item::Closed(argument));
                let (Some(rule), Some(tails)) = (rule, tails) else { continue };
                let mut edge = Edge { tails, weights: self.merged(rule, cell) };
                let filled = filled | 1 << slot;
                if filled.count_ones() as usize == args.len() {
                    add_weight(&mut edge, self.inserted(cell, constant));
                    made.push((Item::Raw(node), edge));
                } else {
                    made.push((Item::Inserted(node, filled), edge));
                }
            }
        }
    }

    /// The number of the score at a place among those of implicit constants.
    fn implicit(&self, at: usize) -> u32 {
        let n_joins = match self.own.joins {
            Joins::None => 0,
            Joins::Merges => self.lattice.n_cells(),
            Joins::Tree => self.lattice.n_cells() + 1,
        };
        if self.own.implicit { self.rule((self.grammar.n_rules() + n_joins + at) as u32) } else { NONE }
    }

    /// The number of the score of a constant that is inserted in a cell.
    fn inserted(&self, cell: usize, constant: ConstantId) -> u32 {
        let number = self.grammar.inserted().iter().position(|&known| known == constant);
        number.map_or(NONE, |number| self.implicit(self.grammar.implicit_at_cell(cell, number)))
    }

    /// Implicit constants of one argument above what has one less.
    pub(super) fn insert(
        &self,
        cell: usize,
        raw: &[Vec<Edge>],
        n_inserted: usize,
        item: impl Fn(u16) -> Item,
        made: &mut Made,
    ) {
        if self.grammar.implicit.steps.is_empty() {
            return;
        }
        for node in 0..self.analysis.nodes.len() as u16 {
            let Some((constant, frame, &[argument])) = self.constant(node) else { continue };
            if !self.grammar.is_implicit(self.domain, frame) {
                continue;
            }
            let used = self.domain.frame(frame);
            let rule = self.key(RuleKind::Implicit(frame), used.slots[0], used.result, Side::Right);
            let Some(rule) = rule else { continue };
            let below = self.cells[cell].get(Item::Chain(argument as u16, (n_inserted - 1) as u8));
            let below: Vec<Edge> = match n_inserted {
                1 => raw[argument].clone(),
                _ => below.map(|below| self.one(below, NONE)).into_iter().collect(),
            };
            for mut edge in below {
                add_weight(&mut edge, self.rule(rule));
                add_weight(&mut edge, self.inserted(cell, constant));
                made.push((item(node), edge));
            }
        }
    }
}

/// Adds a weight where the edge has none.
fn add_weight(edge: &mut Edge, weight: u32) {
    if let Some(free) = edge.weights.iter_mut().find(|known| **known == NONE) {
        *free = weight;
    }
}
