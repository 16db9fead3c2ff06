//! Which constants are allowed on which words, before anything is scored.

use crate::lattice::{ChartError, Lattice, Leaf};
use spanwise_core::{Span, Utterance};
use spanwise_lang::domain::Omission;
use spanwise_lang::lexicon::{Match, Source};
use spanwise_lang::{ConstantId, Domain};

/// Where predicates are allowed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PredicatePlacement {
    /// On any words that are not null words.
    #[default]
    Anywhere,
    /// Only where the lexicon has one of their phrases, as for predicates that are allowed nowhere else in any case.
    Lexicon,
}

/// Which leaves are candidates.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Candidates {
    /// Most words that a predicate covers.
    pub max_words: usize,
    /// Where predicates are allowed.
    pub predicates: PredicatePlacement,
}

impl Default for Candidates {
    fn default() -> Self {
        Self { max_words: 4, predicates: PredicatePlacement::Anywhere }
    }
}

impl Candidates {
    /// The leaves of an utterance, by start, then end, then constant.
    ///
    /// Entities are allowed where the lexicon finds their name; a name inside a longer name of something else of the same
    /// class is left out. Predicates are allowed on up to `max_words` words that contain no null word and do not lie inside
    /// a name of several words, and wherever the lexicon has a phrase for them. No derivation leaves out words that must be
    /// used.
    ///
    /// # Errors
    /// An utterance that is too long for a chart.
    pub fn lattice(&self, domain: &Domain, utterance: &Utterance) -> Result<Lattice, ChartError> {
        let matches = domain.lexicon().matches(utterance);
        let lattice = self.lattice_with(domain, utterance, utterance, &matches, Vec::new())?;
        let found = matches.iter().map(|found| (found.span, found.constant));
        let omissions = omissions(domain, &lattice, found);
        Ok(lattice.using(&forbidden(&omissions), |leaf| is_found(leaf, &matches)))
    }

    /// The same for exact matches that are known already, with literals in `read`, the utterance after corrections, and with more leaves, such as those of inexact matches. What is
    /// more never takes away what exact matches allow. Any words may be left out.
    ///
    /// # Errors
    /// An utterance that is too long for a chart.
    pub fn lattice_with(
        &self,
        domain: &Domain,
        utterance: &Utterance,
        read: &Utterance,
        matches: &[Match],
        more: Vec<Leaf>,
    ) -> Result<Lattice, ChartError> {
        let mut leaves = licensed(domain, matches);
        leaves.extend(more);
        let predicates: Vec<ConstantId> = domain
            .predicates()
            .filter(|(_, predicate)| !predicate.only_phrases)
            .map(|(id, _)| id)
            .filter(|&id| domain.frames_of(id).any(|(_, frame)| frame.state.is_some()))
            .collect();
        if self.predicates == PredicatePlacement::Anywhere {
            for span in self.spans(domain, utterance, matches) {
                leaves.extend(predicates.iter().map(|&constant| Leaf::new(span.start, span.end, constant)));
            }
        }
        let mut values = Vec::new();
        for (span, holder, value) in domain.literals(read) {
            leaves.push(Leaf { value: Some(values.len() as u32), ..Leaf::new(span.start, span.end, holder) });
            values.push(value);
        }
        leaves.sort_unstable();
        leaves.dedup();
        Ok(Lattice::new(utterance.len(), leaves)?.with_values(values))
    }

