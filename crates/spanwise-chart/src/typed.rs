//! The typed chart: CKY over items (positions, symbol of the [`Grammar`]), with values in any [`Semiring`].
//!
//! One contiguous block of values per cell, shorter cells first; the inner loops run over contiguous rows of
//! open composites and neither hash nor allocate. Cost: for `m` positions, `m^3 / 6` splits, each linear in the
//! number of rules, with one row operation for every function that could be composed.

mod implicit;

use crate::budget::{Exhausted, Meter};
use crate::grammar::{Fill, FillResult, Gathering, Grammar, LANES, N_USAGES, Side, SpreadFunction, Usage};
use crate::lattice::{ChartError, Lattice, Scores};
use crate::layout::{Layout, MAX_OPEN, Storage, unary_slot};
use crate::semiring::{Semiring, give_array, take_array};
use spanwise_core::Idx;
use spanwise_lang::Domain;
use spanwise_lang::states::AccumulatorId;
use std::ops::Range;
use std::sync::Arc;

/// Rule scores as values of a semiring, shared by all sentences that are scored with them.
#[derive(Clone, Debug)]
pub struct RuleValues<S: Semiring> {
    pub(crate) rules: Arc<[S::Value]>,
    /// `Finish` rules in the shape of open composites, by side of the argument.
    pub(crate) finish: [Vec<S::Value>; 2],
    /// `Apply` and `Compose` rules of leaves with one slot, by side of the argument.
    apply: [Vec<S::Value>; 2],
    compose: [Vec<S::Value>; 2],
}

impl<S: Semiring> RuleValues<S> {
    /// Lifts the scores. Cost: one step per rule.
    #[must_use]
    pub fn new(grammar: &Grammar, scores: &[f32]) -> Self {
        Self::of(grammar, scores.iter().map(|&score| S::lift(f64::from(score))).collect())
    }

    /// The same scores for [a part](Grammar::part) of the grammar. Cost: one step per rule of the part.
    #[must_use]
    pub fn part(&self, grammar: &Grammar) -> Self {
        Self::of(grammar, Arc::clone(&self.rules))
    }

    fn of(grammar: &Grammar, rules: Arc<[S::Value]>) -> Self {
        let table = |side: usize| {
            grammar.finish[side]
                .iter()
                .map(|&rule| rules.get(rule as usize).copied().unwrap_or(S::ZERO))
                .collect()
        };
        let unaries = &grammar.unaries;
        let rule = |at: u32| rules.get(at as usize).copied().unwrap_or(S::ZERO);
        let apply = |side: usize| unaries.iter().map(|unary| rule(unary.apply[side])).collect();
        let compose = |side: usize| unaries.iter().map(|unary| rule(unary.compose[side])).collect();
        Self {
            finish: [table(0), table(1)],
            apply: [apply(0), apply(1)],
            compose: [compose(0), compose(1)],
            rules,
        }
    }
}

/// Which parts of a cell hold anything, so that empty parts are skipped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Occupied {
    pub closed: bool,
    pub composite: [bool; 2],
    pub open: bool,
    pub partial: bool,
    pub list: bool,
    pub inserted: bool,
    /// Elements of sets, or several of them.
    pub elements: bool,
    pub spread: bool,
}

/// A filled chart: the inside values of all items.
#[derive(Clone, Debug)]
pub struct TypedChart<S: Semiring> {
    pub(crate) layout: Layout,
    pub(crate) storage: Storage,
    pub(crate) values: Vec<S::Value>,
    pub(crate) occupied: Vec<Occupied>,
    /// Logarithms by which each position's values are scaled down, so that linear space suffices.
    pub(crate) scales: Vec<f64>,
    pub(crate) root: S::Value,
}

/// The input of a chart: one sentence with its scores.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    pub(crate) domain: &'a Domain,
    pub(crate) grammar: &'a Grammar,
    pub(crate) lattice: &'a Lattice,
    pub(crate) scores: Scores<'a>,
}

impl<'a> Input<'a> {
    /// Checks the scores. The grammar must be that of the domain.
    ///
    /// # Errors
    /// Scores that are too many, too few, or not numbers.
    pub fn new(
        domain: &'a Domain,
        grammar: &'a Grammar,
        lattice: &'a Lattice,
        scores: Scores<'a>,
    ) -> Result<Self, ChartError> {
        scores.check(grammar, lattice)?;
        Ok(Self { domain, grammar, lattice, scores })
    }

