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
pub(crate) const PADDED: f32 = -1e9;
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
    pub(crate) fn forward(self, view: &View, x: Tensor<2>) -> Tensor<2> {
        x.matmul(view.matrix(self.weight)) + view.vector(self.bias).unsqueeze()
    }
}

/// Layer normalisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm {
    gain: ParamId,
    bias: ParamId,
}

impl Norm {
    pub(crate) fn forward(self, view: &View, x: Tensor<2>, epsilon: f64) -> Tensor<2> {
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

/// Attention of several heads, and the norm of its sum with its input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    norm: Norm,
}

/// What attention looks at: keys and values, `[n, heads, length, size]` each.
#[derive(Clone, Debug)]
pub(crate) struct Attended {
    pub(crate) keys: Tensor<4>,
    pub(crate) values: Tensor<4>,
}

/// Two linear maps with a non-linearity between them, and the norm of their sum with their input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FeedForward {
    up: Linear,
    down: Linear,
    norm: Norm,
}

#[derive(Clone, Copy, Debug)]
struct Layer {
    attention: Attention,
    feed_forward: FeedForward,
}

/// What the parts of a layer have in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LayerShape {
    pub(crate) heads: usize,
    pub(crate) activation: Activation,
    pub(crate) epsilon: f64,
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
    pub(crate) fn mask(&self) -> Option<Tensor<4>> {
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
    pub(crate) words: ParamId,
    /// Factor of the vectors of word-pieces.
    pub(crate) scale: f64,
    positions: Option<ParamId>,
    segments: Option<ParamId>,
    ngrams: Option<ParamId>,
    embedding_norm: Option<Norm>,
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
        let hidden = config.hidden;
        let names = Names::of(config.architecture);
        let words = build.words(names.words, [config.vocab_size, hidden])?;
        let positions = match config.architecture {
            Architecture::Compact | Architecture::Marian => None,
            _ => Some(build.matrix(names.positions, [config.max_positions, hidden], false)?),
        };
        let segments = match config.type_vocab {
            0 => None,
            n => Some(build.matrix("embeddings.token_type_embeddings.weight", [n, hidden], false)?),
        };
        let ngrams = match ngram_buckets {
            0 => None,
            n => Some(build.matrix("embeddings.ngram_embeddings.weight", [n, hidden], false)?),
        };
        let embedding_norm = match config.architecture {
            Architecture::Marian => None,
            _ => Some(build.norm(names.embedding_norm, hidden)?),
        };
        let relative = match config.relative_buckets {
            0 => None,
            n => Some(build.matrix("encoder.relative_attention_bias.weight", [n, config.heads], false)?),
        };
        // No memory is reserved for layers that only the configuration has.
        let mut layers = Vec::new();
        for at in 0..config.layers {
            let name = |part: &str| format!("{}.{at}.{part}", names.layers);
            layers.push(Layer {
                attention: build.attention(names.attention.map(name), hidden)?,
                feed_forward: build
                    .feed_forward(names.feed_forward.map(name), [hidden, config.intermediate])?,
            });
        }
        if let Source::Weights(weights) = build.source {
            weights.check_layers(names.layers, config.layers)?;
        }
        let scale = 1.0;
        Ok(Self { config, words, scale, positions, segments, ngrams, embedding_norm, relative, layers })
    }

    /// Takes the embeddings and the lowest layers out of training.
    pub(crate) fn freeze(&self, params: &mut Params, n_layers: usize) {
        let embeddings = [Some(self.words), self.positions, self.segments, self.ngrams];
        for id in embeddings.into_iter().flatten() {
            params.freeze(id);
        }
        if let Some(norm) = self.embedding_norm {
            norm.freeze(params);
        }
        if let Some(id) = self.relative {
            params.freeze(id);
        }
        self.freeze_layers(params, n_layers);
    }

    /// Takes the lowest layers out of training.
    pub(crate) fn freeze_layers(&self, params: &mut Params, n_layers: usize) {
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
        #[allow(clippy::float_cmp, reason = "it is exactly one where there is no factor")]
        if self.scale != 1.0 {
            x = x * self.scale;
        }
        if self.config.architecture == Architecture::Marian {
            x = x + waves(0..length, hidden).unsqueeze::<3>();
        }
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
        let Some(norm) = self.embedding_norm else { return x };
        // [n * length, hidden], as all that follows
        let x = x.reshape([n * length, hidden]);
        norm.forward(view, x, self.config.layer_norm_eps).reshape([n, length, hidden])
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
            x = layer.forward(view, x, padded.n, bias.as_ref(), self.config.layer_shape(), dropout);
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

impl Attention {
    fn freeze(self, params: &mut Params) {
        for linear in [self.query, self.key, self.value, self.output] {
            linear.freeze(params);
        }
        self.norm.freeze(params);
    }

    /// Keys and values of `n` sequences of equal length, one row for each piece.
    pub(crate) fn attended(self, view: &View, x: Tensor<2>, n: usize, heads: usize) -> Attended {
        let keys = split(self.key.forward(view, x.clone()), n, heads);
        Attended { keys, values: split(self.value.forward(view, x), n, heads) }
    }

    /// Each row of `x` attends to what its sequence offers; `bias` is added to the scores.
    pub(crate) fn forward(
        self,
        view: &View,
        x: Tensor<2>,
        to: Attended,
        bias: Option<&Tensor<4>>,
        shape: LayerShape,
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let [rows, hidden] = x.dims();
        let [n, heads, _, size] = to.keys.dims();
        let query = self.query.forward(view, x.clone()) * (1.0 / (size as f64).sqrt());
        // [n, heads, rows of each, length]
        let mut scores = split(query, n, heads).matmul(to.keys.swap_dims(2, 3));
        if let Some(bias) = bias {
            scores = scores + bias.clone();
        }
        let weights = Dropout::apply(dropout, activation::softmax(scores, 3));
        let mixed = weights.matmul(to.values).swap_dims(1, 2).reshape([rows, hidden]);
        let mixed = Dropout::apply(dropout, self.output.forward(view, mixed));
        self.norm.forward(view, mixed + x, shape.epsilon)
    }
}

/// Rows of `n` sequences as `[n, heads, length, size]`.
fn split(x: Tensor<2>, n: usize, heads: usize) -> Tensor<4> {
    let [rows, hidden] = x.dims();
    x.reshape([n, rows / n, heads, hidden / heads]).swap_dims(1, 2)
}

impl FeedForward {
    fn freeze(self, params: &mut Params) {
        self.up.freeze(params);
        self.down.freeze(params);
        self.norm.freeze(params);
    }

    pub(crate) fn forward(
        self,
        view: &View,
        x: Tensor<2>,
        shape: LayerShape,
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let wide = self.up.forward(view, x.clone());
        let wide = match shape.activation {
            Activation::Gelu => gelu(wide),
            Activation::GeluTanh => activation::gelu_approximate(wide),
            Activation::Relu => activation::relu(wide),
            Activation::Silu => activation::silu(wide),
        };
        let narrow = Dropout::apply(dropout, self.down.forward(view, wide));
        self.norm.forward(view, narrow + x, shape.epsilon)
    }
}

impl Linear {
    fn freeze(self, params: &mut Params) {
        params.freeze(self.weight);
        params.freeze(self.bias);
    }
}

impl Layer {
    fn freeze(&self, params: &mut Params) {
        self.attention.freeze(params);
        self.feed_forward.freeze(params);
    }

    /// All sequences attend to themselves.
    fn forward(
        &self,
        view: &View,
        x: Tensor<2>,
        n: usize,
        bias: Option<&Tensor<4>>,
        shape: LayerShape,
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let own = self.attention.attended(view, x.clone(), n, shape.heads);
        let x = self.attention.forward(view, x, own, bias, shape, dropout);
        self.feed_forward.forward(view, x, shape, dropout)
    }
}

impl EncoderConfig {
    pub(crate) fn layer_shape(&self) -> LayerShape {
        LayerShape { heads: self.heads, activation: self.activation, epsilon: self.layer_norm_eps }
    }
}

/// Positions as waves of many lengths: sines in the first half of the columns, cosines in the second.
pub(crate) fn waves(positions: std::ops::Range<usize>, hidden: usize) -> Tensor<2> {
    let (n, half) = (positions.len(), hidden.div_ceil(2));
    let mut values = Vec::with_capacity(n * hidden);
    for position in positions {
        let angle = |at: usize| position as f64 / 10_000f64.powf(2.0 * at as f64 / hidden as f64);
        values.extend((0..half).map(|at| angle(at).sin() as f32));
        values.extend((0..hidden - half).map(|at| angle(at).cos() as f32));
    }
    Tensor::from_data(TensorData::new(values, [n, hidden]), &device())
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

/// What files of weights call the parts of an encoder.
struct Names {
    words: &'static str,
    positions: &'static str,
    embedding_norm: &'static str,
    layers: &'static str,
    /// Query, key, value, output and norm.
    attention: [&'static str; 5],
    /// Both linear maps and the norm.
    feed_forward: [&'static str; 3],
}

impl Names {
    fn of(architecture: Architecture) -> Self {
        let bert = Self {
            words: "embeddings.word_embeddings.weight",
            positions: "embeddings.position_embeddings.weight",
            embedding_norm: "embeddings.LayerNorm",
            layers: "encoder.layer",
            attention: [
                "attention.self.query",
                "attention.self.key",
                "attention.self.value",
                "attention.output.dense",
                "attention.output.LayerNorm",
            ],
            feed_forward: ["intermediate.dense", "output.dense", "output.LayerNorm"],
        };
        match architecture {
            Architecture::Bert | Architecture::Compact => bert,
            Architecture::Mpnet => Self {
                attention: [
                    "attention.attn.q",
                    "attention.attn.k",
                    "attention.attn.v",
                    "attention.attn.o",
                    "attention.LayerNorm",
                ],
                ..bert
            },
            Architecture::Bart | Architecture::Marian => Self {
                words: "shared.weight",
                positions: "encoder.embed_positions.weight",
                embedding_norm: "encoder.layernorm_embedding",
                layers: "encoder.layers",
                attention: SELF_ATTENTION,
                feed_forward: FEED_FORWARD,
            },
        }
    }
}

/// What files of weights of BART and Marian call the parts of a layer.
pub(crate) const SELF_ATTENTION: [&str; 5] = [
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.out_proj",
    "self_attn_layer_norm",
];
pub(crate) const FEED_FORWARD: [&str; 3] = ["fc1", "fc2", "final_layer_norm"];

/// Adds parameters, with initial values from a source.
pub(crate) struct Builder<'a, 'b> {
    pub(crate) params: &'a mut Params,
    pub(crate) source: &'a mut Source<'b>,
}

/// What files of weights call a table that the encoder, the decoder and the output share. A file may hold it once, under
/// any of these names.
const TIED: [&str; 4] =
    ["shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"];

impl Builder<'_, '_> {
    /// The table of word-pieces.
    fn words(&mut self, name: &str, shape: [usize; 2]) -> Result<ParamId, WeightsError> {
        match self.source {
            Source::Weights(weights) if name == TIED[0] => {
                let stored = TIED.iter().find(|name| weights.contains(name)).unwrap_or(&TIED[0]);
                let values = weights.take(stored, &shape)?;
                Ok(self.params.add(name, &shape, Group::Encoder, values))
            }
            _ => self.matrix(name, shape, false),
        }
    }

    /// A matrix; `flipped` when a file of weights holds its transpose.
    pub(crate) fn matrix(
        &mut self,
        name: &str,
        shape: [usize; 2],
        flipped: bool,
    ) -> Result<ParamId, WeightsError> {
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

    pub(crate) fn vector(
        &mut self,
        name: &str,
        length: usize,
        initial: f32,
    ) -> Result<ParamId, WeightsError> {
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

    pub(crate) fn attention(&mut self, names: [String; 5], size: usize) -> Result<Attention, WeightsError> {
        let [query, key, value, output, norm] = names;
        Ok(Attention {
            query: self.linear(&query, size, size)?,
            key: self.linear(&key, size, size)?,
            value: self.linear(&value, size, size)?,
            output: self.linear(&output, size, size)?,
            norm: self.norm(&norm, size)?,
        })
    }

    /// `sizes`: the width outside and inside.
    pub(crate) fn feed_forward(
        &mut self,
        names: [String; 3],
        sizes: [usize; 2],
    ) -> Result<FeedForward, WeightsError> {
        let ([up, down, norm], [narrow, wide]) = (names, sizes);
        Ok(FeedForward {
            up: self.linear(&up, narrow, wide)?,
            down: self.linear(&down, wide, narrow)?,
            norm: self.norm(&norm, narrow)?,
        })
    }

    pub(crate) fn norm(&mut self, name: &str, size: usize) -> Result<Norm, WeightsError> {
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
