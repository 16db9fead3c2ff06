//! The training loop: epochs, evaluation on dev, checkpoints, and the choice of the final weights.

use crate::augment::{recombined, with_noise};
use crate::cache::Cache;
use crate::checkpoint::{self, Best, Spare, State};
use crate::config::{Config, Training};
use crate::curves;
use crate::error::TrainError;
use crate::row::{EpochRow, FinalRow};
use crate::schedule::{batches, rates};
use crate::step::Step;
use crate::train::{Event, Trained, Watch, write_text};
use serde_json::{Value, json};
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_domains::exec::Executor;
use spanwise_eval::calibrate;
use spanwise_eval::evaluate::evaluate;
use spanwise_eval::metrics::{Evaluator, Report};
use spanwise_lang::Terms;
use spanwise_model::{DirectoryLock, ExecutorPolicy, Model, Pair, Parser, Task, consent};
use spanwise_nn::{AdamW, Random};
use std::path::Path;
use std::sync::Arc;

/// The number of training utterances that are saved with a model as examples.
const N_SAMPLES: usize = 6;

/// A run in progress.
pub(crate) struct Run<'a> {
    pub(crate) config: &'a Config,
    pub(crate) out: &'a Path,
    /// Keeps other trainings out of `out`.
    pub(crate) lock: DirectoryLock,
    pub(crate) model: Model,
    pub(crate) executor: Option<Arc<dyn Executor>>,
    pub(crate) terms: Terms,
    /// Real examples, then generated ones.
    pub(crate) pairs: Vec<Pair>,
    /// How many of them are real.
    pub(crate) n_own: usize,
    /// Utterances that have no program. They teach the confidence, not the parser.
    pub(crate) unanswerable: Vec<Utterance>,
    /// The share of training examples that can be derived, in percent.
    pub(crate) derivable: f64,
    pub(crate) dev: Vec<Example>,
    pub(crate) adam: AdamW,
    pub(crate) state: State,
    pub(crate) spare: Spare,
    pub(crate) cache: Cache,
}

/// The result of a pass over the data.
struct Pass {
    /// The mean loss.
    loss: f64,
    /// The share of examples, real and recombined, that contributed to it, in percent.
    learned: f64,
}

