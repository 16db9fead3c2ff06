//! Domains: typed constants, their notation in programs, their phrases, and how their meanings compose.
//!
//! [`Domain::load`] compiles a domain file (`docs/domain-format.md` is its reference) in passes: TOML to
//! declarations ([`mod@file`]), declarations to types, frames and entities (`compile`), frames to numbered meaning
//! states ([`crate::states`]). After loading, everything is referred to by id.
//!
//! A domain owns a base [`Terms`] store that holds its forms and entities. Programs are built in stores that
//! start as a clone of it and share its terms ([`Domain::new_terms`]), so that ids of the base are valid there too.

mod compile;
mod constant;
pub mod file;
#[cfg(test)]
mod tests;

use crate::diag::Diagnostic;
use crate::form::Form;
use crate::language::Language;
use crate::lexicon::Lexicon;
use crate::say::Say;
use crate::sql::DomainSql;
use crate::states::{AccumulatorId, AccumulatorTypes, State, StateId, States};
use crate::surface::Style;
use crate::term::{Shape, Symbol, TermId, Terms};
use crate::types::{TypeId, Types};
pub use compile::QUERY;
pub use constant::{
    Accumulator, Class, ClassId, Constant, ConstantId, Frame, FrameId, Kind, Omission, PredicateClassId,
};
pub use file::ExecutorChoice;
use hashbrown::{HashMap, HashSet};
use spanwise_core::{Idx, IndexVec, Span, Utterance};
use std::fmt;
use std::ops::Range;

/// Rows of an entity table, with the columns named.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// The rows, each with its line in the file and one cell per column.
    pub rows: Vec<(usize, Vec<String>)>,
}

impl Table {
    /// Most columns of a table, and of the tables of one entity class together.
    pub const MAX_COLUMNS: usize = 1_000;
    /// Most rows of a table, and of all entity classes of a domain.
    pub const MAX_ROWS: usize = 1_000_000;
    /// Most cells of a table, and of all entity classes of a domain.
    pub const MAX_CELLS: usize = 4_000_000;
}

/// Provides the tables that a domain file names. This crate itself reads no files.
pub trait TableSource {
    /// The table at `path`, relative to the domain file.
    ///
    /// # Errors
    /// Why the table cannot be read, with its file and line.
    fn read(&self, path: &str) -> Result<Table, String>;
}

/// A source without tables.
#[derive(Clone, Copy, Debug)]
pub struct NoTables;

impl TableSource for NoTables {
    fn read(&self, path: &str) -> Result<Table, String> {
        Err(format!("there is no table `{path}` here"))
    }
}

/// A compiled domain.
///
/// ```
/// use spanwise_lang::Domain;
/// use spanwise_lang::domain::NoTables;
///
/// let source = r#"
///     name = "home"
///     types = ["Light", "Action"]
///     root = { types = ["Action"] }
///     constants = { on = "Light -> Action", lamp = "Light" }
/// "#;
/// let domain = Domain::load(source, "home.toml", None, &NoTables)?;
/// let mut terms = domain.new_terms();
/// let program = terms.parse("on(lamp)").unwrap();
/// assert!(domain.analyze(&terms, program).is_ok());
/// // A light is well-typed, but it is not a complete program.
/// let light = terms.parse("lamp").unwrap();
/// assert_eq!(domain.analyze(&terms, light).unwrap_err().kind(), "not a root type");
/// # Ok::<(), spanwise_lang::DomainErrors>(())
/// ```
#[derive(Clone, Debug)]
pub struct Domain {
    name: String,
    about: String,
    language: Option<&'static Language>,
    type_system: Option<String>,
    type_systems: Vec<String>,
    source: String,
    tables: Vec<(String, Table)>,
    types: Types,
    base: Terms,
    constants: IndexVec<ConstantId, Constant>,
    frames: IndexVec<FrameId, Frame>,
    frame_owner: IndexVec<FrameId, ConstantId>,
    classes: IndexVec<ClassId, Class>,
    accumulators: IndexVec<AccumulatorId, Accumulator>,
    accumulator_types: IndexVec<AccumulatorId, AccumulatorTypes>,
    root_types: Vec<TypeId>,
    wrap: Option<Form>,
    style: Style,
    no_meaning: HashSet<String>,
    lexicon: Lexicon,
    phrases: Lexicon,
    say: Say,
    contrasts: Vec<[ConstantId; 2]>,
    implicit_chain: usize,
    states: States,
    executor: ExecutorChoice,
    executor_range: Range<usize>,
    /// Frames by the top of their form.
    by_top: HashMap<(Shape, Symbol), Vec<FrameId>>,
    entity_of: HashMap<TermId, ConstantId>,
    predicate_of: HashMap<String, ConstantId>,
    predicate_classes: Vec<String>,
    /// For each type, whether its terms can lack something; empty if none can.
    lacking: Vec<bool>,
    sql: Option<DomainSql>,
}

