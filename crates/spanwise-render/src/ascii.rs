//! The tree for a terminal: drawn over the words where it fits, and as an outline.
//!
//! An explanation, a width in columns and whether colors are wanted come in; lines of text go out. Whether there is a
//! terminal at all, and how wide it is, is for the caller to know.

use crate::diagram::{Diagram, Kind, Node};
use crate::layout::{Layout, Measures, Place, middle};
use crate::width::columns;
use crate::{Answer, Explanation, outline, percent};
use std::collections::BTreeMap;

/// Trees wider than this are not drawn: nobody could follow their lines.
const MOST_COLUMNS: usize = 1000;

/// Where the text will be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Screen {
    /// Columns of a line.
    pub width: usize,
    /// Whether escape sequences for colors are wanted.
    pub color: bool,
}

/// What a piece of text is, and so its color.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    Plain,
    Line,
    Arc,
    Of(Kind),
}

impl Ink {
    /// The parameters of the escape sequence; none for plain text.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Line | Self::Of(Kind::Null) => Some("2"),
            Self::Arc => Some("33"),
            Self::Of(Kind::Constant) => Some("1;36"),
            Self::Of(Kind::Join) => Some("32"),
            Self::Of(Kind::Implicit) => Some("35"),
        }
    }

    pub(crate) fn paint(self, text: &str, color: bool) -> String {
        match self.code().filter(|_| color && !text.is_empty()) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_owned(),
        }
    }
}

/// The drawn tree, if it fits the screen, then the outline, with program, answer and other programs around them.
#[must_use]
pub fn ascii(explanation: &Explanation, screen: Screen) -> String {
    let mut out = head(explanation);
    if let Some(drawn) = drawn(&explanation.diagram, screen) {
        out += &drawn;
        out.push('\n');
    }
    out += &outline::outline(&explanation.diagram, screen);
    if !explanation.alternatives.is_empty() {
        out += "\nother programs\n";
        for (program, probability) in &explanation.alternatives {
            out += &format!("  {:>8}  {}\n", percent(*probability), crate::escape::visible(program));
        }
    }
    out
}

fn head(explanation: &Explanation) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    if let Some(program) = &explanation.program {
        rows.push(("program", program.line.clone()));
    }
    match &explanation.answer {
        Some(Answer::Value { text, note }) => {
            rows.push(("answer", if text.is_empty() { "(empty)".to_owned() } else { text.clone() }));
            rows.extend(note.iter().map(|note| ("note", note.clone())));
        }
        Some(Answer::Failed(reason)) => rows.push(("no answer", reason.clone())),
        None => {}
    }
    if let Some(program) = &explanation.program {
        rows.push(("probability", percent(program.probability)));
    }
    let lines: String =
        rows.iter().map(|(name, text)| format!("{name:<11}  {}\n", crate::escape::visible(text))).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// The tree over its words: with types at its joins, or with dots where those are too wide. `None` where neither fits.
fn drawn(diagram: &Diagram, screen: Screen) -> Option<String> {
    let most = screen.width.min(MOST_COLUMNS);
    [full_label as fn(&Node) -> String, short_label].into_iter().find_map(|label| {
        let measures = Measures {
            label: &|node| columns(&label(node)) as i64,
            slot: &|slot| columns(&slot.text) as i64,
            gap: 2,
        };
        let layout = Layout::new(diagram, &measures);
        (layout.width <= most as i64).then(|| Canvas::new(diagram, &layout, label).render(screen.color))
    })
}

fn full_label(node: &Node) -> String {
    match node.kind {
        Kind::Join if !node.meaning.is_empty() => node.meaning.replace("->", "→"),
        _ => short_label(node),
    }
}

fn short_label(node: &Node) -> String {
    match node.kind {
        Kind::Constant => node.label.clone(),
        Kind::Implicit => format!("[{}]", node.label),
        Kind::Join => "•".to_owned(),
        Kind::Null => "·".to_owned(),
    }
}

/// Rows of pieces, each with its column.
struct Canvas {
    rows: Vec<BTreeMap<i64, (String, Ink)>>,
    n_levels: usize,
}

