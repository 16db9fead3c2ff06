//! The labels that the network scores: one per predicate and one per class of entities or predicates.
//!
//! All members of a class share a label, so that one that is not in the training data is scored like the others.
//! The lexicon match determines the member.

use spanwise_core::Idx;
use spanwise_lang::{ConstantId, Domain, Kind, Node, TermId, Terms};

/// A label without a phrase in the lexicon is never rare if it occurs in this many programs.
pub(crate) const RARE_WITHOUT_PHRASE: usize = 3;

/// The labels of a domain.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Labels {
    /// The label of each constant.
    of: Vec<u32>,
    names: Vec<String>,
    /// Whether a label is allowed only on words that match the lexicon.
    rare: Vec<bool>,
}

impl Labels {
    /// The labels of a domain, none of them rare.
    #[must_use]
    pub fn new(domain: &Domain) -> Self {
        let mut names: Vec<String> = Vec::new();
        let mut of = Vec::with_capacity(domain.constants().len());
        let mut classes: Vec<Option<u32>> = vec![None; domain.classes().len()];
        let mut predicate_classes: Vec<Option<u32>> = vec![None; domain.predicate_classes().len()];
        for constant in domain.constants().iter() {
            let fresh = names.len() as u32;
            of.push(match (constant.kind, constant.class) {
                (Kind::Predicate, Some(class)) => {
                    *predicate_classes[class.index()].get_or_insert_with(|| {
                        names.push(format!("predicates:{}", domain.predicate_classes()[class.index()]));
                        fresh
                    })
                }
                (Kind::Predicate, None) => {
                    names.push(constant.name.clone());
                    fresh
                }
                (Kind::Entity(class), _) => *classes[class.index()].get_or_insert_with(|| {
                    names.push(format!("class:{}", domain.classes()[class].name));
                    fresh
                }),
            });
        }
        let rare = vec![false; names.len()];
        Self { of, names, rare }
    }

    /// Marks predicates and classes of entities as rare that occur in fewer than `below` programs. Without a phrase in the
    /// lexicon the limit is at most `RARE_WITHOUT_PHRASE`, because a rare predicate without a phrase is allowed on no words.
    /// What occurs in no program is rare unless `below` is zero.
    pub fn mark_rare<'a>(
        &mut self,
        domain: &Domain,
        terms: &Terms,
        programs: impl IntoIterator<Item = &'a TermId>,
        below: usize,
    ) {
        let mut counts = vec![0usize; self.names.len()];
        for &program in programs {
            let Ok(analysis) = domain.analyze(terms, program) else { continue };
            let constant = |node: &Node| match node {
                Node::Constant { constant, .. } => Some(self.of(*constant)),
                _ => None,
            };
            let mut seen: Vec<usize> = analysis.nodes.iter().filter_map(constant).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.iter().for_each(|&label| counts[label] += 1);
        }
        let mut has_phrase = vec![false; self.names.len()];
        domain.lexicon().entries().for_each(|(constant, _)| has_phrase[self.of(constant)] = true);
        for (label, rare) in self.rare.iter_mut().enumerate() {
            let below = if has_phrase[label] { below } else { below.min(RARE_WITHOUT_PHRASE) };
            *rare = counts[label] < below;
        }
    }

    /// The label of a constant.
    #[inline]
    #[must_use]
    pub fn of(&self, constant: ConstantId) -> usize {
        self.of[constant.index()] as usize
    }

    /// Whether a label is rare: allowed only on words that match the lexicon.
    #[inline]
    #[must_use]
    pub fn is_rare(&self, label: usize) -> bool {
        self.rare[label]
    }

    /// Number of labels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The names of the labels: the name of a predicate, or `class:` or `predicates:` and the name of a class.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of rare labels.
    pub fn rare_names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().zip(&self.rare).filter(|(_, rare)| **rare).map(|(name, _)| name.as_str())
    }

    /// Marks exactly the labels with these names as rare.
    pub fn set_rare(&mut self, names: &[String]) {
        for (name, rare) in self.names.iter().zip(&mut self.rare) {
            *rare = names.contains(name);
        }
    }
}

#[cfg(all(test, feature = "geo"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn rare_predicates_need_a_phrase_or_more_programs() {
        let domain = spanwise_domains::load::load("geo").unwrap();
        let mut terms = domain.new_terms();
        let mut parse = |text: &str| terms.parse(text).unwrap();
        // `most` has a phrase, `higher_1` has none.
        let most = parse("answer(most(state(loc_1(river(all)))))");
        let higher = parse("answer(place(higher_1(placeid('mount mckinley'))))");
        let rare = |n: usize, below| {
            let programs: Vec<TermId> = [most, higher].into_iter().cycle().take(2 * n).collect();
            let mut labels = Labels::new(&domain);
            labels.mark_rare(&domain, &terms, &programs, below);
            ["most", "higher_1"].map(|name| labels.rare_names().any(|rare| rare == name))
        };
        assert_eq!(rare(2, 5), [true, true]);
        assert_eq!(rare(4, 5), [true, false]);
        assert_eq!(rare(5, 5), [false, false]);
        assert_eq!(rare(0, 0), [false, false]);
    }

    #[test]
    fn classes_without_examples_are_rare() {
        let domain = spanwise_domains::load::load("geo").unwrap();
        let mut terms = domain.new_terms();
        let program = terms.parse("answer(state(next_to_2(stateid('texas'))))").unwrap();
        let mut labels = Labels::new(&domain);
        labels.mark_rare(&domain, &terms, &[program; 5], 5);
        let rare: Vec<&str> = labels.rare_names().collect();
        assert!(rare.contains(&"class:cityid in state") && !rare.contains(&"class:stateid"));
    }
}
