//! The options of a grammar, and the keys of its rule scores.

pub use spanwise_lang::signature::Side;
use spanwise_lang::{FrameId, TypeId};

/// How discontinuous the words of one sub-program may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Discontinuity {
    /// Every part is a run of words.
    None,
    /// One function may come between another and its argument: the paper's ternary rule.
    Ternary,
    /// Functions compose before their argument comes.
    #[default]
    Open,
}

/// What the grammar allows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// How discontinuous meanings are composed.
    pub discontinuity: Discontinuity,
    /// Whether implicit constants are inserted.
    pub implicit: bool,
}

/// Open composition, and no implicit constants: those reach few programs that predicates on any words do not, and
/// cost time and, where tried, brought no accuracy.
impl Default for Options {
    fn default() -> Self {
        Self { discontinuity: Discontinuity::Open, implicit: false }
    }
}

/// How a leaf is used; part of its score.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Usage {
    /// It needs nothing.
    Closed,
    /// It is applied to something on its left first.
    ApplyLeft,
    /// It is applied to something on its right first.
    ApplyRight,
    /// It is composed with an open function on its left.
    ComposeLeft,
    /// It is composed with an open function on its right.
    ComposeRight,
    /// Another function is composed with it before it has its argument.
    Inner,
}

/// Number of usages.
pub const N_USAGES: usize = 6;

impl Usage {
    /// All usages, in order.
    pub const ALL: [Self; N_USAGES] =
        [Self::Closed, Self::ApplyLeft, Self::ApplyRight, Self::ComposeLeft, Self::ComposeRight, Self::Inner];

    /// The usage of a leaf whose first argument is on `side`.
    #[must_use]
    pub const fn applied(side: Side) -> Self {
        match side {
            Side::Left => Self::ApplyLeft,
            Side::Right => Self::ApplyRight,
        }
    }

    /// The usage of a leaf that is composed with something open on `side`.
    #[must_use]
    pub const fn composed(side: Side) -> Self {
        match side {
            Side::Left => Self::ComposeLeft,
            Side::Right => Self::ComposeRight,
        }
    }

    /// The position in [`Usage::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// What a rule does; with the types and the side, the key of its score.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RuleKind {
    /// A function of one slot takes its argument.
    Apply,
    /// A function of several slots takes the argument of this one. Slots have keys of their own, so that the
    /// order of arguments in the words can be learned where their types are the same.
    Fill(u8),
    /// A function is composed with an open one.
    Compose,
    /// An open composite gets its argument.
    Finish,
    /// A value joins other values.
    Gather,
    /// Values close over the accumulator's default, or are a whole set.
    Close,
    /// A function takes those elements of a set that are on its right; others are on its left.
    Spread,
    /// A function that has elements from its right takes those on its left, and the set is whole.
    Settle,
    /// An implicit constant is inserted; the frame tells which.
    Implicit(FrameId),
    /// A complete term is the program.
    Root,
}

/// The key of a rule's score.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RuleKey {
    /// What it does.
    pub kind: RuleKind,
    /// The type of the slot that is filled, or of the only child.
    pub input: TypeId,
    /// The type of the result once all slots are filled.
    pub output: TypeId,
    /// The side on which the argument is.
    pub side: Side,
}
