//! Tests of the crate from outside, in one binary: one link instead of many.

mod cells;
mod common;
mod grid;
mod report;
