//! The built-in domains, the executors, and the readers of data sets.
//!
//! Each domain is a folder: its domain file (`domain.toml`), its executor, and whatever tables it reads.
//! Names of predicates occur here and nowhere else. Files, processes and the network are touched only by
//! [`exec::external`], [`data`] and [`text`].

pub mod check;
pub mod clevr;
pub mod data;
pub mod exec;
pub mod geo;
pub mod load;
pub mod scan;
pub mod text;
