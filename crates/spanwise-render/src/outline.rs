//! The tree as indented lines: what a node is, its words, its type, its sub-program.
//!
//! No line is wider than the screen; what does not fit is cut with an ellipsis. This works for trees of any width and
//! depth.

use crate::ascii::{Ink, Screen, words};
use crate::diagram::{Diagram, Node};
use crate::percent;
use crate::width::{columns, fit};
use spanwise_reading::NodeKind;

/// Narrower than this, lines are as wide as this all the same.
const LEAST_COLUMNS: usize = 20;
/// A sub-program with less space than this is left out: its first letters would not help.
const LEAST_PROGRAM: usize = 12;

/// A line before it is set.
struct Line<'a> {
    guides: String,
    node: &'a Node,
    cells: [String; 3],
}

pub(crate) fn outline(diagram: &Diagram, screen: Screen) -> String {
    let width = screen.width.max(LEAST_COLUMNS);
    let lines = lines(diagram, width);
    let place = |line: &Line<'_>| columns(&line.guides) + columns(&line.cells[0]);
    let first = lines.iter().map(place).max().unwrap_or(0).min(width / 2);
    let wanted = lines.iter().map(|line| columns(&line.cells[1])).max().unwrap_or(0);
    let space = width - first - 2;
    let last = space.saturating_sub(wanted.min(width / 3) + 2);
    let (second, last) =
        if last < LEAST_PROGRAM { (wanted.min(space), 0) } else { (wanted.min(width / 3), last) };
    let mut out = String::new();
    for Line { guides, node, cells: [place, type_text, rest] } in &lines {
        let guides = fit(guides, first);
        let place = fit(place, first.saturating_sub(columns(&guides)));
        let type_text = fit(type_text, second);
        let rest = fit(rest, last);
        let pad = |used: usize, all: usize| " ".repeat(all.saturating_sub(used) + 2);
        let used = columns(&guides) + columns(&place);
        let line = format!(
            "{}{}{}{}{}{}",
            Ink::Line.paint(&guides, screen.color),
            Ink::Of(node.kind).paint(&place, screen.color),
            pad(used, first),
            type_text,
            pad(columns(&type_text), second),
            rest
        );
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn lines(diagram: &Diagram, width: usize) -> Vec<Line<'_>> {
    let nodes = diagram.nodes();
    // Indentation stops growing at a quarter of the width; from there on the depth is a number.
    let most_depth = width / 8;
    let mut lines = Vec::with_capacity(nodes.len());
    // Which line starts above each level go on below; one entry for each open level.
    let mut open: Vec<bool> = Vec::new();
    let mut todo: Vec<(usize, usize, Branch)> = vec![(nodes.len() - 1, 0, Branch::Root)];
    while let Some((at, depth, branch)) = todo.pop() {
        let node = &nodes[at];
        open.truncate(depth.saturating_sub(1));
        let mut guides: String =
            open.iter().take(most_depth).map(|&on| if on { "│ " } else { "  " }).collect();
        guides += if depth > most_depth { "" } else { branch.mark() };
        if depth > most_depth {
            guides += &format!("({depth}) ");
        }
        if depth > 0 {
            open.push(branch.goes_on());
        }
        lines.push(Line { guides, node, cells: cells(diagram, at, node) });
        let n = node.children.len();
        for (nth, &child) in node.children.iter().enumerate().rev() {
            todo.push((child, depth + 1, Branch::of(nth, n, node.is_discontinuous())));
        }
    }
    lines
}

/// How a line is connected to its parent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branch {
    Root,
    Child { last: bool, outer: bool },
}

impl Branch {
    fn of(nth: usize, n: usize, discontinuous: bool) -> Self {
        Self::Child { last: nth + 1 == n, outer: discontinuous && nth != 1 }
    }

    /// The outer two of three have double lines, as in the drawn tree.
    fn mark(self) -> &'static str {
        match self {
            Self::Root => "",
            Self::Child { last: false, outer: false } => "├─",
            Self::Child { last: false, outer: true } => "╞═",
            Self::Child { last: true, outer: false } => "└─",
            Self::Child { last: true, outer: true } => "╘═",
        }
    }

    fn goes_on(self) -> bool {
        matches!(self, Self::Child { last: false, .. })
    }
}

fn cells(diagram: &Diagram, at: usize, node: &Node) -> [String; 3] {
    let mut place =
        if node.is_discontinuous() { "join (outer two first)".to_owned() } else { node.label.clone() };
    if node.kind == NodeKind::Implicit {
        place = format!("[{place}]");
    }
    if node.children.is_empty() {
        let slots = &diagram.slots()[diagram.slots_of(at)];
        let text = slots.iter().map(words).collect::<Vec<_>>().join(" ");
        place += &format!(" “{text}”");
    }
    let type_text = node.type_text.replace("->", "→");
    let probability = node.probability.filter(|_| node.children.is_empty()).map(percent);
    let rest = [Some(node.program.clone()).filter(|program| !program.is_empty()), probability];
    [place, type_text, rest.into_iter().flatten().collect::<Vec<_>>().join("  ")]
}
