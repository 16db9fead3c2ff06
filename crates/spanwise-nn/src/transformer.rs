//! The transformer that all encoders share: BERT, MPNet and the compact one differ in what they add to the
//! embeddings and to the attention scores.

use crate::device::device;
use crate::gelu::gelu;
use crate::params::{Group, ParamId, Params, View};
use crate::pretrained::config::MPNET_BUCKETS;
use crate::pretrained::{Activation, Architecture, EncoderConfig, Weights, WeightsError};
use crate::tokenizer::Pieces;
use burn::tensor::{Int, Tensor, TensorData, activation, module};
use spanwise_core::Random;

/// Added to attention scores of padding.
const PADDED: f32 = -1e9;
/// Distances beyond this share a bucket of relative positions.
const MAX_DISTANCE: f64 = 128.0;

/// A linear map `x W + b`; `W` is stored as `[input, output]`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    pub(crate) weight: ParamId,
    pub(crate) bias: ParamId,
}

impl Linear {
    /// One row for each piece of the batch: with more dimensions, the general linear map of the backend at times
    /// multiplies sequence by sequence, and backward makes a whole matrix of gradients for each of them.
    fn forward(self, view: &View, x: Tensor<2>) -> Tensor<2> {
        x.matmul(view.matrix(self.weight)) + view.vector(self.bias).unsqueeze()
    }
}

#[derive(Clone, Copy, Debug)]
struct Norm {
    gain: ParamId,
    bias: ParamId,
}

impl Norm {
    fn forward(self, view: &View, x: Tensor<2>, epsilon: f64) -> Tensor<2> {
        let (gain, bias) = (view.vector(self.gain), view.vector(self.bias));
        if !x.is_tracked() {
            return module::layer_norm(x, gain, Some(bias), epsilon);
        }
        // Written out, its backward pass is faster than that of the general one.
        let centred = x.clone() - x.mean_dim(1);
        let variance = (centred.clone() * centred.clone()).mean_dim(1);
        centred / (variance + epsilon).sqrt() * gain.unsqueeze() + bias.unsqueeze()
    }
}

#[derive(Clone, Debug)]
struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

/// Dropout: zeroes a random share of values in training and scales the rest up.
pub(crate) struct Dropout {
    rate: f32,
    random: Random,
}

impl Dropout {
    pub(crate) fn new(rate: f32, random: Random) -> Self {
        Self { rate, random }
    }

    pub(crate) fn apply<const D: usize>(this: &mut Option<Self>, x: Tensor<D>) -> Tensor<D> {
        let Some(Self { rate, random }) = this.as_mut().filter(|dropout| dropout.rate > 0.0) else {
            return x;
        };
        let shape = x.dims();
        let kept = 1.0 / (1.0 - *rate);
        // Two decisions from each draw.
        let limit = (f64::from(*rate) * 4_294_967_296.0) as u64;
        let n: usize = shape.iter().product();
        let mut mask = Vec::with_capacity(n + 1);
        while mask.len() < n {
            let draw = random.next();
            mask.push(if draw & 0xffff_ffff < limit { 0.0 } else { kept });
            mask.push(if draw >> 32 < limit { 0.0 } else { kept });
        }
        mask.truncate(n);
        x * Tensor::<D>::from_data(TensorData::new(mask, shape), &device())
    }
}

/// A batch of sequences, padded to the longest.
pub(crate) struct Padded {
    pub(crate) n: usize,
    pub(crate) length: usize,
    lengths: Vec<usize>,
}

impl Padded {
    pub(crate) fn new(lengths: Vec<usize>) -> Self {
        Self { n: lengths.len(), length: lengths.iter().copied().max().unwrap_or(0), lengths }
    }

    /// Minus a lot on padding, `[n, 1, 1, length]`; `None` when nothing is padded.
    fn mask(&self) -> Option<Tensor<4>> {
        if self.lengths.iter().all(|&length| length == self.length) {
            return None;
        }
        let row = |&length: &usize| (0..self.length).map(move |at| if at < length { 0.0 } else { PADDED });
        let mask: Vec<f32> = self.lengths.iter().flat_map(row).collect();
        Some(Tensor::from_data(TensorData::new(mask, [self.n, 1, 1, self.length]), &device()))
    }
}

