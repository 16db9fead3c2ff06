//! Checkpoints: the state of a run after an epoch, in one file that is replaced atomically.

use crate::error::TrainError;
use crate::row::EpochRow;
use serde::{Deserialize, Serialize};
use spanwise_domains::data::write_atomic;
use spanwise_nn::pretrained::{Weights, WeightsError, write_safetensors};
use spanwise_nn::{AdamW, Params};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the file in the run directory.
pub(crate) const FILE: &str = "checkpoint.safetensors";

/// The key of [`State`] in the file's metadata.
const STATE: &str = "state";

/// The state of a run besides weights and optimizer moments.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// Hashes of the inputs of the run; it can only be resumed with the same ones.
    pub(crate) identity: Identity,
    /// The rows of `metrics.jsonl` so far, one per finished epoch.
    pub(crate) rows: Vec<EpochRow>,
    /// The number of epochs in the running sum of weights.
    pub(crate) n_averaged: usize,
    /// The best score on dev so far; only with `training.patience`.
    pub(crate) best: Option<Best>,
    /// The number of optimizer steps.
    pub(crate) step: u64,
}

/// The best score on dev.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Best {
    pub(crate) score: f64,
    /// How many epochs ago it was reached.
    pub(crate) epochs_ago: usize,
}

/// The inputs that determine the result of a run, each as a short hash.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) settings: String,
    pub(crate) domain: String,
    pub(crate) data: String,
    pub(crate) encoder: String,
}

impl Identity {
    /// The names of the parts that differ.
    fn changes(&self, now: &Self) -> Vec<&'static str> {
        let parts = [
            ("settings", self.settings == now.settings),
            ("domain", self.domain == now.domain),
            ("data", self.data == now.data),
            ("encoder", self.encoder == now.encoder),
        ];
        parts.into_iter().filter(|(_, is_same)| !is_same).map(|(name, _)| name).collect()
    }
}

impl State {
    /// Epochs that are finished.
    pub(crate) fn epoch(&self) -> usize {
        self.rows.len()
    }
}

/// A second set of weights: the running sum for an average, or the weights of the best epoch. One entry per parameter,
/// `None` for parameters that are not trained.
pub(crate) type Spare = Vec<Option<Vec<f32>>>;

/// Writes a checkpoint. The previous one is replaced only when the new one is complete.
pub(crate) fn write(
    directory: &Path,
    state: &State,
    params: &Params,
    adam: &AdamW,
    spare: &Spare,
) -> Result<(), TrainError> {
    let mut tensors: Vec<(String, Vec<usize>, Vec<f32>)> = Vec::new();
    for (id, name, shape, is_trained) in params.shapes() {
        if is_trained {
            tensors.push((format!("now.{name}"), shape.to_vec(), params.values(id)));
        }
    }
    let names: Vec<&str> = params.shapes().map(|(_, name, ..)| name).collect();
    for (at, first, second) in adam.state() {
        tensors.push((format!("first.{}", names[at]), vec![first.len()], first.to_vec()));
        tensors.push((format!("second.{}", names[at]), vec![second.len()], second.to_vec()));
    }
    for (name, values) in names.iter().zip(spare) {
        if let Some(values) = values {
            tensors.push((format!("spare.{name}"), vec![values.len()], values.clone()));
        }
    }
    let borrowed: Vec<(&str, &[usize], &[f32])> = tensors
        .iter()
        .map(|(name, shape, values)| (name.as_str(), shape.as_slice(), values.as_slice()))
        .collect();
    let state = serde_json::to_string(&State { step: adam.steps(), ..state.clone() })
        .map_err(|error| TrainError::Checkpoint(error.to_string()))?;
    let metadata = BTreeMap::from([(STATE.to_owned(), state)]);
    write_atomic(&directory.join(FILE), |out| write_safetensors(out, &borrowed, &metadata))
        .map_err(TrainError::Data)
}

/// Reads a checkpoint into parameters and an optimizer that were initialized as for a new run.
pub(crate) fn read(
    directory: &Path,
    identity: &Identity,
    params: &mut Params,
    adam: &mut AdamW,
) -> Result<(State, Spare), TrainError> {
    let path = directory.join(FILE);
    let bad = |error: WeightsError| TrainError::Checkpoint(error.to_string());
    let mut weights = Weights::open(&path).map_err(bad)?;
    let state = weights.metadata().get(STATE).and_then(|text| serde_json::from_str::<State>(text).ok());
    let damaged = || {
        let path = path.display();
        TrainError::Checkpoint(format!(
            "{path} is damaged or of another version; start afresh without --resume"
        ))
    };
    let state = state.ok_or_else(damaged)?;
    if state.identity != *identity {
        return Err(TrainError::Changed { what: state.identity.changes(identity).join(", ") });
    }
    let shapes: Vec<_> = params
        .shapes()
        .map(|(id, name, shape, trained)| (id, name.to_owned(), shape.to_vec(), trained))
        .collect();
    let (mut moments, mut spare) = (Vec::new(), vec![None; shapes.len()]);
    for (at, (id, name, shape, is_trained)) in shapes.iter().enumerate() {
        if *is_trained {
            params.set(*id, weights.take(&format!("now.{name}"), shape).map_err(bad)?);
        }
        let size = [shape.iter().product::<usize>()];
        if weights.contains(&format!("first.{name}")) {
            let first = weights.take(&format!("first.{name}"), &size).map_err(bad)?;
            moments.push((at, first, weights.take(&format!("second.{name}"), &size).map_err(bad)?));
        }
        if weights.contains(&format!("spare.{name}")) {
            spare[at] = Some(weights.take(&format!("spare.{name}"), &size).map_err(bad)?);
        }
    }
    adam.restore(state.step, moments);
    Ok((state, spare))
}
