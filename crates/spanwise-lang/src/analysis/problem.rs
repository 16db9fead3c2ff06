//! Why a program is ill-typed.

use super::MAX_SIZE;
use crate::domain::{ClassId, ConstantId, Domain};
use crate::states::AccumulatorId;
use crate::term::{TermId, Terms};
use crate::types::TypeId;

/// Why a program has no typing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The program lacks the wrapper of the domain.
    NotWrapped,
    /// A name that the domain does not declare.
    UnknownConstant {
        /// The term whose head is that name.
        at: TermId,
        /// The name.
        name: String,
        /// A similar name that the domain declares.
        near: Option<String>,
    },
    /// An entity of a known class that the class's table does not list.
    UnknownEntity {
        /// The entity.
        at: TermId,
        /// Its class.
        class: ClassId,
    },
    /// A known constant with a number or kind of arguments that none of its frames has.
    WrongShape {
        /// The term.
        at: TermId,
        /// Its name.
        name: String,
        /// How many arguments it has.
        n_args: usize,
        /// How its frames are written.
        expected: Vec<String>,
    },
    /// The arguments are well-typed, but their types do not fit the constant.
    WrongTypes {
        /// The term.
        at: TermId,
        /// Its name.
        name: String,
        /// The types that each argument can have.
        found: Vec<Vec<TypeId>>,
        /// The slots of the frames that have the right shape.
        expected: Vec<Vec<TypeId>>,
    },
    /// The term is well-typed, but its type is not a root type.
    NotRoot {
        /// The types it can have.
        found: Vec<TypeId>,
    },
    /// A set has two elements of a constant that makes at most one.
    Repeated {
        /// The constant.
        constant: ConstantId,
        /// The set.
        set: AccumulatorId,
    },
    /// The program has too many nodes.
    TooLarge,
}

impl Problem {
    /// A short name of the reason, for counting.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotWrapped => "not wrapped",
            Self::UnknownConstant { .. } => "unknown constant",
            Self::UnknownEntity { .. } => "unknown entity",
            Self::WrongShape { .. } => "wrong arguments",
            Self::WrongTypes { .. } => "types do not fit",
            Self::NotRoot { .. } => "not a root type",
            Self::Repeated { .. } => "repeated in a set",
            Self::TooLarge => "too large",
        }
    }

    /// The reason as a message.
    #[must_use]
    pub fn describe(&self, domain: &Domain, terms: &Terms) -> String {
        let name = |&id: &TypeId| domain.types().name(id);
        let types = |ids: &[TypeId]| match ids {
            [] => "nothing".to_owned(),
            _ => ids.iter().map(name).collect::<Vec<_>>().join(" or "),
        };
        match self {
            Self::NotWrapped => "the program lacks the wrapper declared in [root]".to_owned(),
            Self::UnknownConstant { name, near, .. } => {
                let hint = near.as_ref().map_or(String::new(), |near| format!(", did you mean `{near}`?"));
                format!("unknown constant `{}`{hint}", shorten(name))
            }
            Self::UnknownEntity { at, class } => {
                let entity = shorten(&terms.display(*at).to_string());
                format!("`{entity}` is not in the table of `{}`", domain.classes()[*class].name)
            }
            Self::WrongShape { at, .. } if domain.literal_like(terms, *at).is_some() => {
                let class = domain.literal_like(terms, *at).unwrap_or_default();
                let value = shorten(&terms.display(*at).to_string());
                format!("`{value}` is not the canonical value of a literal of the class `{class}`")
            }
            Self::WrongShape { name, n_args, expected, .. } => {
                format!("`{name}` with {n_args} arguments, expected {}", expected.join(" or "))
            }
            Self::WrongTypes { name: constant, found, expected, .. } => {
                let found: Vec<_> = found.iter().map(|ids| types(ids)).collect();
                let row = |slots: &Vec<TypeId>| slots.iter().map(name).collect::<Vec<_>>().join(", ");
                let mut slots: Vec<_> = expected.iter().map(row).collect();
                slots.dedup();
                format!("`{constant}` of ({}), expected ({})", found.join(", "), slots.join(") or ("))
            }
            Self::NotRoot { found } => {
                let (found, expected) = (types(found), types(domain.root_types()));
                format!("a program must not be of type {found}, expected {expected}")
            }
            Self::Repeated { constant, set } => {
                let (constant, head) =
                    (&domain.constants()[*constant].name, domain.accumulators()[*set].head);
                format!("`{constant}` makes more than one element of a set `{}`", terms.text(head))
            }
            Self::TooLarge => format!("the program has more than {MAX_SIZE} nodes"),
        }
    }
}

fn shorten(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}...", &text[..cut]),
    }
}
