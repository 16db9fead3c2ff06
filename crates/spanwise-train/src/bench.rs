//! Measures the time of the parts of a training step.

use crate::TrainError;
use crate::config::{Config, Training};
use crate::pairs;
use crate::step::Step;
use crate::train::{build, optimiser};
use spanwise_domains::data;
use spanwise_domains::exec;
use spanwise_domains::load::Spec;
use spanwise_lang::Terms;
pub use spanwise_model::StepTime;
use spanwise_model::{Model, Pair, Task};
use spanwise_nn::{AdamW, Pieces, Random, Rates};
use std::path::Path;
use std::time::Instant;

/// Steps that are run first and not counted.
const WARM_UP: usize = 3;

/// The time of one step, in seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct WholeStep {
    /// The whole step.
    pub total: f64,
    /// The parts that run in shards.
    pub parts: StepTime,
    /// The optimizer.
    pub optimiser: f64,
}

/// The measurements of [`time_steps`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepTimes {
    /// Every step.
    pub steps: Vec<WholeStep>,
    /// Training pairs.
    pub n_pairs: usize,
    /// Pairs per step.
    pub batch: usize,
    /// Mean number of word-pieces per step.
    pub pieces_per_step: f64,
    /// Trainable parameters.
    pub n_trained: usize,
    /// Seconds to compute the outputs of the frozen layers for all pairs once, without batching.
    pub cache: f64,
}

/// Times training steps on the pairs of a configuration, with a pretrained encoder from a directory.
///
/// With `encoder_only` a step is the encoder alone: one span is scored per utterance, the loss is the sum of its logits,
/// and there are no charts.
///
/// # Errors
/// Those of [`train`](crate::train).
pub fn time_steps(
    config: &Config,
    data: &Path,
    encoder: &Path,
    n_steps: usize,
    encoder_only: bool,
) -> Result<StepTimes, TrainError> {
    config.check()?;
    let (model, terms, pairs) = set_up(config, data, encoder)?;
    let adam = optimiser(config, &model);
    let started = Instant::now();
    let lower = lower(&model, &pairs);
    let cache = started.elapsed().as_secs_f64();
    let n_trained = model.family.params().n_trained();
    let batches = batches(&pairs, config.training.batch);
    let n_pieces: Vec<usize> =
        pairs.iter().map(|pair| model.family.tokenizer().encode(&pair.utterance).ids.len()).collect();

    let Training { objective, dropout, .. } = config.training;
    let step = Step { objective, dropout, encoder_only };
    let mut bench = Bench { step, model, adam, terms, pairs: &pairs, lower };
    let (mut steps, mut total_pieces) = (Vec::with_capacity(n_steps), 0);
    for (at, batch) in batches.iter().cycle().take(WARM_UP + n_steps).enumerate() {
        let time = bench.step(batch, at as u64);
        if at >= WARM_UP {
            steps.push(time);
            total_pieces += batch.iter().map(|&at| n_pieces[at]).sum::<usize>();
        }
    }
    Ok(StepTimes {
        n_pairs: pairs.len(),
        batch: config.training.batch,
        pieces_per_step: total_pieces as f64 / steps.len().max(1) as f64,
        steps,
        n_trained,
        cache,
    })
}

fn set_up(config: &Config, data: &Path, encoder: &Path) -> Result<(Model, Terms, Vec<Pair>), TrainError> {
    let spec = Spec::parse(&config.domain);
    let domain = spec.load()?;
    let path = data.join(&config.data.train);
    let file = path.display().to_string();
    let mut terms = domain.new_terms();
    let executor =
        exec::open(&domain, spec.directory()).map_err(|error| TrainError::Executor(error.to_string()))?;
    let read = pairs::read(config, &data::read(&path)?, executor.as_deref(), &mut terms, &file)?;
    let model = build(config, domain, Some(encoder), &read, &terms)?;
    let pairs = pairs::derivable(&model, &terms, read, &[], config.training.objective).list;
    if pairs.is_empty() {
        return Err(TrainError::Empty { file });
    }
    Ok((model, terms, pairs))
}

/// The outputs of the frozen layers for each pair.
fn lower(model: &Model, pairs: &[Pair]) -> Vec<Vec<f32>> {
    let pieces: Vec<Pieces> =
        pairs.iter().map(|pair| model.family.tokenizer().encode(&pair.utterance)).collect();
    pieces.iter().flat_map(|pieces| model.family.frozen_outputs(&[pieces]).unwrap_or_default()).collect()
}

/// Whole batches of similar length in random order.
fn batches(pairs: &[Pair], size: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by_key(|&at| (pairs[at].utterance.len(), at));
    let mut batches: Vec<Vec<usize>> =
        order.chunks_exact(size.min(pairs.len())).map(<[usize]>::to_vec).collect();
    Random::new(1, &[7]).shuffle(&mut batches);
    batches
}

struct Bench<'a> {
    step: Step,
    model: Model,
    adam: AdamW,
    terms: Terms,
    pairs: &'a [Pair],
    lower: Vec<Vec<f32>>,
}

impl Bench<'_> {
    fn step(&mut self, batch: &[usize], seed: u64) -> WholeStep {
        let started = Instant::now();
        let tasks: Vec<Task<'_>> = batch
            .iter()
            .map(|&at| Task {
                pair: &self.pairs[at],
                lower: self.lower.get(at).map(Vec::as_slice),
                weight: 1.0,
            })
            .collect();
        let done = self.step.run(&*self.model.family, &self.terms, &tasks, seed);
        let updating = Instant::now();
        // Learning rates of zero: the weights do not change, so every pass over the batches does the same work.
        let rates = Rates { encoder: 0.0, head: 0.0, table: 0.0 };
        self.adam.step(self.model.family.params_mut(), &done.gradients, rates);
        self.model.family.refresh();
        let optimiser = updating.elapsed().as_secs_f64();
        WholeStep { total: started.elapsed().as_secs_f64(), parts: done.time, optimiser }
    }
}
