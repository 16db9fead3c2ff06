//! Builds the items and edges of a gold chart, bottom-up.

mod implicit;

use super::elements::{Elements, Subset};
use super::rest::Rest;
use super::{Item, Joins, OwnScores};
use crate::budget::{Exhausted, Meter};
use crate::grammar::{
    Discontinuity, Grammar, LeafSymbol, N_USAGES, PartialSymbol, RuleKind, Side, Usage, commutes,
    first_accepting,
};
use crate::hypergraph::{Edge, NONE};
use crate::lattice::Lattice;
use crate::layout::MAX_OPEN;
use hashbrown::HashMap;
use spanwise_core::Idx;
use spanwise_lang::{Analysis, ConstantId, Domain, FrameId, Node, TypeId};
use std::ops::RangeInclusive;

/// Work for one edge, and for one attempt to make one.
const EDGE_WORK: u64 = 150;
const TRY_WORK: u64 = 40;

/// Bytes of an item in the table of its cell.
const ITEM_BYTES: usize = 40;

/// The items of one cell by number, and those that merges start from as lists.
#[derive(Clone, Default)]
struct Cell {
    numbers: HashMap<Item, u32>,
    closed: Vec<u16>,
    open: Vec<(u16, u16)>,
    composite: Vec<(u16, u16, Side)>,
    partial: Vec<(u16, u16, Option<u8>)>,
    list: Vec<(u16, u16)>,
    inserted: Vec<(u16, u16)>,
    subset: Vec<(u16, Subset)>,
    spread: Vec<(u16, u16, Subset)>,
}

impl Cell {
    fn insert(&mut self, item: Item, number: u32) {
        self.numbers.insert(item, number);
        match item {
            Item::Closed(node) => self.closed.push(node),
            Item::Open(node, missing) => self.open.push((node, missing)),
            Item::Composite(node, missing, side) => self.composite.push((node, missing, side)),
            Item::Partial(node, filled, last_left) => self.partial.push((node, filled, last_left)),
            Item::List(node, at) => self.list.push((node, at)),
            Item::Inserted(node, filled) => self.inserted.push((node, filled)),
            Item::Subset(set, subset) => self.subset.push((set, subset)),
            Item::Spread(node, set, subset) => self.spread.push((node, set, subset)),
            Item::Unary(..)
            | Item::Function(..)
            | Item::Leaf(_)
            | Item::Unsaid(..)
            | Item::Raw(_)
            | Item::Chain(..) => {}
        }
    }

    fn get(&self, item: Item) -> Option<u32> {
        self.numbers.get(&item).copied()
    }
}

/// Takes the items of a gold chart in order, tails before heads.
pub(super) trait Sink {
    /// Says to which typing of the program the next items belong.
    fn typing(&mut self, number: u8);

    /// Starts the next item; returns its number.
    fn node(&mut self, item: Item) -> u32;

    /// Adds an edge into the newest item.
    fn edge(&mut self, edge: Edge);

    /// The bytes that it holds.
    fn bytes(&self) -> usize;
}

/// Applies the rules of the grammar to fragments of one program, cell by cell.
pub(super) struct Builder<'a> {
    domain: &'a Domain,
    grammar: &'a Grammar,
    lattice: &'a Lattice,
    analysis: &'a Analysis,
    own: OwnScores,
    /// The node and slot that each node fills.
    parents: Vec<Option<(u16, usize)>>,
    /// For each position, the nodes that leaves from there may be, with the boundaries up to which they may reach, and their
    /// numbers.
    starting: Vec<Vec<(u16, RangeInclusive<usize>, usize)>>,
    rest: Rest,
    /// The elements of each node that is a set.
    sets: Vec<Option<Elements>>,
    cells: Vec<Cell>,
    n_items: usize,
}

type Made = Vec<(Item, Edge)>;

