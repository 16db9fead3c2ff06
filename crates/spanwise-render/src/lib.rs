//! Pictures of readings: span trees as text for terminals, SVG, HTML and LaTeX, and plots of numbers as SVG.
//!
//! Every picture is made from a [`Reading`](spanwise_reading::Reading) alone. The caller passes widths and colors;
//! nothing here reads files, the environment or the state of a terminal.
//!
//! In a join of three children the outer two compose first. Every picture shows this by a line of its own kind from the
//! first to the last child, which passes over the middle one.
//!
//! ```
//! use spanwise_render::{Screen, ascii, svg};
//!
//! let reading = serde_json::from_str(
//!     r#"{"utterance": "states", "program": "state(all)", "probability": 0.5,
//!         "tokens": [{"text": "states", "start": 0, "end": 6, "constant": "state", "in_lexicon": true}],
//!         "tree": {"span": [0, 1], "words": "states", "category": "constant", "constant": "state",
//!                  "program": "state(all)", "type": "States", "children": []}}"#,
//! )?;
//! let text = ascii(&reading, Screen { width: 80, color: false })?;
//! assert!(text.ends_with("state\nstates\n\nstate “states”  States  state(all)\n"));
//! assert!(svg(&reading)?.contains(">states</text>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod ascii;
mod diagram;
mod escape;
mod html;
mod layout;
mod outline;
mod plot;
mod svg;
mod tikz;
mod width;

pub use answer::{TableLimits, csv, row_count, table, with_unit};
pub use ascii::{NO_PROGRAM, Screen, ascii};
pub use diagram::{Diagram, Node, RenderError, Slot};
pub use escape::{visible, visible_lines, xml};
pub use html::html;
pub use layout::{Joint, Layout, Measures, Place};
pub use plot::{AxisBounds, Plot, Series, side_by_side};
pub use svg::{svg, svg_layout};
pub use tikz::{MOST_LEVELS, tikz};

/// A probability as text with three digits, never rounded to 0 or 1.
pub(crate) fn percent(probability: f64) -> String {
    let share = probability * 100.0;
    match share {
        _ if share > 0.0 && share < 0.05 => "< 0.1 %".to_owned(),
        _ if (99.95..100.0).contains(&share) => "> 99.9 %".to_owned(),
        _ => format!("{share:.1} %"),
    }
}

/// The answer of a reading as text: its denotation, or that it is empty.
pub(crate) fn answer_text(reading: &spanwise_reading::Reading) -> Option<&str> {
    reading.denotation.as_deref().map(|text| if text.is_empty() { "(empty)" } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_near_0_and_1_are_not_rounded_to_them() {
        let shown = [0.0, 4e-6, 0.5, 0.99_96, 1.0].map(percent);
        assert_eq!(shown, ["0.0 %", "< 0.1 %", "50.0 %", "> 99.9 %", "100.0 %"]);
    }
}