/// A transformer's parameters and how to run them.
#[derive(Clone, Debug)]
pub(crate) struct Transformer {
    pub(crate) config: EncoderConfig,
    words: ParamId,
    positions: Option<ParamId>,
    segments: Option<ParamId>,
    ngrams: Option<ParamId>,
    embedding_norm: Norm,
    relative: Option<ParamId>,
    layers: Vec<Layer>,
}

/// Where initial values come from.
pub(crate) enum Source<'a> {
    /// A trained model of another tool.
    Weights(&'a mut Weights),
    /// Chance.
    Random(&'a mut Random),
    /// A file that this program saved. Each tensor is compared with it before memory is reserved.
    Saved(&'a mut Weights),
}

impl Transformer {
    /// Adds the parameters of an encoder.
    pub(crate) fn new(
        config: EncoderConfig,
        ngram_buckets: usize,
        params: &mut Params,
        source: &mut Source<'_>,
    ) -> Result<Self, WeightsError> {
        let mut build = Builder { params, source };
        let (hidden, wide) = (config.hidden, config.intermediate);
        let words = build.matrix("embeddings.word_embeddings.weight", [config.vocab_size, hidden], false)?;
        let positions = match config.architecture {
            Architecture::Compact => None,
            _ => {
                let shape = [config.max_positions, hidden];
                Some(build.matrix("embeddings.position_embeddings.weight", shape, false)?)
            }
        };
        let segments = match config.type_vocab {
            0 => None,
            n => Some(build.matrix("embeddings.token_type_embeddings.weight", [n, hidden], false)?),
        };
        let ngrams = match ngram_buckets {
            0 => None,
            n => Some(build.matrix("embeddings.ngram_embeddings.weight", [n, hidden], false)?),
        };
        let embedding_norm = build.norm("embeddings.LayerNorm", hidden)?;
        let relative = match config.relative_buckets {
            0 => None,
            n => Some(build.matrix("encoder.relative_attention_bias.weight", [n, config.heads], false)?),
        };
        let names: [&str; 5] = match config.architecture {
            Architecture::Mpnet => [
                "attention.attn.q",
                "attention.attn.k",
                "attention.attn.v",
                "attention.attn.o",
                "attention.LayerNorm",
            ],
            _ => [
                "attention.self.query",
                "attention.self.key",
                "attention.self.value",
                "attention.output.dense",
                "attention.output.LayerNorm",
            ],
        };
        // No memory is reserved for layers that only the configuration has.
        let mut layers = Vec::new();
        for at in 0..config.layers {
            let name = |part: &str| format!("encoder.layer.{at}.{part}");
            layers.push(Layer {
                query: build.linear(&name(names[0]), hidden, hidden)?,
                key: build.linear(&name(names[1]), hidden, hidden)?,
                value: build.linear(&name(names[2]), hidden, hidden)?,
                output: build.linear(&name(names[3]), hidden, hidden)?,
                attention_norm: build.norm(&name(names[4]), hidden)?,
                up: build.linear(&name("intermediate.dense"), hidden, wide)?,
                down: build.linear(&name("output.dense"), wide, hidden)?,
                norm: build.norm(&name("output.LayerNorm"), hidden)?,
            });
        }
        if let Source::Weights(weights) = build.source {
            weights.check_layers(config.layers)?;
        }
        Ok(Self { config, words, positions, segments, ngrams, embedding_norm, relative, layers })
    }

    /// Takes the embeddings and the lowest layers out of training.
    pub(crate) fn freeze(&self, params: &mut Params, n_layers: usize) {
        let embeddings = [Some(self.words), self.positions, self.segments, self.ngrams];
        for id in embeddings.into_iter().flatten() {
            params.freeze(id);
        }
        self.embedding_norm.freeze(params);
        if let Some(id) = self.relative {
            params.freeze(id);
        }
        for layer in &self.layers[..n_layers.min(self.layers.len())] {
            layer.freeze(params);
        }
    }

    /// The table of word-piece embeddings, `[pieces, hidden]`.
    pub(crate) fn embeddings(&self, params: &Params) -> Tensor<2> {
        params.matrix(self.words)
    }

    /// Replaces rows of the table of word-piece embeddings.
    pub(crate) fn set_embeddings<'a>(
        &self,
        params: &mut Params,
        rows: impl IntoIterator<Item = (u32, &'a [f32])>,
    ) {
        let mut table = params.values(self.words);
        for (id, row) in rows {
            table[id as usize * self.config.hidden..][..self.config.hidden].copy_from_slice(row);
        }
        params.set(self.words, table);
    }

    /// Embeddings `[n, length, hidden]`.
    pub(crate) fn embed(&self, view: &View, batch: &[&Pieces], padded: &Padded) -> Tensor<3> {
        let (n, length, hidden) = (padded.n, padded.length, self.config.hidden);
        let mut ids = Vec::with_capacity(n * length);
        for pieces in batch {
            ids.extend(pieces.ids.iter().map(|&id| i64::from(id)));
            // The id of padding does not matter: nothing attends to it.
            ids.resize(ids.len() + length - pieces.ids.len(), 0);
        }
        let mut x = view.matrix(self.words).select(0, indices(ids)).reshape([n, length, hidden]);
        if let Some(id) = self.positions {
            let from = self.config.position_offset as i64;
            let rows = view.matrix(id).select(0, indices((from..from + length as i64).collect()));
            x = x + rows.unsqueeze::<3>();
        }
        if let Some(id) = self.segments {
            x = x + view.matrix(id).slice([0..1, 0..hidden]).unsqueeze::<3>();
        }
        if let Some(id) = self.ngrams {
            x = x + self.ngram_means(view.matrix(id), batch, padded);
        }
        // [n * length, hidden], as all that follows
        let x = x.reshape([n * length, hidden]);
        self.embedding_norm.forward(view, x, self.config.layer_norm_eps).reshape([n, length, hidden])
    }

    /// The mean embedding of each piece's character n-grams.
    fn ngram_means(&self, table: Tensor<2>, batch: &[&Pieces], padded: &Padded) -> Tensor<3> {
        let n_rows = padded.n * padded.length;
        let (mut buckets, mut rows, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for (at, pieces) in batch.iter().enumerate() {
            for (piece, ngrams) in pieces.ngrams.iter().enumerate() {
                buckets.extend(ngrams.iter().map(|&bucket| i64::from(bucket)));
                rows.resize(buckets.len(), (at * padded.length + piece) as i64);
                weights.resize(buckets.len(), 1.0 / ngrams.len().max(1) as f32);
            }
        }
        let n_ngrams = buckets.len();
        let shape = [padded.n, padded.length, self.config.hidden];
        let zeros = Tensor::<2>::zeros([n_rows, self.config.hidden], &device());
        if n_ngrams == 0 {
            return zeros.reshape(shape);
        }
        let weights = Tensor::<2>::from_data(TensorData::new(weights, [n_ngrams, 1]), &device());
        let found = table.select(0, indices(buckets)) * weights;
        let zeros = if found.is_tracked() { zeros.autodiff() } else { zeros };
        zeros.select_assign(0, indices(rows), found, burn::tensor::IndexingUpdateOp::Add).reshape(shape)
    }

    /// The attention bias of relative distances, `[1, heads, length, length]`.
    fn relative_bias(&self, view: &View, length: usize) -> Option<Tensor<4>> {
        let table = view.matrix(self.relative?);
        let n_buckets = match self.config.architecture {
            // However long its table is.
            Architecture::Mpnet => MPNET_BUCKETS,
            _ => self.config.relative_buckets,
        };
        let pairs = (0..length).flat_map(|from| (0..length).map(move |to| (from, to)));
        let buckets = pairs.map(|(from, to)| bucket(to as i64 - from as i64, n_buckets) as i64).collect();
        // [length, length, heads]
        let bias = table.select(0, indices(buckets)).reshape([length, length, self.config.heads]);
        Some(bias.swap_dims(1, 2).swap_dims(0, 1).unsqueeze())
    }

    /// Runs layers `from..to`.
    pub(crate) fn run(
        &self,
        view: &View,
        x: Tensor<3>,
        padded: &Padded,
        layers: std::ops::Range<usize>,
        dropout: &mut Option<Dropout>,
    ) -> Tensor<3> {
        let mask = padded.mask();
        let bias = match (self.relative_bias(view, padded.length), mask) {
            (Some(bias), Some(mask)) => Some(bias + mask),
            (bias, mask) => bias.or(mask),
        };
        let shape = x.dims();
        let mut x = x.reshape([shape[0] * shape[1], shape[2]]);
        for layer in &self.layers[layers] {
            x = layer.forward(view, x, padded, bias.as_ref(), &self.config, dropout);
        }
        x.reshape(shape)
    }
}

impl Norm {
    fn freeze(self, params: &mut Params) {
        params.freeze(self.gain);
        params.freeze(self.bias);
    }
}

impl Layer {
    fn freeze(&self, params: &mut Params) {
        for linear in [self.query, self.key, self.value, self.output, self.up, self.down] {
            params.freeze(linear.weight);
            params.freeze(linear.bias);
        }
        self.attention_norm.freeze(params);
        self.norm.freeze(params);
    }

    fn forward(
        &self,
        view: &View,
        x: Tensor<2>,
        padded: &Padded,
        bias: Option<&Tensor<4>>,
        config: &EncoderConfig,
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let (n, length, hidden) = (padded.n, padded.length, config.hidden);
        let size = hidden / config.heads;
        // [n, heads, length, size]
        let heads = |x: Tensor<2>| x.reshape([n, length, config.heads, size]).swap_dims(1, 2);
        let query = heads(self.query.forward(view, x.clone()) * (1.0 / (size as f64).sqrt()));
        let key = heads(self.key.forward(view, x.clone()));
        let value = heads(self.value.forward(view, x.clone()));
        // [n, heads, length, length]
        let mut scores = query.matmul(key.swap_dims(2, 3));
        if let Some(bias) = bias {
            scores = scores + bias.clone();
        }
        let weights = Dropout::apply(dropout, activation::softmax(scores, 3));
        // [n * length, hidden]
        let mixed = weights.matmul(value).swap_dims(1, 2).reshape([n * length, hidden]);
        let mixed = Dropout::apply(dropout, self.output.forward(view, mixed));
        let x = self.attention_norm.forward(view, mixed + x, config.layer_norm_eps);
        // [n * length, intermediate]
        let wide = self.up.forward(view, x.clone());
        let wide = match config.activation {
            Activation::Gelu => gelu(wide),
            Activation::GeluTanh => activation::gelu_approximate(wide),
            Activation::Relu => activation::relu(wide),
        };
        // [n * length, hidden]
        let narrow = Dropout::apply(dropout, self.down.forward(view, wide));
        self.norm.forward(view, narrow + x, config.layer_norm_eps)
    }
}

pub(crate) fn indices(values: Vec<i64>) -> Tensor<1, Int> {
    let n = values.len();
    Tensor::from_data(TensorData::new(values, [n]), &device())
}

/// The bucket of a distance: half of the buckets for each direction, exact for near pieces, logarithmic beyond.
fn bucket(distance: i64, n_buckets: usize) -> usize {
    let half = n_buckets / 2;
    let side = if distance > 0 { half } else { 0 };
    let distance = distance.unsigned_abs() as usize;
    let n_exact = half / 2;
    if distance < n_exact {
        return side + distance;
    }
    let far = (distance as f64 / n_exact as f64).ln() / (MAX_DISTANCE / n_exact as f64).ln();
    side + (n_exact + (far * (half - n_exact) as f64) as usize).min(half - 1)
}

struct Builder<'a, 'b> {
    params: &'a mut Params,
    source: &'a mut Source<'b>,
}

impl Builder<'_, '_> {
    /// A matrix; `flipped` when a file of weights holds its transpose.
    fn matrix(&mut self, name: &str, shape: [usize; 2], flipped: bool) -> Result<ParamId, WeightsError> {
        let [rows, columns] = shape;
        let values = match self.source {
            Source::Weights(weights) if flipped => {
                let theirs = weights.take(name, &[columns, rows])?;
                (0..rows * columns).map(|at| theirs[at % columns * rows + at / columns]).collect()
            }
            Source::Weights(weights) | Source::Saved(weights) => weights.take(name, &shape)?,
            Source::Random(random) => {
                let deviation = if flipped { (2.0 / (rows + columns) as f32).sqrt() } else { 0.1 };
                (0..rows * columns).map(|_| deviation * random.normal()).collect()
            }
        };
        Ok(self.params.add(name, &shape, Group::Encoder, values))
    }

    fn vector(&mut self, name: &str, length: usize, initial: f32) -> Result<ParamId, WeightsError> {
        let values = match self.source {
            Source::Weights(weights) | Source::Saved(weights) => weights.take(name, &[length])?,
            Source::Random(_) => vec![initial; length],
        };
        Ok(self.params.add(name, &[length], Group::Encoder, values))
    }

    fn linear(&mut self, name: &str, input: usize, output: usize) -> Result<Linear, WeightsError> {
        Ok(Linear {
            weight: self.matrix(&format!("{name}.weight"), [input, output], true)?,
            bias: self.vector(&format!("{name}.bias"), output, 0.0)?,
        })
    }

    fn norm(&mut self, name: &str, size: usize) -> Result<Norm, WeightsError> {
        Ok(Norm {
            gain: self.vector(&format!("{name}.weight"), size, 1.0)?,
            bias: self.vector(&format!("{name}.bias"), size, 0.0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    /// Ones after dropout.
    fn dropped<const D: usize>(rate: f32, seed: u64, shape: [usize; D]) -> Vec<f32> {
        let mut dropout = Some(Dropout::new(rate, Random::new(seed, &[])));
        Dropout::apply(&mut dropout, Tensor::<D>::ones(shape, &device())).into_data().try_into_vec().unwrap()
    }

    #[test]
    fn dropout_keeps_the_expected_value_and_drops_its_share() {
        for rate in [0.05, 0.1, 0.25, 0.5, 0.9] {
            let n = 100_000;
            let values = dropped(rate, 1, [100, n / 100]);
            let kept = 1.0 / (1.0 - rate);
            assert!(values.iter().all(|&value| value == 0.0 || value == kept));
            let share = values.iter().filter(|&&value| value == 0.0).count() as f32 / n as f32;
            let mean = values.iter().sum::<f32>() / n as f32;
            // Five standard deviations.
            let deviation = (rate * (1.0 - rate) / n as f32).sqrt();
            assert!((share - rate).abs() < 5.0 * deviation, "{rate} {share}");
            assert!((mean - 1.0).abs() < 5.0 * deviation * kept + 1e-3, "{rate} {mean}");
            // Both halves of a draw decide, and not alike.
            let agree = values.chunks(2).filter(|pair| pair[0] == pair[1]).count() as f32 / (n / 2) as f32;
            let expected = rate * rate + (1.0 - rate) * (1.0 - rate);
            assert!((agree - expected).abs() < 0.02, "{rate} {agree} {expected}");
        }
    }

    #[test]
    fn dropout_depends_on_its_seed_alone_and_goes_on_where_it_stopped() {
        assert_eq!(dropped(0.3, 1, [7, 9, 5]), dropped(0.3, 1, [7, 9, 5]));
        assert_eq!(dropped(0.3, 1, [7, 9, 5]), dropped(0.3, 1, [7 * 9 * 5]));
        assert_ne!(dropped(0.3, 1, [7, 9, 5]), dropped(0.3, 2, [7, 9, 5]));
        let mut dropout = Some(Dropout::new(0.5, Random::new(1, &[])));
        let mut draw = || {
            Dropout::apply(&mut dropout, Tensor::<1>::ones([64], &device())).into_data().try_into_vec::<f32>()
        };
        assert_ne!(draw().unwrap(), draw().unwrap());
    }

    #[test]
    fn without_dropout_nothing_changes() {
        assert_eq!(dropped(0.0, 1, [3]), [1.0; 3]);
        let x = Dropout::apply(&mut None, Tensor::<1>::ones([3], &device()));
        assert_eq!(x.into_data().try_into_vec::<f32>().unwrap(), [1.0; 3]);
        assert!(dropped(0.5, 1, [0, 4]).is_empty());
    }

    #[test]
    fn buckets_are_exact_near_and_shared_far_with_a_side_each() {
        let found: Vec<usize> =
            [0, -1, -7, -8, -20, -127, -5000, 1, 7, 8, 5000].map(|d| bucket(d, 32)).to_vec();
        assert_eq!(found, [0, 1, 7, 8, 10, 15, 15, 17, 23, 24, 31]);
    }
}
