//! The sequence-to-sequence network: an encoder, and a decoder that writes one token after the other.
//!
//! At each step the decoder generates a token of a fixed vocabulary or copies something that the caller has found in
//! the words; one softmax is over both. Tokens, copies and probabilities cross as plain arrays, as those of
//! [`Network`](crate::Network) do.

mod decoder;
mod decoding;
mod lstm;
#[cfg(test)]
mod tests;

pub use decoding::{Decoding, State};

use crate::device::device;
use crate::encoder::{Encoder, Sequence, numbers};
use crate::layers::{Dropout, HeadBuilder, Padded, Source, indices};
use crate::network::Noise;
use crate::params::{Gradients, Group, Params, View};
use crate::pretrained::{EncoderConfig, Weights, WeightsError};
use crate::tokenizer::Pieces;
use crate::transformer::Transformer;
use burn::tensor::{Tensor, TensorData};
use decoder::{ABSENT, Decoder};
use lstm::BiLstm;
use spanwise_core::Random;

/// Sizes of what follows the encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Seq2SeqConfig {
    /// Whether a bidirectional LSTM reads the encoder's vectors of words; otherwise the decoder attends to these.
    pub bilstm: bool,
    /// Width of the vectors of tokens.
    pub embedding: usize,
    /// Width of the decoder, and of both directions of the bidirectional LSTM together; even.
    pub hidden: usize,
    /// Number of tokens.
    pub n_tokens: usize,
    /// Number of kinds of what is copied; at least one.
    pub n_kinds: usize,
}

/// Something in the words that can be copied in one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Copy {
    /// Its first word and one past the last.
    pub span: (u32, u32),
    /// Its kind, such as a class of entities.
    pub kind: u32,
}

/// An utterance to be read.
#[derive(Clone, Copy, Debug)]
pub struct Reads<'a> {
    /// Its word-pieces.
    pub pieces: &'a Pieces,
    /// The output of the frozen layers ([`Seq2Seq::lower`]), piece after piece; `None` to compute it.
    pub lower: Option<&'a [f32]>,
    /// What can be copied from it.
    pub copies: &'a [Copy],
}

/// What was written before a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Previous {
    /// It is the first step.
    Nothing,
    /// This token.
    Token(u32),
    /// Something of this kind.
    Copied(u32),
}

/// A step of a sequence that is learned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// What precedes it.
    pub previous: Previous,
    /// The choices that are right, whose probabilities are added up: tokens, and beyond their number copies.
    pub choices: Vec<u32>,
}

/// An utterance with the sequence to learn.
#[derive(Clone, Copy, Debug)]
pub struct Lesson<'a> {
    /// What is read.
    pub reads: Reads<'a>,
    /// What is to be written.
    pub steps: &'a [Step],
    /// The weight of its loss.
    pub weight: f32,
}

/// An encoder with an attentive decoder that can copy.
#[derive(Debug)]
pub struct Seq2Seq {
    /// All parameters.
    pub params: Params,
    encoder: Encoder,
    bilstm: Option<BiLstm>,
    decoder: Decoder,
    config: Seq2SeqConfig,
}

impl Seq2Seq {
    /// A pretrained encoder with a new decoder. The embeddings of such an encoder are never trained, nor are its lowest
    /// `n_frozen` layers.
    ///
    /// # Errors
    /// Weights that do not fit the configuration.
    pub fn pretrained(
        encoder: EncoderConfig,
        weights: &mut Weights,
        config: Seq2SeqConfig,
        n_frozen: usize,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut network = Self::build(encoder, 0, &mut Source::Weights(weights), config, seed)?;
        network.encoder.freeze(&mut network.params, n_frozen);
        Ok(network)
    }

    /// A network with random weights, with a table for hashed character n-grams unless `ngram_buckets` is zero. All of it
    /// learns at the rate of a head.
    ///
    /// # Errors
    /// Never: the signature is that of the other constructors.
    pub fn from_scratch(
        encoder: EncoderConfig,
        ngram_buckets: usize,
        config: Seq2SeqConfig,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut random = Random::new(seed, &[1]);
        let mut network =
            Self::build(encoder, ngram_buckets, &mut Source::Random(&mut random), config, seed)?;
        network.params.assign_all(Group::Head);
        Ok(network)
    }

