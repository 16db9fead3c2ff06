//! Programs as SQL: fragments of a domain file composed into one statement, and the databases that run it.

pub mod check;
pub mod compose;
pub mod database;
pub mod executor;
pub mod scaffold;
pub mod schema;
