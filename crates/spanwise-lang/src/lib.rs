//! The formal language of Spanwise: programs as terms, domain files, and the typed composition of meanings.
//!
//! A [`Domain`] is compiled from the text of a domain file. It types programs ([`Domain::analyze`]), finds phrases in
//! utterances ([`lexicon::Lexicon`], and [`matching`] for what is nearly right), and defines which meanings compose ([`States`], [`Meaning`]). This crate has no scores and
//! performs no input or output. Predicate names come from domain files only.

pub mod analysis;
pub mod annotation;
pub mod constraint;
pub mod diag;
pub mod domain;
pub mod form;
mod interned;
pub mod language;
pub mod lexicon;
pub mod linear;
pub mod matching;
pub mod meaning;
mod pattern;
pub mod pretty;
pub mod say;
pub mod signature;
pub mod sql;
pub mod states;
pub mod surface;
pub mod term;
mod texts;
pub mod types;

pub use analysis::{Analysis, Node, Problem};
pub use annotation::{Annotation, Preference};
pub use diag::Diagnostic;
pub use domain::{ConstantId, Domain, DomainErrors, FrameId, Kind, Table, TableSource};
pub use language::Language;
pub use meaning::Meaning;
pub use pretty::pretty;
pub use states::{State, StateId, States};
pub use surface::Style;
pub use term::{Shape, Symbol, TermId, Terms};
pub use types::{TypeId, Types};