impl<'a> Builder<'a> {
    pub(super) fn new(
        domain: &'a Domain,
        grammar: &'a Grammar,
        lattice: &'a Lattice,
        analysis: &'a Analysis,
        values: &[Option<String>],
        own: OwnScores,
    ) -> Self {
        debug_assert!(own.joins != Joins::Tree || !own.implicit);
        let cells = vec![Cell::default(); lattice.n_cells()];
        let mut parents = vec![None; analysis.nodes.len()];
        for (node, kind) in analysis.nodes.iter().enumerate() {
            kind.children().enumerate().for_each(|(slot, child)| parents[child] = Some((node as u16, slot)));
        }
        let mut starting = vec![Vec::new(); lattice.n_positions()];
        for (p, leaves) in starting.iter_mut().enumerate() {
            for (ends, leaf) in lattice.leaves_from(p) {
                let allowed = &lattice.leaves()[leaf];
                let is_it = |at: usize| match &analysis.nodes[at] {
                    Node::Constant { constant, .. } => {
                        *constant == allowed.constant && allowed.value.is_none()
                    }
                    Node::Unlisted { class, .. } => {
                        domain.classes()[*class].holder == Some(allowed.constant)
                            && lattice.value(allowed) == values[at].as_deref()
                    }
                    Node::Gather { .. } => false,
                };
                let nodes = (0..analysis.nodes.len()).filter(|&at| is_it(at));
                leaves.extend(nodes.map(|node| (node as u16, ends.clone(), leaf)));
            }
        }
        let rest = Rest::new(domain, grammar, analysis);
        let sets = Elements::of(domain, analysis);
        Self { domain, grammar, lattice, analysis, own, parents, starting, rest, sets, cells, n_items: 0 }
    }

    /// Gives all items and their edges to the sink; returns the edges into the root, which comes last.
    pub(super) fn run(mut self, sink: &mut impl Sink, meter: &Meter) -> Result<Vec<Edge>, Exhausted> {
        let n = self.lattice.n_positions();
        for length in 1..=n {
            for p in 0..=n - length {
                self.cell(p, p + length, sink, meter)?;
            }
            meter.fits(sink.bytes() + self.n_items * ITEM_BYTES)?;
        }
        Ok(self.root())
    }

    /// Whether the words outside a span of so many positions suffice for what an item lacks.
    fn fits(&self, item: Item, width: usize) -> bool {
        width + self.rest.positions(item, self.analysis) <= self.lattice.n_positions()
    }

    fn cell(&mut self, p: usize, q: usize, sink: &mut impl Sink, meter: &Meter) -> Result<(), Exhausted> {
        let cell = self.lattice.cell(p, q);
        let mut made: Made = Vec::new();
        if !self.grammar.implicit.unsaid.is_empty() {
            self.unsaid(p, q, &mut made);
            self.emit((p, q), std::mem::take(&mut made), sink);
            self.with_unsaid(cell, &mut made);
        }
        self.leaves(p, q, &mut made);
        for split in p + 1..q {
            let pair = Pair {
                width: q - p,
                left: &self.cells[self.lattice.cell(p, split)],
                right: &self.cells[self.lattice.cell(split, q)],
            };
            self.merge(&pair, cell, &mut made);
            meter.step(1 + pair.n_tried(), TRY_WORK)?;
        }
        meter.step(made.len(), EDGE_WORK)?;
        // Items that others of the same cell are made from come first.
        self.emit((p, q), made, sink);
        let mut made = Vec::new();
        self.lists_and_values(cell, &mut made);
        self.emit((p, q), made, sink);
        let raw = self.raw(cell);
        for n_inserted in 1..self.grammar.implicit.chain {
            let mut made = Vec::new();
            self.insert(cell, &raw, n_inserted, |node| Item::Chain(node, n_inserted as u8), &mut made);
            self.emit((p, q), made, sink);
        }
        let mut made = Vec::new();
        self.finish(cell, &raw, &mut made);
        if q - p <= MAX_OPEN {
            self.opens(&self.cells[cell], &mut made);
        }
        self.emit((p, q), made, sink);
        let mut made = Vec::new();
        self.elements(&self.cells[cell], &mut made);
        self.starts(cell, &mut made);
        self.emit((p, q), made, sink);
        Ok(())
    }

