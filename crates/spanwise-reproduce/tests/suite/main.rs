//! Tests of the crate from outside, in one binary: one link instead of many.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod cells;
mod common;
mod grid;
mod report;
mod results;
