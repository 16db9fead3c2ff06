//! Finds all states that are reachable from the leaves, with the entries of the three tables.

use super::{AccumulatorId, AccumulatorTypes, MAX_STATES, PairTable, State, StateId, States};
use crate::types::{TypeId, Types};
use hashbrown::{HashMap, HashSet};
use spanwise_core::{Idx, IndexVec};

/// The composition rules on states, from which the tables are filled.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) types: &'a Types,
    pub(super) accumulators: &'a IndexVec<AccumulatorId, AccumulatorTypes>,
}

/// What the rules depend on in a state, computed once.
#[derive(Clone)]
struct Facts {
    /// The accumulator that can gather values in this state.
    gathering: Option<AccumulatorId>,
    /// The types that it can have as an argument, in order of preference: its own, then that of gathered values with the
    /// default.
    as_argument: [Option<TypeId>; 2],
    /// Slot and result, when exactly one slot is open.
    one_slot: Option<(TypeId, TypeId)>,
}

impl Rules<'_> {
    fn facts(&self, state: &State) -> Facts {
        let gathering = match *state {
            State::Gathered(id) => Some(id),
            State::Done(ty) => {
                let takes =
                    |acc: &AccumulatorTypes| acc.elements.iter().any(|&e| self.types.is_subtype(ty, e));
                self.accumulators.iter_enumerated().find(|(_, acc)| takes(acc)).map(|(id, _)| id)
            }
            State::Wants { .. } => None,
        };
        let acc = gathering.map(|id| &self.accumulators[id]);
        let own = if let State::Done(ty) = *state { Some(ty) } else { None };
        let is_complete =
            |acc: &&AccumulatorTypes| acc.has_default || acc.is_set() && matches!(state, State::Gathered(_));
        let alone = acc.filter(is_complete).map(|acc| acc.result);
        let one_slot = match state {
            State::Wants { slots, result } if slots.len() == 1 => Some((slots[0], *result)),
            _ => acc.and_then(|acc| Some((acc.over?, acc.result))),
        };
        Facts { gathering, as_argument: [own, alone], one_slot }
    }

    fn apply(&self, function: (&State, &Facts), argument: &Facts) -> Option<State> {
        if let State::Wants { slots, result } = function.0 {
            for ty in argument.as_argument.into_iter().flatten() {
                let Some(at) = slots.iter().position(|&slot| self.types.is_subtype(ty, slot)) else {
                    continue;
                };
                if slots.len() == 1 {
                    return Some(State::Done(*result));
                }
                let rest = slots.iter().enumerate().filter(|&(i, _)| i != at).map(|(_, &slot)| slot);
                return Some(State::Wants { slots: rest.collect(), result: *result });
            }
            return None;
        }
        // Gathered values are applied to their last argument.
        let acc = &self.accumulators[function.1.gathering?];
        let ty = argument.as_argument[0].filter(|_| argument.gathering.is_none())?;
        self.types.is_subtype(ty, acc.over?).then_some(State::Done(acc.result))
    }

    /// Slot and result of the composite.
    fn compose(&self, outer: &Facts, inner: &Facts) -> Option<(TypeId, TypeId)> {
        let (wanted, result) = outer.one_slot?;
        let (slot, given) = inner.one_slot?;
        self.types.is_subtype(given, wanted).then_some((slot, result))
    }

    fn gather(&self, left: &Facts, right: &Facts) -> Option<State> {
        let id = left.gathering?;
        (right.gathering? == id).then_some(State::Gathered(id))
    }

    fn is_root(&self, state: &Facts, root_types: &[TypeId]) -> bool {
        let fits = |ty: TypeId| root_types.iter().any(|&root| self.types.is_subtype(ty, root));
        state.as_argument.into_iter().flatten().any(fits)
    }
}

type Entries = Vec<(StateId, StateId, StateId)>;

/// States found so far and the table entries among them.
///
/// States are paired only where a rule could fire: arguments with functions, and functions by the types at
/// which they could be composed. The cost is that of the entries found, not of all pairs.
#[derive(Clone)]
pub(super) struct Closure<'a> {
    rules: Rules<'a>,
    pub(super) states: IndexVec<StateId, State>,
    facts: IndexVec<StateId, Facts>,
    index: HashMap<State, StateId>,
    /// States that can be arguments and states that can be functions, in order of discovery, and the number of states
    /// tried for application.
    arguments: Vec<StateId>,
    functions: Vec<StateId>,
    n_applied: usize,
    /// States with one open slot, by its type and by their result type, and the number of states tried for
    /// composition.
    wanting: Vec<Vec<StateId>>,
    giving: Vec<Vec<StateId>>,
    n_composed: usize,
    /// Composites by slot and result. Most compositions give a known one.
    composites: Vec<Option<StateId>>,
    apply: Entries,
    compose: Entries,
    gather: Entries,
}

