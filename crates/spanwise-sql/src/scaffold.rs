//! Domain files from the schema of a database.
//!
//! [`project`] turns a [`Schema`] into the files of a project. It plans in three steps: *nouns* are the things that
//! people can ask for (the rows of a table, and the values of a column with few of them), *links* lead from one to another,
//! and *rules* give the words, types and fragments for all that can be asked about them.

mod attributes;
mod choose;
mod derived;
mod english;
mod files;
mod labels;
mod language;
pub mod names;
mod nouns;
mod paths;
mod rules;
mod toml;

use crate::schema::{Column, ColumnKind, Schema};

/// What is wanted.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the domain.
    pub name: String,
    /// The URL of the database as it is to be written: without password.
    pub url: String,
    /// The environment variable that holds the password, if it is not the usual one.
    pub password_env: Option<String>,
    /// The tables that are wanted; all of them where the list is empty.
    pub tables: Vec<String>,
    /// The tables that are not wanted.
    pub exclude: Vec<String>,
    /// About how many signatures the domain may have: charts take more time with more of them.
    pub budget: usize,
}

/// Signatures of a domain unless more are wanted.
pub const BUDGET: usize = 1200;

/// A project.
#[derive(Clone, Debug)]
pub struct Project {
    /// Files to write: path and text.
    pub files: Vec<(String, String)>,
    /// The tables that can be asked for, by the word for several rows.
    pub nouns: Vec<(String, String)>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
    /// The last day that the database knows, which words such as *last month* refer to in generated questions.
    pub now: Option<String>,
    /// Number of signatures.
    pub signatures: usize,
}

/// Why there is no project.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// A table that was asked for is not there.
    #[error("there is no table `{name}`; the database has {known}")]
    UnknownTable {
        /// The name.
        name: String,
        /// Names that are there.
        known: String,
    },
    /// Nothing is left to ask about.
    #[error("the database has no table that can be asked about{}", reasons(.0))]
    Nothing(Vec<String>),
}

fn reasons(left_out: &[String]) -> String {
    let shown: Vec<&str> = left_out.iter().take(5).map(String::as_str).collect();
    if shown.is_empty() { String::new() } else { format!(": {}", shown.join("; ")) }
}

/// The project for a database.
///
/// # Errors
/// A table that was named is not there, or there is nothing to ask about.
pub fn project(schema: &Schema, options: &Options) -> Result<Project, ScaffoldError> {
    check_names(schema, options)?;
    let plan = nouns::plan(schema, options);
    if plan.nouns.is_empty() {
        return Err(ScaffoldError::Nothing(plan.left_out));
    }
    let language = rules::language(&plan);
    let signatures = language.signatures();
    let domain = toml::domain(&plan, &language, options);
    let nouns = plan.listed().map(|noun| (noun.title.clone(), noun.many.clone())).collect();
    let mut files = vec![("domain.toml".to_owned(), domain)];
    files.extend(files::others(&plan, options));
    Ok(Project { files, nouns, left_out: plan.left_out, now: last_day(schema), signatures })
}

/// The last day in any column with days; due days and other plans may be later than today.
fn last_day(schema: &Schema) -> Option<String> {
    let planned = |name: &str| {
        names::words(name).iter().any(|word| {
            ["due", "end", "until", "expiry", "expires", "expiration", "planned"].contains(&word.as_str())
        })
    };
    let columns = schema.tables.iter().flat_map(|table| &table.columns);
    let days = columns.filter(|column| {
        matches!(column.kind, ColumnKind::Date | ColumnKind::Timestamp) && !planned(&column.name)
    });
    let last = |column: &Column| column.figures.as_ref()?.largest.as_ref()?.get(..10).map(str::to_owned);
    days.filter_map(last).filter(|day| day.as_str() < "2100").max()
}

fn check_names(schema: &Schema, options: &Options) -> Result<(), ScaffoldError> {
    for name in options.tables.iter().chain(&options.exclude) {
        if !schema.tables.iter().any(|table| is_called(table, name)) {
            let mut known: Vec<String> =
                schema.tables.iter().take(20).map(crate::schema::Table::title).collect();
            if schema.tables.len() > known.len() {
                known.push(format!("{} more", schema.tables.len() - known.len()));
            }
            return Err(ScaffoldError::UnknownTable { name: name.clone(), known: known.join(", ") });
        }
    }
    Ok(())
}

/// Whether somebody who writes `name` means the table.
fn is_called(table: &crate::schema::Table, name: &str) -> bool {
    table.name.eq_ignore_ascii_case(name) || table.title().eq_ignore_ascii_case(name)
}
