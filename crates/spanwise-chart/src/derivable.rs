//! Whether programs can be derived at all, setting by setting, and why not.

use crate::candidates::{Candidates, PredicatePlacement, omissions};
use crate::gold::{GoldChart, Joins, Underivable};
use crate::grammar::{Discontinuity, Grammar, N_USAGES, Options};
use crate::lattice::{ChartError, Leaf};
use crate::tree::Category;
use spanwise_core::{Span, Utterance};
use spanwise_lang::domain::Omission;
use spanwise_lang::{Domain, TermId, Terms};
use std::ops::Range;

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
    /// The utterance does not fit into a chart.
    Chart(ChartError),
}

/// The grammars of all settings for one domain.
#[derive(Clone, Debug)]
pub struct Derivability<'a> {
    domain: &'a Domain,
    grammars: Vec<Grammar>,
    candidates: Candidates,
}

impl<'a> Derivability<'a> {
    /// Compiles the grammars.
    #[must_use]
    pub fn new(domain: &'a Domain, placement: PredicatePlacement) -> Self {
        let grammars = SETTINGS.iter().map(|(_, options)| Grammar::new(domain, *options)).collect();
        Self { domain, grammars, candidates: Candidates { predicates: placement, ..Candidates::default() } }
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
        let lattice = self.candidates.lattice(self.domain, utterance).map_err(Cause::Chart)?.lenient();
        let mut last = Underivable::Order;
        for (at, grammar) in self.grammars.iter().enumerate() {
            match GoldChart::new(self.domain, grammar, &lattice, terms, program, Joins::None) {
                Ok(_) => return Ok(at),
                Err(reason) => last = reason,
            }
        }
        Err(Cause::Underivable(last))
    }

    /// The words with `must_be_used` that a program leaves out in the last setting, by the derivation that leaves out fewest.
    /// None where there is no derivation.
    #[must_use]
    pub fn left_out(&self, utterance: &Utterance, terms: &mut Terms, program: TermId) -> Vec<usize> {
        let matches = self.domain.lexicon().matches(utterance);
        let (Ok(lattice), Some(grammar)) =
            (self.candidates.lattice(self.domain, utterance), self.grammars.last())
        else {
            return Vec::new();
        };
        let lattice = lattice.lenient();
        let found = matches.iter().map(|found| (found.span, found.constant));
        let omissions = omissions(self.domain, &lattice, found);
        let mut counts = vec![0.0; lattice.leaves().len() * N_USAGES + grammar.n_rules()];
        let is_wanted = |word: usize| omissions[word] != Omission::Free;
        if !(0..utterance.len()).any(is_wanted) {
            return Vec::new();
        }
        for (leaf, counts) in lattice.leaves().iter().zip(counts.chunks_exact_mut(N_USAGES)) {
            counts.fill(words_of(leaf).filter(|&word| is_wanted(word)).count() as f32);
        }
        let chart = GoldChart::new(self.domain, grammar, &lattice, terms, program, Joins::None).ok();
        let best = chart.and_then(|chart| chart.best_tree(self.domain, &lattice, terms, &counts));
        let Some(best) = best else { return Vec::new() };
        let constants = best.tree.nodes.iter().filter(|node| matches!(node.category, Category::Constant(_)));
        let used: Vec<Span> = constants.map(|node| node.span).collect();
        let is_used =
            |word: usize| used.iter().any(|span| span.contains(Span::new(word as u32, word as u32 + 1)));
        (0..utterance.len()).filter(|&word| is_wanted(word) && !is_used(word)).collect()
    }
}

impl Cause {
    /// A short name of the cause, for counting.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Underivable(reason) => reason.kind(),
            Self::Chart(_) => "utterance too long",
        }
    }

    /// The cause as a human-readable text.
    #[must_use]
    pub fn describe(&self, domain: &Domain, terms: &Terms) -> String {
        let name = |id: &spanwise_lang::ConstantId| domain.constants()[*id].name.clone();
        match self {
            Self::Chart(error) => error.to_string(),
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
                Underivable::Order => {
                    "the rules cannot compose the constants in the order of the words".to_owned()
                }
            },
        }
    }
}

/// The words of a leaf.
fn words_of(leaf: &Leaf) -> Range<usize> {
    leaf.start as usize..leaf.end as usize
}