    /// Runs of words on which any predicate is allowed.
    fn spans(&self, domain: &Domain, utterance: &Utterance, matches: &[Match]) -> Vec<Span> {
        let tokens = utterance.tokens();
        // In "hudson river" the shorter "hudson" is a name of the same river: there the other word is free.
        let has_shorter = |found: &Match| {
            let same = |other: &&Match| other.constant == found.constant && other.source == Source::Name;
            matches
                .iter()
                .filter(same)
                .any(|other| other.span != found.span && found.span.contains(other.span))
        };
        let names: Vec<Span> = matches
            .iter()
            .filter(|found| found.source == Source::Name && found.span.len() > 1 && !has_shorter(found))
            .map(|found| found.span)
            .collect();
        let is_content = |at: usize| {
            let word = &tokens[at].lower;
            word.chars().any(char::is_alphanumeric) && !domain.is_no_meaning(word)
        };
        let mut spans = Vec::new();
        for start in 0..tokens.len() {
            for end in start + 1..=tokens.len().min(start + self.max_words) {
                if !is_content(end - 1) {
                    break;
                }
                let span = Span::new(start as u32, end as u32);
                if !names.iter().any(|name| name.contains(span) && *name != span) {
                    spans.push(span);
                }
            }
        }
        spans
    }
}

/// For each word, what it costs to leave it out, because of names and phrases that were found there and of literals.
#[must_use]
pub fn omissions(
    domain: &Domain,
    lattice: &Lattice,
    found: impl Iterator<Item = (Span, ConstantId)>,
) -> Vec<Omission> {
    let literals = lattice.leaves().iter().filter(|leaf| leaf.value.is_some());
    let literals = literals.map(|leaf| (leaf.span(), leaf.constant));
    domain.omissions(lattice.n_tokens(), found.chain(literals))
}

/// Whether a leaf is a name or phrase that was found, or a literal: then it uses its words.
#[must_use]
pub fn is_found(leaf: &Leaf, matches: &[Match]) -> bool {
    let is_it = |found: &Match| found.constant == leaf.constant && found.span == leaf.span();
    leaf.value.is_some() || matches.iter().any(is_it)
}

/// For each word, whether it must be used, for [`Lattice::using`].
#[must_use]
pub fn forbidden(omissions: &[Omission]) -> Vec<bool> {
    omissions.iter().map(|&omission| omission == Omission::Forbidden).collect()
}

/// The leaves of what a lexicon has found, by start, then end, then constant: phrases, and names except those inside
/// a longer name of something else of the same class.
#[must_use]
pub fn licensed(domain: &Domain, matches: &[Match]) -> Vec<Leaf> {
    let phrases = matches.iter().filter(|found| found.source != Source::Name);
    let leaf = |found: &Match| Leaf::new(found.span.start, found.span.end, found.constant);
    let mut leaves: Vec<Leaf> = longest_names(domain, matches).chain(phrases).map(leaf).collect();
    leaves.sort_unstable();
    leaves.dedup();
    leaves
}

/// Names that do not lie inside a longer name of something else of the same class.
fn longest_names<'a>(domain: &'a Domain, matches: &'a [Match]) -> impl Iterator<Item = &'a Match> {
    let kind = |found: &Match| domain.constants()[found.constant].kind;
    matches.iter().filter(move |found| {
        found.source == Source::Name
            && !matches.iter().any(|other| {
                other.source == Source::Name
                    && other.constant != found.constant
                    && kind(other) == kind(found)
                    && other.span != found.span
                    && other.span.contains(found.span)
            })
    })
}

#[cfg(all(test, feature = "geo"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn shown(text: &str, candidates: Candidates) -> String {
        let domain = spanwise_domains::load::load("geo").unwrap();
        let utterance = Utterance::new(text);
        let lattice = candidates.lattice(&domain, &utterance).unwrap();
        let leaf =
            |leaf: &Leaf| format!("{}..{} {}", leaf.start, leaf.end, domain.constants()[leaf.constant].name);
        lattice.leaves().iter().map(leaf).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn names_are_allowed_where_they_are_found_and_the_longest_of_a_class_wins() {
        let lexicon = Candidates { predicates: PredicatePlacement::Lexicon, ..Candidates::default() };
        assert_eq!(
            shown("rivers in west virginia", lexicon),
            "0..1 river; 1..2 loc_1; 1..2 loc_2; 2..4 stateid('west virginia')"
        );
    }

    #[test]
    fn a_word_that_a_name_can_do_without_is_free_for_predicates() {
        let all = shown("the hudson river", Candidates::default());
        assert!(
            all.contains("1..2 riverid('hudson')")
                && all.contains("1..3 riverid('hudson')")
                && all.contains("2..3 river;")
        );
    }

    #[test]
    fn predicates_avoid_null_words_and_the_inside_of_names() {
        let all = shown("is the new york ?", Candidates::default());
        assert!(all.contains("2..4 population_1") && all.contains("2..4 stateid('new york')"));
        assert!(!all.contains("2..3 population_1") && !all.contains("0..1 ") && !all.contains("4..5 "));
    }
}

