//! A domain: typed constants, how they are written and said, and how their meanings compose.
//!
//! [`Domain::load`] compiles a domain file (`docs/domain-format.md` is its reference) in passes: TOML to
//! declarations ([`mod@file`]), declarations to types, frames and entities (`compile`), frames to numbered meaning
//! states ([`crate::states`]). Everything after loading works on numbers.
//!
//! A domain owns a base [`Terms`] store that holds its forms and entities. Programs are built in stores that
//! start as a copy of it ([`Domain::new_terms`]), so that ids of the base are valid there too.

mod compile;
pub mod file;

use crate::diag::Diagnostic;
use crate::form::Form;
use crate::lexicon::Lexicon;
use crate::states::{AccumulatorId, AccumulatorTypes, StateId, States};
use crate::surface::Style;
use crate::term::{Shape, Symbol, TermId, Terms};
use crate::types::{TypeId, Types};
pub use file::ExecutorChoice;
use hashbrown::{HashMap, HashSet};
use spanwise_core::{Idx, IndexVec, newtype_index};
use std::fmt;
use std::ops::Range;

newtype_index! {
    /// A constant of a domain: a predicate or one entity.
    pub struct ConstantId(u32)
}

newtype_index! {
    /// One way to use a constant.
    pub struct FrameId(u32)
}

newtype_index! {
    /// A class of entities.
    pub struct ClassId(u16)
}

/// Rows of an entity table, with the columns named.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// Column names.
    pub columns: Vec<String>,
    /// The rows, each with its line in the file and one cell per column.
    pub rows: Vec<(usize, Vec<String>)>,
}

/// Gives the tables that a domain file names. The language room itself reads no file.
pub trait TableSource {
    /// The table at `path`, relative to the domain file.
    ///
    /// # Errors
    /// Why it cannot be had, naming the table's file and line.
    fn read(&self, path: &str) -> Result<Table, String>;
}

/// A source without any table.
#[derive(Clone, Copy, Debug)]
pub struct NoTables;

impl TableSource for NoTables {
    fn read(&self, path: &str) -> Result<Table, String> {
        Err(format!("there is no table `{path}` here"))
    }
}

/// What kind of constant it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Declared under `[constants]`.
    Predicate,
    /// A member of a class.
    Entity(ClassId),
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its name: the key of a predicate, the written form of an entity.
    pub name: String,
    /// Predicate or entity.
    pub kind: Kind,
    /// Its frames.
    pub frames: Range<u32>,
    /// The whole term, for an entity.
    pub term: Option<TermId>,
    /// Whether it may be inserted where no word says it.
    pub implicit: bool,
}

/// One way to use a constant: the slots it asks for and what it gives. Entities of a class share one.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The slots to fill, in filling order.
    pub slots: Vec<TypeId>,
    /// The type of the complete term.
    pub result: TypeId,
    /// How the complete term is written; `None` for entities, whose term is their own.
    pub form: Option<Form>,
    /// The meaning state of the bare constant; `None` when no complete program can contain it.
    pub state: Option<StateId>,
}

/// A class of entities.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// The type of its members.
    pub ty: TypeId,
    /// The shared frame of its members.
    pub frame: FrameId,
    /// Whether any name is a member.
    pub open: bool,
    /// The form with a hole for each column, to recognise members that no table lists.
    form: Option<Form>,
    /// Whether the form is a quoted cell and nothing else.
    is_quoted: bool,
}

impl Class {
    /// Whether `term` is written like a member, listed or not.
    fn accepts(&self, terms: &Terms, term: TermId) -> bool {
        let Some(form) = &self.form else { return false };
        let mut args = vec![None; form.holes().len()];
        // Any name would fit a class that is written as a bare cell, so it has no more than its numbers.
        let is_bare = matches!(form, Form::Hole(_));
        let fits = |arg: &Option<TermId>| match arg.map(|arg| terms.shape(arg)) {
            None => true,
            Some(Shape::Number) => !self.is_quoted,
            Some(Shape::Quoted) => !is_bare || self.is_quoted,
            Some(Shape::Name) => !is_bare,
            Some(Shape::Call | Shape::Wildcard) => false,
        };
        form.take_apart(terms, term, &mut args) && args.iter().all(fits)
    }
}

/// An accumulator.
#[derive(Clone, Debug)]
pub struct Accumulator {
    /// The predicate that gathered values become arguments of.
    pub head: Symbol,
    /// What they are applied to when nothing comes.
    pub default: Option<TermId>,
}

/// A compiled domain.
#[derive(Clone, Debug)]
pub struct Domain {
    name: String,
    about: String,
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
    states: States,
    executor: ExecutorChoice,
    executor_range: Range<usize>,
    /// Frames by the top of their form.
    by_top: HashMap<(Shape, Symbol), Vec<FrameId>>,
    entity_of: HashMap<TermId, ConstantId>,
    predicate_of: HashMap<String, ConstantId>,
}

