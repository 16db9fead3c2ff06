//! Tests of the crate from outside, in one binary: one link instead of many.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod common;
mod crowd;
mod fair;
mod feedback;
mod hostile;
mod load;
mod openapi;
mod reload;
mod routes;
mod signals;
