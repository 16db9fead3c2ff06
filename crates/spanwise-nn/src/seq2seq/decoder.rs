//! The decoder: an LSTM with attention and input feeding (Luong et al., 2015) that generates a token or copies a part
//! of the utterance at every step.

use super::lstm::{Cell, Lstm};
use super::{Copy, Previous, Seq2SeqConfig};
use crate::device::device;
use crate::layers::{Dropout, HeadBuilder, indices};
use crate::params::{ParamId, View};
use crate::pretrained::WeightsError;
use burn::tensor::{Tensor, TensorData, activation};

/// Added to scores of what is not there.
pub(super) const ABSENT: f32 = -1e9;

/// The decoder's parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoder {
    /// A vector for the start, for every token, and for every kind of what is copied.
    embeddings: ParamId,
    lstm: Lstm,
    /// From the mean state of the words to the first output.
    initial: ParamId,
    initial_bias: ParamId,
    attention: ParamId,
    combine: ParamId,
    combine_bias: ParamId,
    tokens: ParamId,
    token_bias: ParamId,
    copy: ParamId,
    kinds: ParamId,
    config: Seq2SeqConfig,
}

/// The utterances of a batch as the decoder sees them.
pub(super) struct Memory {
    /// States of words, `[n, length, encoded]`.
    states: Tensor<3>,
    /// What the decoder's output is compared with to attend to a word, `[n, length, hidden]`.
    keys: Tensor<3>,
    /// Minus a lot on padding, `[n, length, 1]`.
    padding: Tensor<3>,
    /// `None` when no utterance has anything to copy.
    copies: Option<CopyKeys>,
}

struct CopyKeys {
    /// What the decoder's output is compared with to copy something, `[n, hidden, copies]`.
    keys: Tensor<3>,
    /// Minus a lot where an utterance has less to copy than others, `[n, 1, copies]`.
    padding: Tensor<3>,
}

/// The state of a decoder, one row for each sequence that is written.
#[derive(Clone)]
pub(super) struct Rows {
    /// Output of the LSTM.
    pub(super) output: Tensor<2>,
    /// Memory of the LSTM.
    pub(super) memory: Tensor<2>,
    /// What is fed into the next step: the output together with what it attended to.
    pub(super) fed: Tensor<2>,
}

/// The decoder's parameters as tensors, for one pass.
pub(super) struct Stepper {
    cell: Cell,
    combine: Tensor<2>,
    combine_bias: Tensor<2>,
}

impl Decoder {
    pub(super) fn new(
        build: &mut HeadBuilder<'_, '_>,
        config: Seq2SeqConfig,
        encoded: usize,
    ) -> Result<Self, WeightsError> {
        let Seq2SeqConfig { embedding, hidden, n_tokens, n_kinds, .. } = config;
        Ok(Self {
            embeddings: build.matrix("decoder.embeddings.weight", [1 + n_tokens + n_kinds, embedding])?,
            lstm: Lstm::new(build, "decoder.lstm", [embedding, 2 * hidden, hidden])?,
            initial: build.matrix("decoder.initial.weight", [encoded, hidden])?,
            initial_bias: build.vector("decoder.initial.bias", vec![0.0; hidden])?,
            attention: build.matrix("decoder.attention.weight", [encoded, hidden])?,
            combine: build.matrix("decoder.combine.weight", [hidden + encoded, hidden])?,
            combine_bias: build.vector("decoder.combine.bias", vec![0.0; hidden])?,
            tokens: build.matrix("decoder.tokens.weight", [hidden, n_tokens])?,
            token_bias: build.vector("decoder.tokens.bias", vec![0.0; n_tokens])?,
            copy: build.matrix("decoder.copy.weight", [encoded, hidden])?,
            kinds: build.matrix("decoder.kinds.weight", [n_kinds, hidden])?,
            config,
        })
    }

    /// The utterances of a batch, from the states of their words: `[n * length, encoded]`, each padded to `length` words.
    pub(super) fn memory(
        &self,
        view: &View,
        words: Tensor<2>,
        lengths: &[usize],
        copies: &[&[Copy]],
    ) -> Memory {
        let (n, length, encoded) = (lengths.len(), words.dims()[0] / lengths.len(), words.dims()[1]);
        let keys = words.clone().matmul(view.matrix(self.attention)).reshape([n, length, self.config.hidden]);
        let states = words.reshape([n, length, encoded]);
        let is_padding = |item: usize, at: usize| if at < lengths[item] { 0.0 } else { ABSENT };
        let padding = fill([n, length, 1], |item, at, _| is_padding(item, at));
        let most = copies.iter().map(|copies| copies.len()).max().unwrap_or(0);
        let copies = (most > 0).then(|| self.copy_keys(view, &states, copies, most));
        Memory { states, keys, padding, copies }
    }

