//! Type checking: splits a program into its constants and gives each one a frame and a type.
//!
//! If several typings are possible, [`Domain::analyze`] chooses the one declared first; [`Domain::analyses`] gives all of them. The
//! reason why a program is ill-typed is returned as a [`Problem`].

mod problem;

pub use problem::Problem;

use crate::diag::closest;
use crate::domain::{ClassId, ConstantId, Domain, FrameId};
use crate::form::With;
use crate::states::AccumulatorId;
use crate::term::{Shape, TermId, Terms};
use crate::types::TypeId;
use hashbrown::{HashMap, HashSet};

/// Most typings that are tried to find one that is allowed.
const MAX_TRIED: usize = 1_000;

/// Largest program that is analyzed, in nodes of its tree.
const MAX_SIZE: u64 = 1_000_000;

/// A node of an analyzed program. Children are indices into [`Analysis::nodes`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Node {
    /// A constant with its arguments, one per slot of the frame.
    Constant {
        /// The constant.
        constant: ConstantId,
        /// How it is used.
        frame: FrameId,
        /// The nodes that fill its slots.
        args: Vec<usize>,
    },
    /// Values gathered by an accumulator.
    Gather {
        /// The accumulator.
        accumulator: AccumulatorId,
        /// The values in order.
        elements: Vec<usize>,
        /// What they are applied to; `None` for the accumulator's default, and for sets.
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
///
/// ```
/// use spanwise_lang::domain::NoTables;
/// use spanwise_lang::{Domain, Node};
///
/// let source = r#"
///     name = "family"
///     types = ["Person", "Fact"]
///     root = { types = ["Fact"] }
///     constants = { mother = "Person -> Person", ann = "Person", knows = "Person, Person -> Fact" }
/// "#;
/// let domain = Domain::load(source, "family.toml", None, &NoTables)?;
/// let mut terms = domain.new_terms();
/// let program = terms.parse("knows(ann, mother(ann))").unwrap();
/// let analysis = domain.analyze(&terms, program).unwrap();
/// // Nodes are in preorder: knows, ann, mother, ann. Equal subterms have nodes of their own.
/// assert_eq!(analysis.nodes.len(), 4);
/// assert_eq!(analysis.nodes[0].children().collect::<Vec<_>>(), [1, 2]);
/// assert_eq!(domain.types().name(analysis.types[2]), "Person");
/// assert!(matches!(analysis.nodes[2], Node::Constant { .. }));
/// # Ok::<(), spanwise_lang::DomainErrors>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Analysis {
    /// The nodes in preorder; the first is the root, inside the wrapper.
    pub nodes: Vec<Node>,
    /// The type of each node.
    pub types: Vec<TypeId>,
    /// Whether another typing is possible.
    pub is_ambiguous: bool,
}

/// One possible typing of a term.
#[derive(Clone, Debug)]
struct Reading {
    ty: TypeId,
    how: How,
}

/// A term of the program, and what stands in it in the place of what it lacks, where it is an argument that lacks something.
type Part = (TermId, Option<TermId>);

#[derive(Clone, Debug)]
enum How {
    Frame(FrameId, Vec<Part>),
    Entity(ConstantId),
    Unlisted(ClassId),
    /// Gathered values, and what they are applied to.
    Gather(AccumulatorId, Option<TermId>),
}

impl Domain {
    /// Type-checks a program.
    ///
    /// Cost: linear in the number of different subterms, times the frames of each name.
    ///
    /// # Errors
    /// Why it has no typing.
    pub fn analyze(&self, terms: &Terms, program: TermId) -> Result<Analysis, Problem> {
        let body = self.unwrap(terms, program).ok_or(Problem::NotWrapped)?;
        if terms.size(body) > MAX_SIZE {
            return Err(Problem::TooLarge);
        }
        let readings = Readings::of(self, terms, body).ok_or(Problem::TooLarge)?;
        let of_body = readings.of_part((body, None));
        if of_body.is_empty() {
            return Err(readings.explain(body));
        }
        let is_root = |ty: TypeId| self.root_types().iter().any(|&root| self.types().is_subtype(ty, root));
        if !of_body.iter().any(|reading| is_root(reading.ty)) {
            return Err(Problem::NotRoot { found: distinct(of_body) });
        }
        let first = readings.choose(body, &[]).analysis;
        match self.repeated(&first) {
            None => Ok(first),
            // Another typing may have elements of other constants.
            Some(problem) => self.typings(&readings, body, 1).pop().ok_or(problem),
        }
    }

