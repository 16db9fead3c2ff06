//! Where the values of a typed chart are: symbols within a cell, cells within one array.

use crate::grammar::{Grammar, Usage};
use crate::lattice::Lattice;
use std::ops::Range;

/// Where the values of each kind of symbol are within a cell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Layout {
    /// Leaves with one slot, by usage in the order of [`Usage::ALL`] without `Closed`.
    pub unary: [Range<usize>; 5],
    /// Leaves with several slots, by side of their first argument.
    pub function: [Range<usize>; 2],
    /// Complete leaves, by type.
    pub leaf_closed: Range<usize>,
    /// Leaves with an argument without words.
    pub unsaid: Range<usize>,
    /// Everything above, which a longer cell takes over from a shorter one.
    pub leaves: Range<usize>,
    /// Leaves that gather, by accumulator; for a set, complete terms that are elements, by constants that make at most one.
    pub element: Range<usize>,
    pub list: Range<usize>,
    /// Functions with some elements of a set.
    pub spread: Range<usize>,
    /// Complete terms before and after implicit constants, by type.
    pub raw: Range<usize>,
    pub closed: Range<usize>,
    /// With at most one implicit constant, at most two, and so on: what is between `raw` and `closed`.
    pub chain: Range<usize>,
    /// Functions without words that have some of their arguments.
    pub inserted: Range<usize>,
    /// Complete terms by the slot type that accepts them.
    pub accepted: Range<usize>,
    /// Complete terms by the set of types that fills a slot.
    pub filling: Range<usize>,
    pub partial: Range<usize>,
    /// Open composites by side of their last function: rows by columns.
    pub composite: [Range<usize>; 2],
    /// Everything open by the slot type that accepts it: rows by columns.
    pub open: Range<usize>,
    pub stride: usize,
}

impl Layout {
    pub(crate) fn new(grammar: &Grammar) -> Self {
        let mut next = 0;
        let mut take = |n: usize| {
            next += n;
            next - n..next
        };
        let n_unaries = grammar.unaries.len();
        let unary = std::array::from_fn(|_| take(n_unaries));
        let function = std::array::from_fn(|_| take(grammar.functions.len()));
        let leaf_closed = take(grammar.n_types);
        let unsaid = take(grammar.implicit.unsaid.len());
        let leaves = 0..unsaid.end;
        let element = take(grammar.elements_of.len());
        let list = take(grammar.elements_of.len());
        let spread = take(grammar.spread_symbols.len());
        let raw = take(grammar.n_types);
        let closed = take(grammar.n_types);
        let chain = take((grammar.implicit.chain - 1) * grammar.n_types);
        let inserted = take(grammar.implicit.symbols.len());
        // Rows that are read with columns are padded like them.
        let accepted = take(grammar.n_columns);
        let filling = take(grammar.fill_sets.len());
        let partial = take(grammar.partials.len());
        let composite = std::array::from_fn(|_| take(grammar.result_rows.len() * grammar.n_columns));
        let open = take(grammar.slot_types.len() * grammar.n_columns);
        Self {
            unary,
            function,
            leaf_closed,
            unsaid,
            leaves,
            element,
            list,
            spread,
            raw,
            closed,
            chain,
            inserted,
            accepted,
            filling,
            partial,
            composite,
            open,
            stride: next,
        }
    }

    /// Where complete terms with at most so many implicit constants on the same words begin.
    pub(crate) fn stage(&self, n_inserted: usize) -> usize {
        let n_types = self.raw.len();
        match n_inserted {
            0 => self.raw.start,
            _ if n_inserted * n_types > self.chain.len() => self.closed.start,
            _ => self.chain.start + (n_inserted - 1) * n_types,
        }
    }
}

/// How cells lie in one array: short ones with space for what is open, then longer ones without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Storage {
    n_open: usize,
    stride: usize,
    /// The length of a cell without what is open.
    base: usize,
}

impl Storage {
    pub(crate) fn new(layout: &Layout, lattice: &Lattice) -> Self {
        let n = lattice.n_positions();
        let n_open = if n <= MAX_OPEN { lattice.n_cells() } else { lattice.cell(n - MAX_OPEN, n) + 1 };
        Self { n_open, stride: layout.stride, base: layout.composite[0].start }
    }

    /// Where a cell begins.
    #[inline]
    pub(crate) fn start(&self, cell: usize) -> usize {
        if cell < self.n_open {
            cell * self.stride
        } else {
            self.n_open * self.stride + (cell - self.n_open) * self.base
        }
    }

    /// How long a cell is.
    #[inline]
    pub(crate) fn len(&self, cell: usize) -> usize {
        if cell < self.n_open { self.stride } else { self.base }
    }

    /// The cell that a place in the array belongs to, and the place within it.
    pub(crate) fn locate(&self, at: usize) -> (usize, usize) {
        match at.checked_sub(self.n_open * self.stride) {
            None => (at / self.stride, at % self.stride),
            Some(rest) => (self.n_open + rest / self.base.max(1), rest % self.base.max(1)),
        }
    }
}

/// Most positions that an open composite covers. Parts of one sub-program are near each other; without a limit,
/// long utterances would spend nearly all their time on composites across half the text.
pub(crate) const MAX_OPEN: usize = 16;

/// The place of a unary leaf's usage in [`Layout::unary`].
pub(crate) const fn unary_slot(usage: Usage) -> usize {
    usage.index() - 1
}
