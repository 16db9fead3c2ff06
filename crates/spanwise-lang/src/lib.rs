//! The language of Spanwise: programs as terms, domains as files, meanings that compose.
//!
//! Text comes in (programs, domain files); terms, types, meaning states and tables of how they compose go out.
//! Nothing here knows a predicate by name, reads a file, or sees a score.

pub mod analysis;
pub mod annotation;
pub mod diag;
pub mod domain;
pub mod form;
pub mod inflection;
pub mod lexicon;
pub mod meaning;
pub mod pretty;
pub mod signature;
pub mod states;
pub mod surface;
pub mod term;
pub mod types;

pub use analysis::{Analysis, Node, Problem};
pub use annotation::{Annotation, Preference};
pub use diag::Diagnostic;
pub use domain::{ConstantId, Domain, DomainErrors, FrameId, Kind, Table, TableSource};
pub use meaning::Meaning;
pub use pretty::pretty;
pub use states::{State, StateId, States};
pub use surface::Style;
pub use term::{Shape, Symbol, TermId, Terms};
pub use types::{TypeId, Types};
