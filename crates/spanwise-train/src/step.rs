//! One step: a batch through the network, charts for the loss, gradients back.
//!
//! A batch is cut into shards, one thread each, always the same number whatever the machine has: sums then do not
//! depend on it. Each shard runs its charts between its own forward and backward pass, so no core waits.

use crate::config::{Config, Objective};
use crate::pairs::Pair;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::lattice::Scores;
use spanwise_chart::objective::{Target, crf, marginal};
use spanwise_chart::semiring::Sum;
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_lang::Terms;
use spanwise_model::{Model, PaperPrepared, Prepared, Search, Tables, TypedGradient};
use spanwise_nn::{Gradients, Item, Logits, Noise, Pieces, sum};
use std::time::Instant;

/// Shards of a batch.
pub(crate) const N_SHARDS: usize = 2;

/// A pair on its way through a step.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) pair: &'a Pair,
    /// What the frozen layers give for it, if that is known.
    pub(crate) lower: Option<&'a [f32]>,
    /// What it counts.
    pub(crate) weight: f32,
}

/// Seconds that the parts of a step took, as means over its shards.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StepTime {
    /// From words to pieces, and what may stand where.
    pub prepare: f64,
    /// The network forward.
    pub forward: f64,
    /// The charts.
    pub charts: f64,
    /// The network backward.
    pub backward: f64,
}

impl StepTime {
    fn add_share(&mut self, other: &Self) {
        let n = N_SHARDS as f64;
        self.prepare += other.prepare / n;
        self.forward += other.forward / n;
        self.charts += other.charts / n;
        self.backward += other.backward / n;
    }
}

/// What came of a step.
pub(crate) struct Done {
    pub(crate) time: StepTime,
    pub(crate) gradients: Gradients,
    /// The sum of the losses of all pairs with a derivation, unweighted.
    pub(crate) loss: f64,
    pub(crate) n_derived: usize,
}

enum Ready {
    Typed(Box<Prepared>),
    Paper(Box<PaperPrepared>),
}

impl Ready {
    fn parts(&self) -> (&Pieces, &[(u32, u32)]) {
        match self {
            Self::Typed(prepared) => (&prepared.pieces, &prepared.spans),
            Self::Paper(prepared) => (&prepared.pieces, &prepared.spans),
        }
    }
}

/// What a step is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// To learn.
    Training,
    /// To time the encoder alone: one span is scored per utterance, the loss is the sum of its logits, there are no charts.
    TimingEncoder,
}