    /// Gives items numbers and their edges heads. Items of equal name come together.
    fn emit(&mut self, (p, q): (usize, usize), mut made: Made, sink: &mut impl Sink) {
        let cell = self.lattice.cell(p, q);
        made.sort_by_key(|(item, _)| *item);
        for same in made.chunk_by(|(a, _), (b, _)| a == b) {
            let item = same[0].0;
            if !self.fits(item, q - p) {
                continue;
            }
            self.cells[cell].insert(item, sink.node(item));
            self.n_items += 1;
            same.iter().for_each(|&(_, edge)| sink.edge(edge));
        }
    }

    fn rule(&self, rule: u32) -> u32 {
        (self.lattice.leaves().len() * N_USAGES) as u32 + rule
    }

    /// The score of what is joined in a cell, or of the whole for the number of cells.
    fn join(&self, cell: usize) -> u32 {
        self.rule(self.grammar.n_rules() as u32) + cell as u32
    }

    fn merged(&self, rule: u32, cell: usize) -> [u32; 3] {
        [self.rule(rule), if self.own.joins == Joins::None { NONE } else { self.join(cell) }, NONE]
    }

    fn key(&self, kind: RuleKind, input: TypeId, output: TypeId, side: Side) -> Option<u32> {
        self.grammar.rule_of(&self.grammar.key(kind, input, output, side))
    }

    /// Constant, frame and arguments of a node that is a constant.
    fn constant(&self, node: u16) -> Option<(ConstantId, FrameId, &'a [usize])> {
        match &self.analysis.nodes[node as usize] {
            Node::Constant { constant, frame, args } => Some((*constant, *frame, args)),
            Node::Gather { .. } | Node::Unlisted { .. } => None,
        }
    }

    /// The frame of a node that is a leaf: a constant or a literal.
    fn frame(&self, node: u16) -> Option<FrameId> {
        match &self.analysis.nodes[node as usize] {
            Node::Constant { frame, .. } => Some(*frame),
            Node::Unlisted { class, .. } => Some(self.domain.classes()[*class].frame),
            Node::Gather { .. } => None,
        }
    }

    fn leaves(&self, p: usize, q: usize, made: &mut Made) {
        let span = self.lattice.span(p, q);
        for &(node, _, leaf) in self.starting[p].iter().filter(|(_, ends, _)| ends.contains(&q)) {
            let Some(frame) = self.frame(node) else { continue };
            let mut add = |item: Item, usage: Usage| {
                let mut edge = Edge::leaf((leaf * N_USAGES + usage.index()) as u32);
                if self.own.joins == Joins::Tree && self.lattice.leaves()[leaf].end < span.end {
                    edge.weights[1] = self.join(self.lattice.cell(p, q));
                }
                made.push((item, edge));
            };
            match self.grammar.leaf_symbol[frame.index()] {
                LeafSymbol::Unreachable => {}
                LeafSymbol::Closed(_) => add(Item::Leaf(node), Usage::Closed),
                LeafSymbol::Unary(_) => {
                    Usage::ALL[1..].iter().for_each(|&usage| add(Item::Unary(node, usage), usage))
                }
                LeafSymbol::Function(_) => {
                    add(Item::Function(node, Side::Left), Usage::ApplyLeft);
                    add(Item::Function(node, Side::Right), Usage::ApplyRight);
                }
            }
        }
    }

    /// Everything that two neighbouring cells make together. Starts from what is there, not from what could be.
    fn merge(&self, pair: &Pair<'_>, cell: usize, made: &mut Made) {
        for side in [Side::Left, Side::Right] {
            let (functions, arguments) = pair.sides(side);
            for &argument in &arguments.closed {
                self.apply(pair, side, argument, cell, made);
            }
            for &(node, missing, own) in functions.composite.iter().filter(|(_, _, own)| *own == side) {
                self.complete(pair, (node, missing, own), cell, made);
            }
            if pair.width <= MAX_OPEN {
                for &(inner, missing) in &arguments.open {
                    self.compose(pair, side, (inner, missing), cell, made);
                }
            }
        }
        for &(node, at) in pair.right.list.iter().filter(|(_, at)| *at > 0) {
            let Node::Gather { accumulator, elements, .. } = &self.analysis.nodes[node as usize] else {
                continue;
            };
            let element = Item::Leaf(elements[at as usize - 1] as u16);
            debug_assert!(self.sets[node as usize].is_none());
            if let Some(tails) = pair.words(element, Item::List(node, at)) {
                let weights = self.merged(self.grammar.gatherings[*accumulator].gather, cell);
                made.push((Item::List(node, at - 1), Edge { tails, weights }));
            }
        }
        self.sets(pair, cell, made);
        self.fill_inserted(pair, cell, made);
    }

