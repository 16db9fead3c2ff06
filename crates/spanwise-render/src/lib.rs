//! Pictures: span trees as text for terminals, SVG, HTML and LaTeX, and plots of numbers as SVG.
//!
//! A tree over the words of an utterance comes in, with what else is known about the parse; text goes out. Nothing
//! here knows a model, a file, a terminal or a predicate: colors and widths are told, not found out.
//!
//! A join of three children means that its outer two compose first. Every picture shows that with a line of its own
//! kind from the first to the last child, which passes over the middle one.

mod ascii;
mod diagram;
mod escape;
mod html;
mod layout;
mod outline;
mod plot;
mod pretty;
mod svg;
mod tikz;
mod width;

pub use ascii::{Screen, ascii};
pub use diagram::{Diagram, Kind, Node, RenderError, Slot};
pub use escape::xml;
pub use html::html;
pub use layout::{Joint, Layout, Measures, Place};
pub use plot::{AxisBounds, Plot, Series, side_by_side};
pub use pretty::pretty;
pub use svg::{svg, svg_layout};
pub use tikz::{MOST_LEVELS, tikz};

/// A parse with everything a picture may show. Only the tree is needed; what is absent is left out.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// The utterance as it was given.
    pub text: String,
    /// The tree.
    pub diagram: Diagram,
    /// What each word stands for, in order.
    pub words: Vec<Word>,
    /// The program: on one line, and broken into lines.
    pub program: Option<Program>,
    /// What the program evaluates to.
    pub answer: Option<Answer>,
    /// Other programs with their probabilities, best first.
    pub alternatives: Vec<(String, f64)>,
}

impl Explanation {
    /// A tree with nothing but its utterance.
    #[must_use]
    pub fn new(text: impl Into<String>, diagram: Diagram) -> Self {
        Self {
            text: text.into(),
            diagram,
            words: Vec::new(),
            program: None,
            answer: None,
            alternatives: Vec::new(),
        }
    }
}

/// A word and what it stands for.
#[derive(Clone, PartialEq, Debug)]
pub struct Word {
    /// The word as it was written.
    pub text: String,
    /// The constant it says, alone or with its neighbors; `None` for a word without meaning.
    pub constant: Option<String>,
    /// How sure that is.
    pub probability: f64,
}

/// A program as text.
#[derive(Clone, PartialEq, Debug)]
pub struct Program {
    /// On one line.
    pub line: String,
    /// Broken into lines.
    pub lines: String,
    /// How sure the model is of it.
    pub probability: f64,
}

/// What became of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Its value as text, and what there is to say about it.
    Value {
        /// The value.
        text: String,
        /// A remark.
        note: Option<String>,
    },
    /// Why it has no value.
    Failed(String),
}

/// A probability for people: three digits, and never 0 or 1 for what is not quite that.
pub(crate) fn percent(probability: f64) -> String {
    let share = probability * 100.0;
    match share {
        _ if share > 0.0 && share < 0.05 => "< 0.1 %".to_owned(),
        _ if (99.95..100.0).contains(&share) => "> 99.9 %".to_owned(),
        _ => format!("{share:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_sure_does_not_read_as_sure() {
        let shown = [0.0, 4e-6, 0.5, 0.99_96, 1.0].map(percent);
        assert_eq!(shown, ["0.0 %", "< 0.1 %", "50.0 %", "> 99.9 %", "100.0 %"]);
    }
}
