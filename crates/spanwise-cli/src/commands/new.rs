//! `spanwise new`: writes a small working project: a domain file with comments, examples, a configuration, a page of next
//! steps.
//!
//! The texts are embedded in the binary; nothing is downloaded.

mod from_db;

use super::make_directory;
use crate::output::{Status, WrongCall};
use anyhow::Result;
use spanwise_domains::data::write_atomic;
use spanwise_lang::domain::Table;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Begin a language of your own: a directory with a domain file, examples and a configuration.
///
/// The last part of DIR is the name of the domain. The project works as it is: `check`, `train` and `parse` run at once, and
/// comments explain how to change every part. A directory that is not empty is refused.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise new my-domain\n  spanwise new projects/maps --from geo\n  \
    spanwise new shop --from-db sqlite:shop.db\n  \
    PGPASSWORD=... spanwise new shop --from-db postgres://ann@db.example.org:5432/shop --tables customer,orders,product\n\n\
    From a database, `new` reads tables, columns, keys and a few values, and writes a domain file with the SQL for all that can be \
    asked, and generated questions to train on. It says what it leaves out, and it never writes into the database.")]
pub(crate) struct Args {
    /// The directory to make; its last part is the name of the domain
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The domain to begin with: lamps and fans (home), or a copy of a built-in domain
    #[arg(long, value_enum, default_value_t = Origin::Home)]
    from: Origin,
    #[command(flatten)]
    database: from_db::FromDb,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Origin {
    Home,
    Geo,
    Scan,
    Clevr,
}

/// Longest name.
const MAX_NAME: usize = 64;

/// A file to write: its path in the directory, and its text.
type File = (String, String);

pub(crate) fn run(args: &Args) -> Result<Status> {
    if let Some(url) = &args.database.from_db {
        return from_db::run(&args.directory, &args.database, url);
    }
    let name = name(&args.directory).map_err(WrongCall)?;
    let place = args.directory.display();
    refuse_unless_free(&args.directory)?;
    let files = match args.from {
        Origin::Home => home(),
        Origin::Geo => {
            builtin("geo", include_str!("new/geo/examples.jsonl"), "what is the largest city in ohio?")?
        }
        Origin::Scan => builtin("scan", include_str!("new/scan/examples.jsonl"), "run left twice and look")?,
        Origin::Clevr => {
            builtin("clevr", include_str!("new/clevr/examples.jsonl"), "how many red balls are there?")?
        }
    };
    let mut out = io::stdout().lock();
    writeln!(out, "{place}: a domain to make your own")?;
    for (path, text) in files {
        let file = args.directory.join(&path);
        make_directory(file.parent().unwrap_or(&args.directory))?;
        let text = text.replace("{{name}}", name);
        write_atomic(&file, |out| out.write_all(text.as_bytes()))?;
        writeln!(out, "  {path}")?;
    }
    writeln!(out, "next: cd {place} && spanwise check domain.toml examples.jsonl")?;
    Ok(Status::Success)
}

/// Refuses a directory that holds something.
pub(super) fn refuse_unless_free(directory: &Path) -> Result<()> {
    let is_free = match fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_free {
        return Ok(());
    }
    let place = directory.display();
    let text =
        format!("{place} is there already and holds something; choose another name, or empty it first");
    Err(WrongCall(text).into())
}

/// The name of a domain, from its directory.
pub(super) fn name(directory: &Path) -> Result<&str, String> {
    let shown = directory.display();
    let expected = format!(
        "expected a name of lower-case letters, digits, `-` and `_` that starts with a letter, at most {MAX_NAME} long"
    );
    let name = directory.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| format!("`{shown}` does not end in a name; {expected}"))?;
    let is_plain = |ch: char| ch.is_ascii_lowercase() || ch.is_ascii_digit() || ch == '-' || ch == '_';
    let starts_well = name.starts_with(|ch: char| ch.is_ascii_lowercase());
    if !starts_well || !name.chars().all(is_plain) || name.len() > MAX_NAME {
        return Err(format!("`{name}` cannot name a domain; {expected}"));
    }
    Ok(name)
}

const TRAIN: &str = include_str!("new/home/train.toml");

/// The language of lamps and fans.
fn home() -> Vec<File> {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    vec![
        file("README.md", include_str!("new/home/README.md")),
        file("domain.toml", include_str!("new/home/domain.toml")),
        file("places.tsv", include_str!("new/home/places.tsv")),
        file("examples.jsonl", include_str!("new/home/examples.jsonl")),
        file("train.toml", TRAIN),
        file("executor.py", include_str!("new/home/executor.py")),
    ]
}

/// A built-in domain, written out with its tables.
fn builtin(from: &str, examples: &str, question: &str) -> Result<Vec<File>> {
    let domain = super::domain(from)?;
    let source = domain.source().replacen(&format!("name = \"{from}\""), "name = \"{{name}}\"", 1);
    let readme = include_str!("new/builtin-README.md");
    let mut readme = readme.replace("{{from}}", from).replace("{{question}}", question);
    if from == "geo" {
        readme +=
            "\nThe tables in `facts` come from the GeoQuery release and are under the GNU GPL, version 2.\n";
    }
    let mut files = vec![
        ("README.md".to_owned(), readme),
        ("domain.toml".to_owned(), source),
        ("examples.jsonl".to_owned(), examples.to_owned()),
        ("train.toml".to_owned(), TRAIN.to_owned()),
    ];
    files.extend(domain.tables().iter().map(|(path, table)| (path.clone(), tsv(table))));
    Ok(files)
}

/// A table as the text it is read from.
fn tsv(table: &Table) -> String {
    let line = |cells: &[String]| cells.join("\t") + "\n";
    let rows = table.rows.iter().map(|(_, cells)| line(cells));
    std::iter::once(line(&table.columns)).chain(rows).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_starts_with_a_letter() {
        for (path, expected) in
            [("home", Some("home")), ("a/b/my-domain_2", Some("my-domain_2")), ("x/", Some("x"))]
        {
            assert_eq!(name(Path::new(path)).ok(), expected);
        }
        for path in ["", "..", "/", "2x", "My", "a b", "a\"b", "über", "-x", &"x".repeat(65)] {
            assert!(name(Path::new(path)).is_err(), "{path}");
        }
    }
}
