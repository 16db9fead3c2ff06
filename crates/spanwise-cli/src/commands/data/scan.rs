//! `spanwise data scan`: generates SCAN from its grammar.

use super::write_files;
use crate::commands::make_directory;
use crate::output::WrongCall;
use anyhow::Result;
use spanwise_domains::data::Example;
use spanwise_domains::scan::grammar::{Command, commands};
use spanwise_domains::scan::splits::Split;
use std::path::PathBuf;

/// Generate SCAN: all 20,910 commands with SCAN-SP programs and actions, and its splits.
///
/// Writes `commands.jsonl` and, for each split, `train_NAME.jsonl` and `test_NAME.jsonl`. All splits but
/// `simple` hold exactly the commands of the official files, as often as those do.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise data scan --out data/scan\n  \
    spanwise data scan --out data/scan --split right,length")]
pub(crate) struct Args {
    /// The directory to write to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all", help = split_help())]
    split: Vec<String>,
    /// The seed of the random split `simple`
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

fn split_names() -> String {
    Split::ALL.map(Split::name).join(", ")
}

fn split_help() -> String {
    format!("Splits to write: {}, all or none", split_names())
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let splits = chosen(&args.split)?;
    let all = commands();
    make_directory(&args.out)?;
    let mut files =
        vec![(args.out.join("commands.jsonl"), all.iter().map(|&command| example(command)).collect())];
    for split in splits {
        let sides = split.divide(&all, args.seed);
        let train: Vec<Example> = sides
            .train
            .iter()
            .flat_map(|&at| std::iter::repeat_n(all[at], split.repeats(all[at], sides.train.len())))
            .map(example)
            .collect();
        let test = sides.test.iter().map(|&at| example(all[at])).collect();
        files.push((args.out.join(format!("train_{}.jsonl", split.name())), train));
        files.push((args.out.join(format!("test_{}.jsonl", split.name())), test));
    }
    write_files(files)
}

fn chosen(names: &[String]) -> Result<Vec<Split>> {
    let mut splits = Vec::new();
    for name in names {
        let named = match name.as_str() {
            "all" => Split::ALL.to_vec(),
            "none" => Vec::new(),
            // The names that papers use for the add-primitive splits.
            "add-jump" => vec![Split::AddJump],
            "turn-left" => vec![Split::AddTurnLeft],
            _ => vec![Split::from_name(name).ok_or_else(|| {
                WrongCall(format!("there is no split `{name}`; the splits are {}", split_names()))
            })?],
        };
        for split in named {
            if !splits.contains(&split) {
                splits.push(split);
            }
        }
    }
    Ok(splits)
}

fn example(command: Command) -> Example {
    Example {
        program: Some(command.program()),
        answer: Some(command.answer()),
        ..Example::new(command.utterance())
    }
}
