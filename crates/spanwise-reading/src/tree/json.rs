//! Trees as nested JSON, written and read without recursion.

use super::{NodeKind, Tree, TreeNode};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

/// The fields of a node in JSON, all but its children, which come last.
#[derive(Serialize)]
struct Fields<'a> {
    span: [u32; 2],
    words: &'a str,
    category: NodeKind,
    constant: Option<&'a str>,
    program: Option<&'a str>,
    r#type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
}

impl Serialize for Tree {
    /// Writes the whole tree as one JSON text, in time linear in its length. Only `serde_json` can write it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.json().map_err(<S::Error as ser::Error>::custom)?;
        RawValue::from_string(text).map_err(<S::Error as ser::Error>::custom)?.serialize(serializer)
    }
}

enum Step {
    Open { node: usize, comma: bool },
    Close,
}

impl Tree {
    fn json(&self) -> serde_json::Result<String> {
        let Some(root) = self.nodes.len().checked_sub(1) else { return Ok("null".to_owned()) };
        let mut out = Vec::new();
        let mut todo = vec![Step::Open { node: root, comma: false }];
        while let Some(step) = todo.pop() {
            let Step::Open { node, comma } = step else {
                out.extend(b"]}");
                continue;
            };
            let node = &self.nodes[node];
            if comma {
                out.push(b',');
            }
            let fields = Fields {
                span: node.span,
                words: &node.words,
                category: node.kind,
                constant: node.constant.as_deref(),
                program: node.program.as_deref(),
                r#type: node.r#type.as_deref(),
                probability: node.probability,
            };
            serde_json::to_writer(&mut out, &fields)?;
            // The object is closed after its children.
            out.pop();
            out.extend(b",\"children\":[");
            todo.push(Step::Close);
            let children = node.children.iter().enumerate().rev();
            todo.extend(children.map(|(nth, &node)| Step::Open { node, comma: nth > 0 }));
        }
        String::from_utf8(out).map_err(<serde_json::Error as ser::Error>::custom)
    }
}

/// A node as it is read, with its children still as text.
#[derive(Deserialize)]
struct Unread {
    span: [u32; 2],
    words: String,
    category: NodeKind,
    constant: Option<String>,
    program: Option<String>,
    r#type: Option<String>,
    probability: Option<f64>,
    children: Vec<Box<RawValue>>,
}

/// A node some of whose children have been read.
struct Partial {
    node: TreeNode,
    unread: std::vec::IntoIter<Box<RawValue>>,
}

impl Partial {
    fn read(text: &RawValue) -> serde_json::Result<Self> {
        let Unread { span, words, category: kind, constant, program, r#type, probability, children } =
            serde_json::from_str(text.get())?;
        let node =
            TreeNode { span, words, kind, constant, program, r#type, probability, children: Vec::new() };
        Ok(Self { node, unread: children.into_iter() })
    }
}

impl<'de> Deserialize<'de> for Tree {
    /// Reads a tree of any depth. Each level scans the text below it once more.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut tree = Self::default();
        let Some(root) = Option::<Box<RawValue>>::deserialize(deserializer)? else { return Ok(tree) };
        let mut open = vec![Partial::read(&root).map_err(<D::Error as de::Error>::custom)?];
        while let Some(mut last) = open.pop() {
            if let Some(child) = last.unread.next() {
                open.push(last);
                open.push(Partial::read(&child).map_err(<D::Error as de::Error>::custom)?);
                continue;
            }
            if let Some(parent) = open.last_mut() {
                parent.node.children.push(tree.nodes.len());
            }
            tree.nodes.push(last.node);
        }
        Ok(tree)
    }
}

#[cfg(feature = "openapi")]
mod schema {
    use super::{NodeKind, Tree};
    use utoipa::openapi::{RefOr, Schema};
    use utoipa::{PartialSchema, ToSchema};

    /// A node of a tree over the words of an utterance, with its children.
    #[derive(ToSchema)]
    #[schema(as = Tree)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Node {
        /// First word and one past the last.
        span: [u32; 2],
        /// The words it covers.
        words: String,
        /// What it is.
        category: NodeKind,
        /// Its constant, for `constant` and `implicit`.
        constant: Option<String>,
        /// Its sub-program with `_` for what is still missing; null for null words.
        program: Option<String>,
        /// Its type, or the types that it still takes and then yields.
        r#type: Option<String>,
        /// The probability of the node, where it is known.
        #[schema(required = false, nullable = false)]
        probability: Option<f64>,
        /// Its children from left to right.
        #[schema(no_recursion)]
        children: Vec<Node>,
    }

    impl PartialSchema for Tree {
        fn schema() -> RefOr<Schema> {
            Node::schema()
        }
    }

    impl ToSchema for Tree {
        fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
            Node::schemas(schemas);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn node(span: [u32; 2], kind: NodeKind, children: Vec<usize>) -> TreeNode {
        TreeNode {
            span,
            words: format!("word \"{}\"\t\u{1}é😀\\", span[0]),
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
            node([2, 3], NodeKind::Constant, vec![]),
            node([0, 3], NodeKind::Join, vec![2, 3]),
        ];
        let tree = Tree { nodes };
        let text = serde_json::to_string(&tree).expect("a tree is JSON");
        let value: Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(value["children"][0]["children"][1]["category"], "null");
        assert_eq!(value["children"][1]["words"], tree.nodes[3].words.as_str());
        let keys: Vec<&String> = value.as_object().expect("it is an object").keys().collect();
        assert_eq!(keys, ["span", "words", "category", "constant", "program", "type", "children"]);
        assert_eq!(value["children"][1]["probability"], 0.5);
        assert_eq!(serde_json::from_str::<Tree>(&text).expect("it is a tree"), tree);
        assert_eq!(serde_json::from_value::<Tree>(value).expect("it is a tree"), tree);
        assert_eq!(serde_json::to_string(&Tree::default()).expect("it is JSON"), "null");
        assert_eq!(serde_json::from_str::<Tree>("null").expect("it is a tree"), Tree::default());
    }

    #[test]
    fn what_is_no_tree_is_refused() {
        for text in ["3", "{}", r#"{"span": [0, 1], "words": "", "category": "leaf", "children": []}"#] {
            assert!(serde_json::from_str::<Tree>(text).is_err(), "{text}");
        }
    }

    /// A tree of `depth` levels.
    fn deep(depth: usize) -> Tree {
        let mut nodes = vec![node([0, 1], NodeKind::Constant, vec![])];
        nodes.extend((1..depth).map(|at| node([0, 1], NodeKind::Implicit, vec![at - 1])));
        Tree { nodes }
    }

    #[test]
    fn a_tree_as_deep_as_a_long_utterance_is_written_and_read_without_recursion() {
        let tree = deep(2_000);
        let text = serde_json::to_string(&tree).expect("a tree is JSON");
        assert_eq!(serde_json::from_str::<Tree>(&text).expect("it is a tree"), tree);
    }

    #[test]
    fn writing_takes_time_linear_in_the_text() {
        // Copying children into their parents would move terabytes here.
        let text = serde_json::to_string(&deep(200_000)).expect("a tree is JSON");
        assert!(text.ends_with("]}"));
    }
}
