//! Sets of objects: one machine word for scenes of up to 64 objects, a row of words for larger ones.
//!
//! Both sets of an operation must belong to scenes of the same size.

/// A set of object numbers below some fixed scene size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ObjectSet {
    Mask(u64),
    Words(Box<[u64]>),
}

impl ObjectSet {
    /// The objects below `n_objects` that `keep` holds of. Cost: one call of `keep` per object.
    pub(super) fn from_fn(n_objects: usize, mut keep: impl FnMut(usize) -> bool) -> Self {
        let mut word = |word_idx: usize| {
            let start = word_idx * 64;
            let n_bits = (n_objects - start).min(64);
            (0..n_bits).fold(0, |bits, bit| bits | (u64::from(keep(start + bit)) << bit))
        };
        if n_objects <= 64 {
            Self::Mask(word(0))
        } else {
            Self::Words((0..n_objects.div_ceil(64)).map(word).collect())
        }
    }

    pub(super) fn all(n_objects: usize) -> Self {
        Self::from_fn(n_objects, |_| true)
    }

    /// The set of the numbers listed; numbers outside the scene are ignored.
    pub(super) fn from_list(n_objects: usize, list: &[u32]) -> Self {
        let mut set = Self::from_fn(n_objects, |_| false);
        for object in list.iter().map(|&object| object as usize).filter(|&object| object < n_objects) {
            match &mut set {
                Self::Mask(mask) => *mask |= 1 << object,
                Self::Words(words) => words[object / 64] |= 1 << (object % 64),
            }
        }
        set
    }

    pub(super) fn contains(&self, object: usize) -> bool {
        self.words().get(object / 64).is_some_and(|word| word >> (object % 64) & 1 == 1)
    }

    pub(super) fn len(&self) -> usize {
        self.words().iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.words().iter().all(|&word| word == 0)
    }

    /// The object with the smallest number.
    pub(super) fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// The objects, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().iter().enumerate().flat_map(|(word_idx, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(word_idx * 64 + bit)
            })
        })
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a | b)
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        self.zip(other, |a, b| a & b)
    }

    fn zip(&self, other: &Self, combine: impl Fn(u64, u64) -> u64) -> Self {
        match (self, other) {
            (Self::Mask(a), Self::Mask(b)) => Self::Mask(combine(*a, *b)),
            _ => Self::Words(self.words().iter().zip(other.words()).map(|(&a, &b)| combine(a, b)).collect()),
        }
    }

    fn words(&self) -> &[u64] {
        match self {
            Self::Mask(mask) => std::slice::from_ref(mask),
            Self::Words(words) => words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn both_representations_behave_like_ordinary_sets(
            n_objects in 0usize..200,
            a in prop::collection::btree_set(0u32..200, 0..60),
            b in prop::collection::btree_set(0u32..200, 0..60),
        ) {
            let inside = |set: &BTreeSet<u32>| -> BTreeSet<usize> {
                set.iter().map(|&object| object as usize).filter(|&object| object < n_objects).collect()
            };
            let build = |set: &BTreeSet<u32>| {
                ObjectSet::from_list(n_objects, &set.iter().copied().collect::<Vec<_>>())
            };
            let items = |set: &ObjectSet| set.iter().collect::<BTreeSet<_>>();
            let (all_a, all_b) = (inside(&a), inside(&b));
            let union: BTreeSet<usize> = all_a.union(&all_b).copied().collect();
            let intersection: BTreeSet<usize> = all_a.intersection(&all_b).copied().collect();
            let (set_a, set_b, a) = (build(&a), build(&b), all_a);
            prop_assert_eq!(items(&set_a), a.clone());
            prop_assert_eq!(set_a.len(), a.len());
            prop_assert_eq!(set_a.is_empty(), a.is_empty());
            prop_assert_eq!(set_a.first(), a.first().copied());
            prop_assert_eq!(items(&set_a.union(&set_b)), union);
            prop_assert_eq!(items(&set_a.intersection(&set_b)), intersection);
            prop_assert!((0..n_objects + 70).all(|object| set_a.contains(object) == a.contains(&object)));
            prop_assert_eq!(ObjectSet::all(n_objects).len(), n_objects);
            prop_assert_eq!(ObjectSet::from_fn(n_objects, |object| a.contains(&object)), set_a);
        }
    }
}
