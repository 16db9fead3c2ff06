//! Tests of the crate from outside, in one binary: one link instead of many.

mod domain_file;
mod domain_rules;
