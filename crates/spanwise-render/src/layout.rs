//! Positions in a picture: words in a row at the bottom, every node above its own words.
//!
//! Widths are whole numbers in any unit: a terminal counts columns, a picture fractions of a pixel.
//!
//! All pictures rely on two properties. A label lies within the horizontal range of its node's words, and the ranges of
//! neighboring slots do not touch. So labels of one level never overlap, and a vertical line up from a node meets no
//! label before it meets the parent.

use crate::diagram::{Diagram, Node, Slot};

/// The widths of texts, all at least 1.
pub struct Measures<'a> {
    /// The width of a node's label.
    pub label: &'a dyn Fn(&Node) -> i64,
    /// The width of the words of a slot.
    pub slot: &'a dyn Fn(&Slot) -> i64,
    /// Space between neighbors.
    pub gap: i64,
}

/// The position of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The left end of the label.
    pub left: i64,
    /// One past its right end.
    pub right: i64,
    /// Where lines meet the node.
    pub x: i64,
    /// Levels above the leaves.
    pub level: usize,
    /// For a node with three children: where the outer two meet.
    pub joint: Option<Joint>,
}

/// Where the outer two of three children meet. Its lines pass over the middle child.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Joint {
    /// Where the lines meet; never above the middle child.
    pub x: i64,
    /// Levels above the leaves; above every child, below the node.
    pub level: usize,
}

/// The positions of everything in a diagram.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The nodes, in the order of the diagram.
    pub nodes: Vec<Place>,
    /// The left and the right end of the range of each slot.
    pub slots: Vec<(i64, i64)>,
    /// The right end of everything.
    pub width: i64,
    /// Levels in all.
    pub n_levels: usize,
}

impl Layout {
    /// Finds a place for everything. Linear in the nodes, apart from widening: each node may look at all its words.
    #[must_use]
    pub fn new(diagram: &Diagram, measures: &Measures<'_>) -> Self {
        let slots = slot_ranges(diagram, measures);
        let mut nodes: Vec<Place> = Vec::with_capacity(diagram.nodes().len());
        for (at, node) in diagram.nodes().iter().enumerate() {
            let range = diagram.slots_of(at);
            let within = (slots[range.start].0, slots[range.end - 1].1);
            let children: Vec<Place> = node.children.iter().map(|&child| nodes[child]).collect();
            nodes.push(place((measures.label)(node), within, &children));
        }
        let width = slots.last().map_or(0, |slot| slot.1);
        let n_levels = nodes.last().map_or(0, |root| root.level + 1);
        Self { nodes, slots, width, n_levels }
    }
}

/// The ranges of slots: wide enough for the words and for every label above them.
fn slot_ranges(diagram: &Diagram, measures: &Measures<'_>) -> Vec<(i64, i64)> {
    let mut widths: Vec<i64> = diagram.slots().iter().map(|slot| (measures.slot)(slot).max(1)).collect();
    for (at, node) in diagram.nodes().iter().enumerate() {
        let widths = &mut widths[diagram.slots_of(at)];
        let n = widths.len() as i64;
        let missing = (measures.label)(node) - widths.iter().sum::<i64>() - (n - 1) * measures.gap;
        if missing > 0 {
            for (widened, width) in widths.iter_mut().enumerate() {
                *width += missing / n + i64::from((widened as i64) < missing % n);
            }
        }
    }
    let mut left = 0;
    let range = |width: i64| {
        let start = left;
        left += width + measures.gap;
        (start, start + width)
    };
    widths.into_iter().map(range).collect()
}

/// A node in the middle above its children, as far as its label stays within the range of its words.
fn place(label: i64, within: (i64, i64), children: &[Place]) -> Place {
    let label = label.max(1);
    let above = children.iter().map(|child| child.level + 1).max().unwrap_or(0);
    let (wanted, joint) = match children {
        [] => (middle(within.0, within.1), None),
        [first, between, last] => {
            let wide_left = between.x - first.x > last.x - between.x;
            let x = if wide_left { (first.x + between.x) / 2 } else { (between.x + last.x + 1) / 2 };
            ((x + between.x) / 2, Some(Joint { x, level: above }))
        }
        [first, .., last] => ((first.x + last.x) / 2, None),
        [only] => (only.x, None),
    };
    let left = (wanted - (label - 1) / 2).clamp(within.0, within.1 - label);
    let right = left + label;
    Place { left, right, x: middle(left, right), level: above + usize::from(joint.is_some()), joint }
}

/// The middle column of a half-open range.
pub(crate) fn middle(left: i64, right: i64) -> i64 {
    left + (right - left - 1) / 2
}
