//! A run: epochs, checkpoints, metrics, and the weights that are kept in the end.

use crate::checkpoint::{self, Spare, State};
use crate::config::{Config, Training};
use crate::curves::{self, EpochRow};
use crate::error::TrainError;
use crate::pairs::Pair;
use crate::recombine::{Bank, Explained, Limits};
use crate::schedule::{batches, rates};
use crate::step::{self, Purpose, Task};
use crate::train::{Event, Trained, write_text};
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_domains::data::Example;
use spanwise_domains::exec::{self, Executor};
use spanwise_domains::load::Spec;
use spanwise_eval::calibrate;
use spanwise_eval::evaluate::evaluate;
use spanwise_eval::metrics::{Judge, Report};
use spanwise_lang::Terms;
use spanwise_model::{Model, Parser, Search};
use spanwise_nn::{AdamW, Item, Pieces, Random};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Most bytes of cached outputs of frozen layers.
const MAX_CACHE: usize = 4 << 30;
/// Most examples whose trees go into the bank of fragments.
const MAX_BANK: usize = 2_000;

/// Training utterances that a model shows.
const N_SAMPLES: usize = 6;

/// A run in progress.
pub(crate) struct Run<'a> {
    pub(crate) config: &'a Config,
    pub(crate) out: &'a Path,
    /// There but for moments in which a parser borrows it.
    pub(crate) model: Option<Model>,
    pub(crate) executor: Option<Arc<dyn Executor>>,
    pub(crate) terms: Terms,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) derivable: f64,
    pub(crate) dev: Vec<Example>,
    pub(crate) adam: AdamW,
    pub(crate) state: State,
    pub(crate) spare: Spare,
    /// What the frozen layers give for each pair.
    pub(crate) cache: Vec<Vec<f32>>,
}

/// What a pass over the data came to.
struct Pass {
    /// The mean loss.
    loss: f64,
    /// Of the examples, real and recombined, those that something was learned from, in percent. A search that finds no tree
    /// for an example learns nothing from it.
    learned: f64,
}

impl Run<'_> {
    fn model(&self) -> &Model {
        self.model.as_ref().expect("the model is only away while a parser has it")
    }

    fn model_mut(&mut self) -> &mut Model {
        self.model.as_mut().expect("the model is only away while a parser has it")
    }

    /// Goes on where a checkpoint was written.
    pub(crate) fn resume(&mut self) -> Result<(), TrainError> {
        let identity = self.state.identity.clone();
        let model = self.model.as_mut().expect("a run starts with a model");
        let (state, spare) =
            checkpoint::read(self.out, &identity, &mut model.network.params, &mut self.adam)?;
        model.refresh();
        (self.state, self.spare) = (state, spare);
        Ok(())
    }

    /// Trains to the end.
    pub(crate) fn go(
        mut self,
        watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<Trained, TrainError> {
        let Training { epochs, patience, average_epochs, .. } = self.config.training;
        self.write_metrics()?;
        self.fill_cache(watch)?;
        while self.state.epoch < epochs && !self.is_out_of_patience() {
            let epoch = self.state.epoch + 1;
            let pass = self.epoch(epoch, watch)?;
            let report = self.dev_report();
            let mut row = self.row(epoch, &pass);
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

    /// Replaces the weights by the average or the best ones, fits how far they can be trusted, looks at dev once more, and
    /// writes the model.
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
        let ece_of_posteriors = self.fit_confidence();
        let report = self.dev_report();
        let mut row = Map::from_iter([("final".to_owned(), json!(true))]);
        row.extend(dev_columns(&report));
        if let Some(ece) = ece_of_posteriors {
            row.insert("dev_ece_of_posteriors".to_owned(), json!(ece));
        }
        self.state.metrics += &format!("{}\n", Value::Object(row.clone()));
        self.write_metrics()?;
        let mut about = Map::new();
        let config = toml_edit::de::from_str::<Value>(&self.config.to_toml()).unwrap_or_default();
        about.insert("config".to_owned(), config);
        about.insert("n_pairs".to_owned(), json!(self.pairs.len()));
        about.insert("dev".to_owned(), Value::Object(dev_columns(&report)));
        about.insert("examples".to_owned(), json!(samples(&self.pairs)));
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

    /// One pass over the data.
    fn epoch(
        &mut self,
        epoch: usize,
        watch: &mut dyn FnMut(Event<'_>) -> ControlFlow<()>,
    ) -> Result<Pass, TrainError> {
        let training = &self.config.training;
        let seed = self.config.seed;
        let augmented = self.augmented(epoch);
        let n_real = self.pairs.len();
        let n_words = |at: usize| {
            let pair = if at < n_real { &self.pairs[at] } else { &augmented[at - n_real] };
            pair.utterance.len()
        };
        let n_all = n_real + augmented.len();
        let batches = batches(n_all, n_words, training.batch, seed, epoch);
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
            let done = step::run(model, self.config, &self.terms, &tasks, noise, Purpose::Training);
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
        Ok(Pass { loss: loss / n.max(1) as f64, learned: 100.0 * n as f64 / n_all.max(1) as f64 })
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
        let limits = Limits::of(&model.domain, &self.terms, &explained);
        let limits = Limits { choices: self.config.training.augment_choices, ..limits };
        let mut bank = Bank::new(&model.domain, &mut self.terms, &explained, limits);
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

    /// Fits how far answers can be trusted; gives the calibration error on dev without it.
    fn fit_confidence(&mut self) -> Option<f64> {
        let parser = Parser::new(self.model.take()?, None);
        let judge = Judge::with_executor(&parser.model().domain, self.executor.clone());
        let train: Vec<_> = self.pairs.iter().map(|pair| pair.utterance.clone()).collect();
        let fitted = calibrate::fit(&parser, &judge, &train, &self.dev);
        let mut model = parser.into_model();
        model.confidence = fitted.confidence;
        self.model = Some(model);
        fitted.ece_of_posteriors
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

    fn row(&self, epoch: usize, pass: &Pass) -> Map<String, Value> {
        let progress = epoch as f32 / self.config.training.epochs as f32;
        let rate = rates(&self.config.training, progress);
        Map::from_iter([
            ("epoch".to_owned(), json!(epoch)),
            ("step".to_owned(), json!(self.adam.steps())),
            ("loss".to_owned(), json!(pass.loss)),
            ("derivable".to_owned(), json!(self.derivable)),
            ("learned".to_owned(), json!(pass.learned)),
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

/// A few training utterances from short to long, to show what can be asked.
fn samples(pairs: &[Pair]) -> Vec<&str> {
    let mut texts: Vec<(usize, &str)> =
        pairs.iter().map(|pair| (pair.utterance.len(), pair.utterance.text())).collect();
    texts.sort_unstable();
    texts.dedup();
    let n = texts.len().min(N_SAMPLES);
    (0..n).map(|at| texts[(2 * at + 1) * texts.len() / (2 * n)].1).collect()
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
    })
}

fn dev_columns(report: &Option<Report>) -> Map<String, Value> {
    let Some(report) = report else { return Map::new() };
    report.to_json().into_iter().map(|(key, value)| (format!("dev_{key}"), value)).collect()
}
