//! The input of a chart: which constants are allowed on which words, and the scores.

mod required;

use crate::grammar::{Grammar, N_USAGES};
use spanwise_core::Span;
use spanwise_lang::ConstantId;
use std::ops::{Range, RangeInclusive};

/// Most words of an utterance.
pub const MAX_TOKENS: usize = 5_000;
/// Most positions at which a constant may start; the chart's tables grow with the square of it.
pub const MAX_POSITIONS: usize = 300;

/// What is wrong with the input of a chart.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum ChartError {
    /// A score that is not a number, or plus infinity.
    #[error(
        "the {what} score at {index} is {value}; expected a number, or minus infinity for what is impossible"
    )]
    BadScore {
        /// Which scores.
        what: &'static str,
        /// Its index.
        index: usize,
        /// Its value.
        value: f32,
    },
    /// An array of the wrong length.
    #[error("expected {expected} {what} scores, found {found}")]
    WrongLength {
        /// Which scores.
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A constant on words that do not exist.
    #[error("a constant covers {start}..{end} of {n_tokens} words")]
    BadLeaf {
        /// Its first word.
        start: u32,
        /// One past its last word.
        end: u32,
        /// Number of words.
        n_tokens: usize,
    },
    /// More than a chart takes.
    #[error("more than {limit} {what}")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// The most that is allowed.
        limit: usize,
    },
}

/// A constant that is allowed on a run of words. For `switch on the hall lamp`, `Leaf::new(0, 2, on)`
/// allows `on` on `switch on`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Leaf {
    /// First word.
    pub start: u32,
    /// One past the last word.
    pub end: u32,
    /// The constant.
    pub constant: ConstantId,
    /// For a literal, its value: a number of [`Lattice::value`]. The constant is then that of its class.
    pub value: Option<u32>,
}

impl Leaf {
    /// A constant on a run of words.
    #[must_use]
    pub const fn new(start: u32, end: u32, constant: ConstantId) -> Self {
        Self { start, end, constant, value: None }
    }

    /// Its words.
    #[must_use]
    pub const fn span(&self) -> Span {
        Span::new(self.start, self.end)
    }
}

/// The leaves of one utterance, arranged for charts.
///
/// Only words at which some constant may start matter as boundaries between parts: the chart's positions are
/// these, and the words between belong to the leaf on their left. The cost of a chart therefore depends on the number
/// of such words, not on the length of the utterance.
///
/// ```
/// use spanwise_chart::lattice::{Lattice, Leaf};
/// use spanwise_core::Span;
/// use spanwise_lang::ConstantId;
///
/// // "please switch on the hall lamp": one constant on `switch on`, another on `hall lamp`.
/// let leaf = |start, end, id| Leaf::new(start, end, ConstantId(id));
/// let lattice = Lattice::new(6, vec![leaf(1, 3, 0), leaf(4, 6, 1)])?;
/// assert_eq!((lattice.n_positions(), lattice.n_cells()), (2, 3));
/// assert_eq!(lattice.span(0, 1), Span::new(1, 4)); // `the` belongs to the leaf on its left
/// assert_eq!(lattice.span(0, 2), Span::new(1, 6)); // the whole but for `please`
/// # Ok::<(), spanwise_chart::lattice::ChartError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lattice {
    n_tokens: usize,
    leaves: Vec<Leaf>,
    values: Vec<String>,
    /// The word at each position, and the number of words at the end.
    boundaries: Vec<u32>,
    /// For each position, its leaves by their first end.
    starting: Vec<Vec<Start>>,
    /// For each position, whether a leaf that starts before it may be followed by all words up to the next position.
    is_skippable: Vec<bool>,
    /// The number of positions that may come first: all words before them can be left out.
    n_firsts: usize,
}

/// A leaf at its position, with the first and the last boundary up to which it may reach. A leaf that is followed by a word
/// that must be used reaches none, and its last boundary comes before its first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Start {
    first: u32,
    last: u32,
    leaf: u32,
}

