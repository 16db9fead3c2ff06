//! Derivations of a typed chart: the Viterbi derivation, and the tree of any derivation.

use crate::budget::{Exhausted, Meter};
use crate::edges::{Edges, Node, Symbol};
use crate::grammar::{LeafSymbol, N_USAGES, RuleKind, Side};
use crate::hypergraph::{Edge, NONE};
use crate::lattice::Leaf;
use crate::semiring::Max;
use crate::tree::SpanTree;
use crate::tree_builder::TreeBuilder;
use crate::typed::{Input, RuleValues, TypedChart, chart_bytes};
use spanwise_core::Span;
use spanwise_lang::{FrameId, Meaning, TermId, Terms};

/// One way through a chart.
#[derive(Clone, PartialEq, Debug)]
pub struct Derivation {
    /// The sum of its scores.
    pub score: f32,
    /// Children before parents, the root last.
    pub(crate) nodes: Vec<Step>,
}

/// A node of a derivation with the edge it was made by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Step {
    pub node: Node,
    pub edge: Edge,
    /// Numbers of the steps that made its tails.
    pub children: [u32; 2],
}

/// A typed chart in the Viterbi semiring, from which derivations are back-traced. [The crate's example](crate) parses a
/// sentence with it.
#[derive(Debug)]
pub struct BestChart<'a> {
    pub(crate) input: Input<'a>,
    pub(crate) chart: TypedChart<Max>,
}

impl<'a> BestChart<'a> {
    /// Finds the best score of every item. Exact.
    #[must_use]
    pub fn new(input: Input<'a>, rules: &RuleValues<Max>) -> Self {
        let scales = vec![0.0; input.lattice.n_positions()];
        Self { chart: TypedChart::filled(&input, rules, scales), input }
    }

    /// The same within a budget.
    ///
    /// # Errors
    /// A limit that is reached.
    pub fn within(input: Input<'a>, rules: &RuleValues<Max>, meter: &Meter) -> Result<Self, Exhausted> {
        meter.fits(chart_bytes::<Max>(&input))?;
        meter.spend(input.grammar.chart_work(input.lattice.n_positions()))?;
        let scales = vec![0.0; input.lattice.n_positions()];
        Ok(Self { chart: TypedChart::fill(&input, rules, scales, meter)?, input })
    }

    /// The score of the best derivation; minus infinity when there is none.
    #[must_use]
    pub fn score(&self) -> f32 {
        self.chart.root()
    }

    pub(crate) fn edges(&self) -> Edges<'_> {
        Edges {
            domain: self.input.domain,
            grammar: self.input.grammar,
            lattice: self.input.lattice,
            layout: &self.chart.layout,
            storage: self.chart.storage,
            has_joins: !self.input.scores.joins.is_empty(),
            has_implicit: !self.input.scores.implicit.is_empty(),
        }
    }

    pub(crate) fn value(&self, node: Node) -> f32 {
        let (cell, place) = self.chart.storage.locate(node as usize);
        if cell == self.chart.occupied.len() { self.chart.root } else { self.chart.value(cell, place) }
    }

    pub(crate) fn weight(&self, at: u32) -> f32 {
        let scores = &self.input.scores;
        let at = at as usize;
        let n_leaves = scores.leaves.len();
        match at.checked_sub(n_leaves) {
            None => scores.leaves[at],
            Some(rule) => match rule.checked_sub(scores.rules.len()) {
                None => scores.rules[rule],
                Some(join) => match join.checked_sub(scores.joins.len()) {
                    None => scores.joins[join],
                    Some(implicit) => scores.implicit[implicit],
                },
            },
        }
    }

    /// The score of the best derivation through an edge.
    pub(crate) fn through(&self, edge: &Edge) -> f32 {
        let weights: f32 = edge.weights.iter().take_while(|&&at| at != NONE).map(|&at| self.weight(at)).sum();
        let tails: f32 =
            edge.tails.iter().take_while(|&&tail| tail != NONE).map(|&tail| self.value(tail)).sum();
        weights + tails
    }

    /// The best derivation; of equally good edges the first of the fixed order wins. `None` when there is none.
    #[must_use]
    pub fn best(&self) -> Option<Derivation> {
        if self.score() == f32::NEG_INFINITY {
            return None;
        }
        let edges = self.edges();
        let mut found = Vec::new();
        let mut chosen: Vec<(Node, Edge)> = Vec::new();
        let mut todo = vec![edges.root()];
        while let Some(node) = todo.pop() {
            edges.list_into(node, &mut found);
            let mut best: Option<(f32, Edge)> = None;
            for edge in &found {
                let score = self.through(edge);
                if best.is_none_or(|(known, _)| score > known) {
                    best = Some((score, *edge));
                }
            }
            let (_, edge) = best.expect("a node with a value has an edge");
            todo.extend(edge.tails.iter().rev().copied().filter(|&tail| tail != NONE));
            chosen.push((node, edge));
        }
        Some(Derivation { score: self.score(), nodes: assemble(&chosen) })
    }

    /// The best derivation with a program, and its tree. Sets with many constants that make at most one element are checked
    /// when they are complete, so the best derivation may have none; then the next ones are tried, no more than so many.
    pub fn best_tree(&self, terms: &mut Terms, most: usize) -> Option<(Derivation, TermId, SpanTree)> {
        let best = self.best()?;
        if let Some((program, tree)) = self.tree(terms, &best) {
            return Some((best, program, tree));
        }
        let mut others = self.derivations().take(most);
        others.find_map(|derivation| {
            let (program, tree) = self.tree(terms, &derivation)?;
            Some((derivation, program, tree))
        })
    }

    /// The program of a derivation, and the tree that explains it; `None` when its sets are not allowed.
    pub fn tree(&self, terms: &mut Terms, derivation: &Derivation) -> Option<(TermId, SpanTree)> {
        Replay { chart: self, edges: self.edges(), builder: TreeBuilder::new(self.input.domain, terms) }
            .run(derivation)
    }
}

