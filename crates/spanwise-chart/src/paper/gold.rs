//! The constraint of section 3.3: a chart whose trees are all on their way to one program.

use super::beam::{EntryId, How};
use super::chart::Constraint;
use super::fragments::{FragmentId, Fragments};
use spanwise_lang::ConstantId;

/// Keeps only trees whose sub-program is a part of the program; over the whole input, only those of all of
/// it.
pub(super) struct Gold<'a> {
    fragments: &'a Fragments,
    at_root: bool,
    /// What each entry may be, one after the other, and where that ends.
    sets: Vec<FragmentId>,
    ends: Vec<u32>,
    /// What the tree in question may be; for three children, also what the outer two may be.
    found: Vec<FragmentId>,
    outer: Vec<FragmentId>,
}

impl<'a> Gold<'a> {
    pub(super) fn new(fragments: &'a Fragments) -> Self {
        let (sets, ends, found, outer) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { fragments, at_root: false, sets, ends, found, outer }
    }

    /// What an entry may be.
    fn set(&self, id: EntryId) -> &[FragmentId] {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sets[start as usize..self.ends[id.index()] as usize]
    }

    /// Finds what a tree built that way may be.
    fn find(&mut self, how: How) {
        // Taken out so that they can be filled while the sets are read.
        let (mut found, mut outer) = (std::mem::take(&mut self.found), std::mem::take(&mut self.outer));
        let fragments = self.fragments;
        found.clear();
        match how {
            How::Constant(constant) => found.extend(fragments.leaves(constant)),
            How::NullRight { left: only, .. } | How::NullLeft { right: only, .. } => {
                found.extend_from_slice(self.set(only));
            }
            How::Pair { left, right, .. } => {
                fragments.compose(self.set(left), self.set(right), &mut found);
            }
            How::Triple { left, middle, right, .. } => {
                outer.clear();
                fragments.compose(self.set(left), self.set(right), &mut outer);
                fragments.compose(&outer, self.set(middle), &mut found);
            }
        }
        (self.found, self.outer) = (found, outer);
    }
}

impl Constraint for Gold<'_> {
    fn constants(&self) -> Option<&[ConstantId]> {
        Some(self.fragments.constants())
    }

    fn enter_root(&mut self) {
        self.at_root = true;
    }

    fn allows(&mut self, how: How) -> bool {
        self.find(how);
        if self.at_root {
            self.found.iter().any(|&fragment| self.fragments.is_goal(fragment))
        } else {
            !self.found.is_empty()
        }
    }

    fn allows_around(&mut self, left: EntryId, right: EntryId) -> bool {
        self.fragments.can_compose(self.set(left), self.set(right))
    }

    fn commit(&mut self, how: How) {
        self.find(how);
        self.sets.extend_from_slice(&self.found);
        self.ends.push(u32::try_from(self.sets.len()).expect("fewer than 2^32 fragments fit into memory"));
    }
}