    /// The typings of a program, in the order of declaration; no more than so many. The first is that of
    /// [`analyze`](Self::analyze).
    ///
    /// # Errors
    /// Why it has no typing.
    pub fn analyses(&self, terms: &Terms, program: TermId, most: usize) -> Result<Vec<Analysis>, Problem> {
        let first = self.analyze(terms, program)?;
        if !first.is_ambiguous {
            return Ok(vec![first]);
        }
        let body = self.unwrap(terms, program).ok_or(Problem::NotWrapped)?;
        let readings = Readings::of(self, terms, body).ok_or(Problem::TooLarge)?;
        Ok(self.typings(&readings, body, most))
    }

    /// Typings in order, without those of sets whose elements are not allowed together.
    fn typings(&self, readings: &Readings<'_>, body: TermId, most: usize) -> Vec<Analysis> {
        let mut found = Vec::new();
        // Which reading each node takes, in the order of the nodes. The last choice changes first.
        let mut choices: Vec<usize> = Vec::new();
        for _ in 0..MAX_TRIED.max(most) {
            let Chosen { analysis, terms, n_readings } = readings.choose(body, &choices);
            choices.resize(n_readings.len(), 0);
            if self.is_ordered(&analysis, &terms, &choices) && self.repeated(&analysis).is_none() {
                found.push(analysis);
            }
            let Some(last) = (0..choices.len()).rev().find(|&at| choices[at] + 1 < n_readings[at]) else {
                break;
            };
            choices.truncate(last + 1);
            choices[last] += 1;
            if found.len() == most {
                break;
            }
        }
        found
    }

    /// Whether equal elements of sets have their readings in order. Those of other typings are the same with elements
    /// exchanged, which mean nothing new.
    fn is_ordered(&self, analysis: &Analysis, terms: &[TermId], choices: &[usize]) -> bool {
        let mut ends: Vec<usize> = (1..=analysis.nodes.len()).collect();
        for at in (0..ends.len()).rev() {
            ends[at] = analysis.nodes[at].children().last().map_or(ends[at], |last| ends[last]);
        }
        let readings = |node: usize| &choices[node..ends[node]];
        analysis.nodes.iter().all(|node| {
            let Node::Gather { accumulator, elements, .. } = node else { return true };
            let in_order =
                |pair: &[usize]| terms[pair[0]] != terms[pair[1]] || readings(pair[0]) <= readings(pair[1]);
            !self.accumulator_types()[*accumulator].is_set() || elements.windows(2).all(in_order)
        })
    }

    /// The first set with two elements of a constant that makes at most one.
    fn repeated(&self, analysis: &Analysis) -> Option<Problem> {
        analysis.nodes.iter().find_map(|node| {
            let Node::Gather { accumulator, elements, .. } = node else { return None };
            let types = &self.accumulator_types()[*accumulator];
            let mut seen = vec![false; types.unique.len()];
            let again = elements.iter().filter_map(|&element| types.unique_number(analysis.types[element]));
            let number = again.into_iter().find(|&number| std::mem::replace(&mut seen[number], true))?;
            Some(Problem::Repeated { constant: types.unique[number].0, set: *accumulator })
        })
    }

    /// The subterms that type checking reads as a whole, as an entity or a literal, with their classes.
    ///
    /// Cost: that of [`analyze`](Self::analyze). The term need not be well-typed.
    pub(crate) fn leaves(&self, terms: &Terms, root: TermId) -> HashMap<TermId, ClassId> {
        let class = |reading: &Reading| match reading.how {
            How::Entity(constant) => self.entity_class(constant),
            How::Unlisted(class) => Some(class),
            How::Frame(..) | How::Gather(..) => None,
        };
        let Some(readings) = Readings::of(self, terms, root) else { return HashMap::new() };
        let order = terms.bottom_up(root).into_iter();
        order
            .filter_map(|term| Some((term, readings.of_part((term, None)).iter().find_map(class)?)))
            .collect()
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

/// A typing, with the term of each of its nodes and the number of readings that it could have there.
struct Chosen {
    analysis: Analysis,
    terms: Vec<TermId>,
    n_readings: Vec<usize>,
}

struct Readings<'a> {
    domain: &'a Domain,
    terms: &'a Terms,
    by_part: HashMap<Part, Vec<Reading>>,
}

impl<'a> Readings<'a> {
    /// `None` if there are too many parts.
    fn of(domain: &'a Domain, terms: &'a Terms, body: TermId) -> Option<Self> {
        let mut all = Self { domain, terms, by_part: HashMap::new() };
        for part in all.parts(body)? {
            let readings = all.readings(part);
            all.by_part.insert(part, readings);
        }
        Some(all)
    }

