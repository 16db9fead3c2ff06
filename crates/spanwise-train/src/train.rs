//! Training: from a configuration to a model directory.

use crate::cache::Cache;
use crate::checkpoint::{self, Identity, State};
use crate::config::{Config, Training};
use crate::error::TrainError;
use crate::pairs::{self, LeftOut};
use crate::row::{EpochRow, FinalRow};
use crate::run::Run;
use sha2::{Digest, Sha256};
use spanwise_core::Utterance;
use spanwise_domains::data::{self, Example, write_atomic};
use spanwise_domains::exec::files::read_files;
use spanwise_domains::exec::{self, Executor};
use spanwise_domains::load::{LoadError, Spec};
use spanwise_eval::annotate;
use spanwise_lang::{Domain, Terms};
use spanwise_model::{Blueprint, BuildError, DirectoryLock, EncoderSource, Model, Objective, Pair, Parser};
use spanwise_nn::files::{MAX_JSON, read_regular};
use spanwise_nn::{AdamW, AdamWConfig};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// A progress report of a run.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The data is read.
    Data {
        /// Training pairs with a derivation.
        n_train: usize,
        /// Those of them that were generated.
        n_generated: usize,
        /// Examples without one, by reason.
        left_out: &'a [LeftOut],
        /// Dev examples.
        n_dev: usize,
        /// Trainable parameters.
        n_trained: usize,
    },
    /// Outputs of frozen layers are computed.
    Cache {
        /// Utterances done.
        done: usize,
        /// All.
        total: usize,
    },
    /// Something that the user should know, although the run goes on.
    Warning {
        /// What it is.
        text: &'a str,
    },
    /// A run is continued after this many epochs.
    Resumed {
        /// Epochs that are done.
        epoch: usize,
    },
    /// A step is done.
    Step {
        /// The epoch, from 1.
        epoch: usize,
        /// All epochs.
        epochs: usize,
        /// Steps done in this epoch.
        step: usize,
        /// All steps of this epoch.
        steps: usize,
        /// The mean loss of this epoch so far.
        loss: f64,
    },
    /// An epoch is done.
    Epoch {
        /// The row of `metrics.jsonl`.
        row: &'a EpochRow,
    },
}

/// Called with every event of a run. A break in `Cache`, `Step` or `Epoch` stops the run, which can be resumed after the
/// last complete epoch.
pub type Watch<'w> = dyn FnMut(Event<'_>) -> ControlFlow<()> + 'w;

/// A finished run.
pub struct Trained {
    /// A parser with the trained model.
    pub parser: Parser,
    /// The last row of `metrics.jsonl`.
    pub row: FinalRow,
    /// Whether it was noted that the executor of the domain may run in the model, too; the reason if it could not be.
    /// Nothing has to be noted for a built-in executor.
    pub consent: Result<(), String>,
}

