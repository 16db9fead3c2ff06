//! Words that must be used: a lattice in which no derivation leaves them out.

use super::{Lattice, Leaf};

impl Lattice {
    /// The same, but every derivation uses the words that are marked here: it has leaves on them that `uses` accepts, and no
    /// others. Leaves, positions and cells keep their numbers.
    ///
    /// ```
    /// use spanwise_chart::lattice::{Lattice, Leaf};
    /// use spanwise_lang::ConstantId;
    ///
    /// // "flights to boston": a constant on `flights`, one on `boston`.
    /// let leaf = |start, end, id| Leaf::new(start, end, ConstantId(id));
    /// let free = Lattice::new(3, vec![leaf(0, 1, 0), leaf(2, 3, 1)])?;
    /// let strict = free.clone().using(&[false, false, true], |leaf| leaf.constant == ConstantId(1));
    /// assert!(strict.is_strict() && !free.is_strict());
    /// assert_eq!(strict.lenient(), free);
    /// # Ok::<(), spanwise_chart::lattice::ChartError>(())
    /// ```
    #[must_use]
    pub fn using(mut self, must_be_used: &[bool], uses: impl Fn(&Leaf) -> bool) -> Self {
        debug_assert_eq!(must_be_used.len(), self.n_tokens);
        if !must_be_used.contains(&true) {
            return self;
        }
        let n = self.n_positions();
        let is_free = |start: u32, end: u32| !must_be_used[start as usize..end as usize].contains(&true);
        for p in 0..n {
            self.is_skippable[p] = is_free(self.boundaries[p], self.boundaries[p + 1]);
        }
        self.n_firsts = (0..n).take_while(|&p| is_free(0, self.boundaries[p])).count();
        for start in self.starting.iter_mut().flatten() {
            let first = start.first as usize;
            let leaf = &self.leaves[start.leaf as usize];
            let is_allowed = is_free(leaf.start, leaf.end) || uses(leaf);
            let more = self.is_skippable[first..].iter().take_while(|is_skippable| **is_skippable).count();
            let reaches_first = is_allowed && is_free(leaf.end, self.boundaries[first]);
            start.last = if reaches_first { (first + more) as u32 } else { start.first - 1 };
        }
        self
    }

    /// The same, but all words may be left out.
    #[must_use]
    pub fn lenient(&self) -> Self {
        let (mut all, last) = (self.clone(), self.n_positions());
        all.starting.iter_mut().flatten().for_each(|start| start.last = last as u32);
        all.is_skippable.fill(true);
        all.n_firsts = last;
        all
    }

    /// Whether some words must be used.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        self.n_firsts < self.n_positions()
            || self.is_skippable.contains(&false)
            || self.starting.iter().flatten().any(|start| (start.last as usize) < self.n_positions())
    }
}
