//! Span trees as plain data.

mod json;
mod outline;

use serde::{Deserialize, Serialize};

/// What a node of a tree is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NodeKind {
    /// A constant that words are aligned to.
    Constant,
    /// Children that compose: two neighbors, or three of which the outer two compose first.
    Join,
    /// A constant that no word is aligned to, inserted above its only child.
    Implicit,
    /// Words that are aligned to nothing.
    Null,
}

/// A node of a tree.
#[derive(Clone, PartialEq, Debug)]
pub struct TreeNode {
    /// First word and one past the last.
    pub span: [u32; 2],
    /// The words it covers.
    pub words: String,
    /// What it is; the field `category` in JSON.
    pub kind: NodeKind,
    /// Its constant, for `constant` and `implicit`.
    pub constant: Option<String>,
    /// Its sub-program with `_` for what is still missing; `None` for null words.
    pub program: Option<String>,
    /// Its type, or the types that it still takes and then yields: `State`, `River -> State`.
    pub r#type: Option<String>,
    /// The probability of the node, where it is known: of the whole program at the root, of the alignment at a constant.
    pub probability: Option<f64>,
    /// Its children from left to right, as indices into [`Tree::nodes`].
    pub children: Vec<usize>,
}

/// A tree over the words of an utterance, as a list of nodes in post-order: children come before their parents, from
/// left to right, and the root is the last node.
///
/// As JSON, nodes nest: the tree is its root, and every node holds its `children`. A tree is as deep as its utterance
/// is long, so nothing here recurses.
///
/// ```
/// use spanwise_reading::{NodeKind, Tree};
///
/// let tree: Tree = serde_json::from_str(
///     r#"{"span": [0, 2], "words": "walk left", "category": "join", "constant": null,
///         "program": "i_walk(i_left)", "type": "Action", "probability": 0.98, "children": [
///         {"span": [0, 1], "words": "walk", "category": "constant", "constant": "i_walk",
///          "program": "i_walk(_)", "type": "Direction -> Action", "children": []},
///         {"span": [1, 2], "words": "left", "category": "constant", "constant": "i_left",
///          "program": "i_left", "type": "Direction", "children": []}]}"#,
/// )?;
/// assert_eq!(tree.nodes.len(), 3);
/// let root = tree.root().expect("it has nodes");
/// assert_eq!((root.kind, &root.children[..]), (NodeKind::Join, &[0, 1][..]));
/// assert_eq!(
///     tree.outline(),
///     "0..2         join    i_walk(i_left)  Action\n  \
///        0..1 walk  i_walk  i_walk(_)       Direction -> Action\n  \
///        1..2 left  i_left  i_left          Direction\n"
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tree {
    /// The nodes in post-order.
    pub nodes: Vec<TreeNode>,
}

impl Tree {
    /// The root, if the tree is not empty.
    #[must_use]
    pub fn root(&self) -> Option<&TreeNode> {
        self.nodes.last()
    }

    /// The nodes from the root down, children from left to right, each with its depth.
    #[must_use]
    pub fn preorder(&self) -> Vec<(usize, &TreeNode)> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut todo: Vec<(usize, usize)> =
            self.nodes.len().checked_sub(1).map(|root| (0, root)).into_iter().collect();
        while let Some((depth, at)) = todo.pop() {
            let node = &self.nodes[at];
            order.push((depth, node));
            todo.extend(node.children.iter().rev().map(|&child| (depth + 1, child)));
        }
        order
    }
}
