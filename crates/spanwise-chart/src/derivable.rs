//! Whether programs can be derived at all, setting by setting, and why not.

use crate::candidates::{Candidates, PredicatePlacement};
use crate::gold::{GoldChart, Joins, Underivable};
use crate::grammar::{Discontinuity, Grammar, Options};
use crate::lattice::ChartError;
use spanwise_core::Utterance;
use spanwise_lang::{Domain, TermId, Terms};

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

    /// The first setting in which a program can be derived, as a number in [`SETTINGS`].
    ///
    /// # Errors
    /// Why there is none.
    pub fn first_setting(
        &self,
        utterance: &Utterance,
        terms: &Terms,
        program: TermId,
    ) -> Result<usize, Cause> {
        let lattice = self.candidates.lattice(self.domain, utterance).map_err(Cause::Chart)?;
        let mut last = Underivable::Order;
        for (at, grammar) in self.grammars.iter().enumerate() {
            match GoldChart::new(self.domain, grammar, &lattice, terms, program, Joins::None) {
                Ok(_) => return Ok(at),
                Err(reason) => last = reason,
            }
        }
        Err(Cause::Underivable(last))
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