    /// The same with [a part](Grammar::part) of the grammar.
    #[must_use]
    pub fn with_part(self, grammar: &'a Grammar) -> Self {
        Self { grammar, ..self }
    }

    /// The same with these scores of joins, one per cell.
    #[must_use]
    pub fn with_joins(self, joins: &'a [f32]) -> Self {
        debug_assert_eq!(joins.len(), self.lattice.n_cells());
        Self { scores: Scores { joins, ..self.scores }, ..self }
    }

    /// The scores of constants that are inserted in a cell; empty where they have none.
    pub(crate) fn implicit_of(&self, cell: usize) -> &'a [f32] {
        let at = |cell: usize| self.grammar.implicit_at_cell(cell, 0);
        self.scores.implicit.get(at(cell)..at(cell + 1)).unwrap_or_default()
    }

    /// The score of a constant as an argument of a leaf.
    pub(crate) fn unsaid_score(&self, leaf: usize, number: u16) -> f64 {
        let at = self.grammar.implicit_at_leaf(self.lattice, leaf, number as usize);
        self.scores.implicit.get(at).map_or(0.0, |&score| f64::from(score))
    }

    /// The leaves.
    #[must_use]
    pub fn lattice(&self) -> &'a Lattice {
        self.lattice
    }
}

impl<S: Semiring> TypedChart<S> {
    /// Fills a chart. `scales` is zero for semirings that need no scaling.
    pub(crate) fn filled(input: &Input<'_>, rules: &RuleValues<S>, scales: Vec<f64>) -> Self {
        Self::fill(input, rules, scales, &Meter::unlimited())
            .unwrap_or_else(|_| unreachable!("there is no limit"))
    }

    /// Fills a chart within a budget. Its size is checked before, time once per cell.
    pub(crate) fn fill(
        input: &Input<'_>,
        rules: &RuleValues<S>,
        scales: Vec<f64>,
        meter: &Meter,
    ) -> Result<Self, Exhausted> {
        let layout = input.grammar.layout.clone();
        let n = input.lattice.n_positions();
        let storage = Storage::new(&layout, input.lattice);
        let mut chart = Self {
            values: take_array::<S>(storage.start(input.lattice.n_cells())),
            storage,
            occupied: vec![Occupied::default(); input.lattice.n_cells()],
            layout,
            scales,
            root: S::ZERO,
        };
        for length in 1..=n {
            for p in 0..=n - length {
                meter.cell()?;
                chart.cell(input, rules, p, p + length);
            }
        }
        chart.root = chart.sum_roots(input, rules);
        Ok(chart)
    }

    /// The value of all complete programs.
    #[must_use]
    pub fn root(&self) -> S::Value {
        self.root
    }

    /// The value at a place of a cell; what is open is stored only where the cell is occupied by it.
    pub(crate) fn value(&self, cell: usize, place: usize) -> S::Value {
        let (layout, occupied) = (&self.layout, self.occupied[cell]);
        let is_there = match place {
            _ if place < layout.composite[0].start => true,
            _ if place < layout.composite[1].start => occupied.composite[0],
            _ if place < layout.open.start => occupied.composite[1],
            _ => occupied.open,
        };
        if is_there { self.values[self.storage.start(cell) + place] } else { S::ZERO }
    }

