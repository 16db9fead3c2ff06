//! Long short-term memory: a cell, and a bidirectional layer over the words of a batch.

use crate::layers::{HeadBuilder, indices};
use crate::params::{ParamId, View};
use crate::pretrained::WeightsError;
use burn::tensor::{Tensor, activation};

/// The parameters of an LSTM. The columns of all three are the gates: input, forget, output, and the new content.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lstm {
    input: ParamId,
    recurrent: ParamId,
    bias: ParamId,
    hidden: usize,
}

/// An LSTM's parameters as tensors, for one pass.
pub(super) struct Cell {
    recurrent: Tensor<2>,
    hidden: usize,
}

impl Lstm {
    /// Adds the parameters of an LSTM whose recurrent input has `recurrent` columns: its own output, and what is fed
    /// back with it.
    pub(super) fn new(
        build: &mut HeadBuilder<'_, '_>,
        name: &str,
        [input, recurrent, hidden]: [usize; 3],
    ) -> Result<Self, WeightsError> {
        // An open forget gate lets gradients through before anything is learned.
        let bias = (0..4 * hidden).map(|at| if at / hidden == 1 { 1.0 } else { 0.0 }).collect();
        Ok(Self {
            input: build.matrix(&format!("{name}.input.weight"), [input, 4 * hidden])?,
            recurrent: build.matrix(&format!("{name}.recurrent.weight"), [recurrent, 4 * hidden])?,
            bias: build.vector(&format!("{name}.bias"), bias)?,
            hidden,
        })
    }

    /// What inputs add to the gates, one row each: the part that needs no state.
    pub(super) fn project(self, view: &View, inputs: Tensor<2>) -> Tensor<2> {
        inputs.matmul(view.matrix(self.input)) + view.vector(self.bias).unsqueeze()
    }

    pub(super) fn cell(self, view: &View) -> Cell {
        Cell { recurrent: view.matrix(self.recurrent), hidden: self.hidden }
    }
}

impl Cell {
    /// One step of a batch: from the projected inputs, the recurrent inputs and the memory to the output and the new
    /// memory.
    pub(super) fn step(
        &self,
        projected: Tensor<2>,
        recurrent: Tensor<2>,
        memory: Tensor<2>,
    ) -> (Tensor<2>, Tensor<2>) {
        let (n, hidden) = (projected.dims()[0], self.hidden);
        let gates = projected + recurrent.matmul(self.recurrent.clone());
        let open = activation::sigmoid(gates.clone().slice([0..n, 0..3 * hidden]));
        let gate = |at: usize| open.clone().slice([0..n, at * hidden..(at + 1) * hidden]);
        let content = gates.slice([0..n, 3 * hidden..4 * hidden]).tanh();
        let memory = gate(1) * memory + gate(0) * content;
        (gate(2) * memory.clone().tanh(), memory)
    }
}

/// Two LSTMs that read the words from the left and from the right.
#[derive(Clone, Copy, Debug)]
pub(super) struct BiLstm {
    directions: [Lstm; 2],
}

impl BiLstm {
    /// Adds the parameters; the two directions share the columns of the output.
    pub(super) fn new(
        build: &mut HeadBuilder<'_, '_>,
        input: usize,
        hidden: usize,
    ) -> Result<Self, WeightsError> {
        let half = hidden / 2;
        let mut lstm = |name: &str| Lstm::new(build, &format!("encoder.{name}"), [input, half, half]);
        Ok(Self { directions: [lstm("forward")?, lstm("backward")?] })
    }

    /// States of words, from their vectors; both have one row per word, utterance after utterance, each padded to
    /// `length` words.
    pub(super) fn forward(&self, view: &View, x: &Tensor<2>, lengths: &[usize], length: usize) -> Tensor<2> {
        let n = lengths.len();
        let states = self.directions.iter().zip([false, true]).map(|(lstm, is_backward)| {
            // The word that is read at a time; an utterance that is over is read from its start, which nothing uses.
            let word = |item: usize, time: usize| match lengths[item].checked_sub(time + 1) {
                Some(rest) if is_backward => rest,
                Some(_) => time,
                None => 0,
            };
            let by_time = (0..length).flat_map(|time| (0..n).map(move |item| (item, time)));
            let read = by_time.map(|(item, time)| (item * length + word(item, time)) as i64).collect();
            let projected = lstm.project(view, x.clone().select(0, indices(read)));
            let outputs = lstm.cell(view).run(projected, n, length);
            // Reading is its own inverse: the state of a word is that of the time at which it is read.
            let by_word = (0..n).flat_map(|item| (0..length).map(move |at| (item, at)));
            let back = by_word.map(|(item, at)| (word(item, at) * n + item) as i64).collect();
            outputs.select(0, indices(back))
        });
        Tensor::cat(states.collect(), 1)
    }
}

impl Cell {
    /// The outputs for projected inputs that are sorted by time, from a state of zeros.
    fn run(&self, projected: Tensor<2>, n: usize, length: usize) -> Tensor<2> {
        let zeros = Tensor::zeros([n, self.hidden], &projected.device());
        let (mut output, mut memory) = (zeros.clone(), zeros);
        let mut outputs = Vec::with_capacity(length);
        for time in 0..length {
            let now = projected.clone().slice([time * n..(time + 1) * n, 0..4 * self.hidden]);
            (output, memory) = self.step(now, output, memory);
            outputs.push(output.clone());
        }
        Tensor::cat(outputs, 0)
    }
}
