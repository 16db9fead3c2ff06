//! Tests of the crate from outside, in one binary: one link instead of many.

// All trees of these tests are over constants of the domain `geo`.
#![cfg(feature = "geo")]

mod common;
mod properties;
mod sizes;
mod snapshots;