    /// Elements of a set join others, or functions that take some of them from each side.
    fn sets(&self, pair: &Pair<'_>, cell: usize, made: &mut Made) {
        for &(set, subset) in &pair.right.subset {
            let Some(elements) = &self.sets[set as usize] else { continue };
            let Node::Gather { accumulator, .. } = self.analysis.nodes[set as usize] else { continue };
            let gather = self.grammar.gatherings[accumulator].gather;
            let singles =
                pair.left.subset.iter().filter(|(known, one)| *known == set && one.count_ones() == 1);
            for &(_, one) in singles {
                let Some(sum) = elements.add(one, subset) else { continue };
                if let Some(tails) = pair.words(Item::Subset(set, one), Item::Subset(set, subset)) {
                    let weights = self.merged(gather, cell);
                    made.push((Item::Subset(set, sum), Edge { tails, weights }));
                }
            }
            if subset == elements.all() {
                continue;
            }
            let mut spread = |node: u16, function: Item| {
                if self.is_directed(set) {
                    return;
                }
                let (Some(slot), Some((_, frame, _))) = (self.slot_of(set), self.constant(node)) else {
                    return;
                };
                let result = self.domain.frame(frame).result;
                let (Some(rule), Some(tails)) = (
                    self.key(RuleKind::Spread, slot, result, Side::Right),
                    pair.words(function, Item::Subset(set, subset)),
                ) else {
                    return;
                };
                made.push((
                    Item::Spread(node, set, subset),
                    Edge { tails, weights: self.merged(rule, cell) },
                ));
            };
            if let Some((parent, slot)) = self.parents[set as usize] {
                spread(parent, Item::Unary(parent, Usage::ApplyRight));
                for &(node, filled, last_left) in &pair.left.partial {
                    let n_slots = self.constant(node).map_or(0, |(_, _, args)| args.len());
                    let is_last = filled.count_ones() as usize + 1 == n_slots && filled >> slot & 1 == 0;
                    if node == parent && is_last {
                        spread(node, Item::Partial(node, filled, last_left));
                    }
                }
            }
            for &(node, missing, side) in pair.left.composite.iter().filter(|(_, missing, _)| *missing == set)
            {
                spread(node, Item::Composite(node, missing, side));
            }
        }
        for &(node, set, subset) in &pair.right.spread {
            let Some(elements) = &self.sets[set as usize] else { continue };
            let (Node::Gather { accumulator, .. }, Some((_, frame, _))) =
                (&self.analysis.nodes[set as usize], self.constant(node))
            else {
                continue;
            };
            let (ty, result) =
                (self.grammar.gatherings[*accumulator].result, self.domain.frame(frame).result);
            let Some(rule) = self.key(RuleKind::Settle, ty, result, Side::Left) else { continue };
            for &(_, others) in pair.left.subset.iter().filter(|(known, _)| *known == set) {
                if elements.add(others, subset) != Some(elements.all()) {
                    continue;
                }
                if let Some(tails) = pair.words(Item::Subset(set, others), Item::Spread(node, set, subset)) {
                    made.push((Item::Raw(node), Edge { tails, weights: self.merged(rule, cell) }));
                }
            }
        }
    }

    /// Complete terms as elements of a set. Equal ones are the same element.
    fn elements(&self, cell: &Cell, made: &mut Made) {
        for &node in &cell.closed {
            let Some((set, at)) = self.parents[node as usize] else { continue };
            let one = self.sets[set as usize].as_ref().and_then(|elements| elements.one(at));
            if let (Some(one), Some(number)) = (one, cell.get(Item::Closed(node))) {
                made.push((Item::Subset(set, one), self.one(number, NONE)));
            }
        }
    }

