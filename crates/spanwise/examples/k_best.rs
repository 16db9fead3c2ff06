//! Asks for several programs, and abstains where the best one is not probable enough.
//!
//! ```sh
//! cargo run -p spanwise --example k_best
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

mod support;

use spanwise::{Details, Question, Utterance, Withhold};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let parser = support::train_lamps()?;

    // Questions that are read together go through the network as one batch. The first is like the training data, the
    // second has words that the model knows nothing about, and the third has no words of the domain at all.
    let texts = ["blink the cellar lamp three times", "paint the desk green", "how do i boil an egg"];
    let questions =
        texts.map(|text| Question { alternatives: 3, withhold: Withhold::Below(0.5), ..Question::new(text) });
    for reading in parser.read_batch(&questions) {
        println!("{}", reading.utterance);
        match (&reading.program, &reading.reason) {
            (Some(program), _) => {
                println!("  {:.4}  {program}", reading.probability.unwrap_or_default());
                // The k-best list: other programs, the most probable first.
                for other in &reading.alternatives {
                    println!("  {:.4}  {}", other.probability, other.program);
                }
            }
            // Selective prediction: a program below the threshold is withheld, and becomes a guess.
            (None, reason) => {
                println!("  no program: {}", reason.as_deref().unwrap_or_default());
                if let Some(guess) = &reading.guess {
                    let program = guess.program.as_deref().unwrap_or_default();
                    println!("  {:.4}  {program} (withheld)", guess.probability);
                }
            }
        }
    }

    // The same one level below: programs are terms, which can be compared and taken apart.
    let details = Details { alternatives: 3, ..Details::default() };
    let outcome = parser.parse_with(Utterance::new(texts[0]), details);
    if let Some(parse) = outcome.parse() {
        // A probability has two factors: that the utterance is in the domain, and that the program is right.
        println!("in domain {:.2}, posterior {:.4}", parse.in_domain, parse.posterior);
        for other in &parse.alternatives {
            let size = parse.terms.size(other.program);
            println!("  {} terms: {}", size, parse.terms.display(other.program));
        }
    }
    Ok(())
}