/// Trains a model.
///
/// Relative paths of data files are below `data`. `encoder` is the directory of a pretrained encoder, `None` for the compact
/// one. `out` is the run directory, which becomes the model directory. It is locked until the run ends, so that no other
/// training or calibration writes into it.
///
/// # Errors
/// See [`TrainError`]. A checkpoint that was written before the error can be resumed from.
pub fn train(
    config: &Config,
    data: &Path,
    encoder: Option<&Path>,
    out: &Path,
    resume: bool,
    watch: &mut Watch<'_>,
) -> Result<Trained, TrainError> {
    config.check()?;
    // A wrong directory is reported before data and encoder are read.
    let lock = out.is_dir().then(|| DirectoryLock::take(out)).transpose()?;
    check_vacant(out, resume)?;
    let spec = Spec::parse(&config.domain);
    let domain = spec.load()?;
    let executor: Option<Arc<dyn Executor>> = exec::open(&domain, spec.directory())
        .map_err(|error| TrainError::Executor(error.to_string()))?
        .map(Arc::from);
    // Files that cannot be part of a model are reported before anything is trained.
    read_files(&domain, spec.directory()).map_err(|error| TrainError::Executor(error.to_string()))?;

    let read = |path: &Option<std::path::PathBuf>| match path {
        Some(path) => data::read(&data.join(path)),
        None => Ok(Vec::new()),
    };
    let own = Some(config.data.train.clone()).filter(|path| !path.as_os_str().is_empty());
    let name =
        |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| data.join(path).display().to_string());
    let train_file = name(&own).or_else(|| name(&config.data.generated)).unwrap_or_default();
    let mut examples = read(&own)?;
    let mut generated = read(&config.data.generated)?;
    if config.data.limit > 0 {
        examples.truncate(config.data.limit);
        generated.truncate(config.data.limit);
    }
    let unanswerable: Vec<Utterance> =
        examples.iter().chain(&generated).filter(|it| it.unanswerable).map(Example::spoken).collect();
    examples.retain(|example| !example.unanswerable);
    generated.retain(|example| !example.unanswerable);
    if examples.is_empty() && generated.is_empty() {
        return Err(TrainError::Empty { file: train_file });
    }
    let n_own = examples.len();
    examples.extend(generated);
    let mut dev = read(&config.data.dev)?;
    dev.truncate(config.data.dev_limit.max(1));
    let trees = match (config.training.objective, &config.data.trees) {
        (Objective::GoldTrees, None) => {
            annotate::trees(&spec, &domain, &examples).map_err(LoadError::Invalid)?
        }
        (Objective::GoldTrees, file) => read(file)?,
        _ => Vec::new(),
    };
    let mut terms = domain.new_terms();
    let executor_ref = executor.as_deref();
    let mut read = pairs::read(config, &examples[..n_own], executor_ref, &mut terms, &train_file)?;
    let generated_file = name(&config.data.generated).unwrap_or_default();
    read.extend(pairs::read(config, &examples[n_own..], executor_ref, &mut terms, &generated_file)?);
    let identity = identity(config, &domain, encoder, &[&examples, &dev, &trees]);
    let model = build(config, domain, encoder, &read, &terms)?;
    let generated = read.split_off(n_own);
    let objective = config.training.objective;
    let pairs = pairs::derivable(&model, &terms, read, &trees, objective);
    let n_own = pairs.list.len();
    let pairs = pairs.and(pairs::derivable(&model, &terms, generated, &trees, objective));
    if pairs.list.is_empty() {
        return Err(nothing_derivable(config, train_file, &pairs.left_out));
    }
    make_directory(out)?;
    let lock = match lock {
        Some(lock) => lock,
        None => {
            // Another run may have made the directory meanwhile.
            let lock = DirectoryLock::take(out)?;
            check_vacant(out, resume)?;
            lock
        }
    };
    write_text(&out.join("config.toml"), &config.to_toml())?;
    let derivable = pairs.derivable();
    let _ = watch(Event::Data {
        n_train: pairs.list.len(),
        n_generated: pairs.list.len() - n_own,
        left_out: &pairs.left_out,
        n_dev: dev.len(),
        n_trained: model.family.params().n_trained(),
    });
    let mut run = Run {
        config,
        out,
        lock,
        adam: optimiser(config, &model),
        spare: vec![None; model.family.params().no_gradients().len()],
        model,
        executor,
        terms,
        pairs: pairs.list,
        n_own,
        unanswerable,
        derivable,
        dev,
        state: State { identity, ..State::default() },
        cache: Cache::default(),
    };
    if resume && out.join(checkpoint::FILE).exists() {
        run.resume(watch)?;
    }
    run.train(watch)
}

/// Checks that a new run does not replace another one.
fn check_vacant(out: &Path, resume: bool) -> Result<(), TrainError> {
    let is_there = |name: &str| out.join(name).exists();
    if !resume && (is_there(checkpoint::FILE) || is_there("model.json")) {
        return Err(TrainError::Occupied { path: out.display().to_string() });
    }
    Ok(())
}

