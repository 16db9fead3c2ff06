//! Span trees: one derivation, made readable.

use spanwise_core::Span;
use spanwise_lang::{ConstantId, TermId};

/// What a node of a span tree is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Category {
    /// A constant on words.
    Constant(ConstantId),
    /// Children that compose.
    Join,
    /// A constant that no word says, inserted above its only child.
    Implicit(ConstantId),
    /// Words without meaning.
    Null,
}

/// A node of a span tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeNode {
    /// The words it covers.
    pub span: Span,
    /// What it is.
    pub category: Category,
    /// Its children from left to right, as numbers of nodes; for a join two, or three where the outer two
    /// compose first.
    pub children: Vec<usize>,
    /// Its sub-program with `_` for what is still missing; `None` for words without meaning.
    pub program: Option<TermId>,
    /// Its type or what it still wants, in words.
    pub meaning: String,
}

/// A tree over the words of an utterance, with a sub-program at every node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SpanTree {
    /// The nodes; children come before their parents, the root is the last.
    pub nodes: Vec<TreeNode>,
}
