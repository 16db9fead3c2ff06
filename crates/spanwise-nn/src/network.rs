//! The network: an encoder, and a scorer that gives every span of words one logit per label.
//!
//! Logits and gradients leave this module as plain arrays. Training passes a function from logits to the gradient of
//! the loss with respect to them, so that the code of a loss needs no tensors.

use crate::device::device;
use crate::encoder::{Encoder, Sequence, numbers};
use crate::layers::{Dropout, Padded, Source, indices};
use crate::params::{Gradients, Group, ParamId, Params, View};
use crate::pretrained::{EncoderConfig, Weights, WeightsError};
use crate::tokenizer::Pieces;
use crate::transformer::Transformer;
use burn::tensor::{Tensor, TensorData, activation};
use spanwise_core::Random;
use std::sync::OnceLock;

/// Sizes of the span scorer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct HeadConfig {
    /// Width of its hidden layer.
    pub hidden: usize,
    /// Number of labels.
    pub n_labels: usize,
}

/// One utterance of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Its word-pieces.
    pub pieces: &'a Pieces,
    /// The output of the frozen layers ([`Network::lower`]), piece after piece; `None` to compute it.
    pub lower: Option<&'a [f32]>,
    /// The spans to score: first word and one past the last.
    pub spans: &'a [(u32, u32)],
}

/// Logits of a batch: for each utterance, span after span, label after label.
#[derive(Clone, PartialEq, Debug)]
pub struct Logits {
    values: Vec<f32>,
    /// Where the rows of each utterance start, and the end.
    starts: Vec<usize>,
    n_labels: usize,
}

impl Logits {
    /// The logits of one utterance.
    #[must_use]
    pub fn of(&self, item: usize) -> &[f32] {
        &self.values[self.starts[item] * self.n_labels..self.starts[item + 1] * self.n_labels]
    }

    /// Zeros of the same shape, one slice per utterance.
    #[must_use]
    pub fn zeros(&self) -> Vec<Vec<f32>> {
        (0..self.starts.len() - 1).map(|item| vec![0.0; self.of(item).len()]).collect()
    }
}

/// Randomness of one training pass.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Noise {
    /// Share of activations that are dropped.
    pub dropout: f32,
    /// Which ones.
    pub seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    start: ParamId,
    end: ParamId,
    bias: ParamId,
    out: ParamId,
    out_bias: ParamId,
}

impl Head {
    /// Adds the parameters of a scorer: saved ones, or random ones if the encoder's are not saved ones.
    fn new(
        HeadConfig { hidden, n_labels }: HeadConfig,
        encoded: usize,
        params: &mut Params,
        source: &mut Source<'_>,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut random = Random::new(seed, &[2]);
        // As the usual uniform initialisation, with the same variance.
        let deviation = |inputs: usize| 1.0 / (3.0 * inputs as f32).sqrt();
        let mut add = |name: &str, shape: &[usize], inputs: usize| -> Result<ParamId, WeightsError> {
            let name = format!("head.{name}");
            let values = match (&mut *source, shape) {
                (Source::Saved(weights), _) => weights.take(&name, shape)?,
                (_, &[rows, columns]) => {
                    return Ok(params.add_normal(
                        name,
                        [rows, columns],
                        Group::Head,
                        deviation(inputs),
                        &mut random,
                    ));
                }
                _ => vec![0.0; shape.iter().product()],
            };
            Ok(params.add(name, shape, Group::Head, values))
        };
        let start = add("start.weight", &[encoded, hidden], 2 * encoded)?;
        let end = add("end.weight", &[encoded, hidden], 2 * encoded)?;
        let out = add("out.weight", &[hidden, n_labels], hidden)?;
        let bias = add("hidden.bias", &[hidden], 0)?;
        let out_bias = add("out.bias", &[n_labels], 0)?;
        Ok(Self { start, end, bias, out, out_bias })
    }
}

/// An encoder with a span scorer on top, and the tables that a model adds.
///
/// The scorer is a two-layer perceptron: a span is represented by the encoder's vectors of the first word-piece of its
/// first word and the last word-piece of its last word, and gets one logit for each label.
///
/// ```
/// use spanwise_core::Utterance;
/// use spanwise_nn::pretrained::{Activation, Architecture, EncoderConfig};
/// use spanwise_nn::tokenizer::WordTable;
/// use spanwise_nn::{HeadConfig, Item, Network, Tokenizer};
///
/// let utterance = Utterance::new("what states border texas");
/// let tokenizer = Tokenizer::Words(WordTable::from_utterances([&utterance], 1));
/// let config = EncoderConfig {
///     architecture: Architecture::Compact,
///     vocab_size: tokenizer.vocab_size(),
///     hidden: 8,
///     layers: 1,
///     heads: 2,
///     intermediate: 16,
///     max_positions: 64,
///     type_vocab: 0,
///     layer_norm_eps: 1e-6,
///     dropout: 0.1,
///     position_offset: 0,
///     relative_buckets: 16,
///     activation: Activation::Gelu,
/// };
/// let head = HeadConfig { hidden: 8, n_labels: 3 };
/// let network = Network::from_scratch(config, tokenizer.n_buckets(), head, 1)?;
/// // Two spans: `states`, and `border texas`.
/// let item = Item { pieces: &tokenizer.encode(&utterance), lower: None, spans: &[(1, 2), (2, 4)] };
/// assert_eq!(network.logits(&[item]).of(0).len(), 2 * 3);
/// # Ok::<(), spanwise_nn::pretrained::WeightsError>(())
/// ```
#[derive(Debug)]
pub struct Network {
    /// All parameters; tables may be added.
    pub params: Params,
    encoder: Encoder,
    head: Head,
    head_config: HeadConfig,
    /// The mean of the word-piece embeddings, once it was needed.
    mean_embedding: OnceLock<Vec<f32>>,
}

