//! Types: which of them are subtypes of which.

use crate::diag::{Diagnostic, closest};
use spanwise_core::{Idx, IndexVec, newtype_index};
use std::ops::Range;

newtype_index! {
    /// A type of a domain.
    pub struct TypeId(u16)
}

/// Most types a domain may declare.
pub const MAX_TYPES: usize = 4096;

/// Most types among which a similar name is searched. A file may have thousands of unknown names.
const MAX_SUGGESTED: usize = 200;

/// Named types, each below any number of others. `is_subtype` is a table lookup.
#[derive(Clone, Debug, Default)]
pub struct Types {
    names: IndexVec<TypeId, String>,
    parents: IndexVec<TypeId, Vec<TypeId>>,
    /// For a type that the file does not declare, the type that it is a part of.
    bases: IndexVec<TypeId, TypeId>,
    /// Row `a`, column `b`: whether `a` is `b` or lies below it.
    below: Vec<bool>,
}

/// A declared type with its position in the file.
#[derive(Clone, Debug)]
pub struct TypeDecl {
    /// Its name and the position of the name.
    pub name: (String, Range<usize>),
    /// The names of its parents, and their positions.
    pub parents: Vec<(String, Range<usize>)>,
}

impl Types {
    /// Builds the types. Problems (unknown parents, duplicates, cycles) go to `problems`; the result is
    /// usable in any case, so that one run can report everything.
    pub fn build(decls: &[TypeDecl], problems: &mut Vec<Diagnostic>) -> Self {
        let mut types = Self::default();
        let mut kept: Vec<&TypeDecl> = Vec::new();
        for decl in decls {
            let (name, range) = &decl.name;
            if types.find(name).is_some() {
                problems.push(Diagnostic::new(range.clone(), format!("type `{name}` is declared twice")));
            } else if types.len() == MAX_TYPES {
                problems.push(Diagnostic::new(range.clone(), format!("more than {MAX_TYPES} types")));
                break;
            } else {
                types.names.push(name.clone());
                types.parents.push(Vec::new());
                types.bases.push(TypeId::from_usize(types.bases.len()));
                kept.push(decl);
            }
        }
        for (id, decl) in types.names.ids().collect::<Vec<_>>().into_iter().zip(&kept) {
            for (parent, range) in &decl.parents {
                match types.find(parent) {
                    None => problems.push(types.unknown(parent, range.clone())),
                    Some(parent_id) if types.above(parent_id).contains(&id) => problems.push(
                        Diagnostic::new(
                            range.clone(),
                            format!("type `{}` would be its own ancestor", decl.name.0),
                        )
                        .hint("remove one of the `<` on this cycle"),
                    ),
                    Some(parent_id) if types.parents[id].contains(&parent_id) => {
                        problems.push(Diagnostic::new(range.clone(), format!("`{parent}` is listed twice")))
                    }
                    Some(parent_id) => types.parents[id].push(parent_id),
                }
            }
        }
        types.fill_table();
        types
    }

    fn fill_table(&mut self) {
        let n = self.len();
        self.below = vec![false; n * n];
        for id in self.names.ids() {
            for above in self.above(id) {
                self.below[id.index() * n + above.index()] = true;
            }
        }
    }

    /// Adds a subtype that the file does not declare; it has the name of its base.
    pub(crate) fn add_part(&mut self, base: TypeId) -> TypeId {
        self.names.push(self.names[base].clone());
        self.bases.push(base);
        let id = self.parents.push(vec![base]);
        self.fill_table();
        id
    }

    /// The declared type that a type is a part of; the type itself if it is declared.
    #[inline]
    #[must_use]
    pub fn base(&self, id: TypeId) -> TypeId {
        self.bases[id]
    }

    /// Number of types.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether the domain declares no type.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// All types in declaration order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = TypeId> + ExactSizeIterator + use<> {
        self.names.ids()
    }

    /// The type called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<TypeId> {
        self.names.iter_enumerated().find(|(_, known)| *known == name).map(|(id, _)| id)
    }

    /// The name of a type.
    #[must_use]
    pub fn name(&self, id: TypeId) -> &str {
        &self.names[id]
    }

    /// The parents of a type.
    #[must_use]
    pub fn parents(&self, id: TypeId) -> &[TypeId] {
        &self.parents[id]
    }

    /// A type and everything above it, nearest first; each once.
    #[must_use]
    pub fn above(&self, id: TypeId) -> Vec<TypeId> {
        let mut found = vec![id];
        let mut next = 0;
        while let Some(&below) = found.get(next) {
            let new = self.parents[below].iter().copied().filter(|parent| !found.contains(parent));
            found.extend(new.collect::<Vec<_>>());
            next += 1;
        }
        found
    }

    /// Whether a value of type `a` can be used where `b` is required.
    #[inline]
    #[must_use]
    pub fn is_subtype(&self, a: TypeId, b: TypeId) -> bool {
        self.below[a.index() * self.len() + b.index()]
    }

    /// The diagnostic for a type name that does not exist.
    #[must_use]
    pub fn unknown(&self, name: &str, range: Range<usize>) -> Diagnostic {
        let problem = Diagnostic::new(range, format!("unknown type `{name}`"));
        let names = self.names.iter().map(String::as_str);
        match (self.len() <= MAX_SUGGESTED).then(|| closest(name, names)).flatten() {
            Some(near) => problem.hint(format!("did you mean `{near}`?")),
            None => problem.hint("declare it in `types`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decl<'a>(name: &str, parents: impl IntoIterator<Item = &'a str>) -> TypeDecl {
        let parents = parents.into_iter().map(|parent| (parent.to_owned(), 2..3)).collect();
        TypeDecl { name: (name.to_owned(), 0..1), parents }
    }

    #[test]
    fn subtyping_is_reflexive_and_follows_parents() {
        let mut problems = Vec::new();
        let types = Types::build(
            &[decl("City", Some("Named")), decl("Named", None), decl("Capital", Some("City"))],
            &mut problems,
        );
        let id = |name| types.find(name).unwrap();
        assert!(problems.is_empty());
        assert!(types.is_subtype(id("Capital"), id("Named")));
        assert!(types.is_subtype(id("City"), id("City")));
        assert!(!types.is_subtype(id("Named"), id("City")));
    }

    #[test]
    fn a_type_is_below_all_its_parents_and_what_is_above_them() {
        let mut problems = Vec::new();
        let decls = [
            decl("Top", []),
            decl("Left", ["Top"]),
            decl("Right", ["Top"]),
            decl("Both", ["Left", "Right"]),
            decl("Twice", ["Left", "Left"]),
            decl("Loop", ["Both", "Loop"]),
        ];
        let types = Types::build(&decls, &mut problems);
        let id = |name| types.find(name).unwrap();
        let names: Vec<&str> = types.above(id("Both")).into_iter().map(|id| types.name(id)).collect();
        assert_eq!(names, ["Both", "Left", "Right", "Top"]);
        assert!(types.is_subtype(id("Both"), id("Top")) && !types.is_subtype(id("Left"), id("Right")));
        let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(messages, ["`Left` is listed twice", "type `Loop` would be its own ancestor"]);
    }

    #[test]
    fn cycles_duplicates_and_unknown_parents_are_reported() {
        let mut problems = Vec::new();
        Types::build(
            &[
                decl("A", Some("B")),
                decl("B", Some("A")),
                decl("A", None),
                decl("C", Some("D")),
                decl("E", Some("E")),
            ],
            &mut problems,
        );
        let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "type `A` is declared twice",
                "type `B` would be its own ancestor",
                "unknown type `D`",
                "type `E` would be its own ancestor"
            ]
        );
    }
}
