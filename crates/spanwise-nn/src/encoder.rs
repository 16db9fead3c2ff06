//! An encoder in use: which of its layers are frozen, and its output for pieces and for words.

use crate::device::device;
use crate::layers::{Dropout, Padded};
use crate::params::{Params, View};
use crate::pretrained::EncoderConfig;
use crate::tokenizer::Pieces;
use crate::transformer::Transformer;
use burn::tensor::{Tensor, TensorData};

/// One sequence of a batch: its word-pieces, and the output of the frozen layers for it, if that is known.
pub(crate) type Sequence<'a> = (&'a Pieces, Option<&'a [f32]>);

/// A transformer of which the lowest layers may be frozen.
#[derive(Debug)]
pub(crate) struct Encoder {
    pub(crate) transformer: Transformer,
    /// How many layers are frozen; `None` when even the embeddings are trained.
    frozen: Option<usize>,
}

impl Encoder {
    /// An encoder that is trained as a whole.
    pub(crate) fn new(transformer: Transformer) -> Self {
        Self { transformer, frozen: None }
    }

    /// Takes the embeddings and the lowest layers out of training.
    pub(crate) fn freeze(&mut self, params: &mut Params, n_layers: usize) {
        let n_layers = n_layers.min(self.transformer.config.layers);
        self.frozen = Some(n_layers);
        self.transformer.freeze(params, n_layers);
    }

    pub(crate) fn config(&self) -> &EncoderConfig {
        &self.transformer.config
    }

    pub(crate) fn is_frozen_below(&self) -> bool {
        self.frozen.is_some()
    }

    fn n_frozen(&self) -> usize {
        self.frozen.unwrap_or(0)
    }

    /// The output of the frozen layers for each sequence, piece after piece.
    pub(crate) fn lower(&self, params: &Params, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.layers(params, batch, self.n_frozen())
    }

    /// The output of all layers for each sequence, piece after piece.
    pub(crate) fn encode(&self, params: &Params, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.layers(params, batch, self.config().layers)
    }

    /// The output of the lowest layers for each sequence.
    fn layers(&self, params: &Params, batch: &[&Pieces], n_layers: usize) -> Vec<Vec<f32>> {
        if batch.is_empty() {
            return Vec::new();
        }
        let view = params.view(false);
        let padded = Padded::new(batch.iter().map(|pieces| pieces.ids.len()).collect());
        let x = self.transformer.embed(&view, batch, &padded);
        let values = numbers(self.transformer.run(&view, x, &padded, 0..n_layers, &mut None));
        let row = padded.length * self.config().hidden;
        let length = |pieces: &Pieces| pieces.ids.len() * self.config().hidden;
        batch
            .iter()
            .enumerate()
            .map(|(at, pieces)| values[at * row..at * row + length(pieces)].to_vec())
            .collect()
    }

    /// The encoder's vector of every word of each sequence: the mean of those of its first and its last piece.
    pub(crate) fn word_vectors(&self, params: &Params, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        let encoded = self.encode(params, batch);
        batch.iter().zip(encoded).map(|(pieces, values)| self.words(pieces, &values)).collect()
    }

    /// The vectors of words, from those of pieces.
    pub(crate) fn words(&self, pieces: &Pieces, values: &[f32]) -> Vec<f32> {
        let hidden = self.config().hidden;
        let piece = |at: u32| &values[at as usize * hidden..][..hidden];
        let mean = |&(first, last): &(u32, u32)| {
            piece(first).iter().zip(piece(last)).map(|(a, b)| (a + b) / 2.0).collect::<Vec<_>>()
        };
        pieces.words.iter().flat_map(mean).collect()
    }

    /// The output for a batch, one row per piece, padding included. What the frozen layers give is computed for all
    /// sequences unless it is known for all.
    pub(crate) fn forward(
        &self,
        view: &View,
        batch: &[Sequence<'_>],
        padded: &Padded,
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let (layers, hidden) = (self.config().layers, self.config().hidden);
        let x = if batch.iter().all(|(_, lower)| lower.is_some()) {
            let mut values = Vec::with_capacity(padded.n * padded.length * hidden);
            for (at, (_, lower)) in batch.iter().enumerate() {
                values.extend_from_slice(lower.unwrap_or_default());
                values.resize((at + 1) * padded.length * hidden, 0.0);
            }
            Tensor::from_data(TensorData::new(values, [padded.n, padded.length, hidden]), &device())
        } else {
            let batch: Vec<&Pieces> = batch.iter().map(|(pieces, _)| *pieces).collect();
            let x = self.transformer.embed(view, &batch, padded);
            self.transformer.run(view, x, padded, 0..self.n_frozen(), &mut None)
        };
        let x = self.transformer.run(view, x, padded, self.n_frozen()..layers, dropout);
        // [n * length, hidden]
        Dropout::apply(dropout, x).reshape([padded.n * padded.length, hidden])
    }
}

pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    // The backend computes in f32 throughout.
    tensor.into_data().try_into_vec::<f32>().unwrap_or_default()
}
