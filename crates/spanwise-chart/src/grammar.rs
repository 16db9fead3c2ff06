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

mod compile;

use crate::implicit::Implicit;
use crate::lattice::Lattice;
use crate::layout::{Layout, unary_slot};
pub use crate::rules::{Discontinuity, N_USAGES, Options, RuleKey, RuleKind, Side, Usage};
use crate::scope::Scope;
pub(crate) use compile::{commutes, first_accepting};
use hashbrown::HashMap;
use spanwise_core::{Idx, IndexVec};
use spanwise_lang::states::AccumulatorId;
use spanwise_lang::{ConstantId, Domain, TypeId};
use std::ops::Range;
use std::sync::Arc;

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
    /// What it covers.
    pub(crate) scope: Scope,
    shared: Arc<Shared>,
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
}

/// What a grammar and its parts have in common.
#[derive(Clone, Debug)]
struct Shared {
    /// For each type, the type of the file that it is a part of.
    bases: Vec<TypeId>,
    /// For each constant, its frames. The entities of a class share one.
    frames_of: Vec<Range<u32>>,
    rules: Vec<RuleKey>,
    rule_index: HashMap<RuleKey, u32>,
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

/// Most values in a cell of a grammar that is never divided. Below that, a chart is hardly slower than its part and the
/// making of it together.
const LARGE: usize = 16_384;

/// Columns are padded to this, so that loops over them have no remainder.
pub(crate) const LANES: usize = 8;

impl Grammar {
    /// Compiles the grammar of a domain.
    #[must_use]
    pub fn new(domain: &Domain, options: Options) -> Self {
        let shared = Shared {
            bases: domain.types().ids().map(|ty| domain.types().base(ty)).collect(),
            frames_of: domain.constants().iter().map(|constant| constant.frames.clone()).collect(),
            rules: Vec::new(),
            rule_index: HashMap::new(),
        };
        Self::compile(domain, options, Scope::whole(domain), Arc::new(shared), Implicit::default())
    }

    /// The part of this grammar that programs over the leaves of a lattice can use, with the same rules. A chart is as large
    /// as its grammar, so this is what makes large domains affordable: of thousands of predicates, the words of an utterance
    /// name a few. `None` where the whole grammar is small, or most of it is needed: then it serves as well.
    ///
    /// Cost: about that of a small chart.
    #[must_use]
    pub fn part(&self, domain: &Domain, lattice: &Lattice) -> Option<Self> {
        if self.layout.stride < LARGE {
            return None;
        }
        let scope = self.scope.of(domain, self.options, lattice);
        let is_small = 2 * scope.n_frames() <= self.scope.n_frames();
        is_small.then(|| self.part_of(domain, scope))
    }

    /// The same, however large either is.
    #[must_use]
    pub fn smallest_part(&self, domain: &Domain, lattice: &Lattice) -> Self {
        self.part_of(domain, self.scope.of(domain, self.options, lattice))
    }

    fn part_of(&self, domain: &Domain, scope: Scope) -> Self {
        Self::compile(domain, self.options, scope, Arc::clone(&self.shared), self.implicit.of_part())
    }

    fn compile(
        domain: &Domain,
        options: Options,
        scope: Scope,
        shared: Arc<Shared>,
        implicit: Implicit,
    ) -> Self {
        let n_types = domain.types().len();
        let mut grammar = Self {
            options,
            n_types,
            scope,
            shared,
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
            implicit,
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

    /// The frames of a constant.
    #[inline]
    pub(crate) fn frames_of(&self, constant: ConstantId) -> Range<u32> {
        self.shared.frames_of[constant.index()].clone()
    }

    /// The places of a cell that the leaves of a constant add to, with the usage that they are scored by.
    #[inline]
    pub(crate) fn leaf_places(&self, constant: ConstantId) -> &[(u32, Usage)] {
        let Range { start, end } = self.frames_of(constant);
        let place = |frame: u32| self.place_starts[frame as usize] as usize;
        &self.leaf_places[place(start)..place(end)]
    }

    /// Number of rules with a score of their own.
    #[must_use]
    pub fn n_rules(&self) -> usize {
        self.shared.rules.len()
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
            self.n_rules()
        )
    }

    /// What each rule score stands for.
    #[must_use]
    pub fn rules(&self) -> &[RuleKey] {
        &self.shared.rules
    }

    /// What the grammar allows.
    #[must_use]
    pub fn options(&self) -> Options {
        self.options
    }

    pub(crate) fn rule(&mut self, kind: RuleKind, input: TypeId, output: TypeId, side: Side) -> u32 {
        let key = self.key(kind, input, output, side);
        if let Some(known) = self.rule_of(&key) {
            return known;
        }
        // Only while the whole grammar is compiled: a part has no rules of its own.
        let shared = Arc::make_mut(&mut self.shared);
        let id = shared.rules.len() as u32;
        shared.rules.push(key);
        shared.rule_index.insert(key, id);
        id
    }

    /// The number of a rule.
    pub(crate) fn rule_of(&self, key: &RuleKey) -> Option<u32> {
        self.shared.rule_index.get(key).copied()
    }

    /// The key of a rule. Types that only one constant has are scored like those of the file.
    pub(crate) fn key(&self, kind: RuleKind, input: TypeId, output: TypeId, side: Side) -> RuleKey {
        let base = |ty: TypeId| self.shared.bases[ty.index()];
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
        self.accepted.push(self.scope.types.iter().copied().filter(accepts).collect());
        (self.slot_types.len() - 1) as u16
    }
}
