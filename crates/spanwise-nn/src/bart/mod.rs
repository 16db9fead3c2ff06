//! Transformer encoder-decoders that were pretrained on text: BART, and the translation models of Marian.
//!
//! The encoder is the transformer that all encoders share. The decoder attends to what it has written and to the
//! encoder's output, and writes one word-piece after the other. Pieces and probabilities cross as plain arrays.

mod config;
mod decoder;
mod decoding;
#[cfg(test)]
mod tests;

pub use config::BartConfig;
pub use decoding::{Decoding, State};

use crate::device::device;
use crate::encoder::{Encoder, numbers};
use crate::layers::{Builder, Dropout, Padded, Source, indices};
use crate::network::Noise;
use crate::params::{Gradients, Group, ParamId, Params, View};
use crate::pretrained::{EncoderConfig, Weights, WeightsError};
use crate::tokenizer::Pieces;
use crate::transformer::Transformer;
use burn::tensor::{Int, Tensor, TensorData, activation};
use decoder::Decoder;
use spanwise_core::Random;

/// A text with the text to learn.
#[derive(Clone, Copy, Debug)]
pub struct Lesson<'a> {
    /// What is read.
    pub pieces: &'a Pieces,
    /// What is to be written, with its end.
    pub target: &'a [u32],
    /// The weight of its loss.
    pub weight: f32,
}

/// An encoder-decoder of the kind of BART.
#[derive(Debug)]
pub struct Bart {
    /// All parameters.
    pub params: Params,
    encoder: Encoder,
    decoder: Decoder,
    /// Added to the scores of word-pieces. It is not trained.
    bias: ParamId,
    config: BartConfig,
}

impl Bart {
    /// A pretrained model. With `rows`, only these rows of the table of word-pieces are kept, in this order, and the
    /// pieces of the configuration are numbered accordingly. The lowest `n_frozen` layers of the encoder are not trained.
    ///
    /// # Errors
    /// Weights that do not fit the configuration.
    pub fn pretrained(
        config: BartConfig,
        weights: &mut Weights,
        rows: Option<&[u32]>,
        n_frozen: usize,
    ) -> Result<Self, WeightsError> {
        let mut network = Self::build(config, &mut Source::Weights(weights))?;
        if let Some(rows) = rows {
            network.keep(rows);
        }
        network.encoder.transformer.freeze_layers(&mut network.params, n_frozen);
        Ok(network)
    }

    /// A network from a file of weights that this program saved.
    ///
    /// # Errors
    /// Weights that do not fit the configuration.
    pub fn saved(config: BartConfig, weights: &mut Weights) -> Result<Self, WeightsError> {
        Self::build(config, &mut Source::Saved(weights))
    }

    fn build(config: BartConfig, source: &mut Source<'_>) -> Result<Self, WeightsError> {
        let mut params = Params::default();
        let mut transformer = Transformer::new(config.encoder.clone(), 0, &mut params, source)?;
        if config.scale_embedding {
            transformer.scale = (config.encoder.hidden as f64).sqrt();
        }
        let decoder = Decoder::new(&mut Builder { params: &mut params, source }, &config)?;
        let bias = final_bias(&mut params, source, config.encoder.vocab_size)?;
        params.freeze(bias);
        Ok(Self { params, encoder: Encoder::new(transformer), decoder, bias, config })
    }

    /// Leaves out all rows of the table of word-pieces but these.
    fn keep(&mut self, rows: &[u32]) {
        self.params.keep_rows(self.encoder.transformer.words, rows);
        self.params.keep_rows(self.bias, rows);
        let new = |piece: u32| rows.iter().position(|&row| row == piece).unwrap_or(0) as u32;
        let BartConfig { start, end, pad, .. } = &mut self.config;
        (*start, *end, *pad) = (new(*start), new(*end), new(*pad));
        self.config.encoder.vocab_size = rows.len();
        self.encoder.transformer.config.vocab_size = rows.len();
    }

    /// The shape.
    #[must_use]
    pub fn config(&self) -> &BartConfig {
        &self.config
    }

    /// The shape of the encoder.
    #[must_use]
    pub fn encoder(&self) -> &EncoderConfig {
        self.encoder.config()
    }

    /// The encoder's vector of every word of each sequence.
    #[must_use]
    pub fn word_vectors(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.encoder.word_vectors(&self.params, batch)
    }

