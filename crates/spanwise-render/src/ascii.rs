//! Readings as text for a terminal: the tree drawn over the words where it fits, and as an outline.

use crate::diagram::{Diagram, Node, RenderError, Slot};
use crate::layout::{Layout, Measures, Place, middle};
use crate::width::columns;
use crate::{answer_text, outline, percent};
use spanwise_reading::{NodeKind, Reading};
use std::collections::BTreeMap;

/// Trees wider than this are not drawn: their lines would be too long to follow.
const MOST_COLUMNS: usize = 1000;

/// Where the text will be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Screen {
    /// Columns of a line.
    pub width: usize,
    /// Whether escape sequences for colors are wanted.
    pub color: bool,
}

/// What a part of the text is, and so its color.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ink {
    Plain,
    Line,
    Arc,
    /// Words that carry a meaning which the program does not have.
    Unread,
    Of(NodeKind),
}

impl Ink {
    /// The parameters of the escape sequence; none for plain text.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Line | Self::Of(NodeKind::Null) => Some("2"),
            Self::Arc => Some("33"),
            Self::Unread => Some("2;33"),
            Self::Of(NodeKind::Constant) => Some("1;36"),
            Self::Of(NodeKind::Join) => Some("32"),
            Self::Of(NodeKind::Implicit) => Some("35"),
        }
    }

    pub(crate) fn paint(self, text: &str, color: bool) -> String {
        match self.code().filter(|_| color && !text.is_empty()) {
            Some(code) => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            None => text.to_owned(),
        }
    }
}

/// What is said in place of the tree of a program that has none.
pub(crate) const NO_TREE: &str = "no tree: this model does not say which words a program rests on";

/// What is said in place of the program of a model that has none.
pub const NO_PROGRAM: &str = "none: this model gives answers without a program";

/// The drawn tree, if it fits the screen, then the outline, with program, answer and other programs around them. Of a
/// reading without a tree, it says that there is none.
///
/// # Errors
/// A tree that is no tree over the words of the reading.
pub fn ascii(reading: &Reading, screen: Screen) -> Result<String, RenderError> {
    let mut out = head(reading);
    if reading.tree.is_some() {
        let diagram = Diagram::new(reading)?;
        if let Some(drawn) = drawn(&diagram, screen) {
            out += &drawn;
            out.push('\n');
        }
        out += &outline::outline(&diagram, screen);
    } else if reading.program.is_some() {
        out += &format!("{NO_TREE}\n");
    }
    if !reading.alternatives.is_empty() {
        out += "\nother programs\n";
        for other in &reading.alternatives {
            let program = crate::escape::visible(&other.program);
            out += &format!("  {:>8}  {program}\n", percent(other.probability));
        }
    }
    Ok(out)
}

fn head(reading: &Reading) -> String {
    let no_program = reading.is_answer_alone().then(|| NO_PROGRAM.to_owned());
    let rows = [
        ("program", reading.program.clone().or(no_program)),
        ("answer", answer_text(reading).map(str::to_owned)),
        ("note", reading.note.clone()),
        ("no answer", reading.error.clone()),
        ("probability", reading.probability.map(percent)),
    ];
    let row = |(name, text): (&str, Option<String>)| {
        Some(format!("{name:<11}  {}\n", crate::escape::visible(&text?)))
    };
    let mut lines: String = rows.into_iter().filter_map(row).collect();
    for remark in reading.remarks() {
        lines += &format!("{}\n", crate::escape::visible(&remark));
    }
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// The tree over its words: with types at its joins, or with dots where those are too wide. `None` where neither fits.
fn drawn(diagram: &Diagram, screen: Screen) -> Option<String> {
    let most = screen.width.min(MOST_COLUMNS);
    [full_label as fn(&Node) -> String, short_label].into_iter().find_map(|label| {
        let measures = Measures {
            label: &|node| columns(&label(node)) as i64,
            slot: &|slot| columns(&words(slot)) as i64,
            gap: 2,
        };
        let layout = Layout::new(diagram, &measures);
        (layout.width <= most as i64).then(|| Canvas::new(diagram, &layout, label).render(screen.color))
    })
}

/// The words of a slot. Those that were not read are marked, since not every terminal has colors.
pub(crate) fn words(slot: &Slot) -> String {
    if slot.is_unread { format!("~{}~", slot.shown()) } else { slot.shown() }
}

fn full_label(node: &Node) -> String {
    match node.kind {
        NodeKind::Join if !node.type_text.is_empty() => node.type_text.replace("->", "→"),
        _ => short_label(node),
    }
}

fn short_label(node: &Node) -> String {
    match node.kind {
        NodeKind::Constant => node.label.clone(),
        NodeKind::Implicit => format!("[{}]", node.label),
        NodeKind::Join => "•".to_owned(),
        NodeKind::Null => "·".to_owned(),
    }
}

/// Rows of short texts, each with its column.
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
            let text = self::words(slot);
            let width = columns(&text) as i64;
            let is_null = slot.leaf.is_none_or(|leaf| diagram.nodes()[leaf].kind == NodeKind::Null);
            let ink = match (slot.is_unread, is_null) {
                (true, _) => Ink::Unread,
                (false, true) => Ink::Of(NodeKind::Null),
                (false, false) => Ink::Plain,
            };
            canvas.put(words, middle(left, right) - (width - 1) / 2, text, ink);
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
            let symbol = match (column == stem, is_end) {
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
            self.put(row, column, symbol.to_string(), ink);
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
            let mut parts: Vec<(String, Ink)> = Vec::new();
            for (&column, (text, ink)) in row {
                let space = " ".repeat(usize::try_from(column - at).unwrap_or(0));
                at = column + columns(text) as i64;
                match parts.last_mut() {
                    // One escape sequence for a whole line instead of one for each column.
                    Some((last, known)) if known == ink && space.is_empty() => last.push_str(text),
                    _ => parts.extend([(space, Ink::Plain), (text.clone(), *ink)]),
                }
            }
            out.extend(parts.iter().map(|(text, ink)| ink.paint(text, color)));
            out.push('\n');
        }
        out
    }
}
