//! The built-in domains, executors of programs, and data sets.
//!
//! A built-in domain is a module with a domain file (`domain.toml`) and an executor. No other library crate names a
//! predicate of theirs in its code, tests aside. The domain `geo` is there with the cargo feature of that name only.

pub mod check;
pub mod clevr;
pub mod data;
pub mod exec;
pub mod generate;
#[cfg(feature = "geo")]
pub mod geo;
pub mod infer;
pub mod load;
pub mod objects;
pub mod scan;
pub mod senseless;
mod table;
pub mod table_change;
pub mod text;
