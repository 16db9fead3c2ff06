//! Compiles a grammar: from the constants of its scope to symbols and rules.

use super::{
    Fill, FillResult, FunctionSymbol, Gathering, Grammar, LANES, LeafSymbol, Over, PartialSymbol, Spread,
    SpreadFunction, SpreadSymbol, Unary,
};
use crate::rules::{Discontinuity, RuleKind, Side};
use spanwise_core::Idx;
use spanwise_lang::states::AccumulatorId;
use spanwise_lang::{Domain, FrameId, TypeId};

impl Grammar {
    pub(super) fn leaves(&mut self, domain: &Domain) {
        for raw in 0..self.scope.frames.len() {
            let frame = domain.frame(FrameId(raw as u32));
            let symbol = match (self.scope.frames[raw], frame.slots.as_slice()) {
                (false, _) => LeafSymbol::Unreachable,
                (true, []) => LeafSymbol::Closed(frame.result),
                (true, [slot]) => LeafSymbol::Unary(self.unary(domain, *slot, frame.sides[0], frame.result)),
                (true, slots) => {
                    let key = FunctionSymbol {
                        slots: slots.to_vec(),
                        sides: frame.sides.clone(),
                        result: frame.result,
                    };
                    let fresh = self.functions.len() as u16;
                    let id = *self.function_of.entry(key.clone()).or_insert(fresh);
                    if id == fresh {
                        self.functions.push(key);
                    }
                    LeafSymbol::Function(id)
                }
            };
            self.leaf_symbol.push(symbol);
        }
    }

    fn unary(&mut self, domain: &Domain, slot_type: TypeId, directed: Option<Side>, result: TypeId) -> u16 {
        if let Some(&known) = self.unary_of.get(&(slot_type, result, directed)) {
            return known;
        }
        let slot = self.slot(domain, slot_type);
        let (mut apply, mut compose) = ([u32::MAX; 2], [u32::MAX; 2]);
        match directed {
            Some(side) => apply[side as usize] = self.rule(RuleKind::Apply, slot_type, result, side),
            None => {
                apply = self.both(RuleKind::Apply, slot_type, result);
                compose = self.both(RuleKind::Compose, slot_type, result);
            }
        }
        let id = self.unaries.len() as u16;
        self.unaries.push(Unary { slot, slot_type, directed, result, apply, compose });
        self.unary_of.insert((slot_type, result, directed), id);
        id
    }

    /// All ways to fill functions of several slots, from the bare ones on.
    pub(super) fn fills(&mut self, domain: &Domain) {
        for function in 0..self.functions.len() as u16 {
            let bare = PartialSymbol { function, filled: 0, last_left: None };
            for side in [Side::Left, Side::Right] {
                let fills = self.fills_of(domain, &bare, function, side);
                self.leaf_fills[side as usize].extend(fills);
            }
        }
        // Partials appear while this loop runs.
        let mut next = 0;
        while next < self.partials.len() {
            let symbol = self.partials[next].clone();
            for side in [Side::Left, Side::Right] {
                let fills = self.fills_of(domain, &symbol, next as u16, side);
                self.partial_fills[side as usize].extend(fills);
            }
            next += 1;
        }
        self.fills_giving = vec![Vec::new(); self.n_types + self.partials.len()];
        for side in [Side::Left, Side::Right] {
            let leaves = self.leaf_fills[side as usize].iter().map(|&fill| (true, fill));
            let partials = self.partial_fills[side as usize].iter().map(|&fill| (false, fill));
            for (is_leaf, fill) in leaves.chain(partials) {
                self.fills_giving[fill.to.index(self.n_types)].push((side, is_leaf, fill));
            }
        }
        for at in 0..self.partials.len() {
            let symbol = self.partials[at].clone();
            let FunctionSymbol { slots, sides, result } = self.functions[symbol.function as usize].clone();
            let mut open = (0..slots.len()).filter(|slot| symbol.filled >> slot & 1 == 0);
            if let (Some(slot), None) = (open.next(), open.next())
                && sides[slot].is_none()
            {
                let column = self.slot(domain, slots[slot]);
                let row = self.row(result);
                self.open_partials.push((at as u16, column, row));
            }
        }
    }

