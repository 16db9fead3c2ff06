//! Meanings: partial programs, and the operations that combine them.
//!
//! Charts work on [`StateId`]s alone. To get the program of a tree, its operations are replayed on meanings. For any two
//! meanings, `apply`, `compose` and `gather` succeed exactly when the table of that name in
//! [`States`](crate::states::States) has an entry for their states, and the state of the result is that entry. A function that
//! has some elements of a set is an exception: tables know it as the function that it was. So is one whose argument has to be
//! on one side: tables know nothing of sides, and it is never composed.

use crate::domain::{ConstantId, Domain, FrameId, Kind};
use crate::signature::Side;
use crate::states::{AccumulatorId, State, StateId};
use crate::term::{TermId, Terms};
use crate::types::TypeId;

/// A partial or complete program.
///
/// ```
/// use spanwise_lang::domain::NoTables;
/// use spanwise_lang::{Domain, Meaning};
///
/// let source = r#"
///     name = "family"
///     types = ["Person"]
///     root = { types = ["Person"] }
///     constants = { mother = "Person -> Person", friend = "Person -> Person", ann = "Person" }
/// "#;
/// let domain = Domain::load(source, "family.toml", None, &NoTables)?;
/// let mut terms = domain.new_terms();
/// let mut leaf = |name: &str| {
///     let constant = domain.predicate(name).unwrap();
///     let (frame, _) = domain.frames_of(constant).next().unwrap();
///     domain.leaf(&mut terms, constant, frame).unwrap()
/// };
/// let (mother, friend, ann) = (leaf("mother"), leaf("friend"), leaf("ann"));
///
/// // Open composition: both functions still wait for an argument.
/// let open = domain.compose(&mother, &friend).unwrap();
/// assert!(matches!(open, Meaning::Open { .. }));
/// let done = domain.apply(&mut terms, &open, &ann).unwrap();
/// let program = domain.program(&mut terms, &done).unwrap();
/// assert_eq!(terms.display(program).to_string(), "mother(friend(ann))");
/// assert_eq!(domain.apply(&mut terms, &ann, &mother), None);
/// # Ok::<(), spanwise_lang::DomainErrors>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// A complete term.
    Done {
        /// The term.
        term: TermId,
        /// Its type.
        ty: TypeId,
    },
    /// At least two values gathered for an accumulator.
    Gathered {
        /// The accumulator.
        accumulator: AccumulatorId,
        /// The values in order.
        elements: Vec<TermId>,
    },
    /// A function whose only open slot is for a set, of which it has some elements.
    Spread {
        /// The function, without the elements.
        function: Box<Meaning>,
        /// The set.
        accumulator: AccumulatorId,
        /// The elements so far.
        elements: Vec<TermId>,
    },
    /// A function with open slots.
    Open {
        /// The part whose slots are open.
        inner: Partial,
        /// Functions composed around it, innermost first; each has exactly one open slot.
        around: Vec<Partial>,
    },
}

/// A function with some of its arguments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Partial {
    /// A constant with the slots that are filled so far.
    Constant {
        /// How the constant is used.
        frame: FrameId,
        /// One entry per slot.
        args: Vec<Option<TermId>>,
    },
    /// Gathered values whose last argument is open.
    Values {
        /// The accumulator.
        accumulator: AccumulatorId,
        /// The values in order.
        elements: Vec<TermId>,
    },
}

/// Values of an accumulator.
type Values = (AccumulatorId, Vec<TermId>);

impl Domain {
    /// The meaning of a constant without arguments, used in one of its frames; `None` when the frame is not its own.
    #[must_use]
    pub fn leaf(&self, terms: &mut Terms, constant: ConstantId, frame: FrameId) -> Option<Meaning> {
        let (known, used) = (&self.constants()[constant], self.frame(frame));
        if !known.frames.contains(&frame.0) {
            return None;
        }
        if !used.slots.is_empty() {
            let inner = Partial::Constant { frame, args: vec![None; used.slots.len()] };
            return Some(Meaning::Open { inner, around: Vec::new() });
        }
        let term = known.term.or_else(|| used.form.as_ref().map(|form| form.build(terms, &[])))?;
        Some(Meaning::Done { term, ty: used.result })
    }

    /// The meaning of a literal: a member of an open class, written in the notation of programs. `None` when it is not.
    pub fn literal(&self, terms: &mut Terms, constant: ConstantId, value: &str) -> Option<Meaning> {
        let Kind::Entity(class) = self.constants()[constant].kind else { return None };
        let term = terms.parse(value).ok()?;
        Some(Meaning::Done { term, ty: self.classes()[class].ty })
    }

