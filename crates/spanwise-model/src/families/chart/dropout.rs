//! Label dropout: in training, some labels are scored by their phrases alone, as rare ones are.
//!
//! A rare constant is known by its phrase only, and nothing else would teach a model to compose with such constants: in
//! training, the network knows all the others. Label dropout hides some of them from the network, so that rules, usages and the
//! score of rare labels learn to do without it.

use super::{ChartInput, ChartParser};
use crate::span_model::LossTarget;
use spanwise_core::Random;
use spanwise_lang::Node;

/// The labels that are dropped for one pair, in one step; none outside of training.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in crate::families) struct Dropped(Vec<bool>);

impl Dropped {
    /// Draws from the labels whose names or phrases are in the utterance, each with the probability
    /// `ChartSettings::label_dropout`. A label stays if the program needs it more often than the words have it.
    ///
    /// Cost: one pass over the leaves and one over the program.
    pub(in crate::families) fn draw(
        parser: &ChartParser,
        input: &ChartInput,
        target: &LossTarget<'_>,
    ) -> Self {
        let share = parser.settings.label_dropout;
        if share == 0.0 {
            return Self::default();
        }
        let n_labels = parser.model.labels.len();
        let found = matches(input, n_labels);
        let needed = needed(parser, target, n_labels);
        let mut random = Random::new(target.seed, &[]);
        let draw = |(found, needed): (usize, usize)| found > 0 && random.uniform() < share && found >= needed;
        Self(found.into_iter().zip(needed).map(draw).collect())
    }

    /// Whether a label is dropped.
    #[inline]
    pub(in crate::families) fn contains(&self, label: usize) -> bool {
        self.0.get(label).is_some_and(|dropped| *dropped)
    }
}

/// How many exact matches each label has in the utterance that do not overlap.
fn matches(input: &ChartInput, n_labels: usize) -> Vec<usize> {
    let exact = input.labels().filter(|(.., is_exact)| *is_exact);
    let mut spans: Vec<(u32, u32, usize)> =
        exact.map(|(leaf, label, _)| (leaf.end, leaf.start, label)).collect();
    // Taking what ends first gives the most.
    spans.sort_unstable();
    let mut found = vec![0; n_labels];
    let mut ends = vec![0; n_labels];
    for (end, start, label) in spans {
        if start >= ends[label] {
            found[label] += 1;
            ends[label] = end;
        }
    }
    found
}

/// How often the program has each label.
fn needed(parser: &ChartParser, target: &LossTarget<'_>, n_labels: usize) -> Vec<usize> {
    let mut needed = vec![0; n_labels];
    let analysis =
        target.pair.program().and_then(|program| parser.model.domain.analyze(target.terms, program).ok());
    for node in analysis.iter().flat_map(|analysis| &analysis.nodes) {
        if let Node::Constant { constant, .. } = node {
            needed[parser.model.labels.of(*constant)] += 1;
        }
    }
    needed
}
