//! Writing step by step, for a search over texts. Keys and values of what is written are kept from step to step.

use super::Bart;
use crate::encoder::numbers;
use crate::layers::Attended;
use crate::params::View;
use crate::tokenizer::Pieces;
use burn::tensor::Tensor;

/// A text that was read, ready for a search over what is written.
pub struct Decoding<'a> {
    /// The encoder's vector of every word, one after the other.
    pub word_vectors: Vec<f32>,
    network: &'a Bart,
    view: View,
    /// For each block, what it attends to of the text.
    read: Vec<Attended>,
}

/// What the decoder keeps of a text that is being written.
#[derive(Clone, Debug)]
pub struct State {
    /// Pieces that the decoder has read, the one it starts with included.
    length: usize,
    /// For each block, the keys and values of these pieces.
    layers: Vec<Attended>,
}

impl Bart {
    /// Reads texts, all in one pass of the encoder. None may be without pieces.
    #[must_use]
    pub fn read<'a>(&'a self, batch: &[&Pieces]) -> Vec<Decoding<'a>> {
        if batch.is_empty() {
            return Vec::new();
        }
        let (rows, padded) = self.encode(&self.params.view(false), batch, &mut None);
        let one = |(at, pieces): (usize, &&Pieces)| {
            let from = at * padded.length;
            let rows = rows.clone().slice([from..from + pieces.ids.len(), 0..self.encoder().hidden]);
            let view = self.params.view(false);
            let read = self.decoder.read(&view, &rows);
            Decoding { word_vectors: self.encoder.words(pieces, &numbers(rows)), network: self, view, read }
        };
        batch.iter().enumerate().map(one).collect()
    }
}

impl Decoding<'_> {
    /// The state before the first step, and the piece that is read in it.
    #[must_use]
    pub fn start(&self) -> (State, u32) {
        (State { length: 0, layers: Vec::new() }, self.network.config.start)
    }

    /// One step of several texts, each with the piece that was written last: for each, its new state, and the
    /// log-probabilities of all word-pieces.
    #[must_use]
    pub fn step(&self, texts: &[(&State, u32)]) -> Vec<(State, Vec<f32>)> {
        let Some((first, _)) = texts.first() else { return Vec::new() };
        if texts.iter().any(|(state, _)| state.length != first.length) {
            return texts.iter().flat_map(|text| self.step(std::slice::from_ref(text))).collect();
        }
        let gather = |layer: usize| {
            let all = |part: fn(&Attended) -> &Tensor<4>| {
                let parts = texts.iter().map(|(state, _)| part(&state.layers[layer]).clone());
                Tensor::cat(parts.collect(), 0)
            };
            Attended { keys: all(|it| &it.keys), values: all(|it| &it.values) }
        };
        let before = (0..first.layers.len()).map(gather).collect();
        let ids = texts.iter().map(|(_, piece)| i64::from(*piece)).collect();
        let decoder = &self.network.decoder;
        let (rows, now) = decoder.step(self.network, &self.view, ids, (before, first.length), &self.read);
        let found = self.network.output(&self.view, rows);
        let columns = found.dims()[1];
        let state = |at: usize| {
            let of = |x: &Tensor<4>| x.clone().narrow(0, at, 1);
            let layers = now.iter().map(|it| Attended { keys: of(&it.keys), values: of(&it.values) });
            State { length: first.length + 1, layers: layers.collect() }
        };
        let found = numbers(found);
        found.chunks_exact(columns).enumerate().map(|(at, row)| (state(at), row.to_vec())).collect()
    }
}