    fn cell(&mut self, input: &Input<'_>, rules: &RuleValues<S>, p: usize, q: usize) {
        let lattice = input.lattice;
        let at = lattice.cell(p, q);
        let storage = self.storage;
        let (done, rest) = self.values.split_at_mut(storage.start(at));
        let target = &mut rest[..storage.len(at)];
        let mut occupied = Occupied::default();
        // What is open is cleared only where something open appears; `occupied` records where.
        target[..self.layout.partial.end].fill(S::ZERO);
        if q - p > 1 && lattice.is_skippable(q - 1) {
            let shorter = storage.start(lattice.cell(p, q - 1));
            let skip = S::lift(-self.scales[q - 1]);
            for (to, from) in target[self.layout.leaves.clone()].iter_mut().zip(&done[shorter..]) {
                *to = S::times(*from, skip);
            }
        }
        let offset: f64 = self.scales[p..q].iter().sum();
        for leaf in lattice.leaves_ending(p, q) {
            add_leaf::<S>(input, leaf, offset, target);
            if !input.grammar.implicit.unsaid.is_empty() {
                implicit::add_unsaid::<S>(input, rules, leaf, offset, target);
            }
        }
        let merge = Merge {
            grammar: input.grammar,
            layout: &self.layout,
            rules,
            keeps: Keeps::new(p, q, lattice.n_positions()),
            implicit: input.implicit_of(at),
        };
        for split in p + 1..q {
            let (left, right) = (lattice.cell(p, split), lattice.cell(split, q));
            let part = |cell: usize| Part {
                values: &done[storage.start(cell)..][..storage.len(cell)],
                occupied: self.occupied[cell],
            };
            merge.run(part(left), part(right), target, &mut occupied);
        }
        if let Some(&join) = input.scores.joins.get(at) {
            let join = S::lift(f64::from(join));
            let layout = &self.layout;
            let mut scale = |range: &Range<usize>| {
                target[range.clone()].iter_mut().for_each(|value| *value = S::times(*value, join));
            };
            let merged = [&layout.list, &layout.spread, &layout.raw, &layout.inserted, &layout.partial];
            merged.into_iter().for_each(&mut scale);
            (0..2).filter(|&side| occupied.composite[side]).for_each(|side| scale(&layout.composite[side]));
        }
        merge.finish(target, &mut occupied);
        self.occupied[at] = occupied;
    }

    fn sum_roots(&self, input: &Input<'_>, rules: &RuleValues<S>) -> S::Value {
        let n = input.lattice.n_positions();
        let mut skipped = S::ONE;
        let mut sum = S::ZERO;
        for p in input.lattice.firsts() {
            let cell = self.storage.start(input.lattice.cell(p, n));
            for &(ty, rule) in &input.grammar.roots {
                let closed = self.values[cell + self.layout.closed.start + ty.index()];
                sum = S::plus(sum, S::times(S::times(closed, rules.rules[rule as usize]), skipped));
            }
            skipped = S::times(skipped, S::lift(-self.scales[p]));
        }
        sum
    }
}

/// The bytes of a chart's values.
pub(crate) fn chart_bytes<S: Semiring>(input: &Input<'_>) -> usize {
    let storage = Storage::new(&input.grammar.layout, input.lattice);
    storage.start(input.lattice.n_cells()).saturating_mul(size_of::<S::Value>())
}

impl<S: Semiring> Drop for TypedChart<S> {
    fn drop(&mut self) {
        give_array::<S>(std::mem::take(&mut self.values));
    }
}

/// Adds a leaf in all its frames and usages.
fn add_leaf<S: Semiring>(input: &Input<'_>, leaf: usize, offset: f64, target: &mut [S::Value]) {
    let scores = &input.scores.leaves[leaf * N_USAGES..][..N_USAGES];
    let values: [S::Value; N_USAGES] = std::array::from_fn(|usage| S::lift_scaled(scores[usage], offset));
    for &(place, usage) in input.grammar.leaf_places(input.lattice.leaves()[leaf].constant) {
        target[place as usize] = S::plus(target[place as usize], values[usage.index()]);
    }
}

/// Most leaves that are composed in one go.
const MAX_UNARIES: usize = 256;

/// Adds rows of `from`, each times a value, to one row. Rows of usual widths are kept in registers meanwhile.
fn add_rows<S: Semiring>(
    to: &mut [[S::Value; LANES]],
    rows: impl Iterator<Item = (S::Value, u16)>,
    from: &[[S::Value; LANES]],
) {
    match to.len() {
        1 => add_rows_of::<S, 1>(to, rows, from),
        2 => add_rows_of::<S, 2>(to, rows, from),
        3 => add_rows_of::<S, 3>(to, rows, from),
        4 => add_rows_of::<S, 4>(to, rows, from),
        5 => add_rows_of::<S, 5>(to, rows, from),
        6 => add_rows_of::<S, 6>(to, rows, from),
        width => {
            for (value, row) in rows {
                for (to, from) in to.iter_mut().zip(&from[row as usize * width..]) {
                    for lane in 0..LANES {
                        to[lane] = S::plus(to[lane], S::times(value, from[lane]));
                    }
                }
            }
        }
    }
}

