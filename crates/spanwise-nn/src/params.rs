//! Named parameters, their gradients, and the optimizer AdamW.

use crate::device::device;
use burn::tensor::{Shape, Tensor, TensorData};
use rayon::prelude::*;
use spanwise_core::Random;

/// The index of a parameter in [`Params`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParamId(usize);

/// The part of the model that a parameter belongs to, which decides its learning rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// Part of the encoder.
    Encoder,
    /// Part of the span scorer or of a decoder.
    Head,
    /// A table that scores are read from directly.
    Table,
}

/// One parameter.
#[derive(Debug)]
struct Param {
    name: String,
    shape: Vec<usize>,
    group: Group,
    /// Whether weight decay applies: matrices, but not biases, norms and tables.
    decays: bool,
    trained: bool,
    values: Tensor<1>,
}

/// All parameters of a network, in the order in which they were added.
///
/// ```
/// use spanwise_nn::{AdamW, AdamWConfig, Group, Params, Rates};
///
/// let mut params = Params::default();
/// let weight = params.add("weight", &[1, 2], Group::Head, vec![1.0, -1.0]);
/// let mut adam = AdamW::new(AdamWConfig { weight_decay: 0.0, ..AdamWConfig::default() }, &params);
/// // The gradient of the sum of squares. The first step of Adam moves every value by the learning rate.
/// let gradients = vec![Some(vec![2.0, -2.0])];
/// adam.step(&mut params, &gradients, Rates { encoder: 0.0, head: 0.1, table: 0.0 });
/// let moved = params.values(weight);
/// assert!((moved[0] - 0.9).abs() < 1e-6 && (moved[1] + 0.9).abs() < 1e-6);
/// ```
#[derive(Debug, Default)]
pub struct Params {
    list: Vec<Param>,
}

/// One gradient per parameter, `None` where it is not trained or the loss does not depend on it.
pub type Gradients = Vec<Option<Vec<f32>>>;

fn tensor(values: Vec<f32>) -> Tensor<1> {
    let shape = [values.len()];
    Tensor::from_data(TensorData::new(values, shape), &device())
}

fn numbers(tensor: Tensor<1>) -> Vec<f32> {
    // The backend computes in f32 throughout.
    tensor.into_data().try_into_vec::<f32>().unwrap_or_default()
}

