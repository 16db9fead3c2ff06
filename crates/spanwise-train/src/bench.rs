//! How long the parts of a training step take.
//!
//! A step is timed twice on every batch: once as training runs it, for the total, and once with clocks between its
//! parts. Both do the same work; the clocks are outside of what training runs.

use crate::TrainError;
use crate::config::{Config, ConfigError};
use crate::pairs::{self, Pair};
use crate::step::{self, N_SHARDS, Task};
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::lattice::Scores;
use spanwise_chart::objective::{Target, crf_towards};
use spanwise_chart::semiring::Sum;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_domains::data;
use spanwise_domains::load::Spec;
use spanwise_lang::Terms;
use spanwise_model::{Labels, Model, Prepared, Search, Tables};
use spanwise_nn::pretrained::{Pretrained, PretrainedError};
use spanwise_nn::{AdamW, AdamWConfig, Gradients, Item, Logits, Network, Noise, Pieces, Random, Rates, sum};
use std::path::Path;
use std::time::Instant;

/// Steps that are run first and not counted.
const WARM_UP: usize = 3;

/// Seconds that one step took, part by part. Parts that run in several threads are means over the threads.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StepTime {
    /// The whole step, as training runs it.
    pub total: f64,
    /// From words to pieces, and what may stand where.
    pub prepare: f64,
    /// The network forward.
    pub forward: f64,
    /// The charts.
    pub charts: f64,
    /// The network backward.
    pub backward: f64,
    /// Sums of gradients and the optimiser.
    pub optimiser: f64,
}

/// What was measured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StepTimes {
    /// Every step.
    pub steps: Vec<StepTime>,
    /// Training pairs.
    pub n_pairs: usize,
    /// Pairs of a step.
    pub batch: usize,
    /// Word pieces of a step, on average.
    pub pieces_per_step: f64,
    /// Numbers that are trained.
    pub n_trained: usize,
    /// Seconds it took to compute the frozen layers for all pairs once.
    pub cache: f64,
}

/// Times training steps on the pairs of a configuration, with a pretrained encoder from a directory.
///
/// With `encoder_only` a step is the encoder alone: one span is scored per utterance, the loss is the sum of its logits,
/// and there are no charts.
///
/// # Errors
/// As training has them. Only the exact search with the objective `crf` can be timed.
pub fn time_steps(
    config: &Config,
    data: &Path,
    encoder: &Path,
    n_steps: usize,
    encoder_only: bool,
) -> Result<StepTimes, TrainError> {
    config.check()?;
    if config.model.search != Search::Exact {
        let text = "only steps with `model.search = \"exact\"` can be timed";
        return Err(ConfigError::Conflict(text.to_owned()).into());
    }
    let mut config = config.clone();
    config.training.objective = crate::config::Objective::Crf;
    let (model, terms, pairs) = set_up(&config, data, encoder)?;
    let adam_config = AdamWConfig {
        weight_decay: config.training.weight_decay,
        clip: config.training.clip,
        ..AdamWConfig::default()
    };
    let adam = AdamW::new(adam_config, &model.network.params);
    let started = Instant::now();
    let lower = lower(&model, &pairs);
    let cache = started.elapsed().as_secs_f64();
    let n_trained = model.network.params.n_trained();
    let batches = batches(&pairs, config.training.batch);
    let n_pieces: Vec<usize> =
        pairs.iter().map(|pair| model.tokenizer.encode(&pair.utterance).ids.len()).collect();

    let mut bench = Bench { config: &config, model, adam, terms, pairs: &pairs, lower, encoder_only };
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
    let domain = Spec::parse(&config.domain).load()?;
    let path = data.join(&config.data.train);
    let file = path.display().to_string();
    let mut terms = domain.new_terms();
    let read = pairs::read_programs(&data::read(&path)?, &mut terms, &file)?;
    let mut labels = Labels::new(&domain);
    labels.mark_rare(&domain, &terms, read.iter().map(|(_, program)| program), config.model.rare_below);
    let head = Model::head(&labels, &config.model);
    let named = |reason: String| TrainError::Encoder { encoder: encoder.display().to_string(), reason };
    let Pretrained { config: shape, mut weights, tokenizer } =
        Pretrained::open(encoder).map_err(|error: PretrainedError| named(error.to_string()))?;
    let frozen = config.training.frozen_layers;
    let network = Network::pretrained(shape, &mut weights, head, frozen, config.seed)
        .map_err(|error| named(error.to_string()))?;
    let model = Model::new(domain, config.model.clone(), labels, tokenizer, network);
    let pairs = pairs::derivable(&model, &terms, read, &[], config.training.objective).list;
    if pairs.is_empty() {
        return Err(TrainError::Empty { file });
    }
    Ok((model, terms, pairs))
}

/// What the frozen layers give for each pair.
fn lower(model: &Model, pairs: &[Pair]) -> Vec<Vec<f32>> {
    let pieces: Vec<Pieces> = pairs.iter().map(|pair| model.tokenizer.encode(&pair.utterance)).collect();
    pieces.iter().flat_map(|pieces| model.network.lower(&[pieces])).collect()
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
    config: &'a Config,
    model: Model,
    adam: AdamW,
    terms: Terms,
    pairs: &'a [Pair],
    lower: Vec<Vec<f32>>,
    encoder_only: bool,
}

