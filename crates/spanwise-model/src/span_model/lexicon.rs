//! The lexicon feature: how much a match of a phrase or a name adds to the score of a leaf.

use super::reader::Read;
use super::tables::MEANING;
use serde::{Deserialize, Serialize};
use spanwise_chart::lattice::Leaf;
use spanwise_core::Span;
use spanwise_lang::ConstantId;
use spanwise_lang::lexicon::Source;
use spanwise_lang::matching::{Approximate, MatchKind};

/// The weight of a lexicon match by its number of words, to be multiplied by the learned weight.
pub const PHRASE_WEIGHTS: [f32; 4] = [1.0, 1.6, 2.0, 2.2];

/// Which parts of a domain's lexicon are used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LexiconUse {
    /// Names of entities, phrases of predicates, and their synonyms.
    #[default]
    Full,
    /// Names of entities and phrases of predicates.
    Phrases,
    /// Names of entities only.
    Names,
    /// No lexicon feature at all; entities are still allowed on their names only.
    None,
}

/// The lexicon match of a leaf.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LeafMatch {
    /// Its weight, by the number of its words or by similarity; zero for a leaf without a match.
    pub weight: f32,
    /// The place of its kind in [`super::Tables::matches`]; `None` for an exact match.
    pub inexact: Option<u8>,
    /// How unlikely it is that the name or phrase was meant; zero for an exact match and for one by meaning.
    pub cost: f32,
}

impl LeafMatch {
    /// Whether a name or phrase matches exactly.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.weight > 0.0 && self.inexact.is_none()
    }
}

/// The lexicon matches of an utterance that count.
pub(super) struct Matches(Vec<((u32, u32, ConstantId), LeafMatch)>);

impl LexiconUse {
    /// Whether predicates have phrases.
    #[must_use]
    pub(crate) fn has_phrases(self) -> bool {
        matches!(self, Self::Full | Self::Phrases)
    }

    /// Leaves out synonyms that do not count, as if the domain had none.
    pub(super) fn restrict(self, read: &mut Read) {
        if self != Self::Full {
            read.found.retain(|found| found.source != Source::Synonym);
        }
    }

    /// The matches of an utterance.
    pub(super) fn matches(self, read: &Read) -> Matches {
        let counts = |source| match self {
            Self::Full | Self::Phrases => true,
            Self::Names => source == Source::Name,
            Self::None => false,
        };
        let mut found: Vec<_> = read
            .found
            .iter()
            .filter(|found| counts(found.source))
            .map(|found| ((found.span.start, found.span.end, found.constant), leaf_match(found)))
            .collect();
        // Of a constant with a name and a phrase on the same words, the better match counts.
        found.sort_by_key(|(key, found)| (*key, found.inexact));
        found.dedup_by_key(|(key, _)| *key);
        Matches(found)
    }
}

impl Matches {
    /// The match on a leaf.
    pub(super) fn of(&self, leaf: &Leaf) -> LeafMatch {
        let key = (leaf.start, leaf.end, leaf.constant);
        match self.0.binary_search_by_key(&key, |(key, _)| *key) {
            Ok(at) => self.0[at].1,
            Err(_) => LeafMatch::default(),
        }
    }
}

fn leaf_match(found: &Approximate) -> LeafMatch {
    let (inexact, weight, cost) = match found.kind {
        MatchKind::Exact => (None, phrase_weight(found.span), 0.0),
        MatchKind::Folded => (Some(0), phrase_weight(found.span), found.cost),
        MatchKind::Spelling => (Some(1), phrase_weight(found.span), found.cost),
        MatchKind::Part => (Some(2), phrase_weight(found.span), found.cost),
        // The similarity itself is the feature.
        MatchKind::Meaning => (Some(MEANING as u8), 1.0 - found.cost, 0.0),
    };
    LeafMatch { weight, inexact, cost }
}

fn phrase_weight(span: Span) -> f32 {
    PHRASE_WEIGHTS[span.len().clamp(1, PHRASE_WEIGHTS.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_core::Utterance;
    use spanwise_lang::Domain;
    use spanwise_lang::domain::NoTables;

    #[test]
    fn without_synonyms_an_utterance_is_read_as_if_the_domain_had_none() {
        let source = |synonyms: &str| {
            format!(
                "name = 'd'\ntypes = ['A']\nroot = {{ types = ['A'] }}\nlexicon = {{ f = 'border' }}\n{synonyms}\n\
                 [constants]\nf = 'A -> A'\nx = 'A'\n"
            )
        };
        let load = |synonyms| Domain::load(&source(synonyms), "d.toml", None, &NoTables).unwrap();
        let (with, without) = (load("synonyms = { f = ['adjoin', 'border'] }"), load(""));
        let utterance = Utterance::new("what adjoin and border");
        let found = |domain: &Domain, lexicon: LexiconUse| {
            let mut read = Read::exactly(domain, &utterance);
            lexicon.restrict(&mut read);
            read.found.iter().map(|found| (found.span, found.source)).collect::<Vec<_>>()
        };
        assert_eq!(found(&with, LexiconUse::Full).len(), 3);
        for lexicon in [LexiconUse::Phrases, LexiconUse::Names, LexiconUse::None] {
            assert_eq!(found(&with, lexicon), found(&without, lexicon));
        }
        // A phrase that is also listed as a synonym counts once.
        let mut read = Read::exactly(&with, &utterance);
        LexiconUse::Full.restrict(&mut read);
        assert_eq!(LexiconUse::Full.matches(&read).0.len(), 2);
    }
}
