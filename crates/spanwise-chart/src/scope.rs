//! Which types and constants a grammar covers: those of a domain, or those that one utterance can use.

use crate::lattice::Lattice;
use crate::rules::Options;
use spanwise_core::Idx;
use spanwise_lang::domain::Frame;
use spanwise_lang::{Domain, FrameId, TypeId};

/// Types and frames of a domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Scope {
    /// The types that complete terms may have, in order.
    pub types: Vec<TypeId>,
    /// For each frame, whether a complete program may contain it.
    pub frames: Vec<bool>,
}

impl Scope {
    /// All that complete programs of the domain contain.
    pub(crate) fn whole(domain: &Domain) -> Self {
        let ids = frames(domain);
        let is_useful = |frame: FrameId| domain.frame(frame).state.is_some();
        Self { types: domain.types().ids().collect(), frames: ids.map(is_useful).collect() }
    }

    /// All that complete programs over these leaves contain: what the leaves can build, and a root can be built from. May
    /// hold more than that, never less. Cost: linear in frames, and in types for each type that is found.
    pub(crate) fn of(&self, domain: &Domain, options: Options, lattice: &Lattice) -> Self {
        let mut found = vec![false; self.frames.len()];
        for leaf in lattice.leaves() {
            domain.frames_of(leaf.constant).for_each(|(frame, _)| found[frame.index()] = true);
        }
        if options.implicit {
            frames(domain).filter(|&id| domain.frame(id).implicit).for_each(|id| found[id.index()] = true);
        }
        let there = frames(domain).filter(|id| found[id.index()] && self.frames[id.index()]);
        let there: Vec<(FrameId, &Frame)> = there.map(|id| (id, domain.frame(id))).collect();
        let built = built(domain, &there);
        let used = used(domain, &there, &built);
        let is_kept = |frame: &Frame| {
            used.has[frame.result.index()] && frame.slots.iter().all(|slot| built.accepted[slot.index()])
        };
        let mut frames = vec![false; self.frames.len()];
        there.iter().for_each(|(id, frame)| frames[id.index()] = is_kept(frame));
        let types = self.types.iter().copied().filter(|ty| used.has[ty.index()]).collect();
        Self { types, frames }
    }

    /// How many frames complete programs may contain.
    pub(crate) fn n_frames(&self) -> usize {
        self.frames.iter().filter(|&&is_there| is_there).count()
    }
}

fn frames(domain: &Domain) -> impl Iterator<Item = FrameId> + use<> {
    let n = domain.constants().iter().map(|constant| constant.frames.end).max().unwrap_or(0);
    (0..n).map(FrameId)
}

/// Types that terms may have, and for every type whether it accepts one of them.
struct Built {
    has: Vec<bool>,
    accepted: Vec<bool>,
}

impl Built {
    fn add(&mut self, domain: &Domain, ty: TypeId) {
        if !std::mem::replace(&mut self.has[ty.index()], true) {
            for above in domain.types().ids().filter(|&above| domain.types().is_subtype(ty, above)) {
                self.accepted[above.index()] = true;
            }
        }
    }
}

/// The types of all terms that these frames can build.
fn built(domain: &Domain, frames: &[(FrameId, &Frame)]) -> Built {
    let n = domain.types().len();
    let mut built = Built { has: vec![false; n], accepted: vec![false; n] };
    let mut n_built = usize::MAX;
    while n_built != built.has.iter().filter(|&&has| has).count() {
        n_built = built.has.iter().filter(|&&has| has).count();
        for (_, frame) in frames {
            if frame.slots.iter().all(|slot| built.accepted[slot.index()]) {
                built.add(domain, frame.result);
            }
        }
        for gathering in domain.accumulator_types().iter() {
            if gathering.elements.iter().any(|element| built.accepted[element.index()]) {
                built.add(domain, gathering.result);
            }
        }
    }
    built
}

/// Those of the types that are part of a program of a root type.
struct Used {
    has: Vec<bool>,
    wanted: Vec<bool>,
}

impl Used {
    /// Every type that fits where this one is wanted may be there.
    fn want(&mut self, domain: &Domain, built: &Built, ty: TypeId) -> bool {
        let is_new = !std::mem::replace(&mut self.wanted[ty.index()], true);
        if is_new {
            let fits = |below: &TypeId| built.has[below.index()] && domain.types().is_subtype(*below, ty);
            domain.types().ids().filter(fits).for_each(|below| self.has[below.index()] = true);
        }
        is_new
    }
}

fn used(domain: &Domain, frames: &[(FrameId, &Frame)], built: &Built) -> Used {
    let n = domain.types().len();
    let mut used = Used { has: vec![false; n], wanted: vec![false; n] };
    for &root in domain.root_types() {
        used.want(domain, built, root);
    }
    let mut is_changed = true;
    while is_changed {
        is_changed = false;
        for (_, frame) in frames.iter().filter(|(_, frame)| !frame.slots.is_empty()) {
            if used.has[frame.result.index()] {
                frame.slots.iter().for_each(|&slot| is_changed |= used.want(domain, built, slot));
            }
        }
        for gathering in domain.accumulator_types().iter() {
            if used.has[gathering.result.index()] {
                let wanted = gathering.elements.iter().copied().chain(gathering.over);
                wanted.for_each(|ty| is_changed |= used.want(domain, built, ty));
            }
        }
    }
    used
}
