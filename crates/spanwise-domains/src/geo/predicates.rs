//! The predicates of FunQL: one row each, with the kind of operation it is.
//!
//! What an operation does is in `relations` (for one item) and in `operations` (for lists).

use crate::data::message::{did_you_mean, shown};
use hashbrown::HashMap;
use std::sync::LazyLock;

/// What a predicate does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Op {
    /// `answer`, `each`: the value of the argument.
    Same,
    /// Names one entity.
    Id(Kind),
    /// Keeps the items of a kind.
    Filter(Filter),
    /// The number that belongs to an item.
    Measure(Measure),
    /// `capital_1`: the capital of a state.
    CapitalOf,
    /// The items related to an item.
    Relation(Relation),
    /// The item with the largest or smallest number.
    Superlative(Measure, Extreme),
    /// The same, compared by the query in the argument: `largest_one(population_1(..))`.
    One(Extreme),
    /// The item with the most or fewest related ones.
    ByCount(Extreme),
    /// How many different items.
    Count,
    /// The sum of all items.
    Sum,
    /// The items of the first argument without those of the second.
    Exclude,
    /// The items of the first argument that are in the second.
    Intersection,
}

/// Kinds of ids.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    State,
    City,
    River,
    Country,
    Place,
}

/// Kinds of items that a filter keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Filter {
    Capital,
    City,
    /// Cities of more than 150,000 people and rivers of more than 750 kilometers.
    Major,
    /// Highest and lowest points, also named `mountain`.
    Place,
    River,
    Lake,
    State,
}

impl Filter {
    /// Whether the filter can be applied to everything, as in `city(all)`.
    pub(super) fn has_all(self) -> bool {
        self != Self::Major
    }
}

/// Numbers that belong to an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Measure {
    Length,
    /// Area of a state, population of a city, length of a river, elevation of a place, a number itself.
    Size,
    Area,
    Population,
    Density,
    Elevation,
}

/// Relations, read from the item given to the items found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Relation {
    /// City to the states it is the capital of.
    CapitalFor,
    /// Number to the places at that elevation.
    AtElevation,
    /// State or country to its highest place.
    HighPoint,
    /// Place to the states and the country it is the highest place of.
    HighPointOf,
    /// State or country to its lowest place.
    LowPoint,
    /// Place to the states and the country it is the lowest place of.
    LowPointOf,
    /// Place to the places it is higher than.
    HigherThan,
    /// Place to the places that are higher.
    Higher,
    /// Place to the places it is lower than.
    LowerThan,
    /// Place to the places that are lower.
    Lower,
    /// Item to the states and the country it is in.
    In,
    /// State or country to all that is in it.
    Contains,
    /// State to the states its own entry lists as neighbors.
    Borders,
    /// State to the states whose entries list it as a neighbor.
    BorderedBy,
    /// River to the states it runs through.
    Traverses,
    /// State to the rivers that run through it.
    TraversedBy,
    /// River to the rivers that are longer.
    Longer,
}

impl Relation {
    /// Whether the relation has a second reading, each item with the list of what it is related to.
    pub(super) fn has_pairs(self) -> bool {
        !matches!(self, Self::CapitalFor | Self::AtElevation)
    }

    /// Whether an item is compared with the facts one by one.
    pub(super) fn compares(self) -> bool {
        matches!(
            self,
            Self::AtElevation
                | Self::HigherThan
                | Self::Higher
                | Self::LowerThan
                | Self::Lower
                | Self::Longer
        )
    }
}

/// The end of a scale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extreme {
    Most,
    Least,
}