    /// Whatever takes a complete argument on `side`.
    fn apply(&self, pair: &Pair<'_>, side: Side, argument: u16, cell: usize, made: &mut Made) {
        let Some((node, slot)) = self.parents[argument as usize] else { return };
        match &self.analysis.nodes[node as usize] {
            Node::Constant { frame, .. } => match self.grammar.leaf_symbol[frame.index()] {
                LeafSymbol::Unary(id) => {
                    let usage = Usage::applied(side);
                    if !self.fits(Item::Raw(node), pair.width) {
                        return;
                    }
                    let rule = self.grammar.unaries[id as usize].apply[side as usize];
                    let tails = pair.get(side, Item::Unary(node, usage), Item::Closed(argument));
                    if let Some(tails) = tails.filter(|_| rule != u32::MAX) {
                        made.push((Item::Raw(node), Edge { tails, weights: self.merged(rule, cell) }));
                    }
                }
                LeafSymbol::Function(_) => {
                    self.fill_slot(pair, side, (node, *frame), (slot, argument), cell, made)
                }
                LeafSymbol::Closed(_) | LeafSymbol::Unreachable => {}
            },
            Node::Gather { accumulator, elements, .. } if slot == elements.len() => {
                let over = self.grammar.gatherings[*accumulator].over;
                let tails = pair.get(side, Item::List(node, 0), Item::Closed(argument));
                if let (Some(over), Some(tails)) = (over, tails) {
                    let rule = over.apply[side as usize];
                    made.push((Item::Raw(node), Edge { tails, weights: self.merged(rule, cell) }));
                }
            }
            Node::Gather { .. } | Node::Unlisted { .. } => {}
        }
    }

    /// A function is composed with a subtree that something is missing from.
    fn compose(
        &self,
        pair: &Pair<'_>,
        side: Side,
        (inner, missing): (u16, u16),
        cell: usize,
        made: &mut Made,
    ) {
        let Some((node, _)) = self.parents[inner as usize] else { return };
        let Some((_, frame, _)) = self.constant(node) else { return };
        let LeafSymbol::Unary(id) = self.grammar.leaf_symbol[frame.index()] else { return };
        let (usage, own) = (Usage::composed(side), side.other());
        let rule = self.grammar.unaries[id as usize].compose[side as usize];
        if rule == u32::MAX {
            return;
        }
        if !self.fits(Item::Composite(node, missing, own), pair.width) {
            return;
        }
        if let Some(tails) = pair.get(side, Item::Unary(node, usage), Item::Open(inner, missing)) {
            // In the paper's tree the three parts of a discontinuous node are joined at once.
            let weights = match self.own.joins {
                Joins::Tree => [self.rule(rule), NONE, NONE],
                Joins::None | Joins::Merges => self.merged(rule, cell),
            };
            made.push((Item::Composite(node, missing, own), Edge { tails, weights }));
        }
    }

    /// A composite gets what is missing, on the side of its last function.
    fn complete(
        &self,
        pair: &Pair<'_>,
        (node, missing, side): (u16, u16, Side),
        cell: usize,
        made: &mut Made,
    ) {
        let tails = pair.get(side, Item::Composite(node, missing, side), Item::Closed(missing));
        let (Some(tails), Some((_, frame, _))) = (tails, self.constant(node)) else { return };
        let rule = self
            .slot_of(missing)
            .and_then(|slot| self.key(RuleKind::Finish, slot, self.domain.frame(frame).result, side));
        if let Some(rule) = rule {
            made.push((Item::Raw(node), Edge { tails, weights: self.merged(rule, cell) }));
        }
    }

    /// Whether the slot that a node fills requires a side.
    fn is_directed(&self, node: u16) -> bool {
        let Some((parent, slot)) = self.parents[node as usize] else { return false };
        self.constant(parent).is_some_and(|(_, frame, _)| self.domain.frame(frame).sides[slot].is_some())
    }

