//! Tests of the crate from outside, in one binary: one link instead of many.

#![cfg_attr(
    not(feature = "geo"),
    allow(dead_code, unused_imports, reason = "some tests need the domain geo")
)]

mod charts;
mod check;
mod check_data;
mod common;
mod confidence;
mod data_annotate;
mod data_import;
mod data_scan;
mod data_split;
#[cfg(feature = "geo")]
mod demo;
mod eval_parse;
mod exec;
mod exec_domains;
mod explain;
mod help;
mod new;
mod releases;
mod reproduce;
mod serve;
mod shell_help;
mod streams;
mod train;
mod tutorial;
