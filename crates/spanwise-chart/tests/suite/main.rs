//! Tests of the crate from outside, in one binary: one link instead of many.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg_attr(
    not(feature = "geo"),
    allow(dead_code, unused_imports, reason = "some tests need the domain geo")
)]

mod common;
mod figures;
mod gold_chart;
mod gold_tree;
mod implicit;
mod kbest;
mod literals;
mod objectives;
mod odd_input;
mod paper_chart;
mod part;
mod sets;
mod span_posteriors;
mod typed_chart;
mod whole_phrases;
