//! Basic types that all crates share: utterances, tokens, spans and typed indices.
//!
//! Spans are half-open and count tokens. Word-pieces (sub-word tokens) exist only inside encoders.

mod index;
mod moment;
mod random;
mod text;

pub use index::{Idx, IndexVec};
pub use moment::{Moment, MomentError};
pub use random::Random;
pub use text::{Span, Token, Utterance};
