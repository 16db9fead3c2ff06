//! Tests of the crate from outside, in one binary: one link instead of many.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod constraint;
mod domain_file;
mod domain_rules;
mod gaps;
mod lacking;
mod linear;
mod says;
