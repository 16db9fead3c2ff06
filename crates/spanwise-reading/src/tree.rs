//! Span trees as plain data.

use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

/// What a node of a tree is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum NodeKind {
    /// A constant that words are aligned to.
    Constant,
    /// Children that compose.
    Join,
    /// A constant that no word is aligned to, inserted above its only child.
    Implicit,
    /// Words without meaning.
    Null,
}

/// A node of a tree.
#[derive(Clone, PartialEq, Debug)]
pub struct TreeNode {
    /// First word and one past the last.
    pub span: [u32; 2],
    /// The words it covers.
    pub words: String,
    /// What it is.
    pub kind: NodeKind,
    /// Its constant, for `constant` and `implicit`.
    pub constant: Option<String>,
    /// Its sub-program with `_` for what is still missing; `None` for words without meaning.
    pub program: Option<String>,
    /// Its type, or the types that it still takes and then yields.
    pub r#type: Option<String>,
    /// The probability of the node, where it is known.
    pub probability: Option<f64>,
    /// Its children from left to right, as numbers of nodes.
    pub children: Vec<usize>,
}

/// A tree over the words of an utterance; children come before their parents, the root is the last node.
///
/// As JSON, nodes nest: every node holds its `children`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tree {
    /// The nodes.
    pub nodes: Vec<TreeNode>,
}

/// A node as JSON has it; `C` is a child.
#[derive(Serialize, Deserialize)]
struct Nested<C> {
    span: [u32; 2],
    words: String,
    category: NodeKind,
    constant: Option<String>,
    program: Option<String>,
    r#type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    children: Vec<C>,
}

/// A node read from JSON, with its children.
#[derive(Deserialize)]
#[serde(transparent)]
struct NestedNode(Nested<NestedNode>);

impl Serialize for Tree {
    /// Writes children before their parents, as text: a tree is as deep as its utterance is long, too deep for recursion.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut written: Vec<Option<Box<RawValue>>> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let nested = Nested {
                span: node.span,
                words: node.words.clone(),
                category: node.kind,
                constant: node.constant.clone(),
                program: node.program.clone(),
                r#type: node.r#type.clone(),
                probability: node.probability,
                children: node.children.iter().filter_map(|&child| written[child].take()).collect(),
            };
            written.push(Some(to_raw_value(&nested).map_err(S::Error::custom)?));
        }
        written.pop().flatten().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut tree = Self::default();
        if let Some(root) = Option::<NestedNode>::deserialize(deserializer)? {
            tree.push(root.0);
        }
        Ok(tree)
    }
}

impl Tree {
    /// Adds a node after its children; returns its number.
    fn push(&mut self, node: Nested<NestedNode>) -> usize {
        let Nested { span, words, category: kind, constant, program, r#type, probability, children } = node;
        let children = children.into_iter().map(|child| self.push(child.0)).collect();
        self.nodes.push(TreeNode { span, words, kind, constant, program, r#type, probability, children });
        self.nodes.len() - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(span: [u32; 2], kind: NodeKind, children: Vec<usize>) -> TreeNode {
        TreeNode {
            span,
            words: format!("word \"{}\"", span[0]),
            kind,
            constant: Some("c".to_owned()),
            program: None,
            r#type: Some("T -> T".to_owned()),
            probability: (kind == NodeKind::Constant).then_some(0.5),
            children,
        }
    }

    #[test]
    fn json_nests_like_the_tree_and_is_read_back() {
        let nodes = vec![
            node([0, 1], NodeKind::Constant, vec![]),
            node([1, 2], NodeKind::Null, vec![]),
            node([0, 2], NodeKind::Join, vec![0, 1]),
        ];
        let tree = Tree { nodes };
        let text = serde_json::to_string(&tree).expect("a tree is JSON");
        let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(value["children"][1]["category"], "null");
        assert_eq!(value["children"][0]["words"], "word \"0\"");
        assert_eq!(serde_json::from_str::<Tree>(&text).expect("it is a tree"), tree);
        assert_eq!(serde_json::to_string(&Tree::default()).expect("it is JSON"), "null");
    }

    #[test]
    fn a_tree_as_deep_as_a_long_utterance_is_written_without_recursion() {
        let mut nodes = vec![node([0, 1], NodeKind::Constant, vec![])];
        for at in 0..2_000 {
            nodes.push(node([0, 1], NodeKind::Implicit, vec![at]));
        }
        let text = serde_json::to_string(&Tree { nodes }).expect("a tree is JSON");
        assert!(text.ends_with("]}"));
    }
}