/// What a thread did, and how long it took.
struct Shard {
    gradients: Gradients,
    tables: Tables,
    time: StepTime,
}

impl Bench<'_> {
    fn step(&mut self, batch: &[usize], seed: u64) -> StepTime {
        // Nothing moves: every step does the same work on the same weights.
        let rates = Rates { encoder: 0.0, head: 0.0, table: 0.0 };
        let started = Instant::now();
        let timed = self.timed(batch, seed);
        let summed = Instant::now();
        let mut tables = self.model.tables.zeros();
        let mut time = StepTime::default();
        let mut gradients = Vec::with_capacity(N_SHARDS);
        for shard in timed {
            tables.add(&shard.tables);
            gradients.push(shard.gradients);
            time.prepare += shard.time.prepare / N_SHARDS as f64;
            time.forward += shard.time.forward / N_SHARDS as f64;
            time.charts += shard.time.charts / N_SHARDS as f64;
            time.backward += shard.time.backward / N_SHARDS as f64;
        }
        let mut gradients = sum(gradients);
        if !self.encoder_only {
            self.model.place(tables, &mut gradients);
        }
        self.adam.step(&mut self.model.network.params, &gradients, rates);
        self.model.refresh();
        time.optimiser = summed.elapsed().as_secs_f64();
        time.total = started.elapsed().as_secs_f64();
        if !self.encoder_only {
            let started = Instant::now();
            let tasks: Vec<Task<'_>> = batch
                .iter()
                .map(|&at| Task { pair: &self.pairs[at], lower: Some(&self.lower[at]), weight: 1.0 })
                .collect();
            let done = step::run(&self.model, self.config, &self.terms, &tasks, seed);
            self.adam.step(&mut self.model.network.params, &done.gradients, rates);
            self.model.refresh();
            time.total = started.elapsed().as_secs_f64();
        }
        time
    }

    fn timed(&self, batch: &[usize], seed: u64) -> Vec<Shard> {
        let rules = RuleValues::new(&self.model.grammar, &self.model.tables.rules);
        std::thread::scope(|scope| {
            let rules = &rules;
            let threads: Vec<_> = (0..N_SHARDS)
                .map(|shard| {
                    let tasks: Vec<usize> = batch.iter().copied().skip(shard).step_by(N_SHARDS).collect();
                    scope.spawn(move || self.shard(&tasks, rules, batch.len(), seed))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    }

    fn shard(&self, tasks: &[usize], rules: &RuleValues<Sum>, n_batch: usize, seed: u64) -> Shard {
        let started = Instant::now();
        let model = &self.model;
        let ready: Vec<(usize, Prepared)> = tasks
            .iter()
            .filter_map(|&at| Some((at, model.prepare(self.pairs[at].utterance.clone()).ok()?)))
            .collect();
        let items: Vec<Item<'_>> = ready
            .iter()
            .map(|(at, prepared)| Item {
                pieces: &prepared.pieces,
                lower: Some(self.lower[*at].as_slice()),
                spans: if self.encoder_only { &[(0, 1)] } else { &prepared.spans },
            })
            .collect();
        let noise = Noise { dropout: self.config.training.dropout, seed };
        let prepared = Instant::now();
        let (gradients, (tables, begun, ended)) = model.network.gradients(&items, noise, |logits| {
            let begun = Instant::now();
            let (gradients, tables) = self.respond(&ready, logits, rules, 1.0 / n_batch as f32);
            (gradients, (tables, begun, Instant::now()))
        });
        let time = StepTime {
            prepare: (prepared - started).as_secs_f64(),
            forward: (begun - prepared).as_secs_f64(),
            charts: (ended - begun).as_secs_f64(),
            backward: ended.elapsed().as_secs_f64(),
            ..StepTime::default()
        };
        Shard { gradients, tables, time }
    }

    fn respond(
        &self,
        ready: &[(usize, Prepared)],
        logits: &Logits,
        rules: &RuleValues<Sum>,
        scale: f32,
    ) -> (Vec<Vec<f32>>, Tables) {
        let model = &self.model;
        let mut gradients = logits.zeros();
        let mut tables = model.tables.zeros();
        if self.encoder_only {
            gradients.iter_mut().flatten().for_each(|gradient| *gradient = scale);
            return (gradients, tables);
        }
        for (row, (at, prepared)) in ready.iter().enumerate() {
            let (leaves, joins) = model.typed_scores(prepared, logits.of(row), &model.tables);
            let scores = Scores { leaves: &leaves, rules: &model.tables.rules, joins: &joins };
            let joined = if joins.is_empty() { Joins::None } else { Joins::Merges };
            let (domain, grammar, lattice) = (&model.domain, &model.grammar, &prepared.lattice);
            let program = self.pairs[*at].program;
            let found = Input::new(domain, grammar, lattice, scores).ok().and_then(|input| {
                let gold = GoldChart::new(domain, grammar, lattice, &self.terms, program, joined).ok()?;
                crf_towards(&input, rules, &gold, Target::All)
            });
            if let Some(loss) = found {
                let mut gradient = model.typed_gradient(prepared, &loss.gradient);
                gradient.scale(scale);
                tables.add(&gradient.tables);
                gradients[row] = gradient.logits;
            }
        }
        (gradients, tables)
    }
}
