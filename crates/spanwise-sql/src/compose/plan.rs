//! The different subterms of a program, and which of them need an expression of their own.

use super::{ComposeError, MAX_DEPTH, MAX_SELECTS};
use hashbrown::HashMap;
use spanwise_lang::domain::{ClassId, Domain};
use spanwise_lang::sql::{DomainSql, Fragment, Hole, Yields};
use spanwise_lang::states::AccumulatorId;
use spanwise_lang::{Analysis, FrameId, Kind, Node, TermId, Terms, TypeId};

/// What a subterm is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum What {
    Frame(FrameId),
    Member(ClassId, TermId),
    /// Some member of a class, where statements are checked and not run.
    Sample(ClassId),
    Set(AccumulatorId),
}

/// A subterm, with the numbers of its arguments.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Part {
    pub(super) what: What,
    pub(super) args: Vec<usize>,
}

/// The subterms of a program, each once, arguments before the terms that use them; the program itself is last.
pub(super) struct Plan<'a> {
    pub(super) sql: &'a DomainSql,
    pub(super) parts: Vec<Part>,
    /// Whether a part has an expression of its own.
    pub(super) needed: Vec<bool>,
    /// For each part that is needed, the arguments that it selects from, one for each hole.
    pub(super) uses: Vec<Vec<usize>>,
    /// The type of the whole.
    pub(super) ty: TypeId,
}

impl<'a> Plan<'a> {
    pub(super) fn new(domain: &'a Domain, terms: &Terms, program: TermId) -> Result<Self, ComposeError> {
        let analysis = domain
            .analyze(terms, program)
            .map_err(|problem| ComposeError::IllTyped(problem.describe(domain, terms)))?;
        let sql = domain.sql().ok_or_else(|| ComposeError::NoSql(domain.name().to_owned()))?;
        let ty = analysis.types[0];
        let parts = parts(domain, &analysis);
        let plan = Self::of(domain, terms, sql, parts, ty)?;
        plan.check_size()?;
        Ok(plan)
    }

    /// A plan of parts, of which the last is the whole.
    pub(super) fn of(
        domain: &'a Domain,
        terms: &Terms,
        sql: &'a DomainSql,
        parts: Vec<Part>,
        ty: TypeId,
    ) -> Result<Self, ComposeError> {
        let mut plan = Self { sql, needed: vec![false; parts.len()], parts, uses: Vec::new(), ty };
        plan.mark(domain, terms)?;
        Ok(plan)
    }

    pub(super) fn root(&self) -> usize {
        self.parts.len() - 1
    }

    /// Whether a part can be selected from.
    pub(super) fn has_sql(&self, part: usize) -> bool {
        match self.parts[part].what {
            What::Frame(frame) => self.sql.of_frame(frame).is_some(),
            What::Member(class, _) | What::Sample(class) => self.sql.of_class(class).is_some(),
            What::Set(set) => self.sql.of_set(set).is_some(),
        }
    }

    /// What an expression yields.
    pub(super) fn yields(&self, part: usize) -> Yields {
        match self.parts[part].what {
            What::Frame(frame) => self.sql.of_frame(frame).map_or(Yields::Keys, |fragment| fragment.yields),
            What::Member(..) | What::Sample(_) | What::Set(_) => Yields::Keys,
        }
    }

    /// The argument of a part for a slot of the signature.
    pub(super) fn argument(&self, domain: &Domain, part: usize, slot: usize) -> Option<usize> {
        let What::Frame(frame) = self.parts[part].what else { return None };
        let at = domain.frame(frame).given.iter().position(|&given| given == slot)?;
        self.parts[part].args.get(at).copied()
    }

