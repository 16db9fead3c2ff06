//! GeoQuery: questions about the geography of the United States, with programs in FunQL.
//!
//! The facts are tables in the crate `spanwise-geobase`, which has a license of its own; this module is compiled only
//! with the feature `geo`. The executor reads the tables, and the domain file takes the names of entities from them.

mod budget;
mod evaluate;
mod executor;
mod facts;
mod literals;
mod notation;
mod operations;
mod plan;
mod predicates;
mod relations;
#[cfg(test)]
mod tests;
mod value;

pub use executor::GeoExecutor;