    /// The state of a meaning. [`Self::state_id_of`] gives its id.
    #[must_use]
    pub fn state_of(&self, meaning: &Meaning) -> State {
        match meaning {
            Meaning::Done { ty, .. } => State::Done(*ty),
            Meaning::Gathered { accumulator, .. } => State::Gathered(*accumulator),
            Meaning::Spread { function, .. } => self.state_of(function),
            Meaning::Open { inner, around } => {
                let result = around.last().unwrap_or(inner);
                State::Wants { slots: self.open_slots(inner).into(), result: self.result_of(result) }
            }
        }
    }

    /// The id of a meaning's state; `None` when no complete program can contain it.
    #[must_use]
    pub fn state_id_of(&self, meaning: &Meaning) -> Option<StateId> {
        self.states().find(&self.state_of(meaning))
    }

    /// `function` applied to `argument`, if the types allow it, on whichever side it stands.
    pub fn apply(&self, terms: &mut Terms, function: &Meaning, argument: &Meaning) -> Option<Meaning> {
        self.apply_on(terms, function, argument, None)
    }

    /// The same for an argument on this side of the function: slots for arguments on the other side are passed over.
    pub fn apply_on(
        &self,
        terms: &mut Terms,
        function: &Meaning,
        argument: &Meaning,
        side: Option<Side>,
    ) -> Option<Meaning> {
        let (inner, around) = match function {
            Meaning::Open { inner, around } => (inner, around),
            Meaning::Spread { function, accumulator, elements } => {
                let (known, more) = self.as_values(argument)?;
                let all = elements.iter().copied().chain(more).collect();
                let all = Meaning::Gathered { accumulator: *accumulator, elements: all };
                return if known == *accumulator { self.apply_on(terms, function, &all, None) } else { None };
            }
            _ => return self.apply_values(terms, function, argument),
        };
        let slots = self.all_slots(inner);
        for (ty, values) in self.as_argument(argument) {
            let accepts = |&(at, slot): &(usize, TypeId)| {
                is_free(inner, at)
                    && self.types().is_subtype(ty, slot)
                    && side.is_none_or(|side| self.side_of(inner, at).is_none_or(|wanted| wanted == side))
            };
            let Some((at, _)) = slots.iter().copied().enumerate().find(|pair| accepts(pair)) else {
                continue;
            };
            let term = match (argument, values) {
                (Meaning::Done { term, .. }, None) => *term,
                (_, values) => self.close_values(terms, &values?)?,
            };
            let mut inner = inner.clone();
            let (result, ty) = match self.fill(terms, &mut inner, at, term) {
                Some(done) => done,
                None => return Some(Meaning::Open { inner, around: around.clone() }),
            };
            return self.fill_around(terms, result, ty, around);
        }
        None
    }

    /// A function with a complete term in this slot, whichever slot an argument would fill; `None` when it does not fit.
    pub fn fill_slot(
        &self,
        terms: &mut Terms,
        function: &Meaning,
        slot: usize,
        argument: &Meaning,
    ) -> Option<Meaning> {
        let (Meaning::Open { inner, around }, Meaning::Done { term, ty }) = (function, argument) else {
            return None;
        };
        let fits = |&wanted: &TypeId| is_free(inner, slot) && self.types().is_subtype(*ty, wanted);
        self.all_slots(inner).get(slot).copied().filter(fits)?;
        let mut inner = inner.clone();
        match self.fill(terms, &mut inner, slot, *term) {
            Some((term, ty)) => self.fill_around(terms, term, ty, around),
            None => Some(Meaning::Open { inner, around: around.clone() }),
        }
    }

    /// Open composition: `outer` after `inner`, when both have exactly one open slot.
    #[must_use]
    pub fn compose(&self, outer: &Meaning, inner: &Meaning) -> Option<Meaning> {
        let (outer_inner, outer_around) = self.as_function(outer)?;
        let (inner_inner, inner_around) = self.as_function(inner)?;
        let ([wanted], [_]) = (&*self.open_slots(&outer_inner), &*self.open_slots(&inner_inner)) else {
            return None;
        };
        let given = self.result_of(inner_around.last().unwrap_or(&inner_inner));
        // A function that is composed does not have its whole argument on one side.
        if self.is_directed(&outer_inner) || self.is_directed(&inner_inner) {
            return None;
        }
        if !self.types().is_subtype(given, *wanted) {
            return None;
        }
        let mut around = inner_around;
        around.push(outer_inner);
        around.extend(outer_around);
        Some(Meaning::Open { inner: inner_inner, around })
    }