impl Network {
    /// A pretrained encoder with a new scorer. The embeddings of such an encoder are never trained, nor are its lowest
    /// `n_frozen` layers.
    ///
    /// # Errors
    /// Weights that do not fit the configuration.
    pub fn pretrained(
        config: EncoderConfig,
        weights: &mut Weights,
        head: HeadConfig,
        n_frozen: usize,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut network = Self::build(config, 0, &mut Source::Weights(weights), head, seed)?;
        network.encoder.freeze(&mut network.params, n_frozen);
        Ok(network)
    }

    /// A randomly initialized encoder, with a table for hashed character n-grams unless `ngram_buckets` is zero.
    ///
    /// # Errors
    /// Never: the signature is that of the other constructors.
    pub fn from_scratch(
        config: EncoderConfig,
        ngram_buckets: usize,
        head: HeadConfig,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut random = Random::new(seed, &[1]);
        Self::build(config, ngram_buckets, &mut Source::Random(&mut random), head, seed)
    }

    /// A network from a file of weights that this program saved. What the file does not hold is never allocated.
    ///
    /// # Errors
    /// Weights that do not fit the configurations.
    pub fn saved(
        config: EncoderConfig,
        ngram_buckets: usize,
        head: HeadConfig,
        weights: &mut Weights,
    ) -> Result<Self, WeightsError> {
        Self::build(config, ngram_buckets, &mut Source::Saved(weights), head, 0)
    }

    fn build(
        config: EncoderConfig,
        ngram_buckets: usize,
        source: &mut Source<'_>,
        head_config: HeadConfig,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut params = Params::default();
        let transformer = Transformer::new(config, ngram_buckets, &mut params, source)?;
        let head = Head::new(head_config, transformer.config.hidden, &mut params, source, seed)?;
        let encoder = Encoder::new(transformer);
        Ok(Self { params, encoder, head, head_config, mean_embedding: OnceLock::new() })
    }

    /// The encoder's configuration.
    #[must_use]
    pub fn encoder(&self) -> &EncoderConfig {
        self.encoder.config()
    }

    /// The scorer's configuration.
    #[must_use]
    pub fn head(&self) -> HeadConfig {
        self.head_config
    }

    /// Whether the lowest layers are frozen, so that caching [`Network::lower`] saves work.
    #[must_use]
    pub fn is_frozen_below(&self) -> bool {
        self.encoder.is_frozen_below()
    }

    /// The output of the frozen layers for each sequence, piece after piece. It is constant during training.
    #[must_use]
    pub fn lower(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.encoder.lower(&self.params, batch)
    }

    /// The encoder's output for each sequence, piece after piece.
    #[must_use]
    pub fn encode(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.encoder.encode(&self.params, batch)
    }

