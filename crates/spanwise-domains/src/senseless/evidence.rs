//! Assesses compositions by what programs gave.
//!
//! Programs are compared in *lines*: all that differ in one argument only, in one context. A composition is assessed by all its
//! lines together, and every program must agree.
//!
//! A program with an empty argument that gives nothing says nothing, since most operations on nothing give nothing; it is
//! left out. One that gives something (how many are there? none) counts like any other.

use super::uses::Uses;
use super::{Composition, Kind};
use spanwise_lang::TermId;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Fewest different arguments of a finding.
const MIN_ARGUMENTS: usize = 5;
/// Fewest different results of these arguments, and fewest different other arguments where there are other slots.
const MIN_VALUES: usize = 2;

/// What a program gave in one context. Values are numbered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Outcome {
    Value(u32),
    Empty,
    /// It was not run, or could not be run.
    Unknown,
}

/// One program in one context, seen from one of its arguments.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    /// Maker, slot, and outermost constant of the argument.
    pub(super) composition: Composition,
    /// The outcomes of the other arguments.
    pub(super) others: Rc<[Outcome]>,
    /// The number of the context.
    pub(super) context: usize,
    pub(super) argument: TermId,
    pub(super) argument_outcome: Outcome,
    pub(super) program: TermId,
    pub(super) outcome: Outcome,
}

/// Why a composition seems senseless, and how many programs say so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Evidence {
    pub(super) kind: Kind,
    pub(super) n_programs: usize,
    pub(super) n_arguments: usize,
    pub(super) n_values: usize,
    pub(super) example: TermId,
    pub(super) result: Outcome,
}

/// Observations by composition: with the constant of the argument, and for all arguments.
pub(super) struct Compositions<'a>(BTreeMap<Composition, Vec<&'a Observation>>);

impl<'a> Compositions<'a> {
    pub(super) fn new(observations: &'a [Observation]) -> Self {
        let mut groups: BTreeMap<Composition, Vec<&Observation>> = BTreeMap::new();
        for observation in observations {
            let all = Composition { argument: None, ..observation.composition };
            for composition in [all, observation.composition] {
                groups.entry(composition).or_default().push(observation);
            }
        }
        Self(groups)
    }

    /// All compositions that seem senseless.
    pub(super) fn suspects(&self) -> Vec<(Composition, Evidence)> {
        self.0.iter().filter_map(|(&composition, seen)| Some((composition, assess(seen)?))).collect()
    }

    /// The same without what others say already: a pair is left out where its signature is senseless with every argument,
    /// unless the signature is in use and the pair is not.
    pub(super) fn findings(&self, uses: &Uses) -> Vec<(Composition, Evidence)> {
        let all = self.suspects();
        let kinds: BTreeMap<Composition, Kind> =
            all.iter().map(|(it, evidence)| (*it, evidence.kind)).collect();
        let is_news = |(composition, evidence): &(Composition, Evidence)| {
            let whole = Composition { argument: None, ..*composition };
            composition.argument.is_none()
                || kinds.get(&whole) != Some(&evidence.kind)
                || (uses.of(whole) > 0 && uses.of(*composition) == 0)
        };
        all.into_iter().filter(is_news).collect()
    }
}

/// Whether all observations agree on a kind, and are enough.
fn assess(seen: &[&Observation]) -> Option<Evidence> {
    let mut lines: BTreeMap<(&[Outcome], usize), Vec<&Observation>> = BTreeMap::new();
    for observation in seen {
        lines.entry((&observation.others, observation.context)).or_default().push(observation);
    }
    let all = |agrees: &dyn Fn(&Observation) -> bool| seen.iter().all(|observation| agrees(observation));
    let kind = if all(&|it| it.outcome == Outcome::Empty) {
        Kind::Empty
    } else if all(&|it| it.outcome == it.argument_outcome) {
        Kind::Repeats
    } else if lines.values().all(|line| line.iter().all(|it| it.outcome == line[0].outcome)) {
        Kind::Constant
    } else {
        return None;
    };
    // A line whose arguments all give the same tells nothing about what depends on them.
    if kind == Kind::Constant {
        lines.retain(|_, line| n_values(line) >= MIN_VALUES);
    }
    let counted: Vec<&Observation> = lines.values().flatten().copied().collect();
    let others: BTreeSet<&[Outcome]> = lines.keys().map(|(others, _)| *others).collect();
    let has_others = others.iter().any(|others| !others.is_empty());
    let n_arguments = counted.iter().map(|it| it.argument).collect::<BTreeSet<_>>().len();
    let n_values = n_values(&counted);
    if n_arguments < MIN_ARGUMENTS || n_values < MIN_VALUES || (has_others && others.len() < MIN_VALUES) {
        return None;
    }
    let example = counted.iter().min_by_key(|it| (it.program, it.context))?;
    Some(Evidence {
        kind,
        n_programs: counted.iter().map(|it| it.program).collect::<BTreeSet<_>>().len(),
        n_arguments,
        n_values,
        example: example.program,
        result: example.outcome,
    })
}

/// How many different results the arguments have.
fn n_values(seen: &[&Observation]) -> usize {
    let known = seen.iter().filter(|it| it.argument_outcome != Outcome::Unknown);
    known.map(|it| it.argument_outcome).collect::<BTreeSet<_>>().len()
}
