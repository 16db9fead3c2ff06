//! Meaning states: everything that composition may look at, numbered.
//!
//! A state is the type of a complete term, the slots a function still wants, or values on their way into an
//! accumulator. Three tables say what happens when two meanings meet:
//!
//! * `apply(f, a)`: function application. The argument fills the first open slot that accepts it, so slots of
//!   different types fill in any order and slots of one type in the order of application (connectives).
//! * `compose(f, g)`: open composition, `f` after `g`, when `g` is itself still waiting. Defined when each has
//!   exactly one open slot.
//! * `gather(l, r)`: values of an accumulator become one longer list.
//!
//! None of them knows left from right: which neighbour is the function is for a chart to try. The paper's
//! ternary rule is `apply(apply(l, r), m)` and its mirror images.

use crate::types::{TypeId, Types};
use hashbrown::HashMap;
use spanwise_core::{Idx, IndexVec, newtype_index};

newtype_index! {
    /// A meaning state of a domain.
    pub struct StateId(u16)
}

newtype_index! {
    /// An accumulator of a domain.
    pub struct AccumulatorId(u16)
}

/// Most states a domain may have.
pub const MAX_STATES: usize = 30_000;

/// A meaning state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum State {
    /// A complete term of this type.
    Done(TypeId),
    /// A function with these open slots, in the order in which they fill.
    Wants {
        /// The open slots; never empty.
        slots: Box<[TypeId]>,
        /// The type of the term once all are filled.
        result: TypeId,
    },
    /// Several values gathered for an accumulator.
    Gathered(AccumulatorId),
}

/// What the tables need to know of an accumulator.
#[derive(Clone, Debug)]
pub struct AccumulatorTypes {
    /// The types whose values gather.
    pub elements: Vec<TypeId>,
    /// What the gathered values are applied to.
    pub over: TypeId,
    /// What comes out.
    pub result: TypeId,
    /// Whether they may also stand alone.
    pub has_default: bool,
}

/// A partial function of two states, as rows of sorted columns.
#[derive(Clone, Debug, Default)]
pub struct PairTable {
    starts: Vec<u32>,
    columns: Vec<StateId>,
    values: Vec<StateId>,
}

impl PairTable {
    fn new(n_rows: usize, mut entries: Vec<(StateId, StateId, StateId)>) -> Self {
        entries.sort_unstable();
        let mut table = Self::default();
        let mut next = entries.iter().peekable();
        for row in 0..n_rows {
            table.starts.push(table.columns.len() as u32);
            while let Some(&&(_, column, value)) = next.peek().filter(|entry| entry.0.index() == row) {
                table.columns.push(column);
                table.values.push(value);
                next.next();
            }
        }
        table.starts.push(table.columns.len() as u32);
        table
    }

    /// The entry of a pair. Cost: a binary search in one row.
    #[inline]
    #[must_use]
    pub fn get(&self, row: StateId, column: StateId) -> Option<StateId> {
        let range = self.starts[row.index()] as usize..self.starts[row.index() + 1] as usize;
        let at = self.columns[range.clone()].binary_search(&column).ok()?;
        Some(self.values[range.start + at])
    }

    /// The entries of one row, by column.
    pub fn row(&self, row: StateId) -> impl ExactSizeIterator<Item = (StateId, StateId)> + '_ {
        let range = self.starts[row.index()] as usize..self.starts[row.index() + 1] as usize;
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether no pair has an entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }
}

/// The states of a domain and how they compose.
#[derive(Clone, Debug, Default)]
pub struct States {
    states: IndexVec<StateId, State>,
    index: HashMap<State, StateId>,
    n_plain: usize,
    apply: PairTable,
    compose: PairTable,
    gather: PairTable,
    root: Vec<bool>,
}

impl States {
    /// Numbers every state that can be part of a complete program, starting from the states of the leaves.
    ///
    /// # Errors
    /// The number of states when there are more than [`MAX_STATES`].
    pub fn compile(
        types: &Types,
        accumulators: &IndexVec<AccumulatorId, AccumulatorTypes>,
        leaves: impl IntoIterator<Item = State>,
        root_types: &[TypeId],
    ) -> Result<Self, usize> {
        let rules = Rules { types, accumulators };
        let mut closure = Closure::new(rules);
        for leaf in leaves {
            closure.add(leaf);
        }
        closure.run(false)?;
        let n_plain = closure.states.len();
        closure.run(true)?;
        Ok(closure.finish(n_plain, root_types))
    }