fn nothing_derivable(config: &Config, file: String, left_out: &[LeftOut]) -> TrainError {
    let reason = |left: &LeftOut| format!("{} {} (such as `{}`)", left.count, left.reason, left.example);
    let reasons: Vec<String> = left_out.iter().take(3).map(reason).collect();
    let lacks_trees = left_out.iter().any(|left| left.reason == pairs::NO_TREE);
    let command = if lacks_trees && config.data.trees.is_none() {
        format!("spanwise data annotate {} {file} --verbose", config.domain)
    } else {
        format!("spanwise check {} {file}", config.domain)
    };
    let n = left_out.iter().map(|left| left.count).sum();
    TrainError::NothingDerivable { file, command, n, reasons: reasons.join("; ") }
}

/// An optimizer in its initial state.
pub(crate) fn optimiser(config: &Config, model: &Model) -> AdamW {
    let Training { weight_decay, clip, .. } = config.training;
    AdamW::new(AdamWConfig { weight_decay, clip, ..AdamWConfig::default() }, model.family.params())
}

/// Hashes of the inputs that determine the result of a run. Of a pretrained encoder, only the configuration and the size
/// of the weights are hashed.
fn identity(config: &Config, domain: &Domain, encoder: Option<&Path>, data: &[&[Example]]) -> Identity {
    let mut settings = Sha256::new();
    // The path of the encoder has no influence on the result.
    settings.update(Config { encoder: String::new(), ..config.clone() }.to_toml());
    let mut examples = Sha256::new();
    for example in data.iter().copied().flatten() {
        examples.update(example.to_json().to_string());
        examples.update("\n");
    }
    let mut weights = Sha256::new();
    if let Some(directory) = encoder {
        weights.update(read_regular(&directory.join("config.json"), MAX_JSON).unwrap_or_default());
        let size = std::fs::metadata(directory.join("model.safetensors")).map_or(0, |file| file.len());
        weights.update(size.to_le_bytes());
    }
    Identity {
        settings: short(settings),
        domain: domain_hash(domain),
        data: short(examples),
        encoder: short(weights),
    }
}

/// A short hash of a domain file and its tables, independent of their paths on disk.
#[must_use]
pub fn domain_hash(domain: &Domain) -> String {
    let mut hash = Sha256::new().chain_update(domain.source());
    for (path, table) in domain.tables() {
        hash.update(format!("{path}{:?}{:?}", table.columns, table.rows));
    }
    short(hash)
}

fn short(hash: Sha256) -> String {
    format!("{:x}", hash.finalize()).chars().take(16).collect()
}

/// An untrained model, with random or pretrained encoder weights.
pub(crate) fn build(
    config: &Config,
    domain: Domain,
    encoder: Option<&Path>,
    pairs: &[Pair],
    terms: &Terms,
) -> Result<Model, TrainError> {
    let Training { frozen_layers, dropout, .. } = config.training;
    let encoder = match encoder {
        Some(directory) => EncoderSource::Pretrained { directory, frozen_layers },
        None => EncoderSource::Compact { shape: &config.compact, dropout },
    };
    let domain = Arc::new(domain);
    let blueprint = Blueprint { domain: Arc::clone(&domain), terms, pairs, encoder, seed: config.seed };
    let family = config.model.family().build(blueprint).map_err(|error| match error {
        BuildError::Encoder(reason) => TrainError::Encoder { encoder: config.encoder.clone(), reason },
        BuildError::Examples(reason) => {
            TrainError::Examples { file: config.data.train.display().to_string(), reason }
        }
    })?;
    Ok(Model::new(domain, family, Spec::parse(&config.domain).directory()))
}

fn make_directory(path: &Path) -> Result<(), TrainError> {
    std::fs::create_dir_all(path)
        .map_err(|error| TrainError::Write { path: path.display().to_string(), reason: error.to_string() })
}

/// Replaces a text file atomically.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), TrainError> {
    write_atomic(path, |file| file.write_all(text.as_bytes())).map_err(TrainError::Data)
}
