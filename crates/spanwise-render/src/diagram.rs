//! The tree as pictures need it: checked, with every text written out.
//!
//! A span tree, its domain and its utterance come in; nodes with labels and the slots of the bottom row go out. This
//! is the only place that reads programs and constants.

use crate::escape::visible;
use spanwise_chart::{Category, SpanTree, TreeNode};
use spanwise_core::{Span, Utterance};
use spanwise_lang::{Domain, TermId, Terms};
use std::fmt::{self, Write as _};

/// Most characters of a sub-program at a node. Sub-programs of a deep tree would otherwise add up to the square of
/// its size.
const MOST_CHARS: usize = 300;

/// Why a tree cannot be drawn.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RenderError {
    /// A tree without nodes.
    #[error("the tree has no nodes, expected at least one")]
    Empty,
    /// A tree whose parts do not fit together.
    #[error("node {node} of the tree {problem}")]
    Broken {
        /// The number of the node.
        node: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// More levels than the format can nest.
    #[error("the tree has {levels} levels, {format} takes at most {most}; try the format svg")]
    TooDeep {
        /// Levels of the tree.
        levels: usize,
        /// The format.
        format: &'static str,
        /// Most levels of the format.
        most: usize,
    },
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A constant on words.
    Constant,
    /// Children that compose.
    Join,
    /// A constant that no word says.
    Implicit,
    /// Words without meaning.
    Null,
}

/// A node with its texts. Nothing is escaped yet, apart from control characters.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The words it covers.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
    /// The name of its constant, `join` or `null`.
    pub label: String,
    /// Its type or what it still wants; empty for words without meaning.
    pub meaning: String,
    /// Its sub-program, shortened where it is long; empty for words without meaning.
    pub program: String,
    /// How sure the model is of it, where that is known.
    pub probability: Option<f64>,
    /// Its children from left to right.
    pub children: Vec<usize>,
}

impl Node {
    /// Whether its outer two children compose before the middle one joins them.
    #[must_use]
    pub fn is_discontinuous(&self) -> bool {
        self.children.len() == 3
    }
}

/// A piece of the bottom row: the words of a leaf, or a word that no leaf covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The words.
    pub span: Span,
    /// Their text.
    pub text: String,
    /// The leaf above them.
    pub leaf: Option<usize>,
}

/// A checked tree; children come before their parents, the root is the last.
#[derive(Clone, PartialEq, Debug)]
pub struct Diagram {
    nodes: Vec<Node>,
    slots: Vec<Slot>,
    /// The slots of each node, as a half-open range.
    ranges: Vec<(usize, usize)>,
}

impl Diagram {
    /// Checks a tree and writes out its texts.
    ///
    /// # Errors
    /// A tree that is empty, or is no tree over the words of the utterance.
    pub fn new(
        tree: &SpanTree,
        domain: &Domain,
        terms: &Terms,
        utterance: &Utterance,
    ) -> Result<Self, RenderError> {
        check(tree, utterance.len())?;
        let nodes: Vec<Node> = tree.nodes.iter().map(|node| written(node, domain, terms)).collect();
        let slots = slots(&nodes, utterance);
        let mut slot_of_word = vec![0; utterance.len()];
        for (at, slot) in slots.iter().enumerate() {
            slot_of_word[slot.span.start as usize..slot.span.end as usize].fill(at);
        }
        let range = |node: &Node| {
            (slot_of_word[node.span.start as usize], slot_of_word[node.span.end as usize - 1] + 1)
        };
        let ranges = nodes.iter().map(range).collect();
        Ok(Self { nodes, slots, ranges })
    }

    /// Says how sure the model is of some nodes: of node `at`, what `of(at, node)` gives.
    #[must_use]
    pub fn with_probabilities(mut self, of: impl Fn(usize, &Node) -> Option<f64>) -> Self {
        for at in 0..self.nodes.len() {
            self.nodes[at].probability = of(at, &self.nodes[at]);
        }
        self
    }

    /// The nodes; children come before their parents, the root is the last.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The bottom row from left to right.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The slots that a node covers.
    #[must_use]
    pub fn slots_of(&self, node: usize) -> std::ops::Range<usize> {
        let (start, end) = self.ranges[node];
        start..end
    }

    /// Levels from the root down to the deepest leaf.
    #[must_use]
    pub fn n_levels(&self) -> usize {
        let mut levels = vec![1; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            levels[at] = 1 + node.children.iter().map(|&child| levels[child]).max().unwrap_or(0);
        }
        levels.last().copied().unwrap_or(0)
    }
}

fn written(node: &TreeNode, domain: &Domain, terms: &Terms) -> Node {
    let constant = |id| visible(&domain.constants()[id].name).into_owned();
    let (kind, label) = match node.category {
        Category::Constant(id) => (Kind::Constant, constant(id)),
        Category::Implicit(id) => (Kind::Implicit, constant(id)),
        Category::Join => (Kind::Join, "join".to_owned()),
        Category::Null => (Kind::Null, "null".to_owned()),
    };
    Node {
        span: node.span,
        kind,
        label,
        meaning: node.type_text(domain).map(|ty| visible(&ty).into_owned()).unwrap_or_default(),
        program: node.program.map(|program| short_program(terms, program)).unwrap_or_default(),
        probability: None,
        children: node.children.clone(),
    }
}

/// The start of a program. Writing stops where the text is cut: the rest of it costs nothing.
fn short_program(terms: &Terms, program: TermId) -> String {
    let mut out = Limited { text: String::new(), left: MOST_CHARS };
    if write!(out, "{}", terms.display(program)).is_err() {
        out.text.push('…');
    }
    visible(&out.text).into_owned()
}

struct Limited {
    text: String,
    left: usize,
}

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for ch in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(ch);
        }
        Ok(())
    }
}

/// Every node but the last has exactly one parent, later than itself; spans are inside their parents, in order.
fn check(tree: &SpanTree, n_words: usize) -> Result<(), RenderError> {
    let broken = |node, problem| Err(RenderError::Broken { node, problem });
    if tree.nodes.is_empty() {
        return Err(RenderError::Empty);
    }
    let mut has_parent = vec![false; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate() {
        if node.span.is_empty() || node.span.end as usize > n_words {
            return broken(at, "covers no words of the utterance");
        }
        let mut from = node.span.start;
        for &child in &node.children {
            if child >= at || std::mem::replace(&mut has_parent[child], true) {
                return broken(at, "has a child that comes later or has another parent");
            }
            let span = tree.nodes[child].span;
            if span.start < from || span.end > node.span.end {
                return broken(at, "has children that overlap or leave its words");
            }
            from = span.end;
        }
    }
    has_parent.pop();
    match has_parent.iter().position(|found| !found) {
        Some(at) => broken(at, "has no parent"),
        None => Ok(()),
    }
}

fn slots(nodes: &[Node], utterance: &Utterance) -> Vec<Slot> {
    let mut leaves: Vec<(Span, usize)> = nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.children.is_empty())
        .map(|(at, node)| (node.span, at))
        .collect();
    leaves.sort_unstable();
    let mut slots = Vec::with_capacity(leaves.len());
    let mut push = |span: Span, leaf| {
        slots.push(Slot { span, text: visible(utterance.slice(span)).into_owned(), leaf });
    };
    let mut at = 0;
    for (span, leaf) in leaves {
        (at..span.start).for_each(|word| push(Span::new(word, word + 1), None));
        push(span, Some(leaf));
        at = span.end;
    }
    (at..utterance.len() as u32).for_each(|word| push(Span::new(word, word + 1), None));
    slots
}
