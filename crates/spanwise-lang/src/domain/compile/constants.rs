//! Compiles constants: turns their signatures into frames.

use super::super::file::{AccumulatorDecl, At, ConstantDecl, DomainFile, ImplicitDecl};
use super::super::{Constant, ConstantId, Frame, FrameId, Kind};
use super::{Compiler, System};
use crate::diag::{Diagnostic, closest};
use crate::form::{Form, With, parse_at};
use crate::signature::{self, Absent, Signature, Slot};
use crate::surface::is_name;
use crate::term::Shape;
use crate::types::TypeId;
use hashbrown::{HashMap, HashSet};
use std::ops::Range;

/// Most optional slots in one signature. Each doubles the number of frames.
const MAX_OPTIONAL: usize = 6;
/// Most slots in one signature.
const MAX_SLOTS: usize = 16;
/// Most frames of one constant: plain signatures, times choices of optional slots.
const MAX_FRAMES: usize = 20_000;
/// Most unknown names for which a similar name is searched. Only the first problems are shown.
const MAX_SUGGESTIONS: usize = 50;

impl Compiler<'_> {
    pub(super) fn constant(&mut self, decl: &ConstantDecl, system: &System) {
        let texts = match &system.signatures {
            None => &decl.types,
            // A constant that the alternative does not list is not part of it.
            Some(signatures) => match signatures.get(&decl.name.value) {
                Some(texts) => texts,
                None => return,
            },
        };
        self.check_name(&decl.name, "a constant");
        let signatures = self.signatures(decl, texts);
        let is_called = signatures.iter().any(|(_, signature)| !signature.slots.is_empty());
        let id = ConstantId(self.constants.len() as u32);
        let first = self.frames.len() as u32;
        let is_unique = |set: &AccumulatorDecl| set.unique.iter().any(|name| name.value == decl.name.value);
        let is_unique = system.accumulators.iter().any(is_unique);
        for (range, signature) in &signatures {
            let result = if is_unique { self.part_of(id, signature.result) } else { signature.result };
            let signature = Signature { result, ..signature.clone() };
            self.frames_of_signature(decl, range, &signature, is_called, id);
        }
        self.check_frames(decl, first);
        self.mark_implicit(decl, first, system);
        self.constants.push(Constant {
            name: decl.name.value.clone(),
            kind: Kind::Predicate,
            class: None,
            only_phrases: false,
            omission: decl.omission,
            frames: first..self.frames.len() as u32,
            term: None,
            implicit: decl.implicit != ImplicitDecl::No,
        });
        self.predicate_of.insert(decl.name.value.clone(), id);
    }

    /// The part of a type that only this constant gives, so that charts know its elements of a set from others.
    fn part_of(&mut self, constant: ConstantId, ty: TypeId) -> TypeId {
        let known = self.parts.iter().find(|(owner, base, _)| (*owner, *base) == (constant, ty));
        known.map(|(.., part)| *part).unwrap_or_else(|| {
            let part = self.types.add_part(ty);
            self.parts.push((constant, ty, part));
            part
        })
    }

    /// Checks that a name can be written in programs.
    pub(super) fn check_name(&mut self, name: &At<String>, what: &str) {
        if !is_name(&name.value) {
            let message = format!("`{}` cannot be the name of {what}: no program could write it", name.value);
            let hint = "use a name without spaces, parentheses, commas and quotes that is not a number";
            self.problems.push(Diagnostic::new(name.range.clone(), message).hint(hint));
        }
    }

    /// The plain signatures of a constant, each with the position of its text. Texts with too many slots are skipped; if
    /// there are too many frames, the result is empty.
    pub(super) fn signatures(
        &mut self,
        decl: &ConstantDecl,
        texts: &[At<String>],
    ) -> Vec<(Range<usize>, Signature)> {
        let mut signatures = Vec::new();
        let mut seen = HashSet::new();
        let mut n_frames = 0usize;
        for text in texts {
            let parsed = signature::parse(&text.value, text.range.start, &self.types);
            let plain = self.keep(parsed).unwrap_or_default();
            // The signatures of one text differ only in their types.
            let n_optional = plain.first().map_or(0, |first| optional(first).count());
            let n_slots = plain.first().map_or(0, |first| first.slots.len());
            if n_optional > MAX_OPTIONAL || n_slots > MAX_SLOTS {
                let message =
                    format!("a signature has at most {MAX_SLOTS} slots, of which {MAX_OPTIONAL} optional");
                self.problem(&text.range, message);
                continue;
            }
            n_frames += plain.len() << n_optional;
            if n_frames > MAX_FRAMES {
                let message = format!("`{}` has more than {MAX_FRAMES} frames", decl.name.value);
                let hint = "use fewer types for its variables, or fewer optional slots";
                self.problems.push(Diagnostic::new(text.range.clone(), message).hint(hint));
                return Vec::new();
            }
            self.check_gaps(text, &plain);
            let gaps = self.with_gaps(&plain);
            n_frames += gaps.len() << n_optional;
            for signature in plain.into_iter().chain(gaps) {
                if seen.insert(signature.clone()) {
                    signatures.push((text.range.clone(), signature));
                } else {
                    self.problem(&text.range, format!("`{}` has this signature twice", decl.name.value));
                }
            }
        }
        signatures
    }

    /// One frame for each choice of optional slots to leave empty, the fullest first.
    fn frames_of_signature(
        &mut self,
        decl: &ConstantDecl,
        range: &Range<usize>,
        signature: &Signature,
        is_called: bool,
        owner: ConstantId,
    ) {
        if let Some(form) = self.full_form(decl, signature, is_called) {
            self.frames_of_form(form, range, signature, owner);
        }
    }

    /// The same with this form; false when the signature is ambiguous.
    pub(super) fn frames_of_form(
        &mut self,
        form: Form,
        range: &Range<usize>,
        signature: &Signature,
        owner: ConstantId,
    ) -> bool {
        if !self.check_optional(range, signature) || !self.check_completed(&form, range, signature) {
            return false;
        }
        let optional: Vec<usize> = optional(signature).map(|(at, _)| at).collect();
        let mut defaults: Vec<Option<Form>> = Vec::with_capacity(signature.slots.len());
        for slot in &signature.slots {
            defaults.push(match &slot.absent {
                // It was parsed with the signature, so this cannot fail.
                Absent::Default(text) => parse_at(&mut self.base, text, range.start).ok().map(Form::Ground),
                Absent::Required | Absent::Omitted | Absent::Lacking => None,
            });
        }
        for choice in 0..1u32 << optional.len() {
            let is_lacking = |slot: usize| signature.slots[slot].absent == Absent::Lacking;
            let is_absent = |slot: usize| {
                is_lacking(slot)
                    || optional.iter().position(|&o| o == slot).is_some_and(|bit| choice >> bit & 1 == 1)
            };
            let present: Vec<usize> = (0..signature.slots.len()).filter(|&slot| !is_absent(slot)).collect();
            let fill = |slot: usize| match present.iter().position(|&p| p == slot) {
                Some(position) => Some(Form::Hole(position)),
                None if is_lacking(slot) => Some(Form::Lacking),
                None => defaults[slot].clone(),
            };
            let slots = present.iter().map(|&slot| signature.slots[slot].ty).collect();
            let sides = present.iter().map(|&slot| signature.slots[slot].side).collect();
            let filled = form.refill(&mut self.base, &fill);
            if let Some(Form::Ground(term)) = filled {
                self.written.insert(term, owner);
            }
            let (result, declared) = (signature.result, range.clone());
            let (form, state, implicit) = (filled, None, false);
            let given = present.clone();
            let lacks = (0..signature.slots.len()).filter(|&slot| is_lacking(slot)).collect();
            let places = present;
            self.frames.push(Frame {
                slots,
                given,
                sides,
                places,
                lacks,
                result,
                form,
                state,
                implicit,
                declared,
            });
            self.frame_owner.push(owner);
        }
        true
    }

    /// Two optional slots of one type are ambiguous: if one argument is missing, it could be either.
    fn check_optional(&mut self, range: &Range<usize>, signature: &Signature) -> bool {
        let mut seen: Vec<TypeId> = Vec::new();
        for (_, slot) in optional(signature) {
            if seen.contains(&slot.ty) {
                let name = self.types.name(slot.ty);
                let message =
                    format!("two optional slots of type `{name}` are ambiguous: which one is left out?");
                let hint = "make one of them required, or give them types of their own";
                self.problems.push(Diagnostic::new(range.clone(), message).hint(hint));
                return false;
            }
            seen.push(slot.ty);
        }
        true
    }

    /// An argument that is left out neither completes another nor can be completed.
    fn check_completed(&mut self, form: &Form, range: &Range<usize>, signature: &Signature) -> bool {
        let absent = |slot: usize| &signature.slots[slot].absent;
        let is_fine = (0..signature.slots.len()).all(|slot| {
            form.completions(slot).into_iter().flatten().all(|with| {
                let is_given = match with {
                    With::Argument(with) => matches!(absent(with), Absent::Required | Absent::Lacking),
                    With::Term(_) => true,
                };
                is_given && *absent(slot) == Absent::Required
            })
        });
        if !is_fine {
            let message = "an argument that completes another, or is completed, cannot be left out";
            let problem = Diagnostic::new(range.clone(), message);
            self.problems.push(problem.hint("make it required, without `?` and default"));
        }
        is_fine
    }

    fn full_form(&mut self, decl: &ConstantDecl, signature: &Signature, is_called: bool) -> Option<Form> {
        let n_slots = signature.slots.len();
        let Some(written) = &decl.form else {
            return Some(if is_called {
                Form::plain(&mut self.base, &decl.name.value, n_slots)
            } else {
                Form::Ground(self.base.leaf(Shape::Name, &decl.name.value))
            });
        };
        let parsed = Form::parse(&mut self.base, &written.value, written.range.start);
        let form = self.keep(parsed)?;
        self.check_holes(&form, written, &decl.name.value, n_slots).then_some(form)
    }

    /// Checks that a form has a hole for each slot, and more than that.
    pub(super) fn check_holes(
        &mut self,
        form: &Form,
        written: &At<String>,
        name: &str,
        n_slots: usize,
    ) -> bool {
        let mut holes = form.holes();
        holes.sort_unstable();
        holes.dedup();
        if !holes.iter().copied().eq(0..n_slots) {
            let message = format!("the form of `{name}` must have a hole for each of its {n_slots} slots");
            self.problem(&written.range, message);
            return false;
        }
        let completions = (0..n_slots).flat_map(|slot| {
            let with = form.completions(slot).into_iter().flatten();
            with.filter_map(move |with| match with {
                With::Argument(with) => Some((slot, with)),
                With::Term(_) => None,
            })
        });
        let is_odd = |&(slot, with): &(usize, usize)| with >= n_slots || with == slot;
        if let Some((slot, with)) = completions.into_iter().find(is_odd) {
            let message = format!("`{{{}:{}}}` names no other argument of `{name}`", slot + 1, with + 1);
            self.problem(&written.range, message);
            return false;
        }
        if matches!(form, Form::Hole(_) | Form::Completed { .. } | Form::Lacking) {
            self.problem(&written.range, "a form needs more than a hole");
            return false;
        }
        true
    }

    /// Two frames with the same slots and result would make every use ambiguous.
    fn check_frames(&mut self, decl: &ConstantDecl, first: u32) {
        let range = first..self.frames.len() as u32;
        let frames = || range.clone().map(|at| &self.frames[FrameId(at)]);
        // Gaps give different terms. Then it is enough that the sides differ.
        let mut alike: HashMap<_, Vec<&Frame>> = HashMap::new();
        let is_twice = frames().any(|frame| {
            let alike = alike.entry((&frame.slots, frame.result)).or_default();
            let is_twice = alike.iter().any(|other| other.sides == frame.sides || other.form == frame.form);
            alike.push(frame);
            is_twice
        });
        drop(alike);
        if is_twice {
            let message = format!("two signatures of `{}` have the same slots and result", decl.name.value);
            self.problem(&decl.name.range, message);
        }
    }

    /// Marks the frames with which a constant may be inserted.
    fn mark_implicit(&mut self, decl: &ConstantDecl, first: u32, system: &System) {
        let ids = || (first..self.frames.len() as u32).map(FrameId);
        let takes = |n: usize| ids().any(|id| self.frames[id].slots.len() == n);
        let chosen: Vec<FrameId> = match &decl.implicit {
            ImplicitDecl::No => Vec::new(),
            ImplicitDecl::Yes if takes(1) => ids().filter(|&id| self.frames[id].slots.len() == 1).collect(),
            ImplicitDecl::Yes => ids().collect(),
            ImplicitDecl::With(numbers) => {
                // An alternative type system may leave out some signatures.
                let is_checked = system.signatures.is_none() && first < self.frames.len() as u32;
                let wrong = numbers.iter().find(|number| is_checked && !takes(number.value));
                if let Some(At { value, range }) = wrong {
                    let message = format!("`{}` has no signature with {value} arguments", decl.name.value);
                    let hint = "`implicit` lists with how many arguments the constant may be inserted";
                    self.problems.push(Diagnostic::new(range.clone(), message).hint(hint));
                    return;
                }
                let is_listed = |n: usize| numbers.iter().any(|number| number.value == n);
                ids().filter(|&id| is_listed(self.frames[id].slots.len())).collect()
            }
        };
        chosen.into_iter().for_each(|id| self.frames[id].implicit = true);
    }

    /// Checks that the names listed by an alternative type system exist.
    pub(super) fn check_listed(&mut self, file: &DomainFile, system: &System) {
        let constants = file.constants.iter().map(|decl| decl.name.value.as_str());
        let classes = file.predicates.iter().map(|decl| decl.rows.class.value.as_str());
        let constants: HashSet<&str> = constants.chain(classes).collect();
        for name in system.listed.iter().filter(|name| !constants.contains(name.value.as_str())) {
            self.unknown_constant(name);
        }
        let classes: HashSet<&str> = file.entities.iter().map(|decl| decl.class.value.as_str()).collect();
        for class in system.listed_classes.iter().filter(|class| !classes.contains(class.value.as_str())) {
            self.problem(&class.range, format!("unknown entity class `{}`", class.value));
        }
    }

    pub(super) fn unknown_constant(&mut self, name: &At<String>) {
        let problem = Diagnostic::new(name.range.clone(), format!("unknown constant `{}`", name.value));
        let near = (self.n_unknown < MAX_SUGGESTIONS)
            .then(|| closest(&name.value, self.predicate_names()))
            .flatten();
        let problem = match near {
            Some(near) => problem.hint(format!("did you mean `{near}`?")),
            None => problem.hint("declare it under [constants]"),
        };
        self.n_unknown += 1;
        self.problems.push(problem);
    }

    fn predicate_names(&self) -> impl Iterator<Item = &str> {
        let predicates = self.constants.iter().filter(|constant| constant.kind == Kind::Predicate);
        predicates.map(|constant| constant.name.as_str())
    }
}

/// The slots that may stay empty, with their positions.
fn optional(signature: &Signature) -> impl Iterator<Item = (usize, &Slot)> {
    signature
        .slots
        .iter()
        .enumerate()
        .filter(|(_, slot)| matches!(slot.absent, Absent::Omitted | Absent::Default(_)))
}
