//! Tests of the command from outside, in one binary: linking is slow.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg_attr(
    not(feature = "geo"),
    allow(dead_code, unused_imports, reason = "some tests need the domain geo")
)]

#[cfg(unix)]
mod allow;
mod answers;
mod charts;
mod check;
mod check_data;
mod check_senseless;
mod check_teaches;
mod common;
mod confidence;
mod crash;
mod data_annotate;
mod data_benchmarks;
mod data_generate;
mod data_import;
mod data_scan;
mod data_split;
#[cfg(feature = "sqlite")]
mod database;
#[cfg(feature = "geo")]
mod demo;
mod domains;
mod domains_atis;
mod eval_parse;
mod exec;
mod exec_domains;
mod explain;
#[cfg(unix)]
mod formats;
mod help;
mod hostile;
mod infer_domain;
mod integrity;
mod new;
mod new_from_db;
mod releases;
mod reproduce;
#[cfg(unix)]
mod review;
mod serve;
mod shell_help;
mod streams;
mod train;
mod tutorial;
mod update;
mod words_doc;
