//! Inside-outside on the typed chart: log-partition and marginals.
//!
//! Sums run in linear space: every position's scores are scaled by the best of them, and since a part of a
//! derivation covers each of its positions exactly once, scales multiply out to one factor for the whole. The
//! outside pass mirrors the inside loops of [`super::typed`]. Should the scores span a range that even this
//! cannot hold, the chart is written out as a graph and summed in log space.

mod implicit;

use crate::budget::{Exhausted, Meter};
use crate::cost::{INSIDE_WORK, OUTSIDE_WORK};
use crate::edges::Edges;
use crate::grammar::{Discontinuity, Fill, FillResult, Gathering, N_USAGES, Side, SpreadFunction, Usage};
use crate::lattice::Gradient;
use crate::layout::{MAX_OPEN, Storage, unary_slot};
use crate::semiring::{LogSum, Semiring, Sum, give_array, take_array};
use crate::typed::{Input, Occupied, RuleValues, TypedChart, chart_bytes};
use spanwise_core::Idx;
use spanwise_lang::TypeId;
use spanwise_lang::states::AccumulatorId;

/// How much slower a chart in log space is.
const LOG_WORK: u64 = 20;

/// Whether a sum in linear space lost nothing that matters.
///
/// A derivation is lost when a part of it falls below the smallest number, about `exp(-745)`. After that, leaves
/// can only make it smaller, for they are scaled to at most one; rules and joins can make it larger, by no more
/// than the best of them at each of at most three steps per position. If even so it would stay far below the
/// sum, it does not matter.
fn is_safe(root: f64, input: &Input<'_>) -> bool {
    const SMALLEST: f64 = -700.0;
    const NEGLIGIBLE: f64 = 40.0;
    let best =
        |scores: &[f32]| scores.iter().fold(0.0f32, |best, &score| if score > best { score } else { best });
    let steps = 3.0 * input.lattice.n_positions() as f64;
    // Implicit constants add steps of their own.
    let steps = steps + input.grammar.implicit.chain.saturating_sub(1) as f64 * steps;
    let scores = &input.scores;
    let gain = steps * f64::from(best(scores.rules) + best(scores.joins) + best(scores.implicit));
    root.is_finite() && root > 0.0 && root.ln() > SMALLEST + gain + NEGLIGIBLE
}

/// The inside chart of an input: the log-partition over all derivations, and marginals.
#[derive(Debug)]
pub struct InsideChart<'a> {
    input: Input<'a>,
    rules: &'a RuleValues<Sum>,
    /// `None` where linear space is too small.
    chart: Option<TypedChart<Sum>>,
    log_z: Option<f64>,
}

impl<'a> InsideChart<'a> {
    /// Sums over all derivations.
    ///
    /// # Errors
    /// A limit that is reached.
    pub fn new(input: Input<'a>, rules: &'a RuleValues<Sum>, meter: &Meter) -> Result<Self, Exhausted> {
        // Outside values take as much as inside values.
        meter.fits(2 * chart_bytes::<Sum>(&input))?;
        meter.spend(INSIDE_WORK * input.grammar.chart_work(input.lattice.n_positions()))?;
        let chart = TypedChart::<Sum>::fill(&input, rules, scales(&input), meter)?;
        if is_safe(chart.root, &input) {
            let log_z = chart.root.ln() + chart.scales.iter().sum::<f64>();
            return Ok(Self { input, rules, chart: Some(chart), log_z: Some(log_z) });
        }
        drop(chart);
        let log_z = log_space_partition(&input, meter)?;
        Ok(Self { input, rules, chart: None, log_z })
    }

    /// The log-partition; `None` when there is no derivation.
    #[must_use]
    pub fn log_partition(&self) -> Option<f64> {
        self.log_z
    }

