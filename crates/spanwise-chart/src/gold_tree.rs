//! The best derivation of a gold chart, made into a tree that knows its program.

use crate::derivation::assemble;
use crate::gold::{GoldChart, Item};
use crate::grammar::N_USAGES;
use crate::hypergraph::Edge;
use crate::lattice::Lattice;
use crate::tree::{Category, SpanTree, TreeNode};
use spanwise_core::Span;
use spanwise_lang::{ConstantId, Domain, FrameId, Meaning, Node, TermId, Terms};

/// The best tree that explains a program, and where in it each part of the program is said.
#[derive(Clone, PartialEq, Debug)]
pub struct GoldTree {
    /// The sum of its scores.
    pub score: f32,
    /// The tree.
    pub tree: SpanTree,
    /// For each node of the program's analysis, the node of the tree that says all of it and nothing else;
    /// `None` where its parts are said in different places.
    pub says: Vec<Option<usize>>,
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
        let (score, chosen) = self.graph().best(scores)?;
        let says = vec![None; self.analysis.nodes.len()];
        let next = lattice.n_tokens() as u32;
        let mut replay =
            Replay { chart: self, domain, lattice, terms, tree: SpanTree::default(), says, next };
        let steps = assemble(&chosen);
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
        let program = domain.program(replay.terms, &root.meaning)?;
        replay.wrap_up(&root, program);
        Some(GoldTree { score, tree: replay.tree, says: replay.says })
    }
}

/// A part of the sentence: the fragment of the program, the node of the tree, the meaning.
struct Part {
    item: Item,
    tree: usize,
    meaning: Meaning,
}

struct Replay<'a> {
    chart: &'a GoldChart,
    domain: &'a Domain,
    lattice: &'a Lattice,
    terms: &'a mut Terms,
    tree: SpanTree,
    says: Vec<Option<usize>>,
    /// Where the leaf to the right starts: leaves come from right to left, each swallows the words up to the next.
    next: u32,
}

impl Replay<'_> {
    fn constant(&self, node: u16) -> Option<(ConstantId, FrameId)> {
        match self.chart.analysis.nodes[node as usize] {
            Node::Constant { constant, frame, .. } => Some((constant, frame)),
            _ => None,
        }
    }

    fn leaf(&mut self, item: Item, edge: &Edge) -> Option<(usize, Meaning)> {
        let (Item::Leaf(node) | Item::Unary(node, _) | Item::Function(node, _)) = item else { return None };
        let (constant, frame) = self.constant(node)?;
        let leaf = self.lattice.leaves()[edge.weights[0] as usize / N_USAGES];
        let whole = Span::new(leaf.start, std::mem::replace(&mut self.next, leaf.start));
        let meaning = self.domain.leaf(self.terms, constant, frame)?;
        let word = Span::new(leaf.start, leaf.end);
        let mut tree = self.push(word, Category::Constant(constant), Vec::new(), &meaning);
        if word.end < whole.end {
            let null = self.push_null(Span::new(word.end, whole.end));
            tree = self.push(whole, Category::Join, vec![tree, null], &meaning);
        }
        Some((tree, meaning))
    }

    /// An item made of one other: something new only where it is an implicit constant around it.
    fn pass(&mut self, item: Item, part: Part) -> Option<(usize, Meaning)> {
        let (Item::Closed(node), Item::Raw(inner) | Item::List(inner, _)) = (item, part.item) else {
            return Some((part.tree, part.meaning));
        };
        if node == inner {
            return Some((part.tree, part.meaning));
        }
        self.says[inner as usize] = Some(part.tree);
        let (constant, frame) = self.constant(node)?;
        let function = self.domain.leaf(self.terms, constant, frame)?;
        let meaning = self.domain.apply(self.terms, &function, &part.meaning)?;
        let span = self.tree.nodes[part.tree].span;
        Some((self.push(span, Category::Implicit(constant), vec![part.tree], &meaning), meaning))
    }

    fn join(&mut self, item: Item, left: &Part, right: &Part) -> Option<(usize, Meaning)> {
        // What is taken as an argument is closed, what is composed with a function is open.
        let is_function = |part: &Part| !matches!(part.item, Item::Closed(_) | Item::Open(..));
        let (function, argument) = if is_function(left) { (left, right) } else { (right, left) };
        let meaning = match item {
            Item::List(..) => self.domain.gather(&left.meaning, &right.meaning),
            Item::Composite(..) => self.domain.compose(&function.meaning, &argument.meaning),
            _ => self.domain.apply(self.terms, &function.meaning, &argument.meaning),
        }?;
        let [first, last] = [left, right].map(|part| self.tree.nodes[part.tree].span);
        let span = Span::new(first.start, last.end);
        Some((self.push(span, Category::Join, vec![left.tree, right.tree], &meaning), meaning))
    }

    /// Puts words before the first constant under the root, and names the whole program there.
    fn wrap_up(&mut self, root: &Part, program: TermId) {
        let start = self.tree.nodes[root.tree].span.start;
        if start > 0 {
            let null = self.push_null(Span::new(0, start));
            let whole = Span::new(0, self.lattice.n_tokens() as u32);
            self.push(whole, Category::Join, vec![null, root.tree], &root.meaning);
        }
        if let Some(last) = self.tree.nodes.last_mut() {
            last.program = Some(program);
        }
    }

    fn push_null(&mut self, span: Span) -> usize {
        let (category, children, meaning) = (Category::Null, Vec::new(), String::new());
        self.tree.nodes.push(TreeNode { span, category, children, program: None, meaning });
        self.tree.nodes.len() - 1
    }

    fn push(&mut self, span: Span, category: Category, children: Vec<usize>, meaning: &Meaning) -> usize {
        let program = Some(self.domain.sketch(self.terms, meaning));
        let state = self.domain.state_id_of(meaning);
        let meaning = state.map(|id| self.domain.describe(id)).unwrap_or_default();
        self.tree.nodes.push(TreeNode { span, category, children, program, meaning });
        self.tree.nodes.len() - 1
    }
}
