//! GeoQuery: questions about the geography of the United States, asked in FunQL.
//!
//! The facts are tables with a header line under `facts/`. The executor reads them, and so does whoever
//! builds the lexicon of entities. Everything that knows a FunQL predicate by name is in this folder.

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

/// The text of an embedded table of facts, named as a path in this folder: `facts/cities.tsv`.
///
/// A table is tab-separated with a header line; the items of a list within a cell are separated by `|`.
pub(crate) fn table(name: &str) -> Option<&'static str> {
    Some(match name {
        "facts/borders.tsv" => include_str!("facts/borders.tsv"),
        "facts/cities.tsv" => include_str!("facts/cities.tsv"),
        "facts/highlow.tsv" => include_str!("facts/highlow.tsv"),
        "facts/lakes.tsv" => include_str!("facts/lakes.tsv"),
        "facts/mountains.tsv" => include_str!("facts/mountains.tsv"),
        "facts/rivers.tsv" => include_str!("facts/rivers.tsv"),
        "facts/roads.tsv" => include_str!("facts/roads.tsv"),
        "facts/states.tsv" => include_str!("facts/states.tsv"),
        _ => return None,
    })
}
