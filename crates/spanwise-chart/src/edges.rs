//! The typed chart as a hypergraph: the edges into one node, on demand.
//!
//! A node is a place in the chart's array of values (cell times stride plus the place of the symbol), the root
//! one more. [`super::typed`] runs the same rules as loops over arrays; here they are spelled out one by one, for
//! back-tracing a derivation, for k-best lists, for sums in log space, and for tests that compare the two.

use crate::budget::{Exhausted, Meter};
use crate::grammar::{
    Discontinuity, FillResult, Gathering, Grammar, LeafSymbol, N_USAGES, Side, SpreadFunction, Usage,
};
use crate::hypergraph::{Edge, Hypergraph, NONE};
use crate::implicit::InsertedResult;
use crate::lattice::Lattice;
use crate::layout::{Layout, MAX_OPEN, Storage, unary_slot};
use hashbrown::HashMap;
use spanwise_core::Idx;
use spanwise_lang::states::AccumulatorId;
use spanwise_lang::{Domain, TypeId};

/// Work for one edge that is listed.
const EDGE_WORK: u64 = 50;

/// A node of a typed chart.
pub(crate) type Node = u32;

/// What a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    Unary(Usage, u16),
    Function(Side, u16),
    LeafClosed(u16),
    /// A leaf with an argument without words.
    Unsaid(u16),
    Element(u16),
    List(u16),
    Spread(u16),
    Raw(u16),
    Closed(u16),
    /// A type with at most so many implicit constants, fewer than a closed term may have.
    Chain(u16, u16),
    /// A function without words that has some of its arguments.
    Inserted(u16),
    Accepted(u16),
    Filling(u16),
    Partial(u16),
    /// Side of the last function, row, column.
    Composite(Side, u16, u16),
    /// Slot type, column.
    Open(u16, u16),
    Root,
}

/// Lists the edges into the nodes of a typed chart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edges<'a> {
    pub domain: &'a Domain,
    pub grammar: &'a Grammar,
    pub lattice: &'a Lattice,
    pub layout: &'a Layout,
    pub storage: Storage,
    pub has_joins: bool,
    pub has_implicit: bool,
}

