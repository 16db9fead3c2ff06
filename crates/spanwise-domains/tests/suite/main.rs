//! Tests of the crate from outside, in one binary: one link instead of many.

mod clevr_executor;
mod composition;
mod data_sets;
mod domain_format_doc;
mod domain_mutations;
mod external_executor;
mod geo_executor;
mod real_programs;
mod scan_executor;
