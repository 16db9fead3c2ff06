//! Tests of the crate from outside, in one binary: one link instead of many.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stdout, reason = "a test that is skipped says so")]

#[cfg(all(feature = "postgres", unix))]
mod connections;
#[cfg(all(feature = "sqlite", feature = "postgres", unix))]
mod databases;
#[cfg(all(feature = "sqlite", feature = "postgres", unix))]
mod hostile;
#[cfg(all(feature = "postgres", unix))]
mod postgres;
#[cfg(feature = "sqlite")]
mod programs;
#[cfg(all(feature = "sqlite", feature = "postgres", unix))]
mod scaffold;
#[cfg(all(feature = "postgres", unix))]
mod server;
#[cfg(feature = "sqlite")]
mod sqlite;
