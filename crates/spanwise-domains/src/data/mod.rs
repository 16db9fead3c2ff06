//! Data sets: reading and writing examples, importing the original releases, splitting and describing.
//!
//! An [`Example`] is a JSON object on one line of a file ([`read`], [`write_examples`]); files are written atomically
//! ([`write_atomic`]). [`import`] converts the original releases of benchmarks to examples, [`split`] divides examples,
//! [`stats`] counts what is in them.

mod error;
mod example;
pub mod import;
pub(crate) mod message;
pub mod noise;
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
pub use write::{replace_atomic, write_all_atomic, write_atomic, write_examples};
