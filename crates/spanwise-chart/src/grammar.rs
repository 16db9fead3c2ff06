//! The typed grammar: which symbols a chart cell can hold and which rules combine them.
//!
//! Compiled once per domain and [`Options`], the same for all sentences. Every derivation is in *normal form*:
//! one per reading of the words, so that sums over derivations are sums over readings.
//!
//! ```text
//! leaf      a constant on words, with the null words that follow it; used in exactly one way
//! C[t]      a complete term of type t
//! O[a -> b] an open composite, with the side of its last function
//! P         a function of several slots with some filled
//! L         values gathered for an accumulator
//!
//! (1) C[b]    <- leaf[a -> b] C[a]       or mirrored
//! (2) O[a->c] <- leaf[b -> c] open[a->b] or mirrored; open is a leaf, an O, or a P with one slot left
//! (3) C[b]    <- C[a] O[a -> b]          only on the side opposite to O's own last function, or mirrored
//! (4) P       <- leaf C, P C             or mirrored; the argument fills the first open slot that accepts it, and
//!                                        where the order of two sides does not matter the right one comes first
//! (5) L       <- value L                 values join from the right; L C[over] <- or mirrored; L alone closes
//! (6) C[b]    <- C[a]                    an implicit constant; [`crate::implicit`] has the others
//! (7) V       <- C[e] C[e], C[e] V       elements of a set, two or more; V alone closes: C[set] <- V
//! (8) H[b]    <- f[set -> b] X           X is C[e] or V, f a leaf, an O, or a P with one slot left;
//!     C[b]    <- X H[b]                  so a function stands between the elements of its set
//! root        C[t] from any position to the end, t a root type; the words before it are null words
//! ```

use crate::implicit::Implicit;
use crate::layout::{Layout, unary_slot};
pub use crate::rules::{Discontinuity, N_USAGES, Options, RuleKey, RuleKind, Side, Usage};
use hashbrown::HashMap;
use spanwise_core::{Idx, IndexVec};
use spanwise_lang::states::AccumulatorId;
use spanwise_lang::{ConstantId, Domain, FrameId, TypeId};
use std::ops::Range;

/// A function with one slot, as a leaf: `slot -> result`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Unary {
    /// Number of the slot type among slot types.
    pub slot: u16,
    pub slot_type: TypeId,
    /// The only side on which its argument can be. Such a leaf is never composed.
    pub directed: Option<Side>,
    pub result: TypeId,
    /// Scores of application, by side of the argument; `u32::MAX` on a side where it may not stand.
    pub apply: [u32; 2],
    /// Scores of composition, by side of the open function; `u32::MAX` for a directed leaf.
    pub compose: [u32; 2],
}

/// A function of several slots.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct FunctionSymbol {
    pub slots: Vec<TypeId>,
    /// For each slot, the only side on which its argument can be.
    pub sides: Vec<Option<Side>>,
    pub result: TypeId,
}

/// A function of several slots with some filled. `filled == 0` only for leaves, which are not stored in `P`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct PartialSymbol {
    /// Number of the function among those with several slots.
    pub function: u16,
    pub filled: u16,
    /// The slot that the last argument filled, if that came from the left.
    pub last_left: Option<u8>,
}

/// One way to give a leaf or a partial function an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fill {
    /// The leaf function (in `functions`) or the partial (in `partials`) that takes it.
    pub from: u16,
    /// The set of types that the argument may have, among `fill_sets`.
    pub argument: u16,
    pub to: FillResult,
    pub rule: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FillResult {
    Partial(u16),
    Done(TypeId),
}

impl FillResult {
    /// Its place in [`Grammar::fills_giving`].
    pub(crate) fn index(self, n_types: usize) -> usize {
        match self {
            Self::Done(ty) => ty.index(),
            Self::Partial(id) => n_types + id as usize,
        }
    }
}

/// An accumulator or a set in the grammar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Gathering {
    /// What an accumulator is applied to; absent for a set.
    pub over: Option<Over>,
    pub result: TypeId,
    pub gather: u32,
    /// Absent for an accumulator without a default.
    pub close: Option<u32>,
    /// How many constants that make at most one element are kept apart.
    pub n_tracked: usize,
    /// Where its elements that have some of these begin in a cell; the first place, of none of them, is its own number.
    pub more: u16,
}

