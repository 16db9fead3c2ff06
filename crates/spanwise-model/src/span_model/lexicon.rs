//! The lexicon feature: how much a match of a phrase or a name adds to the score of a leaf.

use serde::{Deserialize, Serialize};
use spanwise_chart::lattice::Leaf;
use spanwise_core::{Span, Utterance};
use spanwise_lang::lexicon::Source;
use spanwise_lang::{ConstantId, Domain};

/// The weight of a lexicon match by its number of words, to be multiplied by the learned weight.
pub const PHRASE_WEIGHTS: [f32; 4] = [1.0, 1.6, 2.0, 2.2];

/// Which parts of a domain's lexicon are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LexiconUse {
    /// Names of entities and phrases of predicates.
    #[default]
    Full,
    /// Names of entities only.
    Names,
    /// No lexicon feature at all; entities are still allowed on their names only.
    None,
}

/// The lexicon matches of an utterance that count.
pub(super) struct Matches(Vec<(u32, u32, ConstantId)>);

impl LexiconUse {
    /// The matches of an utterance.
    pub(super) fn matches(self, domain: &Domain, utterance: &Utterance) -> Matches {
        let counts = |source| match self {
            Self::Full => true,
            Self::Names => source == Source::Name,
            Self::None => false,
        };
        let matches = domain.lexicon().matches(utterance);
        let mut found: Vec<_> = matches
            .iter()
            .filter(|found| counts(found.source))
            .map(|found| (found.span.start, found.span.end, found.constant))
            .collect();
        found.sort_unstable();
        Matches(found)
    }
}

impl Matches {
    /// The weight of the match on a leaf; zero without one.
    pub(super) fn weight(&self, leaf: &Leaf) -> f32 {
        match self.0.binary_search(&(leaf.start, leaf.end, leaf.constant)) {
            Ok(_) => phrase_weight(Span::new(leaf.start, leaf.end)),
            Err(_) => 0.0,
        }
    }
}

fn phrase_weight(span: Span) -> f32 {
    PHRASE_WEIGHTS[span.len().clamp(1, PHRASE_WEIGHTS.len()) - 1]
}
