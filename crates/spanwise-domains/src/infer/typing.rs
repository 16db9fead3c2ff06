//! Types of constants, from where they occur.
//!
//! Unification alone gives most languages a single type, because some position takes almost everything. So constants that
//! occur in the same positions get one *sort* (a type to be), positions that take the same sorts get one *slot type*, and a
//! constant whose uses depend on its argument gets a signature for each sort of it. The finest sorts are chosen that still
//! type programs they were not made from.

use super::clusters::{Counts, distance, groups};
use super::corpus::Graph;
use std::collections::{BTreeMap, BTreeSet};

/// From fine to coarse: distances up to which sorts are merged.
const THRESHOLDS: [f64; 7] = [0.2, 0.3, 0.4, 0.5, 0.6, 0.75, COARSEST];
pub(super) const COARSEST: f64 = 0.9;
/// How much less than the best share of held-out programs finer types may accept.
const TOLERANCE: f64 = 0.03;
/// One in so many programs is held out.
const HELD_OUT: usize = 5;
/// Rounds of grouping and splitting.
const ROUNDS: usize = 7;
/// Uses with each sort of argument that a signature of its own needs.
const MIN_USES: f64 = 3.0;

pub(super) type Sort = usize;
/// Slot types, each with a number of uses.
type Uses = Vec<(usize, f64)>;

/// Where a subterm occurs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Place {
    Root,
    Slot { head: usize, arity: usize, slot: usize },
}

/// A program without names of entities, and how often it occurs.
pub(super) struct Skeleton {
    nodes: Vec<(usize, Vec<usize>)>,
    weight: f64,
}

/// The different skeletons of programs, in the order of the programs.
fn skeletons<'a>(graphs: impl Iterator<Item = &'a Graph>) -> Vec<Skeleton> {
    let mut known: BTreeMap<Vec<(usize, Vec<usize>)>, usize> = BTreeMap::new();
    let mut all: Vec<Skeleton> = Vec::new();
    for graph in graphs {
        let nodes: Vec<_> = graph.iter().map(|node| (node.head, node.children.clone())).collect();
        let at = *known.entry(nodes.clone()).or_insert(all.len());
        if at == all.len() {
            all.push(Skeleton { nodes, weight: 0.0 });
        }
        all[at].weight += 1.0;
    }
    all
}

/// Sorts of constants and what each position takes.
#[derive(Clone, Default)]
pub(super) struct Typing {
    /// The sort of a head; of one that is split, for each sort of that argument.
    pub(super) results: BTreeMap<(usize, Option<Sort>), Sort>,
    /// Heads whose sort depends on an argument, and which.
    pub(super) split: BTreeMap<usize, usize>,
    /// The slot type of each position.
    pub(super) slot_types: BTreeMap<Place, usize>,
    /// The sorts that each slot type takes.
    pub(super) accepted: Vec<BTreeSet<Sort>>,
    /// Heads that gather any number of arguments, in any order.
    pub(super) sets: BTreeSet<usize>,
}

/// A typing with its evidence.
pub(super) struct Choice {
    pub(super) typing: Typing,
    pub(super) threshold: f64,
    /// The share of held-out programs that are well-typed, where some could be tried.
    pub(super) held_out: Option<f64>,
}

/// The finest typing that generalizes, beginning at a threshold.
pub(super) fn choose(graphs: &[Graph], sets: &BTreeSet<usize>, from: f64) -> Choice {
    let part = |is_held_out: bool| {
        let of_part = move |(at, _): &(usize, &Graph)| (at % HELD_OUT == HELD_OUT - 1) == is_held_out;
        skeletons(graphs.iter().enumerate().filter(of_part).map(|(_, graph)| graph))
    };
    let (seen, held) = (part(false), part(true));
    let thresholds: Vec<f64> = THRESHOLDS.into_iter().filter(|&threshold| threshold >= from).collect();
    let share = |&threshold: &f64| Typing::fit(&seen, sets, threshold).share(&held);
    let shares: Vec<Option<f64>> = thresholds.iter().map(share).collect();
    let best = shares.iter().flatten().copied().fold(0.0, f64::max);
    let is_good = |share: &Option<f64>| share.is_none_or(|share| share >= best - TOLERANCE);
    let at = shares.iter().position(is_good).unwrap_or(0);
    let threshold = thresholds.get(at).copied().unwrap_or(1.0);
    let typing = Typing::fit(&skeletons(graphs.iter()), sets, threshold);
    Choice { typing, threshold, held_out: shares.get(at).copied().flatten() }
}

impl Typing {
    fn fit(all: &[Skeleton], sets: &BTreeSet<usize>, threshold: f64) -> Self {
        let mut typing = Self { sets: sets.clone(), ..Self::default() };
        // At first, every head is a sort of its own.
        let mut sorts: Vec<Vec<Sort>> =
            all.iter().map(|one| one.nodes.iter().map(|node| node.0).collect()).collect();
        let mut n_stable = 0;
        for _ in 0..ROUNDS {
            let grouped = Grouped::new(&typing, all, &sorts, threshold);
            sorts = typing.adopt(&grouped, all, &sorts);
            let new = typing.splits(all, &sorts, threshold);
            n_stable = if new.is_empty() { n_stable + 1 } else { 0 };
            if n_stable == 2 {
                break;
            }
            typing.split.extend(new);
        }
        // A split of the last round has no results yet.
        let has_results =
            |head: &usize| typing.results.keys().any(|(known, by)| known == head && by.is_some());
        let split = typing.split.iter().filter(|(head, _)| has_results(head));
        typing.split = split.map(|(&head, &slot)| (head, slot)).collect();
        typing.complete(all);
        typing.accept(all);
        typing
    }

