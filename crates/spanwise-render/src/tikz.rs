//! The tree as a LaTeX document with `tikz-qtree`.
//!
//! The document is `standalone`, for pdfLaTeX, XeLaTeX or LuaLaTeX. Words are in one row, in their order. Where the outer two of three children compose first, a thick line joins them that passes over the edge
//! of the middle one, and the parent is connected to that line.

use crate::diagram::{Diagram, Node, RenderError};
use crate::escape::latex;
use spanwise_reading::{NodeKind, Reading};
use std::fmt::Write as _;

/// Most levels of a tree: TeX nests no deeper than 255 groups, and every level takes some.
pub const MOST_LEVELS: usize = 60;

/// From one level to the next, in points; as in the head below.
const LEVEL: usize = 50;

const HEAD: &str = r"\documentclass[border=6pt]{standalone}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \newcommand{\other}[2]{\texttt{U+#1}}
\else
  \usepackage{fontspec}
  \newcommand{\other}[2]{#2}
\fi
\usepackage{textcomp}
\usepackage{xcolor}
\usepackage{tikz-qtree}
\usetikzlibrary{calc}
\definecolor{constant}{HTML}{0550AE}
\definecolor{implicit}{HTML}{6639BA}
\definecolor{null}{HTML}{6E7781}
\definecolor{unread}{HTML}{9A6700}
\definecolor{arc}{HTML}{BC4C00}
\newcommand{\name}[1]{{\small\ttfamily #1}}
\newcommand{\type}[1]{{\scriptsize\itshape #1}}
\begin{document}
\begin{tikzpicture}[
  level distance=50pt, sibling distance=8pt,
  every tree node/.style={align=center, anchor=north, inner sep=2pt},
  outer/.style={draw=none},
  over/.style={draw=arc, very thick, rounded corners=4pt, preaction={draw=white, line width=5pt}}]
";

/// The document.
///
/// # Errors
/// A reading without a tree, or with one that is no tree over its words, or has more levels than TeX can nest.
pub fn tikz(reading: &Reading) -> Result<String, RenderError> {
    let diagram = &Diagram::new(reading)?;
    let levels = diagram.n_levels();
    if levels > MOST_LEVELS {
        return Err(RenderError::TooDeep { levels, format: "tikz", most: MOST_LEVELS });
    }
    let mut out = HEAD.to_owned();
    let _ = writeln!(out, "\\tikzset{{frontier/.style={{distance from root={}pt}}}}", levels * LEVEL);
    out += "\\Tree\n";
    branches(diagram, &mut out);
    for (at, node) in diagram.nodes().iter().enumerate().filter(|(_, node)| node.is_discontinuous()) {
        let [left, between, right] = [node.children[0], node.children[1], node.children[2]];
        let _ = writeln!(out, "% the outer two below n{at} compose first, over the one between them");
        let _ = writeln!(
            out,
            "\\draw[over] (n{left}.north) |- ($(n{between}.north)+(0,10pt)$) -| (n{right}.north);"
        );
        let _ = writeln!(out, "\\coordinate (j{at}) at ($(n{between}.north)!.5!(n{right}.north)+(0,10pt)$);");
        let _ = writeln!(out, "\\draw (n{at}.south) -- (j{at}); \\fill[arc] (j{at}) circle (2pt);");
    }
    out += "\\end{tikzpicture}\n\\end{document}\n";
    Ok(out)
}

enum Step {
    Open { at: usize, depth: usize, is_outer: bool },
    Close { depth: usize },
    Word { slot: usize, depth: usize },
}

fn branches(diagram: &Diagram, out: &mut String) {
    let mut todo = vec![Step::Open { at: diagram.nodes().len() - 1, depth: 0, is_outer: false }];
    while let Some(step) = todo.pop() {
        match step {
            Step::Close { depth } => {
                let _ = writeln!(out, "{}]", "  ".repeat(depth));
            }
            Step::Word { slot, depth } => {
                let slot = &diagram.slots()[slot];
                let is_null = slot.leaf.is_none_or(|leaf| diagram.nodes()[leaf].kind == NodeKind::Null);
                let text = latex(&slot.shown());
                let text = match (slot.is_unread, is_null) {
                    (true, _) => format!("\\textcolor{{unread}}{{\\underline{{{text}}}}}"),
                    (false, true) => format!("\\textcolor{{null}}{{{text}}}"),
                    (false, false) => text,
                };
                // A word that no leaf covers is in the row, with no edge above it.
                let edge = if slot.leaf.is_none() { "\\edge[draw=none]; " } else { "" };
                let _ = writeln!(out, "{}{edge}{{\\strut {text}}}", "  ".repeat(depth));
            }
            Step::Open { at, depth, is_outer } => {
                let node = &diagram.nodes()[at];
                let edge = if is_outer { "\\edge[outer]; " } else { "" };
                let _ = writeln!(out, "{}{edge}[.\\node (n{at}) {{{}}};", "  ".repeat(depth), label(node));
                todo.push(Step::Close { depth });
                todo.extend(below(diagram, at, depth + 1).into_iter().rev());
            }
        }
    }
}

/// What is below a node: its children, and words of its own between them.
fn below(diagram: &Diagram, at: usize, depth: usize) -> Vec<Step> {
    let node = &diagram.nodes()[at];
    let mut steps = Vec::new();
    let is_root = at + 1 == diagram.nodes().len();
    let slots = if is_root { 0..diagram.slots().len() } else { diagram.slots_of(at) };
    let mut next = slots.start;
    for (nth, &child) in node.children.iter().enumerate() {
        let covered = diagram.slots_of(child);
        steps.extend((next..covered.start).map(|slot| Step::Word { slot, depth }));
        steps.push(Step::Open { at: child, depth, is_outer: node.is_discontinuous() && nth != 1 });
        next = covered.end;
    }
    steps.extend((next..slots.end).map(|slot| Step::Word { slot, depth }));
    steps
}

fn label(node: &Node) -> String {
    let name = latex(&node.label);
    let name = match node.kind {
        NodeKind::Constant => format!("\\textcolor{{constant}}{{\\name{{{name}}}}}"),
        NodeKind::Implicit => format!("\\textcolor{{implicit}}{{{{[}}\\name{{{name}}}{{]}}}}"),
        NodeKind::Join => format!("\\type{{{name}}}"),
        NodeKind::Null => format!("\\textcolor{{null}}{{\\type{{{name}}}}}"),
    };
    if node.type_text.is_empty() {
        return name;
    }
    format!("{name}\\\\\\type{{{}}}", latex(&node.type_text.replace("->", "→")))
}
