//! Writing step by step, for a search over sequences.

use super::decoder::{Memory, Rows, Stepper};
use super::{Copy, Previous, Reads, Seq2Seq, lengths};
use crate::device::device;
use crate::encoder::numbers;
use crate::params::View;
use burn::tensor::{Tensor, TensorData};

/// An utterance that was read, ready for a search over what is written.
pub struct Decoding<'a> {
    /// The encoder's vector of every word, one after the other.
    pub word_vectors: Vec<f32>,
    network: &'a Seq2Seq,
    view: View,
    stepper: Stepper,
    memory: Memory,
    start: State,
}

/// The state of the decoder after some steps.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    output: Vec<f32>,
    memory: Vec<f32>,
    fed: Vec<f32>,
}

impl Seq2Seq {
    /// Reads utterances, all in one pass of the encoder. No utterance may be without words.
    #[must_use]
    pub fn read<'a>(&'a self, reads: &[Reads<'_>]) -> Vec<Decoding<'a>> {
        if reads.is_empty() {
            return Vec::new();
        }
        let view = self.params.view(false);
        let lengths = lengths(reads);
        let length = lengths.iter().copied().max().unwrap_or(0);
        let words = self.words(&view, reads, &mut None);
        let states = self.states(&view, words.clone(), &lengths, &mut None);
        let of = |x: &Tensor<2>, at: usize| {
            x.clone().slice([at * length..at * length + lengths[at], 0..x.dims()[1]])
        };
        let one = |(at, reads): (usize, &Reads<'_>)| {
            self.decoding(numbers(of(&words, at)), of(&states, at), reads.copies)
        };
        reads.iter().enumerate().map(one).collect()
    }

    fn decoding(&self, word_vectors: Vec<f32>, states: Tensor<2>, copies: &[Copy]) -> Decoding<'_> {
        let view = self.params.view(false);
        let lengths = [states.dims()[0]];
        let memory = self.decoder.memory(&view, states, &lengths, &[copies]);
        let Rows { output, memory: cell, fed } = self.decoder.start(&view, &memory, &lengths);
        let start = State { output: numbers(output), memory: numbers(cell), fed: numbers(fed) };
        Decoding { word_vectors, network: self, stepper: self.decoder.stepper(&view), view, memory, start }
    }
}

impl Decoding<'_> {
    /// The state before anything is written.
    #[must_use]
    pub fn start(&self) -> State {
        self.start.clone()
    }

    /// One step of several sequences: for each, its new state, and the log-probabilities of all tokens and then of all
    /// copies.
    #[must_use]
    pub fn step(&self, sequences: &[(&State, Previous)]) -> Vec<(State, Vec<f32>)> {
        if sequences.is_empty() {
            return Vec::new();
        }
        let (n, hidden) = (sequences.len(), self.network.config.hidden);
        let gather = |part: fn(&State) -> &[f32]| {
            let values: Vec<f32> = sequences.iter().flat_map(|(state, _)| part(state)).copied().collect();
            Tensor::<2>::from_data(TensorData::new(values, [n, hidden]), &device())
        };
        let rows =
            Rows { output: gather(|s| &s.output), memory: gather(|s| &s.memory), fed: gather(|s| &s.fed) };
        let previous: Vec<Previous> = sequences.iter().map(|(_, previous)| *previous).collect();
        let decoder = &self.network.decoder;
        let inputs = decoder.inputs(&self.view, &previous, &mut None);
        let memory = self.memory.repeated(n);
        let rows = self.stepper.step(&memory, inputs, rows, &mut None);
        let found = decoder.log_probabilities(&self.view, &memory, rows.fed.clone());
        let columns = found.dims()[1];
        let [output, cell, fed] = [rows.output, rows.memory, rows.fed].map(numbers);
        let of = |values: &[f32], at: usize| values[at * hidden..(at + 1) * hidden].to_vec();
        let state = |at: usize| State { output: of(&output, at), memory: of(&cell, at), fed: of(&fed, at) };
        numbers(found)
            .chunks_exact(columns)
            .enumerate()
            .map(|(at, found)| (state(at), found.to_vec()))
            .collect()
    }
}