impl Params {
    /// Adds a parameter.
    ///
    /// # Panics
    /// When the values do not fill the shape.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        shape: &[usize],
        group: Group,
        values: Vec<f32>,
    ) -> ParamId {
        let name = name.into();
        assert_eq!(
            shape.iter().product::<usize>(),
            values.len(),
            "the values of {name} do not fill {shape:?}"
        );
        let decays = shape.len() > 1 && group != Group::Table;
        let (shape, values) = (shape.to_vec(), tensor(values));
        self.list.push(Param { name, shape, group, decays, trained: true, values });
        ParamId(self.list.len() - 1)
    }

    /// Adds a matrix drawn from a normal distribution with mean zero.
    pub fn add_normal(
        &mut self,
        name: impl Into<String>,
        shape: [usize; 2],
        group: Group,
        deviation: f32,
        random: &mut Random,
    ) -> ParamId {
        let values = (0..shape[0] * shape[1]).map(|_| deviation * random.normal()).collect();
        self.add(name, &shape, group, values)
    }

    /// Makes all parameters that are there part of one group.
    pub(crate) fn assign_all(&mut self, group: Group) {
        self.list.iter_mut().for_each(|param| param.group = group);
    }

    /// Takes a parameter out of training.
    pub fn freeze(&mut self, id: ParamId) {
        self.list[id.0].trained = false;
    }

    /// A copy of the values. Cost: linear in their number.
    #[must_use]
    pub fn values(&self, id: ParamId) -> Vec<f32> {
        numbers(self.list[id.0].values.clone())
    }

    /// Replaces the values of a parameter.
    ///
    /// # Panics
    /// When the number of values changes.
    pub fn set(&mut self, id: ParamId, values: Vec<f32>) {
        let param = &mut self.list[id.0];
        assert_eq!(param.shape.iter().product::<usize>(), values.len(), "{} changes its size", param.name);
        param.values = tensor(values);
    }

    /// Keeps only some rows of a matrix, in the order of `rows`.
    ///
    /// # Panics
    /// When a row is not there.
    pub(crate) fn keep_rows(&mut self, id: ParamId, rows: &[u32]) {
        let values = self.values(id);
        let param = &mut self.list[id.0];
        let width = param.shape[1];
        let kept = rows.iter().flat_map(|&row| &values[row as usize * width..][..width]);
        param.values = tensor(kept.copied().collect());
        param.shape[0] = rows.len();
    }

    /// All parameters by name, with shape and a copy of the values.
    pub fn named(&self) -> impl Iterator<Item = (&str, &[usize], Vec<f32>)> {
        self.list
            .iter()
            .map(|param| (param.name.as_str(), param.shape.as_slice(), numbers(param.values.clone())))
    }

    /// Names and shapes, in order, and whether each is trained.
    pub fn shapes(&self) -> impl Iterator<Item = (ParamId, &str, &[usize], bool)> {
        self.list
            .iter()
            .enumerate()
            .map(|(at, param)| (ParamId(at), param.name.as_str(), param.shape.as_slice(), param.trained))
    }

    /// Whether all values that are trained are finite. Cost: one copy of them.
    #[must_use]
    pub fn are_finite(&self) -> bool {
        self.list.iter().filter(|param| param.trained).all(|param| {
            let data = param.values.clone().into_data();
            let all_finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
            data.as_slice::<f32>().is_ok_and(all_finite)
        })
    }

    /// The number of trainable parameters, counting every value.
    #[must_use]
    pub fn n_trained(&self) -> usize {
        let trained = self.list.iter().filter(|param| param.trained);
        trained.map(|param| param.shape.iter().product::<usize>()).sum()
    }

    /// A matrix, without a copy.
    pub(crate) fn matrix(&self, id: ParamId) -> Tensor<2> {
        let Param { values, shape, .. } = &self.list[id.0];
        values.clone().reshape(Shape::from([shape[0], shape[1]]))
    }

    /// Tensors for one pass; with gradients for what is trained, if wanted.
    pub(crate) fn view(&self, with_gradients: bool) -> View {
        let tensors = self.list.iter().map(|param| {
            let values = param.values.clone();
            // Tables are read by charts, no tensor depends on them.
            let tracked = with_gradients && param.trained && param.group != Group::Table;
            let values = if tracked { values.autodiff().require_grad() } else { values };
            (values, param.shape.clone())
        });
        View { tensors: tensors.collect() }
    }

    /// `None` for every parameter.
    #[must_use]
    pub fn no_gradients(&self) -> Gradients {
        vec![None; self.list.len()]
    }
}

/// The parameters as tensors, for one forward pass.
pub(crate) struct View {
    tensors: Vec<(Tensor<1>, Vec<usize>)>,
}

impl View {
    pub(crate) fn vector(&self, id: ParamId) -> Tensor<1> {
        self.tensors[id.0].0.clone()
    }

    pub(crate) fn matrix(&self, id: ParamId) -> Tensor<2> {
        let (values, shape) = &self.tensors[id.0];
        values.clone().reshape(Shape::from([shape[0], shape[1]]))
    }

    /// Takes the gradients out after a backward pass.
    pub(crate) fn gradients(&self, mut gradients: burn::tensor::Gradients) -> Gradients {
        self.tensors.iter().map(|(values, _)| values.grad_remove(&mut gradients).map(numbers)).collect()
    }
}

/// Adds up gradients of shards, in their order.
#[must_use]
pub fn sum(shards: Vec<Gradients>) -> Gradients {
    let mut shards = shards.into_iter();
    let Some(mut total) = shards.next() else { return Vec::new() };
    for shard in shards {
        for (mine, theirs) in total.iter_mut().zip(shard) {
            match (mine.as_mut(), theirs) {
                (Some(mine), Some(theirs)) => {
                    mine.par_chunks_mut(CHUNK).zip(theirs.par_chunks(CHUNK)).for_each(|(a, b)| {
                        a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                    });
                }
                (None, theirs) => *mine = theirs,
                (Some(_), None) => {}
            }
        }
    }
    total
}

/// Values that one task works on; fixed, so that sums do not depend on the number of threads.
const CHUNK: usize = 1 << 15;

