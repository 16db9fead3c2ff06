//! Trains a model from a configuration, watches the run, and evaluates the result.
//!
//! ```sh
//! cargo run -p spanwise --example training
//! ```

#![allow(clippy::print_stdout, reason = "an example prints what it found")]

mod support;

use spanwise::{Config, Evaluator, Event, Parser, Report, evaluate, read_examples, train};
use std::error::Error;
use std::ops::ControlFlow;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A run needs a configuration, a domain file with its tables, and examples as JSON lines.
    let directory = tempfile::tempdir()?;
    support::write_lamps(directory.path())?;

    // The configuration is a TOML file. What it leaves out has a default, and settings can be changed one by one, as with
    // `--set` on the command line.
    println!("{}", support::CONFIG);
    let file = directory.path().join("run.toml");
    let config = Config::read(&file.to_string_lossy(), &["seed=2".to_owned()])?;

    // Training reports events. Returning `ControlFlow::Break(())` would stop the run; it can be resumed later.
    let mut watch = |event: Event<'_>| {
        match event {
            Event::Data { n_train, n_dev, n_trained, .. } => {
                println!("{n_train} examples, {n_dev} for dev, {n_trained} trainable parameters");
            }
            Event::Epoch { row } => {
                let exact_match = row.dev.as_ref().and_then(|dev| dev.exact_match);
                println!(
                    "epoch {:2}: loss {:.3}, dev {:.0} %",
                    row.epoch,
                    row.loss,
                    exact_match.unwrap_or_default()
                );
            }
            _ => {}
        }
        ControlFlow::Continue(())
    };
    let out = directory.path().join("model");
    train(&config, directory.path(), None, &out, false, &mut watch)?;

    // The run directory is now a model directory. Loading it gives the same parser that `train` returned.
    let parser = Parser::load(&out)?;

    // Evaluation parses every example and compares programs as terms, and answers where the domain has an executor.
    let examples = read_examples(&directory.path().join("dev.jsonl"))?;
    let model = parser.model();
    let evaluator = Evaluator::of_parser(&parser);
    let scored = evaluate(model, &evaluator, &examples, &|_| ());
    for (example, score) in examples.iter().zip(&scored) {
        let verdict = if score.exact == Some(true) { "right" } else { "wrong" };
        println!("{verdict}  {:.2}  {}", score.probability, example.utterance);
    }
    let report = Report::new(&scored);
    println!("exact match {:.0} % of {}", report.exact_match.unwrap_or_default(), report.n);
    Ok(())
}
