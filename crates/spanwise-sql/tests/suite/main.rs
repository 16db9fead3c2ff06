//! Tests of the crate from outside, in one binary: one link instead of many.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[cfg(feature = "sqlite")]
mod programs;
#[cfg(feature = "sqlite")]
mod sqlite;
