//! The hyper-parameters of the paper's parser.

use super::PaperParser;
use crate::directory::ModelError;
use crate::family::{Blueprint, BuildError, Family, FamilySettings, Objective, Stored, fields};
use crate::span_model::{LexiconUse, SpanModel, Spec, check_sizes};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spanwise_chart::candidates::Candidates;
use spanwise_chart::grammar::{Discontinuity, Options};
use spanwise_chart::paper::{PaperConfig, TypeCheck};

/// When the paper's search checks types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TypeChecks {
    /// On every tree, before it takes a place in a beam.
    #[default]
    EveryTree,
    /// On finished trees only.
    FinishedTrees,
}

/// The hyper-parameters of the paper's parser.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PaperSettings {
    /// Which parts of the lexicon are used.
    pub lexicon: LexiconUse,
    /// How discontinuous constituents are composed; the search builds ternary ones at most.
    #[serde(with = "crate::families::discontinuity")]
    pub discontinuity: Discontinuity,
    /// Whether constants may be inserted that no word is aligned to.
    pub implicit: bool,
    /// Most words under one predicate.
    pub max_words: usize,
    /// Trees kept per span.
    pub beam: usize,
    /// When types are checked.
    pub type_check: TypeChecks,
    /// Width of the span scorer.
    pub hidden: usize,
}

impl Default for PaperSettings {
    fn default() -> Self {
        Self {
            // The paper has at most two phrases for a constant.
            lexicon: LexiconUse::Phrases,
            discontinuity: Discontinuity::Open,
            implicit: false,
            max_words: 4,
            beam: 5,
            type_check: TypeChecks::EveryTree,
            hidden: 250,
        }
    }
}

impl PaperSettings {
    /// What the gold chart may derive: no more than the search can build, whose discontinuous trees are ternary.
    #[must_use]
    pub fn options(&self) -> Options {
        let discontinuity = match self.discontinuity {
            Discontinuity::Open => Discontinuity::Ternary,
            discontinuity => discontinuity,
        };
        Options { discontinuity, implicit: self.implicit }
    }

    /// The parameters of the search.
    #[must_use]
    pub fn search(&self) -> PaperConfig {
        let check = match self.type_check {
            TypeChecks::EveryTree => TypeCheck::EveryTree,
            TypeChecks::FinishedTrees => TypeCheck::FinishedTrees,
        };
        PaperConfig { k: self.beam, ternary: self.discontinuity != Discontinuity::None, check }
    }

    pub(in crate::families) fn spec(&self) -> Spec {
        Spec {
            // The paper's parser matches exactly.
            approximate: false,
            meaning: false,
            options: self.options(),
            candidates: Candidates { max_words: self.max_words, ..Candidates::default() },
            lexicon: self.lexicon,
            hidden: self.hidden,
            // Join and null.
            n_extra: 2,
            scores_implicit: false,
        }
    }
}

impl FamilySettings for PaperSettings {
    fn name(&self) -> &'static str {
        "paper"
    }

    fn objectives(&self) -> &'static [Objective] {
        &[Objective::HardEm, Objective::Marginal, Objective::GoldTrees]
    }

    fn check(&self) -> Result<(), String> {
        check_sizes(self.hidden, self.max_words)
    }

    fn fields(&self) -> Map<String, Value> {
        fields(self)
    }

    fn build(&self, blueprint: Blueprint<'_>) -> Result<Box<dyn Family>, BuildError> {
        let model = SpanModel::build(self.spec(), blueprint, 0)?;
        Ok(Box::new(PaperParser { model, settings: self.clone() }))
    }

    fn load(&self, stored: Stored<'_>) -> Result<Box<dyn Family>, ModelError> {
        Ok(Box::new(PaperParser { model: SpanModel::load(self.spec(), stored)?, settings: self.clone() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gold_charts_derive_only_what_the_search_can_build() {
        let class = |discontinuity| {
            PaperSettings { discontinuity, ..PaperSettings::default() }.options().discontinuity
        };
        assert_eq!(class(Discontinuity::Open), Discontinuity::Ternary);
        for discontinuity in [Discontinuity::None, Discontinuity::Ternary] {
            assert_eq!(class(discontinuity), discontinuity);
        }
    }
}