    /// The column of a node: its head, with the sort of the argument that decides.
    fn column(&self, node: &(usize, Vec<usize>), sorts: &[Sort]) -> (usize, Option<Sort>) {
        let by = self.split.get(&node.0).and_then(|&slot| node.1.get(slot)).map(|&child| sorts[child]);
        (node.0, by)
    }

    pub(super) fn place(&self, head: usize, arity: usize, slot: usize) -> Place {
        if self.sets.contains(&head) {
            return Place::Slot { head, arity: 0, slot: 0 };
        }
        Place::Slot { head, arity, slot }
    }

    /// Every subterm with the place where it occurs.
    fn occurrences(&self, skeleton: &Skeleton) -> Vec<(Place, usize)> {
        let mut found = vec![(Place::Root, skeleton.nodes.len() - 1)];
        for (head, children) in &skeleton.nodes {
            let arity = children.len();
            let places = children.iter().enumerate();
            found.extend(places.map(|(slot, &child)| (self.place(*head, arity, slot), child)));
        }
        found
    }

    /// Takes over new groups; returns the new sorts of all nodes.
    fn adopt(&mut self, grouped: &Grouped, all: &[Skeleton], sorts: &[Vec<Sort>]) -> Vec<Vec<Sort>> {
        let new: Vec<Vec<Sort>> = all
            .iter()
            .zip(sorts)
            .map(|(one, sorts)| {
                one.nodes.iter().map(|node| grouped.sort_of[&self.column(node, sorts)]).collect()
            })
            .collect();
        let mut votes: BTreeMap<(usize, Option<Sort>), BTreeMap<Sort, f64>> = BTreeMap::new();
        for (one, sorts) in all.iter().zip(&new) {
            for (at, node) in one.nodes.iter().enumerate() {
                let votes = votes.entry(self.column(node, sorts)).or_default();
                *votes.entry(sorts[at]).or_default() += one.weight;
            }
        }
        let most = |votes: BTreeMap<Sort, f64>| {
            let best = votes.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            best.map_or(0, |(sort, _)| sort)
        };
        self.results = votes.into_iter().map(|(column, votes)| (column, most(votes))).collect();
        self.slot_types = grouped.slot_types.clone();
        new
    }

    /// Heads that occur elsewhere with one sort of argument than with another, and the argument that decides.
    fn splits(&self, all: &[Skeleton], sorts: &[Vec<Sort>], threshold: f64) -> BTreeMap<usize, usize> {
        let mut uses: BTreeMap<(usize, usize), BTreeMap<Sort, Uses>> = BTreeMap::new();
        for (one, sorts) in all.iter().zip(sorts) {
            for (place, at) in self.occurrences(one) {
                let (head, children) = &one.nodes[at];
                if self.split.contains_key(head) || self.sets.contains(head) {
                    continue;
                }
                for (slot, &child) in children.iter().enumerate() {
                    let by_sort = uses.entry((*head, slot)).or_default();
                    by_sort.entry(sorts[child]).or_default().push((self.slot_types[&place], one.weight));
                }
            }
        }
        let mut best: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for ((head, slot), by_sort) in uses {
            let counts: Vec<Counts> = by_sort.into_values().map(|uses| uses.into_iter().collect()).collect();
            let gain = gain(&counts, threshold);
            let known = best.get(&head).map_or(0.0, |(known, _)| *known);
            if gain > known {
                best.insert(head, (gain, slot));
            }
        }
        best.into_iter().map(|(head, (_, slot))| (head, slot)).collect()
    }

    /// Gives results to sorts of arguments that occur only now that every sort is the one that most uses have: the most frequent
    /// result of the head.
    fn complete(&mut self, all: &[Skeleton]) {
        let mut usual: BTreeMap<usize, BTreeMap<Sort, usize>> = BTreeMap::new();
        for ((head, _), &sort) in &self.results {
            *usual.entry(*head).or_default().entry(sort).or_default() += 1;
        }
        let most = |counts: &BTreeMap<Sort, usize>| {
            counts.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map_or(0, |(sort, _)| *sort)
        };
        for one in all {
            let mut sorts: Vec<Sort> = Vec::with_capacity(one.nodes.len());
            for node in &one.nodes {
                let column = self.column(node, &sorts);
                let usual = usual.get(&node.0).map_or(0, most);
                sorts.push(*self.results.entry(column).or_insert(usual));
            }
        }
    }