    /// The sum of the mean state of the words of each copy and of the vector of its kind.
    fn copy_keys(&self, view: &View, states: &Tensor<3>, copies: &[&[Copy]], most: usize) -> CopyKeys {
        let [n, length, encoded] = states.dims();
        let share = |item: usize, copy: usize, word: usize| match copies[item].get(copy) {
            Some(&Copy { span: (start, end), .. }) if (start as usize..end as usize).contains(&word) => {
                1.0 / (end - start) as f32
            }
            _ => 0.0,
        };
        // [n, most, encoded]
        let means = fill([n, most, length], share).matmul(states.clone());
        let spans = means.reshape([n * most, encoded]).matmul(view.matrix(self.copy));
        let kind = |item: usize, at: usize| copies[item].get(at).map_or(0, |copy| i64::from(copy.kind));
        let kinds = (0..n).flat_map(|item| (0..most).map(move |at| (item, at)));
        let kinds = kinds.map(|(item, at)| kind(item, at)).collect();
        let keys = spans + view.matrix(self.kinds).select(0, indices(kinds));
        let is_padding = |item: usize, _, at: usize| if at < copies[item].len() { 0.0 } else { ABSENT };
        CopyKeys {
            keys: keys.reshape([n, most, self.config.hidden]).swap_dims(1, 2),
            padding: fill([n, 1, most], is_padding),
        }
    }

    /// The state before the first step.
    pub(super) fn start(&self, view: &View, memory: &Memory, lengths: &[usize]) -> Rows {
        let [n, length, encoded] = memory.states.dims();
        let share =
            |item: usize, _, at: usize| if at < lengths[item] { 1.0 / lengths[item] as f32 } else { 0.0 };
        let mean = fill([n, 1, length], share).matmul(memory.states.clone()).reshape([n, encoded]);
        let output =
            (mean.matmul(view.matrix(self.initial)) + view.vector(self.initial_bias).unsqueeze()).tanh();
        let zeros = Tensor::zeros([n, self.config.hidden], &output.device());
        Rows { output, memory: zeros.clone(), fed: zeros }
    }

    pub(super) fn stepper(&self, view: &View) -> Stepper {
        Stepper {
            cell: self.lstm.cell(view),
            combine: view.matrix(self.combine),
            combine_bias: view.vector(self.combine_bias).unsqueeze(),
        }
    }

    /// What the tokens before each step add to the gates.
    pub(super) fn inputs(
        &self,
        view: &View,
        previous: &[Previous],
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let row = |previous: &Previous| match previous {
            Previous::Nothing => 0,
            Previous::Token(token) => 1 + i64::from(*token),
            Previous::Copied(kind) => (1 + self.config.n_tokens) as i64 + i64::from(*kind),
        };
        let rows = indices(previous.iter().map(row).collect());
        let vectors = Dropout::apply(dropout, view.matrix(self.embeddings).select(0, rows));
        self.lstm.project(view, vectors)
    }

    /// The log-probabilities of all tokens and then of all copies, `[n * steps, tokens + copies]`, from the states that
    /// are fed on: `[n * steps, hidden]`, utterance after utterance.
    pub(super) fn log_probabilities(&self, view: &View, memory: &Memory, fed: Tensor<2>) -> Tensor<2> {
        let [rows, hidden] = fed.dims();
        let n = memory.states.dims()[0];
        let tokens = fed.clone().matmul(view.matrix(self.tokens)) + view.vector(self.token_bias).unsqueeze();
        let scores = match &memory.copies {
            None => tokens,
            Some(CopyKeys { keys, padding }) => {
                let most = keys.dims()[2];
                let copies = fed.reshape([n, rows / n, hidden]).matmul(keys.clone()) + padding.clone();
                Tensor::cat(vec![tokens, copies.reshape([rows, most])], 1)
            }
        };
        activation::log_softmax(scores, 1)
    }
}

impl Stepper {
    /// One step of all sequences: the LSTM, then attention to the words.
    pub(super) fn step(
        &self,
        memory: &Memory,
        projected: Tensor<2>,
        rows: Rows,
        dropout: &mut Option<Dropout>,
    ) -> Rows {
        let [n, _, encoded] = memory.states.dims();
        let recurrent = Tensor::cat(vec![rows.fed, rows.output], 1);
        let (output, cell) = self.cell.step(projected, recurrent, rows.memory);
        // [n, length, 1]
        let scores = memory.keys.clone().matmul(output.clone().unsqueeze_dim(2)) + memory.padding.clone();
        let weights = activation::softmax(scores, 1);
        let context = weights.swap_dims(1, 2).matmul(memory.states.clone()).reshape([n, encoded]);
        let both = Tensor::cat(vec![output.clone(), context], 1);
        let fed = (both.matmul(self.combine.clone()) + self.combine_bias.clone()).tanh();
        Rows { output, memory: cell, fed: Dropout::apply(dropout, fed) }
    }
}

impl Memory {
    /// The memory of one utterance, once for each of `n` sequences.
    pub(super) fn repeated(&self, n: usize) -> Self {
        let repeat = |tensor: &Tensor<3>| tensor.clone().repeat_dim(0, n);
        Self {
            states: repeat(&self.states),
            keys: repeat(&self.keys),
            padding: repeat(&self.padding),
            copies: self
                .copies
                .as_ref()
                .map(|CopyKeys { keys, padding }| CopyKeys { keys: repeat(keys), padding: repeat(padding) }),
        }
    }
}

/// A tensor from a function of its indices.
pub(super) fn fill(shape: [usize; 3], value: impl Fn(usize, usize, usize) -> f32) -> Tensor<3> {
    let [a, b, c] = shape;
    let mut values = Vec::with_capacity(a * b * c);
    for i in 0..a {
        for j in 0..b {
            values.extend((0..c).map(|k| value(i, j, k)));
        }
    }
    Tensor::from_data(TensorData::new(values, shape), &device())
}