#[cfg(test)]
mod placement_tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;
    use crate::grammar::{Grammar, N_USAGES, Options};
    use crate::lattice::Scores;
    use crate::typed::Input;
    use spanwise_lang::domain::NoTables;

    fn n_derivations(must_be_used: &str, text: &str) -> f64 {
        let source = format!(
            "name = 'trips'\ntypes = ['City, State < Place', 'Place', 'Trip']\nroot = {{ types = ['Trip'] }}\n\
             only_phrases = ['trip']\n[constants]\ntrip = 'Place -> Trip'\n[lexicon]\ntrip = 'trip'\n\
             [[entities]]\nclass = 'city'\ntype = 'City'\nform = 'city({{name}})'\naliases = {{ nyc = 'new york city' }}\n\
             names = ['nyc', 'york']\n{must_be_used}\n\
             [[entities]]\nclass = 'state'\ntype = 'State'\nform = 'state({{name}})'\nnames = ['ny']\n\
             aliases = {{ ny = 'new york' }}\n{must_be_used}\n"
        );
        let domain = Domain::load(&source, "trips.toml", None, &NoTables).unwrap();
        let grammar = Grammar::new(&domain, Options::default());
        let lattice = Candidates::default().lattice(&domain, &Utterance::new(text)).unwrap();
        let (leaves, rules) = (vec![0.0; lattice.leaves().len() * N_USAGES], vec![0.0; grammar.n_rules()]);
        let scores = Scores { leaves: &leaves, rules: &rules, joins: &[], implicit: &[] };
        let input = Input::new(&domain, &grammar, &lattice, scores).unwrap();
        crate::count_derivations(&input)
    }

    #[test]
    fn names_that_must_be_used_are_read_whole_and_overlapping_ones_once() {
        let [free, strict] = ["", "must_be_used = true"];
        let (city, two) = ("trip to new york city", "trip from york to ny");
        // The city, or the state; the shorter names of the same class are left out.
        assert_eq!((n_derivations(free, city), n_derivations(strict, city)), (2.0, 1.0));
        assert_eq!((n_derivations(free, two), n_derivations(strict, two)), (2.0, 0.0));
        // A cost is no matter of the chart.
        assert_eq!(n_derivations("must_be_used = 3", two), 2.0);
        assert_eq!(n_derivations(strict, "ny trip please"), 1.0);
    }

    #[test]
    fn a_constant_with_only_its_phrases_is_allowed_on_no_other_words() {
        let source = "name = 'lamps'\ntypes = ['Lamp', 'Action']\nroot = { types = ['Action'] }\nonly_phrases = ['on']\n\
                      [constants]\non = 'Lamp -> Action'\nhall = 'Lamp'\n[lexicon]\non = 'switch on'\nhall = 'hall'\n";
        let domain = Domain::load(source, "lamps.toml", None, &NoTables).unwrap();
        let lattice = Candidates::default().lattice(&domain, &Utterance::new("switch on hall")).unwrap();
        let spans = |name: &str| -> Vec<(u32, u32)> {
            let constant = domain.predicate(name).unwrap();
            let of_it = lattice.leaves().iter().filter(|leaf| leaf.constant == constant);
            of_it.map(|leaf| (leaf.start, leaf.end)).collect()
        };
        assert_eq!(spans("on"), [(0, 2)]);
        assert_eq!(spans("hall").len(), 6);
    }
}