    /// The type of the slot that a node fills in the program.
    fn slot_of(&self, node: u16) -> Option<TypeId> {
        let (parent, slot) = self.parents[node as usize]?;
        self.constant(parent).map(|(_, frame, _)| self.domain.frame(frame).slots[slot])
    }

    /// A function of several slots, bare or with some filled, takes an argument.
    fn fill_slot(
        &self,
        pair: &Pair<'_>,
        side: Side,
        (node, frame): (u16, FrameId),
        (slot, argument): (usize, u16),
        cell: usize,
        made: &mut Made,
    ) {
        let used = self.domain.frame(frame);
        let ty = self.analysis.types[argument as usize];
        let mut step = |from: Item, symbol: PartialSymbol| {
            let Some(tails) = pair.get(side, from, Item::Closed(argument)) else { return };
            let slots = (&used.slots[..], &used.sides[..]);
            let first = first_accepting(self.domain, slots, symbol.filled, ty, side);
            let is_spurious = side == Side::Right && commutes(self.domain, slots, &symbol, ty, slot);
            let rule = self.key(RuleKind::Fill(slot as u8), used.slots[slot], used.result, side);
            let Some(rule) = rule.filter(|_| first == Some(slot) && !is_spurious) else { return };
            let filled = symbol.filled | 1 << slot;
            let item = if filled.count_ones() as usize == used.slots.len() {
                Item::Raw(node)
            } else {
                Item::Partial(node, filled, (side == Side::Left).then_some(slot as u8))
            };
            made.push((item, Edge { tails, weights: self.merged(rule, cell) }));
        };
        step(Item::Function(node, side), PartialSymbol { function: 0, filled: 0, last_left: None });
        let (functions, _) = pair.sides(side);
        for &(_, filled, last_left) in functions.partial.iter().filter(|(known, ..)| *known == node) {
            step(Item::Partial(node, filled, last_left), PartialSymbol { function: 0, filled, last_left });
        }
    }

    fn lists_and_values(&self, cell: usize, made: &mut Made) {
        for (node, kind) in self.analysis.nodes.iter().enumerate() {
            let node = node as u16;
            if let Some(leaf) = self.cells[cell].get(Item::Leaf(node)) {
                made.push((Item::Raw(node), self.one(leaf, NONE)));
            }
            if self.sets[node as usize].is_some() {
                continue;
            }
            if let Node::Gather { elements, .. } = kind {
                let last = elements.len() as u16 - 1;
                if let Some(leaf) = self.cells[cell].get(Item::Leaf(elements[last as usize] as u16)) {
                    made.push((Item::List(node, last), self.one(leaf, NONE)));
                }
            }
        }
    }

    /// For each node, how it is complete without implicit constants on the same words: as it is, or as a closed list.
    fn raw(&self, cell: usize) -> Vec<Vec<Edge>> {
        let items = &self.cells[cell];
        let edges = |(node, kind): (usize, &Node)| {
            let node = node as u16;
            let mut edges: Vec<Edge> =
                items.get(Item::Raw(node)).map(|known| self.one(known, NONE)).into_iter().collect();
            if let Node::Gather { accumulator, over: None, .. } = kind {
                let close = self.grammar.gatherings[*accumulator].close;
                let all = match &self.sets[node as usize] {
                    Some(elements) => Item::Subset(node, elements.all()),
                    None => Item::List(node, 0),
                };
                if let (Some(list), Some(close)) = (items.get(all), close) {
                    edges.push(self.one(list, self.rule(close)));
                }
            }
            edges
        };
        self.analysis.nodes.iter().enumerate().map(edges).collect()
    }

    /// Everything that is complete.
    fn finish(&self, cell: usize, raw: &[Vec<Edge>], made: &mut Made) {
        for (node, edges) in raw.iter().enumerate() {
            let node = node as u16;
            made.extend(edges.iter().map(|&edge| (Item::Closed(node), edge)));
            for n_inserted in 1..self.grammar.implicit.chain as u8 {
                let known = self.cells[cell].get(Item::Chain(node, n_inserted));
                made.extend(known.map(|known| (Item::Closed(node), self.one(known, NONE))));
            }
        }
        self.insert(cell, raw, self.grammar.implicit.chain, Item::Closed, made);
    }

