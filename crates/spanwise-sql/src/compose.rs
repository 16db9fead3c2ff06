//! Programs to statements.
//!
//! A program becomes one statement: a common table expression for each different subterm, arguments first, and a `select` on
//! that of the whole program. Holes of fragments become selects on the expressions of their arguments, so no fragment is
//! ever copied into another, no alias clashes, and the text stays readable. Values of the program (entities, literals) are
//! parameters and never part of the text.

mod plan;
mod samples;
mod value;
mod writer;

use crate::database::{Dialect, Statement};
use plan::Plan;
pub use samples::{Sample, samples};
use spanwise_lang::domain::Domain;
use spanwise_lang::sql::Yields;
use spanwise_lang::{TermId, Terms};
use std::fmt::Write as _;
use std::ops::Range;
pub use value::placeholder;

/// Most levels of subterms.
pub const MAX_DEPTH: usize = 100;
/// Most selects, where every use of an expression counts. Databases plan each use by itself.
pub const MAX_SELECTS: u64 = 2_000;

/// Why a program has no statement.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ComposeError {
    /// It is not well-typed.
    #[error("{0}")]
    IllTyped(String),
    /// A part of it has no `sql`.
    #[error("`{0}` has no `sql`, so this program cannot run in a database")]
    NoSql(String),
    /// It is an entity or a literal and nothing else.
    #[error("`{0}` is only a name or a value, which has no answer")]
    Bare(String),
    /// A value that no database has.
    #[error("{0}")]
    Value(String),
    /// It is too large.
    #[error("the program is too large for a database: more than {limit} {what}")]
    Limit {
        /// What was counted.
        what: &'static str,
        /// The most that is allowed.
        limit: u64,
    },
}

/// A program as a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// The statement.
    pub statement: Statement,
    /// What its columns are.
    pub layout: Layout,
    /// Where the last `select` starts.
    body_at: usize,
    /// The statement from here on says in which order rows are.
    order_at: usize,
    dialect: Dialect,
    /// Parts of the text that were copied from the domain file: where they are in the text, and in the file.
    origins: Vec<(Range<usize>, usize)>,
}

/// What the columns of a statement are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// What the program yields.
    pub yields: Yields,
    /// Whether the first column is a key, which is not shown, and columns to show follow.
    pub is_shown: bool,
    /// Whether the column after these is the place in the order, which is not shown either.
    pub has_place: bool,
    /// The name of the type.
    pub type_name: String,
    /// The name of the constant at the top.
    pub name: String,
}

impl Query {
    /// The statement that counts the rows.
    #[must_use]
    pub fn count(&self) -> Statement {
        let (with, body) = self.statement.sql[..self.order_at].split_at(self.body_at);
        let sql = format!("{with}\nselect count(*) from ({body}\n) as counted");
        Statement { sql, parameters: self.statement.parameters.clone() }
    }

    /// The text with its parameters, human-readable.
    #[must_use]
    pub fn readable(&self) -> String {
        let mut text = self.statement.sql.clone();
        for (at, value) in self.statement.parameters.iter().enumerate() {
            let mark = match self.dialect {
                Dialect::Sqlite => '?',
                Dialect::Postgres => '$',
            };
            let _ = write!(text, "\n-- {mark}{} = {}", at + 1, value::shown(value));
        }
        text
    }

    /// The byte of the domain file that a byte of the statement comes from.
    #[must_use]
    pub fn origin(&self, at: usize) -> Option<usize> {
        let found = self.origins.iter().find(|(range, _)| range.contains(&at));
        found.map(|(range, start)| start + (at - range.start))
    }
}

/// The statement of a program.
///
/// # Errors
/// See [`ComposeError`]. A program that is well-typed in several ways is read in the first one.
pub fn compose(
    domain: &Domain,
    terms: &Terms,
    program: TermId,
    dialect: Dialect,
) -> Result<Query, ComposeError> {
    let plan = Plan::new(domain, terms, program)?;
    writer::Writer::new(domain, terms, &plan, dialect).query()
}
