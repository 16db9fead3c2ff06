//! The type check of Algorithm 1: which trees may still become a program (section 3.2).

use super::beam::{EntryId, How};
use super::chart::Constraint;
use spanwise_lang::{ConstantId, Domain, StateId};

/// Keeps only trees that have a meaning state; over the whole input, only those that may be a program.
///
/// A constant with several frames has several states, so every tree has a set of them.
pub(super) struct Checked<'a> {
    domain: &'a Domain,
    at_root: bool,
    /// The states of each entry, one set after the other, and where each set ends.
    states: Vec<StateId>,
    ends: Vec<u32>,
    /// The states of the tree in question; for three children, also those of the outer two together.
    found: Vec<StateId>,
    outer: Vec<StateId>,
}

impl<'a> Checked<'a> {
    pub(super) fn new(domain: &'a Domain) -> Self {
        let (states, ends, found, outer) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { domain, at_root: false, states, ends, found, outer }
    }

    /// The states of an entry.
    fn set(&self, id: EntryId) -> &[StateId] {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.states[start as usize..self.ends[id.index()] as usize]
    }

    /// Finds the states of a tree built that way.
    fn find(&mut self, how: How) {
        // Taken out so that they can be filled while the sets are read.
        let (mut found, mut outer) = (std::mem::take(&mut self.found), std::mem::take(&mut self.outer));
        found.clear();
        match how {
            How::Constant(constant) => self.leaves(constant, &mut found),
            How::NullRight { left: only, .. } | How::NullLeft { right: only, .. } => {
                found.extend_from_slice(self.set(only));
            }
            How::Pair { left, right, .. } => self.compose(self.set(left), self.set(right), &mut found),
            How::Triple { left, middle, right, .. } => {
                outer.clear();
                self.compose(self.set(left), self.set(right), &mut outer);
                self.compose(&outer, self.set(middle), &mut found);
            }
        }
        (self.found, self.outer) = (found, outer);
    }

    /// Adds the states of a constant by itself.
    fn leaves(&self, constant: ConstantId, found: &mut Vec<StateId>) {
        for state in self.domain.frames_of(constant).filter_map(|(_, frame)| frame.state) {
            if !found.contains(&state) {
                found.push(state);
            }
        }
    }

    /// Adds the states that neighbours with states from these two sets have together.
    fn compose(&self, lefts: &[StateId], rights: &[StateId], found: &mut Vec<StateId>) {
        for &left in lefts {
            for both in rights.iter().filter_map(|&right| self.together(left, right)) {
                if !found.contains(&both) {
                    found.push(both);
                }
            }
        }
    }

    /// The state of two neighbours together, as in [`super::program::join`].
    fn together(&self, left: StateId, right: StateId) -> Option<StateId> {
        let states = self.domain.states();
        (states.apply().get(left, right))
            .or_else(|| states.apply().get(right, left))
            .or_else(|| states.gather().get(left, right))
    }
}

impl Constraint for Checked<'_> {
    fn enter_root(&mut self) {
        self.at_root = true;
    }

    fn allows(&mut self, how: How) -> bool {
        self.find(how);
        if self.at_root {
            self.found.iter().any(|&state| self.domain.states().is_root(state))
        } else {
            !self.found.is_empty()
        }
    }

    fn allows_around(&mut self, left: EntryId, right: EntryId) -> bool {
        let (lefts, rights) = (self.set(left), self.set(right));
        lefts.iter().any(|&left| rights.iter().any(|&right| self.together(left, right).is_some()))
    }

    fn commit(&mut self, how: How) {
        self.find(how);
        self.states.extend_from_slice(&self.found);
        self.ends.push(u32::try_from(self.states.len()).expect("fewer than 2^32 states fit into memory"));
    }
}