impl Gathering {
    /// The place of elements of which these come from constants that make at most one.
    pub(crate) fn place(&self, set: AccumulatorId, used: u8) -> usize {
        if used == 0 { set.index() } else { self.more as usize + used as usize - 1 }
    }

    /// Every choice of constants that make at most one element.
    pub(crate) fn choices(&self) -> Range<u8> {
        0..1 << self.n_tracked
    }

    /// Those that one element can have.
    pub(crate) fn single(&self) -> impl Iterator<Item = u8> + use<> {
        std::iter::once(0).chain((0..self.n_tracked).map(|number| 1 << number))
    }

    /// Every choice that goes with this one.
    pub(crate) fn beside(&self, used: u8) -> impl Iterator<Item = u8> + use<> {
        self.choices().filter(move |others| others & used == 0)
    }
}

/// The last argument of an accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Over {
    pub slot: u16,
    /// By side of the argument.
    pub apply: [u32; 2],
}

/// A function with some elements of a set: `H[b]` of rule (8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SpreadSymbol {
    pub set: AccumulatorId,
    /// The constants that make at most one element of which it has one.
    pub used: u8,
    pub result: TypeId,
    pub settle: u32,
}

/// A function that takes the elements of a set from both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Spread {
    pub function: SpreadFunction,
    /// The set, and the symbol among `spread_symbols` that it becomes; the next ones have more constants used.
    pub set: AccumulatorId,
    pub to: u16,
    pub rule: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SpreadFunction {
    /// A leaf with one slot.
    Unary(u16),
    /// A partial function with one slot left.
    Partial(u16),
    /// A place among open composites, those of either side.
    Composite(u32),
}

/// The typed grammar of a domain.
///
/// In `switch on hall`, with `on` of type `Lamp -> Action` and `hall` of type `Lamp`, rule (1) builds the root:
///
/// ```text
/// leaf[Lamp -> Action]  0..2  on          used as ApplyRight
/// C[Lamp]               2..3  hall        used as Closed
/// C[Action]             0..3  on(hall)    rule Apply, input Lamp, output Action, argument on the right
/// ```
#[derive(Clone, Debug)]
pub struct Grammar {
    pub(crate) options: Options,
    pub(crate) n_types: usize,
    /// For each type, the type of the file that it is a part of.
    bases: Vec<TypeId>,
    pub(crate) rules: Vec<RuleKey>,
    pub(crate) rule_index: HashMap<RuleKey, u32>,
    /// Types that occur as open slots: columns of open composites and rows of what functions accept.
    pub(crate) slot_types: Vec<TypeId>,
    /// For each slot type, the types it accepts.
    pub(crate) accepted: Vec<Vec<TypeId>>,
    /// Types that open functions give: rows of open composites.
    pub(crate) result_rows: Vec<TypeId>,
    pub(crate) row_of: Vec<Option<u16>>,
    /// For each slot type, the rows it accepts.
    pub(crate) accepted_rows: Vec<Vec<u16>>,
    /// For each type, the slot types that accept it.
    pub(crate) accepting: Vec<Vec<u16>>,
    pub(crate) unaries: Vec<Unary>,
    unary_of: HashMap<(TypeId, TypeId, Option<Side>), u16>,
    /// For each type, the leaves with one slot that give it.
    pub(crate) giving: Vec<Vec<u16>>,
    /// Slots of leaves that something open could be given to.
    pub(crate) composable: Vec<u16>,
    /// For each row, the leaves that give it and that something open could be given to, with their slots.
    pub(crate) composing: Vec<Vec<(u16, u16)>>,
    /// Functions with several slots.
    pub(crate) functions: Vec<FunctionSymbol>,
    function_of: HashMap<FunctionSymbol, u16>,
    pub(crate) partials: Vec<PartialSymbol>,
    pub(crate) partial_of: HashMap<PartialSymbol, u16>,
    /// For partials with one slot left, that slot (among slot types) and the row of the result.
    pub(crate) open_partials: Vec<(u16, u16, u16)>,
    /// Ways to fill leaves, by side of the argument.
    pub(crate) leaf_fills: [Vec<Fill>; 2],
    /// Ways to fill partials, by side of the argument.
    pub(crate) partial_fills: [Vec<Fill>; 2],
    /// Sets of types that fill the same slots.
    pub(crate) fill_sets: Vec<Vec<TypeId>>,
    /// The fills above by what they give: complete terms by type, then partials. Each with the side of its
    /// argument and whether it fills a leaf.
    pub(crate) fills_giving: Vec<Vec<(Side, bool, Fill)>>,
    pub(crate) implicit: Implicit,
    pub(crate) gatherings: IndexVec<AccumulatorId, Gathering>,
    pub(crate) spread_symbols: Vec<SpreadSymbol>,
    pub(crate) spreads: Vec<Spread>,
    /// For each type, the accumulator or set that its values gather for, and the types for each of those, by place.
    pub(crate) gathering_of: Vec<Option<AccumulatorId>>,
    pub(crate) elements_of: Vec<Vec<TypeId>>,
    /// Root types with the number of their rule.
    pub(crate) roots: Vec<(TypeId, u32)>,
    /// `Finish` rules by side of the argument: rows by columns, `u32::MAX` where there is none.
    pub(crate) finish: [Vec<u32>; 2],
    pub(crate) n_columns: usize,
    /// How each frame enters the chart.
    pub(crate) leaf_symbol: Vec<LeafSymbol>,
    /// Where the values of symbols are within a cell.
    pub(crate) layout: Layout,
    /// For each frame, the places of a cell that its leaves add to, with the usage that they are scored by.
    leaf_places: Vec<(u32, Usage)>,
    /// For each frame, where its places begin; one more at the end.
    place_starts: Vec<u32>,
    /// For each constant, its frames. The entities of a class share one.
    pub(crate) frames_of: Vec<Range<u32>>,
}

