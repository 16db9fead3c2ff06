//! `spanwise data import`: converts the original releases of data sets.

mod benchmark;

use super::write_files;
use crate::commands::{make_directory, overwrite, read_text};
use crate::output::{progress_spinner, say};
use anyhow::Result;
use spanwise_domains::data::import::{Benchmark, ImportError, NamedSet, clevr_stream, geo, scan, scan_sp};
use spanwise_domains::data::{Example, write_atomic, write_examples};
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};

/// Import an original release as JSON lines.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    spanwise data import geo geo880.corpus train.ids --out data/geo\n  \
    spanwise data import scan tasks_train_length.txt --out train_length.jsonl\n  \
    spanwise data import cogs train.tsv dev.tsv gen.tsv --out data/cogs")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// GeoQuery: the FunQL corpus and the ids of its train half
    ///
    /// Writes the paper's three splits, exactly as released: train, dev and test; the same with _template
    /// and with _length.
    #[command(after_help = "Example:\n  spanwise data import geo geo880.corpus train.ids --out data/geo")]
    Geo {
        /// The corpus, records of `id:`, `nl:` and `mrl:` lines
        corpus: PathBuf,
        /// The ids of the 600 train examples, one a line
        train_ids: PathBuf,
        /// The directory to write to
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// CLEVR or CLOSURE: a question file and the scenes
    #[command(after_help = "Example:\n  spanwise data import clevr CLEVR_val_questions.json \
        --scenes CLEVR_val_scenes.json --out val.jsonl")]
    Clevr {
        /// The questions, JSON with a list `questions`
        questions: PathBuf,
        /// The scenes, JSON with a list `scenes`; without them examples have no context
        #[arg(long, value_name = "FILE")]
        scenes: Option<PathBuf>,
        /// The file to write
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// SCAN: one file of `IN: .. OUT: ..` lines, or a train and a test file
    ///
    /// One file becomes one file. A train and a test file become the paper's SCAN-SP train, dev and test, dev
    /// being a fifth of train.
    #[command(after_help = "Examples:\n  spanwise data import scan tasks.txt --out commands.jsonl\n  \
        spanwise data import scan tasks_train_length.txt tasks_test_length.txt --out data/length")]
    Scan {
        /// The file, or the train file
        file: PathBuf,
        /// The test file
        test: Option<PathBuf>,
        /// The file to write; with a test file, the directory
        #[arg(long, value_name = "PATH")]
        out: PathBuf,
    },
    /// COGS: lines of sentence, logical form and kind of generalization
    ///
    /// The logical form becomes a program of nested events, and the kind the field `generalization`.
    /// `data export` restores the lines.
    #[command(
        after_help = "Example:\n  spanwise data import cogs train.tsv dev.tsv gen.tsv --out data/cogs\n\n\
        The fox hoped to sing .\n  \
        official  * fox ( x _ 1 ) ; hope . agent ( x _ 2 , x _ 1 ) AND hope . xcomp ( x _ 2 , x _ 4 ) AND sing . agent ( x _ 4 , x _ 1 )\n  \
        imported  hope(agent(the(fox)), xcomp(sing()))"
    )]
    Cogs(benchmark::Files),
    /// ATIS: lines of utterance and program, in FunQL with brackets around conjunctions
    ///
    /// Brackets and commas are added, and nothing is changed otherwise. `data export` restores the lines.
    #[command(
        after_help = "Example:\n  spanwise data import atis atis_funql_train_brackets.tsv --out train.jsonl\n\n\
        which airlines fly from oslo to rome\n  \
        official  answer _airline_1 ( intersection _from_2 city_name oslo _to_2 city_name rome )\n  \
        imported  answer(_airline_1(intersection(_from_2(city_name(oslo)), _to_2(city_name(rome)))))"
    )]
    Atis(benchmark::Files),
    /// Overnight: lines of utterance, canonical utterance and program, in lambda DCS
    ///
    /// Functions lose the prefix `SW.`, and strings become bare names. The canonical utterance becomes the field
    /// `canonical_utterance`. `data export` restores the lines.
    #[command(
        after_help = "Example:\n  spanwise data import overnight calendar_train.tsv --out train.jsonl\n\n\
        who leads oslo\n  \
        official  ( call SW.listValue ( call SW.getProperty en.city.oslo ( string mayor ) ) )\n  \
        imported  listValue(getProperty(en.city.oslo, mayor))"
    )]
    Overnight(benchmark::Files),
    /// Okapi: lines of utterance and request to a calendar
    ///
    /// The clauses of a request become arguments, in their order, with texts in quotes. `data export` restores
    /// the lines.
    #[command(
        after_help = "Example:\n  spanwise data import okapi train.tsv dev.tsv test.tsv --out data/okapi\n\n\
        the next 3 meetings of nora lind\n  \
        official  GET event FILTER event.organizer eq Nora Lind ORDERBY event.start asc TOP 3\n  \
        imported  get(event, filter(event.organizer, eq, 'Nora Lind'), orderby(event.start, asc), top(3))"
    )]
    Okapi(benchmark::Files),
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match &args.command {
        Command::Geo { corpus, train_ids, out } => {
            let sets = geo(&read(corpus)?, &read(train_ids)?).map_err(|error| match error {
                ImportError::Ids { .. } => about(train_ids, error),
                _ => about(corpus, error),
            })?;
            write_sets(out, sets, &[corpus, train_ids])
        }
        Command::Clevr { questions, scenes, out } => import_clevr(questions, scenes.as_deref(), out),
        Command::Scan { file, test: None, out } => {
            overwrite::refuse([out], [file])?;
            let examples = scan(&read(file)?).map_err(|error| about(file, error))?;
            write_files(vec![(out.clone(), examples)])
        }
        Command::Scan { file, test: Some(test), out } => {
            // A missing file is reported before any error of content.
            let texts = (read(file)?, read(test)?);
            let train_set = scan(&texts.0).map_err(|error| about(file, error))?;
            let test_set = scan(&texts.1).map_err(|error| about(test, error))?;
            write_sets(out, scan_sp(train_set, test_set), &[file, test])
        }
        Command::Cogs(files) => benchmark::run(Benchmark::Cogs, files),
        Command::Atis(files) => benchmark::run(Benchmark::Atis, files),
        Command::Overnight(files) => benchmark::run(Benchmark::Overnight, files),
        Command::Okapi(files) => benchmark::run(Benchmark::Okapi, files),
    }
}