/// Everything wrong with a domain file.
#[derive(Clone, Debug)]
pub struct DomainErrors {
    /// The file, as it is called in messages.
    pub file: String,
    /// Its text.
    pub source: String,
    /// What is wrong, in the order of the file.
    pub problems: Vec<Diagnostic>,
}

/// The names of the type systems in a domain file, whatever else is wrong with it; `None` when it is not TOML.
#[must_use]
pub fn type_system_names(source: &str) -> Option<Vec<String>> {
    let file = file::read(source, &mut Vec::new())?;
    Some(file.type_systems.into_iter().map(|system| system.name.value).collect())
}

/// How many problems a rendered list shows before it only counts.
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
    /// `file` is its name in messages, `type_system` the name of one of its alternatives (`None`: its own
    /// types), `tables` where its entity tables come from.
    ///
    /// # Errors
    /// Everything that is wrong with the file, with lines and columns.
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

    /// One line about it.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The alternative type system in use, if not the file's own.
    #[must_use]
    pub fn type_system(&self) -> Option<&str> {
        self.type_system.as_deref()
    }

    /// The alternatives that the file offers.
    #[must_use]
    pub fn type_systems(&self) -> &[String] {
        &self.type_systems
    }

    /// The text of the domain file, so that a model can carry it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The tables that were read, with the paths the file names them by.
    #[must_use]
    pub fn tables(&self) -> &[(String, Table)] {
        &self.tables
    }

    /// The types.
    #[must_use]
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// A store to build programs in.
    #[must_use]
    pub fn new_terms(&self) -> Terms {
        self.base.clone()
    }

    /// The constants: predicates in the order of the file, then entities.
    #[must_use]
    pub fn constants(&self) -> &IndexVec<ConstantId, Constant> {
        &self.constants
    }

    /// The frames of a constant with their ids.
    pub fn frames_of(&self, constant: ConstantId) -> impl Iterator<Item = (FrameId, &Frame)> {
        self.constants[constant].frames.clone().map(|raw| (FrameId(raw), &self.frames[FrameId(raw)]))
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

    /// What stands around every program.
    #[must_use]
    pub fn wrap(&self) -> Option<&Form> {
        self.wrap.as_ref()
    }

    /// How programs are spaced when they are written.
    #[must_use]
    pub fn style(&self) -> &Style {
        &self.style
    }

    /// Whether a lower-case word never carries meaning.
    #[must_use]
    pub fn is_no_meaning(&self, word: &str) -> bool {
        self.no_meaning.contains(word)
    }

    /// The phrases.
    #[must_use]
    pub fn lexicon(&self) -> &Lexicon {
        &self.lexicon
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

    /// Where the file says so: the value of `builtin`, `command` or `url`.
    #[must_use]
    pub fn executor_range(&self) -> Range<usize> {
        self.executor_range.clone()
    }

    /// The predicate called `name`.
    #[must_use]
    pub fn predicate(&self, name: &str) -> Option<ConstantId> {
        self.predicate_of.get(name).copied()
    }

    /// Names of all predicates, in the order of the file.
    pub fn predicate_names(&self) -> impl Iterator<Item = &str> {
        self.constants.iter().filter(|c| c.kind == Kind::Predicate).map(|c| c.name.as_str())
    }

    /// The entity that `term` is, when a table lists it.
    #[must_use]
    pub fn entity(&self, term: TermId) -> Option<ConstantId> {
        self.entity_of.get(&term).copied()
    }

    /// The class whose members are written like `term`, whether or not a table lists this one.
    #[must_use]
    pub fn class_of(&self, terms: &Terms, term: TermId) -> Option<ClassId> {
        if let Some(constant) = self.entity(term)
            && let Kind::Entity(class) = self.constants[constant].kind
        {
            return Some(class);
        }
        let accepting = self.classes.iter_enumerated().filter(|(_, class)| class.accepts(terms, term));
        // The first, but an open one before any that would refuse the term.
        accepting.min_by_key(|(_, class)| !class.open).map(|(id, _)| id)
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
        self.classes.iter().filter_map(move |class| {
            let form =
                class.form.as_ref().filter(|form| form.top(&self.base) == Some((Shape::Call, head)))?;
            let mut terms = self.base.clone();
            let cell = terms.leaf(Shape::Quoted, "..");
            let built = form.build(&mut terms, &vec![cell; form.holes().len()]);
            Some(terms.display(built).to_string())
        })
    }

    /// A frame as a person would write it: `state(all)`, `relate(behind, Objects)`.
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

    /// A meaning state in words: `State`, `State, City -> Number`, `filter(..)`.
    #[must_use]
    pub fn describe(&self, state: StateId) -> String {
        use crate::states::State;
        match self.states.state(state) {
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
