//! `spanwise reproduce`: the tables of the paper, from training to a report.

mod live;

use super::overwrite;
use crate::output::{Status, WrongCall, say};
use crate::signals;
use anyhow::{Context, Result};
use live::Live;
use spanwise_nn::Tokenizer;
use spanwise_reproduce::about::{self, About};
use spanwise_reproduce::gather::Results;
use spanwise_reproduce::report::{self, Report};
use spanwise_reproduce::{
    CellId, Options, Outcome, ReproduceError, RunContext, Selection, Store, Table, Tables, ThisProgram, jobs,
    results, write_text,
};
use std::io::{self, Write};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

/// Memory set aside for a cell: as much as training may keep of what frozen layers give.
const CELL_BYTES: u64 = 4 << 30;

/// Run the paper's experiments and write a report.
///
/// A cell is a row (the paper's parser, ours, or either without one of its parts), a split and a seed: one training, then
/// measurements on test. `table2` is denotation accuracy, for all rows; `table3` is the F1 of predicted trees against gold trees,
/// for the rows that have it, and uses the cells of `table2` where they are there.
///
/// Every cell has a folder OUT/runs/ROW/SPLIT/seed-N. A finished cell is kept by the next call, an interrupted one is
/// continued, a cell whose settings have changed is run again; a cell that fails does not stop the others. Ctrl-C stops at any
/// time. OUT/report.md, report.html (one file with plots) and report.json put our numbers beside the paper's, and list what
/// is missing.
///
/// --export DIR puts the means of finished cells into result files, DIR/DOMAIN/ROW.json. --results DIR --write FILE renders the
/// page of current results, the tables of DIR/claims.toml, from such files; it needs no data and runs nothing.
///
/// Rows: sbsp, sbsp-no-lexicon, sbsp-projective, sbsp-gold-trees (the paper's parser); spanwise, two-phrases, names-only, no-lexicon, projective,
/// no-augmentation, span-joins, coarse-types (ours); seq2seq, seq2seq-contextual, bert2seq, grammar, bart, end2end (its baselines); marginal.
/// Splits: geo-iid, geo-template, geo-length, scan-iid, scan-right, scan-around-right, scan-length, scan-add-jump, scan-turn-left, clevr-iid,
/// clevr-closure. Splits of other benchmarks run only where --only or --splits names them, in the root of the repository, which has their
/// domain files: cogs, cogs-full, okapi, atis-iid, atis-length, overnight-calendar, overnight-publications. DIR has their data as `spanwise data import` writes them: cogs/train.jsonl and so on.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  spanwise reproduce --data data --encoder encoders/all-MiniLM-L6-v2 --seeds 5\n  \
    spanwise reproduce --data data --only scan --rows spanwise --seeds 1      about two minutes, no encoder needed\n  \
    spanwise reproduce table3 --data data --encoder encoders/all-MiniLM-L6-v2 --splits geo-iid,geo-length\n  \
    spanwise reproduce --data data --quick                                    shows that everything runs; the numbers mean nothing\n  \
    spanwise reproduce --report-only --out reproduce --export results         writes the report again, and result files\n  \
    spanwise reproduce --results results --write docs/results.md              renders the page of current results"
)]
pub(crate) struct Args {
    /// The table
    #[arg(value_enum, default_value_t = Which::Table2)]
    table: Which,
    /// Domains: geo, scan, clevr, cogs, okapi, atis, overnight-calendar, overnight-publications [default: the first three]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    only: Vec<String>,
    /// Rows [default: all of the table]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    rows: Vec<String>,
    /// Splits [default: all of the table]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    splits: Vec<String>,
    /// How many seeds, from 1
    #[arg(long, value_name = "N", default_value = "3")]
    seeds: NonZeroU64,
    /// The folder with the data sets: geo, scan_sp, scan, clevr
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where cells and report go [default: reproduce, or reproduce-quick with --quick]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A directory with weights or a name on the hub, for the presets that name a pretrained encoder; the tokenizer of a
    /// directory also reads the trees of SCAN, which count word-pieces
    #[arg(long, value_name = "ENCODER")]
    encoder: Option<String>,
    /// A file of static word vectors, such as GloVe, for the rows that take them [default: vectors of their own]
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,
    /// A directory with a pretrained encoder-decoder, for the row `bart`; without it, the row is left out
    #[arg(long, value_name = "DIR")]
    encoder_decoder: Option<PathBuf>,
    /// Cells at the same time [default: one for each core, as far as memory goes]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// A few examples, one epoch, the compact encoder: a check that everything runs
    #[arg(long)]
    quick: bool,
    /// Keep the weights of all seeds, not of the first alone
    #[arg(long)]
    keep_models: bool,
    /// Run nothing, write the report from what is there
    #[arg(long)]
    report_only: bool,
    /// Put the means of all finished cells of OUT into the result files of this folder
    #[arg(long, value_name = "DIR", conflicts_with = "quick")]
    export: Option<PathBuf>,
    /// Run nothing, render the page of current results from the result files of this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["data", "report_only", "export", "quick", "json"])]
    results: Option<PathBuf>,
    /// Where the page goes [default: standard output]
    #[arg(long, value_name = "FILE", requires = "results")]
    write: Option<PathBuf>,
    /// Print the report as one JSON object instead of the table
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Which {
    /// Denotation accuracy
    Table2,
    /// F1 of predicted trees
    Table3,
}

impl From<Which> for Table {
    fn from(which: Which) -> Self {
        match which {
            Which::Table2 => Self::Two,
            Which::Table3 => Self::Three,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Status> {
    let tables = Tables::builtin()?;
    if let Some(folder) = &args.results {
        return render(folder, args.write.as_deref(), &tables);
    }
    let default = if args.quick { "reproduce-quick" } else { "reproduce" };
    let store = Store::new(args.out.clone().unwrap_or_else(|| default.into()));
    let mut outcome = Outcome::default();
    if args.report_only {
        // Checked first, because locking would create the folder.
        if store.grid().map_err(wrong)?.is_none() {
            return Err(wrong(ReproduceError::NoGrid { out: store.out().display().to_string() }));
        }
        let _lock = store.lock().map_err(wrong)?;
        finish(args, &store, tables)?;
    } else {
        let selection = Selection {
            table: args.table.into(),
            domains: args.only.clone(),
            rows: args.rows.clone(),
            splits: args.splits.clone(),
            seeds: args.seeds.get(),
        };
        let cells = selection.cells(&tables).map_err(wrong)?;
        let options = options(args)?;
        let _lock = store.lock().map_err(wrong)?;
        outcome = fill(args, &store, &tables, &cells, &options)?;
        finish(args, &store, tables)?;
    }
    if outcome.stopped {
        say("stopped; the same command continues");
    }
    if outcome.failed > 0 {
        say(&format!(
            "{} cells failed; {} has the reasons",
            outcome.failed,
            store.out().join("report.md").display()
        ));
    }
    Ok(if outcome == Outcome::default() { Status::Success } else { Status::PartialFailure })
}

/// Writes the page of current results.
fn render(folder: &Path, file: Option<&Path>, tables: &Tables) -> Result<Status> {
    if !folder.is_dir() {
        let text =
            format!("--results {}: there is no such folder; it should hold claims.toml", folder.display());
        return Err(WrongCall(text).into());
    }
    let page = results::page(folder, tables)?;
    match file {
        Some(file) => {
            overwrite::refuse([file], [folder.join("claims.toml")])?;
            write_text(file, &page)?;
        }
        None => io::stdout().lock().write_all(page.as_bytes())?,
    }
    Ok(Status::Success)
}

/// The absolute path of a file or folder that cells read, wherever they run.
fn readable(option: &str, path: Option<&Path>) -> Result<Option<String>> {
    let Some(path) = path else { return Ok(None) };
    let found =
        path.canonicalize().map_err(|error| WrongCall(format!("{option} {}: {error}", path.display())))?;
    Ok(Some(found.display().to_string()))
}

fn options(args: &Args) -> Result<Options> {
    let Some(data) = &args.data else {
        let text = "--data is missing: name the folder with the data sets (geo, scan_sp, clevr), \
                    or use --report-only to write the report of cells that are there";
        return Err(WrongCall(text.to_owned()).into());
    };
    if !data.is_dir() {
        let text = format!(
            "--data {}: there is no such folder; it should hold geo, scan_sp and clevr",
            data.display()
        );
        return Err(WrongCall(text).into());
    }
    Ok(Options {
        data: data.clone(),
        encoder: args.encoder.clone(),
        vectors: readable("--vectors", args.vectors.as_deref())?,
        encoder_decoder: readable("--encoder-decoder", args.encoder_decoder.as_deref())?,
        pieces: args.encoder.as_ref().map(PathBuf::from).filter(|folder| Tokenizer::from_dir(folder).is_ok()),
        quick: args.quick,
        keep_models: args.keep_models,
    })
}

/// Runs the cells that are not finished.
fn fill(args: &Args, store: &Store, tables: &Tables, cells: &[CellId], options: &Options) -> Result<Outcome> {
    for row in tables.rows.iter().filter(|row| !options.can_run(row)) {
        if cells.iter().any(|cell| cell.row == row.name) {
            let why = "it needs --encoder-decoder DIR, and has no quick cells";
            say(&format!("the row {} is left out: {why}", row.name));
        }
    }
    let jobs = jobs(tables, cells, options)?;
    if jobs.is_empty() {
        return Err(WrongCall("nothing is left to run; give --encoder-decoder DIR".to_owned()).into());
    }
    store.request(cells, &this_command(), args.quick).map_err(wrong)?;
    let n_at_once = args.jobs.map_or_else(default_jobs, NonZeroUsize::get);
    let runner = ThisProgram {
        executable: std::env::current_exe().context("cannot find the running program")?,
        threads: (about::cores() / n_at_once).max(1),
    };
    let stop = signals::stop_flag();
    let live = Live::new(tables, cells, &jobs, n_at_once);
    let watch = |event: spanwise_reproduce::Event<'_>| live.event(&event);
    let context =
        RunContext { store, runner: &runner, options, at_once: n_at_once, stop: &stop, watch: &watch };
    let outcome = spanwise_reproduce::run(&jobs, &context);
    live.finish();
    Ok(outcome)
}

/// Cells at once: one for each core. A training step runs as two shards and waits for the slower one, and reading data,
/// recombination and writing run on one core; with a second cell those moments are not lost. Two cells of `geo-iid` (compact, 3
/// epochs, two cores) took 12.6, 12.7 and 11.9 s one after the other and 10.0, 10.3 and 10.8 s at once,
/// on a machine that other work shared.
fn default_jobs() -> usize {
    let by_memory = about::memory().map_or(usize::MAX, |bytes| (bytes / CELL_BYTES) as usize);
    about::cores().min(by_memory).max(1)
}

/// Writes the report and prints the table.
fn finish(args: &Args, store: &Store, tables: Tables) -> Result<()> {
    let gathered = Results::read(store, tables).map_err(wrong)?;
    let report = Report::new(&gathered, &About::now());
    report.write(store)?;
    if let Some(folder) = &args.export {
        let files = results::export(&gathered, folder).map_err(wrong)?;
        files.iter().for_each(|file| say(&format!("exported  {}", file.display())));
    }
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", report.json)?;
        return Ok(());
    }
    if gathered.grid.quick {
        writeln!(out, "{}\n", report::QUICK)?;
    }
    writeln!(out, "{}", report::text(&gathered, args.table.into()))?;
    writeln!(out, "report: {}", store.out().join("report.html").display())?;
    Ok(())
}

fn this_command() -> String {
    let args = std::env::args().skip(1).map(|arg| about::quoted(&arg));
    std::iter::once("spanwise".to_owned()).chain(args).collect::<Vec<_>>().join(" ")
}

/// Errors of the call (exit code 2), as opposed to failures while it runs.
fn wrong(error: ReproduceError) -> anyhow::Error {
    match error {
        ReproduceError::File { .. } | ReproduceError::Result { .. } | ReproduceError::Tables(_) => {
            error.into()
        }
        _ => WrongCall(error.to_string()).into(),
    }
}
