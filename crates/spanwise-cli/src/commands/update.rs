//! `spanwise update`: other entity tables for a trained model.

use super::allow::AllowArgs;
use super::wrong_model;
use crate::output::{Status, WrongCall, say, shorten, write_text};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use spanwise_domains::exec::DatabaseTables;
use spanwise_domains::load::{query_of, read_table};
use spanwise_domains::table_change::TableChange;
use spanwise_lang::Table;
use spanwise_lang::domain::ExecutorChoice;
use spanwise_model::consent::{AllowedExecutors, ExternalExecutor};
use spanwise_model::{DirectoryLock, ExecutorPolicy, Model, ModelError};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// Give a trained model other entity tables without training it again.
///
/// All members of an entity class share what the model has learned about the class, so a new row is understood at once,
/// and a row that is gone is no longer an answer to anything. DIR has the new tables under the paths that the domain file
/// gives them (`table = "products.tsv"` is DIR/products.tsv); tables that DIR lacks stay as they are. The command reports
/// which names each table gains, loses and changes, and then replaces the model; a server that serves it loads it again
/// by itself. Tables that would change the language are refused and leave the model as it is: a class that would lose
/// its last member, a column that the domain file needs and the table lacks, a row that cannot be written as a program.
///
/// Tables that are queries of the model's database (`table = "sql: select .."`) are read from it again, which needs consent
/// (see `spanwise allow`). Without other tables, DIR is not needed.
///
/// If the model has an executor outside of this program, consent to run it covers the tables: whoever had allowed it
/// before the update still does after it, anyone else is told to run `spanwise allow`.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise update runs/shop\n  \
    spanwise update runs/shop --tables export/2024-06 --dry-run\n  \
    spanwise update runs/shop --tables export/2024-06\n  \
    spanwise update runs/shop --tables export/2024-06 --json")]
pub(crate) struct Args {
    /// The model directory
    model: PathBuf,
    /// The directory with the new tables
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    #[command(flatten)]
    allow: AllowArgs,
    /// Check the tables and report what would change, but write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object, with all names
    #[arg(long)]
    json: bool,
}

/// Most names of a list that are printed, and most characters of each.
const MAX_NAMES: usize = 5;
const MAX_NAME_CHARS: usize = 60;

pub(crate) fn run(args: &Args) -> Result<Status> {
    if let Some(directory) = args.tables.as_ref().filter(|directory| !directory.is_dir()) {
        return Err(WrongCall(format!("{} is not a directory", directory.display())).into());
    }
    // Held from here on: a training into the directory would be lost, or replace this update.
    let lock = args.model.is_dir().then(|| DirectoryLock::take(&args.model)).transpose();
    let lock = lock.map_err(super::calibrate::wrong_directory)?;
    let old = Model::load(&args.model).map_err(wrong_model)?;
    old.warnings().iter().for_each(|text| say(&format!("warning: {text}")));
    let sources = Sources { directory: args.tables.as_deref(), database: database(&old, args)? };
    let tables = read_all(&old, &sources)?;
    let replaced = tables.iter().filter(|one| one.fate == Fate::Replaced);
    let replaced: BTreeMap<String, Table> =
        replaced.filter_map(|one| Some((one.path.clone(), one.new.clone()?))).collect();
    let is_changed = !replaced.is_empty();
    let mut consent = Consent::None;
    if let (true, Some(lock)) = (is_changed, &lock) {
        let new = Model::load_with_tables(&args.model, replaced)?;
        consent = Consent::of(&old, &new)?;
        if !args.dry_run {
            consent.save(&new, lock)?;
        }
    }
    let report = Report { tables: &tables, consent: &consent, is_written: is_changed && !args.dry_run };
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", report.to_json(&args.model))?;
    } else {
        write_text(&mut out, &report.to_text(&args.model, args.dry_run))?;
    }
    Ok(Status::Success)
}

/// What becomes of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// There is a new one with other rows.
    Replaced,
    /// There is a new one with the same rows.
    Same,
    /// There is no new one.
    Missing,
    /// Its path leads out of the directory of tables, where nothing is read.
    Outside,
}

