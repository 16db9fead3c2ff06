//! Encoders, span scorers and the optimiser: the only room that holds tensors.
//!
//! Words go in, plain arrays of logits come out; training hands back their gradient. Nothing here knows a program.

mod device;
mod gelu;
pub mod hub;
mod network;
mod params;
#[cfg(test)]
mod parity;
pub mod pretrained;
pub mod tokenizer;
mod transformer;

pub use network::{HeadConfig, Item, Logits, Network, Noise};
pub use params::{AdamW, AdamWConfig, Gradients, Group, ParamId, Params, Rates, sum};
pub use spanwise_core::Random;
pub use tokenizer::{Pieces, Tokenizer};