impl Run<'_> {
    /// Restores the state of a checkpoint.
    pub(crate) fn resume(&mut self, watch: &mut Watch<'_>) -> Result<(), TrainError> {
        let params = self.model.family.params_mut();
        let read = checkpoint::read(self.out, &self.state.identity, params, &mut self.adam)?;
        (self.state, self.spare) = read;
        self.model.family.refresh();
        if !self.state.is_sealed {
            let path = self.out.join(checkpoint::FILE);
            let text =
                format!("{} was written without a digest: damage to it cannot be detected", path.display());
            let _ = watch(Event::Warning { text: &text });
        }
        let _ = watch(Event::Resumed { epoch: self.state.epoch() });
        Ok(())
    }

    /// Trains until the last epoch, or until early stopping. Each epoch is followed by an evaluation on dev and a checkpoint.
    pub(crate) fn train(mut self, watch: &mut Watch<'_>) -> Result<Trained, TrainError> {
        let Training { epochs, patience, average_epochs, .. } = self.config.training;
        self.write_metrics(None)?;
        self.fill_cache(watch)?;
        while self.state.epoch() < epochs && !self.is_out_of_patience() {
            let epoch = self.state.epoch() + 1;
            let pass = self.epoch(epoch, watch)?;
            let row = self.row(epoch, &pass);
            self.state.rows.push(row.clone());
            if patience > 0 {
                self.keep_best(row.dev.as_ref());
            } else if epoch + average_epochs > epochs {
                self.add_to_average();
            }
            let params = self.model.family.params();
            checkpoint::write(self.out, &self.state, params, &self.adam, &self.spare)?;
            self.write_metrics(None)?;
            if watch(Event::Epoch { row: &row }).is_break() && epoch < epochs {
                return Err(TrainError::Stopped { epoch, epochs });
            }
        }
        self.finish()
    }

    /// One pass over the data, in steps.
    fn epoch(&mut self, epoch: usize, watch: &mut Watch<'_>) -> Result<Pass, TrainError> {
        let (training, seed) = (&self.config.training, self.config.seed);
        // Generated examples are only exchanged with each other where there is nothing else.
        let n_own = if self.n_own == 0 { self.pairs.len() } else { self.n_own };
        let sources = &self.pairs[..n_own];
        let augmented = recombined(self.config, &self.model, &mut self.terms, sources, &self.cache, epoch);
        let n_real = self.pairs.len();
        let weight = |at: usize| match at {
            at if at < n_own => 1.0,
            at if at < n_real => training.generated_weight,
            _ => training.augment_weight,
        };
        let n_all = n_real + augmented.len();
        let noisy = with_noise(self.config, self.pairs.iter().chain(&augmented), epoch);
        let task = |at: usize| match (&noisy[at], at.checked_sub(n_real)) {
            (Some(pair), _) => Task { pair, lower: None, weight: weight(at) },
            (None, None) => Task { pair: &self.pairs[at], lower: self.cache.get(at), weight: weight(at) },
            (None, Some(new)) => Task { pair: &augmented[new], lower: None, weight: weight(at) },
        };
        let batches = batches(n_all, |at| task(at).pair.utterance.len(), training.batch, seed, epoch);
        let step = Step { objective: training.objective, dropout: training.dropout, encoder_only: false };
        let (mut loss, mut n_learned, steps) = (0.0, 0, batches.len());
        for (at, batch) in batches.iter().enumerate() {
            let tasks: Vec<Task<'_>> = batch.iter().map(|&at| task(at)).collect();
            let noise = Random::new(seed, &[4, epoch as u64, at as u64]).next();
            let result = step.run(&*self.model.family, &self.terms, &tasks, noise);
            loss += result.loss;
            n_learned += result.n_learned;
            let progress = (epoch as f32 - 1.0 + at as f32 / steps as f32) / training.epochs as f32;
            let diverged = || TrainError::Diverged { epoch, step: at + 1 };
            // Checked before the step, which would make all weights such numbers.
            if !loss.is_finite() {
                return Err(diverged());
            }
            let params = self.model.family.params_mut();
            let norm = self.adam.step(params, &result.gradients, rates(training, progress));
            if !norm.is_finite() {
                return Err(diverged());
            }
            self.model.family.refresh();
            let mean = loss / n_learned.max(1) as f64;
            let event = Event::Step { epoch, epochs: training.epochs, step: at + 1, steps, loss: mean };
            if watch(event).is_break() {
                return Err(TrainError::Stopped { epoch: self.state.epoch(), epochs: training.epochs });
            }
        }
        if !self.model.family.params().are_finite() {
            return Err(TrainError::Diverged { epoch, step: steps });
        }
        let learned = 100.0 * n_learned as f64 / n_all.max(1) as f64;
        Ok(Pass { loss: loss / n_learned.max(1) as f64, learned })
    }

    /// Replaces the weights by the average or the best ones, calibrates, evaluates on dev once more, and saves the model.
    fn finish(mut self) -> Result<Trained, TrainError> {
        self.use_spare();
        let ece_of_posteriors = self.calibrate();
        let row = FinalRow { dev: self.dev_report(), ece_of_posteriors };
        self.write_metrics(Some(&row))?;
        self.model.training = self.training_notes(&row);
        self.model.save_locked(&self.lock)?;
        // Whoever trains a model from a domain file has chosen its executor.
        let consent = consent::remember(&self.model).map_err(|error| error.to_string());
        let parser = Parser::with_policy(self.model, ExecutorPolicy::Allow)?;
        Ok(Trained { parser, row, consent })
    }

    /// The field `training` of `model.json`.
    fn training_notes(&self, row: &FinalRow) -> Value {
        let config = toml_edit::de::from_str::<Value>(&self.config.to_toml()).unwrap_or_default();
        let dev = FinalRow { ece_of_posteriors: None, ..row.clone() };
        let dev: Value = dev.to_json().into_iter().filter(|(key, _)| key != "final").collect();
        json!({ "config": config, "n_pairs": self.pairs.len(), "dev": dev, "examples": samples(&self.pairs) })
    }

    fn fill_cache(&mut self, watch: &mut Watch<'_>) -> Result<(), TrainError> {
        let epochs = self.config.training.epochs;
        if self.state.epoch() >= epochs {
            return Ok(());
        }
        let total = self.pairs.len();
        let mut progress = |done| watch(Event::Cache { done, total });
        match Cache::fill(&*self.model.family, &self.pairs, &mut progress).continue_value() {
            Some(cache) => self.cache = cache,
            None => return Err(TrainError::Stopped { epoch: self.state.epoch(), epochs }),
        }
        Ok(())
    }

    /// Fits the confidence of the model; returns the calibration error on dev without it.
    fn calibrate(&mut self) -> Option<f64> {
        let evaluator = Evaluator::with_executor(&self.model.domain, self.executor.clone());
        let train: Vec<_> = self.pairs.iter().map(|pair| pair.utterance.clone()).collect();
        let fitted = calibrate::fit(&self.model, &evaluator, &train, &self.dev);
        self.model.confidence = fitted.confidence;
        let (unanswerable, thresholds) = (&self.unanswerable, self.config.training.thresholds);
        calibrate::learn_effects(&mut self.model, &train, &self.dev, &fitted.right, unanswerable, thresholds);
        fitted.ece_of_posteriors
    }

    /// The metrics on dev; `None` without dev data.
    fn dev_report(&self) -> Option<Report> {
        if self.dev.is_empty() {
            return None;
        }
        let evaluator = Evaluator::with_executor(&self.model.domain, self.executor.clone());
        Some(Report::new(&evaluate(&self.model, &evaluator, &self.dev, &|_| {})))
    }

    fn row(&self, epoch: usize, pass: &Pass) -> EpochRow {
        let progress = epoch as f32 / self.config.training.epochs as f32;
        EpochRow {
            epoch,
            step: self.adam.steps(),
            loss: pass.loss,
            derivable: self.derivable,
            learned: pass.learned,
            rate_encoder: rates(&self.config.training, progress).encoder,
            dev: self.dev_report(),
        }
    }

    fn write_metrics(&self, last: Option<&FinalRow>) -> Result<(), TrainError> {
        let rows = self.state.rows.iter().map(EpochRow::to_json).chain(last.map(FinalRow::to_json));
        let text: String = rows.map(|row| format!("{}\n", Value::Object(row))).collect();
        write_text(&self.out.join("metrics.jsonl"), &text)?;
        write_text(&self.out.join("curves.svg"), &curves::svg(&self.state.rows))
    }
}