/// Settings of the optimizer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AdamWConfig {
    /// Decay of the first moment.
    pub beta1: f32,
    /// Decay of the second moment.
    pub beta2: f32,
    /// Keeps the denominator away from zero.
    pub epsilon: f32,
    /// Weight decay, times the learning rate.
    pub weight_decay: f32,
    /// Largest norm of the gradient.
    pub clip: f32,
}

impl Default for AdamWConfig {
    fn default() -> Self {
        Self { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, clip: 5.0 }
    }
}

/// Learning rates of one step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rates {
    /// For the encoder.
    pub encoder: f32,
    /// For the span scorer.
    pub head: f32,
    /// For tables.
    pub table: f32,
}

impl Rates {
    fn of(&self, group: Group) -> f32 {
        match group {
            Group::Encoder => self.encoder,
            Group::Head => self.head,
            Group::Table => self.table,
        }
    }
}

/// The optimizer AdamW (Adam with decoupled weight decay), with clipping by the norm of the gradient.
///
/// Moments, bias correction, decay and update are computed in one pass over the values. [`Params`] has an example.
#[derive(Clone, PartialEq, Debug)]
pub struct AdamW {
    config: AdamWConfig,
    step: u64,
    /// First and second moments, empty for what is not trained or never had a gradient.
    moments: Vec<(Vec<f32>, Vec<f32>)>,
}

impl AdamW {
    /// An optimizer before its first step.
    #[must_use]
    pub fn new(config: AdamWConfig, params: &Params) -> Self {
        Self { config, step: 0, moments: vec![(Vec::new(), Vec::new()); params.list.len()] }
    }

    /// Number of steps taken.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// The state to store in a checkpoint: for each parameter with moments its index, and the two moments.
    pub fn state(&self) -> impl Iterator<Item = (usize, &[f32], &[f32])> {
        let kept = self.moments.iter().enumerate().filter(|(_, (first, _))| !first.is_empty());
        kept.map(|(at, (first, second))| (at, first.as_slice(), second.as_slice()))
    }

    /// Restores what [`AdamW::state`] and [`AdamW::steps`] returned.
    pub fn restore(&mut self, step: u64, state: impl IntoIterator<Item = (usize, Vec<f32>, Vec<f32>)>) {
        self.step = step;
        self.moments.iter_mut().for_each(|moments| *moments = (Vec::new(), Vec::new()));
        for (at, first, second) in state {
            if let Some(moments) = self.moments.get_mut(at) {
                *moments = (first, second);
            }
        }
    }

