//! What a model is made of, apart from numbers.

use serde::{Deserialize, Serialize};
use spanwise_chart::candidates::Candidates;
use spanwise_chart::grammar::{Discontinuity, Options};
use spanwise_chart::paper::{PaperConfig, TypeCheck};

/// Which parts of a domain's lexicon are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LexiconUse {
    /// Names of entities and phrases of predicates.
    #[default]
    Full,
    /// Names of entities only.
    Names,
    /// No lexicon feature at all; names still say where entities may stand.
    None,
}

/// How the best program is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// The typed chart: exact.
    #[default]
    Exact,
    /// The paper's beam search over span categories.
    Paper,
}

/// What a join is scored by, besides the rule that makes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JoinScores {
    /// Nothing.
    None,
    /// The span it covers, scored as in the paper from both ends together.
    Span,
    /// Its first word and its last word, each on its own: how much something likes to begin here, and to end there. How
    /// long the span is carries no weight.
    #[default]
    Ends,
}

impl JoinScores {
    /// Columns of the network that it takes.
    #[must_use]
    pub const fn n_labels(self) -> usize {
        match self {
            Self::None => 0,
            Self::Span => 1,
            Self::Ends => 2,
        }
    }
}

/// When the paper's search checks types.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TypeChecks {
    /// On every tree, before it takes a place in a list.
    #[default]
    EveryTree,
    /// On finished trees only.
    FinishedTrees,
}

/// How far apart the parts of one meaning may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Parts {
    None,
    Ternary,
    Open,
}

/// The make of a model; part of `model.json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Which parts of the lexicon are used.
    pub lexicon: LexiconUse,
    /// How the best program is found.
    pub search: Search,
    /// How discontinuous meanings are composed.
    #[serde(with = "discontinuity")]
    pub discontinuity: Discontinuity,
    /// Whether constants may be inserted that no word says.
    pub implicit: bool,
    /// Most words under one predicate.
    pub max_words: usize,
    /// What joins are scored by, besides the rule that makes them.
    pub joins: JoinScores,
    /// Trees kept per span by the paper's search.
    pub beam: usize,
    /// When the paper's search checks types.
    pub type_check: TypeChecks,
    /// Predicates in fewer training programs than this stand only where the lexicon has a phrase for them.
    pub rare_below: usize,
    /// Width of the span scorer.
    pub hidden: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lexicon: LexiconUse::Full,
            search: Search::Exact,
            discontinuity: Discontinuity::Open,
            implicit: false,
            max_words: 4,
            joins: JoinScores::Ends,
            beam: 5,
            type_check: TypeChecks::EveryTree,
            rare_below: 5,
            hidden: 250,
        }
    }
}

impl Settings {
    /// What the grammar allows.
    #[must_use]
    pub fn options(&self) -> Options {
        // What is learned from must be what the search can find: its only discontinuous trees are ternary.
        let discontinuity = match (self.search, self.discontinuity) {
            (Search::Paper, Discontinuity::Open) => Discontinuity::Ternary,
            (_, discontinuity) => discontinuity,
        };
        Options { discontinuity, implicit: self.implicit }
    }

    /// How the paper's search goes.
    #[must_use]
    pub fn paper(&self) -> PaperConfig {
        let check = match self.type_check {
            TypeChecks::EveryTree => TypeCheck::EveryTree,
            TypeChecks::FinishedTrees => TypeCheck::FinishedTrees,
        };
        PaperConfig { k: self.beam, ternary: self.discontinuity != Discontinuity::None, check }
    }

    /// What may stand where.
    #[must_use]
    pub fn candidates(&self) -> Candidates {
        Candidates { max_words: self.max_words, ..Candidates::default() }
    }
}

mod discontinuity {
    use super::{Discontinuity, Parts};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Discontinuity, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Discontinuity::None => Parts::None,
            Discontinuity::Ternary => Parts::Ternary,
            Discontinuity::Open => Parts::Open,
        }
        .serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Discontinuity, D::Error> {
        Ok(match Parts::deserialize(from)? {
            Parts::None => Discontinuity::None,
            Parts::Ternary => Discontinuity::Ternary,
            Parts::Open => Discontinuity::Open,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_learned_from_is_what_the_search_can_build() {
        let class = |search, discontinuity| {
            Settings { search, discontinuity, ..Settings::default() }.options().discontinuity
        };
        assert_eq!(class(Search::Paper, Discontinuity::Open), Discontinuity::Ternary);
        for discontinuity in [Discontinuity::None, Discontinuity::Ternary] {
            assert_eq!(class(Search::Paper, discontinuity), discontinuity);
        }
        assert_eq!(class(Search::Exact, Discontinuity::Open), Discontinuity::Open);
    }
}
