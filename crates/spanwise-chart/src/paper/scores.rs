//! Scores of spans and categories, and what training takes from a tree.
//!
//! Spans are listed by start, then by end: `0..1, 0..2, .., 0..n, 1..2, ..`. Categories are listed constants
//! first, by their ids, then join, then null.

use super::PaperError;
use crate::tree::{Category, SpanTree};
use spanwise_core::{Idx, Span};

/// The logits `s(x_ij, c)` of every span of an utterance and every category (equation 2).
#[derive(Clone, PartialEq, Debug)]
pub struct PaperScores {
    n_tokens: usize,
    n_constants: usize,
    /// One row per span.
    logits: Vec<f32>,
}

impl PaperScores {
    /// Scores from a flat list, span after span, category after category. `-inf` makes a category impossible.
    ///
    /// # Errors
    /// When the length is wrong, a score is NaN or `+inf`, or null is impossible somewhere.
    pub fn new(n_tokens: usize, n_constants: usize, logits: Vec<f32>) -> Result<Self, PaperError> {
        let n_categories = n_constants.saturating_add(2);
        let expected = n_spans(n_tokens).saturating_mul(n_categories);
        if logits.len() != expected {
            let found = logits.len();
            return Err(PaperError::WrongLength { n_tokens, n_constants, expected, found });
        }
        for (span, row) in spans(n_tokens).zip(logits.chunks_exact(n_categories)) {
            let is_bad = |value: &f32| value.is_nan() || *value == f32::INFINITY;
            if let Some(category) = row.iter().position(is_bad) {
                return Err(PaperError::BadScore { span, category, value: row[category] });
            }
            if row[n_constants + 1] == f32::NEG_INFINITY {
                return Err(PaperError::ImpossibleNull { span });
            }
        }
        Ok(Self { n_tokens, n_constants, logits })
    }

    /// Number of tokens.
    #[must_use]
    pub fn n_tokens(&self) -> usize {
        self.n_tokens
    }

    /// Number of constants.
    #[must_use]
    pub fn n_constants(&self) -> usize {
        self.n_constants
    }

    /// Number of categories: the constants, join and null.
    #[must_use]
    pub fn n_categories(&self) -> usize {
        self.n_constants + 2
    }

    /// The logits of one span.
    ///
    /// # Panics
    /// When the span is not one of the utterance.
    #[must_use]
    pub fn row(&self, span: Span) -> &[f32] {
        let at = span_index(self.n_tokens, span) * self.n_categories();
        &self.logits[at..at + self.n_categories()]
    }

    /// The logit of a category on a span; `-inf` for a category that the paper does not have.
    ///
    /// # Panics
    /// When the span is not one of the utterance or the constant not one of the domain.
    #[must_use]
    pub fn logit(&self, span: Span, category: Category) -> f32 {
        let row = self.row(span);
        category_index(self.n_constants, category).map_or(f32::NEG_INFINITY, |at| row[at])
    }

    /// The shifted score `s'(x_ij, c) = s(x_ij, c) - s(x_ij, null)`: zero for null, `-inf` for impossible.
    ///
    /// # Panics
    /// When the span is not one of the utterance or the constant not one of the domain.
    #[must_use]
    pub fn shifted(&self, span: Span, category: Category) -> f64 {
        f64::from(self.logit(span, category)) - f64::from(self.logit(span, Category::Null))
    }
}

/// Number of spans of `n_tokens` tokens.
#[must_use]
pub fn n_spans(n_tokens: usize) -> usize {
    // One of n and n + 1 is even.
    n_tokens.div_ceil(2).saturating_mul(n_tokens | 1)
}

/// The place of a span in the list of all spans.
///
/// # Panics
/// When the span is empty or reaches beyond `n_tokens`.
#[must_use]
pub fn span_index(n_tokens: usize, span: Span) -> usize {
    assert!(!span.is_empty() && span.end as usize <= n_tokens, "{span} is no span of {n_tokens} tokens");
    let (start, end) = (span.start as usize, span.end as usize);
    start * (2 * n_tokens - start + 1) / 2 + end - start - 1
}

/// The place of a category in the list of all categories; `None` for implicit constants, which the paper does
/// not have.
///
/// # Panics
/// When the constant is not below `n_constants`.
#[must_use]
pub fn category_index(n_constants: usize, category: Category) -> Option<usize> {
    match category {
        Category::Constant(constant) => {
            assert!(constant.index() < n_constants, "{constant:?} is none of {n_constants} constants");
            Some(constant.index())
        }
        Category::Join => Some(n_constants),
        Category::Null => Some(n_constants + 1),
        Category::Implicit(_) => None,
    }
}

/// The category of every span in the order of [`span_index`], to train on (sections 3.1 and 3.3). A span that
/// is no node of the tree is null; a ternary node is a join; an implicit constant leaves its span to the node
/// below.
///
/// # Panics
/// When the tree is not one over `n_tokens` tokens and `n_constants` constants.
#[must_use]
pub fn labels(tree: &SpanTree, n_tokens: usize, n_constants: usize) -> Vec<u32> {
    let mut labels = vec![n_constants as u32 + 1; n_spans(n_tokens)];
    for node in &tree.nodes {
        if let Some(index) = category_index(n_constants, node.category) {
            labels[span_index(n_tokens, node.span)] = index as u32;
        }
    }
    labels
}

/// The log-likelihood of a tree (equation 1): the sum over all spans of the log of the softmax at the span's
/// category. `-inf` when a category of the tree is impossible.
///
/// # Panics
/// When the tree is not one over the tokens and constants of the scores.
#[must_use]
pub fn log_prob(scores: &PaperScores, tree: &SpanTree) -> f64 {
    let labels = labels(tree, scores.n_tokens, scores.n_constants);
    let rows = scores.logits.chunks_exact(scores.n_categories());
    rows.zip(labels).map(|(row, label)| f64::from(row[label as usize]) - log_sum_exp(row)).sum()
}

/// Finite, because null is never impossible.
fn log_sum_exp(row: &[f32]) -> f64 {
    let largest = f64::from(row.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    largest + row.iter().map(|&logit| (f64::from(logit) - largest).exp()).sum::<f64>().ln()
}

/// All spans in the order of [`span_index`].
pub(crate) fn spans(n_tokens: usize) -> impl Iterator<Item = Span> {
    let n_tokens = n_tokens as u32;
    (0..n_tokens).flat_map(move |start| (start + 1..=n_tokens).map(move |end| Span::new(start, end)))
}
