//! What a model has considered for an utterance: every span with its probability.
//!
//! An utterance comes in, spans go out. Only the exact search has such probabilities; the paper's search sums nothing.

use crate::model::Model;
use crate::settings::Search;
use spanwise_chart::lattice::Scores;
use spanwise_chart::spans::{SpanPosterior, span_posteriors};
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::Utterance;
use spanwise_nn::Item;

/// Spans that are less probable than this are left out.
const LEAST: f64 = 1e-4;

impl Model {
    /// The spans of an utterance that may mean something as a whole. Empty for an utterance without any, and for models
    /// with the paper's search. Cost: one pass through the network, and the marginals of the chart.
    #[must_use]
    pub fn span_posteriors(&self, utterance: Utterance) -> Vec<SpanPosterior> {
        if self.settings.search == Search::Paper || utterance.is_empty() {
            return Vec::new();
        }
        let Ok(prepared) = self.prepare(utterance) else { return Vec::new() };
        if prepared.spans.is_empty() || prepared.pieces.ids.len() > self.network.encoder().max_pieces() {
            return Vec::new();
        }
        let item = Item { pieces: &prepared.pieces, lower: None, spans: &prepared.spans };
        let logits = self.network.logits(&[item]);
        let (leaves, joins) = self.typed_scores(&prepared, logits.of(0), &self.tables);
        let scores = Scores { leaves: &leaves, rules: &self.tables.rules, joins: &joins };
        let Ok(input) = Input::new(&self.domain, &self.grammar, &prepared.lattice, scores) else {
            return Vec::new();
        };
        span_posteriors(&input, &RuleValues::new(&self.grammar, &self.tables.rules), LEAST)
    }
}