    /// The fragment of a part.
    pub(super) fn fragment(&self, part: usize) -> Option<&'a Fragment> {
        match self.parts[part].what {
            What::Frame(frame) => self.sql.of_frame(frame),
            What::Member(class, _) | What::Sample(class) => self.sql.of_class(class),
            What::Set(_) => None,
        }
    }

    /// The columns that a hole selects from the expression of an argument; `None` for a cell, which is a parameter.
    pub(super) fn selected(&self, argument: usize, part: Option<&str>) -> Option<Yields> {
        match part {
            None => Some(Yields::Keys),
            Some("value") if self.has_sql(argument) => Some(Yields::Values),
            Some("rank") if self.has_sql(argument) => Some(Yields::Ranks),
            Some(_) => None,
        }
    }

    fn uses_of(&self, domain: &Domain, part: usize) -> Vec<usize> {
        if matches!(self.parts[part].what, What::Set(_)) {
            return self.parts[part].args.clone();
        }
        let Some(fragment) = self.fragment(part) else { return Vec::new() };
        let is_given = |slot: usize| self.argument(domain, part, slot).is_some();
        let mut found = Vec::new();
        for (hole, _) in fragment.holes(&is_given) {
            let Hole::Argument { slot, part: column } = hole else { continue };
            let Some(argument) = self.argument(domain, part, *slot) else { continue };
            if self.selected(argument, column.as_deref()).is_some() {
                found.push(argument);
            }
        }
        found
    }

    /// Marks the parts that need an expression, from the whole down.
    fn mark(&mut self, domain: &Domain, terms: &Terms) -> Result<(), ComposeError> {
        let root = self.root();
        self.needed[root] = true;
        for part in (0..=root).rev() {
            if !self.needed[part] {
                continue;
            }
            if !self.has_sql(part) {
                return Err(match self.parts[part].what {
                    What::Member(_, term) if part == root => {
                        ComposeError::Bare(domain.display(terms, term).to_string())
                    }
                    what => ComposeError::NoSql(name(domain, terms, what)),
                });
            }
            for used in self.uses_of(domain, part) {
                self.needed[used] = true;
            }
        }
        self.uses = (0..self.parts.len())
            .map(|part| if self.needed[part] { self.uses_of(domain, part) } else { Vec::new() })
            .collect();
        Ok(())
    }

    fn check_size(&self) -> Result<(), ComposeError> {
        let (mut depth, mut selects) = (vec![0usize; self.parts.len()], vec![0u64; self.parts.len()]);
        for (part, uses) in self.uses.iter().enumerate() {
            depth[part] = 1 + uses.iter().map(|&used| depth[used]).max().unwrap_or(0);
            selects[part] = uses.iter().fold(1, |sum, &used| selects[used].saturating_add(sum));
        }
        let root = self.root();
        if depth[root] > MAX_DEPTH {
            return Err(ComposeError::Limit { what: "levels", limit: MAX_DEPTH as u64 });
        }
        if selects[root] > MAX_SELECTS {
            return Err(ComposeError::Limit { what: "selects", limit: MAX_SELECTS });
        }
        Ok(())
    }

    /// The needed parts in the order in which they are written: arguments from left to right, then what uses them.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut is_done = vec![false; self.parts.len()];
        let mut todo = vec![(self.root(), false)];
        while let Some((part, is_open)) = todo.pop() {
            if is_done[part] {
                continue;
            }
            if is_open {
                is_done[part] = true;
                order.push(part);
                continue;
            }
            todo.push((part, true));
            todo.extend(self.uses[part].iter().rev().map(|&used| (used, false)));
        }
        order
    }
}

/// The name of a constant, a class or a set.
pub(super) fn name(domain: &Domain, terms: &Terms, what: What) -> String {
    match what {
        What::Frame(frame) => domain.constants()[domain.frame_owner(frame)].name.clone(),
        What::Member(class, _) | What::Sample(class) => domain.classes()[class].name.clone(),
        What::Set(set) => terms.text(domain.accumulators()[set].head).to_owned(),
    }
}

/// The different subterms of a typed program. Nodes are in preorder, so arguments come after what uses them.
fn parts(domain: &Domain, analysis: &Analysis) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut known: HashMap<Part, usize> = HashMap::new();
    let mut number = vec![0; analysis.nodes.len()];
    for (at, node) in analysis.nodes.iter().enumerate().rev() {
        let what = match node {
            Node::Constant { constant, frame, .. } => {
                let constant = &domain.constants()[*constant];
                match (constant.kind, constant.term) {
                    (Kind::Entity(class), Some(term)) => What::Member(class, term),
                    _ => What::Frame(*frame),
                }
            }
            Node::Unlisted { class, term } => What::Member(*class, *term),
            Node::Gather { accumulator, .. } => What::Set(*accumulator),
        };
        let mut args: Vec<usize> = node.children().map(|child| number[child]).collect();
        if matches!(what, What::Set(_)) {
            // An element that is said twice changes nothing.
            args.dedup();
        }
        let part = Part { what, args };
        number[at] = *known.entry(part.clone()).or_insert_with(|| {
            parts.push(part);
            parts.len() - 1
        });
    }
    debug_assert!(parts.iter().enumerate().all(|(at, part)| part.args.iter().all(|&arg| arg < at)));
    parts
}