impl Fate {
    fn name(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Same => "same",
            Self::Missing => "kept",
            Self::Outside => "outside",
        }
    }
}

/// A table of the domain.
struct Entry {
    path: String,
    fate: Fate,
    n_rows: usize,
    new: Option<Table>,
    change: TableChange,
}

/// Where new tables come from.
struct Sources<'a> {
    directory: Option<&'a Path>,
    database: Option<DatabaseTables>,
}

/// The database of a model, if some of its tables are queries and it may be read.
fn database(model: &Model, args: &Args) -> Result<Option<DatabaseTables>> {
    let ExecutorChoice::Sql(settings) = model.domain.executor() else { return Ok(None) };
    if !model.domain.tables().iter().any(|(path, _)| query_of(path).is_some()) {
        return Ok(None);
    }
    let Some(executor) = model.external_executor()? else { return Ok(None) };
    let is_allowed = match args.allow.policy() {
        ExecutorPolicy::Allow => true,
        ExecutorPolicy::Off => false,
        ExecutorPolicy::Remembered => match AllowedExecutors::of_user() {
            Some(allowed) => allowed.contains(&executor)?,
            None => false,
        },
    };
    if !is_allowed {
        anyhow::bail!(
            "not allowed: this would {executor}; allow it with --allow-executor, or for good with `spanwise allow {}`",
            args.model.display()
        );
    }
    Ok(Some(DatabaseTables::new(settings.clone(), model.database_place())))
}

/// Every table of the domain, with what the directory or the database has for it.
fn read_all(model: &Model, sources: &Sources<'_>) -> Result<Vec<Entry>> {
    let known = model.domain.tables();
    if known.is_empty() {
        let name = model.domain.name();
        return Err(WrongCall(format!("the domain {name} has no tables that could be replaced")).into());
    }
    let entries: Vec<Entry> =
        known.iter().map(|(path, old)| entry(path, old, sources)).collect::<Result<_>>()?;
    if entries.iter().all(|one| one.new.is_none()) {
        let paths: Vec<&str> = known.iter().map(|(path, _)| path.as_str()).take(MAX_NAMES).collect();
        let paths = paths.join(", ");
        let Some(directory) = sources.directory else {
            return Err(
                WrongCall(format!("--tables DIR is needed for the tables of this model: {paths}")).into()
            );
        };
        let place = directory.display();
        return Err(WrongCall(format!("{place} has no table of this model; expected {paths}")).into());
    }
    Ok(entries)
}

fn entry(path: &str, old: &Table, sources: &Sources<'_>) -> Result<Entry> {
    let kept = |fate| Entry {
        path: path.to_owned(),
        fate,
        n_rows: old.rows.len(),
        new: None,
        change: TableChange::default(),
    };
    if let (Some(query), Some(database)) = (query_of(path), &sources.database) {
        let new = database.read(query).map_err(|reason| anyhow::anyhow!("{reason}"))?;
        return Ok(replaced(path, old, new));
    }
    let Some(directory) = sources.directory else { return Ok(kept(Fate::Missing)) };
    // A model may be from a stranger, and must not choose what is read.
    let is_inside = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(path).components().all(is_inside) {
        return Ok(kept(Fate::Outside));
    }
    if !directory.join(path).exists() {
        return Ok(kept(Fate::Missing));
    }
    let new = read_table(directory, path)
        .map_err(|reason| anyhow::anyhow!("{reason}"))
        .with_context(|| format!("in {}", directory.display()))?;
    Ok(replaced(path, old, new))
}

/// A table for which there is a new one.
fn replaced(path: &str, old: &Table, new: Table) -> Entry {
    let change = TableChange::new(old, &new);
    // Columns decide what a row means, even where the names stay.
    let is_same = change.is_empty() && same_columns(old, &new);
    let fate = if is_same { Fate::Same } else { Fate::Replaced };
    Entry { path: path.to_owned(), fate, n_rows: new.rows.len(), new: Some(new), change }
}

