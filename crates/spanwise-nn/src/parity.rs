//! Compares encoders with the reference implementation, whose values `tools/reference_activations.py` recorded.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::layers::{Padded, Source};
use crate::params::{Gradients, Params, View};
use crate::pretrained::Pretrained;
use crate::tokenizer::Pieces;
use crate::transformer::Transformer;
use crate::{HeadConfig, Network, device::device};
use burn::tensor::{Tensor, TensorData};
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest difference that is let pass.
const TOLERANCE: f64 = 1e-4;

#[derive(Deserialize)]
struct Reference {
    dims: usize,
    inputs: Vec<Input>,
    batch: Batch,
    layers: Layers,
    gradient: Option<Gradient>,
}

#[derive(Deserialize)]
struct Input {
    ids: Vec<u32>,
    positions: Vec<usize>,
    last_hidden: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Batch {
    ids: Vec<Vec<u32>>,
    mask: Vec<Vec<usize>>,
    last_hidden: Vec<Vec<Vec<f64>>>,
}

#[derive(Deserialize)]
struct Layers {
    positions: Vec<usize>,
    hidden: Vec<Vec<Vec<f64>>>,
}

#[derive(Deserialize)]
struct Gradient {
    ids: Vec<u32>,
    weights: Vec<Vec<f32>>,
    loss: f64,
    parameters: Vec<Parameter>,
}

#[derive(Deserialize)]
struct Parameter {
    name: String,
    rows: Option<Vec<usize>>,
    /// A list of numbers for a vector, of lists for a matrix.
    values: Vec<Value>,
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn reference(path: &Path) -> Reference {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn tiny() -> impl Iterator<Item = (&'static str, PathBuf, Reference)> {
    let of = |name| (name, data().join(name), reference(&data().join(name).join("reference.json")));
    ["tiny-bert", "tiny-mpnet"].into_iter().map(of)
}

fn pieces(ids: &[u32]) -> Pieces {
    Pieces { ids: ids.to_vec(), ..Pieces::default() }
}

/// Keeps the largest difference.
#[derive(Default)]
struct Worst(f64);

impl Worst {
    fn compare(&mut self, found: &[f32], expected: &[f64]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.is_finite());
            self.0 = self.0.max((f64::from(*found) - expected).abs());
        }
    }

    /// Compares rows of a sequence, each cut to its first components.
    fn compare_rows(
        &mut self,
        found: &[f32],
        width: usize,
        dims: usize,
        at: &[usize],
        expected: &[Vec<f64>],
    ) {
        assert_eq!(at.len(), expected.len());
        for (at, expected) in at.iter().zip(expected) {
            assert_eq!(expected.len(), dims);
            self.compare(&found[at * width..at * width + dims], expected);
        }
    }

