//! Tests of the crate from outside, in one binary: one link instead of many.

mod common;
mod properties;
mod sizes;
mod snapshots;
