//! A model on disk: `model.json`, and the files that it names with their hashes.
//!
//! `model.json` is the manifest. It holds the domain file with its tables, the hyper-parameters and the confidence of the
//! model, and names the weights, the tokenizer and the files of the executor. Those are written first, under new names;
//! `model.json` is replaced last, by a rename. So a crash at any point leaves the old model or the new one, and a reader
//! never sees a mixture.

mod error;
mod executor;
mod files;

pub use error::ModelError;
pub(crate) use executor::{ExecutorFiles, executor_files};

use crate::confidence::{Calibration, Confidence, Novelty, Scale};
use crate::families::Settings;
use crate::family::Stored;
use crate::model::Model;
use executor::StoredExecutor;
use files::{FIXED_NAMES, FileEntry, data_error, file_error, lock, remove_unused, write_named};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spanwise_domains::data::replace_atomic;
use spanwise_lang::Domain;
use spanwise_lang::domain::{Table, TableSource};
use spanwise_nn::Tokenizer;
use spanwise_nn::pretrained::{Weights, WeightsError, write_safetensors};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// The version of the format that is written. All versions up to it can be read. Version 2 added `confidence`; version 3
/// made `model.json` a manifest with `files`, and put what restores a family under `settings` and `state`.
pub const FORMAT_VERSION: u32 = 3;

const FORMAT: &str = "spanwise-model";
const MANIFEST: &str = "model.json";

/// How often a directory is read if it is replaced while it is read.
const MAX_TRIES: usize = 5;

/// `model.json`.
#[derive(Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    files: Files,
    domain: StoredDomain,
    settings: Settings,
    /// What restores the family, in its own format.
    state: Value,
    #[serde(default)]
    confidence: StoredConfidence,
    /// How the model was trained: for information only.
    #[serde(default)]
    training: Value,
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
}

/// Novelty without its prototypes, which are among the weights.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredNovelty {
    n_prototypes: usize,
    scale: Scale,
    vocabulary: BTreeSet<String>,
}

/// The tensor of the prototypes.
const PROTOTYPES: &str = "confidence.prototypes";

impl StoredConfidence {
    fn new(confidence: &Confidence) -> Self {
        let novelty = confidence.novelty.as_ref().map(|novelty| StoredNovelty {
            n_prototypes: novelty.prototypes.len() / novelty.width.max(1),
            scale: novelty.scale,
            vocabulary: novelty.vocabulary.clone(),
        });
        Self { calibration: confidence.calibration, novelty }
    }

    /// The error in the values, if there is one.
    fn fault(&self) -> Option<&'static str> {
        let Calibration { slope, offset } = self.calibration;
        if !(slope >= 0.0 && slope.is_finite() && offset.is_finite()) {
            return Some(
                "expected a `slope` of at least 0 and a finite `offset` in `confidence.calibration`",
            );
        }
        let Scale { center, width } = self.novelty.as_ref()?.scale;
        let is_good = center.is_finite() && width > 0.0 && width.is_finite();
        (!is_good).then_some("expected finite numbers and a positive `width` in `confidence.novelty.scale`")
    }

    /// Adds the prototypes, vectors of dimension `width`, from the weights.
    fn read(self, weights: &mut Weights, width: usize) -> Result<Confidence, WeightsError> {
        let novelty = match self.novelty {
            None => None,
            Some(StoredNovelty { n_prototypes, scale, vocabulary }) => {
                let prototypes = weights.take(PROTOTYPES, &[n_prototypes, width])?;
                Some(Novelty { width, prototypes, scale, vocabulary })
            }
        };
        Ok(Confidence { calibration: self.calibration, novelty })
    }
}

#[derive(Serialize, Deserialize)]
struct StoredDomain {
    name: String,
    type_system: Option<String>,
    source: String,
    tables: Vec<StoredTable>,
}

#[derive(Serialize, Deserialize)]
struct StoredTable {
    path: String,
    columns: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
}

impl StoredDomain {
    fn new(domain: &Domain) -> Self {
        let table = |(path, table): &(String, Table)| StoredTable {
            path: path.clone(),
            columns: table.columns.clone(),
            rows: table.rows.clone(),
        };
        Self {
            name: domain.name().to_owned(),
            type_system: domain.type_system().map(str::to_owned),
            source: domain.source().to_owned(),
            tables: domain.tables().iter().map(table).collect(),
        }
    }

