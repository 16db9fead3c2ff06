//! The tree of the Viterbi derivation of a gold chart, aligned with the program.

use crate::derivation::assemble;
use crate::gold::{GoldChart, Item};
use crate::grammar::{N_USAGES, Side};
use crate::hypergraph::Edge;
use crate::lattice::Lattice;
use crate::tree::SpanTree;
use crate::tree_builder::TreeBuilder;
use spanwise_core::Span;
use spanwise_lang::{Analysis, ConstantId, Domain, FrameId, Meaning, Node, Terms};

/// The best tree of a program, and the node of the tree that each part of the program is aligned to.
#[derive(Clone, PartialEq, Debug)]
pub struct GoldTree {
    /// The sum of its scores.
    pub score: f32,
    /// The tree.
    pub tree: SpanTree,
    /// The program, taken apart into constants that are typed as in the tree.
    pub analysis: Analysis,
    /// For each node of this analysis, the node of the tree whose sub-program it is; `None` where its parts are
    /// not under one node.
    pub says: Vec<Option<usize>>,
}

/// One derivation of a program.
#[derive(Clone, PartialEq, Debug)]
pub struct GoldDerivation {
    score: f32,
    /// Nodes with the edges that they were made by, parents before children.
    chosen: Vec<(u32, Edge)>,
}

impl GoldChart {
    /// The best tree of the program; of equally good ones the first. `scores` are numbered as the graph numbers them:
    /// leaf by leaf and usage by usage, then rules, then cells. `domain` and `lattice` are those that the chart was built
    /// with. `None` when the scores allow no derivation. Cost: one step per edge.
    pub fn best_tree(
        &self,
        domain: &Domain,
        lattice: &Lattice,
        terms: &mut Terms,
        scores: &[f32],
    ) -> Option<GoldTree> {
        self.tree(domain, lattice, terms, &self.best(scores)?)
    }

    /// The best derivation of the program. `scores` are those of [`Self::best_tree`]; a derivation is much smaller than they are.
    #[must_use]
    pub fn best(&self, scores: &[f32]) -> Option<GoldDerivation> {
        let (score, chosen) = self.graph().best(scores)?;
        Some(GoldDerivation { score, chosen })
    }

    /// The tree of a derivation.
    pub fn tree(
        &self,
        domain: &Domain,
        lattice: &Lattice,
        terms: &mut Terms,
        derivation: &GoldDerivation,
    ) -> Option<GoldTree> {
        let GoldDerivation { score, chosen } = derivation;
        // The root belongs to all typings, what is below it to one.
        let typing = chosen.get(1).map_or(0, |&(node, _)| self.typings[node as usize]);
        let analysis = &self.analyses[typing as usize];
        let says = vec![None; analysis.nodes.len()];
        let next = lattice.n_tokens() as u32;
        let mut replay = Replay { analysis, lattice, says, next, builder: TreeBuilder::new(domain, terms) };
        let steps = assemble(chosen);
        let mut parts: Vec<Option<Part>> = Vec::with_capacity(steps.len());
        for step in &steps {
            let tails = step.children.map(|child| parts.get_mut(child as usize).and_then(Option::take));
            let item = self.items[step.node as usize];
            let (tree, meaning) = match tails {
                [None, _] => replay.leaf(item, &step.edge)?,
                [Some(only), None] => replay.pass(item, only)?,
                [Some(left), Some(right)] => replay.join(item, &left, &right)?,
            };
            if let Item::Leaf(node) | Item::Raw(node) | Item::Closed(node) = item {
                replay.says[node as usize] = Some(tree);
            }
            parts.push(Some(Part { item, tree, meaning }));
        }
        let root = parts.pop().flatten()?;
        let program = domain.program(replay.builder.terms, &root.meaning)?;
        let tree = replay.builder.finish(root.tree, &root.meaning, lattice.n_tokens(), program);
        let says = replay.says;
        Some(GoldTree { score: *score, tree, analysis: analysis.clone(), says })
    }
}

/// A part of the sentence: the fragment of the program, the node of the tree, the meaning.
struct Part {
    item: Item,
    tree: usize,
    meaning: Meaning,
}