    /// A function whose only open slot is for a set, with some elements of it; `apply` gives it the others. So a function can
    /// stand between the elements: *cheap flights to denver*.
    #[must_use]
    pub fn spread(&self, function: &Meaning, argument: &Meaning) -> Option<Meaning> {
        let Meaning::Open { inner, .. } = function else { return None };
        let (accumulator, elements) = self.as_values(argument)?;
        let types = &self.accumulator_types()[accumulator];
        let [slot] = *self.open_slots(inner) else { return None };
        if self.is_directed(inner) {
            return None;
        }
        let takes_it = types.is_set() && self.types().is_subtype(types.result, slot);
        takes_it.then(|| Meaning::Spread { function: Box::new(function.clone()), accumulator, elements })
    }

    /// Joins two lists of values of one accumulator, or two parts of a set.
    #[must_use]
    pub fn gather(&self, left: &Meaning, right: &Meaning) -> Option<Meaning> {
        let (accumulator, mut elements) = self.as_values(left)?;
        let (other, more) = self.as_values(right)?;
        elements.extend(more);
        (accumulator == other).then_some(Meaning::Gathered { accumulator, elements })
    }

    /// The whole program, wrapped, if the meaning is complete and of a root type.
    pub fn program(&self, terms: &mut Terms, meaning: &Meaning) -> Option<TermId> {
        let is_root = |ty: TypeId| self.root_types().iter().any(|&root| self.types().is_subtype(ty, root));
        let (_, values) = self.as_argument(meaning).into_iter().find(|&(ty, _)| is_root(ty))?;
        let body = match (meaning, values) {
            (Meaning::Done { term, .. }, None) => *term,
            (_, values) => self.close_values(terms, &values?)?,
        };
        Some(self.wrap().map_or(body, |form| form.build(terms, &[body])))
    }

    /// A meaning as a term with `_` for every open slot. Gathered values are applied to their default, if they have
    /// one.
    pub fn sketch(&self, terms: &mut Terms, meaning: &Meaning) -> TermId {
        let hole = terms.leaf(crate::term::Shape::Wildcard, "_");
        match meaning {
            Meaning::Done { term, .. } => *term,
            Meaning::Gathered { accumulator, elements } => {
                let is_set = self.accumulator_types()[*accumulator].is_set();
                let over = self.accumulators()[*accumulator].default.unwrap_or(hole);
                self.accumulate(terms, *accumulator, elements, Some(over).filter(|_| !is_set))
            }
            Meaning::Spread { function, accumulator, elements } => {
                let filled = self.accumulate(terms, *accumulator, elements, Some(hole));
                self.sketch_with(terms, function, filled)
            }
            Meaning::Open { .. } => self.sketch_with(terms, meaning, hole),
        }
    }

    /// An open function with one term in all its open slots.
    fn sketch_with(&self, terms: &mut Terms, function: &Meaning, hole: TermId) -> TermId {
        let Meaning::Open { inner, around } = function else { return hole };
        let mut term = self.fill_holes(terms, inner, hole);
        for partial in around {
            term = self.fill_holes(terms, partial, term);
        }
        term
    }

    /// A partial function with one term in all its open slots.
    fn fill_holes(&self, terms: &mut Terms, partial: &Partial, hole: TermId) -> TermId {
        match partial {
            Partial::Values { accumulator, elements } => {
                self.accumulate(terms, *accumulator, elements, Some(hole))
            }
            Partial::Constant { frame, args } => {
                let filled: Vec<TermId> = args.iter().map(|arg| arg.unwrap_or(hole)).collect();
                self.frame(*frame).form.as_ref().map_or(hole, |form| form.build(terms, &filled))
            }
        }
    }

    /// The types that a meaning can have as an argument, in order of preference. Gathered values come with their elements, which
    /// are applied to the default.
    fn as_argument(&self, meaning: &Meaning) -> Vec<(TypeId, Option<Values>)> {
        let mut ways = Vec::new();
        if let Meaning::Done { ty, .. } = meaning {
            ways.push((*ty, None));
        }
        if let Some((id, elements)) = self.as_values(meaning) {
            let types = &self.accumulator_types()[id];
            if types.has_default || types.is_set() && elements.len() > 1 {
                ways.push((types.result, Some((id, elements))));
            }
        }
        ways
    }

    /// The values of a meaning that an accumulator can gather.
    fn as_values(&self, meaning: &Meaning) -> Option<Values> {
        match meaning {
            Meaning::Gathered { accumulator, elements } => Some((*accumulator, elements.clone())),
            Meaning::Done { term, ty } => {
                let takes = |&(_, element): &(AccumulatorId, TypeId)| self.types().is_subtype(*ty, element);
                let mut elements = self
                    .accumulator_types()
                    .iter_enumerated()
                    .flat_map(|(id, acc)| acc.elements.iter().map(move |&element| (id, element)));
                elements.find(takes).map(|(id, _)| (id, vec![*term]))
            }
            Meaning::Open { .. } | Meaning::Spread { .. } => None,
        }
    }

