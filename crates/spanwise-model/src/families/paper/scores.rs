//! From logits to the paper's scores of spans and categories, and back.

use super::PaperParser;
use crate::span_model::{Prepared, SpanGradient};
use spanwise_chart::paper::{PaperError, PaperScores, n_spans, span_index};
use spanwise_core::{Idx, Span};
use spanwise_lang::ConstantId;

/// An utterance ready for the network: every span is scored.
#[derive(Clone, Debug)]
pub struct PaperInput {
    /// The utterance with its lattice.
    pub prepared: Prepared,
    /// All spans, in the order of the paper's scores.
    pub spans: Vec<(u32, u32)>,
    /// For each span, the constants that are allowed on it, with their lexicon feature.
    candidates: Vec<Vec<(ConstantId, f32)>>,
}

impl PaperInput {
    pub(super) fn new(prepared: Prepared) -> Self {
        let n = prepared.utterance.len();
        let mut candidates = vec![Vec::new(); n_spans(n)];
        let leaves = prepared.lattice.leaves().iter().zip(&prepared.matches);
        // The paper's search has no literals.
        for (leaf, found) in leaves.filter(|(leaf, _)| leaf.value.is_none()) {
            let phrase = &found.weight;
            let span = Span::new(leaf.start, leaf.end);
            candidates[span_index(n, span)].push((leaf.constant, phrase.min(1.0)));
        }
        let words = n as u32;
        let spans = (0..words).flat_map(|start| (start + 1..=words).map(move |end| (start, end))).collect();
        Self { prepared, spans, candidates }
    }
}

impl PaperParser {
    /// A score for every span and category: logit plus lexicon feature, and minus infinity for constants that are not
    /// allowed there.
    ///
    /// # Errors
    /// Logits that are not numbers.
    pub(in crate::families) fn scores(
        &self,
        input: &PaperInput,
        logits: &[f32],
    ) -> Result<PaperScores, PaperError> {
        let (labels, tables) = (&self.model.labels, &self.model.tables);
        let (n, width) = (labels.len(), self.model.network.head().n_labels);
        let n_constants = self.model.domain.constants().len();
        let mut values = vec![f32::NEG_INFINITY; input.spans.len() * (n_constants + 2)];
        for ((row, out), candidates) in
            logits.chunks_exact(width).zip(values.chunks_exact_mut(n_constants + 2)).zip(&input.candidates)
        {
            for &(constant, phrase) in candidates {
                let label = labels.of(constant);
                let own = if labels.is_rare(label) { tables.rare } else { row[label] };
                out[constant.index()] = own + phrase * tables.lexicon;
            }
            out[n_constants] = row[n];
            out[n_constants + 1] = row[n + 1];
        }
        PaperScores::new(input.prepared.utterance.len(), n_constants, values)
    }

    /// The gradient of logits and tables from that of the scores: the transpose of [`PaperParser::scores`].
    pub(in crate::families) fn backward(&self, input: &PaperInput, gradient: &[f32]) -> SpanGradient {
        let labels = &self.model.labels;
        let (n, width) = (labels.len(), self.model.network.head().n_labels);
        let n_constants = self.model.domain.constants().len();
        let mut logits = vec![0.0; input.spans.len() * width];
        let mut tables = self.model.tables.zeros();
        for ((row, g), candidates) in
            logits.chunks_exact_mut(width).zip(gradient.chunks_exact(n_constants + 2)).zip(&input.candidates)
        {
            for &(constant, phrase) in candidates {
                let (label, g) = (labels.of(constant), g[constant.index()]);
                tables.lexicon += phrase * g;
                if labels.is_rare(label) {
                    tables.rare += g;
                } else {
                    row[label] += g;
                }
            }
            row[n] = g[n_constants];
            row[n + 1] = g[n_constants + 1];
        }
        SpanGradient { logits, tables }
    }
}