    fn opens(&self, cell: &Cell, made: &mut Made) {
        let discontinuity = self.grammar.options().discontinuity;
        if discontinuity == Discontinuity::None {
            return;
        }
        let mut known: Vec<(Item, u32)> =
            cell.numbers.iter().map(|(&item, &number)| (item, number)).collect();
        known.sort_unstable();
        for (item, number) in known {
            let open = match item {
                Item::Unary(node, Usage::Inner) => {
                    let undirected = |frame: FrameId| self.domain.frame(frame).sides[0].is_none();
                    let constant = self.constant(node).filter(|&(_, frame, _)| undirected(frame));
                    constant.map(|(_, _, args)| (node, args[0] as u16))
                }
                Item::Composite(node, missing, _) if discontinuity == Discontinuity::Open => {
                    Some((node, missing))
                }
                Item::Partial(node, filled, _) if discontinuity == Discontinuity::Open => {
                    self.constant(node).and_then(|(_, frame, args)| {
                        let mut free = (0..args.len()).filter(|slot| filled >> slot & 1 == 0);
                        let only = free.next().filter(|_| free.next().is_none());
                        let only = only.filter(|&slot| self.domain.frame(frame).sides[slot].is_none());
                        only.map(|slot| (node, args[slot] as u16))
                    })
                }
                _ => None,
            };
            if let Some((node, missing)) = open {
                made.push((Item::Open(node, missing), self.one(number, NONE)));
            }
        }
    }

    fn one(&self, tail: u32, weight: u32) -> Edge {
        Edge { tails: [tail, NONE], weights: [weight, NONE, NONE] }
    }

    /// The edges into the root; none when the program has no derivation.
    fn root(&self) -> Vec<Edge> {
        let n = self.lattice.n_positions();
        let Some(&(_, rule)) = self.grammar.roots.iter().find(|(ty, _)| *ty == self.analysis.types[0]) else {
            return Vec::new();
        };
        let weight = self.rule(rule);
        let edge = |p: usize| {
            let top = self.cells[self.lattice.cell(p, n)].get(Item::Closed(0))?;
            let mut edge = self.one(top, weight);
            if self.own.joins == Joins::Tree && self.lattice.span(p, n).start > 0 {
                edge.weights[1] = self.join(self.lattice.n_cells());
            }
            Some(edge)
        };
        self.lattice.firsts().filter_map(edge).collect()
    }
}

/// Two neighbouring cells.
struct Pair<'a> {
    /// Positions of both together.
    width: usize,
    left: &'a Cell,
    right: &'a Cell,
}

impl Pair<'_> {
    /// How many attempts a merge takes.
    fn n_tried(&self) -> usize {
        let tried = |cell: &Cell| cell.closed.len() + cell.composite.len() + cell.list.len();
        let open = |cell: &Cell| if self.width <= MAX_OPEN { cell.open.len() } else { 0 };
        let subsets = self.right.subset.len() + self.right.spread.len();
        let sets = subsets * (1 + self.left.subset.len()) + self.left.inserted.len();
        tried(self.left) + tried(self.right) + open(self.left) + open(self.right) + sets
    }

    /// The cell of the function and that of its argument, which is on `side`.
    fn sides(&self, side: Side) -> (&Cell, &Cell) {
        match side {
            Side::Right => (self.left, self.right),
            Side::Left => (self.right, self.left),
        }
    }

    /// A function and its argument on `side`, as tails in the order of the words.
    fn get(&self, side: Side, function: Item, argument: Item) -> Option<[u32; 2]> {
        match side {
            Side::Right => self.words(function, argument),
            Side::Left => self.words(argument, function),
        }
    }

    fn words(&self, left: Item, right: Item) -> Option<[u32; 2]> {
        Some([self.left.get(left)?, self.right.get(right)?])
    }
}
