//! The cost of a typed chart before it is filled.

use crate::grammar::{Grammar, LANES};
use crate::layout::MAX_OPEN;

/// How much longer than a Viterbi chart in single precision the sums take, and the pass back.
pub(crate) const INSIDE_WORK: u64 = 2;
pub(crate) const OUTSIDE_WORK: u64 = 5;

impl Grammar {
    /// The work of all charts of an utterance with `n` positions, Viterbi, inside and outside, in the units of a
    /// [`Budget`](crate::budget::Budget). An upper estimate: parts of a chart that stay empty cost less.
    #[must_use]
    pub fn total_work(&self, n: usize) -> u64 {
        self.chart_work(n).saturating_mul(1 + INSIDE_WORK + OUTSIDE_WORK)
    }

    /// The work of a Viterbi chart with `n` positions.
    pub(crate) fn chart_work(&self, n: usize) -> u64 {
        let (n, open) = (n as u64, MAX_OPEN as u64);
        let rows = |rows: usize| (rows * self.n_columns / LANES) as u64;
        let fills: usize = self.leaf_fills.iter().map(Vec::len).sum();
        // Parts of sets that are kept apart join each other, and functions take each of them.
        let parts = self.elements_of.len() - self.gatherings.len();
        let more = self.implicit.fills.len() + parts * (4 + self.spreads.len());
        let merge = 20 + 2 * self.unaries.len() as u64 + fills as u64 / 4 + more as u64;
        let complete = rows(self.result_rows.len());
        let compose = 2 * rows(self.composing.iter().map(Vec::len).sum());
        let splits = |n: u64| n.saturating_mul(n).saturating_mul(n) / 6;
        // Something open covers few positions: it is completed at few splits of a cell, and composed in short cells.
        let short = n.saturating_mul(n).saturating_mul(n.min(open));
        let composed = n.saturating_mul(n.min(open).pow(2)) / 2;
        splits(n)
            .saturating_mul(merge)
            .saturating_add(short.saturating_mul(complete))
            .saturating_add(composed.saturating_mul(compose))
            .saturating_mul(2)
    }
}
