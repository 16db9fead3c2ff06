//! The tree of a reading as pictures need it: checked, with every text shortened and made safe to show.

use crate::escape::visible;
use spanwise_core::Span;
use spanwise_reading::{Correction, NodeKind, Reading, Tree, TreeNode};

/// Most characters of a sub-program at a node. Without a limit, the sub-programs of a deep tree would add up to the
/// square of its size.
const MOST_CHARS: usize = 300;

/// Why a tree cannot be drawn.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RenderError {
    /// A reading without a tree, or a tree without nodes.
    #[error("the reading has no tree to draw")]
    NoTree,
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

/// A node with its texts. Nothing is escaped yet, apart from control characters.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// The words it covers.
    pub span: Span,
    /// What it is.
    pub kind: NodeKind,
    /// The name of its constant, `join` or `null`.
    pub label: String,
    /// Its type, or the types that it takes and then yields; empty for null words.
    pub type_text: String,
    /// Its sub-program, shortened where it is long; empty for null words.
    pub program: String,
    /// Its probability, where it is known.
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

/// A part of the bottom row: the words of a leaf, or a word that no leaf covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The words.
    pub span: Span,
    /// Their text.
    pub text: String,
    /// What they were read as, where that is something else.
    pub read_as: Option<String>,
    /// Whether they carry a meaning that the program does not have.
    pub is_unread: bool,
    /// The leaf above them.
    pub leaf: Option<usize>,
}

impl Slot {
    /// The words, and what they were read as: `metalica → Metallica`.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.read_as {
            Some(read_as) => format!("{} → {read_as}", self.text),
            None => self.text.clone(),
        }
    }
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
    /// Checks the tree of a reading and prepares its texts.
    ///
    /// # Errors
    /// A reading without a tree, or with one that is no tree over its words.
    pub fn new(reading: &Reading) -> Result<Self, RenderError> {
        let tree = reading.tree.as_ref().filter(|tree| !tree.nodes.is_empty()).ok_or(RenderError::NoTree)?;
        check(tree, reading.tokens.len())?;
        let nodes: Vec<Node> = tree.nodes.iter().map(shown).collect();
        let slots = slots(tree, reading);
        let mut slot_of_word = vec![0; reading.tokens.len()];
        for (at, slot) in slots.iter().enumerate() {
            slot_of_word[slot.span.start as usize..slot.span.end as usize].fill(at);
        }
        let range = |node: &Node| {
            (slot_of_word[node.span.start as usize], slot_of_word[node.span.end as usize - 1] + 1)
        };
        let ranges = nodes.iter().map(range).collect();
        Ok(Self { nodes, slots, ranges })
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

fn shown(node: &TreeNode) -> Node {
    let text = |text: &Option<String>| visible(text.as_deref().unwrap_or_default()).into_owned();
    let label = match node.kind {
        NodeKind::Constant | NodeKind::Implicit => text(&node.constant),
        NodeKind::Join => "join".to_owned(),
        NodeKind::Null => "null".to_owned(),
    };
    Node {
        span: Span { start: node.span[0], end: node.span[1] },
        kind: node.kind,
        label,
        type_text: text(&node.r#type),
        program: visible(&shortened(node.program.as_deref().unwrap_or_default())).into_owned(),
        probability: node.probability,
        children: node.children.clone(),
    }
}

/// The start of a program.
fn shortened(program: &str) -> String {
    match program.char_indices().nth(MOST_CHARS) {
        Some((end, _)) => format!("{}…", &program[..end]),
        None => program.to_owned(),
    }
}

/// Every node but the last has exactly one parent, later than itself; spans are inside their parents, in order.
fn check(tree: &Tree, n_words: usize) -> Result<(), RenderError> {
    let broken = |node, problem| Err(RenderError::Broken { node, problem });
    let mut has_parent = vec![false; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate() {
        let [start, end] = node.span;
        if start >= end || end as usize > n_words {
            return broken(at, "covers no words of the utterance");
        }
        let mut from = start;
        for &child in &node.children {
            if child >= at || std::mem::replace(&mut has_parent[child], true) {
                return broken(at, "has a child that comes later or has another parent");
            }
            let span = tree.nodes[child].span;
            if span[0] < from || span[1] > end {
                return broken(at, "has children that overlap or leave its words");
            }
            from = span[1];
        }
    }
    has_parent.pop();
    match has_parent.iter().position(|found| !found) {
        Some(at) => broken(at, "has no parent"),
        None => Ok(()),
    }
}

fn slots(tree: &Tree, reading: &Reading) -> Vec<Slot> {
    let tokens = &reading.tokens;
    let mut leaves: Vec<([u32; 2], usize)> = tree
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.children.is_empty())
        .map(|(at, node)| (node.span, at))
        .collect();
    leaves.sort_unstable();
    let mut slots = Vec::with_capacity(leaves.len());
    let word = |word: u32, leaf: Option<usize>| Slot {
        span: Span::new(word, word + 1),
        text: visible(&tokens[word as usize].text).into_owned(),
        read_as: read_as(reading, [word, word + 1]),
        is_unread: tokens[word as usize].unread,
        leaf,
    };
    let mut at = 0;
    for ([start, end], leaf) in leaves {
        slots.extend((at..start).map(|at| word(at, None)));
        let unread = tokens[start as usize..end as usize].iter().filter(|token| token.unread).count();
        if unread > 0 && unread < (end - start) as usize {
            // Words that are read stay apart from words that are not.
            slots.extend((start..end).map(|at| word(at, Some(leaf))));
        } else {
            let text = visible(&tree.nodes[leaf].words).into_owned();
            let read_as = read_as(reading, [start, end]);
            let span = Span::new(start, end);
            slots.push(Slot { span, text, read_as, is_unread: unread > 0, leaf: Some(leaf) });
        }
        at = end;
    }
    slots.extend((at..tokens.len() as u32).map(|at| word(at, None)));
    slots
}

/// The words of a span with their corrections; `None` where they have none.
fn read_as(reading: &Reading, [start, end]: [u32; 2]) -> Option<String> {
    let is_inside = |it: &&Correction| start <= it.span[0] && it.span[0] < it.span[1] && it.span[1] <= end;
    let mut inside: Vec<&Correction> = reading.corrections.iter().filter(is_inside).collect();
    inside.sort_by_key(|it| it.span);
    let mut words: Vec<&str> = Vec::new();
    let mut at = start;
    for correction in &inside {
        // Of two that overlap, the first one counts.
        if correction.span[0] >= at {
            words.extend((at..correction.span[0]).map(|at| reading.tokens[at as usize].text.as_str()));
            words.push(&correction.to);
            at = correction.span[1];
        }
    }
    words.extend((at..end).map(|at| reading.tokens[at as usize].text.as_str()));
    (!inside.is_empty()).then(|| visible(&words.join(" ")).into_owned())
}
