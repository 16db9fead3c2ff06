//! Training: from a configuration to a model directory.

use crate::checkpoint::{self, State};
use crate::config::{Config, Objective, Training};
use crate::error::TrainError;
use crate::pairs;
use crate::run::Run;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use spanwise_core::Utterance;
use spanwise_domains::data::{self, Example, write_atomic};
use spanwise_domains::exec::{self, Executor};
use spanwise_domains::load::{LoadError, Spec};
use spanwise_eval::annotate;
use spanwise_lang::{Domain, Terms};
use spanwise_model::{Labels, LexiconUse, Model, Parser, Search};
use spanwise_nn::pretrained::{Activation, Architecture, EncoderConfig, Pretrained, PretrainedError};
use spanwise_nn::tokenizer::WordTable;
use spanwise_nn::{AdamW, AdamWConfig, Network, Tokenizer};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Longest utterance of the encoder from scratch, with its ends.
const COMPACT_POSITIONS: usize = 5_002;

/// What a run tells while it goes on. Answering with a break stops it; it can be resumed after the last whole epoch.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// The data is read.
    Data {
        /// Training pairs with a derivation.
        n_train: usize,
        /// Examples without one, by reason, with an example each.
        left_out: &'a [(String, usize, String)],
        /// Dev examples.
        n_dev: usize,
        /// Numbers that are trained.
        n_trained: usize,
    },
    /// Outputs of frozen layers are computed.
    Cache {
        /// Utterances done.
        done: usize,
        /// All.
        total: usize,
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
    /// An epoch is done; the line of `metrics.jsonl`.
    Epoch {
        /// What is written.
        row: &'a Map<String, Value>,
    },
}

/// A finished run.
pub struct Trained {
    /// The model, ready to parse.
    pub parser: Parser,
    /// The last line of the metrics.
    pub metrics: Map<String, Value>,
}

/// Trains a model.
///
/// `data` is the directory of relative paths, `encoder` the directory of a pretrained encoder (`None` for the compact one),
/// `out` the run directory, which becomes the model directory.
///
/// # Errors
/// See [`TrainError`]. Whatever happens, a checkpoint that was written stays usable.
pub fn train(
    config: &Config,
    data: &Path,
    encoder: Option<&Path>,
    out: &Path,
    resume: bool,
    watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
) -> Result<Trained, TrainError> {
    config.check()?;
    let has_checkpoint = out.join(checkpoint::FILE).exists();
    if !resume && (has_checkpoint || out.join("model.json").exists()) {
        return Err(TrainError::Occupied { path: out.display().to_string() });
    }
    let spec = Spec::parse(&config.domain);
    let domain = spec.load()?;
    let executor: Option<Arc<dyn Executor>> = exec::open(&domain, spec.directory())
        .map_err(|error| TrainError::Executor(error.to_string()))?
        .map(Arc::from);

    let train_path = data.join(&config.data.train);
    let train_file = train_path.display().to_string();
    let mut examples = data::read(&train_path)?;
    if config.data.limit > 0 {
        examples.truncate(config.data.limit);
    }
    if examples.is_empty() {
        return Err(TrainError::Empty { file: train_file });
    }
    let read = |path: &Option<std::path::PathBuf>| match path {
        Some(path) => data::read(&data.join(path)),
        None => Ok(Vec::new()),
    };
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
    let read = pairs::read_programs(&examples, &mut terms, &train_file)?;
    let identity = identity(config, &domain, encoder, &[&examples, &dev, &trees]);
    let model = build(config, domain, encoder, &read, &terms)?;
    let n_all = read.len();
    let pairs = pairs::derivable(&model, &terms, read, &trees, config.training.objective);
    if pairs.list.is_empty() {
        let reasons: Vec<String> = pairs
            .left_out
            .iter()
            .take(3)
            .map(|(kind, count, text)| format!("{count} {kind} (such as `{text}`)"))
            .collect();
        let lacks_trees = pairs.left_out.iter().any(|(kind, ..)| kind == pairs::NO_TREE);
        let command = if lacks_trees && config.data.trees.is_none() {
            format!("spanwise data annotate {} {train_file} --verbose", config.domain)
        } else {
            format!("spanwise check {} {train_file}", config.domain)
        };
        return Err(TrainError::NothingDerivable {
            file: train_file,
            command,
            n: n_all,
            reasons: reasons.join("; "),
        });
    }
    make_directory(out)?;
    sweep(out);
    write_text(&out.join("config.toml"), &config.to_toml())?;
    let n_trained = model.network.params.n_trained();
    let _ = watch(Event::Data {
        n_train: pairs.list.len(),
        left_out: &pairs.left_out,
        n_dev: dev.len(),
        n_trained,
    });

    let adam = optimiser(config, &model);
    let spare = vec![None; model.network.params.no_gradients().len()];
    let state = State { identity, ..State::default() };
    let mut run = Run {
        config,
        out,
        model: Some(model),
        executor,
        terms,
        pairs: pairs.list,
        derivable: pairs_share(n_all, &pairs.left_out),
        dev,
        adam,
        state,
        spare,
        cache: Vec::new(),
    };
    if resume && has_checkpoint {
        run.resume()?;
        let _ = watch(Event::Resumed { epoch: run.state.epoch });
    }
    run.go(watch)
}

