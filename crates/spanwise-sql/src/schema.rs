//! Tables, columns and keys of a database, with what its values look like.
//!
//! [`read`] asks a database for its catalog, which both dialects answer in the same form, and then for a few figures of
//! each column: how many values there are, how many different ones, the smallest and the largest, the most frequent.

mod catalog;
mod figures;
mod guess;
mod postgres;
mod sqlite;

use crate::database::{Database, DatabaseError, Dialect};
pub(crate) use figures::literal;
pub use figures::quoted;

/// What a database holds.
#[derive(Clone, PartialEq, Debug)]
pub struct Schema {
    /// The dialect of its statements.
    pub dialect: Dialect,
    /// Tables and views. Those of the search path come first.
    pub tables: Vec<Table>,
    /// What could not be read, and why.
    pub notes: Vec<String>,
}

/// A table or a view.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Its schema, where its name alone would not find it.
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
    /// Whether it is a view.
    pub is_view: bool,
    /// Its columns, in order.
    pub columns: Vec<Column>,
    /// The columns of its primary key. A view has none.
    pub primary_key: Vec<usize>,
    /// Sets of columns whose values are declared to be different in all rows, without the primary key.
    pub unique: Vec<Vec<usize>>,
    /// References to other tables.
    pub foreign_keys: Vec<ForeignKey>,
    /// Whether rows without a primary key can be told apart by `rowid` (SQLite) or `ctid` (PostgreSQL).
    pub has_row_ids: bool,
    /// Number of rows, counted to at most [`MOST_ROWS`].
    pub rows: u64,
}

/// A column.
#[derive(Clone, PartialEq, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type as it was declared.
    pub declared: String,
    /// What it holds: the declared type, and in SQLite what is really there.
    pub kind: ColumnKind,
    /// Whether a value may be missing.
    pub is_nullable: bool,
    /// Figures of its values. Types that cannot be compared have none.
    pub figures: Option<Figures>,
}

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ColumnKind {
    /// Whole numbers.
    Integer,
    /// Numbers with decimals.
    Decimal,
    /// True or false; in SQLite 1 or 0.
    Boolean,
    /// Text, and values of enumerated types.
    Text,
    /// Days; in SQLite texts such as `2024-02-29`.
    Date,
    /// Days with a time; in SQLite texts such as `2024-02-29 18:30:00`.
    Timestamp,
    /// Days with a time as seconds since 1970.
    Epoch,
    /// Identifiers of type `uuid`.
    Uuid,
    /// What nobody asks about in words: bytes, JSON, arrays, ranges.
    Other,
}

/// What the values of a column look like, of at most [`MOST_ROWS`] rows.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Figures {
    /// Rows with a value.
    pub values: u64,
    /// Rows without one.
    pub missing: u64,
    /// Different values.
    pub distinct: u64,
    /// The smallest value, as text.
    pub smallest: Option<String>,
    /// The largest value, as text.
    pub largest: Option<String>,
    /// Characters of the longest value, for text.
    pub longest: u64,
    /// The most frequent values, for text with at most [`MOST_COMMON`] different ones, and a few otherwise.
    pub common: Vec<String>,
}

/// A reference of one table to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignKey {
    /// Its columns.
    pub columns: Vec<usize>,
    /// The number of the other table in [`Schema::tables`].
    pub table: usize,
    /// The columns there.
    pub referenced: Vec<usize>,
    /// Whether nothing declares it: names and values suggest it.
    pub is_guessed: bool,
}

/// Rows of a table that are looked at.
pub const MOST_ROWS: u64 = 100_000;

/// Values of a column that are listed.
pub const MOST_COMMON: u64 = 40;

/// How far reading is: called before each table with its number, the number of tables, and its name.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize, &str);

/// Reads the schema of a database.
///
/// # Errors
/// The catalog cannot be read. A table whose values cannot be read is left as it is, with a note.
pub fn read(database: &dyn Database, progress: Progress<'_>) -> Result<Schema, DatabaseError> {
    let asker = catalog::Reader::new(database);
    let mut schema = match database.dialect() {
        Dialect::Sqlite => sqlite::read(&asker)?,
        Dialect::Postgres => postgres::read(&asker)?,
    };
    figures::read(&asker, &mut schema, progress);
    guess::foreign_keys(&asker, &mut schema);
    Ok(schema)
}

impl Table {
    /// Its name, with the schema where that is needed.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{schema}.{}", self.name),
            None => self.name.clone(),
        }
    }

    /// Its name as SQL.
    #[must_use]
    pub fn sql(&self) -> String {
        match &self.schema {
            Some(schema) => format!("{}.{}", quoted(schema), quoted(&self.name)),
            None => quoted(&self.name),
        }
    }

    /// Whether the values of these columns are different in all rows, as far as is declared or was counted.
    #[must_use]
    pub fn is_unique(&self, columns: &[usize]) -> bool {
        let covers = |key: &Vec<usize>| !key.is_empty() && key.iter().all(|column| columns.contains(column));
        let counted = |column: &usize| {
            let figures = self.columns[*column].figures.as_ref();
            figures.is_some_and(|figures| {
                figures.missing == 0
                    && figures.values > 0
                    && figures.distinct == figures.values
                    && self.rows < MOST_ROWS
            })
        };
        covers(&self.primary_key) || self.unique.iter().any(covers) || columns.iter().any(counted)
    }
}
