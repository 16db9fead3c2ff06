//! Integration tests of the crate, in one binary to link only once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod benchmarks;
mod clevr_executor;
mod composition;
mod constrained_decoding;
mod data_sets;
mod domain_format_doc;
mod domain_mutations;
mod executor_files;
mod external_executor;
mod generate;
#[cfg(feature = "geo")]
mod geo_executor;
#[cfg(all(feature = "geo", feature = "sqlite"))]
mod geo_sql;
mod infer;
mod real_programs;
mod scan_executor;
