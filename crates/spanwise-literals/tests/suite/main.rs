//! Tests of the recognizers from outside.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod expressions;
mod properties;
mod say;
