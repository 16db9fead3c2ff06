//! What a Rust program gets from this crate: its exports, its examples, and a trained parser.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::duplicate_mod, reason = "every example includes what examples share")]

mod examples;
mod exports;
mod train_and_parse;

#[path = "../../examples/support/mod.rs"]
mod support;
