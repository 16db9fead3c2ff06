//! The network in plain loops and double precision: a bidirectional LSTM, attention with input feeding, copying.

use super::super::{Copy, Previous, Seq2Seq, Step};
use std::collections::HashMap;

pub(super) struct Network {
    params: HashMap<String, (Vec<usize>, Vec<f64>)>,
    hidden: usize,
    n_tokens: usize,
}

type Vector = Vec<f64>;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn softmax(scores: &[f64]) -> Vector {
    let sum: f64 = scores.iter().map(|score| score.exp()).sum();
    scores.iter().map(|score| score.exp() / sum).collect()
}

fn add(a: &[f64], b: &[f64]) -> Vector {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn mean(rows: &[Vector]) -> Vector {
    (0..rows[0].len()).map(|at| rows.iter().map(|row| row[at]).sum::<f64>() / rows.len() as f64).collect()
}

impl Network {
    pub(super) fn new(network: &Seq2Seq) -> Self {
        let double = |values: Vec<f32>| values.into_iter().map(f64::from).collect();
        let named = network.params.named();
        let params =
            named.map(|(name, shape, values)| (name.to_owned(), (shape.to_vec(), double(values)))).collect();
        Self { params, hidden: network.config().hidden, n_tokens: network.config().n_tokens }
    }

    fn vector(&self, name: &str) -> &[f64] {
        &self.params[name].1
    }

    fn row(&self, name: &str, at: usize) -> &[f64] {
        let (shape, values) = &self.params[name];
        &values[at * shape[1]..(at + 1) * shape[1]]
    }

    /// A row vector times a matrix.
    fn times(&self, x: &[f64], name: &str) -> Vector {
        assert_eq!(x.len(), self.params[name].0[0], "{name}");
        let columns = self.params[name].0[1];
        (0..columns).map(|to| (0..x.len()).map(|from| x[from] * self.row(name, from)[to]).sum()).collect()
    }

    /// The gates are in the order input, forget, output, content.
    fn lstm(&self, name: &str, input: &[f64], recurrent: &[f64], memory: &[f64]) -> (Vector, Vector) {
        let gates = add(
            &add(&self.times(input, &format!("{name}.input.weight")), self.vector(&format!("{name}.bias"))),
            &self.times(recurrent, &format!("{name}.recurrent.weight")),
        );
        let n = memory.len();
        let memory: Vector = (0..n)
            .map(|at| sigmoid(gates[n + at]) * memory[at] + sigmoid(gates[at]) * gates[3 * n + at].tanh())
            .collect();
        let output = (0..n).map(|at| sigmoid(gates[2 * n + at]) * memory[at].tanh()).collect();
        (output, memory)
    }

    fn read<'a>(&self, name: &str, words: impl Iterator<Item = &'a Vector>) -> Vec<Vector> {
        let zeros = vec![0.0; self.hidden / 2];
        let (mut output, mut memory, mut outputs) = (zeros.clone(), zeros, Vec::new());
        for word in words {
            (output, memory) = self.lstm(name, word, &output, &memory);
            outputs.push(output.clone());
        }
        outputs
    }

    /// For each step, the log-probabilities of all tokens and then of all copies.
    pub(super) fn log_probabilities(&self, words: &[f32], copies: &[Copy], steps: &[Step]) -> Vec<Vector> {
        let width = self.params["encoder.forward.input.weight"].0[0];
        let words: Vec<Vector> =
            words.chunks_exact(width).map(|word| word.iter().map(|&x| f64::from(x)).collect()).collect();
        let forward = self.read("encoder.forward", words.iter());
        let mut backward = self.read("encoder.backward", words.iter().rev());
        backward.reverse();
        let states: Vec<Vector> = forward.into_iter().zip(backward).map(|(a, b)| [a, b].concat()).collect();
        let initial =
            add(&self.times(&mean(&states), "decoder.initial.weight"), self.vector("decoder.initial.bias"));
        let mut output: Vector = initial.iter().map(|x| x.tanh()).collect();
        let (mut memory, mut fed) = (vec![0.0; self.hidden], vec![0.0; self.hidden]);
        let mut rows = Vec::new();
        for step in steps {
            let input = self.row(
                "decoder.embeddings.weight",
                match step.previous {
                    Previous::Nothing => 0,
                    Previous::Token(token) => 1 + token as usize,
                    Previous::Copied(kind) => 1 + self.n_tokens + kind as usize,
                },
            );
            let recurrent = [fed, output].concat();
            (output, memory) = self.lstm("decoder.lstm", input, &recurrent, &memory);
            let score = |state: &Vector| dot(&self.times(state, "decoder.attention.weight"), &output);
            let weights = softmax(&states.iter().map(score).collect::<Vec<_>>());
            let mut context = vec![0.0; self.hidden];
            for (weight, state) in weights.iter().zip(&states) {
                context = add(&context, &state.iter().map(|x| weight * x).collect::<Vec<_>>());
            }
            let both = [output.clone(), context].concat();
            let combined =
                add(&self.times(&both, "decoder.combine.weight"), self.vector("decoder.combine.bias"));
            fed = combined.iter().map(|x| x.tanh()).collect();
            let mut scores =
                add(&self.times(&fed, "decoder.tokens.weight"), self.vector("decoder.tokens.bias"));
            for Copy { span: (start, end), kind } in copies {
                let span = mean(&states[*start as usize..*end as usize]);
                let key = add(
                    &self.times(&span, "decoder.copy.weight"),
                    self.row("decoder.kinds.weight", *kind as usize),
                );
                scores.push(dot(&key, &fed));
            }
            rows.push(softmax(&scores).iter().map(|p| p.ln()).collect());
        }
        rows
    }
}
