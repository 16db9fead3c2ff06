//! What a valid domain file may not do as its author expects.

use spanwise_lang::domain::{Class, Frame};
use spanwise_lang::{ConstantId, Domain, FrameId, TypeId};
use std::collections::BTreeMap;

/// Remarks on constants that are written alike, and on open classes that words cannot fill.
///
/// ```
/// use spanwise_lang::{Domain, domain::NoTables};
///
/// let source = "name = 'n'\ntypes = ['A']\nroot = { types = ['A'] }\n[constants]\nx = 'A'\n\
///     f = { type = 'A -> A', form = 'h({})' }\ng = { type = 'A -> A', form = 'h({})' }";
/// let domain = Domain::load(source, "n.toml", None, &NoTables)?;
/// let notes = spanwise_domains::check::notes(&domain);
/// assert!(notes[0].starts_with("`g` is written like `f`"), "{notes:?}");
/// # Ok::<(), spanwise_lang::DomainErrors>(())
/// ```
#[must_use]
pub fn notes(domain: &Domain) -> Vec<String> {
    let mut notes = written_alike(domain);
    notes.extend(domain.classes().iter().filter(|class| class.open).filter_map(open_limits));
    notes
}

/// Predicates whose programs are read as those of another.
fn written_alike(domain: &Domain) -> Vec<String> {
    let mut by_form: BTreeMap<String, Vec<(ConstantId, FrameId)>> = BTreeMap::new();
    for (id, _) in domain.predicates() {
        for (number, frame) in domain.frames_of(id) {
            let key = format!("{:?} {}", frame.form, frame.slots.len());
            by_form.entry(key).or_default().push((id, number));
        }
    }
    let mut pairs: BTreeMap<(ConstantId, ConstantId), FrameId> = BTreeMap::new();
    for frames in by_form.values() {
        for (at, &(later, frame)) in frames.iter().enumerate() {
            let overlap = |(_, other): &&(ConstantId, FrameId)| {
                overlaps(domain, domain.frame(*other), domain.frame(frame))
            };
            let earlier = frames[..at].iter().find(|other| other.0 != later && overlap(other));
            if let Some(&(earlier, _)) = earlier {
                pairs.entry((later, earlier)).or_insert(frame);
            }
        }
    }
    let note = |((later, earlier), frame): ((ConstantId, ConstantId), FrameId)| {
        let [later, earlier] = [later, earlier].map(|id| &domain.constants()[id].name);
        format!(
            "`{later}` is written like `{earlier}`: programs with `{}` are always read as `{earlier}`, the first in the file, so \
             nothing is learned about `{later}`; give it another form, or make it a phrase of `{earlier}`",
            domain.written(frame)
        )
    };
    pairs.into_iter().map(note).collect()
}

/// Whether some arguments fit both frames.
fn overlaps(domain: &Domain, one: &Frame, other: &Frame) -> bool {
    let is_below = |a: TypeId, b: TypeId| domain.types().is_subtype(a, b) || domain.types().is_subtype(b, a);
    one.slots.iter().zip(&other.slots).all(|(&a, &b)| is_below(a, b))
}

/// What an open class does not read, where that may surprise.
fn open_limits(class: &Class) -> Option<String> {
    let name = &class.name;
    if class.is_literal() {
        return None;
    }
    match class.reads().as_deref() {
        None => Some(format!(
            "`{name}` is open, but words cannot fill a form with several columns: what no table lists is accepted in programs and \
             never found in an utterance"
        )),
        Some("quoted") => Some(format!(
            "`{name}` is open: what no table lists is read from the words only if it is in quotes there; for other text, list \
             it, or use a class of literals with kind = \"text\""
        )),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_lang::domain::NoTables;

    fn of(constants: &str) -> Vec<String> {
        let source =
            format!("name = 'n'\ntypes = ['A', 'B', 'C < A']\nroot = {{ types = ['A', 'B'] }}\n{constants}");
        notes(&Domain::load(&source, "n.toml", None, &NoTables).unwrap())
    }

    #[test]
    fn forms_that_types_tell_apart_are_no_problem() {
        let two = |first: &str, second: &str| {
            of(&format!(
                "[constants]\nx = 'C'\ny = 'B'\nf = {{ type = '{first} -> A', form = 'h({{}})' }}\n\
                 g = {{ type = '{second} -> A', form = 'h({{}})' }}"
            ))
        };
        assert_eq!(two("A", "B"), [""; 0]);
        assert_eq!(two("A", "C").len(), 1);
    }

    #[test]
    fn an_open_class_says_what_it_does_not_read() {
        let class = |form: &str| {
            of(&format!(
                "[[entities]]\nclass = 'c'\ntype = 'A'\nform = \"{form}\"\nnames = ['x']\nopen = true"
            ))
        };
        assert!(class("c('{name}')")[0].contains("only if it is in quotes"));
        assert_eq!(class("{name}"), [""; 0]);
    }
}
