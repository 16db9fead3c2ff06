//! `spanwise new NAME --from-db URL`: a project from the schema of a database.

use super::{name, refuse_unless_free};
use crate::commands::data::generate::examples;
use crate::output::{Status, WrongCall, progress_spinner, say};
use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::json;
use spanwise_core::Moment;
use spanwise_domains::data::{Example, write_atomic, write_examples};
use spanwise_domains::exec;
use spanwise_domains::generate::Settings;
use spanwise_domains::load::Spec;
use spanwise_sql::database::{DatabaseConfig, Location, open};
use spanwise_sql::scaffold::{BUDGET, Options, Project, project};
use spanwise_sql::schema;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Of so many generated examples, one is for dev.
const DEV_EVERY: usize = 15;

/// The longest time for generating.
const TIME: Duration = Duration::from_secs(600);

/// Options of a project from a database.
#[derive(clap::Args)]
pub(super) struct FromDb {
    /// Begin with the tables of a database: sqlite:shop.db or postgres://user@host:5432/name. Nothing is written into it
    #[arg(long, value_name = "URL", conflicts_with = "from")]
    pub(super) from_db: Option<String>,
    /// Only these tables and views
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', requires = "from_db")]
    tables: Vec<String>,
    /// All tables but these
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', requires = "from_db")]
    exclude: Vec<String>,
    /// The environment variable with the password of the database; without it, PGPASSWORD or ~/.pgpass
    #[arg(long, value_name = "NAME", requires = "from_db")]
    password_env: Option<String>,
    /// How many questions to generate; 0 for none
    #[arg(long, value_name = "N", default_value_t = 6000, requires = "from_db")]
    examples: u32,
    /// Print what was made as one JSON object
    #[arg(long, requires = "from_db")]
    json: bool,
}

