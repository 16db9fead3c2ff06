//! The paper chart: Algorithm 1 of Herzig & Berant (2021), as printed.
//!
//! [`decode`] is CKY with a beam: from a score for every span and category ([`PaperScores`]) it finds a span tree that
//! is a program and has a high score ([`PaperOutcome`]). A chart cell keeps the `k` best trees of its span; a tree whose
//! types do not fit is dropped at once, or only when it is finished ([`TypeCheck`], section 3.2). [`log_prob`] is the
//! log-likelihood of a tree (section 3.1). Trees to learn from (section 3.3) come from [`crate::gold`], without a beam.
//!
//! # The trees
//!
//! The grammar is that of Figure 2, with the ternary rule of section 3.4 when [`PaperConfig::ternary`] is on:
//!
//! ```text
//! S    := join join | null join
//! join := join join | join null | join join join | a constant
//! ```
//!
//! Line 7 of the algorithm, `pi(i, j, X) = max(temp, pi(i, j, join))`, lets `S` be everything that `join` is,
//! so that a constant, a ternary node (Figure 3) or `join null` may cover the whole input too. `S` is on no
//! right-hand side: its list is kept for the whole input only.
//!
//! # The order of trees
//!
//! By score, best first (`f64::total_cmp`; sums are kept in `f64`). Trees of one span with equal scores: a
//! constant before a pair, before `join null`, before a triple, before `null join`; constants by their
//! number; the others by their split points from left to right, then by the places of their children in the
//! lists of their spans, from left to right. No tree is stored twice: what is compared is how a tree is
//! built, never its score.
//!
//! # Cost
//!
//! For `n` tokens and `c` constants: `n^2 c / 2` comparisons for the constants, `n^3 / 6` splits into two
//! and, with the ternary rule, `n^4 / 24` splits into three. The lists are sorted, and a split is left as
//! soon as its next tree could not enter the list: most splits cost one comparison, at worst `k^2` or `k^3`.
//! Memory: `k n^2 / 2` back-pointers; nothing is allocated per split.

mod beam;
mod chart;
mod checked;
#[cfg(test)]
mod oracle;
mod program;
mod scores;

pub(crate) use scores::spans;
pub use scores::{PaperScores, category_index, labels, log_prob, n_spans, span_index};

use crate::budget::{Exhausted, Meter};
use crate::tree::SpanTree;
use chart::{Chart, Constraint, Free};
use checked::Checked;
use spanwise_core::Span;
use spanwise_lang::{Domain, TermId, Terms};

/// Settings of the search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PaperConfig {
    /// How many trees are kept per span and non-terminal; the paper's K.
    pub k: usize,
    /// Whether three neighbours may form a node, the outer two composing first (section 3.4).
    pub ternary: bool,
    /// Which trees must be sound in type to stay in a list.
    pub check: TypeCheck,
}

/// When types are checked. A tree that is no program and part of none scores minus infinity (section 3.2); the paper
/// leaves open whether a list drops it at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TypeCheck {
    /// As soon as it is built: lists hold only trees that may still become a program.
    #[default]
    EveryTree,
    /// When the search is over: lists may fill with trees that are part of no program.
    FinishedTrees,
}

impl Default for PaperConfig {
    /// The paper's own: `k` is 5, with the ternary rule; types are checked on every tree.
    fn default() -> Self {
        Self { k: 5, ternary: true, check: TypeCheck::EveryTree }
    }
}

/// How a search ended.
#[derive(Clone, PartialEq, Debug)]
pub enum PaperOutcome {
    /// The best tree that is a program.
    Found {
        /// The tree, with sub-programs at its nodes.
        tree: SpanTree,
        /// The whole program, wrapped.
        program: TermId,
        /// The tree's score S(T): the sum of its shifted scores.
        score: f32,
    },
    /// No tree is a program, or no tree exists at all.
    NoDerivation,
    /// None of the trees kept is a program, but others were dropped.
    BeamExhausted {
        /// How many trees were kept per span and non-terminal.
        width: usize,
    },
}

/// What is wrong with a call.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PaperError {
    /// Too many or too few scores.
    #[error("expected {expected} scores for {n_tokens} tokens and {n_constants} constants, found {found}")]
    WrongLength {
        /// Number of tokens.
        n_tokens: usize,
        /// Number of constants.
        n_constants: usize,
        /// How many scores there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A score that is no score.
    #[error(
        "the score of category {category} on span {span} is {value}, expected a number or -inf for impossible"
    )]
    BadScore {
        /// The span.
        span: Span,
        /// The category, as [`category_index`] counts.
        category: usize,
        /// The score.
        value: f32,
    },
    /// Scores are shifted by the null score, so it must be a number.
    #[error(
        "null is impossible on span {span}, expected a finite score because all others are shifted by it"
    )]
    ImpossibleNull {
        /// The span.
        span: Span,
    },
    /// The search would cost too much.
    #[error("the search reached {0}")]
    Exhausted(#[from] Exhausted),
    /// Scores that belong to another domain.
    #[error("the scores are for {found} constants, the domain has {expected}")]
    WrongDomain {
        /// Constants of the domain.
        expected: usize,
        /// Constants of the scores.
        found: usize,
    },
}

/// The best tree that is a program of the domain (section 3.2).
///
/// The trees of the whole input are tried in order; the first whose types fit wins. Where a tree has several
/// programs because its constants have several frames, the frames declared first win.
///
/// # Errors
/// When the scores are not for the constants of this domain.
pub fn decode(
    domain: &Domain,
    terms: &mut Terms,
    scores: &PaperScores,
    config: PaperConfig,
) -> Result<PaperOutcome, PaperError> {
    decode_within(domain, terms, scores, config, &Meter::unlimited())
}

/// The same within a budget.
///
/// # Errors
/// When the scores are not for the constants of this domain, or a limit is reached.
pub fn decode_within(
    domain: &Domain,
    terms: &mut Terms,
    scores: &PaperScores,
    config: PaperConfig,
    meter: &Meter,
) -> Result<PaperOutcome, PaperError> {
    check_domain(domain, scores)?;
    Ok(match config.check {
        TypeCheck::EveryTree => {
            let chart = Chart::fill(scores, config, Checked::new(domain), meter)?;
            first_program(domain, terms, &chart).unwrap_or_else(|| chart.failure())
        }
        TypeCheck::FinishedTrees => {
            let chart = Chart::fill(scores, config, Free, meter)?;
            // Without a constraint a span whose list is empty has no tree, however narrow the lists below it are.
            let is_empty = chart.roots().next().is_none() && config.k > 0;
            let failure = if is_empty { PaperOutcome::NoDerivation } else { chart.failure() };
            first_program(domain, terms, &chart).unwrap_or(failure)
        }
    })
}

/// The first tree of the whole input that is a program.
fn first_program<C: Constraint>(
    domain: &Domain,
    terms: &mut Terms,
    chart: &Chart<'_, C>,
) -> Option<PaperOutcome> {
    chart.roots().find_map(|root| {
        let mut tree = chart.tree(root);
        let program = program::annotate(domain, terms, &mut tree)?;
        Some(PaperOutcome::Found { tree, program, score: chart.score(root) as f32 })
    })
}

fn check_domain(domain: &Domain, scores: &PaperScores) -> Result<(), PaperError> {
    let (expected, found) = (domain.constants().len(), scores.n_constants());
    if expected == found { Ok(()) } else { Err(PaperError::WrongDomain { expected, found }) }
}
