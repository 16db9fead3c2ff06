//! Charts whose trees are all on their way to something: to one program (section 3.3), or to any program that
//! the types allow.

use super::beam::{EntryId, How};
use super::chart::Constraint;
use super::fragments::{FragmentId, Fragments};
use spanwise_lang::{ConstantId, Domain, StateId};

/// What trees may be: constants by themselves, neighbours together, and what is wanted over the whole input.
pub(super) trait Parts {
    type Part: Copy;
    /// The only constants that are possible, in order; `None` for all.
    fn constants(&self) -> Option<&[ConstantId]>;
    /// Adds to `found` what a constant may be by itself.
    fn leaves(&self, constant: ConstantId, found: &mut Vec<Self::Part>);
    /// Adds to `found` what neighbours from these two sets may be together.
    fn compose(&self, lefts: &[Self::Part], rights: &[Self::Part], found: &mut Vec<Self::Part>);
    /// Whether neighbours from these two sets may be anything together.
    fn can_compose(&self, lefts: &[Self::Part], rights: &[Self::Part]) -> bool;
    /// Whether it is what is wanted over the whole input.
    fn is_goal(&self, part: Self::Part) -> bool;
}

/// Parts of one program.
impl Parts for &Fragments {
    type Part = FragmentId;

    fn constants(&self) -> Option<&[ConstantId]> {
        Some(Fragments::constants(self))
    }

    fn leaves(&self, constant: ConstantId, found: &mut Vec<FragmentId>) {
        found.extend(Fragments::leaves(self, constant));
    }

    fn compose(&self, lefts: &[FragmentId], rights: &[FragmentId], found: &mut Vec<FragmentId>) {
        Fragments::compose(self, lefts, rights, found);
    }

    fn can_compose(&self, lefts: &[FragmentId], rights: &[FragmentId]) -> bool {
        Fragments::can_compose(self, lefts, rights)
    }

    fn is_goal(&self, part: FragmentId) -> bool {
        Fragments::is_goal(self, part)
    }
}

/// Meaning states: whatever the types let compose as in [`super::program::join`].
impl Parts for &Domain {
    type Part = StateId;

    fn constants(&self) -> Option<&[ConstantId]> {
        None
    }

    fn leaves(&self, constant: ConstantId, found: &mut Vec<StateId>) {
        for state in self.frames_of(constant).filter_map(|(_, frame)| frame.state) {
            if !found.contains(&state) {
                found.push(state);
            }
        }
    }

    fn compose(&self, lefts: &[StateId], rights: &[StateId], found: &mut Vec<StateId>) {
        for &left in lefts {
            for both in rights.iter().filter_map(|&right| together(self, left, right)) {
                if !found.contains(&both) {
                    found.push(both);
                }
            }
        }
    }

    fn can_compose(&self, lefts: &[StateId], rights: &[StateId]) -> bool {
        lefts.iter().any(|&left| rights.iter().any(|&right| together(self, left, right).is_some()))
    }

    fn is_goal(&self, part: StateId) -> bool {
        self.states().is_root(part)
    }
}

/// What two neighbours are together: one applied to the other, or values gathered.
fn together(domain: &Domain, left: StateId, right: StateId) -> Option<StateId> {
    let states = domain.states();
    (states.apply().get(left, right))
        .or_else(|| states.apply().get(right, left))
        .or_else(|| states.gather().get(left, right))
}

/// Keeps only trees that may be some part; over the whole input, only those that may be what is wanted.
pub(super) struct Checked<P: Parts> {
    parts: P,
    at_root: bool,
    /// What each entry may be, one after the other, and where that ends.
    sets: Vec<P::Part>,
    ends: Vec<u32>,
    /// What the tree in question may be; for three children, also what the outer two may be.
    found: Vec<P::Part>,
    outer: Vec<P::Part>,
}

impl<P: Parts> Checked<P> {
    pub(super) fn new(parts: P) -> Self {
        let (sets, ends, found, outer) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { parts, at_root: false, sets, ends, found, outer }
    }

    /// What an entry may be.
    fn set(&self, id: EntryId) -> &[P::Part] {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sets[start as usize..self.ends[id.index()] as usize]
    }

    /// Finds what a tree built that way may be.
    fn find(&mut self, how: How) {
        // Taken out so that they can be filled while the sets are read.
        let (mut found, mut outer) = (std::mem::take(&mut self.found), std::mem::take(&mut self.outer));
        found.clear();
        match how {
            How::Constant(constant) => self.parts.leaves(constant, &mut found),
            How::NullRight { left: only, .. } | How::NullLeft { right: only, .. } => {
                found.extend_from_slice(self.set(only));
            }
            How::Pair { left, right, .. } => {
                self.parts.compose(self.set(left), self.set(right), &mut found);
            }
            How::Triple { left, middle, right, .. } => {
                outer.clear();
                self.parts.compose(self.set(left), self.set(right), &mut outer);
                self.parts.compose(&outer, self.set(middle), &mut found);
            }
        }
        (self.found, self.outer) = (found, outer);
    }
}

impl<P: Parts> Constraint for Checked<P> {
    fn constants(&self) -> Option<&[ConstantId]> {
        self.parts.constants()
    }

    fn enter_root(&mut self) {
        self.at_root = true;
    }

    fn allows(&mut self, how: How) -> bool {
        self.find(how);
        if self.at_root {
            self.found.iter().any(|&part| self.parts.is_goal(part))
        } else {
            !self.found.is_empty()
        }
    }

    fn allows_around(&mut self, left: EntryId, right: EntryId) -> bool {
        self.parts.can_compose(self.set(left), self.set(right))
    }

    fn commit(&mut self, how: How) {
        self.find(how);
        self.sets.extend_from_slice(&self.found);
        self.ends.push(u32::try_from(self.sets.len()).expect("fewer than 2^32 parts fit into memory"));
    }
}