    fn report(&self, what: &str) {
        println!("{what}: largest difference {:.1e}", self.0);
        assert!(self.0 <= TOLERANCE, "{what}: the largest difference is {:e}", self.0);
    }
}

/// An encoder with nothing frozen.
fn transformer(dir: &Path) -> (Params, Transformer) {
    let mut encoder = Pretrained::open(dir).unwrap();
    let mut params = Params::default();
    let transformer =
        Transformer::new(encoder.config, 0, &mut params, &mut Source::Weights(&mut encoder.weights)).unwrap();
    let left: Vec<&str> = encoder.weights.remaining().filter(|name| !name.starts_with("pooler.")).collect();
    // Old checkpoints store the positions as numbers.
    assert!(left.iter().all(|name| name.ends_with("position_ids")), "{left:?}");
    (params, transformer)
}

fn numbers(x: Tensor<3>) -> Vec<f32> {
    x.into_data().try_into_vec::<f32>().unwrap()
}

/// The last hidden state of one sequence, with gradients.
fn tracked(transformer: &Transformer, view: &View, ids: &[u32]) -> Tensor<3> {
    let padded = Padded::new(vec![ids.len()]);
    let x = transformer.embed(view, &[&pieces(ids)], &padded);
    transformer.run(view, x, &padded, 0..transformer.config.layers, &mut None)
}

fn hidden_states_agree(name: &str, dir: &Path, reference: &Reference) {
    let (params, transformer) = transformer(dir);
    let (width, dims) = (transformer.config.hidden, reference.dims);
    let view = params.view(false);

    // As the outside sees it.
    let mut encoder = Pretrained::open(dir).unwrap();
    let head = HeadConfig { hidden: 4, n_labels: 2 };
    let network = Network::pretrained(encoder.config, &mut encoder.weights, head, 1, 0).unwrap();
    let mut worst = Worst::default();
    for input in &reference.inputs {
        let found = network.encode(&[&pieces(&input.ids)]).remove(0);
        assert_eq!(found.len(), input.ids.len() * width);
        worst.compare_rows(&found, width, dims, &input.positions, &input.last_hidden);
    }
    worst.report(&format!("{name}, one by one"));

    // Padding is not part of the sequence: no `[PAD]` is ever read.
    let Batch { ids, mask, last_hidden } = &reference.batch;
    let lengths: Vec<usize> = mask.iter().map(|mask| mask.iter().sum()).collect();
    let batch: Vec<Pieces> = ids.iter().zip(&lengths).map(|(ids, &length)| pieces(&ids[..length])).collect();
    let mut worst = Worst::default();
    for (found, (expected, &length)) in
        network.encode(&batch.iter().collect::<Vec<_>>()).iter().zip(last_hidden.iter().zip(&lengths))
    {
        assert_eq!(found.len(), length * width);
        worst.compare_rows(found, width, dims, &(0..length).collect::<Vec<_>>(), expected);
    }
    worst.report(&format!("{name}, batch"));

    // Layer after layer.
    let Layers { positions, hidden } = &reference.layers;
    assert_eq!(hidden.len(), transformer.config.layers + 1);
    let first = pieces(&reference.inputs[0].ids);
    let padded = Padded::new(vec![first.ids.len()]);
    let mut x = transformer.embed(&view, &[&first], &padded);
    let mut worst = Worst::default();
    for (layer, expected) in hidden.iter().enumerate() {
        worst.compare_rows(&numbers(x.clone()), width, dims, positions, expected);
        if layer < transformer.config.layers {
            x = transformer.run(&view, x, &padded, layer..layer + 1, &mut None);
        }
    }
    worst.report(&format!("{name}, layer after layer"));

    // Some operations are written differently when gradients are wanted.
    let view = params.view(true);
    let mut worst = Worst::default();
    for input in &reference.inputs {
        let found = numbers(tracked(&transformer, &view, &input.ids).inner());
        worst.compare_rows(&found, width, dims, &input.positions, &input.last_hidden);
    }
    worst.report(&format!("{name}, in training"));
}

#[test]
fn tiny_encoders_give_the_hidden_states_of_the_reference_implementation() {
    for (name, dir, reference) in tiny() {
        hidden_states_agree(name, &dir, &reference);
    }
}

#[test]
fn real_encoders_give_the_hidden_states_of_the_reference_implementation() {
    let Some(encoders) = std::env::var_os("SPANWISE_ENCODERS").map(PathBuf::from) else {
        println!("SKIPPED: SPANWISE_ENCODERS is not set");
        return;
    };
    for name in ["all-MiniLM-L6-v2", "all-mpnet-base-v2"] {
        let reference = reference(&data().join(format!("{name}.reference.json")));
        hidden_states_agree(name, &encoders.join(name), &reference);
    }
}

/// The gradient of a parameter as the reference has it: linear maps are stored the other way round here.
fn gradient_of(params: &Params, gradients: &Gradients, name: &str) -> (Vec<f32>, usize) {
    let (at, (_, _, shape, _)) =
        params.shapes().enumerate().find(|(_, (_, found, ..))| *found == name).unwrap();
    let values = gradients[at].clone().unwrap();
    let is_table = name.starts_with("embeddings.") || name.contains("relative_attention_bias");
    match *shape {
        [rows, columns] if !is_table => {
            let flipped = (0..rows * columns).map(|at| values[at % rows * columns + at / rows]).collect();
            (flipped, rows)
        }
        [_, columns] => (values, columns),
        _ => {
            let n = values.len();
            (values, n)
        }
    }
}

#[test]
fn tiny_encoders_give_the_gradients_of_the_reference_implementation() {
    for (name, dir, reference) in tiny() {
        let Gradient { ids, weights, loss, parameters } = reference.gradient.unwrap();
        let (params, transformer) = transformer(&dir);
        let view = params.view(true);
        let shape = [1, ids.len(), transformer.config.hidden];
        let weights = Tensor::<3>::from_data(TensorData::new(weights.concat(), shape), &device());
        let response = (tracked(&transformer, &view, &ids) * weights).sum();
        let mut worst = Worst::default();
        worst.compare(&[response.clone().inner().into_scalar::<f32>()], &[loss]);
        worst.report(&format!("{name}, loss"));

        let gradients = view.gradients(response.backward());
        for Parameter { name: parameter, rows, values } in parameters {
            let (found, width) = gradient_of(&params, &gradients, &parameter);
            let mut worst = Worst::default();
            let row = |row: &[Value]| row.iter().map(|value| value.as_f64().unwrap()).collect::<Vec<f64>>();
            let values: Vec<Vec<f64>> = if values[0].is_array() {
                values.iter().map(|values| row(values.as_array().unwrap())).collect()
            } else {
                vec![row(&values)]
            };
            let rows = rows.unwrap_or_else(|| (0..found.len() / width).collect());
            worst.compare_rows(&found, width, width, &rows, &values);
            worst.report(&format!("{name}, gradient of {parameter}"));
        }
        // Nothing is left out: all parameters but rows that were not read have a gradient.
        assert!(gradients.iter().all(Option::is_some));
    }
}
