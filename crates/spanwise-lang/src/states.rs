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

impl Rules<'_> {
    /// The accumulator that values in this state are on their way into.
    fn gathering(&self, state: &State) -> Option<AccumulatorId> {
        match *state {
            State::Gathered(id) => Some(id),
            State::Done(ty) => {
                let takes = |acc: &AccumulatorTypes| acc.elements.iter().any(|&e| self.types.is_subtype(ty, e));
                self.accumulators.iter_enumerated().find(|(_, acc)| takes(acc)).map(|(id, _)| id)
            }
            State::Wants { .. } => None,
        }
    }

    /// The types a state can be an argument as, best first: its own, then what gathered values become alone.
    fn argument_types(&self, state: &State) -> [Option<TypeId>; 2] {
        let own = if let State::Done(ty) = *state { Some(ty) } else { None };
        let alone = self
            .gathering(state)
            .map(|id| &self.accumulators[id])
            .filter(|acc| acc.has_default)
            .map(|acc| acc.result);
        [own, alone]
    }

    /// Slot and result of a state with exactly one open slot.
    fn one_slot(&self, state: &State) -> Option<(TypeId, TypeId)> {
        if let State::Wants { slots, result } = state {
            return if let [slot] = **slots { Some((slot, *result)) } else { None };
        }
        let acc = &self.accumulators[self.gathering(state)?];
        Some((acc.over, acc.result))
    }

    fn apply(&self, function: &State, argument: &State) -> Option<State> {
        if let State::Wants { slots, result } = function {
            for ty in self.argument_types(argument).into_iter().flatten() {
                let Some(at) = slots.iter().position(|&slot| self.types.is_subtype(ty, slot)) else { continue };
                if slots.len() == 1 {
                    return Some(State::Done(*result));
                }
                let rest = slots.iter().enumerate().filter(|&(i, _)| i != at).map(|(_, &slot)| slot);
                return Some(State::Wants { slots: rest.collect(), result: *result });
            }
            return None;
        }
        // Values on their way into an accumulator meet what they are applied to.
        let acc = &self.accumulators[self.gathering(function)?];
        match *argument {
            State::Done(ty) if self.types.is_subtype(ty, acc.over) && self.gathering(argument).is_none() => {
                Some(State::Done(acc.result))
            }
            _ => None,
        }
    }

    fn compose(&self, outer: &State, inner: &State) -> Option<State> {
        let (wanted, result) = self.one_slot(outer)?;
        let (slot, given) = self.one_slot(inner)?;
        self.types.is_subtype(given, wanted).then(|| State::Wants { slots: [slot].into(), result })
    }

    fn gather(&self, left: &State, right: &State) -> Option<State> {
        let id = self.gathering(left)?;
        (self.gathering(right)? == id).then_some(State::Gathered(id))
    }

    fn is_root(&self, state: &State, root_types: &[TypeId]) -> bool {
        let fits = |ty: TypeId| root_types.iter().any(|&root| self.types.is_subtype(ty, root));
        self.argument_types(state).into_iter().flatten().any(fits)
    }
}

type Entries = Vec<(StateId, StateId, StateId)>;

/// States found so far and the table entries among them.
struct Closure<'a> {
    rules: Rules<'a>,
    states: IndexVec<StateId, State>,
    index: HashMap<State, StateId>,
    /// How many states were paired with all before them, without and with open composition.
    paired: [usize; 2],
    apply: Entries,
    compose: Entries,
    gather: Entries,
}

impl<'a> Closure<'a> {
    fn new(rules: Rules<'a>) -> Self {
        Self {
            rules,
            states: IndexVec::new(),
            index: HashMap::new(),
            paired: [0, 0],
            apply: Vec::new(),
            compose: Vec::new(),
            gather: Vec::new(),
        }
    }

    fn add(&mut self, state: State) -> StateId {
        if let Some(&id) = self.index.get(&state) {
            return id;
        }
        let id = self.states.push(state.clone());
        self.index.insert(state, id);
        id
    }

    /// Pairs every state with every other until nothing new appears.
    fn run(&mut self, open: bool) -> Result<(), usize> {
        loop {
            let mut progress = false;
            while self.paired[0] < self.states.len() {
                self.pair(self.paired[0], false);
                self.paired[0] += 1;
                progress = true;
                if self.states.len() > MAX_STATES {
                    return Err(self.states.len());
                }
            }
            while open && self.paired[1] < self.states.len() {
                self.pair(self.paired[1], true);
                self.paired[1] += 1;
                progress = true;
                if self.states.len() > MAX_STATES {
                    return Err(self.states.len());
                }
            }
            if !progress {
                return Ok(());
            }
        }
    }

    /// Tries the state numbered `new` with every state up to it, both ways round.
    fn pair(&mut self, new: usize, open: bool) {
        let new = StateId::from_usize(new);
        for other in 0..=new.index() {
            let other = StateId::from_usize(other);
            self.meet(new, other, open);
            if other != new {
                self.meet(other, new, open);
            }
        }
    }

    fn meet(&mut self, a: StateId, b: StateId, open: bool) {
        let (left, right) = (&self.states[a], &self.states[b]);
        if open {
            if let Some(state) = self.rules.compose(left, right) {
                let to = self.add(state);
                self.compose.push((a, b, to));
            }
            return;
        }
        let applied = self.rules.apply(left, right);
        let gathered = self.rules.gather(left, right);
        if let Some(state) = applied {
            let to = self.add(state);
            self.apply.push((a, b, to));
        }
        if let Some(state) = gathered {
            let to = self.add(state);
            self.gather.push((a, b, to));
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
            result.root.push(self.rules.is_root(state, root_types));
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
            self.states.iter_enumerated().filter(|(_, s)| self.rules.is_root(s, root_types)).map(|(id, _)| id).collect();
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
