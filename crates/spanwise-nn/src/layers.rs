//! What all transformers are made of: linear maps, norms, attention, dropout, and how their parameters are made.

use crate::device::device;
use crate::gelu::gelu;
use crate::params::{Group, ParamId, Params, View};
use crate::pretrained::{Activation, Weights, WeightsError};
use burn::tensor::{Int, Tensor, TensorData, activation, module};
use spanwise_core::Random;

/// Added to attention scores of padding.
pub(crate) const PADDED: f32 = -1e9;

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

/// A batch of sequences, padded to the longest. Behind its pieces, each may have vectors that are in no order; they are
/// padded for themselves.
pub(crate) struct Padded {
    pub(crate) n: usize,
    /// Pieces of each sequence, with padding.
    pub(crate) length: usize,
    /// Vectors in no order of each sequence, with padding.
    pub(crate) n_unordered: usize,
    lengths: Vec<usize>,
    unordered: Vec<usize>,
}

impl Padded {
    pub(crate) fn new(lengths: Vec<usize>) -> Self {
        let unordered = vec![0; lengths.len()];
        Self::with_unordered(lengths, unordered)
    }

    pub(crate) fn with_unordered(lengths: Vec<usize>, unordered: Vec<usize>) -> Self {
        let most = |counts: &[usize]| counts.iter().copied().max().unwrap_or(0);
        Self { n: lengths.len(), length: most(&lengths), n_unordered: most(&unordered), lengths, unordered }
    }

    /// Rows of each sequence.
    pub(crate) fn n_rows(&self) -> usize {
        self.length + self.n_unordered
    }

    /// Minus a lot on padding, `[n, 1, 1, rows]`; `None` when nothing is padded.
    pub(crate) fn mask(&self) -> Option<Tensor<4>> {
        let is_full =
            |(&length, &unordered): (&usize, &usize)| length == self.length && unordered == self.n_unordered;
        if self.lengths.iter().zip(&self.unordered).all(is_full) {
            return None;
        }
        let part = |n: usize, all: usize| (0..all).map(move |at| if at < n { 0.0 } else { PADDED });
        let row = |(&length, &unordered): (&usize, &usize)| {
            part(length, self.length).chain(part(unordered, self.n_unordered))
        };
        let mask: Vec<f32> = self.lengths.iter().zip(&self.unordered).flat_map(row).collect();
        Some(Tensor::from_data(TensorData::new(mask, [self.n, 1, 1, self.n_rows()]), &device()))
    }
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

impl Norm {
    pub(crate) fn freeze(self, params: &mut Params) {
        params.freeze(self.gain);
        params.freeze(self.bias);
    }
}

impl Attention {
    pub(crate) fn freeze(self, params: &mut Params) {
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
    pub(crate) fn freeze(self, params: &mut Params) {
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
    pub(crate) fn freeze(self, params: &mut Params) {
        params.freeze(self.weight);
        params.freeze(self.bias);
    }
}

pub(crate) fn indices(values: Vec<i64>) -> Tensor<1, Int> {
    let n = values.len();
    Tensor::from_data(TensorData::new(values, [n]), &device())
}

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
    pub(crate) fn words(&mut self, name: &str, shape: [usize; 2]) -> Result<ParamId, WeightsError> {
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

/// Adds parameters that follow the encoder: saved ones, or random ones if the encoder's are not saved ones.
pub(crate) struct HeadBuilder<'a, 'b> {
    pub(crate) params: &'a mut Params,
    pub(crate) source: &'a mut Source<'b>,
    pub(crate) random: Random,
}

impl HeadBuilder<'_, '_> {
    pub(crate) fn matrix(&mut self, name: &str, shape: [usize; 2]) -> Result<ParamId, WeightsError> {
        let deviation = (2.0 / (shape[0] + shape[1]) as f32).sqrt();
        Ok(match self.source {
            Source::Saved(weights) => {
                let values = weights.take(name, &shape)?;
                self.params.add(name, &shape, Group::Head, values)
            }
            _ => self.params.add_normal(name, shape, Group::Head, deviation, &mut self.random),
        })
    }

    pub(crate) fn vector(&mut self, name: &str, initial: Vec<f32>) -> Result<ParamId, WeightsError> {
        let shape = [initial.len()];
        let values = match self.source {
            Source::Saved(weights) => weights.take(name, &shape)?,
            _ => initial,
        };
        Ok(self.params.add(name, &shape, Group::Head, values))
    }

    pub(crate) fn norm(&mut self, name: &str, size: usize) -> Result<Norm, WeightsError> {
        Ok(Norm {
            gain: self.vector(&format!("{name}.weight"), vec![1.0; size])?,
            bias: self.vector(&format!("{name}.bias"), vec![0.0; size])?,
        })
    }

    pub(crate) fn linear(&mut self, name: &str, input: usize, output: usize) -> Result<Linear, WeightsError> {
        Ok(Linear {
            weight: self.matrix(&format!("{name}.weight"), [input, output])?,
            bias: self.vector(&format!("{name}.bias"), vec![0.0; output])?,
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
}
