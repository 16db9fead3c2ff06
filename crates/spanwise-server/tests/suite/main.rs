//! Tests of the crate from outside, in one binary: one link instead of many.

mod common;
mod hostile;
mod load;
mod openapi;
mod reload;
mod routes;
mod signals;
