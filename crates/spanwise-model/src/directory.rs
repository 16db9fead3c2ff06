//! A model on disk: `model.json`, and the files that it names with their hashes.
//!
//! `model.json` is the manifest. It holds the domain file with its tables, the hyper-parameters and the confidence of the
//! model, and names the weights, the tokenizer and the files of the executor. Those are written first, under new names;
//! `model.json` is replaced last, by a rename. So a crash at any point leaves the old model or the new one, and a reader
//! never sees a mixture.

mod domain;
mod error;
mod executor;
mod files;
mod lock;
mod seal;
mod update;

pub(crate) use domain::StoredDomain;
pub use error::ModelError;
pub(crate) use files::file_error;
pub use lock::DirectoryLock;

use crate::confidence::{Answerability, Calibration, Confidence, Effects, Novelty, Scale, WordCounts};
use crate::families::Settings;
use crate::family::Stored;
use crate::model::Model;
use executor::StoredExecutor;
use files::{FIXED_NAMES, FileEntry, data_error, remove_unused, write_named};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spanwise_domains::data::replace_atomic;
use spanwise_domains::exec::files::read_files;
use spanwise_nn::Tokenizer;
use spanwise_nn::files::{MAX_JSON, MAX_WEIGHTS, check_json, read_open, read_regular};
use spanwise_nn::pretrained::{Weights, WeightsError, write_safetensors};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The version of the format that is written. All versions up to it can be read. Version 2 added `confidence`; version 3
/// made `model.json` a manifest with `files`, and put what restores a family under `settings` and `state`; version 4 added
/// the `digest` of `model.json`, and hashes of all files are no longer optional.
pub const FORMAT_VERSION: u32 = 4;

/// The first version with a digest of `model.json`.
const SEALED: u64 = 4;

const FORMAT: &str = "spanwise-model";
const MANIFEST: &str = "model.json";

/// The most bytes of `model.json`, and the most values in it. Tables of names make it large.
const MAX_MANIFEST: u64 = 256 << 20;
const MAX_VALUES: usize = 16_000_000;

/// How often a directory is read if it is replaced while it is read.
const MAX_TRIES: usize = 5;

/// `model.json`.
#[derive(Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    /// The SHA-256 of the file, computed with zeros in this place; models before version 4 have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    files: Files,
    domain: StoredDomain,
    /// Where the path of the database starts, if its address has a relative one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    database_directory: Option<String>,
    settings: Settings,
    /// What restores the family, in its own format.
    state: Value,
    #[serde(default)]
    confidence: StoredConfidence,
    /// How the model was trained: for information only.
    #[serde(default)]
    training: Value,
}

impl Manifest {
    /// Replaces `model.json`, with its digest.
    fn write(&self, directory: &Path) -> Result<(), ModelError> {
        let failed = |reason: String, kind: io::ErrorKind| ModelError::File {
            path: directory.display().to_string(),
            reason,
            kind,
        };
        let json = serde_json::to_vec_pretty(self)
            .map_err(|error| failed(error.to_string(), io::ErrorKind::InvalidData))?;
        if json.len() as u64 > MAX_MANIFEST || check_json(&json, MAX_VALUES).is_err() {
            let reason = "model.json would be too large to be loaded; make the tables of the domain smaller";
            return Err(failed(reason.to_owned(), io::ErrorKind::FileTooLarge));
        }
        let json = seal::seal(json);
        replace_atomic(&directory.join(MANIFEST), |file| file.write_all(&json))
            .map_err(|error| data_error(directory, &error))
    }