impl<'a> Closure<'a> {
    pub(super) fn new(rules: Rules<'a>) -> Self {
        Self {
            rules,
            states: IndexVec::new(),
            facts: IndexVec::new(),
            index: HashMap::new(),
            arguments: Vec::new(),
            functions: Vec::new(),
            n_applied: 0,
            wanting: vec![Vec::new(); rules.types.len()],
            giving: vec![Vec::new(); rules.types.len()],
            n_composed: 0,
            composites: vec![None; rules.types.len() * rules.types.len()],
            apply: Vec::new(),
            compose: Vec::new(),
            gather: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, state: State) -> StateId {
        if let Some(&id) = self.index.get(&state) {
            return id;
        }
        self.facts.push(self.rules.facts(&state));
        let id = self.states.push(state.clone());
        self.index.insert(state, id);
        id
    }

    /// The number of slot types times that of result types among functions of one slot.
    pub(super) fn n_pairs(&self) -> usize {
        let pairs = || self.facts.iter().filter_map(|facts| facts.one_slot);
        let slots: HashSet<TypeId> = pairs().map(|(slot, _)| slot).collect();
        let results: HashSet<TypeId> = pairs().map(|(_, result)| result).collect();
        slots.len() * results.len()
    }

    /// Pairs states until nothing new appears, with or without open composition. False when there are too many.
    pub(super) fn run(&mut self, open: bool) -> bool {
        loop {
            if self.states.len() > MAX_STATES {
                return false;
            }
            if self.n_applied < self.states.len() {
                self.pair_applied(StateId::from_usize(self.n_applied));
                self.n_applied += 1;
            } else if open && self.n_composed < self.states.len() {
                self.pair_composed(StateId::from_usize(self.n_composed));
                self.n_composed += 1;
            } else {
                return true;
            }
        }
    }

    /// Tries `new` as function and as argument with all earlier states and with itself.
    fn pair_applied(&mut self, new: StateId) {
        let waits = matches!(self.states[new], State::Wants { .. });
        if !waits {
            for at in 0..self.functions.len() {
                self.try_apply(self.functions[at], new);
            }
            self.arguments.push(new);
        }
        // Values of an accumulator are both. The pair of a state with itself is tried here, not above.
        if waits || self.facts[new].gathering.is_some() {
            self.functions.push(new);
            for at in 0..self.arguments.len() {
                self.try_apply(new, self.arguments[at]);
            }
        }
    }

    fn try_apply(&mut self, function: StateId, argument: StateId) {
        let (left, right) = (&self.facts[function], &self.facts[argument]);
        let applied = self.rules.apply((&self.states[function], left), right);
        let gathered = self.rules.gather(left, right);
        if let Some(state) = applied {
            let to = self.add(state);
            self.apply.push((function, argument, to));
        }
        if let Some(state) = gathered {
            let to = self.add(state);
            self.gather.push((function, argument, to));
        }
    }

    /// Tries `new` as the outer and as the inner function with all earlier states and with itself.
    fn pair_composed(&mut self, new: StateId) {
        let Some((wanted, given)) = self.facts[new].one_slot else { return };
        self.wanting[wanted.index()].push(new);
        for ty in self.rules.types.ids() {
            if self.rules.types.is_subtype(given, ty) {
                for at in 0..self.wanting[ty.index()].len() {
                    self.try_compose(self.wanting[ty.index()][at], new);
                }
            }
        }
        // The pair of `new` with itself was tried above, so `new` is added to `giving` last.
        for ty in self.rules.types.ids() {
            if self.rules.types.is_subtype(ty, wanted) {
                for at in 0..self.giving[ty.index()].len() {
                    self.try_compose(new, self.giving[ty.index()][at]);
                }
            }
        }
        self.giving[given.index()].push(new);
    }

    fn try_compose(&mut self, outer: StateId, inner: StateId) {
        if let Some((slot, result)) = self.rules.compose(&self.facts[outer], &self.facts[inner]) {
            let at = slot.index() * self.rules.types.len() + result.index();
            let to = match self.composites[at] {
                Some(known) => known,
                None => self.add(State::Wants { slots: [slot].into(), result }),
            };
            self.composites[at] = Some(to);
            self.compose.push((outer, inner, to));
        }
    }

    /// Drops states that no complete program contains, and renumbers the rest.
    pub(super) fn finish(self, n_plain: usize, root_types: &[TypeId]) -> States {
        let useful = self.useful(root_types);
        let mut renumber: Vec<Option<StateId>> = vec![None; self.states.len()];
        let mut result = States::default();
        for (old, state) in self.states.iter_enumerated().filter(|(id, _)| useful[id.index()]) {
            let new = result.states.push(state.clone());
            renumber[old.index()] = Some(new);
            result.index.insert(state.clone(), new);
            result.root.push(self.rules.is_root(&self.facts[old], root_types));
        }
        result.n_plain = useful[..n_plain].iter().filter(|&&keep| keep).count();
        let n = result.states.len();
        let map = |entries: &Entries| {
            let kept = entries.iter().filter_map(|&(a, b, to)| {
                Some((renumber[a.index()]?, renumber[b.index()]?, renumber[to.index()]?))
            });
            PairTable::new(n, kept.collect())
        };
        result.apply = map(&self.apply);
        result.compose = map(&self.compose);
        result.gather = map(&self.gather);
        result
    }

    fn useful(&self, root_types: &[TypeId]) -> Vec<bool> {
        let n = self.states.len();
        let mut parts: Vec<Vec<StateId>> = vec![Vec::new(); n];
        for &(a, b, to) in self.apply.iter().chain(&self.compose).chain(&self.gather) {
            parts[to.index()].extend([a, b]);
        }
        let mut useful = vec![false; n];
        let mut work: Vec<StateId> =
            self.states.ids().filter(|&id| self.rules.is_root(&self.facts[id], root_types)).collect();
        for id in &work {
            useful[id.index()] = true;
        }
        while let Some(id) = work.pop() {
            for part in parts[id.index()].drain(..) {
                if !std::mem::replace(&mut useful[part.index()], true) {
                    work.push(part);
                }
            }
        }
        useful
    }
}
