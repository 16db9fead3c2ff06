//! The hyper-parameters of the chart parser.

use super::ChartParser;
use crate::directory::ModelError;
use crate::family::{Blueprint, BuildError, Family, FamilySettings, Objective, Stored, fields};
use crate::span_model::{LexiconUse, SpanModel, Spec, check_sizes};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spanwise_chart::candidates::Candidates;
use spanwise_chart::grammar::{Discontinuity, N_USAGES, Options};

/// What a join is scored by, besides the rule that makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinScores {
    /// Nothing.
    None,
    /// The span it covers, scored as in the paper from both ends together.
    Span,
    /// Its first word and its last word, each on its own. The length of the span has no influence.
    #[default]
    Ends,
}

impl JoinScores {
    /// Columns of logits that it takes.
    #[must_use]
    pub const fn n_labels(self) -> usize {
        match self {
            Self::None => 0,
            Self::Span => 1,
            Self::Ends => 2,
        }
    }
}

/// The hyper-parameters of the chart parser.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChartSettings {
    /// Which parts of the lexicon are used.
    pub lexicon: LexiconUse,
    /// Whether names and phrases are also matched inexactly, and typing errors corrected.
    pub approximate: bool,
    /// Whether words are also matched with phrases of similar meaning. Needs a pretrained encoder.
    pub meaning: bool,
    /// How discontinuous constituents are composed.
    #[serde(with = "crate::families::discontinuity")]
    pub discontinuity: Discontinuity,
    /// Whether constants may be inserted that no word is aligned to.
    pub implicit: bool,
    /// Most words under one predicate.
    pub max_words: usize,
    /// What joins are scored by, besides the rule that makes them.
    pub joins: JoinScores,
    /// Constants in fewer training programs than this are allowed only where the lexicon has a phrase for them, and are scored by
    /// that.
    pub rare_below: usize,
    /// In training, the share of labels that are scored by their phrases alone where an utterance has one, as rare labels are.
    /// It helps with few examples and where new compositions are expected.
    pub label_dropout: f32,
    /// Width of the span scorer.
    pub hidden: usize,
}

impl Default for ChartSettings {
    fn default() -> Self {
        Self {
            lexicon: LexiconUse::Full,
            approximate: true,
            meaning: false,
            discontinuity: Discontinuity::Open,
            implicit: false,
            max_words: 4,
            joins: JoinScores::Ends,
            rare_below: 5,
            label_dropout: 0.0,
            hidden: 250,
        }
    }
}

impl ChartSettings {
    pub(in crate::families) fn spec(&self) -> Spec {
        Spec {
            options: Options { discontinuity: self.discontinuity, implicit: self.implicit },
            candidates: Candidates { max_words: self.max_words, ..Candidates::default() },
            lexicon: self.lexicon,
            approximate: self.approximate,
            meaning: self.meaning,
            hidden: self.hidden,
            n_extra: N_USAGES + self.joins.n_labels(),
            scores_implicit: true,
        }
    }
}

impl FamilySettings for ChartSettings {
    fn name(&self) -> &'static str {
        "chart"
    }

    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Crf, Objective::HardEm, Objective::GoldTrees]
    }

    fn recombines(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), String> {
        if !(0.0..=1.0).contains(&self.label_dropout) {
            return Err("`model.label_dropout` must be from 0 to 1".to_owned());
        }
        check_sizes(self.hidden, self.max_words)
    }

    fn fields(&self) -> Map<String, Value> {
        fields(self)
    }

    fn build(&self, blueprint: Blueprint<'_>) -> Result<Box<dyn Family>, BuildError> {
        // Without phrases, a rare predicate would not be allowed anywhere.
        let rare_below = if self.lexicon.has_phrases() { self.rare_below } else { 0 };
        let model = SpanModel::build(self.spec(), blueprint, rare_below)?;
        Ok(Box::new(ChartParser::new(model, self.clone())))
    }

    fn load(&self, stored: Stored<'_>) -> Result<Box<dyn Family>, ModelError> {
        Ok(Box::new(ChartParser::new(SpanModel::load(self.spec(), stored)?, self.clone())))
    }
}
