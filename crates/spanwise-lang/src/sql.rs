//! `sql` in domain files: fragments of SQL with holes for the arguments of a constant.
//!
//! A [`Fragment`] is the text of one `select` with holes. This module reads fragments and knows what they yield; the
//! compiler of domains checks that they fit together, and the crate `spanwise-sql` composes them to statements. Nothing here
//! needs a database.

mod fragment;
mod scan;

pub use fragment::{Fragment, Hole, Piece, Yields};
pub use scan::{Flavor, Holes};
pub(crate) use scan::{read, read_query, starts_with_key};

use crate::domain::{ClassId, FrameId};
use crate::states::AccumulatorId;
use crate::types::{TypeId, Types};
use hashbrown::HashMap;
use spanwise_core::IndexVec;
use std::time::Duration;

/// A database as the executor of a domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SqlSettings {
    /// `sqlite:shop.db`, or `postgres://user@host:5432/name`; never with a password.
    pub database: String,
    /// Longest time that one program may take.
    pub timeout: Duration,
    /// Most rows of one answer.
    pub rows: usize,
    /// Most connections at a time.
    pub connections: usize,
    /// Name of the environment variable that holds the password.
    pub password_env: Option<String>,
}

impl SqlSettings {
    /// The longest `timeout`.
    pub const MAX_TIMEOUT: Duration = Duration::from_secs(86_400);
    /// The most `rows`.
    pub const MAX_ROWS: usize = 1_000_000;
    /// The most `connections`.
    pub const MAX_CONNECTIONS: usize = 64;
    /// What holds where the file says nothing.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
    /// The same for rows.
    pub const DEFAULT_ROWS: usize = 1_000;
    /// The same for connections.
    pub const DEFAULT_CONNECTIONS: usize = 4;

    /// The notation of SQL that the database reads, as far as quotes and parameters are concerned.
    #[must_use]
    pub fn flavor(&self) -> Flavor {
        if self.database.trim_start().starts_with("postgres") { Flavor::Postgres } else { Flavor::Sqlite }
    }
}

/// How the elements of a set are combined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combine {
    /// The keys that all elements have.
    Intersect,
    /// The keys that some element has.
    Union,
}

/// What kind of value a field of a literal or a column of an entity class has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    /// A whole number.
    Integer,
    /// A number.
    Decimal,
    /// A text.
    Text,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day and a time.
    DateTime,
}

/// The `sql` of a domain: which fragment belongs to what. Fragments are numbered.
#[derive(Clone, Debug, Default)]
pub struct DomainSql {
    pub(crate) fragments: Vec<Fragment>,
    pub(crate) frames: HashMap<FrameId, usize>,
    pub(crate) classes: HashMap<ClassId, usize>,
    pub(crate) sets: HashMap<AccumulatorId, Combine>,
    /// Types with how their rows are shown, in the order of the file.
    pub(crate) show: Vec<(TypeId, usize)>,
    pub(crate) units: Vec<(String, String)>,
    pub(crate) prefix: String,
    /// The kinds of the columns of each class, in the order of its form.
    pub(crate) fields: IndexVec<ClassId, Vec<(String, FieldKind)>>,
}

impl DomainSql {
    /// All fragments in the order of the file.
    #[must_use]
    pub fn fragments(&self) -> &[Fragment] {
        &self.fragments
    }

    /// The fragment of a frame.
    #[must_use]
    pub fn of_frame(&self, frame: FrameId) -> Option<&Fragment> {
        self.frames.get(&frame).map(|&at| &self.fragments[at])
    }

    /// The fragment of an entity class or a class of literals.
    #[must_use]
    pub fn of_class(&self, class: ClassId) -> Option<&Fragment> {
        self.classes.get(&class).map(|&at| &self.fragments[at])
    }

    /// How the elements of a set are combined.
    #[must_use]
    pub fn of_set(&self, set: AccumulatorId) -> Option<Combine> {
        self.sets.get(&set).copied()
    }

    /// How the rows of a type are shown: its own fragment, or that of the nearest type above it.
    #[must_use]
    pub fn show(&self, types: &Types, ty: TypeId) -> Option<&Fragment> {
        let above = types.above(ty);
        above.iter().find_map(|&ty| {
            let (_, at) = self.show.iter().find(|(known, _)| *known == ty)?;
            Some(&self.fragments[*at])
        })
    }

    /// The types that are shown, each with its fragment, in the order of the file.
    pub fn shown(&self) -> impl Iterator<Item = (TypeId, &Fragment)> {
        self.show.iter().map(|&(ty, at)| (ty, &self.fragments[at]))
    }

    /// The unit of numbers of a type, or of a column of its table.
    #[must_use]
    pub fn unit(&self, name: &str) -> Option<&str> {
        self.units.iter().find(|(known, _)| known == name).map(|(_, unit)| unit.as_str())
    }

    /// All units: names of types and of columns, each with its unit, in the order of the file.
    #[must_use]
    pub fn units(&self) -> &[(String, String)] {
        &self.units
    }

    /// What the names of common table expressions start with: no fragment has a name of this kind.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The kind of a column of a class; `None` where its form has no such column.
    #[must_use]
    pub fn field(&self, class: ClassId, column: &str) -> Option<FieldKind> {
        self.fields[class].iter().find(|(name, _)| name == column).map(|(_, kind)| *kind)
    }

    /// The columns of a class with their kinds, in the order of its form.
    #[must_use]
    pub fn fields(&self, class: ClassId) -> &[(String, FieldKind)] {
        &self.fields[class]
    }
}