impl Start {
    fn reaches(&self, q: usize) -> bool {
        (self.first as usize..=self.last as usize).contains(&q)
    }
}

impl Lattice {
    /// Arranges leaves. Their order is kept: score `i * N_USAGES + u` belongs to leaf `i` used as `u`.
    ///
    /// # Errors
    /// Leaves outside the words, or too many words or positions.
    pub fn new(n_tokens: usize, leaves: Vec<Leaf>) -> Result<Self, ChartError> {
        if n_tokens > MAX_TOKENS {
            return Err(ChartError::TooLarge { what: "words", limit: MAX_TOKENS });
        }
        if let Some(bad) = leaves.iter().find(|leaf| leaf.start >= leaf.end || leaf.end as usize > n_tokens) {
            return Err(ChartError::BadLeaf { start: bad.start, end: bad.end, n_tokens });
        }
        let mut boundaries: Vec<u32> = leaves.iter().map(|leaf| leaf.start).collect();
        boundaries.sort_unstable();
        boundaries.dedup();
        if boundaries.len() > MAX_POSITIONS {
            return Err(ChartError::TooLarge { what: "positions for constants", limit: MAX_POSITIONS });
        }
        boundaries.push(n_tokens as u32);
        let mut starting = vec![Vec::new(); boundaries.len() - 1];
        for (id, leaf) in leaves.iter().enumerate() {
            let position = boundaries.partition_point(|&word| word < leaf.start);
            let first_end = boundaries.partition_point(|&word| word < leaf.end);
            let last = (boundaries.len() - 1) as u32;
            starting[position].push(Start { first: first_end as u32, last, leaf: id as u32 });
        }
        starting.iter_mut().for_each(|leaves| leaves.sort_unstable());
        let n_firsts = starting.len();
        let is_skippable = vec![true; n_firsts];
        Ok(Self { n_tokens, leaves, values: Vec::new(), boundaries, starting, is_skippable, n_firsts })
    }

    /// The same with the values of literals, as terms in the notation of programs.
    #[must_use]
    pub fn with_values(self, values: Vec<String>) -> Self {
        Self { values, ..self }
    }

    /// The value of a literal, in the notation of programs; `None` for any other leaf.
    #[must_use]
    pub fn value(&self, leaf: &Leaf) -> Option<&str> {
        leaf.value.and_then(|value| self.values.get(value as usize)).map(String::as_str)
    }

    /// All values of literals.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Number of words.
    #[must_use]
    pub fn n_tokens(&self) -> usize {
        self.n_tokens
    }

    /// The leaves as they were given.
    #[must_use]
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// For each leaf, whether it is one of these: a mask that restricts charts to the leaves of a gold tree.
    #[must_use]
    pub fn mask(&self, leaves: &[(Span, ConstantId)]) -> Vec<bool> {
        let is_one = |leaf: &Leaf| leaves.contains(&(Span::new(leaf.start, leaf.end), leaf.constant));
        self.leaves.iter().map(is_one).collect()
    }

    /// The same positions with the leaves of a mask only, one entry per leaf. Leaves keep their numbers.
    #[must_use]
    pub fn masked(mut self, mask: &[bool]) -> Self {
        self.starting.iter_mut().for_each(|leaves| leaves.retain(|start| mask[start.leaf as usize]));
        self
    }

    /// Number of positions at which a leaf may start.
    #[must_use]
    pub fn n_positions(&self) -> usize {
        self.boundaries.len() - 1
    }

    /// Number of cells: pairs of positions `p < q`, the end counting as one.
    #[must_use]
    pub fn n_cells(&self) -> usize {
        let n = self.n_positions();
        n * (n + 1) / 2
    }

    /// The number of the cell from position `p` to position `q`, `p < q`. Shorter cells come first.
    #[inline]
    #[must_use]
    pub fn cell(&self, p: usize, q: usize) -> usize {
        debug_assert!(p < q && q <= self.n_positions());
        let shorter = q - p - 1;
        shorter * (2 * self.n_positions() + 1 - shorter) / 2 + p
    }

