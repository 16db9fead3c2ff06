//! Implicit constants in the grammar: which complete terms they are inserted above, and which slots they fill.
//!
//! ```text
//! one argument       C[b] <- C[a]           on the same words, several above each other if the domain allows it
//! several arguments  I <- C[a]              a function without words, with its first argument
//!                    I <- I C[a], C[b] <- I C[a]   its other arguments, from left to right
//! no argument        leaf f, one slot of which it fills: a complete term, or a P of rule (4)
//! ```
//!
//! A function without words takes its arguments in the order of the words and is never composed. So it has one place and
//! one order, and a reading has one derivation.

use crate::grammar::{FillResult, FunctionSymbol, Grammar, LeafSymbol, PartialSymbol, first_accepting};
use crate::lattice::Lattice;
use crate::rules::{RuleKind, Side};
use spanwise_core::Idx;
use spanwise_lang::{ConstantId, Domain, FrameId, TypeId};

/// An implicit constant of one argument: `slot -> result`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ImplicitStep {
    pub slot: u16,
    pub result: TypeId,
    pub rule: u32,
    /// The number of the constant among those that are inserted.
    pub number: u16,
}

/// An implicit constant of several arguments gets its first one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Start {
    /// The set of types that the argument may have, among `fill_sets`.
    pub argument: u16,
    pub to: u16,
    pub rule: u32,
}

/// An implicit constant of several arguments with some of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InsertedSymbol {
    frame: FrameId,
    filled: u16,
}

/// It gets one more, on its right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct InsertedFill {
    pub from: u16,
    /// The set of types that the argument may have, among `fill_sets`.
    pub argument: u16,
    pub to: InsertedResult,
    pub rule: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InsertedResult {
    Inserted(u16),
    /// A complete term, and the number of the constant among those that are inserted.
    Done(TypeId, u16),
}

/// A leaf with an argument without words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unsaid {
    pub from: LeafSymbol,
    pub slot: u8,
    pub to: FillResult,
    /// The constants that may be the argument: numbers among those that fill slots, and rules.
    pub fills: Vec<(u16, u32)>,
}

/// What implicit constants add to a grammar.
#[derive(Clone, Debug, Default)]
pub(crate) struct Implicit {
    /// The constants that are inserted above complete terms, and those that fill slots, in the order of their scores.
    pub inserted: Vec<ConstantId>,
    pub filling: Vec<ConstantId>,
    /// Most constants of one argument above each other.
    pub chain: usize,
    pub steps: Vec<ImplicitStep>,
    pub starts: Vec<Start>,
    pub symbols: Vec<InsertedSymbol>,
    pub fills: Vec<InsertedFill>,
    pub unsaid: Vec<Unsaid>,
    /// For each frame, the numbers of its entries in `unsaid`.
    pub unsaid_of: Vec<Vec<u16>>,
}

impl Implicit {
    /// Where a part of the grammar begins: with the constants, whose scores keep their places.
    pub(crate) fn of_part(&self) -> Self {
        Self { inserted: self.inserted.clone(), filling: self.filling.clone(), ..Self::default() }
    }
}

impl Grammar {
    /// The constants that may be inserted above complete terms, in the order of their scores.
    #[must_use]
    pub fn inserted(&self) -> &[ConstantId] {
        &self.implicit.inserted
    }

    /// The constants that may be arguments without words, in the order of their scores.
    #[must_use]
    pub fn unsaid(&self) -> &[ConstantId] {
        &self.implicit.filling
    }

    /// Number of scores of implicit constants on the words of an utterance.
    #[must_use]
    pub fn n_implicit_scores(&self, lattice: &Lattice) -> usize {
        self.implicit_at_leaf(lattice, lattice.leaves().len(), 0)
    }

    /// The place, among those scores, of the constant with this number in [`Self::inserted`], inserted in a cell.
    #[inline]
    #[must_use]
    pub fn implicit_at_cell(&self, cell: usize, number: usize) -> usize {
        cell * self.implicit.inserted.len() + number
    }