    /// Records which sorts occur in which positions.
    fn accept(&mut self, all: &[Skeleton]) {
        let n = self.slot_types.values().max().map_or(0, |last| last + 1);
        self.accepted = vec![BTreeSet::new(); n];
        for one in all {
            let sorts = self.sorts(one);
            for (place, at) in self.occurrences(one) {
                if let (Some(sort), Some(&slot_type)) = (sorts[at], self.slot_types.get(&place)) {
                    self.accepted[slot_type].insert(sort);
                }
            }
        }
    }

    fn sorts(&self, one: &Skeleton) -> Vec<Option<Sort>> {
        let mut sorts: Vec<Option<Sort>> = Vec::with_capacity(one.nodes.len());
        for (head, children) in &one.nodes {
            let by = self.split.get(head).and_then(|&slot| children.get(slot)).map(|&child| sorts[child]);
            let sort = match by {
                Some(None) => None,
                by => self.results.get(&(*head, by.flatten())).copied(),
            };
            sorts.push(sort);
        }
        sorts
    }

    /// Whether a program is well-typed; `None` if it has a constant or a position that is not known.
    fn types(&self, one: &Skeleton) -> Option<bool> {
        let is_known = |head: &usize| self.results.range((*head, None)..(*head + 1, None)).next().is_some();
        let places = self.occurrences(one);
        if !one.nodes.iter().all(|(head, _)| is_known(head))
            || !places.iter().all(|(place, _)| self.slot_types.contains_key(place))
        {
            return None;
        }
        let sorts = self.sorts(one);
        let fits = |(place, at): &(Place, usize)| {
            sorts[*at].is_some_and(|sort| self.accepted[self.slot_types[place]].contains(&sort))
        };
        Some(places.iter().all(fits))
    }

    /// The share of programs that are well-typed, of those that can be tried.
    fn share(&self, all: &[Skeleton]) -> Option<f64> {
        let tried = all.iter().filter_map(|one| Some((one.weight, self.types(one)?)));
        let (mut n, mut n_typed) = (0.0, 0.0);
        for (weight, typed) in tried {
            n += weight;
            n_typed += if typed { weight } else { 0.0 };
        }
        (n > 0.0).then(|| n_typed / n)
    }
}

/// How much uses with different sorts of an argument differ.
fn gain(counts: &[Counts], threshold: f64) -> f64 {
    let mut gain = 0.0;
    for (at, one) in counts.iter().enumerate() {
        for other in &counts[..at] {
            let (far, n) = (distance(one, other), one.total().min(other.total()));
            if far > threshold && n >= MIN_USES {
                gain += far * n;
            }
        }
    }
    gain
}

/// Columns grouped to sorts, and places to slot types.
struct Grouped {
    sort_of: BTreeMap<(usize, Option<Sort>), Sort>,
    slot_types: BTreeMap<Place, usize>,
}

impl Grouped {
    /// Groups columns by the slot types that they occur in, and places by the sorts that occur there, in turn.
    fn new(typing: &Typing, all: &[Skeleton], sorts: &[Vec<Sort>], threshold: f64) -> Self {
        let mut uses: BTreeMap<(Place, (usize, Option<Sort>)), f64> = BTreeMap::new();
        for (one, sorts) in all.iter().zip(sorts) {
            for (place, at) in typing.occurrences(one) {
                *uses.entry((place, typing.column(&one.nodes[at], sorts))).or_default() += one.weight;
            }
        }
        let columns: BTreeSet<_> = uses.keys().map(|(_, column)| *column).collect();
        let columns: Vec<_> = columns.into_iter().collect();
        let places: BTreeSet<Place> = uses.keys().map(|(place, _)| *place).collect();
        let places: Vec<Place> = places.into_iter().collect();
        let at = |place: &Place, column: &(usize, Option<Sort>)| {
            (places.binary_search(place).unwrap_or(0), columns.binary_search(column).unwrap_or(0))
        };
        let uses: Vec<(usize, usize, f64)> = uses
            .iter()
            .map(|((place, column), n)| (at(place, column), *n))
            .map(|((p, c), n)| (p, c, n))
            .collect();
        let is_set = |column: &(usize, Option<Sort>)| typing.sets.contains(&column.0);
        let alone: Vec<bool> = columns.iter().map(is_set).collect();
        let is_root: Vec<bool> = places.iter().map(|place| *place == Place::Root).collect();
        let (mut of_column, mut of_place) = (Vec::new(), (0..places.len()).collect::<Vec<usize>>());
        for _ in 0..3 {
            let mut counts = vec![Vec::new(); columns.len()];
            uses.iter().for_each(|&(place, column, n)| counts[column].push((of_place[place], n)));
            let counts: Vec<Counts> = counts.into_iter().map(|uses| uses.into_iter().collect()).collect();
            of_column = groups(&counts, threshold, &alone);
            let mut counts = vec![Vec::new(); places.len()];
            uses.iter().for_each(|&(place, column, n)| counts[place].push((of_column[column], n)));
            let counts: Vec<Counts> = counts.into_iter().map(|uses| uses.into_iter().collect()).collect();
            of_place = groups(&counts, threshold, &is_root);
        }
        Self {
            sort_of: columns.into_iter().zip(of_column).collect(),
            slot_types: places.into_iter().zip(of_place).collect(),
        }
    }
}