/// All problems of a domain file.
#[derive(Clone, Debug)]
pub struct DomainErrors {
    /// The name of the file in messages.
    pub file: String,
    /// Its text.
    pub source: String,
    /// The problems, in the order of the file.
    pub problems: Vec<Diagnostic>,
}

/// The names of the type systems in a domain file, even if it has other problems; `None` when it is not TOML.
#[must_use]
pub fn type_system_names(source: &str) -> Option<Vec<String>> {
    let file = file::read(source, &mut Vec::new())?;
    Some(file.type_systems.into_iter().map(|system| system.name.value).collect())
}

/// How many problems a rendered list shows; the rest are only counted.
const MAX_SHOWN: usize = 20;

impl fmt::Display for DomainErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, problem) in self.problems.iter().take(MAX_SHOWN).enumerate() {
            let gap = if n == 0 { "" } else { "\n\n" };
            write!(f, "{gap}{}", problem.render(&self.file, &self.source))?;
        }
        match self.problems.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n\n... and {more} more"),
        }
    }
}

impl std::error::Error for DomainErrors {}

impl Domain {
    /// Compiles a domain file.
    ///
    /// `file` is its name in messages. `type_system` names one of its alternative type systems; `None` takes the
    /// file's own types. Entity tables are read from `tables`.
    ///
    /// # Errors
    /// All problems of the file, with lines and columns.
    pub fn load(
        source: &str,
        file: &str,
        type_system: Option<&str>,
        tables: &dyn TableSource,
    ) -> Result<Self, DomainErrors> {
        compile::compile(source, type_system, tables).map_err(|mut problems| {
            problems.sort_by_key(|problem| problem.range.start);
            DomainErrors { file: file.to_owned(), source: source.to_owned(), problems }
        })
    }

