//! HTTP for trained parsers, and the playground page.
//!
//! Engines come in behind the trait [`Engine`], with a [`Source`] that loads them again when they change; requests
//! over HTTP go in and JSON comes out. Utterances of all connections wait in one bounded queue and reach an engine in
//! batches. This room knows no tensor, no file of a model and no predicate, and it prints nothing: what there is to
//! tell goes out as [`Event`]s.

mod connection;
mod engine;
mod event;
mod http;
mod limits;
mod metrics;
mod models;
mod queue;
mod server;

pub use engine::{
    Alternative, Answer, Ask, ChartSpan, Engine, Found, ModelInfo, Reading, Refusal, Source, Stamp, Word,
};
pub use event::{Event, Listener};
pub use http::ROUTES;
pub use limits::{Config, Limits, Times};
pub use server::{Handle, ServeError, Server};
