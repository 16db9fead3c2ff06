//! The neural network: encoders, the span scorer, the optimiser, and the files they are stored in.
//!
//! This is the only crate that holds tensors. Its interface is plain arrays: a [`Tokenizer`] turns an utterance into
//! [`Pieces`], a [`Network`] turns those into logits for spans of words, and in training the caller returns the
//! gradient of its loss with respect to the logits. [`Seq2Seq`] and [`Bart`] write sequences instead, and a
//! [`SceneClassifier`] chooses among classes. Programs, charts and losses are defined elsewhere.

pub mod bart;
mod device;
mod encoder;
pub mod files;
mod gelu;
pub mod hub;
mod layers;
mod network;
mod params;
#[cfg(test)]
mod parity;
pub mod pretrained;
pub mod scene_classifier;
pub mod seq2seq;
pub mod tokenizer;
mod transformer;
mod vectors;

pub use bart::Bart;
pub use network::{HeadConfig, Item, Logits, Network, Noise};
pub use params::{AdamW, AdamWConfig, Gradients, Group, ParamId, Params, Rates, sum};
pub use scene_classifier::SceneClassifier;
pub use seq2seq::Seq2Seq;
pub use spanwise_core::Random;
pub use tokenizer::{Pieces, Tokenizer};
pub use vectors::{VectorsError, WordVectors};