/// The same for rows of `N` chunks.
#[inline]
fn add_rows_of<S: Semiring, const N: usize>(
    to: &mut [[S::Value; LANES]],
    rows: impl Iterator<Item = (S::Value, u16)>,
    from: &[[S::Value; LANES]],
) {
    let Some(to) = to.first_chunk_mut::<N>() else { return };
    let mut sums = *to;
    for (value, row) in rows {
        let Some(from) = from[row as usize * N..].first_chunk::<N>() else { continue };
        for chunk in 0..N {
            for lane in 0..LANES {
                sums[chunk][lane] = S::plus(sums[chunk][lane], S::times(value, from[chunk][lane]));
            }
        }
    }
    *to = sums;
}

/// The sources with numbers from `start` on, at most `n` of them; sources are in order.
fn within(sources: &[(u16, u16)], start: usize, n: usize) -> &[(u16, u16)] {
    let from = sources.partition_point(|&(id, _)| (id as usize) < start);
    let to = sources.partition_point(|&(id, _)| (id as usize) < start + n);
    &sources[from..to]
}

/// What is worth keeping open in a cell, given what comes before and after it.
#[derive(Clone, Copy)]
struct Keeps {
    /// Composites by side of their last function: their argument is on that side.
    composite: [bool; 2],
    /// What another function could be composed with: that takes a place for it and one for the argument.
    open: bool,
}

impl Keeps {
    fn new(p: usize, q: usize, n_positions: usize) -> Self {
        let n_outside = n_positions - (q - p);
        let open = n_outside >= 2 && q - p <= MAX_OPEN;
        let near = n_outside == 1 && q - p <= MAX_OPEN;
        Self { composite: [open || near && p > 0, open || near && q < n_positions], open }
    }
}

#[derive(Clone, Copy)]
struct Part<'a, V> {
    values: &'a [V],
    occupied: Occupied,
}

struct Merge<'a, S: Semiring> {
    grammar: &'a Grammar,
    layout: &'a Layout,
    rules: &'a RuleValues<S>,
    keeps: Keeps,
    /// The scores of constants that are inserted in this cell; empty where they have none.
    implicit: &'a [f32],
}

