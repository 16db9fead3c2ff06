//! The tree as an SVG picture: words along the bottom, nodes above them, lines between.
//!
//! The document has no scripts, fonts or links. Widths of texts are estimates. Colors are rules for classes, with a second set for dark screens; variables would be shorter, but converters to
//! other formats do not know them.

use crate::diagram::{Diagram, Node, RenderError, Slot};
use crate::escape::xml;
use crate::layout::{Layout, Measures, Place};
use crate::percent;
use crate::width::{columns, fit, thousandths};
use spanwise_reading::{NodeKind, Reading};
use std::fmt::Write as _;

/// Units of the layout in a pixel.
const SCALE: i64 = 10;
/// Space around everything, in pixels.
const MARGIN: f64 = 20.0;
/// From one level to the next, in pixels.
const LEVEL: f64 = 68.0;
/// The height of a label, and of one for null words.
const LABEL: f64 = 38.0;
const SMALL_LABEL: f64 = 18.0;
/// From the labels of leaves to the base line of their words.
const WORDS: f64 = 40.0;
/// The height of a line of the caption, and the width of one of its characters.
const CAPTION: f64 = 19.0;
const CAPTION_CHAR: f64 = 7.9;
/// Most lines of the program in the caption; a longer one is cut.
const CAPTION_LINES: usize = 4;

pub(crate) const STYLE: &str = "\
.sw-back{fill:#fff}\
.sw-edge{fill:none;stroke:#8c959f;stroke-width:1.5}\
.sw-edge-null{fill:none;stroke:#c4cbd3;stroke-width:1.3;stroke-dasharray:2 4;stroke-linecap:round}\
.sw-halo{fill:none;stroke:#fff;stroke-width:9}\
.sw-arc{fill:none;stroke:#d4691e;stroke-width:2.2}\
.sw-dot{fill:#d4691e}\
.sw-word,.sw-name,.sw-type,.sw-small{text-anchor:middle;font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',Helvetica,Arial,sans-serif}\
.sw-word{font-size:17px;fill:#1f2328}\
.sw-word-null{fill:#8c959f}\
.sw-word-unread{fill:#8c959f;text-decoration:line-through}\
.sw-word-corrected{text-decoration:underline}\
.sw-name{font-size:13.5px;font-weight:600;fill:#0a3069}\
.sw-type{font-size:11px;fill:#57606a}\
.sw-small{font-size:11px;fill:#8c959f}\
.sw-constant rect{fill:#ddf4ff;stroke:#54aeff;stroke-width:1.2}\
.sw-join rect{fill:#f6f8fa;stroke:#afb8c1;stroke-width:1.2}\
.sw-join .sw-name{fill:#424a53;font-weight:400}\
.sw-implicit rect{fill:#fbefff;stroke:#a475f9;stroke-width:1.2;stroke-dasharray:4 3}\
.sw-implicit .sw-name{fill:#512a97}\
.sw-program,.sw-answer{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px;white-space:pre}\
.sw-program{fill:#1f2328}\
.sw-answer{fill:#1a7f37}\
@media (prefers-color-scheme:dark){\
.sw-back{fill:#0d1117}\
.sw-edge{stroke:#6e7681}\
.sw-edge-null{stroke:#3d444d}\
.sw-halo{stroke:#0d1117}\
.sw-arc{stroke:#f0883e}\
.sw-dot{fill:#f0883e}\
.sw-word,.sw-program{fill:#e6edf3}\
.sw-word-null,.sw-word-unread,.sw-small{fill:#848d97}\
.sw-name{fill:#cae8ff}\
.sw-type{fill:#9ea7b3}\
.sw-constant rect{fill:#0c2d6b;stroke:#388bfd}\
.sw-join rect{fill:#21262d;stroke:#6e7681}\
.sw-join .sw-name{fill:#c9d1d9}\
.sw-implicit rect{fill:#2e1461;stroke:#8957e5}\
.sw-implicit .sw-name{fill:#e2c5ff}\
.sw-answer{fill:#56d364}\
}";

/// The tree with its program and answer above it, as an SVG document.
///
/// # Errors
/// A reading without a tree, or with one that is no tree over its words.
pub fn svg(reading: &Reading) -> Result<String, RenderError> {
    let diagram = Diagram::new(reading)?;
    let mut caption: Vec<(&str, String)> = Vec::new();
    let layout = svg_layout(&diagram);
    let n_chars = ((pixels(layout.width) / CAPTION_CHAR) as usize).max(40);
    if let Some(program) = &reading.program {
        caption.extend(wrap(program, n_chars).into_iter().map(|line| ("sw-program", line)));
    }
    if let Some(text) = &reading.denotation {
        caption.push(("sw-answer", fit(&format!("= {text}"), n_chars)));
    }
    Ok(Drawing { diagram: &diagram, layout, caption }.document(&reading.utterance))
}

/// The tree alone, as an element for a page that has [`STYLE`] already.
pub(crate) fn tree_element(utterance: &str, diagram: &Diagram) -> String {
    Drawing { diagram, layout: svg_layout(diagram), caption: Vec::new() }.element(utterance)
}

