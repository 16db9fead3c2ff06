//! The parts of a program and how they compose.
//!
//! A *fragment* is a meaning that is a connected part of the program: one of its sub-terms, one of its
//! functions with some of its arguments in their places, or a run of neighbouring values of an accumulator.
//! All fragments and all ways to compose two of them are worked out before a chart is filled, with the same
//! `apply` and `gather` that programs are built with. So the chart can keep exactly the trees that may still
//! become the program, whatever the frames of their constants, and needs only look-ups for it.
//!
//! Fragments are terms, not places: where a constant or a larger part occurs twice, one fragment stands for
//! both. No place can be used twice all the same, since what two fragments compose into must again be a part.
//!
//! Cost: for each different sub-term and frame, one application per argument and per set of arguments that
//! may come before it.

use super::program::join;
use hashbrown::HashMap;
use spanwise_lang::meaning::Partial;
use spanwise_lang::states::AccumulatorId;
use spanwise_lang::{ConstantId, Domain, FrameId, Kind, Meaning, Shape, Symbol, TermId, Terms, TypeId};

/// A fragment of a program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct FragmentId(u32);

/// Left neighbour, right neighbour, the two as one.
type Rule = (FragmentId, FragmentId, FragmentId);

/// The fragments of a program that can become the whole of it.
#[derive(Debug)]
pub(super) struct Fragments {
    meanings: Vec<Meaning>,
    /// The constants of the program, in order.
    constants: Vec<ConstantId>,
    /// What they are by themselves, sorted.
    leaves: Vec<(ConstantId, FragmentId)>,
    /// Sorted.
    rules: Vec<Rule>,
    /// Where the rules of each left neighbour start; one more at the end.
    starts: Vec<usize>,
    /// Whether a fragment is the whole program.
    is_goal: Vec<bool>,
}

impl Fragments {
    /// The fragments of a program for an utterance of `n_tokens`; `None` when nothing composes into it.
    pub(super) fn of(domain: &Domain, terms: &mut Terms, program: TermId, n_tokens: usize) -> Option<Self> {
        let body = domain.unwrap(terms, program)?;
        let order = terms.bottom_up(body);
        let frames = frames_by_top(domain, terms);
        let mut builder = Builder::new(domain, terms);
        for term in order {
            builder.add_entity(term);
            for &(constant, frame) in frames.get(&builder.top(term)).into_iter().flatten() {
                builder.add_frame(term, constant, frame);
            }
            builder.add_gathered(term, n_tokens);
        }
        builder.finish(body, program)
    }

    /// The meanings of all fragments.
    pub(super) fn meanings(&self) -> &[Meaning] {
        &self.meanings
    }

    /// The constants of the program, in order.
    pub(super) fn constants(&self) -> &[ConstantId] {
        &self.constants
    }

    /// What a constant may be by itself.
    pub(super) fn leaves(&self, constant: ConstantId) -> impl Iterator<Item = FragmentId> + '_ {
        let start = self.leaves.partition_point(|&(other, _)| other < constant);
        self.leaves[start..].iter().take_while(move |leaf| leaf.0 == constant).map(|&(_, fragment)| fragment)
    }

    /// Whether a fragment is the whole program.
    pub(super) fn is_goal(&self, fragment: FragmentId) -> bool {
        self.is_goal[fragment.0 as usize]
    }

    /// Adds to `found` what neighbours from these two sets may be together.
    pub(super) fn compose(&self, lefts: &[FragmentId], rights: &[FragmentId], found: &mut Vec<FragmentId>) {
        for (_, right, both) in lefts.iter().flat_map(|&left| self.rules_of(left)) {
            if rights.contains(right) && !found.contains(both) {
                found.push(*both);
            }
        }
    }

    /// Whether neighbours from these two sets may be anything together.
    pub(super) fn can_compose(&self, lefts: &[FragmentId], rights: &[FragmentId]) -> bool {
        lefts.iter().flat_map(|&left| self.rules_of(left)).any(|(_, right, _)| rights.contains(right))
    }

    fn rules_of(&self, left: FragmentId) -> &[Rule] {
        let at = left.0 as usize;
        &self.rules[self.starts[at]..self.starts[at + 1]]
    }
}

/// The frames of all predicates by what stands on top of their terms. Entities are found by their terms.
fn frames_by_top(domain: &Domain, terms: &Terms) -> HashMap<(Shape, Symbol), Vec<(ConstantId, FrameId)>> {
    let mut frames: HashMap<_, Vec<_>> = HashMap::new();
    let predicates = domain.constants().iter_enumerated().filter(|(_, it)| it.kind == Kind::Predicate);
    for (constant, _) in predicates {
        for (id, frame) in domain.frames_of(constant) {
            if let Some(top) = frame.form.as_ref().and_then(|form| form.top(terms)) {
                frames.entry(top).or_default().push((constant, id));
            }
        }
    }
    frames
}