/// Steps in preorder to steps with children first.
pub(crate) fn assemble(preorder: &[(Node, Edge)]) -> Vec<Step> {
    let n = preorder.len();
    let mut steps = Vec::with_capacity(n);
    let mut pending: Vec<u32> = Vec::new();
    for (at, &(node, edge)) in preorder.iter().rev().enumerate() {
        let mut children = [NONE; 2];
        for (child, &tail) in children.iter_mut().zip(&edge.tails) {
            if tail != NONE {
                *child = pending.pop().expect("the tails of a step follow it");
            }
        }
        steps.push(Step { node, edge, children });
        pending.push(at as u32);
    }
    steps
}

struct Replay<'a, 'b> {
    chart: &'a BestChart<'b>,
    edges: Edges<'a>,
    builder: TreeBuilder<'a>,
}

/// A part of the sentence with its node in the tree.
#[derive(Clone, Debug)]
struct Part {
    tree: usize,
    meaning: Meaning,
}

impl Replay<'_, '_> {
    fn run(mut self, derivation: &Derivation) -> Option<(TermId, SpanTree)> {
        let mut parts: Vec<Option<Part>> = Vec::with_capacity(derivation.nodes.len());
        for step in &derivation.nodes {
            let [first, second] =
                step.children.map(|child| parts.get_mut(child as usize).and_then(Option::take));
            let part = match (first, second) {
                (None, _) => self.leaf(step)?,
                (Some(only), None) => self.pass(step, only)?,
                (Some(left), Some(right)) => self.join(step, left, right)?,
            };
            parts.push(Some(part));
        }
        let root = parts.pop().flatten()?;
        let input = &self.chart.input;
        let program = input.domain.program(self.builder.terms, &root.meaning)?;
        // Sets that a chart cannot keep apart may have elements that are not allowed together.
        let is_checked = input.domain.accumulator_types().iter().any(|types| !types.is_tracked());
        if is_checked && input.domain.analyze(self.builder.terms, program).is_err() {
            return None;
        }
        let n_tokens = input.lattice.n_tokens();
        Some((program, self.builder.finish(root.tree, &root.meaning, n_tokens, program)))
    }

