//! Serves trained parsers over HTTP, with a playground page.
//!
//! Parsers implement [`Engine`]; a [`Source`] loads them, again whenever they change. Utterances of all connections
//! wait in one bounded queue and reach an engine in batches. Routes, requests and replies are Rust types, and the
//! OpenAPI document is generated from them. The crate prints nothing: it reports what happens as [`Event`]s.

mod connection;
mod engine;
mod event;
mod http;
pub mod journal;
mod limits;
mod metrics;
mod models;
mod queue;
mod seats;
mod server;

pub use engine::{Ask, Engine, Executed, ModelInfo, Refusal, Source, Stamp, Waiting, Withhold};
pub use event::{Event, Listener};
pub use limits::{Config, Limits, Times};
pub use server::{Handle, ServeError, Server};
