//! The values of FunQL: lists of items, and lists of pairs for the second reading of a query.
//!
//! The derived order of [`Item`] is the order in which the reference notation sorts an answer: numbers, bare
//! names, then entities by the kind of their id, cities last because their id has two parts. It holds for
//! items that come from the facts, whose names are numbered alphabetically; every list of two or more items
//! consists of such items only, because no operation of FunQL concatenates two lists.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A name in an id, interned. Names of the facts come first, in alphabetical order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Name(pub(super) u32);

impl Name {
    /// The open place `_`, which any name can fill.
    pub(super) const ANY: Self = Self(u32::MAX);

    /// Whether a fact with this name can fill the place of `other`, or the other way round.
    pub(super) fn matches(self, other: Self) -> bool {
        self == other || self == Self::ANY || other == Self::ANY
    }
}

/// A number, whole or not: the two print differently and are never the same item.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    /// A number with a decimal point.
    Float(f64),
    /// A whole number.
    Int(i64),
}

impl Number {
    /// The number for comparisons by size. Exact: the facts stay far below 2^53.
    pub(super) fn size(self) -> f64 {
        match self {
            Self::Float(value) => value,
            Self::Int(value) => value as f64,
        }
    }

    /// The sum, whole only when both numbers are.
    pub(super) fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a.saturating_add(b)),
            _ => Self::Float(self.size() + other.size()),
        }
    }
}

impl Ord for Number {
    /// By size; of two equal sizes the one with a decimal point comes first.
    fn cmp(&self, other: &Self) -> Ordering {
        let is_int = |number: &Self| matches!(number, Self::Int(_));
        self.size().total_cmp(&other.size()).then(is_int(self).cmp(&is_int(other)))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.size().to_bits().hash(state);
    }
}

/// One item of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Item {
    /// A number.
    Number(Number),
    /// A lake, the one kind of thing that has no id.
    Lake(Name),
    /// `countryid(name)`.
    Country(Name),
    /// `placeid(name)`: a highest or lowest point.
    Place(Name),
    /// `riverid(name)`.
    River(Name),
    /// `stateid(name)`.
    State(Name),
    /// `cityid(name, abbreviation of the state)`.
    City(Name, Name),
}

impl Item {
    /// Whether a place in the id is open.
    pub(super) fn is_open(self) -> bool {
        match self {
            Self::Number(_) => false,
            Self::City(name, abbrev) => name == Name::ANY || abbrev == Name::ANY,
            Self::Lake(name)
            | Self::Country(name)
            | Self::Place(name)
            | Self::River(name)
            | Self::State(name) => name == Name::ANY,
        }
    }
}

/// The second reading of a query: items, each with the key it is compared by.
#[derive(Clone, Debug)]
pub(super) enum Pairs {
    /// Each item with a number.
    Numbers(Vec<(Number, Item)>),
    /// Each item with a list.
    Lists(ListPairs),
}

/// Items with lists as keys; all lists are concatenated in one vector.
#[derive(Clone, Debug, Default)]
pub(super) struct ListPairs {
    /// The items, each with the end of its list in `keys`. A list starts where the one before ends.
    pub(super) items: Vec<(Item, usize)>,
    /// All lists, concatenated.
    pub(super) keys: Vec<Item>,
}

impl ListPairs {
    /// The items with their lists, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Item, &[Item])> {
        let mut start = 0;
        self.items.iter().map(move |&(item, end)| {
            let list = &self.keys[start..end];
            start = end;
            (item, list)
        })
    }

    /// Ends the list under way, whose keys were pushed already, and gives it to `item`.
    pub(super) fn finish(&mut self, item: Item) {
        self.items.push((item, self.keys.len()));
    }
}