/// What makes two meanings the same.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Done(TermId, TypeId),
    Gathered(AccumulatorId, Vec<TermId>),
    Open(FrameId, Vec<Option<TermId>>),
}

impl Key {
    /// `None` for what open composition makes; the paper has none.
    fn of(meaning: &Meaning) -> Option<Self> {
        match meaning {
            Meaning::Done { term, ty } => Some(Self::Done(*term, *ty)),
            Meaning::Gathered { accumulator, elements } => {
                Some(Self::Gathered(*accumulator, elements.clone()))
            }
            Meaning::Open { inner: Partial::Constant { frame, args }, around } if around.is_empty() => {
                Some(Self::Open(*frame, args.clone()))
            }
            Meaning::Open { .. } => None,
        }
    }
}

struct Builder<'a> {
    domain: &'a Domain,
    terms: &'a mut Terms,
    ids: HashMap<Key, FragmentId>,
    meanings: Vec<Meaning>,
    leaves: Vec<(ConstantId, FragmentId)>,
    rules: Vec<Rule>,
    /// The fragments that are a sub-term, or become it where an argument or a program is wanted.
    of_term: HashMap<TermId, Vec<FragmentId>>,
}

impl<'a> Builder<'a> {
    fn new(domain: &'a Domain, terms: &'a mut Terms) -> Self {
        let (ids, of_term) = (HashMap::new(), HashMap::new());
        Self { domain, terms, ids, meanings: Vec::new(), leaves: Vec::new(), rules: Vec::new(), of_term }
    }

    fn top(&self, term: TermId) -> (Shape, Symbol) {
        (self.terms.shape(term), self.terms.head(term))
    }

    fn add_entity(&mut self, term: TermId) {
        let Some(constant) = self.domain.entity(term) else { return };
        for (frame, _) in self.domain.frames_of(constant) {
            if let Some(id) = self.add_leaf(constant, frame) {
                self.add_complete(term, id);
            }
        }
    }

    /// A constant that `term` has on top, alone and with its arguments in every order.
    fn add_frame(&mut self, term: TermId, constant: ConstantId, frame: FrameId) {
        let used = self.domain.frame(frame);
        let mut args = vec![None; used.slots.len()];
        let has_form = used.form.as_ref().is_some_and(|form| form.take_apart(self.terms, term, &mut args));
        let Some(leaf) = has_form.then(|| self.add_leaf(constant, frame)).flatten() else { return };
        if args.is_empty() {
            return self.add_complete(term, leaf);
        }
        let arguments: Vec<FragmentId> =
            args.iter().flatten().filter_map(|arg| self.of_term.get(arg)).flatten().copied().collect();
        let is_part = |meaning: &Meaning| match meaning {
            Meaning::Done { term: made, .. } => *made == term,
            Meaning::Open { inner: Partial::Constant { args: made, .. }, .. } => {
                made.iter().zip(&args).all(|(made, arg)| made.is_none() || made == arg)
            }
            _ => false,
        };
        let mut open = vec![leaf];
        let mut next = 0;
        while let Some(&function) = open.get(next) {
            next += 1;
            for &argument in &arguments {
                for (left, right) in [(function, argument), (argument, function)] {
                    let Some(both) = self.add_rule(left, right, is_part) else { continue };
                    match self.meanings[both.0 as usize] {
                        Meaning::Done { .. } => self.add_complete(term, both),
                        _ if !open.contains(&both) => open.push(both),
                        _ => {}
                    }
                }
            }
        }
    }

    /// The values of an accumulator that `term` has on top: every run of them, and what they are applied to.
    fn add_gathered(&mut self, term: TermId, n_tokens: usize) {
        let Some(accumulator) = self.domain.accumulator_of(self.terms, term) else { return };
        let args = self.terms.args(term).to_vec();
        let Some((&over, elements)) = args.split_last() else { return };
        // Each value has words of its own.
        if elements.is_empty() || elements.len() > n_tokens {
            return;
        }
        let runs = self.add_runs(elements);
        if self.domain.accumulators()[accumulator].default == Some(over) {
            runs.iter().for_each(|&run| self.add_complete(term, run));
        }
        let is_whole =
            |meaning: &Meaning| matches!(meaning, Meaning::Done { term: made, .. } if *made == term);
        for &over in &self.of_term.get(&over).cloned().unwrap_or_default() {
            for &run in &runs {
                for (left, right) in [(run, over), (over, run)] {
                    if let Some(both) = self.add_rule(left, right, is_whole) {
                        self.add_complete(term, both);
                    }
                }
            }
        }
    }

