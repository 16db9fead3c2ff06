//! Senseless compositions, found by execution: what the types allow and nobody says.
//!
//! A type system that keeps out `next_to(largest(one_state))` makes parsing easier, but its author must first notice that
//! such programs are well-typed. A [`Search`] builds small well-typed programs bottom-up (`enumerate`), runs them, and
//! reports signatures, and pairs of a signature and the constant of its argument, whose results never depend on the argument, are
//! always empty, or always repeat the argument (`evidence`). What the data uses is reported apart (`uses`).
//!
//! A finding is evidence, not proof: it holds for all programs that were run, and says how many these were.

mod enumerate;
mod evidence;
mod runner;
#[cfg(test)]
mod tests;
mod uses;

use crate::data::Example;
use crate::exec::Executor;
use enumerate::Enumeration;
use evidence::{Compositions, Evidence};
use runner::Runner;
use serde_json::Value;
use spanwise_lang::domain::{ClassId, ExecutorChoice};
use spanwise_lang::states::AccumulatorId;
use spanwise_lang::{ConstantId, Domain, FrameId, TermId, Terms, TypeId};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use uses::Uses;

/// Bounds of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most programs to run. A fifth of them is kept to try findings on more entities.
    pub programs: usize,
    /// Most entities of each class that programs are built from. They are spread evenly over its members.
    pub entities: usize,
    /// Most arguments with the same outermost constant, for each slot and each depth of programs.
    pub arguments: usize,
    /// Most arguments of each other slot that these are combined with.
    pub others: usize,
    /// Deepest program, in constants.
    pub depth: usize,
    /// Most contexts that each program is run in.
    pub contexts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { programs: 60_000, entities: 12, arguments: 16, others: 4, depth: 6, contexts: 4 }
    }
}

/// Why a composition seems senseless.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// The result is empty, an error, or no value, although the arguments are not empty.
    Empty,
    /// The result is the argument.
    Repeats,
    /// The result does not depend on the argument.
    Constant,
}

impl Kind {
    /// A name for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Repeats => "repeats",
            Self::Constant => "constant",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "always gives nothing",
            Self::Repeats => "always repeats its argument",
            Self::Constant => "never depends on its argument",
        })
    }
}

/// A composition that seems senseless.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Why.
    pub kind: Kind,
    /// The outer constant, or the head of an accumulator.
    pub constant: String,
    /// Its signature, without type variables: `States -> TopState`.
    pub signature: String,
    /// The same as written in the domain file.
    pub declared: String,
    /// The line of the signature in the domain file, from 1.
    pub line: usize,
    /// The slot of the argument, from 0.
    pub slot: usize,
    /// How many slots there are.
    pub n_slots: usize,
    /// The outermost constant of the argument, or its class; `None` when it holds for every argument.
    pub argument: Option<String>,
    /// Programs that were run and agree.
    pub n_programs: usize,
    /// Different arguments among them.
    pub n_arguments: usize,
    /// Different results of these arguments.
    pub n_values: usize,
    /// One of the programs.
    pub example: String,
    /// What it gives; `None` for nothing.
    pub result: Option<String>,
    /// Programs of the data that contain the composition.
    pub uses: usize,
}

/// What a search has found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// Compositions that no program of the data contains, those with the most evidence first.
    pub unused: Vec<Finding>,
    /// Those that the data contains: people say them, so they should stay.
    pub in_use: Vec<Finding>,
    /// Programs that were run.
    pub programs: usize,
    /// Contexts that each was run in; 0 when the examples have none.
    pub contexts: usize,
    /// Whether programs were left out because of the limit on programs, or because the search was told to stop.
    pub is_cut_short: bool,
    /// Why no program could be run at all.
    pub not_run: Option<String>,
}

/// A search for senseless compositions. See the [module](self).
///
/// ```
/// use spanwise_domains::senseless::Search;
/// use spanwise_domains::{exec, load::load};
///
/// let domain = load("scan")?;
/// let executor = exec::open(&domain, None)?.expect("scan has an executor");
/// let report = Search::new(&domain, &*executor).run(|_| true);
/// assert!(report.programs > 100);
/// assert_eq!(report.unused, [], "all that SCAN can say makes a difference");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Search<'a> {
    domain: &'a Domain,
    executor: &'a dyn Executor,
    limits: Limits,
    /// Starts with the terms of the domain; the literals below are built in it.
    terms: Terms,
    contexts: Vec<Value>,
    literals: Vec<(ClassId, TermId)>,
    uses: Uses,
}