/// The positions in the picture, in tenths of a pixel.
#[must_use]
pub fn svg_layout(diagram: &Diagram) -> Layout {
    Layout::new(diagram, &Measures { label: &label_width, slot: &slot_width, gap: 14 * SCALE })
}

fn label_width(node: &Node) -> i64 {
    if node.kind == NodeKind::Null {
        return thousandths(&node.label) * 11 * SCALE / 1000;
    }
    // Names are bold, and so wider than estimated.
    let name = thousandths(&node.label) * 15 * SCALE / 1000;
    let type_text = thousandths(&type_line(node)) * 11 * SCALE / 1000;
    name.max(type_text) + 22 * SCALE
}

fn slot_width(slot: &Slot) -> i64 {
    thousandths(&slot.shown()) * 17 * SCALE / 1000
}

fn type_line(node: &Node) -> String {
    node.type_text.replace("->", "→")
}

fn pixels(units: i64) -> f64 {
    units as f64 / SCALE as f64
}

/// A program in lines of about `most` characters, broken after parentheses and commas.
fn wrap(program: &str, most: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in program.split_inclusive(['(', ',']) {
        let n_lines = lines.len();
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() || columns(line) + columns(part) <= most {
            line.push_str(part);
        } else if n_lines == CAPTION_LINES {
            line.push('…');
            break;
        } else {
            lines.push(format!("  {}", part.trim_start()));
        }
    }
    lines.iter().map(|line| fit(line.trim_end(), most + 1)).collect()
}

struct Drawing<'a> {
    diagram: &'a Diagram,
    layout: Layout,
    caption: Vec<(&'static str, String)>,
}

impl Drawing<'_> {
    fn document(&self, text: &str) -> String {
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}", self.write(text, true))
    }

    fn element(&self, text: &str) -> String {
        self.write(text, false)
    }

    fn write(&self, text: &str, is_document: bool) -> String {
        let caption_width =
            self.caption.iter().map(|(_, line)| columns(line)).max().unwrap_or(0) as f64 * CAPTION_CHAR;
        let width = pixels(self.layout.width).max(caption_width) + 2.0 * MARGIN;
        let height = self.y(0) + LABEL + WORDS + MARGIN - 6.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"{}\">\n",
            xml(text)
        );
        if is_document {
            let _ = writeln!(out, "<style>{STYLE}</style>");
            out += "<rect class=\"sw-back\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n";
        }
        for (at, (class, line)) in self.caption.iter().enumerate() {
            let y = MARGIN + CAPTION * (at as f64 + 0.7);
            let _ = writeln!(out, "<text class=\"{class}\" x=\"{MARGIN}\" y=\"{y:.1}\">{}</text>", xml(line));
        }
        let shift = (width - pixels(self.layout.width)) / 2.0;
        let _ = writeln!(out, "<g transform=\"translate({shift:.1} 0)\">");
        self.lines(&mut out);
        self.labels(&mut out);
        self.words(&mut out);
        out += "</g>\n</svg>\n";
        out
    }

    /// The upper end of the labels of a level.
    fn y(&self, level: usize) -> f64 {
        let caption = if self.caption.is_empty() { 0.0 } else { self.caption.len() as f64 * CAPTION + 14.0 };
        MARGIN + caption + (self.layout.n_levels - 1 - level) as f64 * LEVEL
    }

    /// Where lines from above meet a node.
    fn top(&self, node: usize, place: &Place) -> f64 {
        let is_null = self.diagram.nodes()[node].kind == NodeKind::Null;
        self.y(place.level) + if is_null { LABEL - SMALL_LABEL } else { 0.0 }
    }

    /// Lines first, arcs over them: a halo lets an arc pass over what does not belong to it.
    fn lines(&self, out: &mut String) {
        let mut arcs = String::new();
        for (at, node) in self.diagram.nodes().iter().enumerate() {
            let place = &self.layout.nodes[at];
            let bottom = self.y(place.level) + LABEL;
            let children = node.children.iter().map(|&child| (child, &self.layout.nodes[child]));
            let Some(joint) = place.joint else {
                children.for_each(|(child, to)| self.line(out, (place.x, bottom), child, to));
                continue;
            };
            let (x, y) = (joint.x, self.y(joint.level) + LABEL / 2.0);
            let path = curve((place.x, bottom), (x, y), y);
            let _ = writeln!(out, "<path class=\"sw-edge\" d=\"{path}\"/>");
            for (nth, (child, to)) in children.enumerate() {
                if nth == 1 {
                    self.line(out, (place.x, bottom), child, to);
                    continue;
                }
                let path = shoulder((x, y), (to.x, self.top(child, to)));
                let _ = writeln!(arcs, "<path class=\"sw-halo\" d=\"{path}\"/>");
                let _ = writeln!(arcs, "<path class=\"sw-arc\" d=\"{path}\"/>");
            }
            let _ =
                writeln!(arcs, "<circle class=\"sw-dot\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4\"/>", pixels(x));
        }
        *out += &arcs;
    }

    fn line(&self, out: &mut String, from: (i64, f64), child: usize, to: &Place) {
        let is_null = self.diagram.nodes()[child].kind == NodeKind::Null;
        let class = if is_null { "sw-edge-null" } else { "sw-edge" };
        let end = self.top(child, to);
        // The curve ends where the next level begins; from there it goes straight down, past labels of other words.
        let bend = from.1 + LEVEL - LABEL;
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{}\"/>", curve(from, (to.x, bend), end));
    }

    fn labels(&self, out: &mut String) {
        for (node, place) in self.diagram.nodes().iter().zip(&self.layout.nodes) {
            let (x, y) = (pixels(place.x), self.y(place.level));
            let class = match node.kind {
                NodeKind::Constant => "sw-constant",
                NodeKind::Join => "sw-join",
                NodeKind::Implicit => "sw-implicit",
                NodeKind::Null => "sw-null",
            };
            let _ = write!(out, "<g class=\"{class}\"><title>{}</title>", xml(&hover(node)));
            if node.kind == NodeKind::Null {
                let y = y + LABEL - 5.0;
                let _ =
                    write!(out, "<text class=\"sw-small\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", node.label);
            } else {
                let (left, width) = (pixels(place.left), pixels(place.right - place.left));
                let _ = write!(
                    out,
                    "<rect x=\"{left:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{LABEL}\" rx=\"9\"/>"
                );
                let type_text = type_line(node);
                let base = if type_text.is_empty() { y + 24.0 } else { y + 16.5 };
                let name = xml(&node.label);
                let _ = write!(out, "<text class=\"sw-name\" x=\"{x:.1}\" y=\"{base:.1}\">{name}</text>");
                if !type_text.is_empty() {
                    let (y, type_text) = (y + 31.0, xml(&type_text));
                    let _ =
                        write!(out, "<text class=\"sw-type\" x=\"{x:.1}\" y=\"{y:.1}\">{type_text}</text>");
                }
            }
            *out += "</g>\n";
        }
    }

    fn words(&self, out: &mut String) {
        let base = self.y(0) + LABEL + WORDS;
        for (slot, &(left, right)) in self.diagram.slots().iter().zip(&self.layout.slots) {
            let x = pixels(left + right) / 2.0;
            let kind = slot.leaf.map_or(NodeKind::Null, |leaf| self.diagram.nodes()[leaf].kind);
            let class = match (slot.is_unread, slot.read_as.is_some(), kind) {
                (true, ..) => "sw-word sw-word-unread",
                (false, true, _) => "sw-word sw-word-corrected",
                (false, false, NodeKind::Null) => "sw-word sw-word-null",
                _ => "sw-word",
            };
            let title = if slot.is_unread { "<title>not read</title>" } else { "" };
            if kind != NodeKind::Null {
                let half = (pixels(slot_width(slot)) / 2.0).max(6.0);
                let (top, y) = (self.y(0) + LABEL, base - 19.0);
                let _ = writeln!(
                    out,
                    "<path class=\"sw-edge\" d=\"M{x:.1} {top:.1}V{y:.1}M{:.1} {y:.1}H{:.1}\"/>",
                    x - half,
                    x + half
                );
            }
            let _ = writeln!(
                out,
                "<text class=\"{class}\" x=\"{x:.1}\" y=\"{base:.1}\">{title}{}</text>",
                xml(&slot.shown())
            );
        }
    }
}

