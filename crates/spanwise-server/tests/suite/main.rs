//! Tests of the crate from outside, in one binary: one link instead of many.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod hostile;
mod load;
mod openapi;
mod reload;
mod routes;
mod signals;