/// How a bare constant enters the chart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LeafSymbol {
    Closed(TypeId),
    Unary(u16),
    Function(u16),
    /// No complete program can contain it.
    Unreachable,
}

/// Columns are padded to this, so that loops over them have no remainder.
pub(crate) const LANES: usize = 8;

impl Grammar {
    /// Compiles the grammar of a domain.
    #[must_use]
    pub fn new(domain: &Domain, options: Options) -> Self {
        let n_types = domain.types().len();
        let mut grammar = Self {
            options,
            n_types,
            bases: domain.types().ids().map(|ty| domain.types().base(ty)).collect(),
            rules: Vec::new(),
            rule_index: HashMap::new(),
            slot_types: Vec::new(),
            accepted: Vec::new(),
            result_rows: Vec::new(),
            row_of: vec![None; n_types],
            accepted_rows: Vec::new(),
            accepting: Vec::new(),
            unaries: Vec::new(),
            unary_of: HashMap::new(),
            giving: vec![Vec::new(); n_types],
            composable: Vec::new(),
            composing: Vec::new(),
            functions: Vec::new(),
            function_of: HashMap::new(),
            partials: Vec::new(),
            partial_of: HashMap::new(),
            open_partials: Vec::new(),
            leaf_fills: [Vec::new(), Vec::new()],
            partial_fills: [Vec::new(), Vec::new()],
            fill_sets: Vec::new(),
            fills_giving: Vec::new(),
            implicit: Implicit::default(),
            gatherings: IndexVec::new(),
            spread_symbols: Vec::new(),
            spreads: Vec::new(),
            gathering_of: vec![None; n_types],
            elements_of: Vec::new(),
            roots: Vec::new(),
            finish: [Vec::new(), Vec::new()],
            n_columns: 0,
            leaf_symbol: Vec::new(),
            layout: Layout::default(),
            leaf_places: Vec::new(),
            place_starts: vec![0],
            frames_of: domain.constants().iter().map(|constant| constant.frames.clone()).collect(),
        };
        grammar.leaves(domain);
        grammar.unsaid_arguments(domain);
        grammar.fills(domain);
        grammar.accumulators(domain);
        grammar.implicit_steps(domain);
        grammar.open_composites(domain);
        grammar.spreads(domain);
        grammar.root(domain);
        grammar.layout = Layout::new(&grammar);
        grammar.place_leaves();
        grammar
    }

    fn place_leaves(&mut self) {
        let Self { layout, leaf_places: places, unaries, leaf_symbol, .. } = self;
        for symbol in &*leaf_symbol {
            let mut add = |place: usize, usage| places.push((place as u32, usage));
            match *symbol {
                LeafSymbol::Unreachable => {}
                LeafSymbol::Closed(ty) => add(layout.leaf_closed.start + ty.index(), Usage::Closed),
                LeafSymbol::Unary(id) => {
                    let only = unaries[id as usize].directed.map(Usage::applied);
                    for &usage in
                        Usage::ALL[1..].iter().filter(|&&usage| only.is_none_or(|only| only == usage))
                    {
                        add(layout.unary[unary_slot(usage)].start + id as usize, usage);
                    }
                }
                LeafSymbol::Function(id) => {
                    add(layout.function[0].start + id as usize, Usage::ApplyLeft);
                    add(layout.function[1].start + id as usize, Usage::ApplyRight);
                }
            }
            self.place_starts.push(places.len() as u32);
        }
    }