impl<S: Semiring> Merge<'_, S> {
    fn run(
        &self,
        left: Part<'_, S::Value>,
        right: Part<'_, S::Value>,
        target: &mut [S::Value],
        occupied: &mut Occupied,
    ) {
        if right.occupied.closed {
            self.apply(left.values, right.values, Side::Right, target);
            self.fill(left, right, Side::Right, target, occupied);
        }
        if left.occupied.closed {
            self.apply(right.values, left.values, Side::Left, target);
            self.fill(right, left, Side::Left, target, occupied);
        }
        // A composite takes its argument on the side opposite to its last function.
        if right.occupied.composite[Side::Left as usize] && left.occupied.closed {
            self.complete(right.values, left.values, Side::Left, target);
        }
        if left.occupied.composite[Side::Right as usize] && right.occupied.closed {
            self.complete(left.values, right.values, Side::Right, target);
        }
        if self.keeps.composite[Side::Left as usize] && right.occupied.open {
            self.compose(left.values, right.values, Side::Right, target, occupied);
        }
        if self.keeps.composite[Side::Right as usize] && left.occupied.open {
            self.compose(right.values, left.values, Side::Left, target, occupied);
        }
        self.gather(left, right, target, occupied);
        if left.occupied.inserted && right.occupied.closed {
            self.fill_inserted(left, right, target, occupied);
        }
        if right.occupied.elements {
            self.spread(left, right, target, occupied);
        }
        if left.occupied.elements && right.occupied.spread {
            self.settle(left, right, target);
        }
    }

    fn add(target: &mut [S::Value], at: usize, value: S::Value) {
        target[at] = S::plus(target[at], value);
    }

    /// Rule (1): a leaf is applied to the argument on `side`.
    fn apply(&self, function: &[S::Value], argument: &[S::Value], side: Side, target: &mut [S::Value]) {
        let usage = Usage::applied(side);
        let leaves = &function[self.layout.unary[unary_slot(usage)].clone()];
        let accepted = &argument[self.layout.accepted.clone()];
        let raw = &mut target[self.layout.raw.clone()];
        let rules = &self.rules.apply[side as usize];
        for ((unary, &leaf), &rule) in self.grammar.unaries.iter().zip(leaves).zip(rules) {
            let value = S::times(S::times(leaf, rule), accepted[unary.slot as usize]);
            Self::add(raw, unary.result.index(), value);
        }
    }

    /// Rule (2): leaves are composed with what is open on `side`. Row by row, so that sums stay in registers.
    fn compose(
        &self,
        function: &[S::Value],
        inner: &[S::Value],
        side: Side,
        target: &mut [S::Value],
        occupied: &mut Occupied,
    ) {
        let grammar = self.grammar;
        let usage = Usage::composed(side);
        // The side of the function is opposite to that of what it is composed with.
        let own_side = side.other();
        let leaves = &function[self.layout.unary[unary_slot(usage)].clone()];
        let open = inner[self.layout.open.clone()].as_chunks::<LANES>().0;
        let n_chunks = grammar.n_columns / LANES;
        let composite = &mut target[self.layout.composite[own_side as usize].clone()];
        if !occupied.composite[own_side as usize] {
            if leaves.iter().all(|&leaf| leaf == S::ZERO) {
                return;
            }
            occupied.composite[own_side as usize] = true;
            composite.fill(S::ZERO);
        }
        let composite = composite.as_chunks_mut::<LANES>().0;
        let rules = &self.rules.compose[side as usize];
        let mut values = [S::ZERO; MAX_UNARIES];
        for (start, leaves) in (0..).step_by(MAX_UNARIES).zip(leaves.chunks(MAX_UNARIES)) {
            for ((value, &leaf), &rule) in values.iter_mut().zip(leaves).zip(&rules[start..]) {
                *value = S::times(leaf, rule);
            }
            for (row, sources) in grammar.composing.iter().enumerate() {
                let sources = within(sources, start, MAX_UNARIES);
                if sources.is_empty() {
                    continue;
                }
                let weighted = sources.iter().map(|&(id, slot)| (values[id as usize - start], slot));
                add_rows::<S>(&mut composite[row * n_chunks..][..n_chunks], weighted, open);
            }
        }
    }

    /// Rule (3): an open composite gets its argument on `side`.
    fn complete(&self, function: &[S::Value], argument: &[S::Value], side: Side, target: &mut [S::Value]) {
        let grammar = self.grammar;
        // The composite whose last function is on the side of the argument.
        let composite = function[self.layout.composite[side as usize].clone()].as_chunks::<LANES>().0;
        let accepted = argument[self.layout.accepted.clone()].as_chunks::<LANES>().0;
        let finish = self.rules.finish[side as usize].as_chunks::<LANES>().0;
        let n_chunks = grammar.n_columns / LANES;
        for (row, &ty) in grammar.result_rows.iter().enumerate() {
            let mut lanes = [S::ZERO; LANES];
            let (values, rules) =
                (&composite[row * n_chunks..][..n_chunks], &finish[row * n_chunks..][..n_chunks]);
            for ((values, rules), accepted) in values.iter().zip(rules).zip(accepted) {
                for lane in 0..LANES {
                    let value = S::times(S::times(values[lane], rules[lane]), accepted[lane]);
                    lanes[lane] = S::plus(lanes[lane], value);
                }
            }
            let sum = lanes.into_iter().fold(S::ZERO, S::plus);
            Self::add(target, self.layout.raw.start + ty.index(), sum);
        }
    }

    /// Rule (4): functions of several slots take an argument on `side`.
    fn fill(
        &self,
        function: Part<'_, S::Value>,
        argument: Part<'_, S::Value>,
        side: Side,
        target: &mut [S::Value],
        occupied: &mut Occupied,
    ) {
        let filling = &argument.values[self.layout.filling.clone()];
        // Fills lie in the order of what they fill: what is not there is passed over at once.
        let mut run = |fills: &[Fill], values: &[S::Value]| {
            for same in fills.chunk_by(|a, b| a.from == b.from) {
                let from = values[same[0].from as usize];
                if from == S::ZERO {
                    continue;
                }
                for fill in same {
                    let value = S::times(
                        S::times(from, self.rules.rules[fill.rule as usize]),
                        filling[fill.argument as usize],
                    );
                    let to = match fill.to {
                        FillResult::Done(ty) => self.layout.raw.start + ty.index(),
                        FillResult::Partial(id) => {
                            occupied.partial = true;
                            self.layout.partial.start + id as usize
                        }
                    };
                    Self::add(target, to, value);
                }
            }
        };
        let side = side as usize;
        run(&self.grammar.leaf_fills[side], &function.values[self.layout.function[side].clone()]);
        if function.occupied.partial {
            run(&self.grammar.partial_fills[side], &function.values[self.layout.partial.clone()]);
        }
    }

    /// Rule (5): values join values, and are applied to their set.
    fn gather(
        &self,
        left: Part<'_, S::Value>,
        right: Part<'_, S::Value>,
        target: &mut [S::Value],
        occupied: &mut Occupied,
    ) {
        for (id, gathering) in self.grammar.gatherings.iter_enumerated() {
            let at = |range: &Range<usize>| range.start + id.index();
            let rule = |rule: u32| self.rules.rules[rule as usize];
            let Some(over) = gathering.over else {
                if left.occupied.elements && right.occupied.elements {
                    self.gather_set((id, gathering), left.values, right.values, target, occupied);
                }
                continue;
            };
            let accepted =
                |part: Part<'_, S::Value>| part.values[self.layout.accepted.start + over.slot as usize];
            if right.occupied.list {
                let list = right.values[at(&self.layout.list)];
                let element = left.values[at(&self.layout.element)];
                let longer = S::times(S::times(element, rule(gathering.gather)), list);
                occupied.list |= longer != S::ZERO;
                Self::add(target, at(&self.layout.list), longer);
                let applied = S::times(S::times(list, rule(over.apply[0])), accepted(left));
                Self::add(target, self.layout.raw.start + gathering.result.index(), applied);
            }
            if left.occupied.list {
                let list = left.values[at(&self.layout.list)];
                let applied = S::times(S::times(list, rule(over.apply[1])), accepted(right));
                Self::add(target, self.layout.raw.start + gathering.result.index(), applied);
            }
        }
    }

    /// Rule (7): an element joins others, unless both come from a constant that makes at most one.
    fn gather_set(
        &self,
        (set, gathering): (AccumulatorId, &Gathering),
        left: &[S::Value],
        right: &[S::Value],
        target: &mut [S::Value],
        occupied: &mut Occupied,
    ) {
        let rule = self.rules.rules[gathering.gather as usize];
        for used in gathering.single() {
            let element = left[self.layout.element.start + gathering.place(set, used)];
            if element == S::ZERO {
                continue;
            }
            for others in gathering.beside(used) {
                let others_value = self.elements(right, gathering.place(set, others));
                let longer = S::times(S::times(element, rule), others_value);
                occupied.elements |= longer != S::ZERO;
                Self::add(target, self.layout.list.start + gathering.place(set, used | others), longer);
            }
        }
    }

    /// One element of a set, or several.
    fn elements(&self, values: &[S::Value], place: usize) -> S::Value {
        S::plus(values[self.layout.element.start + place], values[self.layout.list.start + place])
    }

    /// Rule (8): functions take elements of their set from the right.
    fn spread(
        &self,
        left: Part<'_, S::Value>,
        right: Part<'_, S::Value>,
        target: &mut [S::Value],
        occupied: &mut Occupied,
    ) {
        let layout = self.layout;
        let unary = layout.unary[unary_slot(Usage::ApplyRight)].start;
        let composite = |side: usize, place: usize| match left.occupied.composite[side] {
            true => left.values[layout.composite[side].start + place],
            false => S::ZERO,
        };
        for spread in &self.grammar.spreads {
            let function = match spread.function {
                SpreadFunction::Unary(id) => left.values[unary + id as usize],
                SpreadFunction::Partial(id) => left.values[layout.partial.start + id as usize],
                SpreadFunction::Composite(place) => {
                    S::plus(composite(0, place as usize), composite(1, place as usize))
                }
            };
            if function == S::ZERO {
                continue;
            }
            let rule = self.rules.rules[spread.rule as usize];
            let gathering = &self.grammar.gatherings[spread.set];
            for used in gathering.choices() {
                let elements = self.elements(right.values, gathering.place(spread.set, used));
                let value = S::times(S::times(function, rule), elements);
                occupied.spread |= value != S::ZERO;
                Self::add(target, layout.spread.start + spread.to as usize + used as usize, value);
            }
        }
    }

    /// Rule (8): they take the others from the left.
    fn settle(&self, left: Part<'_, S::Value>, right: Part<'_, S::Value>, target: &mut [S::Value]) {
        for (at, symbol) in self.grammar.spread_symbols.iter().enumerate() {
            let function = right.values[self.layout.spread.start + at];
            let rule = self.rules.rules[symbol.settle as usize];
            let gathering = &self.grammar.gatherings[symbol.set];
            for others in gathering.beside(symbol.used) {
                let elements = self.elements(left.values, gathering.place(symbol.set, others));
                let value = S::times(S::times(function, rule), elements);
                Self::add(target, self.layout.raw.start + symbol.result.index(), value);
            }
        }
    }

    /// What is left to do once all splits are merged: leaves, rule (6), and the sums that longer cells read.
    fn finish(&self, target: &mut [S::Value], occupied: &mut Occupied) {
        let (grammar, layout) = (self.grammar, self.layout);
        for ty in 0..grammar.n_types {
            let leaf = target[layout.leaf_closed.start + ty];
            if leaf == S::ZERO {
                continue;
            }
            Self::add(target, layout.raw.start + ty, leaf);
            if let Some(id) = grammar.gathering_of[ty].filter(|&id| grammar.gatherings[id].over.is_some()) {
                Self::add(target, layout.element.start + id.index(), leaf);
                Self::add(target, layout.list.start + id.index(), leaf);
                occupied.list = true;
            }
        }
        for (id, gathering) in grammar.gatherings.iter_enumerated() {
            if let Some(close) = gathering.close {
                for used in gathering.choices() {
                    let list = target[layout.list.start + gathering.place(id, used)];
                    let value = S::times(list, self.rules.rules[close as usize]);
                    Self::add(target, layout.raw.start + gathering.result.index(), value);
                }
            }
        }
        self.insert(target, occupied);
        occupied.closed = target[layout.closed.clone()].iter().any(|&value| value != S::ZERO);
        for (id, gathering) in grammar.gatherings.iter_enumerated().filter(|_| occupied.closed) {
            for place in gathering.single().map(|used| gathering.place(id, used)) {
                if gathering.over.is_none() {
                    let sum = Self::sum_types(target, layout.closed.start, &grammar.elements_of[place]);
                    target[layout.element.start + place] = sum;
                    occupied.elements |= sum != S::ZERO;
                }
            }
        }
        for (slot, types) in grammar.accepted.iter().enumerate() {
            target[layout.accepted.start + slot] = Self::sum_types(target, layout.closed.start, types);
        }
        for (set, types) in grammar.fill_sets.iter().enumerate() {
            target[layout.filling.start + set] = Self::sum_types(target, layout.closed.start, types);
        }
        self.start_inserted(target, occupied);
        if self.keeps.open && grammar.options.discontinuity != crate::grammar::Discontinuity::None {
            self.finish_open(target, occupied);
        }
    }

    fn sum_types(values: &[S::Value], start: usize, types: &[spanwise_lang::TypeId]) -> S::Value {
        types.iter().fold(S::ZERO, |sum, ty| S::plus(sum, values[start + ty.index()]))
    }

    /// Everything open, by the slot type that accepts it.
    fn finish_open(&self, target: &mut [S::Value], occupied: &mut Occupied) {
        let (grammar, layout) = (self.grammar, self.layout);
        let n_chunks = grammar.n_columns / LANES;
        let (before, open) = target.split_at_mut(layout.open.start);
        open.fill(S::ZERO);
        let open = open.as_chunks_mut::<LANES>().0;
        let is_open = grammar.options.discontinuity == crate::grammar::Discontinuity::Open;
        for side in (0..2).filter(|&side| is_open && occupied.composite[side]) {
            occupied.open = true;
            let composite = before[layout.composite[side].clone()].as_chunks::<LANES>().0;
            for &slot in &grammar.composable {
                let rows = grammar.accepted_rows[slot as usize].iter().map(|&row| (S::ONE, row));
                add_rows::<S>(&mut open[slot as usize * n_chunks..][..n_chunks], rows, composite);
            }
        }
        let mut add = |value: S::Value, column: u16, result: spanwise_lang::TypeId| {
            if value != S::ZERO {
                occupied.open = true;
                for &slot in &grammar.accepting[result.index()] {
                    let to = &mut open[slot as usize * n_chunks + column as usize / LANES]
                        [column as usize % LANES];
                    *to = S::plus(*to, value);
                }
            }
        };
        for (id, unary) in grammar.unaries.iter().enumerate() {
            add(before[layout.unary[unary_slot(Usage::Inner)].start + id], unary.slot, unary.result);
        }
        if is_open {
            for &(partial, column, row) in &grammar.open_partials {
                add(
                    before[layout.partial.start + partial as usize],
                    column,
                    grammar.result_rows[row as usize],
                );
            }
        }
    }
}
