//! Type checking: a program taken apart into the constants it is made of.
//!
//! The result names every constant with the frame it is used in, so each program has exactly one typing: where
//! several would do, the one declared first. What cannot be typed comes back as a [`Problem`], the reason as
//! data.

use crate::diag::closest;
use crate::domain::{ClassId, ConstantId, Domain, FrameId};
use crate::states::AccumulatorId;
use crate::term::{Shape, TermId, Terms};
use crate::types::TypeId;
use hashbrown::HashMap;
use std::fmt;

/// Largest program, in nodes of its tree, that is taken apart.
const MAX_SIZE: u64 = 1_000_000;

/// A node of an analysed program. Numbers refer to [`Analysis::nodes`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// A constant with its arguments, one per slot of the frame.
    Constant {
        /// The constant.
        constant: ConstantId,
        /// How it is used.
        frame: FrameId,
        /// What fills its slots.
        args: Vec<usize>,
    },
    /// Values gathered by an accumulator.
    Gather {
        /// The accumulator.
        accumulator: AccumulatorId,
        /// The values in order.
        elements: Vec<usize>,
        /// What they are applied to; `None` for the accumulator's default.
        over: Option<usize>,
    },
    /// A member of an open class that no table lists.
    Unlisted {
        /// The class.
        class: ClassId,
        /// The whole entity.
        term: TermId,
    },
}

/// A typed program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Analysis {
    /// The nodes in preorder; the first is the root, inside the wrapper.
    pub nodes: Vec<Node>,
    /// The type of each node.
    pub types: Vec<TypeId>,
    /// Whether another typing would have done too.
    pub is_ambiguous: bool,
}

/// Why a program has no typing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The program lacks the domain's wrapper.
    NotWrapped,
    /// A name that the domain does not have.
    UnknownConstant {
        /// The term with that name on top.
        at: TermId,
        /// The name.
        name: String,
        /// A similar name that the domain has.
        near: Option<String>,
    },
    /// An entity of a known class that the class's table does not list.
    UnknownEntity {
        /// The entity.
        at: TermId,
        /// Its class.
        class: ClassId,
    },
    /// A known constant with a number or kind of arguments that none of its frames has.
    WrongShape {
        /// The term.
        at: TermId,
        /// Its name.
        name: String,
        /// How many arguments it has.
        n_args: usize,
        /// How its frames are written.
        expected: Vec<String>,
    },
    /// The arguments are fine by themselves but not here.
    WrongTypes {
        /// The term.
        at: TermId,
        /// Its name.
        name: String,
        /// The types that each argument can have.
        found: Vec<Vec<TypeId>>,
        /// The slots of the frames that have the right shape.
        expected: Vec<Vec<TypeId>>,
    },
    /// A complete term of a type that a program must not have.
    NotRoot {
        /// The types it can have.
        found: Vec<TypeId>,
    },
    /// More nodes than are taken apart.
    TooLarge,
}

impl Problem {
    /// A short name of the reason, for counting.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotWrapped => "not wrapped",
            Self::UnknownConstant { .. } => "unknown constant",
            Self::UnknownEntity { .. } => "unknown entity",
            Self::WrongShape { .. } => "wrong arguments",
            Self::WrongTypes { .. } => "types do not fit",
            Self::NotRoot { .. } => "not a root type",
            Self::TooLarge => "too large",
        }
    }

    /// The reason in words.
    #[must_use]
    pub fn describe(&self, domain: &Domain, terms: &Terms) -> String {
        Described { problem: self, domain, terms }.to_string()
    }
}

struct Described<'a> {
    problem: &'a Problem,
    domain: &'a Domain,
    terms: &'a Terms,
}