    /// Start and end of a cell, the inverse of [`Lattice::cell`]. Cost: linear in the number of positions.
    #[must_use]
    pub fn ends(&self, cell: usize) -> (usize, usize) {
        let n = self.n_positions();
        let mut first = 0;
        for length in 1..=n {
            if cell < first + (n - length + 1) {
                return (cell - first, cell - first + length);
            }
            first += n - length + 1;
        }
        unreachable!("there are {} cells, none has the number {cell}", self.n_cells())
    }

    /// The words from position `p` to position `q`.
    #[must_use]
    pub fn span(&self, p: usize, q: usize) -> Span {
        Span::new(self.boundaries[p], self.boundaries[q])
    }

    /// Leaves that start at `p` and whose first possible end is the boundary `q`, as numbers.
    pub(crate) fn leaves_ending(&self, p: usize, q: usize) -> impl Iterator<Item = usize> + '_ {
        let from = self.starting[p].partition_point(|start| (start.first as usize) < q);
        self.starting[p][from..]
            .iter()
            .take_while(move |start| start.first as usize == q)
            .filter(move |start| start.reaches(q))
            .map(|start| start.leaf as usize)
    }

    /// Leaves that start at `p`, as numbers, each with the boundaries up to which it may reach.
    pub(crate) fn leaves_from(&self, p: usize) -> impl Iterator<Item = (RangeInclusive<usize>, usize)> + '_ {
        self.starting[p].iter().map(|start| (start.first as usize..=start.last as usize, start.leaf as usize))
    }

    /// Leaves that start at `p` and can be followed by nothing but null words up to `q`.
    pub(crate) fn leaves_within(&self, p: usize, q: usize) -> impl Iterator<Item = usize> + '_ {
        self.starting[p]
            .iter()
            .take_while(move |start| start.first as usize <= q)
            .filter(move |start| start.reaches(q))
            .map(|start| start.leaf as usize)
    }

    /// Whether what reaches up to position `p` may reach up to the next one by leaving out words.
    #[inline]
    pub(crate) fn is_skippable(&self, p: usize) -> bool {
        self.is_skippable[p]
    }

    /// The positions at which a complete derivation may start.
    pub(crate) fn firsts(&self) -> Range<usize> {
        0..self.n_firsts
    }
}

/// Scores of one utterance: a derivation scores the sum over its leaves, rules and joins.
///
/// `on(hall)` over `switch on hall`, where `on` is leaf 0 and `hall` leaf 2, scores
/// `leaves[0 * N_USAGES + ApplyRight] + leaves[2 * N_USAGES + Closed]`, plus the rule that applies a function to a lamp on
/// its right, plus the root rule, plus `joins[cell(0, 2)]` where there are join scores.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    /// For each leaf, one score per usage.
    pub leaves: &'a [f32],
    /// For each rule of the grammar, one score.
    pub rules: &'a [f32],
    /// For each cell, a score for everything that is joined there; empty for none.
    pub joins: &'a [f32],
    /// Scores of implicit constants on words, in the order of [`Grammar::implicit_at_cell`]; empty for none.
    pub implicit: &'a [f32],
}

