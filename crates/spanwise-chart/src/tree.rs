//! Span trees: the readable form of one derivation.

use spanwise_core::{Span, Utterance};
use spanwise_lang::{ConstantId, Domain, State, TermId, Terms, TypeId};

/// What a node of a span tree is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Category {
    /// A constant, aligned to words.
    Constant(ConstantId),
    /// Children that compose.
    Join,
    /// A constant that no word is aligned to, inserted above its only child.
    Implicit(ConstantId),
    /// Null words: words that no constant is aligned to.
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
    /// Its sub-program with `_` for what is still missing; `None` for null words.
    pub program: Option<TermId>,
    /// Its meaning state: its type, or the types that it still takes and then yields. `None` for null words.
    pub state: Option<State>,
}

impl TreeNode {
    /// The types of the slots that are still open, in the order in which they are filled; none for a complete term.
    #[must_use]
    pub fn open_slots(&self) -> &[TypeId] {
        match &self.state {
            Some(State::Wants { slots, .. }) => slots,
            _ => &[],
        }
    }

    /// Its type as text, for display only: `State`, or `State, City -> Number` for a function.
    #[must_use]
    pub fn type_text(&self, domain: &Domain) -> Option<String> {
        self.state.as_ref().map(|state| domain.describe_state(state))
    }
}

/// A tree over the words of an utterance, with a sub-program at every node.
///
/// The tree of `on(hall)` over `switch on hall`, as [`SpanTree::render`] shows it: span and words, category,
/// sub-program, type.
///
/// ```text
/// 0..3              join  on(hall)  Action
///   0..2 switch on  on    on(_)     Lamp -> Action
///   2..3 hall       hall  hall      Lamp
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SpanTree {
    /// The nodes; children come before their parents, the root is the last.
    pub nodes: Vec<TreeNode>,
}

impl SpanTree {
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

    /// The tree as indented lines: words, category, sub-program, and type or what is still wanted.
    #[must_use]
    pub fn render(&self, domain: &Domain, terms: &Terms, utterance: &Utterance) -> String {
        let mut rows: Vec<[String; 4]> = Vec::new();
        for (depth, node) in self.preorder() {
            let words = if node.children.is_empty() { utterance.slice(node.span) } else { "" };
            let place = format!("{}{} {}", "  ".repeat(depth), node.span, words);
            let program = node.program.map(|program| terms.display(program).to_string()).unwrap_or_default();
            let ty = node.type_text(domain).unwrap_or_default();
            rows.push([place, node.category.name(domain).into_owned(), program, ty]);
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

impl Category {
    /// The name of a category: `join`, `-` for null, or that of the constant (in brackets if it is implicit).
    #[must_use]
    pub fn name(self, domain: &Domain) -> std::borrow::Cow<'_, str> {
        match self {
            Self::Join => "join".into(),
            Self::Null => "-".into(),
            Self::Constant(id) => domain.constants()[id].name.as_str().into(),
            Self::Implicit(id) => format!("[{}]", domain.constants()[id].name).into(),
        }
    }
}