impl fmt::Display for Described<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { problem, domain, terms } = self;
        let types = |ids: &[TypeId]| {
            let names: Vec<_> = ids.iter().map(|&id| domain.types().name(id)).collect();
            if names.is_empty() { "nothing".to_owned() } else { names.join(" or ") }
        };
        let shown = |id: TermId| shorten(&terms.display(id).to_string());
        match problem {
            Problem::NotWrapped => f.write_str("the program is not wrapped as [root] wrap says"),
            Problem::UnknownConstant { name, near, .. } => {
                write!(f, "unknown constant `{}`", shorten(name))?;
                near.as_ref().map_or(Ok(()), |near| write!(f, ", did you mean `{near}`?"))
            }
            Problem::UnknownEntity { at, class } => {
                write!(f, "`{}` is not in the table of `{}`", shown(*at), domain.classes()[*class].name)
            }
            Problem::WrongShape { name, n_args, expected, .. } => {
                write!(f, "`{name}` with {n_args} arguments, expected {}", expected.join(" or "))
            }
            Problem::WrongTypes { name, found, expected, .. } => {
                let found: Vec<_> = found.iter().map(|ids| types(ids)).collect();
                let mut slots: Vec<_> = expected
                    .iter()
                    .map(|slots| {
                        slots.iter().map(|&slot| domain.types().name(slot)).collect::<Vec<_>>().join(", ")
                    })
                    .collect();
                slots.dedup();
                write!(f, "`{name}` of ({}), expected ({})", found.join(", "), slots.join(") or ("))
            }
            Problem::NotRoot { found } => {
                write!(
                    f,
                    "a program must not be of type {}, expected {}",
                    types(found),
                    types(domain.root_types())
                )
            }
            Problem::TooLarge => write!(f, "the program has more than {MAX_SIZE} nodes"),
        }
    }
}

fn shorten(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}...", &text[..cut]),
    }
}

/// One way to read a term.
#[derive(Clone, Debug)]
struct Reading {
    ty: TypeId,
    how: How,
}

#[derive(Clone, Debug)]
enum How {
    Frame(FrameId, Vec<TermId>),
    Entity(ConstantId),
    Unlisted(ClassId),
    /// Gathered values, and what they are applied to.
    Gather(AccumulatorId, Option<TermId>),
}

impl Domain {
    /// Types a program.
    ///
    /// Cost: linear in the number of different subterms, times the frames of each name.
    ///
    /// # Errors
    /// Why it cannot be typed.
    pub fn analyze(&self, terms: &Terms, program: TermId) -> Result<Analysis, Problem> {
        let body = self.unwrap(terms, program).ok_or(Problem::NotWrapped)?;
        if terms.size(body) > MAX_SIZE {
            return Err(Problem::TooLarge);
        }
        let readings = Readings::of(self, terms, body);
        let of_body = readings.of_term(body);
        if of_body.is_empty() {
            return Err(readings.explain(body));
        }
        let is_root = |ty: TypeId| self.root_types().iter().any(|&root| self.types().is_subtype(ty, root));
        if !of_body.iter().any(|reading| is_root(reading.ty)) {
            return Err(Problem::NotRoot { found: distinct(of_body) });
        }
        Ok(readings.choose(body))
    }

    /// The program inside the domain's wrapper.
    #[must_use]
    pub fn unwrap(&self, terms: &Terms, program: TermId) -> Option<TermId> {
        let Some(form) = self.wrap() else { return Some(program) };
        let mut args = [None];
        form.take_apart(terms, program, &mut args).then_some(args[0]).flatten()
    }
}

fn distinct(readings: &[Reading]) -> Vec<TypeId> {
    let mut types: Vec<TypeId> = readings.iter().map(|reading| reading.ty).collect();
    types.sort_unstable();
    types.dedup();
    types
}

struct Readings<'a> {
    domain: &'a Domain,
    terms: &'a Terms,
    by_term: HashMap<TermId, Vec<Reading>>,
}

impl<'a> Readings<'a> {
    fn of(domain: &'a Domain, terms: &'a Terms, body: TermId) -> Self {
        let mut all = Self { domain, terms, by_term: HashMap::new() };
        for term in terms.bottom_up(body) {
            let readings = all.readings(term);
            all.by_term.insert(term, readings);
        }
        all
    }

