//! Meaning states: the information about a meaning on which composition depends.
//!
//! A state is the type of a complete term, the open slots and result type of a function, or an accumulator that values
//! are gathered for. Three tables define how two states combine:
//!
//! * `apply(f, a)`: function application. The argument fills the first open slot that accepts it, so slots of
//!   different types fill in any order and slots of one type in the order of application (connectives).
//! * `compose(f, g)`: open composition, `f` after `g`, before the argument of `g` is known. Defined when each has
//!   exactly one open slot.
//! * `gather(l, r)`: values of an accumulator become one longer list.
//!
//! The order of the words does not matter here: a chart tries both neighbors as the function. The ternary rule of the
//! paper is `apply(apply(l, r), m)` and its mirror images.

mod closure;

use crate::domain::ConstantId;
use crate::types::{TypeId, Types};
use closure::{Closure, Rules};
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

/// Most states a domain may have without open composition, and most states that tables are made for.
pub const MAX_STATES: usize = 30_000;
/// Most pairs of a slot type and a result type that functions of one slot may have: what open composition can give.
pub const MAX_COMPOSITES: usize = 200_000;

/// A meaning state.
///
/// ```
/// use spanwise_lang::domain::NoTables;
/// use spanwise_lang::{Domain, State};
///
/// let source = r#"
///     name = "home"
///     types = ["Light", "Level", "Action"]
///     root = { types = ["Action"] }
///     constants = { dim = "Light, Level -> Action", lamp = "Light", half = "Level" }
/// "#;
/// let domain = Domain::load(source, "home.toml", None, &NoTables)?;
/// let states = domain.states();
/// let bare = |name: &str| {
///     let constant = domain.predicate(name).unwrap();
///     domain.frames_of(constant).next().unwrap().1.state.unwrap()
/// };
/// // `dim` accepts its arguments in any order, because their types differ.
/// let dimmed = states.apply().get(bare("dim"), bare("half")).unwrap();
/// assert_eq!(domain.describe(dimmed), "Light -> Action");
/// let done = states.apply().get(dimmed, bare("lamp")).unwrap();
/// assert!(matches!(states.state(done), State::Done(_)) && states.is_root(done));
/// # Ok::<(), spanwise_lang::DomainErrors>(())
/// ```
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

/// The types of an accumulator or a set.
#[derive(Clone, Debug)]
pub struct AccumulatorTypes {
    /// The types whose values gather.
    pub elements: Vec<TypeId>,
    /// What the gathered values are applied to; `None` for a set, which is complete by itself as soon as it has two elements.
    pub over: Option<TypeId>,
    /// The type of the result.
    pub result: TypeId,
    /// Whether the last argument has a default, so that the values can be complete by themselves.
    pub has_default: bool,
    /// For a set, the constants that make at most one of its elements, each with the types of those elements: types that
    /// nothing else has.
    pub unique: Vec<(ConstantId, Vec<TypeId>)>,
}

/// Most constants that charts keep apart in a set. Each doubles the number of symbols of the set.
pub const MAX_TRACKED: usize = 5;

impl AccumulatorTypes {
    /// Whether it is a set: its elements are any complete terms, and their order means nothing.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.over.is_none()
    }

    /// The number, in `unique`, of the constant that makes an element of this type.
    #[must_use]
    pub fn unique_number(&self, ty: TypeId) -> Option<usize> {
        self.unique.iter().position(|(_, types)| types.contains(&ty))
    }

    /// Whether charts build only sets whose elements are allowed together. Otherwise finished programs are checked.
    #[must_use]
    pub fn is_tracked(&self) -> bool {
        self.unique.len() <= MAX_TRACKED
    }
}

/// A partial function of two states, stored as a sparse matrix in compressed rows.
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

    /// The entry of a pair. Cost: a binary search within the row.
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

/// A domain that is too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany {
    /// What there is too much of.
    pub what: &'static str,
    /// The most there may be.
    pub limit: usize,
}

/// The states of a domain and how they compose.
#[derive(Clone, Debug, Default)]
pub struct States {
    states: IndexVec<StateId, State>,
    index: HashMap<State, StateId>,
    n_plain: usize,
    has_composites: bool,
    apply: PairTable,
    compose: PairTable,
    gather: PairTable,
    root: Vec<bool>,
}

impl States {
    /// Finds every state that can be part of a complete program, starting from the states of the leaves. A large domain
    /// has too many with open composition to list them: then those without it are all there is. Charts do not need them.
    ///
    /// # Errors
    /// What there is too much of, and how much there may be.
    pub fn compile(
        types: &Types,
        accumulators: &IndexVec<AccumulatorId, AccumulatorTypes>,
        leaves: impl IntoIterator<Item = State>,
        root_types: &[TypeId],
    ) -> Result<Self, TooMany> {
        let rules = Rules { types, accumulators };
        let mut closure = Closure::new(rules);
        for leaf in leaves {
            closure.add(leaf);
        }
        let too_many = |what, limit| TooMany { what, limit };
        if !closure.run(false) {
            return Err(too_many("meaning states", MAX_STATES));
        }
        if closure.n_pairs() > MAX_COMPOSITES {
            return Err(too_many("pairs of a slot and a result", MAX_COMPOSITES));
        }
        let n_plain = closure.states.len();
        let plain = closure.clone();
        let has_composites = closure.run(true);
        let closure = if has_composites { closure } else { plain };
        Ok(Self { has_composites, ..closure.finish(n_plain, root_types) })
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

    /// Whether states that arise by open composition are among them.
    #[must_use]
    pub fn has_composites(&self) -> bool {
        self.has_composites
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

    /// The id of a state; `None` when no complete program can contain it.
    #[must_use]
    pub fn find(&self, state: &State) -> Option<StateId> {
        self.index.get(state).copied()
    }

    /// The state with this id.
    #[must_use]
    pub fn state(&self, id: StateId) -> &State {
        &self.states[id]
    }

    /// Whether a meaning of this state is a complete program.
    #[must_use]
    pub fn is_root(&self, id: StateId) -> bool {
        self.root[id.index()]
    }

    /// Function application. Rows are functions, columns arguments.
    #[must_use]
    pub fn apply(&self) -> &PairTable {
        &self.apply
    }

    /// Open composition. Rows are outer functions, columns inner ones.
    #[must_use]
    pub fn compose(&self) -> &PairTable {
        &self.compose
    }

    /// Gathering for an accumulator. Rows are the values on the left, columns those on the right.
    #[must_use]
    pub fn gather(&self) -> &PairTable {
        &self.gather
    }
}
