//! Data sets: reading and writing examples, importing the original releases, splitting and describing.
//!
//! Files come in as [`Example`]s, one JSON object per line ([`read`]); they go out the same way, never half
//! written ([`write_atomic`]). [`import`] turns the releases of GeoQuery, SCAN and CLEVR into examples,
//! [`split`] divides examples, [`stats`] counts what is in them. Nothing here evaluates a program, and
//! nothing prints.

mod error;
mod example;
pub mod import;
pub(crate) mod message;
pub mod random;
mod reader;
pub mod split;
pub mod stats;
mod template;
mod write;

pub use error::DataError;
pub use example::{Example, FieldError};
pub use reader::{Examples, MAX_LINE_BYTES, open, read};
pub use template::template;
pub use write::{write_all_atomic, write_atomic, write_examples};