impl<'a> Search<'a> {
    /// A search with the default limits.
    #[must_use]
    pub fn new(domain: &'a Domain, executor: &'a dyn Executor) -> Self {
        let terms = domain.new_terms();
        let (limits, uses) = (Limits::default(), Uses::default());
        Self { domain, executor, limits, terms, contexts: Vec::new(), literals: Vec::new(), uses }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Takes note of an example: of the compositions and literals of its program, and of its context as one to run programs
    /// in. Ill-typed programs have no compositions.
    pub fn add(&mut self, example: &Example) {
        if let Some(context) = &example.context
            && self.contexts.len() < self.limits.contexts
            && !self.contexts.contains(context)
        {
            self.contexts.push(context.clone());
        }
        let program = example.program.as_ref().and_then(|text| self.terms.parse(text).ok());
        let Some(analysis) = program.and_then(|id| self.domain.analyze(&self.terms, id).ok()) else { return };
        self.uses.add(self.domain, &analysis);
        for (class, term) in uses::literals(&analysis) {
            let of_class = self.literals.iter().filter(|(known, _)| *known == class).count();
            if of_class < self.limits.entities && !self.literals.contains(&(class, term)) {
                self.literals.push((class, term));
            }
        }
    }

    /// Runs programs, and reports what is senseless. `keep_going` is called before each program with the number of those that
    /// were run; once it returns `false`, the search ends with what it has seen.
    ///
    /// Cost: at most [`Limits::programs`] programs, each once per context. Memory grows with the programs.
    pub fn run(self, keep_going: impl FnMut(usize) -> bool) -> Report {
        let Self { domain, executor, limits, terms, contexts, literals, uses } = self;
        // An executor outside of this process need not expect anything but complete programs.
        let complete_only = !matches!(domain.executor(), ExecutorChoice::Builtin(_) | ExecutorChoice::None);
        let runner = Runner::new(domain, executor, &contexts, complete_only, keep_going);
        let mut search = Enumeration::new(domain, limits, terms, runner);
        search.leaves(&literals);
        search.grow(limits.programs - limits.programs / 5);
        let suspects = Compositions::new(&search.observations).suspects();
        search.look_again(suspects.iter().map(|(composition, _)| *composition), limits.programs);
        let seen = Compositions::new(&search.observations);
        let mut report = Report {
            programs: search.runner.n_run,
            contexts: contexts.len(),
            is_cut_short: search.is_cut_short,
            not_run: search.runner.reason_not_run(),
            ..Report::default()
        };
        for (composition, evidence) in seen.findings(&uses) {
            let finding = search.describe(composition, &evidence, uses.of(composition));
            let list = if finding.uses > 0 { &mut report.in_use } else { &mut report.unused };
            list.push(finding);
        }
        for list in [&mut report.unused, &mut report.in_use] {
            // Stable: equal evidence stays in the order of the file.
            list.sort_by_key(|finding| (Reverse(finding.n_arguments), Reverse(finding.n_programs)));
        }
        report
    }
}

/// A way to make a term of others: a frame of a constant, or an accumulator with a value of one of its types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Maker {
    Frame(FrameId),
    Gather { accumulator: AccumulatorId, element: TypeId, has_over: bool },
}

/// The outermost constant of a term. Entities of a class count as one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Top {
    Predicate(ConstantId),
    Class(ClassId),
    Accumulator(AccumulatorId),
}

/// A way to make a term and one of its slots, alone or with the outermost constant of the argument.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Composition {
    maker: Maker,
    slot: usize,
    argument: Option<Top>,
}

impl Maker {
    /// The types of its arguments and of its result.
    fn types(self, domain: &Domain) -> (Vec<TypeId>, TypeId) {
        match self {
            Self::Frame(id) => (domain.frame(id).slots.clone(), domain.frame(id).result),
            Self::Gather { accumulator, element, has_over } => {
                let types = &domain.accumulator_types()[accumulator];
                let over = types.over.filter(|_| has_over);
                (std::iter::once(element).chain(over).collect(), types.result)
            }
        }
    }

    fn top(self, domain: &Domain) -> Top {
        match self {
            Self::Frame(id) => Top::Predicate(domain.frame_owner(id)),
            Self::Gather { accumulator, .. } => Top::Accumulator(accumulator),
        }
    }
}

impl Top {
    fn name(self, domain: &Domain, terms: &Terms) -> String {
        match self {
            Self::Predicate(id) => domain.constants()[id].name.clone(),
            Self::Class(id) => domain.classes()[id].name.clone(),
            Self::Accumulator(id) => terms.text(domain.accumulators()[id].head).to_owned(),
        }
    }
}

impl<F: FnMut(usize) -> bool> Enumeration<'_, F> {
    /// A composition in words.
    fn describe(&mut self, composition: Composition, evidence: &Evidence, uses: usize) -> Finding {
        let Composition { maker, slot, argument } = composition;
        let domain = self.domain;
        let (slots, result) = maker.types(domain);
        let name = |&ty: &TypeId| domain.types().name(ty);
        let declared = match maker {
            Maker::Frame(id) => domain.frame(id).declared.clone(),
            Maker::Gather { accumulator, .. } => domain.accumulators()[accumulator].declared.clone(),
        };
        Finding {
            kind: evidence.kind,
            constant: maker.top(domain).name(domain, &self.terms),
            signature: format!(
                "{} -> {}",
                slots.iter().map(name).collect::<Vec<_>>().join(", "),
                name(&result)
            ),
            line: domain.source()[..declared.start].bytes().filter(|&byte| byte == b'\n').count() + 1,
            declared: domain.source()[declared].to_owned(),
            slot,
            n_slots: slots.len(),
            argument: argument.map(|top| top.name(domain, &self.terms)),
            n_programs: evidence.n_programs,
            n_arguments: evidence.n_arguments,
            n_values: evidence.n_values,
            example: self.written(evidence.example),
            result: self.runner.text(evidence.result).map(str::to_owned),
            uses,
        }
    }
}

/// Numbers of programs by composition.
type Counts = BTreeMap<Composition, usize>;