    /// What the user should know about a model that loads.
    fn warnings(&self, path: &str) -> Vec<String> {
        let unverified = match (&self.digest, self.files.all().iter().all(|file| file.sha256.is_some())) {
            (Some(_), true) => return Vec::new(),
            (None, true) => "model.json itself",
            _ => "its files",
        };
        let version = self.version;
        vec![format!(
            "{path} has format version {version}, without a digest: damage to {unverified} cannot be detected; \
             training again, or `spanwise calibrate MODEL dev.jsonl`, writes the current format"
        )]
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Files {
    weights: FileEntry,
    tokenizer: FileEntry,
    #[serde(default)]
    executor: StoredExecutor,
}

impl Files {
    fn all(&self) -> Vec<FileEntry> {
        let executor = self.executor.0.values().cloned();
        [self.weights.clone(), self.tokenizer.clone()].into_iter().chain(executor).collect()
    }
}

#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct StoredConfidence {
    calibration: Calibration,
    novelty: Option<StoredNovelty>,
    #[serde(default)]
    answerability: Option<StoredAnswerability>,
    #[serde(default)]
    threshold: Option<f64>,
    #[serde(default)]
    effects: Effects,
    /// For each training word, how often it occurs, and how often it means nothing.
    #[serde(default)]
    words: BTreeMap<String, [u32; 2]>,
    /// For each predicate, the words that are aligned to it, and how often.
    #[serde(default)]
    predicate_words: BTreeMap<String, BTreeMap<String, u32>>,
}

/// Novelty without its prototypes, which are among the weights.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredNovelty {
    n_prototypes: usize,
    scale: Scale,
    vocabulary: BTreeSet<String>,
}

/// Answerability without its weights.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredAnswerability {
    bias: f64,
    calibration: Calibration,
}

/// The tensor of the prototypes.
const PROTOTYPES: &str = "confidence.prototypes";
/// The tensor of the weights of answerability.
const ANSWERABILITY: &str = "confidence.answerability";

impl StoredConfidence {
    fn new(confidence: &Confidence) -> Self {
        let novelty = confidence.novelty.as_ref().map(|novelty| StoredNovelty {
            n_prototypes: novelty.prototypes.len() / novelty.width.max(1),
            scale: novelty.scale,
            vocabulary: novelty.vocabulary.clone(),
        });
        let answerability = confidence
            .answerability
            .as_ref()
            .map(|it| StoredAnswerability { bias: it.bias, calibration: it.calibration });
        Self {
            calibration: confidence.calibration,
            novelty,
            answerability,
            threshold: confidence.threshold,
            effects: confidence.effects,
            words: confidence.words.words().clone(),
            predicate_words: confidence.words.predicates().clone(),
        }
    }

    /// The error in the values, if there is one.
    fn fault(&self) -> Option<&'static str> {
        let Calibration { slope, offset } = self.calibration;
        if !(slope >= 0.0 && slope.is_finite() && offset.is_finite()) {
            return Some(
                "expected a `slope` of at least 0 and a finite `offset` in `confidence.calibration`",
            );
        }
        if !self.effects.is_good() {
            return Some("expected numbers of at least 0 in `confidence.effects`");
        }
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Some("expected a `threshold` from 0 to 1 in `confidence`");
        }
        let is_finite = |it: &StoredAnswerability| {
            it.bias.is_finite() && it.calibration.slope.is_finite() && it.calibration.offset.is_finite()
        };
        if !self.answerability.as_ref().is_none_or(is_finite) {
            return Some("expected finite numbers in `confidence.answerability`");
        }
        let Scale { center, width } = self.novelty.as_ref()?.scale;
        let is_good = center.is_finite() && width > 0.0 && width.is_finite();
        (!is_good).then_some("expected finite numbers and a positive `width` in `confidence.novelty.scale`")
    }

    /// Adds prototypes and weights, vectors of the encoder's dimension `width` or twice that, from the weights of the model.
    fn read(self, weights: &mut Weights, width: usize) -> Result<Confidence, WeightsError> {
        let novelty = match self.novelty {
            None => None,
            Some(StoredNovelty { n_prototypes, scale, vocabulary }) => {
                let prototypes = weights.take(PROTOTYPES, &[n_prototypes, width])?;
                Some(Novelty { width, prototypes, scale, vocabulary })
            }
        };
        let answerability = match self.answerability {
            None => None,
            Some(StoredAnswerability { bias, calibration }) => {
                let weights = weights.take(ANSWERABILITY, &[2 * width])?;
                Some(Answerability { weights, bias, calibration })
            }
        };
        let words = WordCounts::from_parts(self.words, self.predicate_words);
        let Self { calibration, threshold, effects, .. } = self;
        Ok(Confidence { calibration, words, effects, novelty, answerability, threshold })
    }
}

impl Model {
    /// Writes the model into a directory, replacing a model that is there. The executor's files are part of it. A save that
    /// is under way there is waited for.
    ///
    /// # Errors
    /// A file that cannot be written, or a directory that a training writes into; a model that was there before then still
    /// is.
    pub fn save(&self, directory: &Path) -> Result<(), ModelError> {
        fs::create_dir_all(directory).map_err(|error| file_error(directory, &error))?;
        self.save_locked(&DirectoryLock::wait(directory)?)
    }