    /// The expected number of times each score counts, which is the gradient of the log-partition. `None` when there is
    /// no derivation.
    ///
    /// # Errors
    /// A limit that is reached.
    pub fn marginals(&self, meter: &Meter) -> Result<Option<Gradient>, Exhausted> {
        let Some(chart) = &self.chart else {
            return match self.log_z {
                None => Ok(None),
                Some(_) => log_space_marginals(&self.input, meter),
            };
        };
        meter.spend(OUTSIDE_WORK * self.input.grammar.chart_work(self.input.lattice.n_positions()))?;
        Outside::run(&self.input, self.rules, chart, meter).map(Some)
    }
}

/// The log-partition over all derivations and the expected number of times each score counts, which is its
/// gradient. `None` when there is no derivation.
#[must_use]
pub fn marginals(input: &Input<'_>, rules: &RuleValues<Sum>) -> Option<(f64, Gradient)> {
    let meter = Meter::unlimited();
    let chart = InsideChart::new(*input, rules, &meter).ok()?;
    let log_z = chart.log_partition()?;
    Some((log_z, chart.marginals(&meter).ok()??))
}

/// The log-partition alone.
#[must_use]
pub fn log_partition(input: &Input<'_>, rules: &RuleValues<Sum>) -> Option<f64> {
    InsideChart::new(*input, rules, &Meter::unlimited()).ok()?.log_partition()
}

/// For each position the best score of a leaf that starts there.
pub(crate) fn scales(input: &Input<'_>) -> Vec<f64> {
    let n = input.lattice.n_positions();
    let best = |p: usize| {
        let leaves = input
            .lattice
            .leaves_from(p)
            .flat_map(|(_, leaf)| &input.scores.leaves[leaf * N_USAGES..][..N_USAGES]);
        let best = leaves.fold(f32::NEG_INFINITY, |best, &score| if score > best { score } else { best });
        if best == f32::NEG_INFINITY { 0.0 } else { f64::from(best) }
    };
    (0..n).map(best).collect()
}

/// The log-partition by the same chart in log space. It is slower than linear space and holds any range of scores.
fn log_space_partition(input: &Input<'_>, meter: &Meter) -> Result<Option<f64>, Exhausted> {
    meter.spend(LOG_WORK * input.grammar.chart_work(input.lattice.n_positions()))?;
    let rules = RuleValues::<LogSum>::new(input.grammar, input.scores.rules);
    let scales = vec![0.0; input.lattice.n_positions()];
    let chart = TypedChart::<LogSum>::fill(input, &rules, scales, meter)?;
    Ok(Some(chart.root).filter(|&log_z| log_z > f64::NEG_INFINITY))
}

/// Marginals by the chart written out as a hypergraph, in log space.
fn log_space_marginals(input: &Input<'_>, meter: &Meter) -> Result<Option<Gradient>, Exhausted> {
    let layout = &input.grammar.layout;
    let edges = Edges {
        domain: input.domain,
        grammar: input.grammar,
        lattice: input.lattice,
        layout,
        storage: Storage::new(layout, input.lattice),
        has_joins: !input.scores.joins.is_empty(),
        has_implicit: !input.scores.implicit.is_empty(),
    };
    let (graph, _) = edges.graph(meter)?;
    Ok(graph.marginals(&input.scores.flat()).map(|(_, flat)| unflatten(input, &flat)))
}

/// Expected counts of the flat array of scores, in the shape of scores.
pub(crate) fn unflatten(input: &Input<'_>, flat: &[f64]) -> Gradient {
    let narrow = |values: &[f64]| values.iter().map(|&value| value as f32).collect();
    let (leaves, rest) = flat.split_at(input.scores.leaves.len());
    let (rules, rest) = rest.split_at(input.scores.rules.len());
    let (joins, implicit) = rest.split_at(input.scores.joins.len());
    Gradient {
        leaves: narrow(leaves),
        rules: narrow(rules),
        joins: narrow(joins),
        implicit: narrow(implicit),
    }
}