    /// The name of the domain.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A one-line description.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The natural language of the utterances, if the file names one.
    #[must_use]
    pub fn language(&self) -> Option<&'static Language> {
        self.language
    }

    /// The alternative type system in use; `None` for the file's own.
    #[must_use]
    pub fn type_system(&self) -> Option<&str> {
        self.type_system.as_deref()
    }

    /// The names of the alternative type systems in the file.
    #[must_use]
    pub fn type_systems(&self) -> &[String] {
        &self.type_systems
    }

    /// The text of the domain file. Models are saved with it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The tables that were read, with their paths as written in the file.
    #[must_use]
    pub fn tables(&self) -> &[(String, Table)] {
        &self.tables
    }

    /// The types.
    #[must_use]
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// A store to build programs in. It starts with the terms of the domain, which all such stores share.
    ///
    /// Cost: independent of the number of entities.
    #[must_use]
    pub fn new_terms(&self) -> Terms {
        self.base.clone()
    }

    /// The constants: predicates in the order of the file, then entities.
    #[must_use]
    pub fn constants(&self) -> &IndexVec<ConstantId, Constant> {
        &self.constants
    }

    /// The predicates, in the order of the file. Cost: independent of the number of entities.
    pub fn predicates(&self) -> impl Iterator<Item = (ConstantId, &Constant)> {
        self.constants.iter_enumerated().take_while(|(_, constant)| constant.kind == Kind::Predicate)
    }

    /// The frames of a constant with their ids.
    pub fn frames_of(&self, constant: ConstantId) -> impl Iterator<Item = (FrameId, &Frame)> {
        self.constants[constant].frames.clone().map(|raw| (FrameId(raw), &self.frames[FrameId(raw)]))
    }

    /// Most implicit constants with one argument that are inserted one above the other, on the same words.
    #[must_use]
    pub fn implicit_chain(&self) -> usize {
        self.implicit_chain
    }

    /// A frame.
    #[must_use]
    pub fn frame(&self, id: FrameId) -> &Frame {
        &self.frames[id]
    }

    /// The constant a frame belongs to; for the shared frame of a class, its first member.
    #[must_use]
    pub fn frame_owner(&self, id: FrameId) -> ConstantId {
        self.frame_owner[id]
    }

    /// The entity classes.
    #[must_use]
    pub fn classes(&self) -> &IndexVec<ClassId, Class> {
        &self.classes
    }

    /// The accumulators.
    #[must_use]
    pub fn accumulators(&self) -> &IndexVec<AccumulatorId, Accumulator> {
        &self.accumulators
    }

    /// The types of the accumulators.
    #[must_use]
    pub fn accumulator_types(&self) -> &IndexVec<AccumulatorId, AccumulatorTypes> {
        &self.accumulator_types
    }

    /// The types a complete program may have.
    #[must_use]
    pub fn root_types(&self) -> &[TypeId] {
        &self.root_types
    }

    /// The wrapper around every program.
    #[must_use]
    pub fn wrap(&self) -> Option<&Form> {
        self.wrap.as_ref()
    }

    /// The spacing of programs when they are printed.
    #[must_use]
    pub fn style(&self) -> &Style {
        &self.style
    }

    /// Whether a lower-case word is a null word: one that is never aligned to a constant.
    #[must_use]
    pub fn is_no_meaning(&self, word: &str) -> bool {
        self.no_meaning.contains(word)
    }

    /// Whether two words are forms of the same word, in the language that the file names; case does not matter.
    #[must_use]
    pub fn is_inflection(&self, word: &str, other: &str) -> bool {
        let stem = |language: &Language, word: &str| (language.stem)(&word.to_lowercase());
        self.language.is_some_and(|language| stem(language, word) == stem(language, other))
    }

    /// The lexicon.
    #[must_use]
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
    }

    /// The phrases that constants take whole in trees. They are no evidence for a program.
    #[must_use]
    pub fn phrases(&self) -> &Lexicon {
        &self.phrases
    }

    /// How constants and programs are said, for generated examples.
    #[must_use]
    pub fn say(&self) -> &Say {
        &self.say
    }

    /// The meaning states and how they compose.
    #[must_use]
    pub fn states(&self) -> &States {
        &self.states
    }

    /// How programs are evaluated.
    #[must_use]
    pub fn executor(&self) -> &ExecutorChoice {
        &self.executor
    }

    /// The position of that choice in the file: the value of `builtin`, `command` or `url`.
    #[must_use]
    pub fn executor_range(&self) -> Range<usize> {
        self.executor_range.clone()
    }

    /// The `sql` of the file; `None` where it has none.
    #[must_use]
    pub fn sql(&self) -> Option<&DomainSql> {
        self.sql.as_ref()
    }

    /// The cells of an entity or a literal of a class in the columns of its form, in their order; `None` if the term is
    /// written differently.
    #[must_use]
    pub fn cells<'a>(
        &'a self,
        terms: &Terms,
        class: ClassId,
        term: TermId,
    ) -> Option<Vec<(&'a str, TermId)>> {
        self.classes[class].cells(terms, term)
    }

    /// The predicate called `name`.
    #[must_use]
    pub fn predicate(&self, name: &str) -> Option<ConstantId> {
        self.predicate_of.get(name).copied()
    }

    /// The names of the classes of predicates.
    #[must_use]
    pub fn predicate_classes(&self) -> &[String] {
        &self.predicate_classes
    }

    /// Names of all predicates that are declared one by one, in the order of the file.
    pub fn predicate_names(&self) -> impl Iterator<Item = &str> {
        let declared = self.predicates().filter(|(_, predicate)| predicate.class.is_none());
        declared.map(|(_, predicate)| predicate.name.as_str())
    }

    /// The entity whose term is `term`, when a table lists it.
    #[must_use]
    pub fn entity(&self, term: TermId) -> Option<ConstantId> {
        self.entity_of.get(&term).copied()
    }

    /// The class of an entity; `None` for a predicate.
    pub(crate) fn entity_class(&self, constant: ConstantId) -> Option<ClassId> {
        match self.constants[constant].kind {
            Kind::Entity(class) => Some(class),
            Kind::Predicate => None,
        }
    }

    /// The entity class whose members are written like `term`, whether or not a table lists this member.
    #[must_use]
    pub fn class_of(&self, terms: &Terms, term: TermId) -> Option<ClassId> {
        if let Some(class) = self.entity(term).and_then(|constant| self.entity_class(constant)) {
            return Some(class);
        }
        let accepting = self.classes.iter_enumerated().filter(|(_, class)| class.accepts(terms, term));
        // The first one, but open classes before closed ones, which would reject the term.
        accepting.min_by_key(|(_, class)| !class.open).map(|(id, _)| id)
    }

    /// The literals of an utterance: their words, the constant that holds the place of their class, and their value in the
    /// notation of programs. All readings, in the order of the classes. Cost: microseconds a word for each class.
    #[must_use]
    pub fn literals(&self, utterance: &Utterance) -> Vec<(Span, ConstantId, String)> {
        let read = |class: &Class| {
            let holder = class.holder;
            let values = class.values(utterance).into_iter();
            values.filter_map(move |(span, value)| Some((span, holder?, value))).collect::<Vec<_>>()
        };
        self.classes.iter().flat_map(read).collect()
    }

    /// For each word of an utterance, what it costs to leave it out. `found` are the names, phrases and values in it that count.
    /// Constants that no program can contain do not.
    #[must_use]
    pub fn omissions(
        &self,
        n_words: usize,
        found: impl Iterator<Item = (Span, ConstantId)>,
    ) -> Vec<Omission> {
        let mut words = vec![Omission::Free; n_words];
        for (span, constant) in found {
            let omission = self.constants[constant].omission;
            if omission == Omission::Free || self.frames_of(constant).all(|(_, frame)| frame.state.is_none())
            {
                continue;
            }
            for word in &mut words[span.start as usize..span.end as usize] {
                *word = word.max(omission);
            }
        }
        words
    }

    /// The class of literals whose form a term has, although its value is not canonical.
    pub(crate) fn literal_like(&self, terms: &Terms, term: TermId) -> Option<&str> {
        self.classes.iter().find(|class| class.is_like(terms, term)).map(|class| class.name.as_str())
    }

    /// Whether some class has literals that are relative to the date.
    #[must_use]
    pub fn has_dates(&self) -> bool {
        use spanwise_literals::Kind::{Date, DateTime, Period};
        let recognizers = self.classes.iter().filter_map(|class| class.recognizer.as_ref());
        recognizers
            .map(spanwise_literals::Recognizer::kind)
            .any(|kind| matches!(kind, Date | DateTime | Period))
    }

    /// Pairs of constants that mean opposites.
    #[must_use]
    pub fn contrasts(&self) -> &[[ConstantId; 2]] {
        &self.contrasts
    }

    /// Frames whose form has the same top as `term`.
    pub(crate) fn frames_like(&self, terms: &Terms, term: TermId) -> &[FrameId] {
        self.frames_with_top(terms.shape(term), terms.head(term))
    }

    pub(crate) fn frames_with_top(&self, shape: Shape, head: Symbol) -> &[FrameId] {
        self.by_top.get(&(shape, head)).map_or(&[], Vec::as_slice)
    }

    /// How the entities of classes with this name on top are written, with `..` for cells.
    pub(crate) fn classes_with_top(&self, head: Symbol) -> impl Iterator<Item = String> {
        let forms = self.classes.iter().map(|class| &class.form);
        forms.filter(move |form| form.top(&self.base) == Some((Shape::Call, head))).map(|form| {
            let mut terms = self.base.clone();
            let cell = terms.leaf(Shape::Quoted, "..");
            let built = form.build(&mut terms, &vec![cell; form.holes().len()]);
            terms.display(built).to_string()
        })
    }

    /// A frame in the notation of programs: `state(all)`, `relate(behind, Objects)`.
    #[must_use]
    pub fn written(&self, frame: FrameId) -> String {
        let frame = &self.frames[frame];
        let Some(form) = &frame.form else { return "an entity".to_owned() };
        let mut terms = self.base.clone();
        let args: Vec<TermId> =
            frame.slots.iter().map(|&slot| terms.leaf(Shape::Name, self.types.name(slot))).collect();
        let built = form.build(&mut terms, &args);
        terms.display(built).to_string()
    }

    /// Whether the terms of some type can lack something that what takes them completes.
    pub(crate) fn has_lacking(&self) -> bool {
        !self.lacking.is_empty()
    }

    /// Whether a term of this type, or of a subtype, can lack something.
    pub(crate) fn is_lacking(&self, ty: TypeId) -> bool {
        self.lacking.get(ty.index()).copied().unwrap_or(false)
    }

    /// The accumulator whose predicate is at the top of `term`.
    #[must_use]
    pub fn accumulator_of(&self, terms: &Terms, term: TermId) -> Option<AccumulatorId> {
        let is_call = terms.shape(term) == Shape::Call;
        let head = terms.head(term);
        self.accumulators.iter_enumerated().find(|(_, acc)| is_call && acc.head == head).map(|(id, _)| id)
    }

    /// The program as text in the domain's own style.
    #[must_use]
    pub fn display<'a>(&'a self, terms: &'a Terms, program: TermId) -> impl fmt::Display + 'a {
        terms.display_styled(program, &self.style)
    }

    /// A meaning state as text: `State`, `State, City -> Number`, `filter(..)`.
    #[must_use]
    pub fn describe(&self, state: StateId) -> String {
        self.describe_state(self.states.state(state))
    }

    /// The same for a state that need not be in the tables of the domain.
    #[must_use]
    pub fn describe_state(&self, state: &State) -> String {
        match state {
            State::Done(ty) => self.types.name(*ty).to_owned(),
            State::Wants { slots, result } => {
                let slots: Vec<_> = slots.iter().map(|&slot| self.types.name(slot)).collect();
                format!("{} -> {}", slots.join(", "), self.types.name(*result))
            }
            State::Gathered(id) => format!("{}(..)", self.base.text(self.accumulators[*id].head)),
        }
    }

    /// Constants that no complete program can contain, in order. Members of a class count once.
    pub fn unreachable_constants(&self) -> impl Iterator<Item = ConstantId> {
        self.constants.ids().filter(|&id| {
            let is_first = match self.constants[id].kind {
                Kind::Predicate => true,
                Kind::Entity(class) => self.frame_owner[self.classes[class].frame].index() == id.index(),
            };
            is_first && self.frames_of(id).all(|(_, frame)| frame.state.is_none())
        })
    }
}
