//! Trees as indented lines of text.

use super::{NodeKind, Tree, TreeNode};

impl Tree {
    /// The tree as indented lines, one for each node: words, constant, sub-program and type, in columns.
    #[must_use]
    pub fn outline(&self) -> String {
        let mut rows: Vec<[String; 4]> = Vec::with_capacity(self.nodes.len());
        for (depth, node) in self.preorder() {
            let words = if node.children.is_empty() { &node.words } else { "" };
            let [start, end] = node.span;
            let place = format!("{}{start}..{end} {words}", "  ".repeat(depth));
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            rows.push([place, label(node), text(&node.program), text(&node.r#type)]);
        }
        let width =
            |column: usize| rows.iter().map(|row| row[column].trim_end().chars().count()).max().unwrap_or(0);
        let widths = [width(0), width(1), width(2)];
        let mut out = String::new();
        for row in &rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let cell = cell.trim_end();
                let pad = widths.get(column).map_or(0, |width| width - cell.chars().count());
                line += &format!("{cell}{}  ", " ".repeat(pad));
            }
            out += line.trim_end();
            out.push('\n');
        }
        out
    }
}

/// `join`, `-` for null words, or the constant (in brackets if it is implicit).
fn label(node: &TreeNode) -> String {
    let constant = node.constant.as_deref().unwrap_or_default();
    match node.kind {
        NodeKind::Join => "join".to_owned(),
        NodeKind::Null => "-".to_owned(),
        NodeKind::Constant => constant.to_owned(),
        NodeKind::Implicit => format!("[{constant}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(
        span: [u32; 2],
        words: &str,
        kind: NodeKind,
        texts: [Option<&str>; 3],
        children: &[usize],
    ) -> TreeNode {
        let [constant, program, r#type] = texts.map(|text| text.map(str::to_owned));
        let (words, children) = (words.to_owned(), children.to_vec());
        TreeNode { span, words, kind, constant, program, r#type, probability: None, children }
    }

    #[test]
    fn an_outline_indents_children_and_aligns_columns() {
        let texts = |constant, program, r#type| [constant, Some(program), Some(r#type)];
        let tree = Tree {
            nodes: vec![
                node([0, 2], "the é", NodeKind::Null, [None; 3], &[]),
                node([2, 3], "us", NodeKind::Constant, texts(Some("usa"), "usa", "Country"), &[]),
                node([2, 3], "us", NodeKind::Implicit, texts(Some("in"), "in(usa)", "Place"), &[1]),
                node([0, 3], "the é us", NodeKind::Join, texts(None, "in(usa)", "Place"), &[0, 2]),
            ],
        };
        assert_eq!(
            tree.outline(),
            "0..3          join  in(usa)  Place\n  \
               0..2 the é  -\n  \
               2..3        [in]  in(usa)  Place\n    \
                 2..3 us   usa   usa      Country\n"
        );
        assert_eq!(Tree::default().outline(), "");
    }
}