    /// The places of a cell that the leaves of a constant add to, with the usage that they are scored by.
    #[inline]
    pub(crate) fn leaf_places(&self, constant: ConstantId) -> &[(u32, Usage)] {
        let Range { start, end } = self.frames_of[constant.index()];
        let place = |frame: u32| self.place_starts[frame as usize] as usize;
        &self.leaf_places[place(start)..place(end)]
    }

    /// Number of rules with a score of their own.
    #[must_use]
    pub fn n_rules(&self) -> usize {
        self.rules.len()
    }

    /// The size of the grammar, as a human-readable text.
    #[must_use]
    pub fn sizes(&self) -> String {
        format!(
            "{} types, {} functions of one slot and {} of several, {} partial functions, {} by {} open composites, {} rules",
            self.n_types,
            self.unaries.len(),
            self.functions.len(),
            self.partials.len(),
            self.result_rows.len(),
            self.slot_types.len(),
            self.rules.len()
        )
    }

    /// What each rule score stands for.
    #[must_use]
    pub fn rules(&self) -> &[RuleKey] {
        &self.rules
    }

    /// What the grammar allows.
    #[must_use]
    pub fn options(&self) -> Options {
        self.options
    }

    pub(crate) fn rule(&mut self, kind: RuleKind, input: TypeId, output: TypeId, side: Side) -> u32 {
        let key = self.key(kind, input, output, side);
        let fresh = self.rules.len() as u32;
        let id = *self.rule_index.entry(key).or_insert(fresh);
        if id == fresh {
            self.rules.push(key);
        }
        id
    }

    /// The key of a rule. Types that only one constant has are scored like those of the file.
    pub(crate) fn key(&self, kind: RuleKind, input: TypeId, output: TypeId, side: Side) -> RuleKey {
        let base = |ty: TypeId| self.bases[ty.index()];
        RuleKey { kind, input: base(input), output: base(output), side }
    }

    fn both(&mut self, kind: RuleKind, input: TypeId, output: TypeId) -> [u32; 2] {
        [Side::Left, Side::Right].map(|side| self.rule(kind, input, output, side))
    }

    pub(crate) fn slot(&mut self, domain: &Domain, ty: TypeId) -> u16 {
        if let Some(at) = self.slot_types.iter().position(|&known| known == ty) {
            return at as u16;
        }
        self.slot_types.push(ty);
        let accepts = |&below: &TypeId| domain.types().is_subtype(below, ty);
        self.accepted.push(domain.types().ids().filter(accepts).collect());
        (self.slot_types.len() - 1) as u16
    }

    fn leaves(&mut self, domain: &Domain) {
        let n_frames = domain.constants().iter().map(|constant| constant.frames.end).max().unwrap_or(0);
        for raw in 0..n_frames {
            let frame = domain.frame(FrameId(raw));
            let symbol = match (frame.state, frame.slots.as_slice()) {
                (None, _) => LeafSymbol::Unreachable,
                (Some(_), []) => LeafSymbol::Closed(frame.result),
                (Some(_), [slot]) => {
                    LeafSymbol::Unary(self.unary(domain, *slot, frame.sides[0], frame.result))
                }
                (Some(_), slots) => {
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
    fn fills(&mut self, domain: &Domain) {
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
            let types: Vec<TypeId> = domain.types().ids().filter(fills_it).collect();
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

    fn accumulators(&mut self, domain: &Domain) {
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
            let elements: Vec<TypeId> = domain.types().ids().filter(is_element).collect();
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
    fn spreads(&mut self, domain: &Domain) {
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

    fn open_composites(&mut self, domain: &Domain) {
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
        for ty in domain.types().ids() {
            let accepts = |&slot: &u16| domain.types().is_subtype(ty, self.slot_types[slot as usize]);
            let slots: Vec<u16> = (0..self.slot_types.len() as u16).filter(accepts).collect();
            self.accepting.push(slots);
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

    fn root(&mut self, domain: &Domain) {
        for ty in domain.types().ids() {
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
