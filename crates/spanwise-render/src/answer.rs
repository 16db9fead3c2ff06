//! Human-readable answers: tables for terminals, numbers with their units. And for programs: comma-separated values.

mod csv;
mod number;
mod table;

pub use csv::csv;
pub use number::with_unit;
pub use table::{TableLimits, row_count, table};
