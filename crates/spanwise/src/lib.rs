// The README's examples are about the domain `geo`.
#![cfg_attr(feature = "geo", doc = include_str!("../README.md"))]
#![cfg_attr(
    not(feature = "geo"),
    doc = "Natural language to programs: trained parsers, domains, programs, executors."
)]

// Utterances and parsers.
pub use spanwise_core::{Moment, Span, Token, Utterance};
pub use spanwise_model::{
    Alternative, Budget, Confidence, Correction, Crowded, Details, ExecutorPolicy, Family, Guessed, Model,
    ModelError, Outcome, Parse, Parser, Provenance, Question, Rival, Unread, Withhold,
};

// Trees as ids, in a `Parse`; as text they are in a `Reading`.
pub use spanwise_chart::spans::SpanPosterior;
pub use spanwise_chart::{Category, SpanTree, TreeNode};

// Readings: results as plain data. The module has the types of all fields.
pub use spanwise_reading::{self as reading, Answer, Reading, Tree};

// Domains and programs.
pub use spanwise_domains::load::{LoadError, load};
pub use spanwise_lang::domain::NoTables;
pub use spanwise_lang::{
    Analysis, ConstantId, Diagnostic, Domain, DomainErrors, Node, Problem, Shape, State, StateId, Table,
    TableSource, TermId, Terms, TypeId,
};

// Executors, and consent to run those of models.
pub use spanwise_domains::exec::{Denotation, ExecError, Executor, open as open_executor};
pub use spanwise_model::consent;

// Data, training and evaluation.
pub use spanwise_domains::data::{DataError, Example, read as read_examples};
pub use spanwise_eval::evaluate::evaluate;
pub use spanwise_eval::metrics::{Evaluator, Report, ScoredExample};
pub use spanwise_model::{Compact, Objective, Settings};
pub use spanwise_train::config::{self, Config, ConfigError};
pub use spanwise_train::{EpochRow, Event, FinalRow, LeftOut, TrainError, Trained, Watch, train};

// Pictures of readings.
pub use spanwise_render as render;

// The JSON of contexts, which an `Executor` receives.
pub use serde_json;
