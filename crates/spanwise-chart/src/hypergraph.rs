//! A directed hypergraph with scored edges; inside, inside-outside and Viterbi on it (Gallo et al. 1993, Huang 2008).
//!
//! Nodes are numbered so that the tails of an edge come before its head; edges are grouped by head in
//! contiguous arrays. Inside values, marginals and the best derivation are one or two loops, without
//! hashing or allocation inside. Gold charts are such graphs; [`super::outside`] writes a typed chart out as one where
//! linear space is too small.

use crate::semiring::Semiring;

/// No tail, no score.
pub(crate) const NONE: u32 = u32::MAX;

/// An edge: up to two tails and up to three scores, all by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Edge {
    /// Nodes that are put together; `u32::MAX` for none.
    pub tails: [u32; 2],
    /// Scores that count for it, as indices into one flat array; `u32::MAX` for none.
    pub weights: [u32; 3],
}

impl Edge {
    /// An edge without tails, for one leaf score.
    #[must_use]
    pub const fn leaf(weight: u32) -> Self {
        Self { tails: [NONE; 2], weights: [weight, NONE, NONE] }
    }

    /// The value of all derivations through the edge, from the values of its tails and the scores.
    #[inline]
    pub(crate) fn value<S: Semiring>(&self, values: &[S::Value], scores: &[S::Value]) -> S::Value {
        let mut product = S::ONE;
        for &weight in self.weights.iter().take_while(|&&weight| weight != NONE) {
            product = S::times(product, scores[weight as usize]);
        }
        for &tail in self.tails.iter().take_while(|&&tail| tail != NONE) {
            product = S::times(product, values[tail as usize]);
        }
        product
    }
}

/// The graph. The last node is the root.
///
/// ```
/// use spanwise_chart::hypergraph::{Edge, Hypergraph};
/// use spanwise_chart::semiring::Count;
///
/// let mut graph = Hypergraph::default();
/// let [left, right] = [0, 1].map(|score| {
///     let node = graph.push_node();
///     graph.push_edge(Edge::leaf(score));
///     node
/// });
/// graph.push_node();
/// for rule in [2, 3] {
///     graph.push_edge(Edge { tails: [left, right], weights: [rule, u32::MAX, u32::MAX] });
/// }
/// assert_eq!(graph.inside::<Count>(&[1.0; 4]).last(), Some(&2.0));
/// let (score, derivation) = graph.best(&[0.5, 0.25, 1.0, 2.0]).unwrap();
/// assert_eq!((score, derivation.len()), (2.75, 3));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hypergraph {
    starts: Vec<u32>,
    edges: Vec<Edge>,
}

