//! The syntax of domain files: reads TOML into declarations that keep their positions.
//!
//! This module checks keys and kinds of values. The compiler beside it checks what they mean. Problems are collected, so
//! that one run of `spanwise check` shows all of them.

mod literals;
mod reader;
mod says;
mod sql;
mod values;

use super::constant::Omission;
use crate::diag::Diagnostic;
use crate::language::Language;
use crate::sql::{SqlSettings, Yields};
use crate::surface::Style;
use crate::types::TypeDecl;
pub use says::{SayDecl, SayDecls};
use spanwise_literals::{Options, Recognizer};
use std::ops::Range;
use std::time::Duration;
use toml_edit::Document;

/// The newest version of the format that this build reads.
pub const FORMAT: i64 = 1;

/// A value and its position in the file. For text the range lies inside the quotes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its bytes in the file.
    pub range: Range<usize>,
}

/// A constant as declared.
#[derive(Clone, Debug)]
pub struct ConstantDecl {
    /// Its name.
    pub name: At<String>,
    /// Its signatures.
    pub types: Vec<At<String>>,
    /// How it is written, where that is not `name(arguments)`.
    pub form: Option<At<String>>,
    /// Whether it may be inserted where no word is aligned to it.
    pub implicit: ImplicitDecl,
    /// What it costs to leave out words that one of its phrases matches.
    pub omission: Omission,
    /// How it is evaluated in a database.
    pub sql: Option<SqlDecl>,
}

/// A fragment of SQL as declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FragmentDecl {
    /// What it yields.
    pub yields: Yields,
    /// Its text.
    pub text: At<String>,
}

/// The `sql` of a constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SqlDecl {
    /// One fragment for all signatures.
    All(FragmentDecl),
    /// One for each.
    Each(Vec<FragmentDecl>),
}

/// With how many arguments a constant may be inserted where no word is aligned to it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum ImplicitDecl {
    /// It is never inserted.
    #[default]
    No,
    /// With one, or with as many as it takes if it never takes exactly one.
    Yes,
    /// With one of these numbers.
    With(Vec<At<usize>>),
}

/// A class of entities as declared.
#[derive(Clone, Debug)]
pub struct EntityDecl {
    /// The name of the class.
    pub class: At<String>,
    /// The type of its members.
    pub ty: At<String>,
    /// How a member is written in programs; `{column}` is replaced by a cell of its row.
    pub form: At<String>,
    /// The tables its members come from, each `path` or `path new=old ..` with columns renamed.
    pub tables: Vec<At<String>>,
    /// Members listed in place.
    pub names: Vec<At<String>>,
    /// The phrases of a member; `{column}` is replaced by a cell of its row.
    pub phrases: Vec<At<String>>,
    /// More phrases for single members.
    pub aliases: Vec<(At<String>, Vec<At<String>>)>,
    /// Whether names outside the table are members too.
    pub open: bool,
    /// For an open class that reads any text as a member: how it reads.
    pub text: Option<Options>,
    /// For a class of literals, what finds their values in the words.
    pub recognizer: Option<Recognizer>,
    /// What it costs to leave out words that a name, phrase or value of a member matches.
    pub omission: Omission,
    /// What selects a member in a database; `{column}` is bound to a cell of its form.
    pub sql: Option<At<String>>,
}

/// A class of predicates as declared: a predicate for each row.
#[derive(Clone, Debug)]
pub struct PredicateDecl {
    /// Its name, tables, form and phrases, as for entities. The form has holes beside its columns.
    pub rows: EntityDecl,
    /// The signatures of each of its predicates.
    pub types: Vec<At<String>>,
}

/// An accumulator or a set as declared.
#[derive(Clone, Debug)]
pub struct AccumulatorDecl {
    /// The predicate that the gathered values become arguments of.
    pub head: At<String>,
    /// The types that gather.
    pub elements: Vec<At<String>>,
    /// The type they are applied to; `None` for a set.
    pub over: Option<At<String>>,
    /// The type of the result.
    pub result: At<String>,
    /// What they are applied to when there is no such argument.
    pub default: Option<At<String>>,
    /// For a set, the constants that make at most one of its elements.
    pub unique: Vec<At<String>>,
    /// For a set, how its elements are combined in a database: `intersect` or `union`.
    pub sql: Option<At<String>>,
}

/// How programs of the domain are evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExecutorChoice {
    /// Not at all: the program is the answer.
    None,
    /// By an executor inside the binary.
    Builtin(At<String>),
    /// By a process that reads and writes JSON lines.
    Command {
        /// Program and arguments.
        argv: Vec<String>,
        /// Longest wait for one answer.
        timeout: Duration,
        /// Most processes at a time.
        processes: usize,
    },
    /// By an HTTP service.
    Url {
        /// Where programs are posted to.
        url: String,
        /// Name of the environment variable that holds a bearer token.
        token_env: Option<String>,
        /// Longest wait for one answer.
        timeout: Duration,
    },
    /// By a database, which runs programs as SQL.
    Sql(SqlSettings),
}