struct Replay<'a> {
    analysis: &'a Analysis,
    lattice: &'a Lattice,
    builder: TreeBuilder<'a>,
    says: Vec<Option<usize>>,
    /// Where the leaf to the right starts: leaves come from right to left, each takes the words up to the next.
    next: u32,
}

impl Replay<'_> {
    fn constant(&self, node: u16) -> Option<(ConstantId, FrameId)> {
        match self.analysis.nodes[node as usize] {
            Node::Constant { constant, frame, .. } => Some((constant, frame)),
            _ => None,
        }
    }

    fn leaf(&mut self, item: Item, edge: &Edge) -> Option<(usize, Meaning)> {
        let (Item::Leaf(node) | Item::Unary(node, _) | Item::Function(node, _) | Item::Unsaid(node, _)) =
            item
        else {
            return None;
        };
        let leaf = self.lattice.leaves()[edge.weights[0] as usize / N_USAGES];
        let whole = Span::new(leaf.start, std::mem::replace(&mut self.next, leaf.start));
        let meaning = match (self.lattice.value(&leaf), self.constant(node)) {
            (Some(value), _) => self.builder.domain.literal(self.builder.terms, leaf.constant, value)?,
            (None, Some((constant, frame))) => {
                self.builder.domain.leaf(self.builder.terms, constant, frame)?
            }
            (None, None) => return None,
        };
        let tree = self.builder.constant(leaf.constant, Span::new(leaf.start, leaf.end), whole, &meaning);
        let Item::Unsaid(_, slot) = item else { return Some((tree, meaning)) };
        let argument = self.analysis.nodes[node as usize].children().nth(slot as usize)?;
        let (constant, frame) = self.constant(argument as u16)?;
        let argument = self.builder.domain.leaf(self.builder.terms, constant, frame)?;
        let meaning =
            self.builder.domain.fill_slot(self.builder.terms, &meaning, slot as usize, &argument)?;
        Some((self.builder.implicit(constant, tree, &meaning), meaning))
    }

    /// An item made of one other: something new only where it is an implicit constant around it.
    fn pass(&mut self, item: Item, part: Part) -> Option<(usize, Meaning)> {
        let (
            Item::Closed(node) | Item::Chain(node, _) | Item::Inserted(node, _),
            Item::Raw(inner)
            | Item::List(inner, _)
            | Item::Subset(inner, _)
            | Item::Chain(inner, _)
            | Item::Closed(inner),
        ) = (item, part.item)
        else {
            return Some((part.tree, part.meaning));
        };
        if node == inner {
            return Some((part.tree, part.meaning));
        }
        self.says[inner as usize] = Some(part.tree);
        let (constant, frame) = self.constant(node)?;
        let function = self.builder.domain.leaf(self.builder.terms, constant, frame)?;
        let side = matches!(item, Item::Inserted(..)).then_some(Side::Right);
        let meaning = self.builder.domain.apply_on(self.builder.terms, &function, &part.meaning, side)?;
        Some((self.builder.implicit(constant, part.tree, &meaning), meaning))
    }

    fn join(&mut self, item: Item, left: &Part, right: &Part) -> Option<(usize, Meaning)> {
        // What is taken as an argument is closed, what is composed with a function is open.
        let is_function =
            |part: &Part| !matches!(part.item, Item::Closed(_) | Item::Open(..) | Item::Subset(..));
        let (function, argument, side) =
            if is_function(left) { (left, right, Side::Right) } else { (right, left, Side::Left) };
        let domain = self.builder.domain;
        let meaning = match item {
            Item::List(..) | Item::Subset(..) => domain.gather(&left.meaning, &right.meaning),
            Item::Spread(..) => domain.spread(&function.meaning, &argument.meaning),
            Item::Composite(..) => domain.compose(&function.meaning, &argument.meaning),
            _ => domain.apply_on(self.builder.terms, &function.meaning, &argument.meaning, Some(side)),
        }?;
        Some((self.builder.join(left.tree, right.tree, &meaning), meaning))
    }
}
