//! Training: from a configuration to a model directory.

use crate::checkpoint::{self, Spare, State};
use crate::config::{Config, ConfigError, Objective, Training};
use crate::curves::{self, EpochRow};
use crate::evaluate::evaluate;
use crate::metrics::{Judge, Report};
use crate::pairs::{self, Pair};
use crate::recombine::{Bank, Explained, Limits};
use crate::step::{self, Task};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_core::Utterance;
use spanwise_domains::data::{self, DataError, Example, write_atomic};
use spanwise_domains::exec::{self, Executor};
use spanwise_domains::load::{LoadError, Spec};
use spanwise_lang::{Domain, Terms};
use spanwise_model::{Labels, LexiconUse, Model, ModelError, Parser, Search};
use spanwise_nn::pretrained::{
    Activation, Architecture, EncoderConfig, Pretrained, PretrainedError, WeightsError,
};
use spanwise_nn::tokenizer::WordTable;
use spanwise_nn::{AdamW, AdamWConfig, Item, Network, Pieces, Random, Rates, Tokenizer};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Most bytes of cached outputs of frozen layers.
const MAX_CACHE: usize = 4 << 30;
/// Most examples whose trees go into the bank of fragments.
const MAX_BANK: usize = 2_000;
/// Longest utterance of the encoder from scratch.
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

/// Why training failed.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The domain.
    #[error(transparent)]
    Domain(#[from] LoadError),
    /// A data file.
    #[error(transparent)]
    Data(#[from] DataError),
    /// An example.
    #[error("{file}: example {number}: {reason}")]
    Example {
        /// The file.
        file: String,
        /// Its place, from 1.
        number: usize,
        /// What is wrong.
        reason: String,
    },
    /// There is nothing to learn from.
    #[error("{file} has no examples")]
    Empty {
        /// The file.
        file: String,
    },
    /// No example has a derivation.
    #[error(
        "none of the {n} training examples of {file} can be derived: {reasons}\nRun `spanwise check {domain} {file}` to see each one"
    )]
    NothingDerivable {
        /// The file.
        file: String,
        /// The domain.
        domain: String,
        /// Number of examples.
        n: usize,
        /// The most frequent reasons.
        reasons: String,
    },
    /// The encoder.
    #[error("the encoder {encoder}: {reason}")]
    Encoder {
        /// What was asked for.
        encoder: String,
        /// What is wrong.
        reason: String,
    },
    /// The executor of the domain.
    #[error("the executor of the domain cannot be used: {0}")]
    Executor(String),
    /// The output cannot be written.
    #[error("cannot write {path}: {reason}")]
    Write {
        /// The file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The output directory holds another run.
    #[error("{path} already holds a run; continue it with --resume, or choose another --out")]
    Occupied {
        /// The directory.
        path: String,
    },
    /// The checkpoint cannot be used.
    #[error("{0}")]
    Checkpoint(String),
    /// The checkpoint belongs to another run.
    #[error("--resume: the run was begun with other settings or data; it was {before}, now it is {now}")]
    Changed {
        /// What it was.
        before: String,
        /// What it is.
        now: String,
    },
    /// The model cannot be written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The numbers ran away.
    #[error("the loss is not a number after {step} steps; try smaller learning rates")]
    Diverged {
        /// Steps taken.
        step: u64,
    },
    /// Someone asked to stop.
    #[error("stopped after {epoch} of {epochs} epochs; continue with --resume")]
    Stopped {
        /// Finished epochs.
        epoch: usize,
        /// All epochs.
        epochs: usize,
    },
}

impl From<WeightsError> for TrainError {
    fn from(error: WeightsError) -> Self {
        Self::Model(error.into())
    }
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
    let trees = match config.training.objective {
        Objective::GoldTrees => read(&config.data.trees)?,
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
        return Err(TrainError::NothingDerivable {
            file: train_file,
            domain: config.domain.clone(),
            n: n_all,
            reasons: reasons.join("; "),
        });
    }
    make_directory(out)?;
    write_text(&out.join("config.toml"), &config.to_toml())?;
    let n_trained = model.network.params.n_trained();
    let _ = watch(Event::Data {
        n_train: pairs.list.len(),
        left_out: &pairs.left_out,
        n_dev: dev.len(),
        n_trained,
    });