    fn leaf(&mut self, step: &Step) -> Option<Part> {
        let input = &self.chart.input;
        let (symbol, (p, q)) = self.edges.symbol(step.node);
        let leaf = &input.lattice.leaves()[step.edge.weights[0] as usize / N_USAGES];
        let Leaf { start, end, constant, .. } = *leaf;
        let wanted = match symbol {
            Symbol::Unary(_, id) => LeafSymbol::Unary(id),
            Symbol::Function(_, id) => LeafSymbol::Function(id),
            Symbol::LeafClosed(ty) => LeafSymbol::Closed(spanwise_lang::TypeId(ty)),
            Symbol::Unsaid(id) => input.grammar.implicit.unsaid[id as usize].from,
            _ => return None,
        };
        let mut frames = input.domain.constants()[constant].frames.clone();
        let frame = frames.find(|&raw| input.grammar.leaf_symbol[raw as usize] == wanted)?;
        let meaning = match input.lattice.value(leaf) {
            Some(value) => input.domain.literal(self.builder.terms, constant, value)?,
            None => input.domain.leaf(self.builder.terms, constant, FrameId(frame))?,
        };
        let whole = input.lattice.span(p, q);
        let tree = self.builder.constant(constant, Span::new(start, end), whole, &meaning);
        let part = Part { tree, meaning };
        match symbol {
            Symbol::Unsaid(id) => self.unsaid(id, step.edge.weights[1], part),
            _ => Some(part),
        }
    }

    /// A leaf gets an argument without words.
    fn unsaid(&mut self, id: u16, rule: u32, part: Part) -> Option<Part> {
        let input = &self.chart.input;
        let slot = input.grammar.implicit.unsaid[id as usize].slot as usize;
        let frame = self.implicit_frame(rule)?;
        let constant = input.domain.frame_owner(frame);
        let argument = input.domain.leaf(self.builder.terms, constant, frame)?;
        let meaning = input.domain.fill_slot(self.builder.terms, &part.meaning, slot, &argument)?;
        Some(Part { tree: self.builder.implicit(constant, part.tree, &meaning), meaning })
    }

    /// The frame of the constant that a rule inserts, given the number of its score.
    fn implicit_frame(&self, weight: u32) -> Option<FrameId> {
        let rule = weight.checked_sub(self.edges.rules_at()).filter(|_| weight != NONE)?;
        match self.chart.input.grammar.rules().get(rule as usize)?.kind {
            RuleKind::Implicit(frame) => Some(frame),
            _ => None,
        }
    }

    /// An edge with one tail changes nothing, except where it inserts an implicit constant.
    fn pass(&mut self, step: &Step, part: Part) -> Option<Part> {
        let Some(frame) = self.implicit_frame(step.edge.weights[0]) else { return Some(part) };
        let domain = self.chart.input.domain;
        let constant = domain.frame_owner(frame);
        let function = domain.leaf(self.builder.terms, constant, frame)?;
        // Sides mean nothing to a function without words, but where it takes several arguments: they are on its right.
        let side = (domain.frame(frame).slots.len() > 1).then_some(Side::Right);
        let meaning = domain.apply_on(self.builder.terms, &function, &part.meaning, side)?;
        Some(Part { tree: self.builder.implicit(constant, part.tree, &meaning), meaning })
    }

    fn join(&mut self, step: &Step, left: Part, right: Part) -> Option<Part> {
        let domain = self.chart.input.domain;
        let (symbol, _) = self.edges.symbol(step.node);
        let tails = step.edge.tails.map(|tail| self.edges.symbol(tail).0);
        let is_function = |symbol: Symbol| {
            matches!(
                symbol,
                Symbol::Unary(..)
                    | Symbol::Function(..)
                    | Symbol::Partial(_)
                    | Symbol::Composite(..)
                    | Symbol::Inserted(_)
                    | Symbol::List(_)
            )
        };
        let meaning = match symbol {
            Symbol::List(_) => domain.gather(&left.meaning, &right.meaning),
            Symbol::Spread(_) => domain.spread(&left.meaning, &right.meaning),
            _ if matches!(tails[1], Symbol::Spread(_)) => {
                domain.apply(self.builder.terms, &right.meaning, &left.meaning)
            }
            Symbol::Composite(..) if is_function(tails[0]) && !matches!(tails[0], Symbol::Open(..)) => {
                domain.compose(&left.meaning, &right.meaning)
            }
            Symbol::Composite(..) => domain.compose(&right.meaning, &left.meaning),
            _ if is_function(tails[0]) => {
                domain.apply_on(self.builder.terms, &left.meaning, &right.meaning, Some(Side::Right))
            }
            _ => domain.apply_on(self.builder.terms, &right.meaning, &left.meaning, Some(Side::Left)),
        }?;
        Some(Part { tree: self.builder.join(left.tree, right.tree, &meaning), meaning })
    }
}