    fn fills_of(&mut self, domain: &Domain, symbol: &PartialSymbol, from: u16, side: Side) -> Vec<Fill> {
        let FunctionSymbol { slots, sides, result } = self.functions[symbol.function as usize].clone();
        let mut found = Vec::new();
        for slot in (0..slots.len()).filter(|slot| symbol.filled >> slot & 1 == 0) {
            let fills_it = |&argument: &TypeId| {
                first_accepting(domain, (&slots, &sides), symbol.filled, argument, side) == Some(slot)
                    && !(side == Side::Right && commutes(domain, (&slots, &sides), symbol, argument, slot))
            };
            let types: Vec<TypeId> = self.scope.types.iter().copied().filter(fills_it).collect();
            if types.is_empty() {
                continue;
            }
            let filled = symbol.filled | 1 << slot;
            let rule = self.rule(RuleKind::Fill(slot as u8), slots[slot], result, side);
            let to = if filled.count_ones() as usize == slots.len() {
                FillResult::Done(result)
            } else {
                let last_left = (side == Side::Left).then_some(slot as u8);
                FillResult::Partial(self.partial(PartialSymbol {
                    function: symbol.function,
                    filled,
                    last_left,
                }))
            };
            let argument = self.fill_set(types);
            found.push(Fill { from, argument, to, rule });
        }
        found
    }

    pub(crate) fn fill_set(&mut self, types: Vec<TypeId>) -> u16 {
        let known = self.fill_sets.iter().position(|set| *set == types);
        known.unwrap_or_else(|| {
            self.fill_sets.push(types);
            self.fill_sets.len() - 1
        }) as u16
    }

    pub(crate) fn partial(&mut self, symbol: PartialSymbol) -> u16 {
        let fresh = self.partials.len() as u16;
        let id = *self.partial_of.entry(symbol.clone()).or_insert(fresh);
        if id == fresh {
            self.partials.push(symbol);
        }
        id
    }

    fn row(&mut self, ty: TypeId) -> u16 {
        let fresh = self.result_rows.len() as u16;
        let row = *self.row_of[ty.index()].get_or_insert(fresh);
        if row == fresh {
            self.result_rows.push(ty);
        }
        row
    }

    pub(super) fn accumulators(&mut self, domain: &Domain) {
        let mut n_places = domain.accumulator_types().len();
        for (id, types) in domain.accumulator_types().iter_enumerated() {
            let slot = types.over.map(|over| self.slot(domain, over));
            let first = types.elements.first().copied().unwrap_or(types.result);
            let gather = self.rule(RuleKind::Gather, first, types.result, Side::Right);
            let over = types
                .over
                .zip(slot)
                .map(|(over, slot)| Over { slot, apply: self.both(RuleKind::Apply, over, types.result) });
            let closes = types.has_default || types.is_set();
            let close = closes.then(|| self.rule(RuleKind::Close, first, types.result, Side::Right));
            let n_tracked = if types.is_tracked() { types.unique.len() } else { 0 };
            let more = n_places as u16;
            n_places += (1 << n_tracked) - 1;
            let gathering = Gathering { over, result: types.result, gather, close, n_tracked, more };
            self.gatherings.push(gathering);
            let is_element =
                |ty: &TypeId| types.elements.iter().any(|&element| domain.types().is_subtype(*ty, element));
            let elements: Vec<TypeId> = self.scope.types.iter().copied().filter(is_element).collect();
            elements.iter().for_each(|ty| {
                self.gathering_of[ty.index()].get_or_insert(id);
            });
            self.elements_of.resize(n_places, Vec::new());
            for ty in elements {
                let number = types.unique_number(ty).filter(|_| n_tracked > 0);
                let used = number.map_or(0, |number| 1 << number);
                self.elements_of[gathering.place(id, used)].push(ty);
            }
        }
    }

    /// All functions whose only open slot accepts a set. Composites come with the types of their row and column.
    pub(super) fn spreads(&mut self, domain: &Domain) {
        let sets: Vec<(AccumulatorId, TypeId)> = (self.gatherings.iter_enumerated())
            .filter(|(_, gathering)| gathering.over.is_none())
            .map(|(id, gathering)| (id, gathering.result))
            .collect();
        for (set, ty) in sets {
            let accepts = |slot: TypeId| domain.types().is_subtype(ty, slot);
            let mut found: Vec<(SpreadFunction, TypeId, TypeId)> = Vec::new();
            for (id, unary) in (0..).zip(&self.unaries).filter(|(_, unary)| unary.directed.is_none()) {
                found.push((SpreadFunction::Unary(id), unary.slot_type, unary.result));
            }
            for &(partial, column, row) in &self.open_partials {
                let (slot, result) = (self.slot_types[column as usize], self.result_rows[row as usize]);
                found.push((SpreadFunction::Partial(partial), slot, result));
            }
            for (row, &result) in self.result_rows.iter().enumerate() {
                for (column, &slot) in self.slot_types.iter().enumerate() {
                    let place = (row * self.n_columns + column) as u32;
                    found.push((SpreadFunction::Composite(place), slot, result));
                }
            }
            found.retain(|&(_, slot, _)| accepts(slot));
            if self.options.discontinuity == Discontinuity::None {
                found.retain(|(function, ..)| !matches!(function, SpreadFunction::Composite(_)));
            }
            for (function, slot, result) in found {
                let to = self.spread_symbol(set, ty, result);
                let rule = self.rule(RuleKind::Spread, slot, result, Side::Right);
                self.spreads.push(Spread { function, set, to, rule });
            }
        }
    }