fn same_columns(old: &Table, new: &Table) -> bool {
    let sorted = |table: &Table| {
        let mut columns = table.columns.clone();
        columns.sort_unstable();
        columns
    };
    sorted(old) == sorted(new)
}

/// What the update means for the consent to run the executor of the model.
enum Consent {
    /// The model runs nothing outside of this program.
    None,
    /// The user had allowed it, and so allows it with the new tables.
    Kept(AllowedExecutors, ExternalExecutor),
    /// The user must allow it.
    Needed,
}

impl Consent {
    fn of(old: &Model, new: &Model) -> Result<Self> {
        let (Some(before), Some(after)) = (old.external_executor()?, new.external_executor()?) else {
            return Ok(Self::None);
        };
        let Some(allowed) = AllowedExecutors::of_user() else { return Ok(Self::Needed) };
        Ok(if allowed.contains(&before)? { Self::Kept(allowed, after) } else { Self::Needed })
    }

    /// Writes the model. The consent is noted before, so that a server that loads the model at once finds it.
    fn save(&self, model: &Model, lock: &DirectoryLock) -> Result<(), ModelError> {
        let Self::Kept(allowed, executor) = self else { return model.save_locked(lock) };
        allowed.add(executor)?;
        model.save_locked(lock).inspect_err(|_| {
            // There is no such model; that the consent to it stays would do no harm.
            let _ = allowed.remove(executor);
        })
    }

    fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Kept(..) => "kept",
            Self::Needed => "needed",
        }
    }
}

struct Report<'a> {
    tables: &'a [Entry],
    consent: &'a Consent,
    is_written: bool,
}

impl Report<'_> {
    fn to_json(&self, model: &Path) -> Value {
        let table = |one: &Entry| {
            json!({
                "table": one.path,
                "status": one.fate.name(),
                "rows": one.n_rows,
                "added": one.change.added,
                "dropped": one.change.dropped,
                "changed": one.change.changed,
            })
        };
        json!({
            "model": model.display().to_string(),
            "written": self.is_written,
            "tables": self.tables.iter().map(table).collect::<Vec<_>>(),
            "consent": self.consent.name(),
        })
    }

    fn to_text(&self, model: &Path, is_dry_run: bool) -> String {
        let mut text: String = self.tables.iter().map(table_text).collect();
        let place = model.display();
        let is_changed = self.tables.iter().any(|one| one.fate == Fate::Replaced);
        text += &match (is_changed, is_dry_run) {
            (false, _) => format!("nothing changes; {place} stays as it is\n"),
            (true, true) => format!("nothing was written (--dry-run); {place} can have these tables\n"),
            (true, false) => format!("model: {place}\n"),
        };
        text += match self.consent {
            Consent::None => "",
            Consent::Kept(..) => "you had allowed its executor to run, which goes on with the new tables\n",
            Consent::Needed => {
                "its executor is not allowed to run with the new tables; `spanwise allow MODEL` allows it\n"
            }
        };
        text
    }
}

fn table_text(one: &Entry) -> String {
    let Entry { path, fate, n_rows, change, .. } = one;
    let rows = format!("{n_rows} {}", if *n_rows == 1 { "row" } else { "rows" });
    match fate {
        Fate::Missing => format!("{path}: not in the directory; its {rows} stay\n"),
        Fate::Outside => format!("{path}: leads out of the directory, and is not read; its {rows} stay\n"),
        Fate::Same => format!("{path}: the same {rows}\n"),
        Fate::Replaced => {
            let mut text = format!("{path}: {rows}\n");
            for (what, names) in
                [("added", &change.added), ("dropped", &change.dropped), ("changed", &change.changed)]
            {
                if !names.is_empty() {
                    text += &format!("  {what:<7}  {:>5}  {}\n", names.len(), some(names));
                }
            }
            text
        }
    }
}

/// The first names of a list.
fn some(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_NAMES).map(|name| shorten(name, MAX_NAME_CHARS)).collect();
    let more = if names.len() > MAX_NAMES { ", ..." } else { "" };
    shown.join(", ") + more
}
