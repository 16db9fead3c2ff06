//! The language of Spanwise: programs as terms, domains as files, meanings that compose.

pub mod diag;
pub mod surface;
pub mod term;

pub use diag::Diagnostic;
pub use surface::Style;
pub use term::{Shape, Symbol, TermId, Terms};
