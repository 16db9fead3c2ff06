//! Checks terms that lack something, such as an infinitive without its agent: all of them are completed before a program
//! is.

use super::super::FrameId;
use super::super::file::At;
use super::Compiler;
use super::accumulators::Accumulators;
use crate::diag::Diagnostic;
use crate::form::{Form, With};
use crate::types::TypeId;
use hashbrown::HashSet;
use spanwise_core::Idx;

/// Types whose terms can lack something.
struct Lacking {
    /// The results of forms that lack something.
    own: Vec<TypeId>,
    /// For each type, whether a term of it or of a subtype can.
    any: Vec<bool>,
}

impl Compiler<'_> {
    /// For each type, whether its terms can lack something; empty if none can.
    pub(super) fn lacking(
        &mut self,
        accumulators: &Accumulators,
        root: &[At<String>],
        gap: Option<&At<String>>,
    ) -> Vec<bool> {
        let forms = || self.frames.iter().filter_map(|frame| Some((frame.form.as_ref()?, frame.result)));
        let mut own: Vec<TypeId> =
            forms().filter(|(form, _)| form.is_lacking()).map(|(_, result)| result).collect();
        own.sort_unstable();
        own.dedup();
        let accepts = |ty: TypeId| own.iter().any(|&lacking| self.types.is_subtype(lacking, ty));
        let lacking = Lacking { any: self.types.ids().map(accepts).collect(), own };
        // The frames of a signature, and the rows of a class, have the same problems.
        let mut known = HashSet::new();
        for id in self.frames.ids() {
            let frame = &self.frames[id];
            let place = frame.declared.clone();
            if let Some(form) = &frame.form
                && let Some(problem) = self.incomplete(id, form, &lacking)
                && known.insert(place.start)
            {
                self.problems.push(problem);
            }
        }
        if let Some(gap) = gap {
            self.check_lacking_once(gap, &|ty| lacking.any[ty.index()]);
        }
        for name in root {
            if self.types.find(&name.value).is_some_and(|ty| lacking.any[ty.index()]) {
                let message =
                    format!("a term of type `{}` can lack something, so it is no program", name.value);
                self.problem(&name.range, message);
            }
        }
        for (types, accumulator) in accumulators.types.iter().zip(accumulators.all.iter()) {
            let mut all = types.elements.iter().copied().chain(types.over).chain([types.result]);
            if let Some(ty) = all.find(|ty| lacking.any[ty.index()]) {
                let name = self.types.name(ty);
                let message =
                    format!("terms of type `{name}` can lack something, so they cannot be gathered");
                self.problem(&accumulator.declared, message);
            }
        }
        if lacking.own.is_empty() { Vec::new() } else { lacking.any }
    }

    /// What is wrong with how the form of a frame completes its arguments.
    fn incomplete(&self, id: FrameId, form: &Form, lacking: &Lacking) -> Option<Diagnostic> {
        let frame = &self.frames[id];
        let problem = |message: String| Some(Diagnostic::new(frame.declared.clone(), message));
        for (slot, &ty) in frame.slots.iter().enumerate() {
            let completions = form.completions(slot);
            let (Some(&first), name) = (completions.first(), self.types.name(ty)) else { continue };
            if completions.iter().any(|&other| other != first) {
                return problem(format!("the form completes its argument of type `{name}` in several ways"));
            }
            let with = match first {
                None if !lacking.any[ty.index()] || lacking.own.contains(&frame.result) => continue,
                None => {
                    let message = format!(
                        "terms of type `{name}` can lack something, and the form does not complete them"
                    );
                    let hint = "write `{2:1}` for the second argument, completed by the first";
                    return problem(message).map(|it| it.hint(hint));
                }
                Some(with) => with,
            };
            if !lacking.any[ty.index()] {
                let message = format!("terms of type `{name}` lack nothing that the form could complete");
                let hint = "write `{0}` for what is lacking in the form of a constant that gives this type";
                return problem(message).map(|it| it.hint(hint));
            }
            if let With::Argument(with) = with
                && lacking.any[frame.slots[with].index()]
            {
                let name = self.types.name(frame.slots[with]);
                return problem(format!(
                    "a term of type `{name}` can lack something, so it completes no other"
                ));
            }
        }
        None
    }
}