/// A curve from a point down to another, then straight down to `end`.
fn curve(from: (i64, f64), to: (i64, f64), end: f64) -> String {
    let (x, to_x) = (pixels(from.0), pixels(to.0));
    let half = f64::midpoint(from.1, to.1);
    format!("M{x:.1} {:.1}C{x:.1} {half:.1} {to_x:.1} {half:.1} {to_x:.1} {:.1}V{end:.1}", from.1, to.1)
}

/// A line sideways, round the corner, and straight down.
fn shoulder(from: (i64, f64), to: (i64, f64)) -> String {
    let (x, to_x) = (pixels(from.0), pixels(to.0));
    let radius = (to_x - x).abs().min(12.0);
    let corner = if to_x < x { to_x + radius } else { to_x - radius };
    format!(
        "M{x:.1} {0:.1}H{corner:.1}Q{to_x:.1} {0:.1} {to_x:.1} {1:.1}V{2:.1}",
        from.1,
        from.1 + radius,
        to.1
    )
}

/// What a node shows under the pointer.
fn hover(node: &Node) -> String {
    let mut lines = vec![node.label.clone()];
    if node.is_discontinuous() {
        lines.push("the outer two compose first".to_owned());
    }
    if node.kind == NodeKind::Implicit {
        lines.push("inserted: aligned to no word".to_owned());
    }
    if !node.type_text.is_empty() {
        lines.push(format!("type: {}", node.type_text));
    }
    if !node.program.is_empty() {
        lines.push(format!("program: {}", node.program));
    }
    lines.extend(node.probability.map(|probability| format!("probability: {}", percent(probability))));
    // Each line is free of control characters; the breaks between them are ours.
    lines.join(" · ")
}