    let adam_config = AdamWConfig {
        weight_decay: config.training.weight_decay,
        clip: config.training.clip,
        ..AdamWConfig::default()
    };
    let adam = AdamW::new(adam_config, &model.network.params);
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

/// What decides the outcome of a run, as a short text to compare.
fn identity(config: &Config, domain: &Domain, encoder: Option<&Path>, data: &[&[Example]]) -> String {
    let short = |hash: Sha256| format!("{:x}", hash.finalize()).chars().take(16).collect::<String>();
    let mut settings = Sha256::new();
    // Where the encoder lies does not matter.
    settings.update(Config { encoder: String::new(), ..config.clone() }.to_toml());
    let mut language = Sha256::new();
    language.update(domain.source());
    for (path, table) in domain.tables() {
        language.update(format!("{path}{:?}{:?}", table.columns, table.rows));
    }
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
        short(language),
        short(examples),
        short(weights)
    )
}

/// A model with fresh or pretrained weights.
fn build(
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

struct Run<'a> {
    config: &'a Config,
    out: &'a Path,
    /// There but for moments in which a parser borrows it.
    model: Option<Model>,
    executor: Option<Arc<dyn Executor>>,
    terms: Terms,
    pairs: Vec<Pair>,
    derivable: f64,
    dev: Vec<Example>,
    adam: AdamW,
    state: State,
    spare: Spare,
    /// What the frozen layers give for each pair.
    cache: Vec<Vec<f32>>,
}

