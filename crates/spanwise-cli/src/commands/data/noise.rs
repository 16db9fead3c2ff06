//! `spanwise data noise`: copies of examples with typing errors.

use super::{read_examples, write_files};
use crate::commands::overwrite;
use anyhow::Result;
use spanwise_core::Random;
use spanwise_domains::data::Example;
use spanwise_domains::data::noise::with_typing_errors;
use std::path::PathBuf;

/// Write copies of examples whose utterances have typing errors.
///
/// Each error is in a random word of four letters or more: a letter dropped, doubled, exchanged, or swapped with its
/// neighbour. Programs and all other fields stay as they are. The same seed gives the same errors.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  \
    spanwise data noise dev.jsonl --errors 1 --seed 3 --out noisy-dev.jsonl\n  spanwise eval runs/geo noisy-dev.jsonl")]
pub(crate) struct Args {
    /// Files of JSON lines
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Typing errors per utterance, in different words as long as there are any
    #[arg(long, default_value_t = 1, value_name = "N")]
    errors: usize,
    /// The seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let examples = read_examples(&args.data)?;
    overwrite::refuse([&args.out], &args.data)?;
    let noisy = examples.into_iter().enumerate().map(|(at, placed)| {
        let mut random = Random::new(args.seed, &[at as u64]);
        let utterance = with_typing_errors(&placed.example.utterance, args.errors, &mut random);
        Example { utterance, ..placed.example }
    });
    write_files(vec![(args.out.clone(), noisy.collect())])
}
