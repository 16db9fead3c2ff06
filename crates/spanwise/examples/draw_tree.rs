//! Draws the tree of a parse: on the terminal, and as SVG to a file.
//!
//! ```sh
//! cargo run -p spanwise --example draw_tree
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

mod support;

use spanwise::Question;
use spanwise::render::{Screen, ascii, svg};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let parser = support::train_lamps()?;
    let reading = parser.read(&Question::new("please turn off the attic lamp"));

    // Every picture is made from a reading alone. A reading can be stored as JSON and drawn later, without the model.
    print!("{}", ascii(&reading, Screen { width: 80, color: false })?);

    // `html` gives a page that stands alone, `tikz` a figure for LaTeX.
    let picture = svg(&reading)?;
    let file = std::env::temp_dir().join("spanwise-tree.svg");
    std::fs::write(&file, picture)?;
    println!("wrote {}", file.display());

    // A tree is a list of nodes, children before their parents, for programs that draw by themselves.
    if let Some(tree) = &reading.tree {
        for (depth, node) in tree.preorder() {
            let [start, end] = node.span;
            let constant = node.constant.as_deref().unwrap_or_default();
            println!("{}{:?} {constant} [{start}, {end})", "  ".repeat(depth), node.kind);
        }
    }
    Ok(())
}