impl Run<'_> {
    fn model(&self) -> &Model {
        self.model.as_ref().expect("the model is only away while a parser has it")
    }

    fn model_mut(&mut self) -> &mut Model {
        self.model.as_mut().expect("the model is only away while a parser has it")
    }

    fn resume(&mut self) -> Result<(), TrainError> {
        let identity = self.state.identity.clone();
        let model = self.model.as_mut().expect("a run starts with a model");
        let (state, spare) =
            checkpoint::read(self.out, &identity, &mut model.network.params, &mut self.adam)?;
        model.refresh();
        (self.state, self.spare) = (state, spare);
        Ok(())
    }

    fn go(mut self, watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>) -> Result<Trained, TrainError> {
        let Training { epochs, patience, average_epochs, .. } = self.config.training;
        self.write_metrics()?;
        self.fill_cache(watch)?;
        while self.state.epoch < epochs && !self.is_out_of_patience() {
            let epoch = self.state.epoch + 1;
            let loss = self.epoch(epoch, watch)?;
            let report = self.dev_report();
            let mut row = self.row(epoch, loss);
            row.extend(dev_columns(&report));
            self.state.epoch = epoch;
            self.state.metrics += &format!("{}\n", Value::Object(row.clone()));
            if patience > 0 {
                self.keep_best(&report);
            } else if epoch + average_epochs > epochs {
                self.add_to_average();
            }
            checkpoint::write(self.out, &self.state, &self.model().network.params, &self.adam, &self.spare)?;
            self.write_metrics()?;
            if watch(Event::Epoch { row: &row }).is_break() && epoch < epochs {
                return Err(TrainError::Stopped { epoch, epochs });
            }
        }
        self.finish()
    }

    /// Replaces the weights by the average or the best ones, looks at dev once more, and writes the model.
    fn finish(mut self) -> Result<Trained, TrainError> {
        let n = if self.config.training.patience > 0 { 1 } else { self.state.n_averaged };
        if n > 0 {
            let spare = std::mem::take(&mut self.spare);
            let model = self.model_mut();
            let ids: Vec<_> = model.network.params.shapes().map(|(id, ..)| id).collect();
            for (id, values) in ids.into_iter().zip(spare) {
                if let Some(values) = values {
                    let mean = values.into_iter().map(|sum| sum / n as f32).collect();
                    model.network.params.set(id, mean);
                }
            }
            model.refresh();
        }
        let report = self.dev_report();
        let mut row = Map::from_iter([("final".to_owned(), json!(true))]);
        row.extend(dev_columns(&report));
        self.state.metrics += &format!("{}\n", Value::Object(row.clone()));
        self.write_metrics()?;
        let mut about = Map::new();
        let config = toml_edit::de::from_str::<Value>(&self.config.to_toml()).unwrap_or_default();
        about.insert("config".to_owned(), config);
        about.insert("n_pairs".to_owned(), json!(self.pairs.len()));
        about.insert("dev".to_owned(), Value::Object(dev_columns(&report)));
        self.model().save(self.out, Value::Object(about))?;
        let model = self.model.take().expect("the model is only away while a parser has it");
        let executor = exec::open(&model.domain, Spec::parse(&self.config.domain).directory())
            .map_err(|error| TrainError::Executor(error.to_string()))?;
        Ok(Trained { parser: Parser::new(model, executor), metrics: row })
    }

    fn fill_cache(&mut self, watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>) -> Result<(), TrainError> {
        if !self.model().network.is_frozen_below() || self.state.epoch >= self.config.training.epochs {
            return Ok(());
        }
        let model = self.model();
        let pieces: Vec<Pieces> =
            self.pairs.iter().map(|pair| model.tokenizer.encode(&pair.utterance)).collect();
        let n_pieces: usize = pieces.iter().map(|pieces| pieces.ids.len()).sum();
        if n_pieces * model.network.encoder().hidden * size_of::<f32>() > MAX_CACHE {
            return Ok(());
        }
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        order.sort_by_key(|&at| (pieces[at].ids.len(), at));
        let mut cache = vec![Vec::new(); pieces.len()];
        let mut done = 0;
        for block in order.chunks(512) {
            let computed: Vec<(usize, Vec<f32>)> = block
                .par_chunks(32)
                .flat_map_iter(|batch| {
                    let inputs: Vec<&Pieces> = batch.iter().map(|&at| &pieces[at]).collect();
                    batch.iter().copied().zip(model.network.lower(&inputs)).collect::<Vec<_>>()
                })
                .collect();
            computed.into_iter().for_each(|(at, values)| cache[at] = values);
            done += block.len();
            if watch(Event::Cache { done, total: pieces.len() }).is_break() {
                let Training { epochs, .. } = self.config.training;
                return Err(TrainError::Stopped { epoch: self.state.epoch, epochs });
            }
        }
        self.cache = cache;
        Ok(())
    }

    /// One pass over the data; returns the mean loss.
    fn epoch(
        &mut self,
        epoch: usize,
        watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<f64, TrainError> {
        let training = &self.config.training;
        let seed = self.config.seed;
        let augmented = self.augmented(epoch);
        let n_real = self.pairs.len();
        let n_words = |at: usize| {
            let pair = if at < n_real { &self.pairs[at] } else { &augmented[at - n_real] };
            pair.utterance.len()
        };
        let batches = batches(n_real + augmented.len(), n_words, training.batch, seed, epoch);
        let steps = batches.len();
        let (mut loss, mut n) = (0.0, 0);
        for (at, batch) in batches.iter().enumerate() {
            let model = self.model.as_mut().expect("the model is only away while a parser has it");
            let tasks: Vec<Task<'_>> = batch
                .iter()
                .map(|&at| match at.checked_sub(n_real) {
                    None => Task {
                        pair: &self.pairs[at],
                        lower: self.cache.get(at).map(Vec::as_slice),
                        weight: 1.0,
                    },
                    Some(at) => Task { pair: &augmented[at], lower: None, weight: training.augment_weight },
                })
                .collect();
            let noise = Random::new(seed, &[4, epoch as u64, at as u64]).next();
            let done = step::run(model, self.config, &self.terms, &tasks, noise);
            let progress = (epoch as f32 - 1.0 + at as f32 / steps as f32) / training.epochs as f32;
            self.adam.step(&mut model.network.params, &done.gradients, rates(training, progress));
            model.refresh();
            loss += done.loss;
            n += done.n_derived;
            if !loss.is_finite() {
                return Err(TrainError::Diverged { step: self.adam.steps() });
            }
            let mean = loss / n.max(1) as f64;
            let told = Event::Step { epoch, epochs: training.epochs, step: at + 1, steps, loss: mean };
            if watch(told).is_break() {
                return Err(TrainError::Stopped { epoch: self.state.epoch, epochs: training.epochs });
            }
        }
        Ok(loss / n.max(1) as f64)
    }

    /// Recombined examples for an epoch, made from the best trees under the weights it starts with.
    fn augmented(&mut self, epoch: usize) -> Vec<Pair> {
        let Training { augment_from, augment_share, .. } = self.config.training;
        if augment_from == 0 || epoch < augment_from || self.config.model.search != Search::Exact {
            return Vec::new();
        }
        let n = (self.pairs.len() as f32 * augment_share) as usize;
        let mut random = Random::new(self.config.seed, &[5, epoch as u64]);
        let mut chosen: Vec<usize> = (0..self.pairs.len()).collect();
        if chosen.len() > MAX_BANK {
            random.shuffle(&mut chosen);
            chosen.truncate(MAX_BANK);
            chosen.sort_unstable();
        }
        let explained = self.explain(&chosen);
        let model = self.model.as_ref().expect("the model is only away while a parser has it");
        let mut bank = Bank::new(&model.domain, &mut self.terms, &explained, Limits::default());
        bank.exclude(self.pairs.iter().map(|pair| &pair.utterance));
        let candidates = model.settings.candidates();
        bank.recombine(&model.grammar, &candidates, &mut self.terms, n, random.next())
            .into_iter()
            .map(|new| Pair { utterance: new.utterance, program: new.program, leaves: None })
            .collect()
    }

    /// The best trees of pairs under the current weights.
    fn explain(&mut self, chosen: &[usize]) -> Vec<Explained> {
        let model = self.model.as_ref().expect("the model is only away while a parser has it");
        let mut order = chosen.to_vec();
        order.sort_by_key(|&at| (self.pairs[at].utterance.len(), at));
        let (pairs, cache, terms) = (&self.pairs, &self.cache, &self.terms);
        let mut scored: Vec<_> = order
            .par_chunks(32)
            .flat_map_iter(|batch| {
                let ready: Vec<_> = batch
                    .iter()
                    .filter_map(|&at| Some((at, model.prepare(pairs[at].utterance.clone()).ok()?)))
                    .collect();
                let items: Vec<Item<'_>> = ready
                    .iter()
                    .map(|(at, prepared)| Item {
                        pieces: &prepared.pieces,
                        lower: cache.get(*at).map(Vec::as_slice),
                        spans: &prepared.spans,
                    })
                    .collect();
                let logits = model.network.logits(&items);
                let charts: Vec<_> = ready
                    .into_iter()
                    .enumerate()
                    .filter_map(|(item, (at, prepared))| {
                        let (leaves, joins) = model.typed_scores(&prepared, logits.of(item), &model.tables);
                        let joined = if joins.is_empty() { Joins::None } else { Joins::Merges };
                        let (domain, grammar) = (&model.domain, &model.grammar);
                        let program = pairs[at].program;
                        let gold = GoldChart::new(domain, grammar, &prepared.lattice, terms, program, joined)
                            .ok()?;
                        let flat = [leaves.as_slice(), &model.tables.rules, &joins].concat();
                        Some((at, prepared, gold, flat))
                    })
                    .collect();
                charts
            })
            .collect();
        scored.sort_by_key(|(at, ..)| *at);
        let mut explained = Vec::with_capacity(scored.len());
        for (at, prepared, gold, flat) in scored {
            if let Some(tree) = gold.best_tree(&model.domain, &prepared.lattice, &mut self.terms, &flat) {
                let program = self.pairs[at].program;
                explained.push(Explained { utterance: prepared.utterance, program, tree });
            }
        }
        explained
    }

    fn dev_report(&mut self) -> Option<Report> {
        if self.dev.is_empty() {
            return None;
        }
        let parser = Parser::new(self.model.take()?, None);
        let judge = Judge::with_executor(&parser.model().domain, self.executor.clone());
        let judged = evaluate(&parser, &judge, &self.dev, &|_| {});
        self.model = Some(parser.into_model());
        Some(Report::new(&judged))
    }

    fn row(&self, epoch: usize, loss: f64) -> Map<String, Value> {
        let progress = epoch as f32 / self.config.training.epochs as f32;
        let rate = rates(&self.config.training, progress);
        Map::from_iter([
            ("epoch".to_owned(), json!(epoch)),
            ("step".to_owned(), json!(self.adam.steps())),
            ("loss".to_owned(), json!(loss)),
            ("derivable".to_owned(), json!(self.derivable)),
            ("rate_encoder".to_owned(), json!(rate.encoder)),
        ])
    }

    fn is_out_of_patience(&self) -> bool {
        let patience = self.config.training.patience;
        patience > 0 && self.state.best.is_some_and(|(_, ago)| ago >= patience)
    }

    fn keep_best(&mut self, report: &Option<Report>) {
        let score =
            report.as_ref().and_then(|report| report.denotation.or(report.exact_match)).unwrap_or(0.0);
        match self.state.best {
            Some((best, ago)) if score <= best => self.state.best = Some((best, ago + 1)),
            _ => {
                self.state.best = Some((score, 0));
                self.spare = trained_values(self.model());
            }
        }
    }

    fn add_to_average(&mut self) {
        let now = trained_values(self.model());
        self.state.n_averaged += 1;
        for (sum, now) in self.spare.iter_mut().zip(now) {
            match (sum.as_mut(), now) {
                (Some(sum), Some(now)) => sum.iter_mut().zip(now).for_each(|(sum, now)| *sum += now),
                (None, now) => *sum = now,
                (Some(_), None) => {}
            }
        }
    }

    fn write_metrics(&self) -> Result<(), TrainError> {
        write_text(&self.out.join("metrics.jsonl"), &self.state.metrics)?;
        let rows: Vec<EpochRow> = self.state.metrics.lines().filter_map(epoch_row).collect();
        write_text(&self.out.join("curves.svg"), &curves::svg(&rows))
    }
}