const PREDICATES: &[(&str, Op)] = &[
    ("answer", Op::Same),
    ("each", Op::Same),
    ("stateid", Op::Id(Kind::State)),
    ("cityid", Op::Id(Kind::City)),
    ("riverid", Op::Id(Kind::River)),
    ("countryid", Op::Id(Kind::Country)),
    ("placeid", Op::Id(Kind::Place)),
    ("capital", Op::Filter(Filter::Capital)),
    ("city", Op::Filter(Filter::City)),
    ("major", Op::Filter(Filter::Major)),
    ("mountain", Op::Filter(Filter::Place)),
    ("place", Op::Filter(Filter::Place)),
    ("river", Op::Filter(Filter::River)),
    ("lake", Op::Filter(Filter::Lake)),
    ("state", Op::Filter(Filter::State)),
    ("len", Op::Measure(Measure::Length)),
    ("size", Op::Measure(Measure::Size)),
    ("area_1", Op::Measure(Measure::Area)),
    ("population_1", Op::Measure(Measure::Population)),
    ("density_1", Op::Measure(Measure::Density)),
    ("elevation_1", Op::Measure(Measure::Elevation)),
    ("capital_1", Op::CapitalOf),
    ("capital_2", Op::Relation(Relation::CapitalFor)),
    ("elevation_2", Op::Relation(Relation::AtElevation)),
    ("high_point_1", Op::Relation(Relation::HighPoint)),
    ("high_point_2", Op::Relation(Relation::HighPointOf)),
    ("low_point_1", Op::Relation(Relation::LowPoint)),
    ("low_point_2", Op::Relation(Relation::LowPointOf)),
    ("higher_1", Op::Relation(Relation::HigherThan)),
    ("higher_2", Op::Relation(Relation::Higher)),
    ("lower_1", Op::Relation(Relation::LowerThan)),
    ("lower_2", Op::Relation(Relation::Lower)),
    ("loc_1", Op::Relation(Relation::In)),
    ("loc_2", Op::Relation(Relation::Contains)),
    ("next_to_1", Op::Relation(Relation::Borders)),
    ("next_to_2", Op::Relation(Relation::BorderedBy)),
    ("traverse_1", Op::Relation(Relation::Traverses)),
    ("traverse_2", Op::Relation(Relation::TraversedBy)),
    ("longer", Op::Relation(Relation::Longer)),
    ("largest", Op::Superlative(Measure::Size, Extreme::Most)),
    ("smallest", Op::Superlative(Measure::Size, Extreme::Least)),
    ("highest", Op::Superlative(Measure::Elevation, Extreme::Most)),
    ("lowest", Op::Superlative(Measure::Elevation, Extreme::Least)),
    ("longest", Op::Superlative(Measure::Length, Extreme::Most)),
    ("shortest", Op::Superlative(Measure::Length, Extreme::Least)),
    ("largest_one", Op::One(Extreme::Most)),
    ("highest_one", Op::One(Extreme::Most)),
    ("longest_one", Op::One(Extreme::Most)),
    ("smallest_one", Op::One(Extreme::Least)),
    ("lowest_one", Op::One(Extreme::Least)),
    ("shortest_one", Op::One(Extreme::Least)),
    ("most", Op::ByCount(Extreme::Most)),
    ("fewest", Op::ByCount(Extreme::Least)),
    ("count", Op::Count),
    ("sum", Op::Sum),
    ("exclude", Op::Exclude),
    ("intersection", Op::Intersection),
];

impl Op {
    /// The operation of the predicate `name`, or a message that names what is wrong.
    pub(super) fn of(name: &str, n_args: usize) -> Result<Self, String> {
        static BY_NAME: LazyLock<HashMap<&str, Op>> = LazyLock::new(|| PREDICATES.iter().copied().collect());
        let Some(&op) = BY_NAME.get(name) else {
            let hint = did_you_mean(name, PREDICATES.iter().map(|&(known, _)| known));
            return Err(format!("unknown predicate `{}`{hint}", shown(name)));
        };
        let expected = op.n_args();
        if n_args == expected {
            return Ok(op);
        }
        let plural = if expected == 1 { "" } else { "s" };
        Err(format!("`{name}` takes {expected} argument{plural}, found {n_args}"))
    }

    /// How many arguments the predicate takes.
    pub(super) fn n_args(self) -> usize {
        match self {
            Self::Id(Kind::City) | Self::Exclude | Self::Intersection => 2,
            _ => 1,
        }
    }
}