    /// Runs a batch forward, calls `respond` with the loss of every lesson (the negative log-likelihood of its target,
    /// unweighted), and runs the batch backward.
    ///
    /// No lesson may be without pieces or without a target.
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
        let mut dropout = Some(Dropout::new(noise.dropout, Random::new(noise.seed, &[4])));
        // [all pieces, 1]
        let losses = self.piece_losses(&view, lessons, &mut dropout);
        let mut values = numbers(losses.clone().inner()).into_iter();
        let own = |lesson: &Lesson<'_>| values.by_ref().take(lesson.target.len()).map(f64::from).sum();
        let result = respond(&lessons.iter().map(own).collect::<Vec<f64>>());
        let weights: Vec<f32> =
            lessons.iter().flat_map(|lesson| lesson.target.iter().map(|_| lesson.weight)).collect();
        let shape = [weights.len(), 1];
        let weights = Tensor::<2>::from_data(TensorData::new(weights, shape), &device());
        let gradients = (losses * weights).sum().backward();
        (view.gradients(gradients), result)
    }

    /// The losses of all pieces that are written, text after text.
    fn piece_losses(&self, view: &View, lessons: &[Lesson<'_>], dropout: &mut Option<Dropout>) -> Tensor<2> {
        let targets: Vec<i64> =
            lessons.iter().flat_map(|lesson| lesson.target).map(|&piece| i64::from(piece)).collect();
        let shape = [targets.len(), 1];
        let targets = Tensor::<2, Int>::from_data(TensorData::new(targets, shape), &device());
        -self.log_probabilities(view, lessons, dropout).gather(1, targets)
    }

    /// The log-probabilities of all word-pieces at each place of each target, text after text.
    fn log_probabilities(
        &self,
        view: &View,
        lessons: &[Lesson<'_>],
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let batch: Vec<&Pieces> = lessons.iter().map(|lesson| lesson.pieces).collect();
        let (words, padded) = self.encode(view, &batch, dropout);
        let steps = lessons.iter().map(|lesson| lesson.target.len()).max().unwrap_or(0);
        // What is read at each step is what was written before it.
        let mut read = Vec::with_capacity(lessons.len() * steps);
        let mut real = Vec::new();
        for (item, lesson) in lessons.iter().enumerate() {
            let before = lesson.target.split_last().map_or(&[][..], |(_, before)| before);
            read.push(i64::from(self.config.start));
            read.extend(before.iter().map(|&piece| i64::from(piece)));
            real.extend((item * steps..).take(lesson.target.len()).map(|row| row as i64));
            read.resize((item + 1) * steps, i64::from(self.config.pad));
        }
        let written = self.decoder.forward(self, view, read, (words, &padded), dropout);
        self.output(view, written.select(0, indices(real)))
    }

    /// The encoder's output, one row per piece.
    fn encode(&self, view: &View, batch: &[&Pieces], dropout: &mut Option<Dropout>) -> (Tensor<2>, Padded) {
        let padded = Padded::new(batch.iter().map(|pieces| pieces.ids.len()).collect());
        let transformer = &self.encoder.transformer;
        let x = Dropout::apply(dropout, transformer.embed(view, batch, &padded));
        let x = transformer.run(view, x, &padded, 0..self.encoder().layers, dropout);
        (x.reshape([padded.n * padded.length, self.encoder().hidden]), padded)
    }

    /// The log-probabilities of all word-pieces, from rows of the decoder's output.
    fn output(&self, view: &View, rows: Tensor<2>) -> Tensor<2> {
        let table = view.matrix(self.encoder.transformer.words).transpose();
        activation::log_softmax(rows.matmul(table) + view.matrix(self.bias).transpose(), 1)
    }
}

/// The bias of word-pieces, `[pieces, 1]`; zero where a file has none.
fn final_bias(
    params: &mut Params,
    source: &mut Source<'_>,
    n_pieces: usize,
) -> Result<ParamId, WeightsError> {
    const NAME: &str = "final_logits_bias";
    let values = match source {
        Source::Weights(weights) if weights.contains(NAME) => weights.take(NAME, &[1, n_pieces])?,
        Source::Saved(weights) => weights.take(NAME, &[n_pieces, 1])?,
        _ => vec![0.0; n_pieces],
    };
    Ok(params.add(NAME, &[n_pieces, 1], Group::Encoder, values))
}