/// The final weights: the average of the last epochs, or those of the epoch with the best dev score.
impl Run<'_> {
    fn is_out_of_patience(&self) -> bool {
        let patience = self.config.training.patience;
        patience > 0 && self.state.best.is_some_and(|best| best.epochs_ago >= patience)
    }

    fn keep_best(&mut self, dev: Option<&Report>) {
        let score = dev.and_then(|report| report.denotation.or(report.exact_match)).unwrap_or(0.0);
        match &mut self.state.best {
            Some(best) if score <= best.score => best.epochs_ago += 1,
            best => {
                *best = Some(Best { score, epochs_ago: 0 });
                self.spare = self.trained_values();
            }
        }
    }

    fn add_to_average(&mut self) {
        let now = self.trained_values();
        self.state.n_averaged += 1;
        for (sum, now) in self.spare.iter_mut().zip(now) {
            match (sum.as_mut(), now) {
                (Some(sum), Some(now)) => sum.iter_mut().zip(now).for_each(|(sum, now)| *sum += now),
                (None, now) => *sum = now,
                (Some(_), None) => {}
            }
        }
    }

    fn use_spare(&mut self) {
        let n = if self.config.training.patience > 0 { 1 } else { self.state.n_averaged };
        if n == 0 {
            return;
        }
        let spare = std::mem::take(&mut self.spare);
        let params = self.model.family.params_mut();
        let ids: Vec<_> = params.shapes().map(|(id, ..)| id).collect();
        for (id, values) in ids.into_iter().zip(spare) {
            if let Some(values) = values {
                params.set(id, values.into_iter().map(|sum| sum / n as f32).collect());
            }
        }
        self.model.family.refresh();
    }

    fn trained_values(&self) -> Spare {
        let params = self.model.family.params();
        params.shapes().map(|(id, _, _, is_trained)| is_trained.then(|| params.values(id))).collect()
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