    fn spread_symbol(&mut self, set: AccumulatorId, ty: TypeId, result: TypeId) -> u16 {
        let known = self.spread_symbols.iter().position(|known| known.set == set && known.result == result);
        known.unwrap_or_else(|| {
            let settle = self.rule(RuleKind::Settle, ty, result, Side::Left);
            let first = self.spread_symbols.len();
            let symbol = |used| SpreadSymbol { set, used, result, settle };
            self.spread_symbols.extend(self.gatherings[set].choices().map(symbol));
            first
        }) as u16
    }

    pub(super) fn open_composites(&mut self, domain: &Domain) {
        for (id, unary) in self.unaries.clone().into_iter().enumerate() {
            if unary.directed.is_none() {
                self.row(unary.result);
            }
            self.giving[unary.result.index()].push(id as u16);
        }
        self.n_columns = self.slot_types.len().next_multiple_of(LANES);
        for slot in 0..self.slot_types.len() {
            let accepts =
                |&row: &u16| domain.types().is_subtype(self.result_rows[row as usize], self.slot_types[slot]);
            let rows: Vec<u16> = (0..self.result_rows.len() as u16).filter(accepts).collect();
            self.accepted_rows.push(rows);
        }
        self.accepting = vec![Vec::new(); self.n_types];
        for &ty in &self.scope.types {
            let accepts = |&slot: &u16| domain.types().is_subtype(ty, self.slot_types[slot as usize]);
            self.accepting[ty.index()] = (0..self.slot_types.len() as u16).filter(accepts).collect();
        }
        for row in 0..self.result_rows.len() {
            let composes = |&id: &u16| {
                let unary = &self.unaries[id as usize];
                unary.directed.is_none()
                    && unary.result == self.result_rows[row]
                    && !self.accepted_rows[unary.slot as usize].is_empty()
            };
            let with_slot = |id: u16| (id, self.unaries[id as usize].slot);
            let unaries: Vec<(u16, u16)> =
                (0..self.unaries.len() as u16).filter(composes).map(with_slot).collect();
            self.composable.extend(unaries.iter().map(|&(_, slot)| slot));
            self.composing.push(unaries);
        }
        self.composable.sort_unstable();
        self.composable.dedup();
        // Nothing else reads what is open by slot.
        for slots in &mut self.accepting {
            slots.retain(|slot| self.composable.contains(slot));
        }
        for side in [Side::Left, Side::Right] {
            let mut table = vec![u32::MAX; self.result_rows.len() * self.n_columns];
            for row in 0..self.result_rows.len() {
                for column in 0..self.slot_types.len() {
                    let (input, output) = (self.slot_types[column], self.result_rows[row]);
                    table[row * self.n_columns + column] = self.rule(RuleKind::Finish, input, output, side);
                }
            }
            self.finish[side as usize] = table;
        }
    }

    pub(super) fn root(&mut self, domain: &Domain) {
        for ty in self.scope.types.clone() {
            let accepts = |root: &&TypeId| domain.types().is_subtype(ty, **root);
            if let Some(&root) = domain.root_types().iter().find(accepts) {
                // Like a slot, the root is scored by the type it requires, so that rare subtypes share a score.
                let rule = self.rule(RuleKind::Root, root, root, Side::Right);
                self.roots.push((ty, rule));
            }
        }
    }
}

/// The first open slot that accepts an argument on this side. Slots come with the sides that they require.
pub(crate) fn first_accepting(
    domain: &Domain,
    (slots, sides): (&[TypeId], &[Option<Side>]),
    filled: u16,
    argument: TypeId,
    side: Side,
) -> Option<usize> {
    (0..slots.len()).find(|&slot| {
        filled >> slot & 1 == 0
            && sides[slot].is_none_or(|wanted| wanted == side)
            && domain.types().is_subtype(argument, slots[slot])
    })
}

/// Whether an argument from the right would have filled the same slot before the last one from the left came:
/// then that order is the normal one and this one is not.
pub(crate) fn commutes(
    domain: &Domain,
    slots: (&[TypeId], &[Option<Side>]),
    symbol: &PartialSymbol,
    argument: TypeId,
    slot: usize,
) -> bool {
    symbol.last_left.is_some_and(|last| {
        let before = symbol.filled & !(1 << last);
        first_accepting(domain, slots, before, argument, Side::Right) == Some(slot)
    })
}