/// Computes loss and gradients of a batch. `seed` decides what is dropped.
pub(crate) fn run(
    model: &Model,
    config: &Config,
    terms: &Terms,
    tasks: &[Task<'_>],
    seed: u64,
    purpose: Purpose,
) -> Done {
    let rules = RuleValues::new(&model.grammar, &model.tables.rules);
    let shared = Shared { model, config, terms, rules, scale: 1.0 / tasks.len().max(1) as f32, purpose };
    // Every other one: neighbours are of similar length, so that both shards take the same time.
    let shards: Vec<Vec<Task<'_>>> =
        (0..N_SHARDS).map(|shard| tasks.iter().copied().skip(shard).step_by(N_SHARDS).collect()).collect();
    let outcomes: Vec<ShardDone> = std::thread::scope(|scope| {
        let shared = &shared;
        let run = |(at, shard)| {
            scope.spawn(move || {
                shared.shard(shard, seed.wrapping_mul(N_SHARDS as u64).wrapping_add(at as u64))
            })
        };
        let threads: Vec<_> =
            shards.iter().enumerate().map(|(at, shard)| (at, shard.as_slice())).map(run).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut tables = model.tables.zeros();
    let (mut loss, mut n_derived, mut gradients, mut time) = (0.0, 0, Vec::new(), StepTime::default());
    for outcome in outcomes {
        tables.add(&outcome.tables);
        loss += outcome.loss;
        time.add_share(&outcome.time);
        n_derived += outcome.n_derived;
        gradients.push(outcome.gradients);
    }
    let mut gradients = sum(gradients);
    model.place(tables, &mut gradients);
    Done { time, gradients, loss, n_derived }
}

struct Shared<'a> {
    model: &'a Model,
    config: &'a Config,
    terms: &'a Terms,
    rules: RuleValues<Sum>,
    scale: f32,
    purpose: Purpose,
}

struct ShardDone {
    time: StepTime,
    gradients: Gradients,
    tables: Tables,
    loss: f64,
    n_derived: usize,
}

impl Shared<'_> {
    fn shard(&self, tasks: &[Task<'_>], seed: u64) -> ShardDone {
        let started = Instant::now();
        let model = self.model;
        let ready: Vec<(Task<'_>, Ready)> = tasks
            .iter()
            .filter_map(|task| {
                let utterance = task.pair.utterance.clone();
                // Too long for a chart: such pairs were left out before.
                let ready = match model.settings.search {
                    Search::Exact => Ready::Typed(Box::new(model.prepare(utterance).ok()?)),
                    Search::Paper => Ready::Paper(Box::new(model.prepare_paper(utterance).ok()?)),
                };
                Some((*task, ready))
            })
            .collect();
        let missing: Vec<&Pieces> = ready
            .iter()
            .filter(|(task, _)| model.network.is_frozen_below() && task.lower.is_none())
            .map(|(_, ready)| ready.parts().0)
            .collect();
        let mut computed = model.network.lower(&missing).into_iter();
        let lower: Vec<Option<std::borrow::Cow<'_, [f32]>>> = ready
            .iter()
            .map(|(task, _)| {
                task.lower.map(std::borrow::Cow::Borrowed).or_else(|| {
                    model
                        .network
                        .is_frozen_below()
                        .then(|| computed.next().map(std::borrow::Cow::Owned))
                        .flatten()
                })
            })
            .collect();
        let items: Vec<Item<'_>> = ready
            .iter()
            .zip(&lower)
            .map(|((_, ready), lower)| {
                let (pieces, spans) = ready.parts();
                let spans = if self.purpose == Purpose::Training { spans } else { &[(0, 1)] };
                Item { pieces, lower: lower.as_deref(), spans }
            })
            .collect();
        let noise = Noise { dropout: self.config.training.dropout, seed };
        let prepared = Instant::now();
        let (gradients, ((tables, loss, n_derived), begun, ended)) =
            model.network.gradients(&items, noise, |logits| {
                let begun = Instant::now();
                let (gradients, found) = self.respond(&ready, logits);
                (gradients, (found, begun, Instant::now()))
            });
        let time = StepTime {
            prepare: (prepared - started).as_secs_f64(),
            forward: (begun - prepared).as_secs_f64(),
            charts: (ended - begun).as_secs_f64(),
            backward: ended.elapsed().as_secs_f64(),
        };
        ShardDone { time, gradients, tables, loss, n_derived }
    }

    fn respond(&self, ready: &[(Task<'_>, Ready)], logits: &Logits) -> (Vec<Vec<f32>>, (Tables, f64, usize)) {
        let mut gradients = logits.zeros();
        let mut tables = self.model.tables.zeros();
        let (mut total, mut n_derived) = (0.0, 0);
        if self.purpose == Purpose::TimingEncoder {
            gradients.iter_mut().flatten().for_each(|gradient| *gradient = self.scale);
            return (gradients, (tables, total, n_derived));
        }
        for (at, (task, ready)) in ready.iter().enumerate() {
            let found = match ready {
                Ready::Typed(prepared) => self.typed(task.pair, prepared, logits.of(at)),
                Ready::Paper(prepared) => self.paper(task.pair, prepared, logits.of(at)),
            };
            let Some((loss, mut gradient)) = found else { continue };
            let factor = self.scale * task.weight;
            gradient.scale(factor);
            tables.add(&gradient.tables);
            gradients[at] = gradient.logits;
            total += loss;
            n_derived += 1;
        }
        (gradients, (tables, total, n_derived))
    }

    fn typed(&self, pair: &Pair, prepared: &Prepared, logits: &[f32]) -> Option<(f64, TypedGradient)> {
        let model = self.model;
        let (leaves, joins) = model.typed_scores(prepared, logits, &model.tables);
        let scores = Scores { leaves: &leaves, rules: &model.tables.rules, joins: &joins };
        let input = Input::new(&model.domain, &model.grammar, &prepared.lattice, scores).ok()?;
        let joined = if joins.is_empty() { Joins::None } else { Joins::Merges };
        let (domain, grammar, lattice) = (&model.domain, &model.grammar, &prepared.lattice);
        let gold = GoldChart::new(domain, grammar, lattice, self.terms, pair.program, joined).ok()?;
        let allowed = pair.leaves.as_ref().map(|gold| lattice.mask(gold));
        let loss = match (self.config.training.objective, &allowed) {
            (Objective::HardEm, _) => crf(&input, &self.rules, &gold, Target::Best),
            // A gold tree that the chart cannot build says nothing; its program still does.
            (Objective::GoldTrees, Some(allowed)) => crf(&input, &self.rules, &gold, Target::Leaves(allowed))
                .or_else(|| crf(&input, &self.rules, &gold, Target::All)),
            _ => crf(&input, &self.rules, &gold, Target::All),
        }?;
        Some((loss.value, model.typed_gradient(prepared, &loss.gradient)))
    }

    fn paper(&self, pair: &Pair, prepared: &PaperPrepared, logits: &[f32]) -> Option<(f64, TypedGradient)> {
        let model = self.model;
        let (domain, grammar) = (&model.domain, &model.grammar);
        let scores = model.paper_scores(prepared, logits, &model.tables).ok()?;
        let lattice = model.settings.candidates().lattice(domain, &prepared.utterance).ok()?;
        // Trees come from a chart that holds all trees of the program, not from the beam: before anything is learned
        // the beam finds no tree for most long programs, and then nothing is.
        let gold = GoldChart::new(domain, grammar, &lattice, self.terms, pair.program, Joins::Tree).ok()?;
        let loss = |target| marginal(&scores, &lattice, grammar.n_rules(), &gold, target);
        let loss = match (self.config.training.objective, &pair.leaves) {
            (Objective::Marginal, _) => loss(Target::All),
            // Where the chart has no tree with the gold leaves, any tree of the program will do.
            (Objective::GoldTrees, Some(leaves)) => {
                loss(Target::BestWithLeaves(&lattice.mask(leaves))).or_else(|| loss(Target::Best))
            }
            (Objective::GoldTrees | Objective::HardEm | Objective::Crf, _) => loss(Target::Best),
        }?;
        Some((loss.value, model.paper_gradient(prepared, &loss.gradient)))
    }
}
