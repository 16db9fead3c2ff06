// The README's examples are about the domain `geo`.
#![cfg_attr(feature = "geo", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "geo"),
    doc = "Natural language to programs: trained parsers, domains, programs, executors."
)]

pub use spanwise_core::{Span, Token, Utterance};
pub use spanwise_domains::exec::{Denotation, ExecError, Executor, open as open_executor};
pub use spanwise_domains::load::{LoadError, load};
pub use spanwise_lang::{Analysis, Domain, DomainErrors, Problem, TermId, Terms};
pub use spanwise_model::{Alternative, Details, ModelError, Outcome, Parse, Parser, Provenance, Question};
pub use spanwise_reading::{self as reading, Answer, Reading, Tree};
