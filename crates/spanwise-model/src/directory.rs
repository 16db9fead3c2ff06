//! A model on disk: `model.json`, `weights.safetensors`, `tokenizer.json`.
//!
//! The directory is complete: the domain file and its tables are inside `model.json`. It is written to a directory
//! beside it first and then moved, so that a crash leaves either the old model or the new one.

use crate::confidence::{Calibration, Confidence, Novelty, Scale};
use crate::labels::Labels;
use crate::model::Model;
use crate::settings::Settings;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spanwise_domains::data::write_atomic;
use spanwise_lang::Domain;
use spanwise_lang::domain::{Table, TableSource};
use spanwise_nn::pretrained::{EncoderConfig, Weights, WeightsError, write_safetensors};
use spanwise_nn::tokenizer::TokenizerError;
use spanwise_nn::{HeadConfig, Network, Tokenizer};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The version of the format that is written. All versions up to it can be read. Version 2 added `confidence`.
pub const FORMAT_VERSION: u32 = 2;

/// Why a model cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file that cannot be read or written.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// There is no model.
    #[error(
        "{path} is not a model directory: it has no model.json; train one with `spanwise train .. --out {path}`"
    )]
    Missing {
        /// The directory.
        path: String,
    },
    /// `model.json` is not what it should be.
    #[error("{path}: {reason}; the file is damaged or not a model of this program")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The model was written by a newer program.
    #[error("{path} has format version {found}, this program reads up to {FORMAT_VERSION}; update spanwise")]
    Version {
        /// The file.
        path: String,
        /// Its version.
        found: u64,
    },
    /// The domain inside the model cannot be loaded.
    #[error("the domain inside {path} does not load: {reason}")]
    Domain {
        /// The file.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// The weights were trained for other constants.
    #[error(
        "{path}: the weights were trained for other constants than its domain has now ({reason}); train again"
    )]
    Changed {
        /// The file.
        path: String,
        /// The first difference.
        reason: String,
    },
    /// The weights do not fit.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The tokenizer cannot be read.
    #[error(transparent)]
    Tokenizer(#[from] TokenizerError),
    /// The executor of the domain cannot be opened.
    #[error("the executor of the model's domain cannot be used: {reason}")]
    Executor {
        /// Why not.
        reason: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Written {
    format: String,
    version: u32,
    domain: WrittenDomain,
    settings: Settings,
    encoder: EncoderConfig,
    head: HeadConfig,
    labels: Vec<String>,
    rare: Vec<String>,
    n_rules: usize,
    /// How far answers can be trusted; models of version 1 do not say.
    #[serde(default)]
    confidence: WrittenConfidence,
    /// How the model was trained, for people.
    #[serde(default)]
    training: Value,
}

#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct WrittenConfidence {
    calibration: Calibration,
    novelty: Option<WrittenNovelty>,
}

/// The prototypes themselves are beside the weights.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenNovelty {
    n_prototypes: usize,
    scale: Scale,
    vocabulary: BTreeSet<String>,
}

/// The tensor of the prototypes.
const PROTOTYPES: &str = "confidence.prototypes";

impl WrittenConfidence {
    fn new(confidence: &Confidence) -> Self {
        let novelty = confidence.novelty.as_ref().map(|novelty| WrittenNovelty {
            n_prototypes: novelty.prototypes.len() / novelty.width.max(1),
            scale: novelty.scale,
            vocabulary: novelty.vocabulary.clone(),
        });
        Self { calibration: confidence.calibration, novelty }
    }

    /// What is wrong with the numbers, if anything is.
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

    /// Puts it together with the prototypes, vectors of `width` numbers.
    fn read(self, weights: &mut Weights, width: usize) -> Result<Confidence, WeightsError> {
        let novelty = match self.novelty {
            None => None,
            Some(WrittenNovelty { n_prototypes, scale, vocabulary }) => {
                let prototypes = weights.take(PROTOTYPES, &[n_prototypes, width])?;
                Some(Novelty { width, prototypes, scale, vocabulary })
            }
        };
        Ok(Confidence { calibration: self.calibration, novelty })
    }
}

