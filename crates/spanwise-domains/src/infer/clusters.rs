//! Groups things that occur in the same places, as far as their counts tell.

use std::collections::BTreeMap;

/// Uses after which what was not seen counts half as impossible.
const DOUBT: f64 = 4.0;
/// Most things that are compared with each other; rarer ones join the group that they fit best.
const MAX_COMPARED: usize = 500;

/// How often something occurs in each place.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Counts {
    total: f64,
    /// In the order of the places.
    by_place: Vec<(usize, f64)>,
}

impl FromIterator<(usize, f64)> for Counts {
    fn from_iter<I: IntoIterator<Item = (usize, f64)>>(counts: I) -> Self {
        let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
        counts.into_iter().for_each(|(place, n)| *sums.entry(place).or_default() += n);
        Self { total: sums.values().sum(), by_place: sums.into_iter().collect() }
    }
}

impl Counts {
    /// The number of all uses.
    pub(super) fn total(&self) -> f64 {
        self.total
    }

    fn merged(&self, other: &Self) -> Self {
        self.by_place.iter().chain(&other.by_place).copied().collect()
    }
}

/// How much of `other` occurs where `one` was never seen, from 0 to 1. It counts less where `one` is rare, because much of
/// what a rare thing can do was not seen.
fn difference(one: &Counts, other: &Counts) -> f64 {
    if one.total == 0.0 || other.total == 0.0 {
        return 0.0;
    }
    let mut seen = one.by_place.iter().map(|(place, _)| *place).peekable();
    let mut elsewhere = 0.0;
    for &(place, n) in &other.by_place {
        while seen.next_if(|&known| known < place).is_some() {}
        if seen.peek() != Some(&place) {
            elsewhere += n;
        }
    }
    elsewhere / other.total * one.total / (one.total + DOUBT)
}

/// The same in both directions.
pub(super) fn distance(one: &Counts, other: &Counts) -> f64 {
    difference(one, other).max(difference(other, one))
}

/// The group of each thing, numbered in the order of their first members: the two nearest groups are merged until no two are
/// nearer than `threshold`. Things in `alone` stay in groups of their own.
pub(super) fn groups(things: &[Counts], threshold: f64, alone: &[bool]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..things.len()).filter(|&at| !alone[at]).collect();
    order.sort_by(|&a, &b| things[b].total.total_cmp(&things[a].total).then(a.cmp(&b)));
    let rare = order.split_off(order.len().min(MAX_COMPARED));
    let mut merging = Merging::new(&order, things);
    while let Some((a, b)) = merging.nearest(threshold) {
        merging.merge(a, b);
    }
    let mut group_of: Vec<usize> = (0..things.len()).collect();
    for (number, members) in merging.members.iter().enumerate() {
        members.iter().for_each(|&member| group_of[member] = order[number]);
    }
    for at in rare {
        let live = (0..order.len()).filter(|&number| !merging.members[number].is_empty());
        let near = live.map(|number| (distance(&merging.counts[number], &things[at]), number));
        let best = near.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(far, _)| *far <= threshold);
        best.into_iter().for_each(|(_, number)| group_of[at] = order[number]);
    }
    renumbered(&group_of)
}

fn renumbered(group_of: &[usize]) -> Vec<usize> {
    let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
    let mut number = |group: &usize| {
        let fresh = numbers.len();
        *numbers.entry(*group).or_insert(fresh)
    };
    group_of.iter().map(&mut number).collect()
}

/// Groups while they are merged, each with its nearest neighbor of a higher number.
struct Merging {
    counts: Vec<Counts>,
    members: Vec<Vec<usize>>,
    nearest: Vec<Option<(f64, usize)>>,
}

impl Merging {
    fn new(order: &[usize], things: &[Counts]) -> Self {
        let counts: Vec<Counts> = order.iter().map(|&at| things[at].clone()).collect();
        let members = order.iter().map(|&at| vec![at]).collect();
        let mut merging = Self { counts, members, nearest: vec![None; order.len()] };
        (0..order.len()).for_each(|at| merging.find_nearest(at));
        merging
    }

    fn find_nearest(&mut self, at: usize) {
        let others = (at + 1..self.counts.len()).filter(|&other| !self.members[other].is_empty());
        let far = others.map(|other| (distance(&self.counts[at], &self.counts[other]), other));
        self.nearest[at] = far.min_by(|a, b| a.0.total_cmp(&b.0));
    }

    fn nearest(&self, threshold: f64) -> Option<(usize, usize)> {
        let pairs =
            self.nearest.iter().enumerate().filter_map(|(at, near)| near.map(|(far, b)| (far, at, b)));
        let best = pairs.filter(|(far, ..)| *far <= threshold).min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, a, b)| (a, b))
    }

    fn merge(&mut self, a: usize, b: usize) {
        let (counts, members) = (std::mem::take(&mut self.counts[b]), std::mem::take(&mut self.members[b]));
        self.counts[a] = self.counts[a].merged(&counts);
        self.members[a].extend(members);
        self.nearest[b] = None;
        for at in 0..self.counts.len() {
            if self.members[at].is_empty() {
                continue;
            }
            let is_stale = self.nearest[at].is_some_and(|(_, near)| near == a || near == b);
            if at == a || is_stale {
                self.find_nearest(at);
            } else if at < a {
                let far = distance(&self.counts[at], &self.counts[a]);
                if self.nearest[at].is_none_or(|(known, _)| far < known) {
                    self.nearest[at] = Some((far, a));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(places: &[(usize, f64)]) -> Counts {
        places.iter().copied().collect()
    }

    #[test]
    fn what_occurs_in_the_same_places_is_one_group_and_the_rest_is_not() {
        let things = [&[(0, 9.0), (1, 9.0)][..], &[(2, 9.0)], &[(0, 5.0), (1, 2.0)], &[(2, 7.0), (3, 1.0)]]
            .map(counts);
        assert_eq!(groups(&things, 0.4, &[false; 4]), [0, 1, 0, 1]);
        assert_eq!(groups(&things, 0.4, &[false, false, true, false]), [0, 1, 2, 1]);
    }

    #[test]
    fn a_rare_thing_joins_what_occurs_where_it_does_although_the_rest_was_not_seen() {
        let things = [&[(0, 50.0), (1, 50.0), (2, 50.0)][..], &[(3, 50.0)], &[(1, 1.0)]].map(counts);
        assert_eq!(groups(&things, 0.4, &[false; 3]), [0, 1, 0]);
        // Seen often in one place only, it is something else.
        let often = [things[0].clone(), things[1].clone(), counts(&[(1, 40.0)])];
        assert_eq!(groups(&often, 0.4, &[false; 3]), [0, 1, 2]);
    }
}