    /// As [`Model::save`], into a directory that the caller has locked.
    ///
    /// # Errors
    /// A file that cannot be written; a model that was there before then still is.
    pub fn save_locked(&self, lock: &DirectoryLock) -> Result<(), ModelError> {
        let directory = lock.directory();
        let before = read_manifest(directory).ok().and_then(|(_, manifest)| manifest.ok());
        let tokenizer = self.family.tokenizer().to_bytes();
        let files = Files {
            weights: write_named(directory, "weights", ".safetensors", |out| self.write_weights(out))?,
            tokenizer: write_named(directory, "tokenizer", ".json", |out| out.write_all(&tokenizer))?,
            executor: StoredExecutor::write(self.executor_files()?, directory)?,
        };
        let all = files.all();
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            digest: Some(seal::blank()),
            files,
            domain: StoredDomain::new(&self.domain),
            database_directory: self.database_directory.as_ref().map(|path| path.display().to_string()),
            settings: self.family.settings(),
            state: self.family.state(),
            confidence: StoredConfidence::new(&self.confidence),
            training: self.training.clone(),
        };
        // From here on the directory holds the new model.
        manifest.write(directory)?;
        remove_unused(directory, &before.map(|manifest| manifest.files.all()).unwrap_or_default(), &all);
        Ok(())
    }

    fn write_weights(&self, out: &mut dyn io::Write) -> io::Result<()> {
        let named: Vec<(&str, &[usize], Vec<f32>)> = self.family.params().named().collect();
        let mut tensors: Vec<(&str, &[usize], &[f32])> =
            named.iter().map(|(name, shape, values)| (*name, *shape, values.as_slice())).collect();
        let novelty = self.confidence.novelty.as_ref();
        let shape = novelty.map(|novelty| [novelty.prototypes.len() / novelty.width.max(1), novelty.width]);
        if let (Some(novelty), Some(shape)) = (novelty, &shape) {
            tensors.push((PROTOTYPES, shape, &novelty.prototypes));
        }
        let answerability = self.confidence.answerability.as_ref();
        let shape = answerability.map(|it| [it.weights.len()]);
        if let (Some(it), Some(shape)) = (answerability, &shape) {
            tensors.push((ANSWERABILITY, shape, &it.weights));
        }
        write_safetensors(out, &tensors, &BTreeMap::new())
    }

    /// Reads a model directory. One that is replaced while it is read is read again.
    ///
    /// # Errors
    /// A directory that is missing, damaged or of another version.
    pub fn load(directory: &Path) -> Result<Self, ModelError> {
        let mut tries = 0;
        loop {
            let (bytes, manifest) = read_manifest(directory)?;
            let loaded = manifest.and_then(|manifest| Self::from_manifest(directory, manifest));
            tries += 1;
            let is_replaced = || read_manifest(directory).is_ok_and(|(now, _)| now != bytes);
            match loaded {
                Err(error) if error.is_missing_file() && tries < MAX_TRIES && is_replaced() => {}
                loaded => return loaded,
            }
        }
    }

    fn from_manifest(directory: &Path, manifest: Manifest) -> Result<Self, ModelError> {
        let path = directory.join(MANIFEST).display().to_string();
        let warnings = manifest.warnings(&path);
        let domain = Arc::new(manifest.domain.into_domain(&path)?);
        let (tokenizer_path, tokenizer) = manifest.files.tokenizer.open_within(directory, MAX_JSON)?;
        let bytes = read_open(tokenizer, MAX_JSON).map_err(|error| file_error(&tokenizer_path, &error))?;
        let tokenizer = Tokenizer::from_bytes(&bytes)?;
        let (weights_path, weights) = manifest.files.weights.open_within(directory, MAX_WEIGHTS)?;
        let mut weights = Weights::from_file(weights, &weights_path)?;
        let stored = Stored {
            path: &path,
            domain: Arc::clone(&domain),
            state: manifest.state,
            tokenizer,
            weights: &mut weights,
        };
        let settings = manifest.settings.family();
        settings.check().map_err(|reason| ModelError::Damaged { path: path.clone(), reason })?;
        let family = settings.load(stored)?;
        let confidence = manifest.confidence.read(&mut weights, family.encoder().hidden)?;
        let executor_files = match manifest.files.executor.read(&domain, directory)? {
            // Models before version 3 keep the executor's files under their own names.
            none if none.is_empty() => read_files(&domain, Some(directory)),
            files => Ok(files),
        };
        let (training, format_version) = (manifest.training, manifest.version);
        let database_directory = manifest.database_directory.map(PathBuf::from);
        Ok(Self {
            domain,
            family,
            confidence,
            training,
            format_version,
            executor_files,
            database_directory,
            warnings,
        })
    }
}

