//! The state of a run after an epoch, in one file that is replaced as a whole.

use crate::error::TrainError;
use spanwise_domains::data::write_atomic;
use spanwise_nn::pretrained::{Weights, write_safetensors};
use spanwise_nn::{AdamW, Params};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the file in the run directory.
pub(crate) const FILE: &str = "checkpoint.safetensors";

/// What is kept besides weights and moments.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct State {
    /// Epochs that are finished.
    pub(crate) epoch: usize,
    /// The lines of `metrics.jsonl` so far.
    pub(crate) metrics: String,
    /// What the run is made of; a run can only be continued as it was begun.
    pub(crate) identity: String,
    /// Epochs in the running sum of weights.
    pub(crate) n_averaged: usize,
    /// The best dev score and how many epochs ago it was.
    pub(crate) best: Option<(f64, usize)>,
}

/// Weights beside the current ones: sums for an average, or those of the best epoch. By parameter, trained ones only.
pub(crate) type Spare = Vec<Option<Vec<f32>>>;

/// Writes a checkpoint; what was there before stays until the new one is complete.
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
    let best = state.best.map_or_else(String::new, |(score, ago)| format!("{:016x} {ago}", score.to_bits()));
    let metadata = BTreeMap::from([
        ("epoch".to_owned(), state.epoch.to_string()),
        ("step".to_owned(), adam.steps().to_string()),
        ("metrics".to_owned(), state.metrics.clone()),
        ("identity".to_owned(), state.identity.clone()),
        ("n_averaged".to_owned(), state.n_averaged.to_string()),
        ("best".to_owned(), best),
    ]);
    let path = directory.join(FILE);
    write_atomic(&path, |file| write_safetensors(file, &borrowed, &metadata))
        .map_err(|error| TrainError::Write { path: path.display().to_string(), reason: error.to_string() })
}

/// Reads a checkpoint into a network and an optimiser that were set up as for a fresh run.
pub(crate) fn read(
    directory: &Path,
    identity: &str,
    params: &mut Params,
    adam: &mut AdamW,
) -> Result<(State, Spare), TrainError> {
    let path = directory.join(FILE);
    let mut weights = Weights::open(&path).map_err(|error| TrainError::Checkpoint(error.to_string()))?;
    let damaged =
        || TrainError::Checkpoint(format!("{} is damaged; start afresh without --resume", path.display()));
    let metadata = weights.metadata().clone();
    let text = |key: &str| metadata.get(key).cloned().ok_or_else(damaged);
    let before = text("identity")?;
    // `settings 1f.., domain 2a.., ..`: the names of the parts that are no longer the same.
    let differs = |(before, now): (&str, &str)| {
        (before != now).then(|| now.split(' ').next().unwrap_or(now).to_owned())
    };
    let changed: Vec<String> = before.split(", ").zip(identity.split(", ")).filter_map(differs).collect();
    if before != identity {
        return Err(TrainError::Changed { what: changed.join(", ") });
    }
    let number = |key: &str| text(key)?.parse::<u64>().map_err(|_| damaged());
    let best = text("best")?;
    let best = match best.split_once(' ') {
        Some((bits, ago)) => {
            let bits = u64::from_str_radix(bits, 16).map_err(|_| damaged())?;
            Some((f64::from_bits(bits), ago.parse().map_err(|_| damaged())?))
        }
        None => None,
    };
    let state = State {
        epoch: number("epoch")? as usize,
        metrics: text("metrics")?,
        identity: identity.to_owned(),
        n_averaged: number("n_averaged")? as usize,
        best,
    };
    let shapes: Vec<_> = params
        .shapes()
        .map(|(id, name, shape, trained)| (id, name.to_owned(), shape.to_vec(), trained))
        .collect();
    let bad = |error: spanwise_nn::pretrained::WeightsError| TrainError::Checkpoint(error.to_string());
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
    adam.restore(number("step")?, moments);
    Ok((state, spare))
}