/// A directory that is removed unless it is kept.
struct Draft {
    path: PathBuf,
    is_kept: bool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_kept {
            // What cannot be removed is not worth another error.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

pub(super) fn run(directory: &Path, args: &FromDb, url: &str) -> Result<Status> {
    let name = name(directory).map_err(WrongCall)?;
    refuse_unless_free(directory)?;
    let project = read(name, directory, args, url)?;
    let draft = draft(directory)?;
    for (path, text) in &project.files {
        write_atomic(&draft.path.join(path), |out| out.write_all(text.as_bytes()))?;
    }
    let now = project.now.as_deref().and_then(|day| day.parse().ok());
    let counts = checked(&draft.path, args.examples as usize, now)?;
    keep(draft, directory)?;
    report(directory, args, &project, counts)
}

/// Reads the database and makes the texts.
fn read(name: &str, directory: &Path, args: &FromDb, url: &str) -> Result<Project> {
    let config = DatabaseConfig { password_env: args.password_env.clone(), ..DatabaseConfig::new(url) };
    let spinner = progress_spinner("{spinner} {msg}");
    spinner.set_message("opening the database");
    let database = open(&config)?;
    let schema = schema::read(&*database, &mut |place, count, table| {
        spinner.set_message(format!("reading {table} ({} of {count})", place + 1));
    })?;
    spinner.finish_and_clear();
    let options = Options {
        name: name.to_owned(),
        url: written(&config, directory)?,
        password_env: args.password_env.clone(),
        tables: args.tables.clone(),
        exclude: args.exclude.clone(),
        budget: BUDGET,
    };
    Ok(project(&schema, &options)?)
}

/// The URL as it is written: a path as seen from the directory of the domain file.
fn written(config: &DatabaseConfig, directory: &Path) -> Result<String> {
    match config.location()? {
        Location::Postgres(_) => Ok(config.url.trim().to_owned()),
        Location::Sqlite(path) => {
            let whole = |path: &Path| {
                std::path::absolute(path).with_context(|| format!("no path {}", path.display()))
            };
            let path = if path.is_absolute() && config.url.contains(":/") {
                path
            } else {
                seen_from(&whole(&path)?, &whole(directory)?)
            };
            let text = path.to_str().ok_or_else(|| anyhow!("the path {} is not UTF-8", path.display()))?;
            Ok(format!("sqlite:{text}"))
        }
    }
}

/// A path relative to a directory, both whole.
fn seen_from(path: &Path, directory: &Path) -> PathBuf {
    let parts = |path: &Path| -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        for part in path.components() {
            match part {
                Component::ParentDir => {
                    parts.pop();
                }
                Component::CurDir => {}
                part => parts.push(part.as_os_str().to_string_lossy().into_owned()),
            }
        }
        parts
    };
    let (path, directory) = (parts(path), parts(directory));
    let shared = path.iter().zip(&directory).take_while(|(one, other)| one == other).count();
    let up = (shared..directory.len()).map(|_| "..");
    up.chain(path[shared..].iter().map(String::as_str)).collect()
}

/// An empty directory beside the one that is wanted.
fn draft(directory: &Path) -> Result<Draft> {
    let whole = std::path::absolute(directory)?;
    let parent = whole.parent().unwrap_or(Path::new("/"));
    crate::commands::make_directory(parent)?;
    let last = whole.file_name().unwrap_or_default().to_string_lossy();
    let path = parent.join(format!(".{last}.new-{}", std::process::id()));
    fs::create_dir(&path).with_context(|| format!("cannot make the directory {}", path.display()))?;
    Ok(Draft { path, is_kept: false })
}

/// Loads the domain file, lets the database check its SQL, and generates examples. The numbers for training and dev.
fn checked(draft: &Path, count: usize, now: Option<Moment>) -> Result<(usize, usize)> {
    let file = draft.join("domain.toml");
    let spec_text = file.to_string_lossy().into_owned();
    let domain =
        Spec::parse(&spec_text).load().context("the domain file that was made is wrong; please report it")?;
    let checked = exec::sql::check_fragments(&domain, Some(draft));
    let (problems, _) = checked.map_err(|reason| anyhow!(reason))?;
    if let Some(problem) = problems.first() {
        let line = domain.source()[..problem.range.start].lines().count();
        bail!(
            "the database does not accept line {line} of the domain file that was made: {}",
            problem.message
        );
    }
    if count == 0 {
        return Ok((0, 0));
    }
    let executor = exec::open(&domain, Some(draft))?;
    let settings = Settings { n: count, seed: 1, depth: 6, now, is_varied: true };
    let (made, report) = examples(&domain, executor.as_deref(), &settings, TIME);
    if made.is_empty() {
        let failure = report.first_failure.map_or(String::new(), |first| format!(": {first}"));
        bail!("no question could be generated{failure}");
    }
    let split = |is_dev: bool| -> Vec<Example> {
        let chosen =
            made.iter().enumerate().filter(|(place, _)| (place % DEV_EVERY == DEV_EVERY - 1) == is_dev);
        chosen.map(|(_, example)| example.clone()).collect()
    };
    let (train, dev) = (split(false), split(true));
    write_atomic(&draft.join("train.jsonl"), |out| write_examples(out, &train))?;
    write_atomic(&draft.join("dev.jsonl"), |out| write_examples(out, &dev))?;
    Ok((train.len(), dev.len()))
}

/// Gives the draft its name.
fn keep(mut draft: Draft, directory: &Path) -> Result<()> {
    if directory.exists() {
        // Known to be empty; a directory that has got something since then is not removed.
        fs::remove_dir(directory).with_context(|| format!("{} holds something now", directory.display()))?;
    }
    fs::rename(&draft.path, directory)
        .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    draft.is_kept = true;
    Ok(())
}

fn report(
    directory: &Path,
    args: &FromDb,
    project: &Project,
    (train, dev): (usize, usize),
) -> Result<Status> {
    let place = directory.display();
    for reason in &project.left_out {
        say(&format!("left out: {reason}"));
    }
    let mut out = io::stdout().lock();
    if args.json {
        let nouns: Vec<_> =
            project.nouns.iter().map(|(table, noun)| json!({"table": table, "noun": noun})).collect();
        let value = json!({
            "directory": directory,
            "tables": nouns,
            "signatures": project.signatures,
            "left_out": project.left_out,
            "train": train,
            "dev": dev,
        });
        writeln!(out, "{value}")?;
        return Ok(Status::Success);
    }
    writeln!(out, "{place}: questions about a database")?;
    for (table, noun) in &project.nouns {
        writeln!(out, "  {table}: {noun}")?;
    }
    writeln!(
        out,
        "  {} signatures in domain.toml, {train} generated questions in train.jsonl, {dev} in dev.jsonl",
        project.signatures
    )?;
    writeln!(out, "next: cd {place} && spanwise train train.toml --out model")?;
    Ok(Status::Success)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_seen_from_the_directory_of_the_domain_file() {
        for (path, directory, expected) in [
            ("/a/shop.db", "/a/shop", "../shop.db"),
            ("/a/b/shop.db", "/a/c/d", "../../b/shop.db"),
            ("/a/c/d/shop.db", "/a/c/d", "shop.db"),
            ("/x/../a/shop.db", "/a/./shop", "../shop.db"),
        ] {
            assert_eq!(
                seen_from(Path::new(path), Path::new(directory)),
                Path::new(expected),
                "{path} from {directory}"
            );
        }
    }
}