/// The outside pass: how much the root changes with every value of the chart.
struct Outside<'a> {
    input: &'a Input<'a>,
    rules: &'a RuleValues<Sum>,
    chart: &'a TypedChart<Sum>,
    /// Expected counts.
    leaves: Vec<f64>,
    rule_counts: Vec<f64>,
    joins: Vec<f64>,
    implicit: Vec<f64>,
}

/// One side of a merge: values, how the root changes with them, and what is there at all.
struct Part<'a> {
    values: &'a [f64],
    slopes: &'a mut [f64],
    occupied: Occupied,
}

impl<'a> Outside<'a> {
    fn run(
        input: &'a Input<'a>,
        rules: &'a RuleValues<Sum>,
        chart: &'a TypedChart<Sum>,
        meter: &Meter,
    ) -> Result<Gradient, Exhausted> {
        let mut pass = Self {
            input,
            rules,
            chart,
            leaves: vec![0.0; input.scores.leaves.len()],
            rule_counts: vec![0.0; input.scores.rules.len()],
            joins: vec![0.0; input.scores.joins.len()],
            implicit: vec![0.0; input.scores.implicit.len()],
        };
        let mut slopes = take_array::<Sum>(chart.values.len());
        slopes.fill(0.0);
        pass.roots(&mut slopes);
        let n = input.lattice.n_positions();
        for length in (1..=n).rev() {
            for p in 0..=n - length {
                meter.cell()?;
                pass.cell(&mut slopes, p, p + length);
            }
        }
        give_array::<Sum>(slopes);
        let narrow = |values: Vec<f64>| values.into_iter().map(|value| value as f32).collect();
        Ok(Gradient {
            leaves: narrow(pass.leaves),
            rules: narrow(pass.rule_counts),
            joins: narrow(pass.joins),
            implicit: narrow(pass.implicit),
        })
    }

    fn roots(&mut self, slopes: &mut [f64]) {
        let (layout, n) = (&self.chart.layout, self.input.lattice.n_positions());
        let mut skipped = 1.0 / self.chart.root;
        for p in self.input.lattice.firsts() {
            let cell = self.chart.storage.start(self.input.lattice.cell(p, n));
            for &(ty, rule) in &self.input.grammar.roots {
                let at = cell + layout.closed.start + ty.index();
                let slope = self.rules.rules[rule as usize] * skipped;
                slopes[at] += slope;
                self.rule_counts[rule as usize] += slope * self.chart.values[at];
            }
            skipped *= (-self.chart.scales[p]).exp();
        }
    }

    fn cell(&mut self, slopes: &mut [f64], p: usize, q: usize) {
        let chart = self.chart;
        let lattice = self.input.lattice;
        let storage = chart.storage;
        let at = lattice.cell(p, q);
        let (shorter, rest) = slopes.split_at_mut(storage.start(at));
        let own = &mut rest[..storage.len(at)];
        let values = &chart.values[storage.start(at)..][..storage.len(at)];
        let keeps_open = q - p < lattice.n_positions() && q - p <= MAX_OPEN;
        if keeps_open
            && self.input.grammar.options.discontinuity != Discontinuity::None
            && chart.occupied[at].open
        {
            self.open(values, own, chart.occupied[at]);
        }
        self.finish(values, own, at);
        let join = self.input.scores.joins.get(at).map_or(1.0, |&score| f64::from(score).exp());
        for split in p + 1..q {
            let (left, right) = (lattice.cell(p, split), lattice.cell(split, q));
            let (left_slopes, right_slopes) = two_cells(shorter, left, right, storage);
            let part = |cell: usize| &chart.values[storage.start(cell)..][..storage.len(cell)];
            let left = Part { values: part(left), slopes: left_slopes, occupied: chart.occupied[left] };
            let right = Part { values: part(right), slopes: right_slopes, occupied: chart.occupied[right] };
            let (mut left, mut right) = (left, right);
            let inserted = self.fill_inserted(&mut left, &mut right, own, join, at);
            let share = inserted + self.merge(left, right, own, join, keeps_open);
            if let Some(count) = self.joins.get_mut(at) {
                *count += share;
            }
        }
        self.leaves(own, shorter, p, q);
    }

