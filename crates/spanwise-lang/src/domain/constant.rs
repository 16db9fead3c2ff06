//! The parts of a domain that programs are made of: constants, frames, entity classes and accumulators.

use crate::form::Form;
use crate::pattern::Pattern;
use crate::signature::Side;
use crate::states::StateId;
use crate::term::{Shape, Symbol, TermId, Terms};
use crate::types::TypeId;
use hashbrown::HashSet;
use spanwise_core::{Span, Utterance, newtype_index};
use spanwise_literals::{Literal, Recognizer};
use std::ops::Range;

newtype_index! {
    /// A constant of a domain: a predicate or one entity.
    pub struct ConstantId(u32)
}

newtype_index! {
    /// A frame: one way to use a constant.
    pub struct FrameId(u32)
}

newtype_index! {
    /// A class of predicates.
    pub struct PredicateClassId(u16)
}

newtype_index! {
    /// An entity class.
    pub struct ClassId(u16)
}

/// The kind of a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A predicate, declared under `[constants]`.
    Predicate,
    /// A member of an entity class.
    Entity(ClassId),
}

/// What it costs to leave out words that a name or phrase of a constant matches.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub enum Omission {
    /// Nothing.
    #[default]
    Free,
    /// So much for each word, in log-odds.
    Cost(f32),
    /// It is not done while any reading uses all such words.
    Forbidden,
}

impl Omission {
    /// The larger cost.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

/// A constant: a predicate or an entity.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its name: the key of a predicate, the written form of an entity.
    pub name: String,
    /// Predicate or entity.
    pub kind: Kind,
    /// For a predicate that is a row of a table, its class.
    pub class: Option<PredicateClassId>,
    /// For a predicate, whether it is allowed on its phrases only. Entities always are allowed on their names only.
    pub only_phrases: bool,
    /// What it costs to leave out words that one of its names or phrases matches.
    pub omission: Omission,
    /// Its frames.
    pub frames: Range<u32>,
    /// The whole term, for an entity.
    pub term: Option<TermId>,
    /// Whether it may be inserted where no word is aligned to it.
    pub implicit: bool,
}

/// One way to use a constant: the types of its arguments and of its result. The entities of a class share one frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The slots to fill, in filling order.
    pub slots: Vec<TypeId>,
    /// For each slot, its number in the signature, which may have more.
    pub given: Vec<usize>,
    /// For each slot, the side on which its argument must stand.
    pub sides: Vec<Option<Side>>,
    /// For each slot, its number in the signature. Those between them were left out.
    pub places: Vec<usize>,
    /// The slots of the signature that the term lacks.
    pub lacks: Vec<usize>,
    /// The type of the complete term.
    pub result: TypeId,
    /// How the complete term is written; `None` for entities, each of which has its own term.
    pub form: Option<Form>,
    /// The meaning state of the bare constant; `None` when no complete program can contain it.
    pub state: Option<StateId>,
    /// Whether the constant may be inserted with these arguments where no word is aligned to it.
    pub implicit: bool,
    /// The position of its signature in the file; for entities, of the type of their class.
    pub declared: Range<usize>,
}

/// An entity class: entities with one type and one notation.
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
    /// Stands for every member that no table lists: it has the frame of the class and no term. `None` for a class that is
    /// not open.
    pub holder: Option<ConstantId>,
    /// For a class of literals, and for an open class that can be read from words: what finds values in the words.
    pub(super) recognizer: Option<Recognizer>,
    /// Whether the columns of the form are the fields of a literal. The single column of an open class is its value.
    pub(super) reads_fields: bool,
    /// How a value is written.
    pub(super) pattern: Pattern,
    /// The members of an open class that tables list, as they are written.
    pub(super) listed: HashSet<String>,
    /// The form with a hole for each column, to recognize members that no table lists.
    pub(super) form: Form,
    /// Whether the form is a quoted cell and nothing else.
    pub(super) is_quoted: bool,
}