    /// All parts of a term that can be arguments, arguments before what contains them. `None` if there are too many.
    fn parts(&self, body: TermId) -> Option<Vec<Part>> {
        let mut parts: Vec<Part> = self.terms.bottom_up(body).into_iter().map(|term| (term, None)).collect();
        if !self.domain.has_lacking() {
            return Some(parts);
        }
        let mut known: HashSet<Part> = parts.iter().copied().collect();
        let mut next = 0;
        while let Some(&part) = parts.get(next) {
            next += 1;
            for &frame in self.domain.frames_like(self.terms, part.0) {
                let args = self.arguments(frame, part).unwrap_or_default();
                parts.extend(args.into_iter().filter(|&arg| known.insert(arg)));
            }
            if parts.len() as u64 > MAX_SIZE {
                return None;
            }
        }
        // Arguments have smaller numbers than the terms that contain them.
        parts.sort_unstable();
        Some(parts)
    }

    /// All readings of a part. Those of its arguments must be known.
    fn readings(&self, part: Part) -> Vec<Reading> {
        let Self { domain, terms, .. } = self;
        let (term, _) = part;
        if let Some(constant) = domain.entity(term) {
            let frame = domain.constants()[constant].frames.start;
            return vec![Reading { ty: domain.frame(FrameId(frame)).result, how: How::Entity(constant) }];
        }
        let mut found = Vec::new();
        for &id in domain.frames_like(terms, term) {
            let frame = domain.frame(id);
            let Some(args) = self.arguments(id, part) else { continue };
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

    /// The arguments of a part in the slots of a frame, if it matches its form.
    fn arguments(&self, frame: FrameId, part: Part) -> Option<Vec<Part>> {
        let frame = self.domain.frame(frame);
        let form = frame.form.as_ref()?;
        let mut args = vec![None; frame.slots.len()];
        if !form.take_apart_with(self.terms, part, &mut args) {
            return None;
        }
        let args: Vec<TermId> = args.into_iter().collect::<Option<_>>()?;
        let with = |(slot, &ty): (usize, &TypeId)| match form.completions(slot).first() {
            // What it lacks, the whole term lacks.
            Some(None) if self.domain.is_lacking(ty) => part.1,
            Some(Some(With::Argument(with))) => Some(args[*with]),
            Some(Some(With::Term(term))) => Some(*term),
            Some(None) | None => None,
        };
        let with: Vec<Option<TermId>> = match self.domain.has_lacking() {
            true => frame.slots.iter().enumerate().map(with).collect(),
            false => vec![None; args.len()],
        };
        Some(args.into_iter().zip(with).collect())
    }

    /// As gathered values: over the default, over a term that is written like it or not, or both.
    fn gathered(&self, term: TermId) -> Vec<Reading> {
        let Self { domain, terms, .. } = self;
        let Some(id) = domain.accumulator_of(terms, term) else { return Vec::new() };
        let types = &domain.accumulator_types()[id];
        let is_element =
            |&arg: &TermId| types.elements.iter().any(|&element| self.fits((arg, None), element));
        let Some(wanted) = types.over else {
            let elements = terms.args(term);
            let is_set = elements.len() > 1 && elements.iter().all(is_element);
            let reading = is_set.then_some(Reading { ty: types.result, how: How::Gather(id, None) });
            return reading.into_iter().collect();
        };
        let Some((&last, elements)) = terms.args(term).split_last() else { return Vec::new() };
        if elements.is_empty() || !elements.iter().all(is_element) {
            return Vec::new();
        }
        let default = (domain.accumulators()[id].default == Some(last)).then_some(None);
        let said = self.fits((last, None), wanted).then_some(Some(last));
        let reading = |over| Reading { ty: types.result, how: How::Gather(id, over) };
        default.into_iter().chain(said).map(reading).collect()
    }

    fn of_part(&self, part: Part) -> &[Reading] {
        self.by_part.get(&part).map_or(&[], Vec::as_slice)
    }

    fn fits(&self, part: Part, slot: TypeId) -> bool {
        self.of_part(part).iter().any(|reading| self.domain.types().is_subtype(reading.ty, slot))
    }

    /// Walks down from the root and takes for each node the chosen one of the readings that fit, the first where nothing is
    /// chosen. Iterative.
    fn choose(&self, body: TermId, choices: &[usize]) -> Chosen {
        let domain = self.domain;
        let mut analysis = Analysis { nodes: Vec::new(), types: Vec::new(), is_ambiguous: false };
        // Terms without a node yet, each with its required type and the parent and position that it belongs to.
        let (mut n_readings, mut terms) = (Vec::new(), Vec::new());
        let mut todo = vec![((body, None), Want::Root, None::<(usize, usize)>)];
        while let Some((part, want, parent)) = todo.pop() {
            let (term, _) = part;
            let fitting: Vec<&Reading> =
                self.of_part(part).iter().filter(|reading| self.wanted(reading, want)).collect();
            let at = analysis.nodes.len();
            let choice = choices.get(at).copied().unwrap_or(0);
            let reading = fitting
                .get(choice)
                .expect("a reading fits, because that of the parent was checked against it");
            analysis.is_ambiguous |= fitting.len() > 1;
            n_readings.push(fitting.len());
            terms.push(term);
            let mut push =
                |arg: Part, want: Want, position: usize| todo.push((arg, want, Some((at, position))));
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
                    let types = &domain.accumulator_types()[*id];
                    let args = self.terms.args(term);
                    let elements = &args[..args.len() - usize::from(!types.is_set())];
                    if let (Some(over), Some(wanted)) = (*over, types.over) {
                        push((over, None), Want::Subtype(wanted), elements.len());
                    }
                    for (position, &element) in elements.iter().enumerate().rev() {
                        push((element, None), Want::Element(*id), position);
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
        Chosen { analysis, terms, n_readings }
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

    /// The problem of the deepest subterm because of which `term` has no reading.
    fn explain(&self, body: TermId) -> Problem {
        let Self { domain, terms, .. } = self;
        let mut part = (body, None);
        loop {
            let (term, _) = part;
            let matching: Vec<(FrameId, Vec<Part>)> = domain
                .frames_like(terms, term)
                .iter()
                .filter_map(|&frame| Some((frame, self.arguments(frame, part)?)))
                .collect();
            let gather = domain.accumulator_of(terms, term).filter(|_| terms.args(term).len() > 1);
            let parts: Vec<Part> = match gather {
                Some(id) => {
                    let default = domain.accumulators()[id].default;
                    let others = terms.args(term).iter().filter(|&&arg| Some(arg) != default);
                    others.map(|&arg| (arg, None)).collect()
                }
                None => matching.iter().flat_map(|(_, args)| args.iter().copied()).collect(),
            };
            if let Some(&unread) = parts.iter().find(|&&part| self.of_part(part).is_empty()) {
                part = unread;
                continue;
            }
            if matching.is_empty() && gather.is_none() {
                return self.explain_shape(term);
            }
            let shown = matching.first().map_or(parts.as_slice(), |(_, args)| args);
            let expected = match gather.map(|id| &domain.accumulator_types()[id]) {
                Some(types) => {
                    let row = |&element: &TypeId| std::iter::once(element).chain(types.over).collect();
                    types.elements.iter().map(row).collect()
                }
                None => matching.iter().map(|(frame, _)| domain.frame(*frame).slots.clone()).collect(),
            };
            return Problem::WrongTypes {
                at: term,
                name: terms.head_text(term).to_owned(),
                found: shown.iter().map(|&arg| distinct(self.of_part(arg))).collect(),
                expected,
            };
        }
    }

    /// The problem of a term that matches the form of no frame.
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

/// What the context requires of a term.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::NoTables;

    #[test]
    fn typings_come_in_the_order_of_declaration_and_no_more_than_are_wanted() {
        let file = "name = 'd'\ntypes = ['A', 'B', 'R']\nroot = { types = ['R'] }\n[constants]\n\
                    f = ['A = x -> R', 'B, A? -> R']\ng = 'R, R -> R'\nx = ['A', 'B']\n";
        let domain = Domain::load(file, "d.toml", None, &NoTables).unwrap();
        let shown = |text: &str, most: usize| -> Vec<String> {
            let mut terms = domain.new_terms();
            let program = terms.parse(text).unwrap();
            let name = |analysis: &Analysis| {
                let types = analysis.types.iter().map(|&ty| domain.types().name(ty));
                types.collect::<Vec<_>>().join(" ")
            };
            domain.analyses(&terms, program, most).unwrap().iter().map(name).collect()
        };
        // With `x` said, by default, and as another type.
        assert_eq!(shown("f(x)", 9), ["R A", "R", "R B"]);
        assert_eq!(shown("f(x, x)", 9), ["R B A"]);
        assert_eq!(shown("g(f(x), f(x))", 99).len(), 9);
        assert_eq!(shown("g(f(x), f(x))", 4), ["R R A R A", "R R A R", "R R A R B", "R R R A"]);
    }
}