    /// A meaning as a function, gathered values of an accumulator included.
    fn as_function(&self, meaning: &Meaning) -> Option<(Partial, Vec<Partial>)> {
        if let Meaning::Open { inner, around } = meaning {
            return Some((inner.clone(), around.clone()));
        }
        let (accumulator, elements) = self.as_values(meaning)?;
        let is_function = !self.accumulator_types()[accumulator].is_set();
        is_function.then(|| (Partial::Values { accumulator, elements }, Vec::new()))
    }

    fn apply_values(&self, terms: &mut Terms, function: &Meaning, argument: &Meaning) -> Option<Meaning> {
        let (id, elements) = self.as_values(function)?;
        let Meaning::Done { term, ty } = argument else { return None };
        let types = &self.accumulator_types()[id];
        if !self.types().is_subtype(*ty, types.over?) || self.as_values(argument).is_some() {
            return None;
        }
        Some(Meaning::Done { term: self.accumulate(terms, id, &elements, Some(*term)), ty: types.result })
    }

    fn close_values(
        &self,
        terms: &mut Terms,
        (id, elements): &(AccumulatorId, Vec<TermId>),
    ) -> Option<TermId> {
        let default = self.accumulators()[*id].default;
        let is_complete = default.is_some() || self.accumulator_types()[*id].is_set();
        is_complete.then(|| self.accumulate(terms, *id, elements, default))
    }

    /// The values as arguments of the head, for an accumulator with what they are applied to.
    fn accumulate(
        &self,
        terms: &mut Terms,
        id: AccumulatorId,
        elements: &[TermId],
        over: Option<TermId>,
    ) -> TermId {
        let args: Vec<TermId> = elements.iter().copied().chain(over).collect();
        terms.term(crate::term::Shape::Call, self.accumulators()[id].head, &args)
    }

    fn all_slots(&self, partial: &Partial) -> Vec<TypeId> {
        match partial {
            Partial::Constant { frame, .. } => self.frame(*frame).slots.clone(),
            Partial::Values { accumulator, .. } => {
                self.accumulator_types()[*accumulator].over.into_iter().collect()
            }
        }
    }

    fn open_slots(&self, partial: &Partial) -> Vec<TypeId> {
        let slots = self.all_slots(partial);
        slots.into_iter().enumerate().filter(|&(at, _)| is_free(partial, at)).map(|(_, slot)| slot).collect()
    }

    /// The side on which the argument of a slot must stand.
    fn side_of(&self, partial: &Partial, at: usize) -> Option<Side> {
        match partial {
            Partial::Constant { frame, .. } => self.frame(*frame).sides[at],
            Partial::Values { .. } => None,
        }
    }

    /// Whether the argument of an open slot has to be on one side.
    fn is_directed(&self, partial: &Partial) -> bool {
        let n_slots = self.all_slots(partial).len();
        (0..n_slots).any(|at| is_free(partial, at) && self.side_of(partial, at).is_some())
    }

    fn result_of(&self, partial: &Partial) -> TypeId {
        match partial {
            Partial::Constant { frame, .. } => self.frame(*frame).result,
            Partial::Values { accumulator, .. } => self.accumulator_types()[*accumulator].result,
        }
    }

    /// Fills a slot; the complete term and its type when it was the last one.
    fn fill(
        &self,
        terms: &mut Terms,
        partial: &mut Partial,
        at: usize,
        term: TermId,
    ) -> Option<(TermId, TypeId)> {
        match partial {
            Partial::Values { accumulator, elements } => {
                let built = self.accumulate(terms, *accumulator, elements, Some(term));
                Some((built, self.accumulator_types()[*accumulator].result))
            }
            Partial::Constant { frame, args } => {
                args[at] = Some(term);
                let filled: Vec<TermId> = args.iter().copied().collect::<Option<_>>()?;
                let used = self.frame(*frame);
                let form = used.form.as_ref().expect("a frame with slots has a form");
                Some((form.build(terms, &filled), used.result))
            }
        }
    }

    /// Applies the functions composed around a term, innermost first.
    fn fill_around(
        &self,
        terms: &mut Terms,
        term: TermId,
        ty: TypeId,
        around: &[Partial],
    ) -> Option<Meaning> {
        let (mut term, mut ty) = (term, ty);
        for partial in around {
            let mut partial = partial.clone();
            let free = (0..self.all_slots(&partial).len()).find(|&at| is_free(&partial, at))?;
            (term, ty) = self.fill(terms, &mut partial, free, term)?;
        }
        Some(Meaning::Done { term, ty })
    }
}

fn is_free(partial: &Partial, at: usize) -> bool {
    match partial {
        Partial::Constant { args, .. } => args.get(at).is_some_and(Option::is_none),
        Partial::Values { .. } => true,
    }
}
