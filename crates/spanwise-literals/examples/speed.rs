//! Prints how long each kind of literal takes per word.

use spanwise_core::Utterance;
use spanwise_literals::{Kind, Options, Recognizer};
use std::time::Instant;

#[allow(clippy::print_stdout)]
fn main() -> Result<(), String> {
    let text = "invoices over $1,299.99 from the last 7 days and songs longer than 5 min 30 released between march and may 2011 \
        by artists with at least two hundred and five albums before half past nine on the 3rd of may";
    let utterance = Utterance::new(text.to_owned()).said_at("2011-03-09T14:20".parse().ok());
    let n_words = text.split_whitespace().count();
    for kind in Kind::ALL {
        let recognizer = Recognizer::new(*kind, Options::default())?;
        let (start, rounds) = (Instant::now(), 2_000);
        let found: usize = (0..rounds).map(|_| recognizer.read(&utterance).len()).sum();
        let per_word = start.elapsed().as_nanos() / (rounds * n_words) as u128;
        println!("{:10} {per_word:6} ns/word, {} readings", kind.name(), found / rounds);
    }
    Ok(())
}
