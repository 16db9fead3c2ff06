//! Whether programs can be derived at all, setting by setting, and why not.

use crate::candidates::{Candidates, PredicatePlacement, is_found, licensed, omissions};
use crate::gold::{GoldChart, Joins, Underivable, has_order};
use crate::grammar::{Discontinuity, Grammar, N_USAGES, Options};
use crate::lattice::{ChartError, Lattice, Leaf};
use crate::tree::Category;
use spanwise_core::{Span, Utterance};
use spanwise_lang::domain::Omission;
use spanwise_lang::{ConstantId, Domain, TermId, Terms};
use std::collections::BTreeSet;

/// The settings, each of which allows everything that the one before it allows.
pub const SETTINGS: [(&str, Options); 4] = [
    ("projective", Options { discontinuity: Discontinuity::None, implicit: false }),
    ("ternary", Options { discontinuity: Discontinuity::Ternary, implicit: false }),
    ("open", Options { discontinuity: Discontinuity::Open, implicit: false }),
    ("open + implicit", Options { discontinuity: Discontinuity::Open, implicit: true }),
];

/// Where predicates are allowed, with a name for it.
pub const PREDICATE_PLACEMENTS: [(&str, PredicatePlacement); 2] = [
    ("predicates on any words", PredicatePlacement::Anywhere),
    ("predicates on phrases of the lexicon", PredicatePlacement::Lexicon),
];

/// Why a program cannot be derived in any setting.
#[derive(Clone, PartialEq, Debug)]
pub enum Cause {
    /// The chart's reason, in the last setting.
    Underivable(Underivable),
    /// Every constant has words, and no order of them would help.
    AnyOrder,
    /// The utterance does not fit into a chart.
    Chart(ChartError),
}

/// The grammars of all settings for one domain.
#[derive(Clone, Debug)]
pub struct Derivability<'a> {
    domain: &'a Domain,
    grammars: Vec<Grammar>,
    candidates: Candidates,
    /// Whether the domain has words that must be used.
    has_omissions: bool,
    phrases_only: BTreeSet<ConstantId>,
}

impl<'a> Derivability<'a> {
    /// Compiles the grammars.
    #[must_use]
    pub fn new(domain: &'a Domain, placement: PredicatePlacement) -> Self {
        let grammars = SETTINGS.iter().map(|(_, options)| Grammar::new(domain, *options)).collect();
        let candidates = Candidates { predicates: placement, ..Candidates::default() };
        let has_omissions = domain.constants().iter().any(|constant| constant.omission != Omission::Free);
        Self { domain, grammars, candidates, has_omissions, phrases_only: BTreeSet::new() }
    }

    /// The same, with these constants allowed on their phrases and names only, as a model treats what is rare in its training
    /// data.
    #[must_use]
    pub fn with_phrases_only(self, constants: BTreeSet<ConstantId>) -> Self {
        Self { phrases_only: constants, ..self }
    }

    fn lattice(&self, utterance: &Utterance) -> Result<Lattice, ChartError> {
        let lattice = self.candidates.lattice(self.domain, utterance)?;
        if self.phrases_only.is_empty() {
            return Ok(lattice);
        }
        let on_phrases = licensed(self.domain, &self.domain.lexicon().matches(utterance));
        let is_kept = |leaf: &Leaf| {
            leaf.value.is_some() || !self.phrases_only.contains(&leaf.constant) || on_phrases.contains(leaf)
        };
        let leaves = lattice.leaves().iter().copied().filter(is_kept).collect();
        Ok(Lattice::new(utterance.len(), leaves)?.with_values(lattice.values().to_vec()))
    }

    /// The first setting in which a program can be derived, as a number in [`SETTINGS`]. Any words may be left out.
    ///
    /// # Errors
    /// Why there is none.
    pub fn first_setting(
        &self,
        utterance: &Utterance,
        terms: &Terms,
        program: TermId,
    ) -> Result<usize, Cause> {
        let lattice = self.lattice(utterance).map_err(Cause::Chart)?.lenient();
        let mut last = Underivable::Order;
        for (at, grammar) in self.grammars.iter().enumerate() {
            match GoldChart::new(self.domain, grammar, &lattice, terms, program, Joins::None) {
                Ok(_) => return Ok(at),
                Err(reason) => last = reason,
            }
        }
        if last == Underivable::Order {
            let has_order =
                self.grammars.last().is_some_and(|all| has_order(self.domain, all, terms, program));
            return Err(if has_order { Cause::Underivable(last) } else { Cause::AnyOrder });
        }
        Err(Cause::Underivable(last))
    }