    /// All readings of a term whose arguments have theirs already.
    fn readings(&self, term: TermId) -> Vec<Reading> {
        let Self { domain, terms, .. } = self;
        if let Some(constant) = domain.entity(term) {
            let frame = domain.constants()[constant].frames.start;
            return vec![Reading { ty: domain.frame(FrameId(frame)).result, how: How::Entity(constant) }];
        }
        let mut found = Vec::new();
        for &id in domain.frames_like(terms, term) {
            let frame = domain.frame(id);
            let Some(args) = self.arguments(id, term) else { continue };
            if args.iter().zip(&frame.slots).all(|(&arg, &slot)| self.fits(arg, slot)) {
                found.push(Reading { ty: frame.result, how: How::Frame(id, args) });
            }
        }
        found.extend(self.gathered(term));
        if found.is_empty() {
            let class = domain.class_of(terms, term).filter(|&class| domain.classes()[class].open);
            found.extend(class.map(|id| Reading { ty: domain.classes()[id].ty, how: How::Unlisted(id) }));
        }
        found
    }

    /// What fills the slots of a frame if `term` has its form.
    fn arguments(&self, frame: FrameId, term: TermId) -> Option<Vec<TermId>> {
        let frame = self.domain.frame(frame);
        let mut args = vec![None; frame.slots.len()];
        let matches = frame.form.as_ref()?.take_apart(self.terms, term, &mut args);
        matches.then(|| args.into_iter().collect()).flatten()
    }

    fn gathered(&self, term: TermId) -> Option<Reading> {
        let Self { domain, terms, .. } = self;
        let id = domain.accumulator_of(terms, term)?;
        let types = &domain.accumulator_types()[id];
        let (&last, elements) = terms.args(term).split_last()?;
        let is_element = |&arg: &TermId| types.elements.iter().any(|&element| self.fits(arg, element));
        if elements.is_empty() || !elements.iter().all(is_element) {
            return None;
        }
        let over = if domain.accumulators()[id].default == Some(last) {
            None
        } else if self.fits(last, types.over) {
            Some(last)
        } else {
            return None;
        };
        Some(Reading { ty: types.result, how: How::Gather(id, over) })
    }

    fn of_term(&self, term: TermId) -> &[Reading] {
        self.by_term.get(&term).map_or(&[], Vec::as_slice)
    }

    fn fits(&self, term: TermId, slot: TypeId) -> bool {
        self.of_term(term).iter().any(|reading| self.domain.types().is_subtype(reading.ty, slot))
    }

    /// Walks down from the root, always taking the first reading that fits. Iterative.
    fn choose(&self, body: TermId) -> Analysis {
        let domain = self.domain;
        let mut analysis = Analysis { nodes: Vec::new(), types: Vec::new(), is_ambiguous: false };
        // Terms still to be placed, with what they must be and the node and position that waits for them.
        let mut todo = vec![(body, Want::Root, None::<(usize, usize)>)];
        while let Some((term, want, parent)) = todo.pop() {
            let mut fitting = self.of_term(term).iter().filter(|reading| self.wanted(reading, want));
            let reading = fitting.next().expect("a reading fits: its user was checked against it");
            analysis.is_ambiguous |= fitting.next().is_some();
            let at = analysis.nodes.len();
            let mut push =
                |arg: TermId, want: Want, position: usize| todo.push((arg, want, Some((at, position))));
            let node = match &reading.how {
                How::Frame(frame, args) => {
                    for (position, (&arg, &slot)) in
                        args.iter().zip(&domain.frame(*frame).slots).enumerate().rev()
                    {
                        push(arg, Want::Subtype(slot), position);
                    }
                    let constant = domain.frame_owner(*frame);
                    Node::Constant { constant, frame: *frame, args: vec![0; args.len()] }
                }
                How::Entity(constant) => {
                    let frame = FrameId(domain.constants()[*constant].frames.start);
                    Node::Constant { constant: *constant, frame, args: Vec::new() }
                }
                How::Unlisted(class) => Node::Unlisted { class: *class, term },
                How::Gather(id, over) => {
                    let elements = &self.terms.args(term)[..self.terms.args(term).len() - 1];
                    if let Some(over) = *over {
                        push(over, Want::Subtype(domain.accumulator_types()[*id].over), elements.len());
                    }
                    for (position, &element) in elements.iter().enumerate().rev() {
                        push(element, Want::Element(*id), position);
                    }
                    Node::Gather {
                        accumulator: *id,
                        elements: vec![0; elements.len()],
                        over: over.map(|_| 0),
                    }
                }
            };
            analysis.nodes.push(node);
            analysis.types.push(reading.ty);
            if let Some((parent, position)) = parent {
                analysis.nodes[parent].set_child(position, at);
            }
        }
        analysis
    }

