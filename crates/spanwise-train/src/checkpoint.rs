//! Checkpoints: the state of a run after an epoch, in one file that is replaced atomically.
//!
//! The file holds its own SHA-256, computed with zeros in the place of the digits. It is compared before a run is resumed:
//! with one changed bit, the run would end with other weights.

use crate::error::TrainError;
use crate::row::EpochRow;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use spanwise_domains::data::write_atomic;
use spanwise_nn::files::{MAX_WEIGHTS, open_regular};
use spanwise_nn::pretrained::{Weights, WeightsError, write_safetensors};
use spanwise_nn::{AdamW, Params};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;

/// The name of the file in the run directory.
pub(crate) const FILE: &str = "checkpoint.safetensors";

/// The keys of [`State`] and of the file's hash in its metadata.
const STATE: &str = "state";
const DIGEST: &str = "digest";
/// Hexadecimal digits of a hash.
const DIGITS: usize = 64;

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
    /// Whether the file holds its hash; those of older versions do not.
    #[serde(default)]
    pub(crate) is_sealed: bool,
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
    let state = serde_json::to_string(&State { step: adam.steps(), is_sealed: true, ..state.clone() })
        .map_err(|error| TrainError::Checkpoint(error.to_string()))?;
    let notes =
        |digest: String| BTreeMap::from([(STATE.to_owned(), state.clone()), (DIGEST.to_owned(), digest)]);
    let mut hash = Sha256::new();
    write_safetensors(&mut hash, &borrowed, &notes("0".repeat(DIGITS)))
        .map_err(|error| TrainError::Checkpoint(error.to_string()))?;
    let notes = notes(format!("{:x}", hash.finalize()));
    write_atomic(&directory.join(FILE), |out| write_safetensors(out, &borrowed, &notes))
        .map_err(TrainError::Data)
}

/// The hash of a file with zeros in the place of `digest`, which is in its header of so many bytes.
fn hash(file: &mut File, header: u64, digest: &str) -> io::Result<String> {
    file.rewind()?;
    let mut head = Vec::new();
    file.by_ref().take(header).read_to_end(&mut head)?;
    if let Some(at) = head.windows(DIGITS).position(|part| part == digest.as_bytes()) {
        head[at..at + DIGITS].fill(b'0');
    }
    let mut hash = Sha256::new();
    hash.update(&head);
    io::copy(file, &mut hash)?;
    file.rewind()?;
    Ok(format!("{:x}", hash.finalize()))
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
    let read = |error: io::Error| TrainError::Checkpoint(format!("{}: {error}", path.display()));
    let mut file = open_regular(&path, MAX_WEIGHTS).map_err(read)?;
    let again = file.try_clone().map_err(read)?;
    let damaged = |what: &str| {
        let path = path.display();
        TrainError::Checkpoint(format!(
            "{path} is damaged: {what}; remove it and train again, or restore it from a copy"
        ))
    };
    let mut weights = Weights::from_file(again, &path).map_err(|error| match error {
        WeightsError::Format { reason, .. } => damaged(&reason),
        _ => bad(error),
    })?;
    let notes = weights.metadata();
    let state = notes.get(STATE).and_then(|text| serde_json::from_str::<State>(text).ok());
    let state = state.ok_or_else(|| damaged("it does not hold the state of a run of this version"))?;
    match notes.get(DIGEST) {
        Some(digest) => {
            let found = hash(&mut file, weights.header_bytes(), digest).map_err(read)?;
            if found != *digest {
                return Err(damaged("its content does not have the SHA-256 that it names"));
            }
        }
        None if state.is_sealed => return Err(damaged("its SHA-256 is missing")),
        None => {}
    }
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