    /// What elements of a set, one or several, went into.
    fn element_product(
        &mut self,
        slope: f64,
        rule: u32,
        function: (&mut Part<'_>, usize),
        (part, place): (&mut Part<'_>, usize),
    ) -> f64 {
        let (layout, rule_value) = (&self.chart.layout, self.rules.rules[rule as usize]);
        let places = [layout.element.start + place, layout.list.start + place];
        let weighted = slope * rule_value;
        let elements = part.values[places[0]] + part.values[places[1]];
        let value = function.0.values[function.1];
        function.0.slopes[function.1] += weighted * elements;
        places.into_iter().for_each(|place| part.slopes[place] += weighted * value);
        let share = weighted * value * elements;
        self.rule_counts[rule as usize] += share;
        share
    }

    /// Undoes rule (8).
    fn spread(&mut self, left: &mut Part<'_>, right: &mut Part<'_>, own: &[f64], join: f64) -> f64 {
        let (layout, grammar) = (&self.chart.layout, self.input.grammar);
        let mut share = 0.0;
        if right.occupied.elements {
            let every = grammar.spreads.iter().flat_map(|spread| {
                let used = grammar.gatherings[spread.set].choices();
                used.map(move |used| (spread, used))
            });
            for (spread, used) in every {
                let slope = own[layout.spread.start + spread.to as usize + used as usize] * join;
                if slope == 0.0 {
                    continue;
                }
                let is_there = left.occupied.composite;
                let elements = grammar.gatherings[spread.set].place(spread.set, used);
                let mut add = |at: usize| {
                    if left.values[at] != 0.0 {
                        share += self.element_product(slope, spread.rule, (left, at), (right, elements));
                    }
                };
                match spread.function {
                    SpreadFunction::Unary(id) => {
                        add(layout.unary[unary_slot(Usage::ApplyRight)].start + id as usize);
                    }
                    SpreadFunction::Partial(id) => add(layout.partial.start + id as usize),
                    SpreadFunction::Composite(place) => {
                        (0..2)
                            .filter(|&side| is_there[side])
                            .for_each(|side| add(layout.composite[side].start + place as usize));
                    }
                }
            }
        }
        if left.occupied.elements && right.occupied.spread {
            for (at, symbol) in grammar.spread_symbols.iter().enumerate() {
                let slope = own[layout.raw.start + symbol.result.index()] * join;
                let function = layout.spread.start + at;
                let gathering = &grammar.gatherings[symbol.set];
                for others in gathering.beside(symbol.used) {
                    let others = gathering.place(symbol.set, others);
                    if slope != 0.0 && right.values[function] != 0.0 {
                        share +=
                            self.element_product(slope, symbol.settle, (right, function), (left, others));
                    }
                }
            }
        }
        share
    }

    /// Undoes the sums over everything open.
    fn open(&self, values: &[f64], own: &mut [f64], occupied: Occupied) {
        let (grammar, layout) = (self.input.grammar, &self.chart.layout);
        let width = grammar.n_columns;
        let (before, open) = own.split_at_mut(layout.open.start);
        let is_open = grammar.options.discontinuity == Discontinuity::Open;
        for side in [0, 1] {
            if !is_open || !occupied.composite[side] {
                continue;
            }
            for &slot in &grammar.composable {
                let from = &open[slot as usize * width..][..width];
                for &row in &grammar.accepted_rows[slot as usize] {
                    let to = &mut before[layout.composite[side].start + row as usize * width..][..width];
                    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
                }
            }
        }
        let slope = |column: u16, result: TypeId| -> f64 {
            grammar.accepting[result.index()]
                .iter()
                .map(|&slot| open[slot as usize * width + column as usize])
                .sum()
        };
        for (id, unary) in grammar.unaries.iter().enumerate() {
            let at = layout.unary[unary_slot(Usage::Inner)].start + id;
            if values[at] != 0.0 {
                before[at] += slope(unary.slot, unary.result);
            }
        }
        for &(partial, column, row) in grammar.open_partials.iter().filter(|_| is_open) {
            before[layout.partial.start + partial as usize] +=
                slope(column, grammar.result_rows[row as usize]);
        }
    }

    /// Undoes the steps after the merges.
    fn finish(&mut self, values: &[f64], own: &mut [f64], cell: usize) {
        let (grammar, layout) = (self.input.grammar, &self.chart.layout);
        for start in &grammar.implicit.starts {
            let argument = layout.filling.start + start.argument as usize;
            let slope =
                own[layout.inserted.start + start.to as usize] * self.rules.rules[start.rule as usize];
            own[argument] += slope;
            self.rule_counts[start.rule as usize] += slope * values[argument];
        }
        for (slot, types) in grammar.accepted.iter().enumerate() {
            let slope = own[layout.accepted.start + slot];
            types.iter().for_each(|ty| own[layout.closed.start + ty.index()] += slope);
        }
        for (set, types) in grammar.fill_sets.iter().enumerate() {
            let slope = own[layout.filling.start + set];
            types.iter().for_each(|ty| own[layout.closed.start + ty.index()] += slope);
        }
        for (id, gathering) in grammar.gatherings.iter_enumerated() {
            for place in gathering.single().map(|used| gathering.place(id, used)) {
                if gathering.over.is_none() {
                    let slope = own[layout.element.start + place];
                    let types = grammar.elements_of[place].iter();
                    types.for_each(|ty| own[layout.closed.start + ty.index()] += slope);
                }
            }
        }
        for n_inserted in (1..=grammar.implicit.chain).rev() {
            self.insertions(values, own, n_inserted, cell);
        }
        for (id, gathering) in grammar.gatherings.iter_enumerated() {
            if let Some(close) = gathering.close {
                let slope =
                    own[layout.raw.start + gathering.result.index()] * self.rules.rules[close as usize];
                for list in gathering.choices().map(|used| layout.list.start + gathering.place(id, used)) {
                    own[list] += slope;
                    self.rule_counts[close as usize] += slope * values[list];
                }
            }
        }
        for ty in 0..grammar.n_types {
            let mut slope = own[layout.raw.start + ty];
            if let Some(id) = grammar.gathering_of[ty].filter(|&id| grammar.gatherings[id].over.is_some()) {
                slope += own[layout.element.start + id.index()] + own[layout.list.start + id.index()];
            }
            own[layout.leaf_closed.start + ty] += slope;
        }
        for (id, unsaid) in grammar.implicit.unsaid.iter().enumerate() {
            own[layout.unsaid.start + id] += match unsaid.to {
                FillResult::Done(ty) => own[layout.raw.start + ty.index()],
                FillResult::Partial(id) => own[layout.partial.start + id as usize],
            };
        }
    }

    /// Undoes one merge; returns the expected number of joins in it.
    fn merge(
        &mut self,
        mut left: Part<'_>,
        mut right: Part<'_>,
        own: &[f64],
        join: f64,
        keeps_open: bool,
    ) -> f64 {
        let mut share = 0.0;
        if right.occupied.closed {
            share += self.apply(&mut left, &mut right, Side::Right, own, join);
            share += self.fill(&mut left, &mut right, Side::Right, own, join);
        }
        if left.occupied.closed {
            share += self.apply(&mut right, &mut left, Side::Left, own, join);
            share += self.fill(&mut right, &mut left, Side::Left, own, join);
        }
        if right.occupied.composite[0] && left.occupied.closed {
            share += self.complete(&mut right, &mut left, Side::Left, own, join);
        }
        if left.occupied.composite[1] && right.occupied.closed {
            share += self.complete(&mut left, &mut right, Side::Right, own, join);
        }
        if keeps_open && right.occupied.open {
            share += self.compose(&mut left, &mut right, Side::Right, own, join);
        }
        if keeps_open && left.occupied.open {
            share += self.compose(&mut right, &mut left, Side::Left, own, join);
        }
        share += self.gather(&mut left, &mut right, own, join);
        share + self.spread(&mut left, &mut right, own, join)
    }

    /// One product `a * rule * b` that went into something with this slope.
    fn product(
        &mut self,
        slope: f64,
        rule: u32,
        a: (&mut Part<'_>, usize),
        b: (&mut Part<'_>, usize),
    ) -> f64 {
        let weighted = slope * self.rules.rules[rule as usize];
        let (value_a, value_b) = (a.0.values[a.1], b.0.values[b.1]);
        a.0.slopes[a.1] += weighted * value_b;
        b.0.slopes[b.1] += weighted * value_a;
        let share = weighted * value_a * value_b;
        self.rule_counts[rule as usize] += share;
        share
    }

    fn apply(
        &mut self,
        function: &mut Part<'_>,
        argument: &mut Part<'_>,
        side: Side,
        own: &[f64],
        join: f64,
    ) -> f64 {
        let layout = &self.chart.layout;
        let usage = Usage::applied(side);
        let mut share = 0.0;
        for (id, unary) in self.input.grammar.unaries.iter().enumerate() {
            let slope = own[layout.raw.start + unary.result.index()] * join;
            let at = layout.unary[unary_slot(usage)].start + id;
            if slope == 0.0 || function.values[at] == 0.0 || unary.apply[side as usize] == u32::MAX {
                continue;
            }
            let accepted = layout.accepted.start + unary.slot as usize;
            share += self.product(slope, unary.apply[side as usize], (function, at), (argument, accepted));
        }
        share
    }

    fn fill(
        &mut self,
        function: &mut Part<'_>,
        argument: &mut Part<'_>,
        side: Side,
        own: &[f64],
        join: f64,
    ) -> f64 {
        let (layout, grammar) = (&self.chart.layout, self.input.grammar);
        let mut share = 0.0;
        let places = [layout.function[side as usize].start, layout.partial.start];
        let lists = [&grammar.leaf_fills[side as usize], &grammar.partial_fills[side as usize]];
        for (start, fills) in places.into_iter().zip(lists) {
            for &Fill { from, argument: set, to, rule } in fills {
                let at = start + from as usize;
                let slope = join
                    * match to {
                        FillResult::Done(result) => own[layout.raw.start + result.index()],
                        FillResult::Partial(id) => own[layout.partial.start + id as usize],
                    };
                if slope != 0.0 && function.values[at] != 0.0 {
                    share += self.product(
                        slope,
                        rule,
                        (function, at),
                        (argument, layout.filling.start + set as usize),
                    );
                }
            }
        }
        share
    }

    fn complete(
        &mut self,
        function: &mut Part<'_>,
        argument: &mut Part<'_>,
        side: Side,
        own: &[f64],
        join: f64,
    ) -> f64 {
        let (layout, grammar) = (&self.chart.layout, self.input.grammar);
        let width = grammar.n_columns;
        let mut share = 0.0;
        for (row, &ty) in grammar.result_rows.iter().enumerate() {
            let slope = own[layout.raw.start + ty.index()] * join;
            if slope == 0.0 {
                continue;
            }
            for column in 0..grammar.slot_types.len() {
                let at = layout.composite[side as usize].start + row * width + column;
                if function.values[at] != 0.0 {
                    let rule = grammar.finish[side as usize][row * width + column];
                    share +=
                        self.product(slope, rule, (function, at), (argument, layout.accepted.start + column));
                }
            }
        }
        share
    }

    fn compose(
        &mut self,
        function: &mut Part<'_>,
        inner: &mut Part<'_>,
        side: Side,
        own: &[f64],
        join: f64,
    ) -> f64 {
        let (layout, grammar) = (&self.chart.layout, self.input.grammar);
        let width = grammar.n_columns;
        let usage = Usage::composed(side);
        let own_side = side.other();
        let composite = &own[layout.composite[own_side as usize].clone()];
        let mut share = 0.0;
        for (id, unary) in grammar.unaries.iter().enumerate() {
            let at = layout.unary[unary_slot(usage)].start + id;
            let leaf = function.values[at];
            let Some(row) = grammar.row_of[unary.result.index()].filter(|_| leaf != 0.0) else { continue };
            let rule = unary.compose[side as usize];
            if rule == u32::MAX {
                continue;
            }
            let weight = self.rules.rules[rule as usize] * join;
            let slopes = &composite[row as usize * width..][..width];
            let start = layout.open.start + unary.slot as usize * width;
            let values = &inner.values[start..][..width];
            let slope: f64 = slopes.iter().zip(values).map(|(slope, value)| slope * value).sum();
            let factor = weight * leaf;
            for (to, slope) in inner.slopes[start..][..width].iter_mut().zip(slopes) {
                *to += factor * slope;
            }
            function.slopes[at] += weight * slope;
            self.rule_counts[rule as usize] += factor * slope;
            share += factor * slope;
        }
        share
    }

    fn gather(&mut self, left: &mut Part<'_>, right: &mut Part<'_>, own: &[f64], join: f64) -> f64 {
        let (layout, grammar) = (&self.chart.layout, self.input.grammar);
        let mut share = 0.0;
        for (id, gathering) in grammar.gatherings.iter_enumerated() {
            let (element, list) = (layout.element.start + id.index(), layout.list.start + id.index());
            let Some(over) = gathering.over else {
                if left.occupied.elements && right.occupied.elements {
                    share += self.gather_set((id, gathering), left, right, own, join);
                }
                continue;
            };
            let (apply, over) = (over.apply, layout.accepted.start + over.slot as usize);
            let result = own[layout.raw.start + gathering.result.index()] * join;
            if right.occupied.list {
                share += self.product(own[list] * join, gathering.gather, (left, element), (right, list));
                share += self.product(result, apply[0], (right, list), (left, over));
            }
            if left.occupied.list {
                share += self.product(result, apply[1], (left, list), (right, over));
            }
        }
        share
    }

    /// Undoes rule (7).
    fn gather_set(
        &mut self,
        (set, gathering): (AccumulatorId, &Gathering),
        left: &mut Part<'_>,
        right: &mut Part<'_>,
        own: &[f64],
        join: f64,
    ) -> f64 {
        let layout = &self.chart.layout;
        let mut share = 0.0;
        for used in gathering.single() {
            let element = layout.element.start + gathering.place(set, used);
            for others in gathering.beside(used) {
                let slope = own[layout.list.start + gathering.place(set, used | others)] * join;
                let others = gathering.place(set, others);
                if slope != 0.0 {
                    share += self.element_product(slope, gathering.gather, (left, element), (right, others));
                }
            }
        }
        share
    }

    /// Hands what leaves of this cell have to their scores, and to the shorter cell they came from.
    fn leaves(&mut self, own: &[f64], shorter: &mut [f64], p: usize, q: usize) {
        let (layout, input) = (&self.chart.layout, self.input);
        if q - p > 1 && input.lattice.is_skippable(q - 1) {
            let skip = (-self.chart.scales[q - 1]).exp();
            let start = self.chart.storage.start(input.lattice.cell(p, q - 1));
            for (to, slope) in shorter[start..].iter_mut().zip(&own[layout.leaves.clone()]) {
                *to += slope * skip;
            }
        }
        let offset: f64 = self.chart.scales[p..q].iter().sum();
        for leaf in input.lattice.leaves_ending(p, q) {
            let scores = &input.scores.leaves[leaf * N_USAGES..][..N_USAGES];
            let values: [f64; N_USAGES] =
                std::array::from_fn(|usage| Sum::lift(f64::from(scores[usage]) - offset));
            let counts = &mut self.leaves[leaf * N_USAGES..][..N_USAGES];
            for &(place, usage) in input.grammar.leaf_places(input.lattice.leaves()[leaf].constant) {
                counts[usage.index()] += own[place as usize] * values[usage.index()];
            }
            if !input.grammar.implicit.unsaid.is_empty() {
                self.unsaid(own, leaf, values[Usage::Closed.index()]);
            }
        }
    }
}

/// Two different cells of an array, to be changed at once.
fn two_cells(values: &mut [f64], a: usize, b: usize, storage: Storage) -> (&mut [f64], &mut [f64]) {
    let (low, high) = (a.min(b), a.max(b));
    let (before, after) = values.split_at_mut(storage.start(high));
    let low = &mut before[storage.start(low)..][..storage.len(low)];
    let high = &mut after[..storage.len(high)];
    if a < b { (low, high) } else { (high, low) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::{Candidates, PredicatePlacement};
    use crate::grammar::{Grammar, Options};
    use crate::lattice::Scores;
    use crate::typed::Input;
    use spanwise_core::Utterance;

    /// The loops over arrays against the edges spelled out, on sentences too long for enumeration and long enough
    /// for composites to reach their limit.
    #[test]
    fn the_fast_passes_equal_the_graph_of_the_same_chart() {
        let sentences = [
            (
                "scan",
                "walk left twice and run around right thrice after look opposite left and jump and turn right twice after walk",
            ),
            (
                "clevr",
                "how many small red metal balls are left of the big cube and behind the shiny cylinder or the tiny matte block",
            ),
            #[cfg(feature = "geo")]
            (
                "geo",
                "how many rivers in states that border the largest state run through the state with the highest point in the us \
                     and what rivers in texas run through states that border ohio and the longest river in the state of utah",
            ),
        ];
        for (name, text) in sentences {
            let domain = spanwise_domains::load::load(name).unwrap();
            let grammar = Grammar::new(&domain, Options { implicit: true, ..Options::default() });
            let candidates = Candidates { predicates: PredicatePlacement::Lexicon, ..Candidates::default() };
            let lattice = candidates.lattice(&domain, &Utterance::new(text)).unwrap();
            assert!(lattice.n_positions() >= 14, "{name}: {}", lattice.n_positions());
            let score = |at: usize, by: f32| (at as f32 * by).sin();
            let leaves: Vec<f32> = (0..lattice.leaves().len() * N_USAGES).map(|at| score(at, 1.7)).collect();
            let rules: Vec<f32> = (0..grammar.n_rules()).map(|at| score(at, 2.3)).collect();
            let joins: Vec<f32> = (0..lattice.n_cells()).map(|at| score(at, 0.9)).collect();
            let implicit: Vec<f32> =
                (0..grammar.n_implicit_scores(&lattice)).map(|at| score(at, 3.1)).collect();
            let scores = Scores { leaves: &leaves, rules: &rules, joins: &joins, implicit: &implicit };
            let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
            let (log_z, fast) = marginals(&input, &RuleValues::new(&grammar, &rules)).unwrap();
            let meter = Meter::unlimited();
            let log_space_z = log_space_partition(&input, &meter).unwrap().unwrap();
            assert!(
                (log_z - log_space_z).abs() < 1e-6 * log_space_z.abs().max(1.0),
                "{name}: {log_z} {log_space_z}"
            );
            let slow = log_space_marginals(&input, &meter).unwrap().unwrap();
            for (fast, slow) in [
                (&fast.leaves, slow.leaves),
                (&fast.rules, slow.rules),
                (&fast.joins, slow.joins),
                (&fast.implicit, slow.implicit),
            ] {
                let worst = fast.iter().zip(slow).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(worst < 1e-4, "{name}: {worst}");
            }
        }
    }
}
