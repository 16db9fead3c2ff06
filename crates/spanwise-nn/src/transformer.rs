//! The transformer that all encoders share: BERT, MPNet, the encoders of BART and Marian and the compact one differ in what
//! they add to the embeddings and to the attention scores.

use crate::device::device;
use crate::layers::{Attention, Builder, Dropout, FeedForward, LayerShape, Norm, Padded, Source, indices};
use crate::params::{ParamId, Params, View};
use crate::pretrained::config::MPNET_BUCKETS;
use crate::pretrained::{Architecture, EncoderConfig, WeightsError};
use crate::tokenizer::Pieces;
use burn::tensor::{Tensor, TensorData};

/// Distances beyond this share a bucket of relative positions.
const MAX_DISTANCE: f64 = 128.0;

#[derive(Clone, Copy, Debug)]
struct Layer {
    attention: Attention,
    feed_forward: FeedForward,
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

    /// The attention bias of relative distances, `[1, heads, rows, rows]`. What is in no order is at no distance and has
    /// none.
    fn relative_bias(&self, view: &View, padded: &Padded) -> Option<Tensor<4>> {
        let mut table = view.matrix(self.relative?);
        let (n_known, heads, n_rows) = (table.dims()[0], self.config.heads, padded.n_rows());
        if padded.n_unordered > 0 {
            let zeros = Tensor::<2>::zeros([1, heads], &device());
            let zeros = if table.is_tracked() { zeros.autodiff() } else { zeros };
            table = Tensor::cat(vec![table, zeros], 0);
        }
        let n_buckets = match self.config.architecture {
            // However long its table is.
            Architecture::Mpnet => MPNET_BUCKETS,
            _ => self.config.relative_buckets,
        };
        let pairs = (0..n_rows).flat_map(|from| (0..n_rows).map(move |to| (from, to)));
        let bucket_of = |(from, to): (usize, usize)| match from.max(to) < padded.length {
            true => bucket(to as i64 - from as i64, n_buckets) as i64,
            false => n_known as i64,
        };
        // [rows, rows, heads]
        let bias = table.select(0, indices(pairs.map(bucket_of).collect())).reshape([n_rows, n_rows, heads]);
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
        let bias = match (self.relative_bias(view, padded), mask) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_exact_near_and_shared_far_with_a_side_each() {
        let found: Vec<usize> =
            [0, -1, -7, -8, -20, -127, -5000, 1, 7, 8, 5000].map(|d| bucket(d, 32)).to_vec();
        assert_eq!(found, [0, 1, 7, 8, 10, 15, 15, 17, 23, 24, 31]);
    }
}