    /// Number of states.
    #[must_use]
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no complete program exists.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Number of states that arise without open composition; they come first.
    #[must_use]
    pub fn n_plain(&self) -> usize {
        self.n_plain
    }

    /// All states in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (StateId, &State)> {
        self.states.iter_enumerated()
    }

    /// The number of a state; `None` when it can be part of no complete program.
    #[must_use]
    pub fn find(&self, state: &State) -> Option<StateId> {
        self.index.get(state).copied()
    }

    /// What a number stands for.
    #[must_use]
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id]
    }

    /// Whether a meaning of this state is a complete program.
    #[must_use]
    pub fn is_root(&self, id: StateId) -> bool {
        self.root[id.index()]
    }

    /// Function application: row the function, column the argument.
    #[must_use]
    pub fn apply(&self) -> &PairTable {
        &self.apply
    }

    /// Open composition: row the outer function, column the inner one.
    #[must_use]
    pub fn compose(&self) -> &PairTable {
        &self.compose
    }

    /// Gathering for an accumulator: row the values on the left, column those on the right.
    #[must_use]
    pub fn gather(&self) -> &PairTable {
        &self.gather
    }
}

/// The composition rules on states, from which the tables are filled.
#[derive(Clone, Copy)]
struct Rules<'a> {
    types: &'a Types,
    accumulators: &'a IndexVec<AccumulatorId, AccumulatorTypes>,
}

/// What the rules look at in a state, worked out once.
#[derive(Clone)]
struct Facts {
    /// The accumulator that values in this state are on their way into.
    gathering: Option<AccumulatorId>,
    /// The types it can be an argument as, best first: its own, then what gathered values become alone.
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
        let alone = acc.filter(|acc| acc.has_default).map(|acc| acc.result);
        let one_slot = match state {
            State::Wants { slots, result } if slots.len() == 1 => Some((slots[0], *result)),
            _ => acc.map(|acc| (acc.over, acc.result)),
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
        // Values on their way into an accumulator meet what they are applied to.
        let acc = &self.accumulators[function.1.gathering?];
        let ty = argument.as_argument[0].filter(|_| argument.gathering.is_none())?;
        self.types.is_subtype(ty, acc.over).then_some(State::Done(acc.result))
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
struct Closure<'a> {
    rules: Rules<'a>,
    states: IndexVec<StateId, State>,
    facts: IndexVec<StateId, Facts>,
    index: HashMap<State, StateId>,
    /// States that can be arguments, states that can take one, in order of discovery, and how many states
    /// have been looked at for this.
    arguments: Vec<StateId>,
    functions: Vec<StateId>,
    n_applied: usize,
    /// States with one open slot, by what they want and by what they give, and how many states have been
    /// looked at for this.
    wanting: Vec<Vec<StateId>>,
    giving: Vec<Vec<StateId>>,
    n_composed: usize,
    /// Composites by slot and result: most compositions end in one that is known.
    composites: Vec<Option<StateId>>,
    apply: Entries,
    compose: Entries,
    gather: Entries,
}

impl<'a> Closure<'a> {
    fn new(rules: Rules<'a>) -> Self {
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

    fn add(&mut self, state: State) -> StateId {
        if let Some(&id) = self.index.get(&state) {
            return id;
        }
        self.facts.push(self.rules.facts(&state));
        let id = self.states.push(state.clone());
        self.index.insert(state, id);
        id
    }

    /// Pairs states until nothing new appears, with or without open composition.
    fn run(&mut self, open: bool) -> Result<(), usize> {
        loop {
            if self.states.len() > MAX_STATES {
                return Err(self.states.len());
            }
            if self.n_applied < self.states.len() {
                self.pair_applied(StateId::from_usize(self.n_applied));
                self.n_applied += 1;
            } else if open && self.n_composed < self.states.len() {
                self.pair_composed(StateId::from_usize(self.n_composed));
                self.n_composed += 1;
            } else {
                return Ok(());
            }
        }
    }

    /// Tries `new` as function and as argument with everything found before it, and with itself.
    fn pair_applied(&mut self, new: StateId) {
        let waits = matches!(self.states[new], State::Wants { .. });
        if !waits {
            for at in 0..self.functions.len() {
                self.try_apply(self.functions[at], new);
            }
            self.arguments.push(new);
        }
        // Values for an accumulator are both; with itself a state meets here, not above.
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

    /// Tries `new` as the outer and as the inner function with everything found before it, and with itself.
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
        // Itself as the outer function of itself was tried above: it joins the inner ones only now.
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

    /// Drops states from which no complete program can be reached, and renumbers.
    fn finish(self, n_plain: usize, root_types: &[TypeId]) -> States {
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