    /// The logits of a batch.
    #[must_use]
    pub fn logits(&self, items: &[Item<'_>]) -> Logits {
        let view = self.params.view(false);
        let rows = self.forward(&view, items, &mut None);
        self.collect(rows, items)
    }

    /// The logits of a batch, and from the same pass the encoder's vector of every word: for each utterance, word after
    /// word. The vector of a word is the mean of those of its first and its last piece.
    #[must_use]
    pub fn logits_and_words(&self, items: &[Item<'_>]) -> (Logits, Vec<Vec<f32>>) {
        if items.iter().all(|item| item.spans.is_empty()) {
            return (self.collect(None, items), vec![Vec::new(); items.len()]);
        }
        let view = self.params.view(false);
        let padded = Padded::new(items.iter().map(|item| item.pieces.ids.len()).collect());
        let x = self.encoder.forward(&view, &sequences(items), &padded, &mut None);
        let values = numbers(x.clone());
        let words = items
            .iter()
            .enumerate()
            .map(|(at, item)| {
                self.encoder.words(item.pieces, &values[at * padded.length * self.encoder().hidden..])
            })
            .collect();
        let rows = self.score(&view, x, items, &padded, &mut None);
        (self.collect(Some(rows), items), words)
    }

    /// The encoder's vector of every word of each sequence, as [`Network::logits_and_words`] gives them.
    #[must_use]
    pub fn word_vectors(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.encoder.word_vectors(&self.params, batch)
    }

    /// The vector of each text in the table of word-piece embeddings: the mean of its pieces' rows, less the mean of the
    /// table, normalized. Texts of similar meaning have similar vectors, if the encoder is pretrained; its embeddings are
    /// never trained. The vector of a text without pieces is zero.
    #[must_use]
    pub fn static_vectors(&self, texts: &[&[u32]]) -> Vec<Vec<f32>> {
        let hidden = self.encoder().hidden;
        let ids: Vec<i64> = texts.iter().copied().flatten().map(|&id| i64::from(id)).collect();
        if ids.is_empty() {
            return vec![vec![0.0; hidden]; texts.len()];
        }
        let rows = numbers(self.encoder.transformer.embeddings(&self.params).select(0, indices(ids)));
        let mean = self
            .mean_embedding
            .get_or_init(|| numbers(self.encoder.transformer.embeddings(&self.params).mean_dim(0)));
        let mut rows = rows.chunks_exact(hidden);
        texts.iter().map(|ids| centered_mean(rows.by_ref().take(ids.len()), mean)).collect()
    }

    /// Runs a batch forward, calls `respond` for the gradient of the loss with respect to the logits, and runs the batch
    /// backward. `respond` receives the logits and returns one gradient per utterance, in their shape.
    pub fn gradients<R>(
        &self,
        items: &[Item<'_>],
        noise: Noise,
        respond: impl FnOnce(&Logits) -> (Vec<Vec<f32>>, R),
    ) -> (Gradients, R) {
        let view = self.params.view(true);
        let mut dropout = Some(Dropout::new(noise.dropout, Random::new(noise.seed, &[3])));
        let rows = self.forward(&view, items, &mut dropout);
        let logits = self.collect(rows.clone().map(Tensor::inner), items);
        let (gradient, result) = respond(&logits);
        let Some(rows) = rows else { return (self.params.no_gradients(), result) };
        let shape = rows.dims();
        let gradient = TensorData::new(gradient.concat(), shape);
        // Any scalar with this gradient will do: the sum of logits times their gradient.
        let surrogate = (rows * Tensor::<2>::from_data(gradient, &device())).sum();
        (view.gradients(surrogate.backward()), result)
    }

    fn collect(&self, rows: Option<Tensor<2>>, items: &[Item<'_>]) -> Logits {
        let mut starts = vec![0];
        for item in items {
            starts.push(starts[starts.len() - 1] + item.spans.len());
        }
        Logits { values: rows.map(numbers).unwrap_or_default(), starts, n_labels: self.head_config.n_labels }
    }

    /// One row of logits per span of the batch; `None` when there is no span at all.
    fn forward(&self, view: &View, items: &[Item<'_>], dropout: &mut Option<Dropout>) -> Option<Tensor<2>> {
        if items.iter().all(|item| item.spans.is_empty()) {
            return None;
        }
        let padded = Padded::new(items.iter().map(|item| item.pieces.ids.len()).collect());
        let x = self.encoder.forward(view, &sequences(items), &padded, dropout);
        Some(self.score(view, x, items, &padded, dropout))
    }

    /// One row of logits per span, from the encoder's output.
    fn score(
        &self,
        view: &View,
        x: Tensor<2>,
        items: &[Item<'_>],
        padded: &Padded,
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        // Each word boundary is projected once; a span adds two of them.
        let (mut first, mut last, mut starts, mut ends) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (at, item) in items.iter().enumerate() {
            let (row, word) = (at * padded.length, first.len());
            first.extend(item.pieces.words.iter().map(|&(first, _)| (row + first as usize) as i64));
            last.extend(item.pieces.words.iter().map(|&(_, last)| (row + last as usize) as i64));
            starts.extend(item.spans.iter().map(|&(start, _)| (word + start as usize) as i64));
            ends.extend(item.spans.iter().map(|&(_, end)| (word + end as usize) as i64 - 1));
        }
        // (words, hidden) for the first and the last word-piece of each word
        let from = x.clone().select(0, indices(first)).matmul(view.matrix(self.head.start));
        let to = x.select(0, indices(last)).matmul(view.matrix(self.head.end));
        // (spans, hidden)
        let spans = from.select(0, indices(starts)) + to.select(0, indices(ends));
        let spans = activation::relu(spans + view.vector(self.head.bias).unsqueeze());
        let spans = Dropout::apply(dropout, spans);
        // (spans, labels)
        spans.matmul(view.matrix(self.head.out)) + view.vector(self.head.out_bias).unsqueeze()
    }
}

/// The mean of vectors less another one, normalized; zero if there are none.
fn centered_mean<'a>(rows: impl Iterator<Item = &'a [f32]>, center: &[f32]) -> Vec<f32> {
    let mut sum = vec![0.0; center.len()];
    for row in rows {
        sum.iter_mut().zip(row.iter().zip(center)).for_each(|(sum, (value, center))| *sum += value - center);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        sum.iter_mut().for_each(|value| *value /= length);
    }
    sum
}

fn sequences<'a>(items: &[Item<'a>]) -> Vec<Sequence<'a>> {
    items.iter().map(|item| (item.pieces, item.lower)).collect()
}

#[cfg(test)]
mod tests;