#[derive(Serialize, Deserialize)]
struct WrittenDomain {
    name: String,
    type_system: Option<String>,
    source: String,
    tables: Vec<WrittenTable>,
}

#[derive(Serialize, Deserialize)]
struct WrittenTable {
    path: String,
    columns: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
}

const FORMAT: &str = "spanwise-model";

struct Inlined<'a>(&'a [WrittenTable]);

impl TableSource for Inlined<'_> {
    fn read(&self, path: &str) -> Result<Table, String> {
        let found = self.0.iter().find(|table| table.path == path);
        let found = found.ok_or_else(|| format!("the model has no table `{path}`"))?;
        Ok(Table { columns: found.columns.clone(), rows: found.rows.clone() })
    }
}

fn file_error(path: &Path) -> impl Fn(std::io::Error) -> ModelError + '_ {
    move |error| ModelError::File { path: path.display().to_string(), reason: error.to_string() }
}

impl Model {
    /// Writes the model into a directory, replacing a model that is there. `training` is kept for people to read.
    ///
    /// # Errors
    /// A file that cannot be written; a model that was there before then still is.
    pub fn save(&self, directory: &Path, training: Value) -> Result<(), ModelError> {
        let tables = self.domain.tables().iter();
        let written = Written {
            format: FORMAT.to_owned(),
            version: FORMAT_VERSION,
            domain: WrittenDomain {
                name: self.domain.name().to_owned(),
                type_system: self.domain.type_system().map(str::to_owned),
                source: self.domain.source().to_owned(),
                tables: tables
                    .map(|(path, table)| WrittenTable {
                        path: path.clone(),
                        columns: table.columns.clone(),
                        rows: table.rows.clone(),
                    })
                    .collect(),
            },
            settings: self.settings.clone(),
            encoder: self.network.encoder().clone(),
            head: self.network.head(),
            labels: self.labels.names().to_vec(),
            rare: self.labels.rare_names().map(str::to_owned).collect(),
            n_rules: self.grammar.n_rules(),
            confidence: WrittenConfidence::new(&self.confidence),
            training,
        };
        let damaged = |error: serde_json::Error| ModelError::Damaged {
            path: directory.display().to_string(),
            reason: error.to_string(),
        };
        let json = serde_json::to_vec_pretty(&written).map_err(damaged)?;
        fs::create_dir_all(directory).map_err(file_error(directory))?;
        // model.json comes last: it makes the directory a model.
        let weights = directory.join("weights.safetensors");
        let named: Vec<(&str, &[usize], Vec<f32>)> = self.network.params.named().collect();
        let mut tensors: Vec<(&str, &[usize], &[f32])> =
            named.iter().map(|(name, shape, values)| (*name, *shape, values.as_slice())).collect();
        let novelty = self.confidence.novelty.as_ref();
        let shape = novelty.map(|novelty| [novelty.prototypes.len() / novelty.width.max(1), novelty.width]);
        if let (Some(novelty), Some(shape)) = (novelty, &shape) {
            tensors.push((PROTOTYPES, shape, &novelty.prototypes));
        }
        write_atomic(&weights, |file| write_safetensors(file, &tensors, &BTreeMap::new())).map_err(
            |error| ModelError::File { path: directory.display().to_string(), reason: error.to_string() },
        )?;
        for (name, bytes) in [("tokenizer.json", self.tokenizer.to_bytes()), ("model.json", json)] {
            let path = directory.join(name);
            write_atomic(&path, |file| file.write_all(&bytes)).map_err(|error| ModelError::File {
                path: directory.display().to_string(),
                reason: error.to_string(),
            })?;
        }
        Ok(())
    }