impl Scores<'_> {
    /// Checks lengths and values. Cost: one pass.
    ///
    /// # Errors
    /// The first score that is wrong.
    pub fn check(&self, grammar: &Grammar, lattice: &Lattice) -> Result<(), ChartError> {
        let joins = if self.joins.is_empty() { 0 } else { lattice.n_cells() };
        let implicit = if self.implicit.is_empty() { 0 } else { grammar.n_implicit_scores(lattice) };
        let parts = [
            ("leaf", self.leaves, lattice.leaves().len() * N_USAGES),
            ("rule", self.rules, grammar.n_rules()),
            ("join", self.joins, joins),
            ("implicit constant", self.implicit, implicit),
        ];
        for (what, scores, expected) in parts {
            if scores.len() != expected {
                return Err(ChartError::WrongLength { what, expected, found: scores.len() });
            }
            // One pass without a way out is faster than a search that nearly always finds nothing.
            let is_good = |score: f32| score < f32::INFINITY;
            if scores.iter().fold(true, |good, &score| good & is_good(score)) {
                continue;
            }
            if let Some(index) = scores.iter().position(|&score| !is_good(score)) {
                return Err(ChartError::BadScore { what, index, value: scores[index] });
            }
        }
        Ok(())
    }
}

impl Scores<'_> {
    /// All scores in one array, in the order in which graphs number them: leaves, rules, cells, implicit constants.
    #[must_use]
    pub fn flat(&self) -> Vec<f64> {
        let all = [self.leaves, self.rules, self.joins, self.implicit];
        all.into_iter().flatten().map(|&score| f64::from(score)).collect()
    }
}

/// Gradients with respect to [`Scores`], in the same shape.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Gradient {
    /// For each leaf, one per usage.
    pub leaves: Vec<f32>,
    /// For each rule.
    pub rules: Vec<f32>,
    /// For each cell; empty where there were no join scores.
    pub joins: Vec<f32>,
    /// For implicit constants; empty where they had no scores of their own.
    pub implicit: Vec<f32>,
}

impl Gradient {
    /// Adds `factor` times another gradient of the same shape.
    pub fn add_scaled(&mut self, other: &Self, factor: f32) {
        let pairs = [
            (&mut self.leaves, &other.leaves),
            (&mut self.rules, &other.rules),
            (&mut self.joins, &other.joins),
            (&mut self.implicit, &other.implicit),
        ];
        for (mine, theirs) in pairs {
            for (a, b) in mine.iter_mut().zip(theirs) {
                *a += factor * b;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(start: u32, end: u32) -> Leaf {
        Leaf::new(start, end, ConstantId(0))
    }

    #[test]
    fn cells_are_numbered_by_length_without_gaps() {
        for n in 1..7u32 {
            let lattice = Lattice::new(n as usize, (0..n).map(|at| leaf(at, at + 1)).collect()).unwrap();
            let n = n as usize;
            let mut next = 0;
            for length in 1..=n {
                for p in 0..=n - length {
                    assert_eq!(lattice.cell(p, p + length), next);
                    assert_eq!(lattice.ends(next), (p, p + length));
                    next += 1;
                }
            }
            assert_eq!(next, lattice.n_cells());
        }
    }

    #[test]
    fn only_words_at_which_a_leaf_starts_are_positions() {
        let lattice = Lattice::new(8, vec![leaf(2, 4), leaf(5, 6), leaf(2, 3), leaf(2, 7)]).unwrap();
        assert_eq!(lattice.n_positions(), 2);
        assert_eq!((lattice.span(0, 1), lattice.span(1, 2)), (Span::new(2, 5), Span::new(5, 8)));
        assert_eq!(lattice.leaves_ending(0, 1).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(lattice.leaves_ending(0, 2).collect::<Vec<_>>(), [3]);
        assert_eq!(lattice.leaves_within(0, 2).collect::<Vec<_>>(), [0, 2, 3]);
    }

    #[test]
    fn leaves_outside_the_words_and_endless_utterances_are_errors() {
        assert!(matches!(Lattice::new(2, vec![leaf(1, 3)]), Err(ChartError::BadLeaf { .. })));
        assert!(matches!(Lattice::new(2, vec![leaf(1, 1)]), Err(ChartError::BadLeaf { .. })));
        assert!(matches!(Lattice::new(MAX_TOKENS + 1, Vec::new()), Err(ChartError::TooLarge { .. })));
        assert_eq!(Lattice::new(0, Vec::new()).unwrap().n_cells(), 0);
    }
}