impl Class {
    /// Whether it is a class of literals, whose values come from the words alone.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.reads_fields
    }

    /// What is read from the words for this class beside its listed members, by name: `quoted`, `decimal`, .. `None` if
    /// nothing is.
    #[must_use]
    pub fn reads(&self) -> Option<String> {
        self.recognizer.as_ref().map(|recognizer| recognizer.kind().to_string())
    }

    /// Whether any words can be a member.
    #[must_use]
    pub fn reads_text(&self) -> bool {
        self.recognizer.as_ref().is_some_and(|it| it.kind() == spanwise_literals::Kind::Text)
    }

    /// Whether words show by their form that they are a value, as those of a date do. Free text can be any words.
    #[must_use]
    pub fn is_known_by_form(&self) -> bool {
        self.recognizer.is_some() && !self.reads_text()
    }

    /// What reads values of the class from words, if anything does.
    #[must_use]
    pub fn recognizer(&self) -> Option<&Recognizer> {
        self.recognizer.as_ref()
    }

    /// The value that words have as a whole, as programs write it; `None` if they have none, or several.
    #[must_use]
    pub fn only_value(&self, utterance: &Utterance) -> Option<String> {
        let whole = Span::new(0, utterance.len() as u32);
        let mut values = self.values(utterance).into_iter().filter(|(span, _)| *span == whole);
        let found = values.next()?.1;
        values.next().is_none().then_some(found)
    }

    /// Whether `term` is written like a member, listed or not.
    pub(super) fn accepts(&self, terms: &Terms, term: TermId) -> bool {
        let mut args = vec![None; self.form.holes().len()];
        // Any name would match a form that is only a bare cell. Such a class accepts numbers only.
        let is_bare = matches!(self.form, Form::Hole(_));
        let fits = |arg: &Option<TermId>| match arg.map(|arg| terms.shape(arg)) {
            None => true,
            Some(Shape::Number) => !self.is_quoted,
            Some(Shape::Quoted) => !is_bare || self.is_quoted,
            Some(Shape::Name) => !is_bare,
            Some(Shape::Call | Shape::Wildcard) => false,
        };
        self.form.take_apart(terms, term, &mut args)
            && args.iter().all(fits)
            && (!self.reads_fields || self.is_canonical(terms, &args))
    }

    /// Whether `term` has the form of the class, but a value that its recognizer would not give.
    pub(super) fn is_like(&self, terms: &Terms, term: TermId) -> bool {
        let mut args = vec![None; self.form.holes().len()];
        self.reads_fields && self.form.take_apart(terms, term, &mut args) && !self.is_canonical(terms, &args)
    }

    /// Whether the arguments of the form are values that the recognizer would give.
    fn is_canonical(&self, terms: &Terms, args: &[Option<TermId>]) -> bool {
        let Some(recognizer) = &self.recognizer else { return true };
        let fields = self.pattern.fields();
        fields.zip(args).all(|(field, arg)| {
            let text = arg.map(|arg| terms.head_text(arg));
            text.is_some_and(|text| recognizer.accepts(field, text))
        })
    }

    /// The cells of a member or a value in the columns of the form, in their order.
    pub(super) fn cells<'a>(&'a self, terms: &Terms, term: TermId) -> Option<Vec<(&'a str, TermId)>> {
        let mut args = vec![None; self.form.holes().len()];
        if !self.form.take_apart(terms, term, &mut args) {
            return None;
        }
        self.pattern.fields().zip(args).map(|(field, arg)| Some((field, arg?))).collect()
    }

    /// The values in an utterance, as they are written in programs; without members that tables list.
    pub(super) fn values(&self, utterance: &Utterance) -> Vec<(Span, String)> {
        let Some(recognizer) = &self.recognizer else { return Vec::new() };
        let written = |literal: &Literal| {
            let field = |name: &str| {
                let name = if self.reads_fields { name } else { "value" };
                literal.field(name).map(str::to_owned)
            };
            Some((literal.span, self.pattern.fill(field)?))
        };
        let all = recognizer.read(utterance);
        all.iter().filter_map(written).filter(|(_, text)| !self.listed.contains(text)).collect()
    }
}

/// An accumulator: values of some types that become the arguments of one predicate.
#[derive(Clone, Debug)]
pub struct Accumulator {
    /// The predicate that gathered values become arguments of.
    pub head: Symbol,
    /// What they are applied to when there is no such argument.
    pub default: Option<TermId>,
    /// The position of its head in the file.
    pub declared: Range<usize>,
}
