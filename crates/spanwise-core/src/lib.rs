//! The nouns that every room of Spanwise shares.
//!
//! Text comes in; [`Utterance`]s, [`Token`]s and [`Span`]s go out. Nothing here knows a program, a chart or
//! a tensor. Spans are half-open and always count tokens: word-pieces exist only inside an encoder.

mod index;
mod random;
mod text;

pub use index::{Idx, IndexVec};
pub use random::Random;
pub use text::{Span, Token, Utterance};