    /// All runs of values; returns what the longest one may be.
    fn add_runs(&mut self, elements: &[TermId]) -> Vec<FragmentId> {
        let n = elements.len();
        // Row: first value; column: number of values.
        let mut runs = vec![vec![Vec::<FragmentId>::new(); n + 1]; n];
        for (at, element) in elements.iter().enumerate() {
            runs[at][1] = self.of_term.get(element).cloned().unwrap_or_default();
        }
        for len in 2..=n {
            for start in 0..=n - len {
                let run = &elements[start..start + len];
                let is_run = |made: &Meaning| match made {
                    Meaning::Gathered { elements, .. } => elements == run,
                    _ => false,
                };
                let mut found = Vec::new();
                for cut in 1..len {
                    for &left in &runs[start][cut] {
                        for &right in &runs[start + cut][len - cut] {
                            found.extend(self.add_rule(left, right, is_run));
                        }
                    }
                }
                found.sort_unstable();
                found.dedup();
                runs[start][len] = found;
            }
        }
        runs.swap_remove(0).swap_remove(n)
    }

    fn add_leaf(&mut self, constant: ConstantId, frame: FrameId) -> Option<FragmentId> {
        let leaf = self.domain.leaf(self.terms, constant, frame)?;
        let id = self.intern(leaf)?;
        self.leaves.push((constant, id));
        Some(id)
    }

    /// What two neighbours are together, when that is a part of the program.
    fn add_rule(
        &mut self,
        left: FragmentId,
        right: FragmentId,
        is_part: impl Fn(&Meaning) -> bool,
    ) -> Option<FragmentId> {
        let [left_meaning, right_meaning] = [left, right].map(|id| &self.meanings[id.0 as usize]);
        let both = join(self.domain, self.terms, left_meaning, right_meaning).filter(is_part)?;
        let both = self.intern(both)?;
        self.rules.push((left, right, both));
        Some(both)
    }

    fn add_complete(&mut self, term: TermId, id: FragmentId) {
        let known = self.of_term.entry(term).or_default();
        if !known.contains(&id) {
            known.push(id);
        }
    }

    fn intern(&mut self, meaning: Meaning) -> Option<FragmentId> {
        let next = FragmentId(u32::try_from(self.meanings.len()).ok()?);
        let id = *self.ids.entry(Key::of(&meaning)?).or_insert(next);
        if id == next {
            self.meanings.push(meaning);
        }
        Some(id)
    }

    /// Keeps the fragments that can become the whole program.
    fn finish(mut self, body: TermId, program: TermId) -> Option<Fragments> {
        let goals = self.of_term.remove(&body).unwrap_or_default();
        let mut is_goal = vec![false; self.meanings.len()];
        for FragmentId(at) in goals {
            let whole = self.domain.program(self.terms, &self.meanings[at as usize]);
            is_goal[at as usize] = whole == Some(program);
        }
        let useful = useful(&is_goal, &self.rules);
        let is_useful = |id: FragmentId| useful[id.0 as usize];
        self.rules.retain(|&(_, _, both)| is_useful(both));
        self.rules.sort_unstable();
        self.rules.dedup();
        self.leaves.retain(|&(_, leaf)| is_useful(leaf));
        self.leaves.sort_unstable();
        self.leaves.dedup();
        let starts = (0..=self.meanings.len() as u32)
            .map(|left| self.rules.partition_point(|rule| rule.0 < FragmentId(left)))
            .collect();
        let mut constants: Vec<ConstantId> = self.leaves.iter().map(|leaf| leaf.0).collect();
        constants.dedup();
        let Self { meanings, leaves, rules, .. } = self;
        is_goal.contains(&true).then_some(Fragments { meanings, constants, leaves, rules, starts, is_goal })
    }
}

/// What is a goal or part of something useful.
fn useful(is_goal: &[bool], rules: &[Rule]) -> Vec<bool> {
    let mut useful = is_goal.to_vec();
    let mut grows = true;
    while grows {
        grows = false;
        // Parts are found before what they compose into, so that few rounds are needed.
        for &(left, right, both) in rules.iter().rev() {
            for part in [left, right] {
                let news = useful[both.0 as usize] && !useful[part.0 as usize];
                useful[part.0 as usize] |= news;
                grows |= news;
            }
        }
    }
    useful
}
