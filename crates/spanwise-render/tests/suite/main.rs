//! Tests of the crate from outside, in one binary: one link instead of many.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod properties;
mod reading_marks;
mod sizes;
mod snapshots;
