//! Writes a domain as text, types programs with it, and shows what mistakes look like.
//!
//! ```sh
//! cargo run -p spanwise --example own_domain
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

use spanwise::{Domain, Table, TableSource};
use std::error::Error;

/// A domain declares types and constants. A constant with arguments is a function; a program is a constant applied to
/// programs whose types fit. Entities come from a table: here, each row is a constant such as `tea('earl grey')`.
const DOMAIN: &str = r#"
name = "tea"
types = ["Tea", "Minutes", "Order"]
root = { types = ["Order"] }

[constants]
brew = ["Tea -> Order", "Tea, Minutes -> Order"]
three = "Minutes"

[[entities]]
class = "tea"
type = "Tea"
form = "tea('{name}')"
table = "teas"
"#;

/// Where tables come from is up to the program. `spanwise::load` reads a domain with its tables from files.
struct Shelf;

impl TableSource for Shelf {
    fn read(&self, path: &str) -> Result<Table, String> {
        // The number of a row is its line in a file, for messages.
        let row = |line: usize, name: &str| (line, vec![name.to_owned()]);
        let table =
            Table { columns: vec!["name".to_owned()], rows: vec![row(1, "earl grey"), row(2, "sencha")] };
        (path == "teas").then_some(table).ok_or_else(|| format!("there is no table `{path}`"))
    }
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let domain = Domain::load(DOMAIN, "tea.toml", None, &Shelf)?;

    for text in ["brew(tea('sencha'), three)", "brew(tea('sencha')", "brew(three)", "brew(tea('cocoa'))"] {
        // Terms live in a store. Equal terms have equal ids.
        let mut terms = domain.new_terms();
        match terms.parse(text).map(|program| domain.analyze(&terms, program)) {
            // The analysis has a type for every constant.
            Ok(Ok(analysis)) => {
                let ty = domain.types().name(analysis.types[0]);
                println!("{text}: {} constants, type {ty}", analysis.nodes.len());
            }
            // A term whose types do not fit has a problem that can be described.
            Ok(Err(problem)) => println!("{text}: {}", problem.describe(&domain, &terms)),
            // A text that is not a term is an error with a position.
            Err(error) => println!("{}", error.render("program", text)),
        }
    }

    // Problems of the domain file have line, column and, where there is one, a hint. All are reported at once.
    let with_typo = DOMAIN.replace("Tea -> Order\",", "Te -> Order\",");
    if let Err(errors) = Domain::load(&with_typo, "tea.toml", None, &Shelf) {
        println!("{errors}");
    }
    Ok(())
}