    fn wanted(&self, reading: &Reading, want: Want) -> bool {
        let types = self.domain.types();
        match want {
            Want::Root => self.domain.root_types().iter().any(|&root| types.is_subtype(reading.ty, root)),
            Want::Subtype(slot) => types.is_subtype(reading.ty, slot),
            Want::Element(id) => {
                let elements = &self.domain.accumulator_types()[id].elements;
                elements.iter().any(|&element| types.is_subtype(reading.ty, element))
            }
        }
    }

    /// The deepest term that is to blame for `term` having no reading.
    fn explain(&self, mut term: TermId) -> Problem {
        let Self { domain, terms, .. } = self;
        loop {
            let matching: Vec<(FrameId, Vec<TermId>)> = domain
                .frames_like(terms, term)
                .iter()
                .filter_map(|&frame| Some((frame, self.arguments(frame, term)?)))
                .collect();
            let is_gather = domain.accumulator_of(terms, term).is_some() && terms.args(term).len() > 1;
            let parts: Vec<TermId> = if is_gather {
                let default =
                    domain.accumulator_of(terms, term).and_then(|id| domain.accumulators()[id].default);
                terms.args(term).iter().copied().filter(|&arg| Some(arg) != default).collect()
            } else {
                matching.iter().flat_map(|(_, args)| args.iter().copied()).collect()
            };
            if let Some(&unread) = parts.iter().find(|&&part| self.of_term(part).is_empty()) {
                term = unread;
                continue;
            }
            if matching.is_empty() && !is_gather {
                return self.explain_shape(term);
            }
            let shown = matching.first().map_or(parts.as_slice(), |(_, args)| args);
            let expected = if is_gather {
                let types = &domain.accumulator_types()[domain.accumulator_of(terms, term).expect("checked")];
                types.elements.iter().map(|&element| vec![element, types.over]).collect()
            } else {
                matching.iter().map(|(frame, _)| domain.frame(*frame).slots.clone()).collect()
            };
            return Problem::WrongTypes {
                at: term,
                name: terms.head_text(term).to_owned(),
                found: shown.iter().map(|&arg| distinct(self.of_term(arg))).collect(),
                expected,
            };
        }
    }

    /// No frame has the form of this term at all.
    fn explain_shape(&self, term: TermId) -> Problem {
        let Self { domain, terms, .. } = self;
        if let Some(class) = domain.class_of(terms, term) {
            return Problem::UnknownEntity { at: term, class };
        }
        let name = terms.head_text(term).to_owned();
        let head = terms.head(term);
        let same_name = [Shape::Call, Shape::Name]
            .into_iter()
            .flat_map(|shape| domain.frames_with_top(shape, head).iter().copied())
            .map(|frame| domain.written(frame));
        let same_class = domain.classes_with_top(head);
        let mut expected: Vec<String> = same_name.chain(same_class).collect();
        expected.dedup();
        if !expected.is_empty() || domain.accumulator_of(terms, term).is_some() {
            return Problem::WrongShape { at: term, name, n_args: terms.args(term).len(), expected };
        }
        let names = domain.predicate_names().chain(domain.classes().iter().map(|class| class.name.as_str()));
        let near = closest(&name, names).map(str::to_owned);
        Problem::UnknownConstant { at: term, name, near }
    }
}

/// What a term must be where it stands.
#[derive(Clone, Copy)]
enum Want {
    Root,
    Subtype(TypeId),
    Element(AccumulatorId),
}

impl Node {
    /// The children in the order of the text.
    pub fn children(&self) -> impl Iterator<Item = usize> + '_ {
        let (args, over): (&[usize], Option<usize>) = match self {
            Self::Constant { args, .. } => (args, None),
            Self::Gather { elements, over, .. } => (elements, *over),
            Self::Unlisted { .. } => (&[], None),
        };
        args.iter().copied().chain(over)
    }

    fn set_child(&mut self, position: usize, child: usize) {
        match self {
            Self::Constant { args, .. } => args[position] = child,
            Self::Gather { elements, over, .. } => match elements.get_mut(position) {
                Some(element) => *element = child,
                None => *over = Some(child),
            },
            Self::Unlisted { .. } => unreachable!("an unlisted entity has no children"),
        }
    }
}
