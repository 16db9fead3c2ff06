//! Compiles accumulators, and checks the rules that give each program only one derivation.

use super::super::file::{AccumulatorDecl, At};
use super::super::{Accumulator, ConstantId};
use super::Compiler;
use crate::diag::Diagnostic;
use crate::form::{Form, parse_at};
use crate::states::{AccumulatorId, AccumulatorTypes};
use crate::term::Shape;
use crate::types::TypeId;
use spanwise_core::IndexVec;

/// Most accumulators of a domain.
pub(super) const MAX_ACCUMULATORS: usize = 1_000;

/// The accumulators of a domain with their types.
#[derive(Default)]
pub(super) struct Accumulators {
    pub(super) all: IndexVec<AccumulatorId, Accumulator>,
    pub(super) types: IndexVec<AccumulatorId, AccumulatorTypes>,
}

impl Compiler<'_> {
    pub(super) fn accumulators(&mut self, decls: &[AccumulatorDecl]) -> Accumulators {
        let mut found = Accumulators::default();
        if let Some(first) = decls.get(MAX_ACCUMULATORS) {
            self.problem(&first.head.range, format!("more than {MAX_ACCUMULATORS} accumulators"));
            return found;
        }
        for decl in decls {
            self.accumulator(decl, &mut found);
        }
        found
    }

    fn accumulator(&mut self, decl: &AccumulatorDecl, found: &mut Accumulators) {
        if !self.check_head(&decl.head, found) {
            return;
        }
        let elements: Vec<TypeId> = decl.elements.iter().filter_map(|name| self.ty(name)).collect();
        let taken = |acc: &AccumulatorTypes| {
            acc.elements.iter().any(|&a| {
                let is_both = |ty| elements.iter().any(|&b| self.types.is_subtype(ty, b));
                self.types.ids().any(|ty| self.types.is_subtype(ty, a) && is_both(ty))
            })
        };
        if found.types.iter().any(taken) {
            return self.problem(&decl.head.range, "a type can be an element of one accumulator or set only");
        }
        let Some(result) = self.ty(&decl.result) else { return };
        let Some(over) = &decl.over else { return self.set(decl, elements, result, found) };
        let Some(over) = self.ty(over) else { return };
        let default = decl.default.as_ref().and_then(|text| {
            let parsed = parse_at(&mut self.base, &text.value, text.range.start);
            self.keep(parsed)
        });
        self.check_default(decl, over, result);
        found.types.push(AccumulatorTypes {
            elements,
            over: Some(over),
            result,
            has_default: default.is_some(),
            unique: Vec::new(),
        });
        let declared = decl.head.range.clone();
        found.all.push(Accumulator { head: self.base.intern(&decl.head.value), default, declared });
    }

    fn set(
        &mut self,
        decl: &AccumulatorDecl,
        elements: Vec<TypeId>,
        result: TypeId,
        found: &mut Accumulators,
    ) {
        // A set within a set would be the same term as one set of all elements.
        if elements.iter().any(|&element| self.types.is_subtype(result, element)) {
            let message =
                format!("the result of the set `{}` must not be one of its elements", decl.head.value);
            let hint = "give it a type of its own, of which the types of the elements can be subtypes";
            self.problems.push(Diagnostic::new(decl.result.range.clone(), message).hint(hint));
            return;
        }
        let unique = self.unique(decl, &elements);
        found.types.push(AccumulatorTypes { elements, over: None, result, has_default: false, unique });
        let declared = decl.head.range.clone();
        found.all.push(Accumulator { head: self.base.intern(&decl.head.value), default: None, declared });
    }

    /// The constants that make at most one element of a set, with the types of those elements.
    fn unique(&mut self, decl: &AccumulatorDecl, elements: &[TypeId]) -> Vec<(ConstantId, Vec<TypeId>)> {
        let mut found: Vec<(ConstantId, Vec<TypeId>)> = Vec::new();
        for name in &decl.unique {
            let Some(&constant) = self.predicate_of.get(&name.value) else {
                self.unknown_constant(name);
                continue;
            };
            let is_element = |ty: TypeId| elements.iter().any(|&element| self.types.is_subtype(ty, element));
            let own = self.parts.iter().filter(|(owner, base, _)| *owner == constant && is_element(*base));
            let types: Vec<TypeId> = own.map(|(.., part)| *part).collect();
            if types.is_empty() {
                let message = format!("`{}` makes no element of this set", name.value);
                let hint = "`unique` lists constants whose result is a type of its elements";
                self.problems.push(Diagnostic::new(name.range.clone(), message).hint(hint));
            } else if found.iter().any(|(known, _)| *known == constant) {
                self.problem(&name.range, format!("`{}` is listed twice", name.value));
            } else {
                found.push((constant, types));
            }
        }
        found
    }

    /// The head must be a plain name, and no constant may be written with it.
    fn check_head(&mut self, name: &At<String>, found: &Accumulators) -> bool {
        self.check_name(name, "an accumulator or a set");
        let head = self.base.intern(&name.value);
        if self.predicate_of.contains_key(&name.value) || found.all.iter().any(|acc| acc.head == head) {
            self.problem(&name.range, format!("`{}` is declared twice", name.value));
            return false;
        }
        let is_like = |form: &Option<Form>| {
            form.as_ref().and_then(|form| form.top(&self.base)) == Some((Shape::Call, head))
        };
        let like = self.frames.iter_enumerated().find(|(_, frame)| is_like(&frame.form));
        if let Some((frame, _)) = like {
            let constant = &self.constants[self.frame_owner[frame]].name;
            let message = format!("`{}` is also how the constant `{constant}` is written", name.value);
            self.problem(&name.range, message);
            return false;
        }
        true
    }

    /// With a default, each program must still have only one derivation on the same words.
    fn check_default(&mut self, decl: &AccumulatorDecl, over: TypeId, result: TypeId) {
        if decl.default.is_some() && self.types.is_subtype(result, over) {
            let message = format!(
                "`{}` has a default, so its result must not be a type that it is applied to",
                decl.head.value
            );
            let hint = "otherwise a program has several derivations: choose a `result` that is not a subtype of `over`";
            self.problems.push(Diagnostic::new(decl.result.range.clone(), message).hint(hint));
        }
    }
}