fn pairs_share(n_all: usize, left_out: &[(String, usize, String)]) -> f64 {
    let n_out: usize = left_out.iter().map(|(_, count, _)| count).sum();
    100.0 * (n_all - n_out) as f64 / n_all.max(1) as f64
}

/// An optimiser at its start.
pub(crate) fn optimiser(config: &Config, model: &Model) -> AdamW {
    let Training { weight_decay, clip, .. } = config.training;
    AdamW::new(AdamWConfig { weight_decay, clip, ..AdamWConfig::default() }, &model.network.params)
}

/// What decides the outcome of a run, as a short text to compare.
fn identity(config: &Config, domain: &Domain, encoder: Option<&Path>, data: &[&[Example]]) -> String {
    let mut settings = Sha256::new();
    // Where the encoder lies does not matter.
    settings.update(Config { encoder: String::new(), ..config.clone() }.to_toml());
    let mut examples = Sha256::new();
    for example in data.iter().copied().flatten() {
        examples.update(example.to_json().to_string());
        examples.update("\n");
    }
    let mut weights = Sha256::new();
    if let Some(directory) = encoder {
        weights.update(std::fs::read(directory.join("config.json")).unwrap_or_default());
        let size = std::fs::metadata(directory.join("model.safetensors")).map_or(0, |file| file.len());
        weights.update(size.to_le_bytes());
    }
    format!(
        "settings {}, domain {}, data {}, encoder {}",
        short(settings),
        domain_hash(domain),
        short(examples),
        short(weights)
    )
}

/// A domain by its file and its tables, wherever they lie.
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

/// A model with fresh or pretrained weights.
pub(crate) fn build(
    config: &Config,
    domain: Domain,
    encoder: Option<&Path>,
    pairs: &[(Utterance, spanwise_lang::TermId)],
    terms: &Terms,
) -> Result<Model, TrainError> {
    let mut labels = Labels::new(&domain);
    // Without phrases, a rare predicate could not stand anywhere.
    let has_phrases = config.model.lexicon == LexiconUse::Full;
    let rare_below =
        if has_phrases && config.model.search == Search::Exact { config.model.rare_below } else { 0 };
    labels.mark_rare(&domain, terms, pairs.iter().map(|(_, program)| program), rare_below);
    let head = Model::head(&labels, &config.model);
    let (tokenizer, network) = match encoder {
        Some(directory) => {
            let failed = |error: PretrainedError| TrainError::Encoder {
                encoder: config.encoder.clone(),
                reason: error.to_string(),
            };
            let Pretrained { config: shape, mut weights, tokenizer } =
                Pretrained::open(directory).map_err(failed)?;
            let frozen = config.training.frozen_layers;
            let network =
                Network::pretrained(shape, &mut weights, head, frozen, config.seed).map_err(|error| {
                    TrainError::Encoder { encoder: config.encoder.clone(), reason: error.to_string() }
                })?;
            (tokenizer, network)
        }
        None => {
            let words =
                WordTable::from_utterances(pairs.iter().map(|(text, _)| text), config.compact.min_count);
            let tokenizer = Tokenizer::Words(words.with_buckets(config.compact.ngram_buckets as u32));
            let shape = EncoderConfig {
                architecture: Architecture::Compact,
                vocab_size: tokenizer.vocab_size(),
                hidden: config.compact.hidden,
                layers: config.compact.layers,
                heads: config.compact.heads,
                intermediate: config.compact.intermediate,
                max_positions: COMPACT_POSITIONS,
                type_vocab: 0,
                layer_norm_eps: 1e-5,
                dropout: f64::from(config.training.dropout),
                position_offset: 0,
                relative_buckets: 32,
                activation: Activation::Gelu,
            };
            let network = Network::from_scratch(shape, tokenizer.n_buckets(), head, config.seed)?;
            (tokenizer, network)
        }
    };
    Ok(Model::new(domain, config.model.clone(), labels, tokenizer, network))
}

fn make_directory(path: &Path) -> Result<(), TrainError> {
    std::fs::create_dir_all(path)
        .map_err(|error| TrainError::Write { path: path.display().to_string(), reason: error.to_string() })
}

/// Removes what a run that was killed while writing left behind: hidden files that end in `.tmp`.
fn sweep(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(".tmp") {
            // One that cannot be removed does no harm.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Replaces a text file as a whole.
pub(crate) fn write_text(path: &Path, text: &str) -> Result<(), TrainError> {
    write_atomic(path, |file| file.write_all(text.as_bytes())).map_err(TrainError::Data)
}