    /// Reads a model directory.
    ///
    /// # Errors
    /// A directory that is missing, damaged or of another version.
    pub fn load(directory: &Path) -> Result<Self, ModelError> {
        let path = directory.join("model.json");
        let name = path.display().to_string();
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(ModelError::Missing { path: directory.display().to_string() });
            }
            Err(error) => return Err(file_error(&path)(error)),
        };
        let damaged = |reason: String| ModelError::Damaged { path: name.clone(), reason };
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(damaged(format!("expected `\"format\": \"{FORMAT}\"`")));
        }
        match value.get("version").and_then(Value::as_u64) {
            Some(found) if found > u64::from(FORMAT_VERSION) => {
                return Err(ModelError::Version { path: name, found });
            }
            Some(1..) => {}
            _ => return Err(damaged("it has no version".to_owned())),
        }
        let written: Written = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
        if let Some(fault) = written.confidence.fault() {
            return Err(damaged(fault.to_owned()));
        }
        written.encoder.check(&name).map_err(|error| damaged(error.to_string()))?;
        let WrittenDomain { name: domain_name, type_system, source, tables } = &written.domain;
        let file = format!("{domain_name} (in {name})");
        let domain = Domain::load(source, &file, type_system.as_deref(), &Inlined(tables))
            .map_err(|errors| ModelError::Domain { path: name.clone(), reason: errors.to_string() })?;

        let mut labels = Labels::new(&domain);
        let changed = |reason: String| ModelError::Changed { path: name.clone(), reason };
        if labels.names() != written.labels {
            let both = written.labels.iter().zip(labels.names());
            let first =
                both.filter(|(was, is)| was != is).map(|(was, is)| format!("`{was}` is now `{is}`")).next();
            let sizes = || format!("there were {}, there are {}", written.labels.len(), labels.len());
            return Err(changed(first.unwrap_or_else(sizes)));
        }
        labels.set_rare(&written.rare);
        if written.head != Self::head(&labels, &written.settings) {
            return Err(changed("the span scorer has another size".to_owned()));
        }
        let tokenizer_path = directory.join("tokenizer.json");
        let bytes = fs::read(&tokenizer_path).map_err(file_error(&tokenizer_path))?;
        let tokenizer = Tokenizer::from_bytes(&bytes)?;
        if tokenizer.vocab_size() > written.encoder.vocab_size {
            return Err(damaged("the tokenizer has more pieces than the encoder".to_owned()));
        }
        let network = Network::empty(written.encoder, tokenizer.n_buckets(), written.head)?;
        let mut model = Self::new(domain, written.settings, labels, tokenizer, network);
        if model.grammar.n_rules() != written.n_rules {
            let (was, is) = (written.n_rules, model.grammar.n_rules());
            return Err(changed(format!("the grammar had {was} rules, now it has {is}")));
        }
        let mut weights = Weights::open(&directory.join("weights.safetensors"))?;
        model.read_weights(&mut weights)?;
        let width = model.network.encoder().hidden;
        model.confidence = written.confidence.read(&mut weights, width)?;
        Ok(model)
    }

    /// What [`Model::save`] noted about the training of the model in a directory.
    ///
    /// # Errors
    /// A `model.json` that cannot be read.
    pub fn training_notes(directory: &Path) -> Result<Value, ModelError> {
        let path = directory.join("model.json");
        let bytes = fs::read(&path).map_err(file_error(&path))?;
        let mut value: Value = serde_json::from_slice(&bytes).map_err(|error| ModelError::Damaged {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        Ok(value.get_mut("training").map(Value::take).unwrap_or_default())
    }

    /// Sets all parameters from a file.
    ///
    /// # Errors
    /// A parameter that is missing or of another shape.
    pub fn read_weights(&mut self, weights: &mut Weights) -> Result<(), WeightsError> {
        let shapes: Vec<_> = self
            .network
            .params
            .shapes()
            .map(|(id, name, shape, _)| (id, name.to_owned(), shape.to_vec()))
            .collect();
        for (id, name, shape) in shapes {
            let values = weights.take(&name, &shape)?;
            self.network.params.set(id, values);
        }
        self.refresh();
        Ok(())
    }
}