    /// The words with `must_be_used` that a program leaves out in the last setting, by the derivation that leaves out fewest.
    /// None where there is no derivation.
    #[must_use]
    pub fn left_out(&self, utterance: &Utterance, terms: &mut Terms, program: TermId) -> Vec<usize> {
        let lattice = match self.has_omissions {
            true => self.candidates.lattice(self.domain, utterance).ok(),
            false => None,
        };
        let Some(lattice) = lattice.map(|lattice| lattice.lenient()) else { return Vec::new() };
        let matches = self.domain.lexicon().matches(utterance);
        let found = matches.iter().map(|found| (found.span, found.constant));
        let omissions = omissions(self.domain, &lattice, found);
        let is_wanted = |word: usize| omissions[word] != Omission::Free;
        let wanted: Vec<usize> = (0..utterance.len()).filter(|&word| is_wanted(word)).collect();
        if wanted.is_empty() {
            return wanted;
        }
        let worth = |leaf: &Leaf| {
            let words = wanted.iter().filter(|&&word| is_in(leaf.span(), word)).count();
            if is_found(leaf, &matches) { words as f32 } else { 0.0 }
        };
        let used = self.best_leaves(&lattice, (terms, program), &worth);
        let is_used =
            |word: usize| used.iter().flatten().any(|leaf| is_in(leaf.span(), word) && worth(leaf) > 0.0);
        wanted.iter().copied().filter(|&word| used.is_some() && !is_used(word)).collect()
    }

    /// The leaves of the derivation of a program that are worth most together, in the last setting.
    fn best_leaves(
        &self,
        lattice: &Lattice,
        (terms, program): (&mut Terms, TermId),
        worth: &dyn Fn(&Leaf) -> f32,
    ) -> Option<Vec<Leaf>> {
        let grammar = self.grammars.last()?;
        let chart = GoldChart::new(self.domain, grammar, lattice, terms, program, Joins::None).ok()?;
        let mut scores: Vec<f32> = lattice.leaves().iter().flat_map(|leaf| [worth(leaf); N_USAGES]).collect();
        scores.resize(scores.len() + grammar.n_rules(), 0.0);
        let best = chart.best_tree(self.domain, lattice, terms, &scores)?;
        let is_it = |leaf: &&Leaf| {
            let mut nodes = best.tree.nodes.iter();
            nodes.any(|node| node.span == leaf.span() && node.category == Category::Constant(leaf.constant))
        };
        Some(lattice.leaves().iter().filter(is_it).copied().collect())
    }
}

impl Cause {
    /// A short name of the cause, for counting.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Underivable(reason) => reason.kind(),
            Self::AnyOrder => "no order of words",
            Self::Chart(_) => "utterance too long",
        }
    }

    /// The cause as a human-readable text.
    #[must_use]
    pub fn describe(&self, domain: &Domain, terms: &Terms) -> String {
        let name = |id: &ConstantId| domain.constants()[*id].name.clone();
        match self {
            Self::Chart(error) => error.to_string(),
            Self::AnyOrder => "the rules cannot compose these constants, whatever the order of the words".to_owned(),
            Self::Underivable(reason) => match reason {
                Underivable::Untypeable(problem) => problem.describe(domain, terms),
                Underivable::TooLarge => "the program has too many constants for a chart".to_owned(),
                Underivable::Unsaid(term) => format!("no words have the value `{}`", terms.display(*term)),
                Underivable::UnlistedEntity(term) => format!("no table lists `{}`", terms.display(*term)),
                Underivable::Unaligned(constant) => {
                    format!("no words can be aligned to `{}`", name(constant))
                }
                Underivable::Repeated(constant) => {
                    format!("`{}` occurs more often in the program than in the words", name(constant))
                }
                Underivable::TooFewWords { needed, placed } => format!(
                    "{needed} constants need words of their own, and there are words for {placed} of them; a constant that people leave out can be implicit or a default"
                ),
                Underivable::Order => {
                    "the rules cannot compose the constants in the order of the words; in another order they could".to_owned()
                }
            },
        }
    }
}

fn is_in(span: Span, word: usize) -> bool {
    (span.start as usize..span.end as usize).contains(&word)
}
