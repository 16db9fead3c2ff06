//! What the rest of a program needs: an exact bound that keeps hopeless items out of a gold chart.

use super::Item;
use super::elements::Subset;
use crate::grammar::Grammar;
use spanwise_lang::{Analysis, Domain, Node};

/// For each node of a program, the least number of positions that its constants take.
///
/// Every aligned constant starts at a position of its own. So an item that leaves fewer positions outside its span than
/// the constants outside its fragment need is part of no derivation.
pub(super) struct Rest {
    /// Of the node without its children.
    own: Vec<usize>,
    /// Of the whole subtree.
    subtree: Vec<usize>,
}

impl Rest {
    pub(super) fn new(domain: &Domain, grammar: &Grammar, analysis: &Analysis) -> Self {
        let own: Vec<usize> = analysis
            .nodes
            .iter()
            .map(|node| match node {
                Node::Constant { frame, .. } => usize::from(!grammar.is_implicit(domain, *frame)),
                Node::Unlisted { .. } => 1,
                Node::Gather { .. } => 0,
            })
            .collect();
        let mut subtree = own.clone();
        // Nodes are in preorder: children come after their parents.
        for (at, node) in analysis.nodes.iter().enumerate().rev() {
            subtree[at] += node.children().map(|child| subtree[child]).sum::<usize>();
        }
        Self { own, subtree }
    }

    fn elements(&self, set: u16, subset: Subset, analysis: &Analysis) -> usize {
        let elements = analysis.nodes[set as usize].children().enumerate();
        elements.filter(|(at, _)| subset >> at & 1 == 1).map(|(_, element)| self.subtree[element]).sum()
    }

    /// The least number of positions that the program needs outside an item.
    pub(super) fn positions(&self, item: Item, analysis: &Analysis) -> usize {
        let inside = match item {
            Item::Unary(node, _) | Item::Function(node, _) | Item::Leaf(node) => self.own[node as usize],
            Item::Raw(node) | Item::Closed(node) | Item::Chain(node, _) => self.subtree[node as usize],
            // The argument needs no words.
            Item::Unsaid(node, _) => self.own[node as usize],
            Item::Composite(node, missing, _) | Item::Open(node, missing) => {
                self.subtree[node as usize] - self.subtree[missing as usize]
            }
            Item::Partial(node, filled, _) | Item::Inserted(node, filled) => {
                let children = analysis.nodes[node as usize].children().enumerate();
                let filled = children.filter(|(slot, _)| filled >> slot & 1 == 1);
                self.own[node as usize] + filled.map(|(_, child)| self.subtree[child]).sum::<usize>()
            }
            Item::List(node, from) => match &analysis.nodes[node as usize] {
                Node::Gather { elements, .. } => {
                    elements[from as usize..].iter().map(|&element| self.subtree[element]).sum()
                }
                Node::Constant { .. } | Node::Unlisted { .. } => 0,
            },
            Item::Subset(set, subset) => self.elements(set, subset, analysis),
            Item::Spread(node, set, subset) => {
                self.subtree[node as usize] - self.subtree[set as usize]
                    + self.elements(set, subset, analysis)
            }
        };
        self.subtree[0] - inside
    }
}