/// Types and signatures, either the file's own or one of its alternatives.
#[derive(Clone, Debug)]
pub struct TypeSystemDecl {
    /// Its name.
    pub name: At<String>,
    /// The types.
    pub types: Vec<TypeDecl>,
    /// The types a complete program may have.
    pub root: Vec<At<String>>,
    /// The signatures of each constant; a constant that is not listed is not in this system.
    pub constants: Vec<(At<String>, Vec<At<String>>)>,
    /// The type of each entity class.
    pub entities: Vec<(At<String>, At<String>)>,
    /// Accumulators; `None` keeps the file's own.
    pub accumulators: Option<Vec<AccumulatorDecl>>,
    /// Sets; `None` keeps the file's own.
    pub sets: Option<Vec<AccumulatorDecl>>,
}

/// The whole file.
#[derive(Clone, Debug)]
pub struct DomainFile {
    /// The name of the domain.
    pub name: At<String>,
    /// One line about it.
    pub about: String,
    /// The types.
    pub types: Vec<TypeDecl>,
    /// The type of what can be missing in a term, if anything can.
    pub gap: Option<At<String>>,
    /// Null words: words that are never aligned to a constant.
    pub no_meaning: Vec<At<String>>,
    /// The natural language of the utterances, for recombination.
    pub language: Option<&'static Language>,
    /// The language whose stems phrases are compared by; `None` compares words as they are written.
    pub inflections: Option<&'static Language>,
    /// The types a complete program may have.
    pub root: Vec<At<String>>,
    /// The wrapper around every program.
    pub wrap: Option<At<String>>,
    /// How programs are spaced.
    pub style: Style,
    /// The constants in order.
    pub constants: Vec<ConstantDecl>,
    /// Phrases for constants.
    pub lexicon: Vec<(At<String>, Vec<At<String>>)>,
    /// Synonyms of phrases, from a thesaurus.
    pub synonyms: Vec<(At<String>, Vec<At<String>>)>,
    /// Constants that are allowed on their phrases only.
    pub only_phrases: Vec<At<String>>,
    /// Phrases that constants take whole in trees.
    pub phrases: Vec<(At<String>, Vec<At<String>>)>,
    /// The classes of predicates in order.
    pub predicates: Vec<PredicateDecl>,
    /// The entity classes in order.
    pub entities: Vec<EntityDecl>,
    /// Most implicit constants with one argument that are inserted one above the other.
    pub implicit_chain: usize,
    /// Pairs of constants that mean opposites.
    pub contrasts: Vec<[At<String>; 2]>,
    /// The accumulators in order.
    pub accumulators: Vec<AccumulatorDecl>,
    /// The sets in order.
    pub sets: Vec<AccumulatorDecl>,
    /// How programs are evaluated.
    pub executor: ExecutorChoice,
    /// The position of that choice in the file.
    pub executor_range: Range<usize>,
    /// How the rows of types are shown.
    pub show: Vec<(At<String>, At<String>)>,
    /// Units of numbers, by type or column.
    pub units: Vec<(At<String>, At<String>)>,
    /// Alternative types and signatures.
    pub type_systems: Vec<TypeSystemDecl>,
    /// How constants and programs are said.
    pub says: SayDecls,
}

/// A file of phrases for annotation.
#[derive(Clone, Debug)]
pub struct AnnotationFile {
    /// All the phrases of each constant that it lists.
    pub phrases: Vec<(At<String>, Vec<At<String>>)>,
    /// Names of preferences, the most important first; `None` when the key is absent.
    pub prefer: Option<Vec<At<String>>>,
}

/// Reads the file. Problems go to `problems`; `None` only when the text is not TOML at all.
pub fn read(source: &str, problems: &mut Vec<Diagnostic>) -> Option<DomainFile> {
    let document = parse(source, problems)?;
    Some(reader::domain(source, document.as_table(), problems))
}

/// Reads a file of phrases for annotation, as [`read`] reads a domain file.
pub fn read_annotation(source: &str, problems: &mut Vec<Diagnostic>) -> Option<AnnotationFile> {
    let document = parse(source, problems)?;
    Some(reader::annotation(source, document.as_table(), problems))
}

fn parse<'a>(source: &'a str, problems: &mut Vec<Diagnostic>) -> Option<Document<&'a str>> {
    Document::parse(source)
        .map_err(|error| {
            let range = error.span().unwrap_or(0..0);
            problems.push(Diagnostic::new(range, format!("not valid TOML: {}", error.message().trim())));
        })
        .ok()
}