impl Edges<'_> {
    pub(crate) fn root(&self) -> Node {
        self.storage.start(self.lattice.n_cells()) as Node
    }

    /// Where the scores of rules begin in the flat array of all scores.
    pub(crate) fn rules_at(&self) -> u32 {
        (self.lattice.leaves().len() * N_USAGES) as u32
    }

    fn rule(&self, rule: u32) -> u32 {
        self.rules_at() + rule
    }

    /// Scores of a merge in a cell: the rule, and the cell's own where there is one.
    fn merged(&self, rule: u32, cell: usize) -> [u32; 3] {
        let join = self.rules_at() + self.grammar.n_rules() as u32 + cell as u32;
        [self.rule(rule), if self.has_joins { join } else { NONE }, NONE]
    }

    /// The weight of the score at a place among those of implicit constants.
    fn implicit(&self, at: usize) -> u32 {
        let n_joins = if self.has_joins { self.lattice.n_cells() } else { 0 };
        let before = self.rules_at() as usize + self.grammar.n_rules() + n_joins;
        if self.has_implicit { (before + at) as u32 } else { NONE }
    }

    /// The weight of a constant that is inserted in a cell.
    fn inserted(&self, cell: usize, number: u16) -> u32 {
        self.implicit(self.grammar.implicit_at_cell(cell, number as usize))
    }

    fn node(&self, cell: usize, place: usize) -> Node {
        (self.storage.start(cell) + place) as Node
    }

    /// What a node stands for, and the ends of its cell.
    pub(crate) fn symbol(&self, node: Node) -> (Symbol, (usize, usize)) {
        if node == self.root() {
            return (Symbol::Root, (0, self.lattice.n_positions()));
        }
        let (cell, place) = self.storage.locate(node as usize);
        (self.place(place), self.lattice.ends(cell))
    }

    fn place(&self, place: usize) -> Symbol {
        let layout = self.layout;
        let within =
            |range: &std::ops::Range<usize>| range.contains(&place).then(|| (place - range.start) as u16);
        for usage in &Usage::ALL[1..] {
            if let Some(id) = within(&layout.unary[unary_slot(*usage)]) {
                return Symbol::Unary(*usage, id);
            }
        }
        let width = self.grammar.n_columns as u16;
        for side in [Side::Left, Side::Right] {
            if let Some(id) = within(&layout.function[side as usize]) {
                return Symbol::Function(side, id);
            }
            if let Some(at) = within(&layout.composite[side as usize]) {
                return Symbol::Composite(side, at / width, at % width);
            }
        }
        type Kind<'r> = (&'r std::ops::Range<usize>, fn(u16) -> Symbol);
        let simple: [Kind<'_>; 11] = [
            (&layout.leaf_closed, Symbol::LeafClosed),
            (&layout.unsaid, Symbol::Unsaid),
            (&layout.inserted, Symbol::Inserted),
            (&layout.element, Symbol::Element),
            (&layout.list, Symbol::List),
            (&layout.spread, Symbol::Spread),
            (&layout.raw, Symbol::Raw),
            (&layout.closed, Symbol::Closed),
            (&layout.accepted, Symbol::Accepted),
            (&layout.filling, Symbol::Filling),
            (&layout.partial, Symbol::Partial),
        ];
        for (range, symbol) in simple {
            if let Some(id) = within(range) {
                return symbol(id);
            }
        }
        if let Some(at) = within(&layout.chain) {
            let n_types = self.grammar.n_types as u16;
            return Symbol::Chain(at / n_types + 1, at % n_types);
        }
        let at = (place - layout.open.start) as u16;
        Symbol::Open(at / width, at % width)
    }

    /// The edges into a node, always in the same order.
    pub(crate) fn list_into(&self, node: Node, found: &mut Vec<Edge>) {
        found.clear();
        let (symbol, (p, q)) = self.symbol(node);
        let layout = self.layout;
        match symbol {
            Symbol::Unary(usage, id) => self.leaves(p, q, usage, LeafSymbol::Unary(id), found),
            Symbol::Function(side, id) => {
                let usage = Usage::applied(side);
                self.leaves(p, q, usage, LeafSymbol::Function(id), found);
            }
            Symbol::LeafClosed(ty) => self.leaves(p, q, Usage::Closed, LeafSymbol::Closed(TypeId(ty)), found),
            Symbol::Element(acc) => self.elements(p, q, acc, found),
            Symbol::List(acc) => self.lists(p, q, acc, found),
            Symbol::Spread(id) => self.spreads(p, q, id, found),
            Symbol::Raw(ty) => self.raw(p, q, TypeId(ty), found),
            Symbol::Unsaid(id) => self.unsaid(p, q, id, found),
            Symbol::Closed(ty) => self.chain(p, q, self.grammar.implicit.chain, TypeId(ty), found),
            Symbol::Chain(most, ty) => self.chain(p, q, most as usize, TypeId(ty), found),
            Symbol::Inserted(id) => self.insertions(p, q, id, found),
            Symbol::Accepted(slot) => {
                let cell = self.lattice.cell(p, q);
                let types = self.grammar.accepted.get(slot as usize).into_iter().flatten();
                found.extend(types.map(|ty| self.one(cell, layout.closed.start + ty.index(), NONE)));
            }
            Symbol::Filling(set) => {
                let cell = self.lattice.cell(p, q);
                let types = self.grammar.fill_sets[set as usize].iter();
                found.extend(types.map(|ty| self.one(cell, layout.closed.start + ty.index(), NONE)));
            }
            Symbol::Partial(id) => {
                self.fills(p, q, FillResult::Partial(id), found);
                self.unsaid_giving(self.lattice.cell(p, q), FillResult::Partial(id), found);
            }
            Symbol::Composite(side, row, column) => self.composites(p, q, side, row, column, found),
            Symbol::Open(slot, column) => self.opens(p, q, slot, column, found),
            Symbol::Root => self.roots(found),
        }
    }

    fn one(&self, cell: usize, place: usize, weight: u32) -> Edge {
        Edge { tails: [self.node(cell, place), NONE], weights: [weight, NONE, NONE] }
    }

    fn leaves(&self, p: usize, q: usize, usage: Usage, symbol: LeafSymbol, found: &mut Vec<Edge>) {
        for leaf in self.lattice.leaves_within(p, q) {
            let constant = &self.domain.constants()[self.lattice.leaves()[leaf].constant];
            let mut frames = constant.frames.clone();
            if frames.any(|frame| self.grammar.leaf_symbol[frame as usize] == symbol) {
                found.push(Edge::leaf((leaf * N_USAGES + usage.index()) as u32));
            }
        }
    }

    fn elements(&self, p: usize, q: usize, acc: u16, found: &mut Vec<Edge>) {
        let cell = self.lattice.cell(p, q);
        if self.grammar.gatherings[self.set_at(acc).0].over.is_none() {
            let types = self.grammar.elements_of[acc as usize].iter();
            found.extend(types.map(|ty| self.one(cell, self.layout.closed.start + ty.index(), NONE)));
            return;
        }
        for (ty, gathering) in self.grammar.gathering_of.iter().enumerate() {
            if gathering.is_some_and(|id| id.0 == acc) {
                found.push(self.one(cell, self.layout.leaf_closed.start + ty, NONE));
            }
        }
    }

    fn lists(&self, p: usize, q: usize, acc: u16, found: &mut Vec<Edge>) {
        let cell = self.lattice.cell(p, q);
        let (id, both) = self.set_at(acc);
        let gathering = &self.grammar.gatherings[id];
        let is_set = gathering.over.is_none();
        if !is_set {
            found.push(self.one(cell, self.layout.element.start + acc as usize, NONE));
        }
        for split in p + 1..q {
            if is_set {
                let weights = self.merged(gathering.gather, cell);
                for used in gathering.single().filter(|used| used & !both == 0) {
                    let element = self.layout.element.start + gathering.place(id, used);
                    let others = gathering.place(id, both & !used);
                    self.with_elements((p, split, q), Side::Right, element, others, weights, found);
                }
                continue;
            }
            let element = self.node(self.lattice.cell(p, split), self.layout.element.start + acc as usize);
            let list = self.node(self.lattice.cell(split, q), self.layout.list.start + acc as usize);
            found.push(Edge { tails: [element, list], weights: self.merged(gathering.gather, cell) });
        }
    }

    /// The accumulator or set of a place, and the constants that make at most one element that are used in it.
    fn set_at(&self, place: u16) -> (AccumulatorId, u8) {
        if (place as usize) < self.grammar.gatherings.len() {
            return (AccumulatorId(place), 0);
        }
        let mut sets = self.grammar.gatherings.iter_enumerated();
        let is_its = |(_, it): &(AccumulatorId, &Gathering)| {
            (it.more..it.more + it.choices().end as u16 - 1).contains(&place)
        };
        let (id, gathering) = sets.find(is_its).expect("a place belongs to a set");
        (id, (place - gathering.more + 1) as u8)
    }

    /// Edges of a part with elements of a set, one or several, on a side of it.
    fn with_elements(
        &self,
        at: (usize, usize, usize),
        side: Side,
        part: usize,
        place: usize,
        weights: [u32; 3],
        found: &mut Vec<Edge>,
    ) {
        for start in [self.layout.element.start, self.layout.list.start] {
            found.push(Edge { tails: self.pair(at, side, part, start + place), weights });
        }
    }

    fn spreads(&self, p: usize, q: usize, id: u16, found: &mut Vec<Edge>) {
        let (grammar, layout) = (self.grammar, self.layout);
        let cell = self.lattice.cell(p, q);
        let symbol = &grammar.spread_symbols[id as usize];
        let elements = grammar.gatherings[symbol.set].place(symbol.set, symbol.used);
        let first = id - u16::from(symbol.used);
        for split in p + 1..q {
            for spread in grammar.spreads.iter().filter(|spread| spread.to == first) {
                let weights = self.merged(spread.rule, cell);
                let mut add = |function: usize| {
                    self.with_elements((p, split, q), Side::Right, function, elements, weights, found);
                };
                match spread.function {
                    SpreadFunction::Unary(unary) => {
                        add(layout.unary[unary_slot(Usage::ApplyRight)].start + unary as usize);
                    }
                    SpreadFunction::Partial(partial) => add(layout.partial.start + partial as usize),
                    SpreadFunction::Composite(_) if split - p > MAX_OPEN => {}
                    SpreadFunction::Composite(place) => {
                        layout.composite.iter().for_each(|range| add(range.start + place as usize));
                    }
                }
            }
        }
    }

    /// A pair of a function and its argument, in the order of the words.
    fn pair(
        &self,
        (p, split, q): (usize, usize, usize),
        side: Side,
        function: usize,
        argument: usize,
    ) -> [Node; 2] {
        let (left, right) = (self.lattice.cell(p, split), self.lattice.cell(split, q));
        match side {
            Side::Right => [self.node(left, function), self.node(right, argument)],
            Side::Left => [self.node(left, argument), self.node(right, function)],
        }
    }

    fn raw(&self, p: usize, q: usize, ty: TypeId, found: &mut Vec<Edge>) {
        let (grammar, layout) = (self.grammar, self.layout);
        let cell = self.lattice.cell(p, q);
        found.push(self.one(cell, layout.leaf_closed.start + ty.index(), NONE));
        for (acc, gathering) in grammar.gatherings.iter().enumerate().filter(|(_, g)| g.result == ty) {
            if let Some(close) = gathering.close {
                for used in gathering.choices() {
                    let place = gathering.place(AccumulatorId(acc as u16), used);
                    found.push(self.one(cell, layout.list.start + place, self.rule(close)));
                }
            }
        }
        let is_discontinuous = grammar.options.discontinuity != Discontinuity::None;
        for split in p + 1..q {
            let at = (p, split, q);
            for side in [Side::Left, Side::Right] {
                let usage = Usage::applied(side);
                for &id in &grammar.giving[ty.index()] {
                    let unary = &grammar.unaries[id as usize];
                    if unary.apply[side as usize] == u32::MAX {
                        continue;
                    }
                    let function = layout.unary[unary_slot(usage)].start + id as usize;
                    let tails = self.pair(at, side, function, layout.accepted.start + unary.slot as usize);
                    found.push(Edge { tails, weights: self.merged(unary.apply[side as usize], cell) });
                }
                for (acc, gathering) in grammar.gatherings.iter().enumerate().filter(|(_, g)| g.result == ty)
                {
                    let Some(over) = gathering.over else { continue };
                    let argument = layout.accepted.start + over.slot as usize;
                    let tails = self.pair(at, side, layout.list.start + acc, argument);
                    found.push(Edge { tails, weights: self.merged(over.apply[side as usize], cell) });
                }
                // The composite is the part that is not on the side of the argument.
                let width = if side == Side::Right { split - p } else { q - split };
                if let Some(row) =
                    grammar.row_of[ty.index()].filter(|_| is_discontinuous && width <= MAX_OPEN)
                {
                    for column in 0..grammar.slot_types.len() {
                        let place = row as usize * grammar.n_columns + column;
                        let function = layout.composite[side as usize].start + place;
                        let tails = self.pair(at, side, function, layout.accepted.start + column);
                        found.push(Edge {
                            tails,
                            weights: self.merged(grammar.finish[side as usize][place], cell),
                        });
                    }
                }
            }
        }
        let settled = (0..).zip(&grammar.spread_symbols).filter(|(_, symbol)| symbol.result == ty);
        for (id, symbol) in settled {
            for split in p + 1..q {
                let (function, weights) = (layout.spread.start + id, self.merged(symbol.settle, cell));
                let gathering = &grammar.gatherings[symbol.set];
                for others in gathering.beside(symbol.used) {
                    let others = gathering.place(symbol.set, others);
                    self.with_elements((p, split, q), Side::Left, function, others, weights, found);
                }
            }
        }
        self.fills(p, q, FillResult::Done(ty), found);
        self.unsaid_giving(cell, FillResult::Done(ty), found);
        let own = |to| match to {
            InsertedResult::Done(result, number) if result == ty => Some(self.inserted(cell, number)),
            InsertedResult::Done(..) | InsertedResult::Inserted(_) => None,
        };
        self.inserted_fills(p, q, own, found);
    }

    fn fills(&self, p: usize, q: usize, to: FillResult, found: &mut Vec<Edge>) {
        let (grammar, layout) = (self.grammar, self.layout);
        let cell = self.lattice.cell(p, q);
        for split in p + 1..q {
            for &(side, is_leaf, fill) in &grammar.fills_giving[to.index(grammar.n_types)] {
                let start = if is_leaf { layout.function[side as usize].start } else { layout.partial.start };
                let argument = layout.filling.start + fill.argument as usize;
                let tails = self.pair((p, split, q), side, start + fill.from as usize, argument);
                found.push(Edge { tails, weights: self.merged(fill.rule, cell) });
            }
        }
    }

    /// Leaves with an argument without words.
    fn unsaid(&self, p: usize, q: usize, id: u16, found: &mut Vec<Edge>) {
        for leaf in self.lattice.leaves_within(p, q) {
            let constant = self.lattice.leaves()[leaf].constant;
            if self.grammar.unsaid_of(constant).any(|known| known == id) {
                for &(number, rule) in &self.grammar.implicit.unsaid[id as usize].fills {
                    let own = self.grammar.implicit_at_leaf(self.lattice, leaf, number as usize);
                    let usage = (leaf * N_USAGES + Usage::Closed.index()) as u32;
                    found.push(Edge {
                        tails: [NONE; 2],
                        weights: [usage, self.rule(rule), self.implicit(own)],
                    });
                }
            }
        }
    }

    fn unsaid_giving(&self, cell: usize, to: FillResult, found: &mut Vec<Edge>) {
        for (id, unsaid) in self.grammar.implicit.unsaid.iter().enumerate() {
            if unsaid.to == to {
                found.push(self.one(cell, self.layout.unsaid.start + id, NONE));
            }
        }
    }

    /// Complete terms with at most so many implicit constants on the same words.
    fn chain(&self, p: usize, q: usize, most: usize, ty: TypeId, found: &mut Vec<Edge>) {
        let cell = self.lattice.cell(p, q);
        found.push(self.one(cell, self.layout.raw.start + ty.index(), NONE));
        for step in self.grammar.implicit.steps.iter().filter(|step| step.result == ty) {
            for below in &self.grammar.accepted[step.slot as usize] {
                let mut edge =
                    self.one(cell, self.layout.stage(most - 1) + below.index(), self.rule(step.rule));
                edge.weights[1] = self.inserted(cell, step.number);
                found.push(edge);
            }
        }
    }

    /// Functions without words that get their first argument, or one more.
    fn insertions(&self, p: usize, q: usize, id: u16, found: &mut Vec<Edge>) {
        let cell = self.lattice.cell(p, q);
        for start in self.grammar.implicit.starts.iter().filter(|start| start.to == id) {
            let argument = self.layout.filling.start + start.argument as usize;
            found.push(self.one(cell, argument, self.rule(start.rule)));
        }
        self.inserted_fills(p, q, |to| (to == InsertedResult::Inserted(id)).then_some(NONE), found);
    }

    /// Functions without words that get one more argument, where the result has a weight.
    fn inserted_fills(
        &self,
        p: usize,
        q: usize,
        weight: impl Fn(InsertedResult) -> Option<u32>,
        found: &mut Vec<Edge>,
    ) {
        let (cell, layout) = (self.lattice.cell(p, q), self.layout);
        for fill in &self.grammar.implicit.fills {
            let Some(own) = weight(fill.to) else { continue };
            let mut weights = self.merged(fill.rule, cell);
            weights[if self.has_joins { 2 } else { 1 }] = own;
            let function = layout.inserted.start + fill.from as usize;
            let argument = layout.filling.start + fill.argument as usize;
            let edge =
                |split| Edge { tails: self.pair((p, split, q), Side::Right, function, argument), weights };
            found.extend((p + 1..q).map(edge));
        }
    }

    fn composites(&self, p: usize, q: usize, own_side: Side, row: u16, column: u16, found: &mut Vec<Edge>) {
        let (grammar, layout) = (self.grammar, self.layout);
        if column as usize >= grammar.slot_types.len() || grammar.options.discontinuity == Discontinuity::None
        {
            return;
        }
        let cell = self.lattice.cell(p, q);
        let side = own_side.other();
        let usage = Usage::composed(side);
        let result = grammar.result_rows[row as usize];
        for split in p + 1..q {
            // Slots that nothing open can fill have no row of their own.
            let composing = grammar.composing[row as usize]
                .iter()
                .map(|&(id, _)| (id as usize, &grammar.unaries[id as usize]));
            for (id, unary) in composing {
                debug_assert_eq!(unary.result, result);
                let function = layout.unary[unary_slot(usage)].start + id;
                let open = layout.open.start + unary.slot as usize * grammar.n_columns + column as usize;
                let tails = self.pair((p, split, q), side, function, open);
                found.push(Edge { tails, weights: self.merged(unary.compose[side as usize], cell) });
            }
        }
    }

    fn opens(&self, p: usize, q: usize, slot: u16, column: u16, found: &mut Vec<Edge>) {
        let (grammar, layout) = (self.grammar, self.layout);
        if column as usize >= grammar.slot_types.len() || grammar.options.discontinuity == Discontinuity::None
        {
            return;
        }
        let cell = self.lattice.cell(p, q);
        let accepts = |ty: TypeId| grammar.accepting[ty.index()].contains(&slot);
        let is_open = grammar.options.discontinuity == Discontinuity::Open;
        if is_open {
            for side in [0, 1] {
                for &row in &grammar.accepted_rows[slot as usize] {
                    let place =
                        layout.composite[side].start + row as usize * grammar.n_columns + column as usize;
                    found.push(self.one(cell, place, NONE));
                }
            }
        }
        for (id, unary) in grammar.unaries.iter().enumerate() {
            if unary.slot == column && unary.directed.is_none() && accepts(unary.result) {
                found.push(self.one(cell, layout.unary[unary_slot(Usage::Inner)].start + id, NONE));
            }
        }
        for &(partial, at, row) in grammar.open_partials.iter().filter(|_| is_open) {
            if at == column && accepts(grammar.result_rows[row as usize]) {
                found.push(self.one(cell, layout.partial.start + partial as usize, NONE));
            }
        }
    }

    fn roots(&self, found: &mut Vec<Edge>) {
        let n = self.lattice.n_positions();
        for p in self.lattice.firsts() {
            let cell = self.lattice.cell(p, n);
            for &(ty, rule) in &self.grammar.roots {
                found.push(self.one(cell, self.layout.closed.start + ty.index(), self.rule(rule)));
            }
        }
    }

    /// The whole chart as a graph with every node that the root can reach, and for each of its nodes the place
    /// in the chart. Slow and large: for tests, and for scores that linear space cannot hold.
    pub(crate) fn graph(&self, meter: &Meter) -> Result<(Hypergraph, Vec<Node>), Exhausted> {
        // Tails before heads, without recursion.
        let mut graph = Hypergraph::default();
        let mut places = Vec::new();
        let mut number: HashMap<Node, u32> = HashMap::new();
        let mut todo = vec![(self.root(), false)];
        let mut edges = Vec::new();
        while let Some((node, is_ready)) = todo.pop() {
            if number.contains_key(&node) {
                continue;
            }
            self.list_into(node, &mut edges);
            meter.step(edges.len() + 1, EDGE_WORK)?;
            if !is_ready {
                todo.push((node, true));
                let tails = edges.iter().flat_map(|edge| edge.tails).filter(|&tail| tail != NONE);
                todo.extend(tails.filter(|tail| !number.contains_key(tail)).map(|tail| (tail, false)));
                continue;
            }
            number.insert(node, graph.push_node());
            places.push(node);
            for edge in &edges {
                let tails = edge.tails.map(|tail| if tail == NONE { NONE } else { number[&tail] });
                graph.push_edge(Edge { tails, weights: edge.weights });
            }
            meter.fits(graph.bytes())?;
        }
        Ok((graph, places))
    }
}
