//! `spanwise data import`: the original releases.

use super::write_files;
use crate::commands::{make_directory, read_text};
use crate::output::say;
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use spanwise_domains::data::import::{NamedSet, clevr_stream, geo, scan, scan_sp};
use spanwise_domains::data::{Example, write_atomic, write_examples};
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Import an original release as JSON lines.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// GeoQuery: the FunQL corpus and the ids of its train half
    ///
    /// Writes the paper's three splits, exactly as released: train, dev and test; the same with _template
    /// and with _length.
    Geo {
        /// The corpus, records of `id:`, `nl:` and `mrl:` lines
        corpus: PathBuf,
        /// The ids of the 600 train examples, one a line
        train_ids: PathBuf,
        /// The folder to write to
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// CLEVR or CLOSURE: a question file and the scenes
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
    Scan {
        /// The file, or the train file
        file: PathBuf,
        /// The test file
        test: Option<PathBuf>,
        /// The file to write; with a test file, the folder
        #[arg(long, value_name = "PATH")]
        out: PathBuf,
    },
}

pub(crate) fn run(command: &Command) -> Result<()> {
    match command {
        Command::Geo { corpus, train_ids, out } => {
            let sets = geo(&read_text(corpus)?, &read_text(train_ids)?)
                .with_context(|| format!("cannot import {}", corpus.display()))?;
            write_sets(out, sets)
        }
        Command::Clevr { questions, scenes, out } => import_clevr(questions, scenes.as_deref(), out),
        Command::Scan { file, test: None, out } => {
            let examples =
                scan(&read_text(file)?).with_context(|| format!("cannot import {}", file.display()))?;
            write_files(&[(out.clone(), examples)])
        }
        Command::Scan { file, test: Some(test), out } => {
            let sets = scan_sp(&read_text(file)?, &read_text(test)?)
                .with_context(|| format!("cannot import {} and {}", file.display(), test.display()))?;
            write_sets(out, sets)
        }
    }
}

fn write_sets(directory: &Path, sets: impl IntoIterator<Item = NamedSet>) -> Result<()> {
    make_directory(directory)?;
    let files: Vec<(PathBuf, Vec<Example>)> =
        sets.into_iter().map(|set| (directory.join(set.file_name), set.examples)).collect();
    write_files(&files)
}

/// Questions are converted and written one by one: the official train file is larger than most memories.
fn import_clevr(questions: &Path, scenes: Option<&Path>, out: &Path) -> Result<()> {
    let text = read_text(questions)?;
    let scenes = scenes.map(read_text).transpose()?;
    let context = || format!("cannot import {}", questions.display());
    let stream = clevr_stream(&text, scenes.as_deref()).with_context(context)?;
    let bar = ProgressBar::new_spinner().with_style(
        ProgressStyle::with_template("{spinner} {pos} questions, {per_sec}")
            .expect("the template is fixed and valid"),
    );
    bar.enable_steady_tick(Duration::from_millis(100));
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
        return Err(error).with_context(context);
    }
    written?;
    say(&format!("{} examples to {}", bar.position(), out.display()));
    Ok(())
}
