//! An encoder in use: which of its layers are frozen, and its output for pieces and for words.

use crate::device::device;
use crate::layers::{Dropout, Padded, indices};
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

    pub(crate) fn n_frozen(&self) -> usize {
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

    /// The output for a batch, one row per piece, padding included.
    pub(crate) fn forward(
        &self,
        view: &View,
        batch: &[Sequence<'_>],
        padded: &Padded,
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let x = self.below(view, batch, padded);
        self.above(view, x, padded, dropout)
    }

    /// The output for the first piece of each sequence, `[n, hidden]`, where `unordered`, `[n, vectors, hidden]`, follows the
    /// pieces. Frozen layers see the pieces alone, so what they give can be cached.
    pub(crate) fn first(
        &self,
        view: &View,
        batch: &[Sequence<'_>],
        unordered: Option<Tensor<3>>,
        padded: &Padded,
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let alone = Padded::new(batch.iter().map(|(pieces, _)| pieces.ids.len()).collect());
        let mut x = self.below(view, batch, &alone);
        if let Some(unordered) = unordered {
            // Where the pieces are not trained, the vectors still are.
            let is_trained = unordered.is_tracked() && !x.is_tracked();
            x = Tensor::cat(vec![if is_trained { x.autodiff() } else { x }, unordered], 1);
        }
        let rows = (0..padded.n).map(|at| (at * padded.n_rows()) as i64).collect();
        self.above(view, x, padded, dropout).select(0, indices(rows))
    }

    /// What the frozen layers give, `[n, length, hidden]`: computed for all sequences unless it is known for all.
    fn below(&self, view: &View, batch: &[Sequence<'_>], padded: &Padded) -> Tensor<3> {
        let hidden = self.config().hidden;
        if batch.iter().all(|(_, lower)| lower.is_some()) {
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
        }
    }

    /// The output of all layers from that of the frozen ones, one row per piece or vector.
    fn above(&self, view: &View, x: Tensor<3>, padded: &Padded, dropout: &mut Option<Dropout>) -> Tensor<2> {
        let Self { transformer, .. } = self;
        let x = transformer.run(view, x, padded, self.n_frozen()..transformer.config.layers, dropout);
        // [n * rows, hidden]
        Dropout::apply(dropout, x).reshape([padded.n * padded.n_rows(), transformer.config.hidden])
    }
}

pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    // The backend computes in f32 throughout.
    tensor.into_data().try_into_vec::<f32>().unwrap_or_default()
}