    fn load(&self, manifest: &str) -> Result<Domain, ModelError> {
        let file = format!("{} (in {manifest})", self.name);
        Domain::load(&self.source, &file, self.type_system.as_deref(), self)
            .map_err(|errors| ModelError::Domain { path: manifest.to_owned(), reason: errors.to_string() })
    }
}

impl TableSource for StoredDomain {
    fn read(&self, path: &str) -> Result<Table, String> {
        let found = self.tables.iter().find(|table| table.path == path);
        let found = found.ok_or_else(|| format!("the model has no table `{path}`"))?;
        Ok(Table { columns: found.columns.clone(), rows: found.rows.clone() })
    }
}

impl Model {
    /// Writes the model into a directory, replacing a model that is there. The executor's files are part of it.
    ///
    /// # Errors
    /// A file that cannot be written; a model that was there before then still is.
    pub fn save(&self, directory: &Path) -> Result<(), ModelError> {
        fs::create_dir_all(directory).map_err(|error| file_error(directory, &error))?;
        let _lock = lock(directory);
        let before = read_manifest(directory).ok().and_then(|(_, manifest)| manifest.ok());
        let tokenizer = self.family.tokenizer().to_bytes();
        let files = Files {
            weights: write_named(directory, "weights", ".safetensors", |out| self.write_weights(out))?,
            tokenizer: write_named(directory, "tokenizer", ".json", |out| out.write_all(&tokenizer))?,
            executor: StoredExecutor::write(&self.executor_files, directory)?,
        };
        let all = files.all();
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            files,
            domain: StoredDomain::new(&self.domain),
            settings: self.family.settings(),
            state: self.family.state(),
            confidence: StoredConfidence::new(&self.confidence),
            training: self.training.clone(),
        };
        let json = serde_json::to_vec_pretty(&manifest).map_err(|error| ModelError::File {
            path: directory.display().to_string(),
            reason: error.to_string(),
            kind: io::ErrorKind::InvalidData,
        })?;
        // From here on the directory holds the new model.
        replace_atomic(&directory.join(MANIFEST), |file| file.write_all(&json))
            .map_err(|error| data_error(directory, &error))?;
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
        let domain = Arc::new(manifest.domain.load(&path)?);
        let (tokenizer_path, mut tokenizer) = manifest.files.tokenizer.open(directory)?;
        let mut bytes = Vec::new();
        tokenizer.read_to_end(&mut bytes).map_err(|error| file_error(&tokenizer_path, &error))?;
        let tokenizer = Tokenizer::from_bytes(&bytes)?;
        let (weights_path, weights) = manifest.files.weights.open(directory)?;
        let mut weights = Weights::from_file(weights, &weights_path)?;
        let stored = Stored {
            path: &path,
            domain: Arc::clone(&domain),
            state: manifest.state,
            tokenizer,
            weights: &mut weights,
        };
        let family = manifest.settings.family().load(stored)?;
        let confidence = manifest.confidence.read(&mut weights, family.encoder().hidden)?;
        let executor_files = match manifest.files.executor.files(directory)? {
            // Models before version 3 keep the executor's files under their own names.
            none if none.is_empty() => executor_files(&domain, Some(directory)),
            files => files,
        };
        let (training, format_version) = (manifest.training, manifest.version);
        Ok(Self { domain, family, confidence, training, format_version, executor_files })
    }
}

/// The bytes of `model.json`, and the manifest in them.
fn read_manifest(directory: &Path) -> Result<(Vec<u8>, Result<Manifest, ModelError>), ModelError> {
    let path = directory.join(MANIFEST);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(ModelError::Missing { path: directory.display().to_string() });
        }
        Err(error) => return Err(file_error(&path, &error)),
    };
    let manifest = parse_manifest(&bytes, &path.display().to_string());
    Ok((bytes, manifest))
}

fn parse_manifest(bytes: &[u8], path: &str) -> Result<Manifest, ModelError> {
    let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
    let value: Value = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(damaged(format!("expected `\"format\": \"{FORMAT}\"`")));
    }
    let value = match value.get("version").and_then(Value::as_u64) {
        Some(found) if found > u64::from(FORMAT_VERSION) => {
            return Err(ModelError::Version { path: path.to_owned(), found });
        }
        Some(1 | 2) => upgrade(value),
        Some(3) => value,
        _ => return Err(damaged("it has no version".to_owned())),
    };
    let manifest: Manifest = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
    match manifest.confidence.fault() {
        Some(fault) => Err(damaged(fault.to_owned())),
        None => Ok(manifest),
    }
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