impl Canvas {
    fn new(diagram: &Diagram, layout: &Layout, label: fn(&Node) -> String) -> Self {
        // Two rows for each level, labels and lines; below the last labels there are words instead of lines.
        let mut canvas = Self { rows: vec![BTreeMap::new(); layout.n_levels * 2], n_levels: layout.n_levels };
        for (at, node) in diagram.nodes().iter().enumerate() {
            let place = &layout.nodes[at];
            let row = canvas.label_row(place.level);
            canvas.put(row, place.left, label(node), Ink::Of(node.kind));
            let children: Vec<Place> = node.children.iter().map(|&child| layout.nodes[child]).collect();
            canvas.connect(place, &children);
        }
        let words = canvas.rows.len() - 1;
        for (slot, &(left, right)) in diagram.slots().iter().zip(&layout.slots) {
            let width = columns(&slot.text) as i64;
            let is_null = slot.leaf.is_none_or(|leaf| diagram.nodes()[leaf].kind == Kind::Null);
            let ink = if is_null { Ink::Of(Kind::Null) } else { Ink::Plain };
            canvas.put(words, middle(left, right) - (width - 1) / 2, slot.text.clone(), ink);
        }
        canvas
    }

    fn label_row(&self, level: usize) -> usize {
        (self.n_levels - 1 - level) * 2
    }

    fn put(&mut self, row: usize, column: i64, text: String, ink: Ink) {
        self.rows[row].insert(column, (text, ink));
    }

    fn connect(&mut self, place: &Place, children: &[Place]) {
        let Some(joint) = place.joint else {
            let ends: Vec<i64> = children.iter().map(|child| child.x).collect();
            self.bracket(self.label_row(place.level) + 1, place.x, &ends, Ink::Line);
            children.iter().for_each(|child| self.drop(place.level, child));
            return;
        };
        let between = children[1];
        let mut ends = [joint.x, between.x];
        ends.sort_unstable();
        self.bracket(self.label_row(place.level) + 1, place.x, &ends, Ink::Line);
        let row = self.label_row(joint.level);
        self.put(row, joint.x, "│".to_owned(), Ink::Line);
        self.bracket(row + 1, joint.x, &[children[0].x, children[2].x], Ink::Arc);
        for outer in [&children[0], &children[2]] {
            self.drop(joint.level, outer);
        }
        self.put(row, between.x, "│".to_owned(), Ink::Line);
        self.put(row + 1, between.x, "╪".to_owned(), Ink::Arc);
        self.drop(joint.level, &between);
    }

    /// A line with ends going down, and a stem going up at `stem`. Arcs are double lines.
    fn bracket(&mut self, row: usize, stem: i64, ends: &[i64], ink: Ink) {
        let (Some(&first), Some(&last)) = (ends.first(), ends.last()) else { return };
        let [line, left, right, tee, up, cross, up_left, up_right] = match ink {
            Ink::Arc => ['═', '╔', '╗', '╦', '╩', '╬', '╠', '╣'],
            _ => ['─', '┌', '┐', '┬', '┴', '┼', '├', '┤'],
        };
        for column in first.min(stem)..=last.max(stem) {
            let is_end = ends.contains(&column);
            let piece = match (column == stem, is_end) {
                (true, true) if first == last => '│',
                (true, true) if column == first => up_left,
                (true, true) if column == last => up_right,
                (true, true) => cross,
                // A stem beyond its children bends towards them.
                (true, false) if stem < first => {
                    if ink == Ink::Arc {
                        '╚'
                    } else {
                        '└'
                    }
                }
                (true, false) if stem > last => {
                    if ink == Ink::Arc {
                        '╝'
                    } else {
                        '┘'
                    }
                }
                (true, false) => up,
                (false, true) if column == first && stem >= first => left,
                (false, true) if column == last && stem <= last => right,
                (false, true) => tee,
                (false, false) => line,
            };
            self.put(row, column, piece.to_string(), ink);
        }
    }

    /// A line straight down from below the lines of `level` to a child.
    fn drop(&mut self, level: usize, child: &Place) {
        for row in self.label_row(level) + 2..self.label_row(child.level) {
            self.put(row, child.x, "│".to_owned(), Ink::Line);
        }
    }

    fn render(&self, color: bool) -> String {
        let mut out = String::new();
        for row in &self.rows {
            let mut at = 0;
            let mut pieces: Vec<(String, Ink)> = Vec::new();
            for (&column, (text, ink)) in row {
                let space = " ".repeat(usize::try_from(column - at).unwrap_or(0));
                at = column + columns(text) as i64;
                match pieces.last_mut() {
                    // One escape sequence for a whole line instead of one for each column.
                    Some((last, known)) if known == ink && space.is_empty() => last.push_str(text),
                    _ => pieces.extend([(space, Ink::Plain), (text.clone(), *ink)]),
                }
            }
            out.extend(pieces.iter().map(|(text, ink)| ink.paint(text, color)));
            out.push('\n');
        }
        out
    }
}
