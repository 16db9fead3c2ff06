//! The parser of Herzig & Berant (2021) as published: beam search over span categories, scored span by span.

mod objectives;
mod scores;
mod settings;

pub use scores::PaperInput;
pub use settings::{PaperSettings, TypeChecks};

use crate::families::Settings;
use crate::outcome::{Details, Parse, Refused};
use crate::provenance::align;
use crate::span_model::{Decoded, LossTarget, Prepared, SpanFamily, SpanGradient, SpanModel, exhausted};
use spanwise_chart::budget::Meter;
use spanwise_chart::gold::Joins;
use spanwise_chart::lattice::ChartError;
use spanwise_chart::objective::tree_scores;
use spanwise_chart::paper::{PaperError, PaperOutcome, decode_within, log_prob};
use spanwise_core::Utterance;
use spanwise_nn::Pieces;

/// A model that parses with the paper's search.
#[derive(Debug)]
pub struct PaperParser {
    pub(super) model: SpanModel,
    pub(super) settings: PaperSettings,
}

impl PaperParser {
    /// The best tree that the beam finds, as a parse.
    fn search(&self, input: &PaperInput, logits: &[f32], meter: &Meter) -> Result<Box<Parse>, Refused> {
        let broken = |error: PaperError| match error {
            PaperError::Exhausted(limit) => exhausted(&input.prepared, limit),
            error => Refused::no_program(format!("the scores are broken: {error}")),
        };
        let scores = self.scores(input, logits).map_err(broken)?;
        let mut terms = self.model.domain.new_terms();
        match decode_within(&self.model.domain, &mut terms, &scores, self.settings.search(), meter)
            .map_err(broken)?
        {
            PaperOutcome::Found { tree, program, score } => {
                let utterance = input.prepared.utterance.clone();
                let probability = log_prob(&scores, &tree).exp();
                let (lattice, n_rules) = (&input.prepared.lattice, self.model.grammar.n_rules());
                let flat = || tree_scores(&scores, lattice, n_rules).into_iter().map(|score| score as f32);
                let whole =
                    self.model.whole_phrases(&input.prepared, (&mut terms, program), &tree, meter, || {
                        (Joins::Tree.into(), flat().collect())
                    });
                let shown = whole.as_ref().unwrap_or(&tree);
                let provenance = align(shown, &vec![probability; utterance.len()], |_, _| probability);
                let parse = Parse::new(utterance, terms, program, probability, score);
                Ok(Box::new(Parse { tree: Some(tree), whole, provenance, ..parse }))
            }
            PaperOutcome::NoDerivation => Err(Refused::no_program("no tree over the words is a program")),
            PaperOutcome::BeamExhausted { width } => {
                Err(Refused::no_program(format!("none of the {width} best trees is a program")))
            }
        }
    }
}

impl SpanFamily for PaperParser {
    type Input = PaperInput;

    fn settings(&self) -> Settings {
        Settings::Paper(self.settings.clone())
    }

    fn model(&self) -> &SpanModel {
        &self.model
    }

    fn model_mut(&mut self) -> &mut SpanModel {
        &mut self.model
    }

    fn prepare(&self, utterance: Utterance) -> Result<PaperInput, ChartError> {
        let mut prepared = self.model.prepare(utterance)?;
        // The beam search knows nothing of words that must be used.
        prepared.lattice = prepared.lattice.lenient();
        Ok(PaperInput::new(prepared))
    }

    fn prepared(input: &PaperInput) -> &Prepared {
        &input.prepared
    }

    fn parts(input: &PaperInput) -> (&Pieces, &[(u32, u32)]) {
        (&input.prepared.pieces, &input.spans)
    }

    /// The beam search sums nothing, so there are no posteriors of spans.
    fn decode(&self, input: &PaperInput, logits: &[f32], _details: Details, meter: &Meter) -> Decoded {
        Decoded { parse: self.search(input, logits, meter), spans: Vec::new() }
    }

    /// Every span has a row of logits and a score for every constant.
    fn bytes(&self, n_words: usize) -> usize {
        let columns = self.model.domain.constants().len() + self.model.network.head().hidden;
        let columns = columns + 2 * self.model.network.head().n_labels;
        n_words.saturating_mul(n_words + 1).saturating_mul(columns * size_of::<f32>() / 2)
    }

    fn loss(
        &self,
        input: &PaperInput,
        logits: &[f32],
        target: &LossTarget<'_>,
    ) -> Option<(f64, SpanGradient)> {
        objectives::loss(self, input, logits, target)
    }
}