    /// The place of the constant with this number in [`Self::unsaid`], as an argument of a leaf.
    #[inline]
    #[must_use]
    pub fn implicit_at_leaf(&self, lattice: &Lattice, leaf: usize, number: usize) -> usize {
        self.implicit_at_cell(lattice.n_cells(), 0) + leaf * self.implicit.filling.len() + number
    }

    /// Whether a constant may have no words with these arguments.
    pub(crate) fn is_implicit(&self, domain: &Domain, frame: FrameId) -> bool {
        self.options.implicit && domain.frame(frame).implicit
    }

    /// The entries of `unsaid` for a constant.
    pub(crate) fn unsaid_of(&self, constant: ConstantId) -> impl Iterator<Item = u16> + '_ {
        self.frames_of(constant).flat_map(|frame| self.implicit.unsaid_of[frame as usize].iter().copied())
    }

    /// Leaves with an argument without words. They become partial functions, so this comes before all fills.
    pub(crate) fn unsaid_arguments(&mut self, domain: &Domain) {
        self.implicit.chain = 1;
        self.implicit.unsaid_of = vec![Vec::new(); self.leaf_symbol.len()];
        let constants: Vec<(FrameId, TypeId, u16)> = self
            .implicit_frames(domain)
            .into_iter()
            .filter(|&frame| domain.frame(frame).slots.is_empty())
            .map(|frame| {
                let number = number(&mut self.implicit.filling, domain.frame_owner(frame));
                (frame, domain.frame(frame).result, number)
            })
            .collect();
        if constants.is_empty() {
            return;
        }
        for (id, unary) in (0u16..).zip(self.unaries.clone()) {
            let to = FillResult::Done(unary.result);
            let from = (LeafSymbol::Unary(id), 0, unary.slot_type, unary.result);
            self.unsaid_slot(domain, &constants, from, |_| to);
        }
        for (function, symbol) in (0u16..).zip(self.functions.clone()) {
            for (slot, &ty) in symbol.slots.iter().enumerate() {
                let partial = PartialSymbol { function, filled: 1 << slot, last_left: None };
                let from = (LeafSymbol::Function(function), slot as u8, ty, symbol.result);
                let to = |grammar: &mut Self| FillResult::Partial(grammar.partial(partial));
                self.unsaid_slot(domain, &constants, from, to);
            }
        }
        for (frame, symbol) in self.leaf_symbol.iter().enumerate() {
            let unsaid = (0u16..).zip(&self.implicit.unsaid).filter(|(_, unsaid)| unsaid.from == *symbol);
            self.implicit.unsaid_of[frame] = unsaid.map(|(id, _)| id).collect();
        }
    }

    fn unsaid_slot(
        &mut self,
        domain: &Domain,
        constants: &[(FrameId, TypeId, u16)],
        (from, slot, ty, result): (LeafSymbol, u8, TypeId, TypeId),
        to: impl FnOnce(&mut Self) -> FillResult,
    ) {
        let fitting = constants.iter().filter(|(_, given, _)| domain.types().is_subtype(*given, ty));
        let rule = |&(frame, _, number): &(FrameId, TypeId, u16)| {
            (number, self.rule(RuleKind::Implicit(frame), ty, result, Side::Right))
        };
        let fills: Vec<(u16, u32)> = fitting.map(rule).collect();
        if !fills.is_empty() {
            let to = to(self);
            self.implicit.unsaid.push(Unsaid { from, slot, to, fills });
        }
    }

    /// Constants that are inserted above complete terms.
    pub(crate) fn implicit_steps(&mut self, domain: &Domain) {
        for frame in self.implicit_frames(domain) {
            let used = domain.frame(frame);
            let constant = domain.frame_owner(frame);
            match *used.slots {
                [] => {}
                [slot_type] => {
                    let slot = self.slot(domain, slot_type);
                    let rule = self.rule(RuleKind::Implicit(frame), slot_type, used.result, Side::Right);
                    let number = number(&mut self.implicit.inserted, constant);
                    self.implicit.steps.push(ImplicitStep { slot, result: used.result, rule, number });
                }
                _ => {
                    number(&mut self.implicit.inserted, constant);
                    self.inserted_function(domain, frame);
                }
            }
        }
        if !self.implicit.steps.is_empty() {
            self.implicit.chain = domain.implicit_chain();
        }
    }

    fn implicit_frames(&self, domain: &Domain) -> Vec<FrameId> {
        let ids = (0..self.leaf_symbol.len() as u32).map(FrameId);
        let is_used = |&frame: &FrameId| self.is_implicit(domain, frame) && self.scope.frames[frame.index()];
        ids.filter(is_used).collect()
    }

    /// All ways to give arguments to a function without words.
    fn inserted_function(&mut self, domain: &Domain, frame: FrameId) {
        let used = domain.frame(frame);
        let function =
            FunctionSymbol { slots: used.slots.clone(), sides: used.sides.clone(), result: used.result };
        let number = number(&mut self.implicit.inserted, domain.frame_owner(frame));
        for (slot, types) in self.fitting(domain, &function, 0) {
            let argument = self.fill_set(types);
            let rule =
                self.rule(RuleKind::Implicit(frame), function.slots[slot], function.result, Side::Right);
            let to = self.inserted_symbol(InsertedSymbol { frame, filled: 1 << slot });
            self.implicit.starts.push(Start { argument, to, rule });
        }
        let mut next = self.implicit.symbols.iter().position(|symbol| symbol.frame == frame);
        // Symbols appear while this loop runs.
        while let Some((from, symbol)) = next.and_then(|at| Some((at, *self.implicit.symbols.get(at)?))) {
            for (slot, types) in self.fitting(domain, &function, symbol.filled) {
                let argument = self.fill_set(types);
                let kind = RuleKind::Fill(slot as u8);
                let rule = self.rule(kind, function.slots[slot], function.result, Side::Right);
                let filled = symbol.filled | 1 << slot;
                let to = if filled.count_ones() as usize == function.slots.len() {
                    InsertedResult::Done(function.result, number)
                } else {
                    InsertedResult::Inserted(self.inserted_symbol(InsertedSymbol { frame, filled }))
                };
                self.implicit.fills.push(InsertedFill { from: from as u16, argument, to, rule });
            }
            next = Some(from + 1);
        }
    }

    /// For each open slot of a function, the types of arguments on its right that fill it.
    fn fitting(&self, domain: &Domain, function: &FunctionSymbol, filled: u16) -> Vec<(usize, Vec<TypeId>)> {
        let slots = (&function.slots[..], &function.sides[..]);
        let types = |slot: usize| -> Vec<TypeId> {
            let fills_it =
                |&ty: &TypeId| first_accepting(domain, slots, filled, ty, Side::Right) == Some(slot);
            self.scope.types.iter().copied().filter(fills_it).collect()
        };
        let open = (0..function.slots.len()).filter(|slot| filled >> slot & 1 == 0);
        open.map(|slot| (slot, types(slot))).filter(|(_, types)| !types.is_empty()).collect()
    }

    fn inserted_symbol(&mut self, symbol: InsertedSymbol) -> u16 {
        let known = self.implicit.symbols.iter().position(|known| *known == symbol);
        known.unwrap_or_else(|| {
            self.implicit.symbols.push(symbol);
            self.implicit.symbols.len() - 1
        }) as u16
    }
}

/// The number of a constant, which may be new.
fn number(constants: &mut Vec<ConstantId>, constant: ConstantId) -> u16 {
    let known = constants.iter().position(|&known| known == constant);
    known.unwrap_or_else(|| {
        constants.push(constant);
        constants.len() - 1
    }) as u16
}