/// The bytes of `model.json`, and the manifest in them.
fn read_manifest(directory: &Path) -> Result<(Vec<u8>, Result<Manifest, ModelError>), ModelError> {
    let path = directory.join(MANIFEST);
    let bytes = match read_regular(&path, MAX_MANIFEST) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ModelError::Missing { path: directory.display().to_string() });
        }
        Err(error) => return Err(file_error(&path, &error)),
    };
    let manifest = parse_manifest(&bytes, &path.display().to_string());
    Ok((bytes, manifest))
}

/// The part of `model.json` that says how to read the rest.
#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    format: Value,
    #[serde(default)]
    version: Value,
    #[serde(default)]
    digest: Option<Value>,
}

fn parse_manifest(bytes: &[u8], path: &str) -> Result<Manifest, ModelError> {
    let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
    check_json(bytes, MAX_VALUES).map_err(damaged)?;
    let broken = |error: serde_json::Error| damaged(error.to_string());
    let header: Header = serde_json::from_slice(bytes).map_err(broken)?;
    if header.format.as_str() != Some(FORMAT) {
        return Err(damaged(format!("expected `\"format\": \"{FORMAT}\"`")));
    }
    let manifest = match header.version.as_u64() {
        Some(found) if found > u64::from(FORMAT_VERSION) => {
            return Err(ModelError::Version { path: path.to_owned(), found });
        }
        Some(1 | 2) => serde_json::from_slice(bytes).and_then(|value| serde_json::from_value(upgrade(value))),
        // Without a tree of values in between: tables would take many times their size.
        Some(3 | 4) => serde_json::from_slice(bytes),
        _ => return Err(damaged("it has no version".to_owned())),
    };
    let manifest: Result<Manifest, serde_json::Error> = manifest;
    if let Some(error) = manifest.as_ref().err().filter(|error| error.is_syntax()) {
        return Err(damaged(error.to_string()));
    }
    check_digest(&header, bytes, path)?;
    let manifest = manifest.map_err(broken)?;
    match manifest.confidence.fault() {
        Some(fault) => Err(damaged(fault.to_owned())),
        None => Ok(manifest),
    }
}

/// Compares the digest, before anything else is believed. Only models before version 4 may lack it.
fn check_digest(header: &Header, bytes: &[u8], path: &str) -> Result<(), ModelError> {
    let is_sealed = header.version.as_u64().is_some_and(|version| version >= SEALED);
    let reason = match header.digest.as_ref().map(Value::as_str) {
        None if !is_sealed => return Ok(()),
        Some(Some(digest)) if seal::is_intact(bytes, digest) => return Ok(()),
        None => "it has no `digest`",
        Some(_) => "its content does not have the SHA-256 that is its `digest`",
    };
    Err(ModelError::Tampered { path: path.to_owned(), reason: reason.to_owned() })
}

/// Turns `model.json` of version 1 or 2 into version 3: the files have fixed names, and what restores the family is
/// spread over the object.
fn upgrade(mut value: Value) -> Value {
    let fixed = |path: &str| serde_json::json!({ "path": path });
    let files = serde_json::json!({
        "weights": fixed(FIXED_NAMES[0]),
        "tokenizer": fixed(FIXED_NAMES[1]),
    });
    if let Some(object) = value.as_object_mut() {
        let keys = ["encoder", "head", "labels", "rare", "n_rules"];
        let state: Map<String, Value> =
            keys.iter().filter_map(|&key| Some((key.to_owned(), object.remove(key)?))).collect();
        object.insert("state".to_owned(), Value::Object(state));
        object.insert("files".to_owned(), files);
    }
    value
}