fn trained_values(model: &Model) -> Spare {
    let params = &model.network.params;
    params.shapes().map(|(id, _, _, is_trained)| is_trained.then(|| params.values(id))).collect()
}

fn epoch_row(line: &str) -> Option<EpochRow> {
    let row: Value = serde_json::from_str(line).ok()?;
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    Some(EpochRow {
        epoch: row.get("epoch")?.as_u64()? as usize,
        loss: number("loss")?,
        derivable_share: number("derivable")?,
        dev_exact: number("dev_exact_match").unwrap_or(f64::NAN),
        dev_denotation: number("dev_denotation"),
        lr: number("rate_encoder")?,
    })
}

fn dev_columns(report: &Option<Report>) -> Map<String, Value> {
    let Some(report) = report else { return Map::new() };
    report.to_json().into_iter().map(|(key, value)| (format!("dev_{key}"), value)).collect()
}

/// Learning rates at a point of training between 0 and 1: they rise, then fall in a straight line.
fn rates(training: &Training, progress: f32) -> Rates {
    let warm_up = training.warm_up;
    let factor = if progress < warm_up {
        progress / warm_up
    } else {
        ((1.0 - progress) / (1.0 - warm_up).max(f32::EPSILON)).max(0.0)
    };
    Rates {
        encoder: training.rate_encoder * factor,
        head: training.rate_head * factor,
        table: training.rate_tables * factor,
    }
}

/// Batches of similar length in random order: the examples are shuffled, sorted within pools of many batches, cut,
/// and the batches shuffled.
fn batches(
    n: usize,
    n_words: impl Fn(usize) -> usize,
    size: usize,
    seed: u64,
    epoch: usize,
) -> Vec<Vec<usize>> {
    const POOL: usize = 16;
    let mut random = Random::new(seed, &[6, epoch as u64]);
    let mut order: Vec<usize> = (0..n).collect();
    random.shuffle(&mut order);
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for pool in order.chunks_mut(size * POOL) {
        pool.sort_by_key(|&at| n_words(at));
        batches.extend(pool.chunks(size).map(<[usize]>::to_vec));
    }
    random.shuffle(&mut batches);
    batches
}

fn make_directory(path: &Path) -> Result<(), TrainError> {
    std::fs::create_dir_all(path)
        .map_err(|error| TrainError::Write { path: path.display().to_string(), reason: error.to_string() })
}

fn write_text(path: &Path, text: &str) -> Result<(), TrainError> {
    write_atomic(path, |file| file.write_all(text.as_bytes())).map_err(TrainError::Data)
}