    /// A network from a file of weights that this program saved.
    ///
    /// # Errors
    /// Weights that do not fit the configurations.
    pub fn saved(
        encoder: EncoderConfig,
        ngram_buckets: usize,
        config: Seq2SeqConfig,
        weights: &mut Weights,
    ) -> Result<Self, WeightsError> {
        Self::build(encoder, ngram_buckets, &mut Source::Saved(weights), config, 0)
    }

    fn build(
        encoder: EncoderConfig,
        ngram_buckets: usize,
        source: &mut Source<'_>,
        config: Seq2SeqConfig,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut params = Params::default();
        let encoder = Encoder::new(Transformer::new(encoder, ngram_buckets, &mut params, source)?);
        let mut build = HeadBuilder { params: &mut params, source, random: Random::new(seed, &[2]) };
        let width = encoder.config().hidden;
        let bilstm = config.bilstm.then(|| BiLstm::new(&mut build, width, config.hidden)).transpose()?;
        let encoded = if config.bilstm { config.hidden } else { width };
        let decoder = Decoder::new(&mut build, config, encoded)?;
        Ok(Self { params, encoder, bilstm, decoder, config })
    }

    /// Replaces the vectors of words, by their ids, before training. They must be as wide as the encoder.
    pub fn set_word_vectors<'a>(&mut self, vectors: impl IntoIterator<Item = (u32, &'a [f32])>) {
        self.encoder.transformer.set_embeddings(&mut self.params, vectors);
    }

    /// The encoder's configuration.
    #[must_use]
    pub fn encoder(&self) -> &EncoderConfig {
        self.encoder.config()
    }

    /// The sizes of the rest.
    #[must_use]
    pub fn config(&self) -> Seq2SeqConfig {
        self.config
    }

    /// Whether the lowest layers are frozen, so that caching [`Seq2Seq::lower`] saves work.
    #[must_use]
    pub fn is_frozen_below(&self) -> bool {
        self.encoder.is_frozen_below()
    }

    /// The output of the frozen layers for each sequence, piece after piece. It is constant during training.
    #[must_use]
    pub fn lower(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.encoder.lower(&self.params, batch)
    }

    /// The encoder's vector of every word of each sequence.
    #[must_use]
    pub fn word_vectors(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.encoder.word_vectors(&self.params, batch)
    }

    /// Runs a batch forward, calls `respond` with the loss of every lesson (the negative log-likelihood of its steps,
    /// unweighted), and runs the batch backward.
    ///
    /// No lesson may be without words or without steps.
    pub fn gradients<R>(
        &self,
        lessons: &[Lesson<'_>],
        noise: Noise,
        respond: impl FnOnce(&[f64]) -> R,
    ) -> (Gradients, R) {
        if lessons.is_empty() {
            return (self.params.no_gradients(), respond(&[]));
        }
        let view = self.params.view(true);
        let mut dropout = Some(Dropout::new(noise.dropout, Random::new(noise.seed, &[3])));
        // [n * steps, 1]
        let losses = self.step_losses(&view, lessons, &mut dropout);
        let steps = losses.dims()[0] / lessons.len();
        let values = numbers(losses.clone().inner());
        let own = |(lesson, values): (&Lesson<'_>, &[f32])| {
            values[..lesson.steps.len()].iter().map(|&loss| f64::from(loss)).sum()
        };
        let sums: Vec<f64> = lessons.iter().zip(values.chunks_exact(steps)).map(own).collect();
        let result = respond(&sums);
        let weight = |lesson: usize, step: usize, _| {
            if step < lessons[lesson].steps.len() { lessons[lesson].weight } else { 0.0 }
        };
        let weights = decoder::fill([lessons.len(), steps, 1], weight).reshape([lessons.len() * steps, 1]);
        (view.gradients((losses * weights).sum().backward()), result)
    }

    /// The negative log-likelihood of every step, `[n * steps, 1]`; what it is beyond the end of a lesson means nothing.
    fn step_losses(&self, view: &View, lessons: &[Lesson<'_>], dropout: &mut Option<Dropout>) -> Tensor<2> {
        let reads: Vec<Reads<'_>> = lessons.iter().map(|lesson| lesson.reads).collect();
        let (n, steps) = (lessons.len(), lessons.iter().map(|lesson| lesson.steps.len()).max().unwrap_or(0));
        let lengths = lengths(&reads);
        let words = self.words(view, &reads, dropout);
        let states = self.states(view, words, &lengths, dropout);
        let copies: Vec<&[Copy]> = reads.iter().map(|reads| reads.copies).collect();
        let memory = self.decoder.memory(view, states, &lengths, &copies);
        let previous: Vec<Previous> = (0..steps)
            .flat_map(|at| lessons.iter().map(move |lesson| lesson.steps.get(at)))
            .map(|step| step.map_or(Previous::Nothing, |step| step.previous))
            .collect();
        let inputs = self.decoder.inputs(view, &previous, dropout);
        let (stepper, columns) = (self.decoder.stepper(view), inputs.dims()[1]);
        let mut rows = self.decoder.start(view, &memory, &lengths);
        let mut fed = Vec::with_capacity(steps);
        for at in 0..steps {
            let now = inputs.clone().slice([at * n..(at + 1) * n, 0..columns]);
            rows = stepper.step(&memory, now, rows, dropout);
            fed.push(rows.fed.clone().unsqueeze_dim::<3>(1));
        }
        // [n, steps, hidden]
        let fed = Tensor::cat(fed, 1).reshape([n * steps, self.config.hidden]);
        let found = self.decoder.log_probabilities(view, &memory, fed);
        let columns = found.dims()[1];
        let mut wrong = vec![ABSENT; n * steps * columns];
        for (item, lesson) in lessons.iter().enumerate() {
            for (at, step) in lesson.steps.iter().enumerate() {
                step.choices.iter().for_each(|&choice| {
                    wrong[(item * steps + at) * columns + choice as usize] = 0.0;
                });
            }
        }
        let wrong = Tensor::<2>::from_data(TensorData::new(wrong, [n * steps, columns]), &device());
        -log_sum(found + wrong)
    }

    /// The encoder's vectors of words, `[n * length, width]`, each utterance padded to the longest.
    fn words(&self, view: &View, reads: &[Reads<'_>], dropout: &mut Option<Dropout>) -> Tensor<2> {
        let padded = Padded::new(reads.iter().map(|reads| reads.pieces.ids.len()).collect());
        let batch: Vec<Sequence<'_>> = reads.iter().map(|reads| (reads.pieces, reads.lower)).collect();
        let pieces = self.encoder.forward(view, &batch, &padded, dropout);
        let length = lengths(reads).into_iter().max().unwrap_or(0);
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for (at, reads) in reads.iter().enumerate() {
            let row = (at * padded.length) as i64;
            first.extend(reads.pieces.words.iter().map(|&(first, _)| row + i64::from(first)));
            last.extend(reads.pieces.words.iter().map(|&(_, last)| row + i64::from(last)));
            first.resize((at + 1) * length, row);
            last.resize((at + 1) * length, row);
        }
        (pieces.clone().select(0, indices(first)) + pieces.select(0, indices(last))) * 0.5
    }

    /// What the decoder attends to, from the vectors of words.
    fn states(
        &self,
        view: &View,
        words: Tensor<2>,
        lengths: &[usize],
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let Some(bilstm) = &self.bilstm else { return words };
        let length = lengths.iter().copied().max().unwrap_or(0);
        Dropout::apply(dropout, bilstm.forward(view, &words, lengths, length))
    }
}

fn lengths(reads: &[Reads<'_>]) -> Vec<usize> {
    reads.iter().map(|reads| reads.pieces.words.len()).collect()
}

/// The logarithm of the sum of exponentials of each row.
fn log_sum(x: Tensor<2>) -> Tensor<2> {
    let most = x.clone().detach().max_dim(1);
    (x - most.clone()).exp().sum_dim(1).log() + most
}
