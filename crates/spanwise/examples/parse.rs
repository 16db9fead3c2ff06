//! Parses an utterance: from text to a program, its probability and its tree.
//!
//! ```sh
//! cargo run -p spanwise --example parse
//! cargo run -p spanwise --example parse -- --model runs/geo "what states border texas"
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

mod support;

use spanwise::{Parser, Question};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A model is a directory that `spanwise train` wrote. Without one, this example trains a small model first. A command or
    // a server that a model names runs only with your consent: see `Parser::load_with` and `ExecutorPolicy`.
    let mut arguments = std::env::args().skip_while(|argument| argument != "--model").skip(1);
    let parser = match arguments.next() {
        Some(directory) => Parser::load(directory)?,
        None => support::train_lamps()?,
    };
    let text = arguments.next().unwrap_or_else(|| "turn on the spare room lamp".to_owned());

    // `read` parses the utterance, evaluates the program if the domain has an executor, and returns plain data.
    let reading = parser.read(&Question::new(text));

    // No program is a result, not an error. The reading then says why.
    let Some(program) = &reading.program else {
        println!("no program: {}", reading.reason.unwrap_or_default());
        return Ok(());
    };
    println!("{program}  (probability {:.2})", reading.probability.unwrap_or_default());

    // Each word is aligned to a constant or, as a null word, to none.
    for token in &reading.tokens {
        println!("{:>10}  {}", token.text, token.constant.as_deref().unwrap_or("-"));
    }

    // The tree shows how the constants compose: words, constant, sub-program and type, a line for each node.
    if let Some(tree) = &reading.tree {
        print!("{}", tree.outline());
    }
    Ok(())
}
