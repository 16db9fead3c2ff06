//! The chart parser: a CKY chart over typed programs, searched and summed exactly.
//!
//! The network scores spans for labels; [`ScoredChart`] turns the logits of one utterance into the scores of its typed
//! chart. Decoding takes the Viterbi derivation, objectives take the inside-outside sums of the same chart.

mod decode;
mod dropout;
mod objectives;
mod scores;
mod settings;

pub(in crate::families) use dropout::Dropped;
#[cfg(test)]
pub(in crate::families) use scores::WITHOUT_PHRASE;
pub use scores::{ChartInput, ScoredChart};
pub use settings::{ChartSettings, JoinScores};

use crate::families::Settings;
use crate::family::Task;
use crate::outcome::Details;
use crate::span_model::{Decoded, LossTarget, Prepared, SpanFamily, SpanGradient, SpanModel};
use rayon::prelude::*;
use spanwise_chart::budget::Meter;
use spanwise_chart::gold::GoldChart;
use spanwise_chart::gold_tree::{GoldDerivation, GoldTree};
use spanwise_chart::lattice::{ChartError, Lattice};
use spanwise_chart::semiring::{Max, Sum};
use spanwise_chart::typed::RuleValues;
use spanwise_core::Utterance;
use spanwise_lang::Terms;
use spanwise_nn::{Item, Pieces};

/// Utterances that go through the network together when trees are searched.
const BATCH: usize = 32;

/// A model that parses with the typed chart.
#[derive(Debug)]
pub struct ChartParser {
    pub(super) model: SpanModel,
    settings: ChartSettings,
    /// The rule scores in the max semiring, for the Viterbi derivation.
    best_rules: RuleValues<Max>,
    /// The rule scores in the sum semiring, for the log-partition and marginals.
    sum_rules: RuleValues<Sum>,
}

impl ChartParser {
    pub(super) fn new(model: SpanModel, settings: ChartSettings) -> Self {
        let best_rules = RuleValues::new(&model.grammar, &model.tables.rules);
        let sum_rules = RuleValues::new(&model.grammar, &model.tables.rules);
        Self { model, settings, best_rules, sum_rules }
    }
}

/// The derivations of a gold program, and the best of them.
struct BestGold {
    gold: GoldChart,
    best: GoldDerivation,
    lattice: Lattice,
}

impl ChartParser {
    /// The gold charts of a batch of tasks, scored in one pass of the network; none for a pair without a derivation.
    fn gold_charts(&self, terms: &Terms, tasks: &[Task<'_>], batch: &[usize]) -> Vec<(usize, BestGold)> {
        let inputs: Vec<(usize, ChartInput)> = batch
            .iter()
            .filter_map(|&at| Some((at, self.prepare(tasks[at].pair.utterance.clone()).ok()?)))
            .collect();
        let items: Vec<Item<'_>> = inputs
            .iter()
            .map(|(at, input)| {
                let (pieces, spans) = Self::parts(input);
                Item { pieces, lower: tasks[*at].lower, spans }
            })
            .collect();
        let logits = self.model.network.logits(&items);
        let chart = |(item, (at, input)): (usize, (usize, ChartInput))| {
            if !self.model.is_usable(logits.of(item)) {
                return None;
            }
            let mut chart = ScoredChart::new(self, &input, logits.of(item));
            let gold = chart.gold(terms, tasks[at].pair.program()?).ok()?;
            let best = gold.best(&chart.flat())?;
            Some((at, BestGold { gold, best, lattice: input.prepared.lattice }))
        };
        inputs.into_iter().enumerate().filter_map(chart).collect()
    }
}

impl SpanFamily for ChartParser {
    type Input = ChartInput;

    fn settings(&self) -> Settings {
        Settings::Chart(self.settings.clone())
    }

    fn model(&self) -> &SpanModel {
        &self.model
    }

    fn model_mut(&mut self) -> &mut SpanModel {
        &mut self.model
    }

    fn refresh(&mut self) {
        self.model.refresh();
        self.best_rules = RuleValues::new(&self.model.grammar, &self.model.tables.rules);
        self.sum_rules = RuleValues::new(&self.model.grammar, &self.model.tables.rules);
    }

    fn prepare(&self, utterance: Utterance) -> Result<ChartInput, ChartError> {
        Ok(ChartInput::new(self, self.model.prepare(utterance)?))
    }

    fn prepared(input: &ChartInput) -> &Prepared {
        &input.prepared
    }

    fn parts(input: &ChartInput) -> (&Pieces, &[(u32, u32)]) {
        (&input.prepared.pieces, &input.spans)
    }

    fn refusal(&self, input: &ChartInput) -> Option<String> {
        input.spans.is_empty().then(|| "no constant of the domain is allowed on any word".to_owned())
    }

    fn decode(&self, input: &ChartInput, logits: &[f32], details: Details, meter: &Meter) -> Decoded {
        decode::decode(ScoredChart::new(self, input, logits), details, meter)
    }

    fn work(&self, input: &ChartInput) -> u64 {
        input.grammar(self).total_work(input.prepared.lattice.n_positions())
    }

    fn loss(
        &self,
        input: &ChartInput,
        logits: &[f32],
        target: &LossTarget<'_>,
    ) -> Option<(f64, SpanGradient)> {
        let dropped = Dropped::draw(self, input, target);
        objectives::loss(ScoredChart::with_dropout(self, input, logits, dropped), target)
    }

    fn gold_trees(&self, terms: &mut Terms, tasks: &[Task<'_>]) -> Vec<Option<GoldTree>> {
        // Utterances of similar length share a batch.
        let mut order: Vec<usize> = (0..tasks.len()).collect();
        order.sort_by_key(|&at| (tasks[at].pair.utterance.len(), at));
        let shared: &Terms = terms;
        let mut charts: Vec<(usize, BestGold)> =
            order.par_chunks(BATCH).flat_map_iter(|batch| self.gold_charts(shared, tasks, batch)).collect();
        charts.sort_by_key(|(at, _)| *at);
        let mut trees = vec![None; tasks.len()];
        for (at, BestGold { gold, best, lattice }) in charts {
            trees[at] = gold.tree(&self.model.domain, &lattice, terms, &best);
        }
        trees
    }
}
