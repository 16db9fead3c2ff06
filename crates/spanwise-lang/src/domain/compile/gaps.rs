//! Generates gaps: the types of terms in which an argument is missing, and the signatures that carry it up.
//!
//! In *what did emma say that the cat ate*, nothing stands after *ate*: "the cat ate" is a sentence without a noun phrase, `S/NP`. So is
//! "emma say that the cat ate". A type like `S/NP` is an ordinary one, whose terms lack something (`lacking`), and a signature that gives
//! it is an ordinary one, too. Only types that some words can have are generated.

use super::super::file::{At, DomainFile};
use super::{Compiler, System};
use crate::diag::Diagnostic;
use crate::signature::{self, Absent, Signature, Slot};
use crate::types::{TypeDecl, TypeId, Types};
use spanwise_core::Idx;

/// The name of a type whose terms lack one of another type.
fn name(ty: &str, gap: &str) -> String {
    format!("{ty}/{gap}")
}

/// The declarations of all types with a gap that some term can have, with those above them.
pub(super) fn types(file: &DomainFile, system: &System, problems: &mut Vec<Diagnostic>) -> Vec<TypeDecl> {
    let Some(gap) = &file.gap else { return Vec::new() };
    if !system.types.iter().any(|decl| decl.name.0 == gap.value) {
        // An alternative type system may do without.
        if system.signatures.is_none() {
            let types = Types::build(&system.types, &mut Vec::new());
            problems.push(types.unknown(&gap.value, gap.range.clone()));
        }
        return Vec::new();
    }
    let slashed: Vec<TypeDecl> = system.types.iter().map(|decl| with_gap(decl, gap)).collect();
    let all = Types::build(&[&system.types[..], &slashed].concat(), &mut Vec::new());
    let signatures = signatures(file, system, &all);
    let Some(gap) = all.find(&gap.value) else { return Vec::new() };
    let found = reachable(&all, gap, &signatures);
    slashed
        .into_iter()
        .zip(&system.types)
        .filter(|(_, decl)| all.find(&decl.name.0).is_some_and(|ty| found[ty.index()]))
        .map(|(slashed, _)| slashed)
        .collect()
}

fn with_gap(decl: &TypeDecl, gap: &At<String>) -> TypeDecl {
    let slashed = |ty: &str| (name(ty, &gap.value), gap.range.clone());
    let parents = decl.parents.iter().map(|(parent, _)| slashed(parent)).collect();
    TypeDecl { name: slashed(&decl.name.0), parents }
}

/// The plain signatures of all constants and classes of predicates. Those with a problem are reported when they are compiled.
fn signatures(file: &DomainFile, system: &System, types: &Types) -> Vec<Signature> {
    let constants = file.constants.iter().map(|decl| (&decl.name, &decl.types));
    let classes = file.predicates.iter().map(|decl| (&decl.rows.class, &decl.types));
    let texts = constants.chain(classes).flat_map(|(name, own)| match &system.signatures {
        None => own.as_slice(),
        Some(others) => others.get(&name.value).map_or(&[][..], Vec::as_slice),
    });
    texts.filter_map(|text| signature::parse(&text.value, 0, types).ok()).flatten().collect()
}

/// For each type, whether a term of it or of a subtype can lack one of type `gap`.
fn reachable(types: &Types, gap: TypeId, signatures: &[Signature]) -> Vec<bool> {
    let mut found = vec![false; types.len()];
    loop {
        let n_found = found.iter().filter(|found| **found).count();
        for signature in signatures {
            let mut slots = signature.slots.iter().filter(|slot| slot.can_gap);
            if slots.any(|slot| types.is_subtype(gap, slot.ty) || found[slot.ty.index()]) {
                types.above(signature.result).into_iter().for_each(|ty| found[ty.index()] = true);
            }
        }
        if found.iter().filter(|found| **found).count() == n_found {
            return found;
        }
    }
}

impl Compiler<'_> {
    /// These signatures with one argument missing, or with a gap in one argument that they hand up. At most one of each slot.
    pub(super) fn with_gaps(&self, plain: &[Signature]) -> Vec<Signature> {
        let Some(gap) = self.gap else { return Vec::new() };
        let slashed = |ty: TypeId| self.types.find(&name(self.types.name(ty), self.types.name(gap)));
        let mut made = Vec::new();
        for signature in plain {
            let slots = signature.slots.iter().enumerate().filter(|(_, slot)| slot.can_gap);
            for (at, slot) in slots {
                let Some(result) = slashed(signature.result) else { continue };
                let mut new = Signature { result, ..signature.clone() };
                if self.types.is_subtype(gap, slot.ty) {
                    new.slots[at].absent = Absent::Lacking;
                } else if let Some(ty) = slashed(slot.ty) {
                    // An argument that is left out has no gap.
                    new.slots[at] = Slot { ty, absent: Absent::Required, ..slot.clone() };
                } else {
                    continue;
                }
                made.push(new);
            }
        }
        made
    }

    /// Checks that no term lacks two things: what lacks an argument by itself has no gap.
    pub(super) fn check_lacking_once(&mut self, gap: &At<String>, is_lacking: &dyn Fn(TypeId) -> bool) {
        let Some(missing) = self.gap else { return };
        let has_gap =
            |ty: &TypeId| self.types.find(&name(self.types.name(*ty), self.types.name(missing))).is_some();
        let twice = self.types.ids().find(|ty| is_lacking(*ty) && (*ty == missing || has_gap(ty)));
        if let Some(ty) = twice {
            let name = self.types.name(ty);
            let message =
                format!("terms of type `{name}` can lack something by themselves, so they have no gaps");
            let problem = Diagnostic::new(gap.range.clone(), message);
            self.problems.push(problem.hint("remove `/` from the slots through which they get one"));
        }
    }

    /// Checks that slots are marked only where the file names what can be missing.
    pub(super) fn check_gaps(&mut self, text: &At<String>, plain: &[Signature]) {
        let mut marked = plain.iter().flat_map(|signature| &signature.slots).filter(|slot| slot.can_gap);
        let Some(gap) = self.gap else {
            if marked.next().is_some() {
                let message = "a slot with `/` needs a type of what can be missing";
                let problem = Diagnostic::new(text.range.clone(), message);
                self.problems.push(problem.hint("name it at the top of the file, as in `gap = \"NP\"`"));
            }
            return;
        };
        if let Some(slot) = marked.find(|slot| slot.ty != gap && self.types.is_subtype(slot.ty, gap)) {
            let (narrow, wide) = (self.types.name(slot.ty), self.types.name(gap));
            let message =
                format!("what stands for a missing `{wide}` may be no `{narrow}`, so this slot has no gap");
            self.problem(&text.range, message);
        }
    }
}
