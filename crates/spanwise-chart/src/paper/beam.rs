//! What a list of trees holds and in which order.

use spanwise_lang::ConstantId;

/// A tree in the chart. Within the list of a span, better trees have smaller ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct EntryId(pub(super) u32);

impl EntryId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// How a tree is built. The derived order is the one in which trees with equal scores are kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum How {
    /// A constant on words.
    Constant(ConstantId),
    /// `join join`.
    Pair { split: u32, left: EntryId, right: EntryId },
    /// `join null`.
    NullRight { split: u32, left: EntryId },
    /// `join join join`.
    Triple { splits: [u32; 2], left: EntryId, middle: EntryId, right: EntryId },
    /// `null join`, at the root only.
    NullLeft { split: u32, right: EntryId },
}

/// A tree that may become an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) score: f64,
    pub(super) how: How,
}

impl Candidate {
    fn is_before(&self, other: &Self) -> bool {
        other.score.total_cmp(&self.score).then_with(|| self.how.cmp(&other.how)).is_lt()
    }
}

/// The best candidates so far, best first. Reused from list to list.
#[derive(Debug)]
pub(super) struct Beam {
    pub(super) width: usize,
    pub(super) kept: Vec<Candidate>,
    /// Whether any list has ever refused a candidate.
    pub(super) dropped: bool,
}

impl Beam {
    pub(super) fn new(width: usize) -> Self {
        Self { width, kept: Vec::new(), dropped: false }
    }

    /// The candidate to beat, once the list is full.
    pub(super) fn worst(&self) -> Option<&Candidate> {
        self.kept.last().filter(|_| self.kept.len() == self.width)
    }

    /// Whether a candidate would be kept. If not, nothing after it in the order would be.
    pub(super) fn admits(&mut self, candidate: &Candidate) -> bool {
        let admits =
            self.kept.len() < self.width || self.kept.last().is_some_and(|worst| candidate.is_before(worst));
        self.dropped |= !admits;
        admits
    }

    /// Adds a candidate that is admitted. Cost: linear in the width.
    pub(super) fn insert(&mut self, candidate: Candidate) {
        let at = self.kept.partition_point(|kept| kept.is_before(&candidate));
        debug_assert!(self.kept.get(at).is_none_or(|kept| kept.how != candidate.how), "no tree comes twice");
        if self.kept.len() == self.width {
            self.kept.pop();
            self.dropped = true;
        }
        self.kept.insert(at, candidate);
    }
}