/// The text of a release, of any size: questions of CLEVR take hundreds of megabytes.
fn read(path: &Path) -> Result<String> {
    read_text(path, u64::MAX)
}

/// An error with the file that it is about.
fn about(path: &Path, error: ImportError) -> anyhow::Error {
    anyhow::Error::new(error).context(format!("cannot import {}", path.display()))
}

fn write_sets(directory: &Path, sets: impl IntoIterator<Item = NamedSet>, inputs: &[&PathBuf]) -> Result<()> {
    let files: Vec<(PathBuf, Vec<Example>)> =
        sets.into_iter().map(|set| (directory.join(set.file_name), set.examples)).collect();
    overwrite::refuse(files.iter().map(|(path, _)| path), inputs)?;
    make_directory(directory)?;
    write_files(files)
}

/// Questions are converted and written one by one: parsed all at once, the official train file would take many times its
/// size in memory.
fn import_clevr(questions: &Path, scenes: Option<&Path>, out: &Path) -> Result<()> {
    overwrite::refuse([out], scenes.into_iter().chain([questions]))?;
    let text = read(questions)?;
    let scene_text = scenes.map(read).transpose()?;
    let about_file = |error: ImportError| match (&error, scenes) {
        (
            ImportError::ClevrFile { file: "scenes", .. } | ImportError::ClevrEntry { entry: "scene", .. },
            Some(scenes),
        ) => about(scenes, error),
        _ => about(questions, error),
    };
    let stream = clevr_stream(&text, scene_text.as_deref()).map_err(about_file)?;
    let bar = progress_spinner("{spinner} {pos} questions, {per_sec}");
    let failed = RefCell::new(None);
    let written = write_atomic(out, |writer| {
        for example in stream {
            match example {
                Ok(example) => write_examples(writer, &[example])?,
                Err(error) => {
                    *failed.borrow_mut() = Some(error);
                    return Err(io::Error::other("a question cannot be imported"));
                }
            }
            bar.inc(1);
        }
        Ok(())
    });
    bar.finish_and_clear();
    if let Some(error) = failed.into_inner() {
        return Err(about_file(error));
    }
    written?;
    say(&format!("{} examples to {}", bar.position(), out.display()));
    Ok(())
}