    /// Updates the parameters. Returns the norm of the gradient before clipping; if it is not finite, nothing is
    /// updated. Cost: two passes over the trainable parameters, in parallel.
    pub fn step(&mut self, params: &mut Params, gradients: &Gradients, rates: Rates) -> f32 {
        let square = |chunk: &[f32]| chunk.iter().map(|&g| f64::from(g * g)).sum::<f64>();
        let squares: f64 = gradients
            .iter()
            .flatten()
            .map(|gradient| gradient.par_chunks(CHUNK).map(square).collect::<Vec<_>>().iter().sum::<f64>())
            .sum();
        let norm = squares.sqrt() as f32;
        if !norm.is_finite() {
            return norm;
        }
        self.step += 1;
        let AdamWConfig { beta1, beta2, epsilon, weight_decay, clip } = self.config;
        let scale = if norm > clip { clip / norm } else { 1.0 };
        let correct1 = (1.0 - f64::from(beta1).powf(self.step as f64)) as f32;
        let correct2 = (1.0 - f64::from(beta2).powf(self.step as f64)).sqrt() as f32;
        for ((param, gradient), (first, second)) in
            params.list.iter_mut().zip(gradients).zip(&mut self.moments)
        {
            let Some(gradient) = gradient.as_ref().filter(|_| param.trained) else { continue };
            let rate = rates.of(param.group);
            // One division for each value instead of three.
            let (pace, unbias) = (rate / correct1, 1.0 / correct2);
            let keep = if param.decays { 1.0 - rate * weight_decay } else { 1.0 };
            first.resize(gradient.len(), 0.0);
            second.resize(gradient.len(), 0.0);
            let nothing = Tensor::empty([0], &device());
            let mut data = std::mem::replace(&mut param.values, nothing).into_data();
            if let Ok(values) = data.as_mut_slice::<f32>() {
                values
                    .par_chunks_mut(CHUNK)
                    .zip(gradient.par_chunks(CHUNK))
                    .zip(first.par_chunks_mut(CHUNK).zip(second.par_chunks_mut(CHUNK)))
                    .for_each(|((values, gradient), (first, second))| {
                        for (((value, g), m), v) in values.iter_mut().zip(gradient).zip(first).zip(second) {
                            let g = g * scale;
                            *m = beta1 * *m + (1.0 - beta1) * g;
                            *v = beta2 * *v + (1.0 - beta2) * g * g;
                            *value = *value * keep - pace * *m / (v.sqrt() * unbias + epsilon);
                        }
                    });
            }
            param.values = Tensor::from_data(data, &device());
        }
        norm
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn one_step_equals_the_formula() {
        // Written out in double precision: after one step the corrected moments are g and g * g.
        let mut params = Params::default();
        let matrix = params.add("w", &[1, 2], Group::Head, vec![0.5, -0.25]);
        let bias = params.add("b", &[1], Group::Table, vec![1.0]);
        let mut adam = AdamW::new(AdamWConfig { clip: 1e9, ..AdamWConfig::default() }, &params);
        let rates = Rates { encoder: 0.0, head: 0.1, table: 0.2 };
        let norm = adam.step(&mut params, &vec![Some(vec![3.0, -4.0]), Some(vec![0.0])], rates);
        assert!((norm - 5.0).abs() < 1e-6);
        let expected = [0.5 * (1.0 - 0.001) - 0.1, -0.25 * (1.0 - 0.001) + 0.1];
        for (found, expected) in params.values(matrix).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        assert_eq!(params.values(bias), [1.0]);
    }

    #[test]
    fn moments_follow_the_recursion_over_many_steps_and_clipping_scales_the_gradient() {
        let mut params = Params::default();
        let id = params.add("w", &[2, 1], Group::Encoder, vec![1.0, 1.0]);
        let config = AdamWConfig { clip: 0.5, weight_decay: 0.1, ..AdamWConfig::default() };
        let mut adam = AdamW::new(config, &params);
        let (mut w, mut m, mut v) = ([1.0f64; 2], [0.0f64; 2], [0.0f64; 2]);
        for step in 1..=20 {
            let g = [f64::from(step).sin(), f64::from(step).cos()];
            let gradient = vec![Some(vec![g[0] as f32, g[1] as f32])];
            adam.step(&mut params, &gradient, Rates { encoder: 0.01, head: 0.0, table: 0.0 });
            for at in 0..2 {
                let g = g[at] * 0.5;
                m[at] = 0.9 * m[at] + 0.1 * g;
                v[at] = 0.999 * v[at] + 0.001 * g * g;
                let (m, v) = (m[at] / (1.0 - 0.9f64.powi(step)), v[at] / (1.0 - 0.999f64.powi(step)));
                w[at] = w[at] * (1.0 - 0.001) - 0.01 * m / (v.sqrt() + 1e-8);
            }
        }
        for (found, expected) in params.values(id).iter().zip(w) {
            assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
        }
    }

    #[test]
    fn a_gradient_that_is_not_a_number_moves_nothing() {
        let mut params = Params::default();
        let id = params.add("w", &[1], Group::Head, vec![1.0]);
        let mut adam = AdamW::new(AdamWConfig::default(), &params);
        let rates = Rates { encoder: 1.0, head: 1.0, table: 1.0 };
        assert!(adam.step(&mut params, &vec![Some(vec![f32::NAN])], rates).is_nan());
        assert_eq!((params.values(id), adam.steps()), (vec![1.0], 0));
    }

    #[test]
    fn shards_add_up_and_missing_gradients_count_as_zero() {
        let total = sum(vec![
            vec![Some(vec![1.0, 2.0]), None, None],
            vec![Some(vec![0.5, 0.5]), Some(vec![3.0]), None],
        ]);
        assert_eq!(total, [Some(vec![1.5, 2.5]), Some(vec![3.0]), None]);
    }
}