impl Hypergraph {
    /// Number of nodes.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.starts.len()
    }

    /// The bytes of the graph, with the values that a pass over it needs.
    pub(crate) fn bytes(&self) -> usize {
        self.n_nodes() * (size_of::<u32>() + 2 * size_of::<f64>()) + self.edges.len() * size_of::<Edge>()
    }

    /// Starts the next node; the edges pushed from now on have it as head. Returns its number.
    pub fn push_node(&mut self) -> u32 {
        self.starts.push(self.edges.len() as u32);
        (self.starts.len() - 1) as u32
    }

    /// Adds an edge into the newest node.
    pub fn push_edge(&mut self, edge: Edge) {
        debug_assert!(edge.tails.iter().all(|&tail| tail == NONE || (tail as usize) + 1 < self.starts.len()));
        self.edges.push(edge);
    }

    /// The edges into a node.
    #[must_use]
    pub fn edges(&self, node: u32) -> &[Edge] {
        &self.edges[self.range(node as usize)]
    }

    fn range(&self, node: usize) -> std::ops::Range<usize> {
        let end = self.starts.get(node + 1).map_or(self.edges.len(), |&end| end as usize);
        self.starts[node] as usize..end
    }

    /// The inside value of every node: the sum over its derivations. Cost: one step per edge.
    #[must_use]
    pub fn inside<S: Semiring>(&self, scores: &[S::Value]) -> Vec<S::Value> {
        let mut values = Vec::with_capacity(self.n_nodes());
        for node in 0..self.n_nodes() {
            let mut sum = S::ZERO;
            for edge in &self.edges[self.range(node)] {
                sum = S::plus(sum, edge.value::<S>(&values, scores));
            }
            values.push(sum);
        }
        values
    }

    /// The same graph without the nodes that the root cannot reach, and the old numbers of the nodes that stay.
    #[must_use]
    pub fn reachable(&self) -> (Self, Vec<u32>) {
        self.filtered(|_, _| true)
    }

    /// The same graph with the best derivations of the root and no other, and the old numbers of the nodes that stay.
    /// Scores must add up without rounding, as small whole numbers do: what is equally good must come out equal.
    /// `None` when there is no derivation.
    #[must_use]
    pub fn best_only(&self, scores: &[f32]) -> Option<(Self, Vec<u32>)> {
        use crate::semiring::Max;
        let inside = self.inside::<Max>(scores);
        if *inside.last()? == f32::NEG_INFINITY {
            return None;
        }
        let is_best = |node: usize, edge: &Edge| edge.value::<Max>(&inside, scores) == inside[node];
        Some(self.filtered(is_best))
    }

    /// What the root reaches over the edges that pass.
    fn filtered(&self, passes: impl Fn(usize, &Edge) -> bool) -> (Self, Vec<u32>) {
        let passes = &passes;
        let kept_edges =
            |node: usize| self.edges[self.range(node)].iter().filter(move |edge| passes(node, edge));
        let mut reached = vec![false; self.n_nodes()];
        if let Some(root) = reached.last_mut() {
            *root = true;
        }
        for node in (0..self.n_nodes()).rev() {
            if reached[node] {
                let tails = kept_edges(node).flat_map(|edge| edge.tails);
                tails.filter(|&tail| tail != NONE).for_each(|tail| reached[tail as usize] = true);
            }
        }
        let (mut kept, mut kept_nodes) = (Self::default(), Vec::new());
        let mut number = vec![NONE; self.n_nodes()];
        for node in (0..self.n_nodes()).filter(|&node| reached[node]) {
            number[node] = kept.push_node();
            kept_nodes.push(node as u32);
            for edge in kept_edges(node) {
                let tails = edge.tails.map(|tail| if tail == NONE { NONE } else { number[tail as usize] });
                kept.push_edge(Edge { tails, weights: edge.weights });
            }
        }
        (kept, kept_nodes)
    }

    /// The log-partition of the root and, for every score, the expected number of times it counts.
    /// `None` when the root has no derivation. Works in log space: any range of scores.
    #[must_use]
    pub fn marginals(&self, scores: &[f64]) -> Option<(f64, Vec<f64>)> {
        use crate::semiring::LogSum;
        let inside = self.inside::<LogSum>(scores);
        let log_z = *inside.last()?;
        if log_z == f64::NEG_INFINITY {
            return None;
        }
        let mut expected = vec![0.0; scores.len()];
        // The probability that a derivation uses each node.
        let mut usage = vec![0.0; inside.len()];
        *usage.last_mut()? = 1.0;
        for node in (0..inside.len()).rev() {
            if usage[node] == 0.0 {
                continue;
            }
            for edge in &self.edges[self.range(node)] {
                let share = usage[node] * (edge.value::<LogSum>(&inside, scores) - inside[node]).exp();
                for &weight in edge.weights.iter().take_while(|&&weight| weight != NONE) {
                    expected[weight as usize] += share;
                }
                for &tail in edge.tails.iter().take_while(|&&tail| tail != NONE) {
                    usage[tail as usize] += share;
                }
            }
        }
        Some((log_z, expected))
    }

    /// The best derivation of the root and its score: the chosen edge of every node it uses, parents first.
    /// Of equally good edges the first wins. `None` when there is no derivation.
    #[must_use]
    pub fn best(&self, scores: &[f32]) -> Option<(f32, Vec<(u32, Edge)>)> {
        use crate::semiring::Max;
        let inside = self.inside::<Max>(scores);
        let score = *inside.last()?;
        if score == f32::NEG_INFINITY {
            return None;
        }
        let mut chosen = Vec::new();
        let mut todo = vec![(inside.len() - 1) as u32];
        while let Some(node) = todo.pop() {
            let edges = self.edges(node).iter();
            let best =
                edges.copied().find(|edge| edge.value::<Max>(&inside, scores) == inside[node as usize]);
            let edge = best.expect("the value of a node is that of one of its edges");
            todo.extend(edge.tails.iter().rev().copied().filter(|&tail| tail != NONE));
            chosen.push((node, edge));
        }
        Some((score, chosen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::semiring::{Count, LogSum, Max};

    /// All binary bracketings of `n` leaves, each leaf with score `leaf`, each merge with score `n + length`.
    fn bracketings(n: usize) -> Hypergraph {
        let mut graph = Hypergraph::default();
        let mut node = vec![vec![NONE; n + 1]; n + 1];
        for length in 1..=n {
            for start in 0..=n - length {
                let end = start + length;
                node[start][end] = graph.push_node();
                if length == 1 {
                    graph.push_edge(Edge::leaf(start as u32));
                }
                for (split, row) in node.iter().enumerate().take(end).skip(start + 1) {
                    let tails = [node[start][split], row[end]];
                    graph.push_edge(Edge { tails, weights: [(n + length) as u32, NONE, NONE] });
                }
            }
        }
        graph
    }

    #[test]
    fn counts_are_catalan_numbers() {
        for (n, catalan) in [(1, 1.0), (2, 1.0), (3, 2.0), (4, 5.0), (5, 14.0), (10, 4862.0)] {
            let graph = bracketings(n);
            let values = graph.inside::<Count>(&vec![1.0; 2 * n + 1]);
            assert_eq!(values.last(), Some(&catalan));
        }
    }

    #[test]
    fn marginals_are_the_gradient_of_the_log_partition() {
        let graph = bracketings(6);
        let mut scores: Vec<f64> = (0..13).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let (_, expected) = graph.marginals(&scores).unwrap();
        for i in 0..scores.len() {
            let mut at = |delta: f64| {
                scores[i] += delta;
                let value = *graph.inside::<LogSum>(&scores).last().unwrap();
                scores[i] -= delta;
                value
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - expected[i]).abs() < 1e-6, "{i}: {slope} {}", expected[i]);
        }
    }

    #[test]
    fn the_best_derivation_has_the_best_score() {
        let graph = bracketings(7);
        let scores: Vec<f32> = (0..15u8).map(|i| (f32::from(i) * 1.3).cos()).collect();
        let (score, chosen) = graph.best(&scores).unwrap();
        assert_eq!(graph.inside::<Max>(&scores).last(), Some(&score));
        let sum: f32 = chosen.iter().map(|(_, edge)| scores[edge.weights[0] as usize]).sum();
        assert!((sum - score).abs() < 1e-5);
        assert_eq!(chosen.len(), 13);
    }

    #[test]
    fn only_the_best_derivations_are_kept_and_all_of_them() {
        // Merges of two leaves count one: the best bracketings have as many such pairs as possible.
        for (n, expected) in [(2, 1.0), (3, 2.0), (4, 1.0), (5, 6.0), (6, 2.0)] {
            let graph = bracketings(n);
            let mut scores = vec![0.0; 2 * n + 1];
            scores[n + 2] = 1.0;
            let (best, nodes) = graph.best_only(&scores).unwrap();
            assert_eq!(nodes.len(), best.n_nodes());
            assert_eq!(nodes.last(), Some(&(graph.n_nodes() as u32 - 1)));
            let value = |graph: &Hypergraph| *graph.inside::<Max>(&scores).last().unwrap();
            assert_eq!((value(&best), value(&best)), (value(&graph), (n / 2) as f32));
            let counted = *best.inside::<Count>(&vec![1.0; 2 * n + 1]).last().unwrap();
            assert_eq!(counted, expected, "{n} leaves");
        }
        assert_eq!(bracketings(2).best_only(&[f32::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0]), None);
    }

    #[test]
    fn an_impossible_root_has_no_derivation() {
        let graph = bracketings(2);
        assert_eq!(graph.marginals(&[f64::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0]), None);
        assert_eq!(graph.best(&[f32::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0]), None);
        assert_eq!(Hypergraph::default().best(&[]), None);
    }
}
