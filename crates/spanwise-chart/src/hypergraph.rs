//! A directed hypergraph with scored edges, and what can be computed on it in any semiring.
//!
//! Nodes are numbered so that the tails of an edge come before its head; edges are grouped by head in
//! contiguous arrays. Inside, outside, best derivation and counting are one loop each, without hashing or
//! allocation inside. Gold charts are such graphs; so is any typed chart when a test writes it out.

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
}

/// The graph. The last node is the root.
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

    /// The value of every node: the sum over its derivations. Cost: one step per edge.
    #[must_use]
    pub fn inside<S: Semiring>(&self, scores: &[S::Value]) -> Vec<S::Value> {
        let mut values = Vec::with_capacity(self.n_nodes());
        for node in 0..self.n_nodes() {
            let mut sum = S::ZERO;
            for edge in &self.edges[self.range(node)] {
                sum = S::plus(sum, Self::value::<S>(edge, &values, scores));
            }
            values.push(sum);
        }
        values
    }

    #[inline]
    fn value<S: Semiring>(edge: &Edge, values: &[S::Value], scores: &[S::Value]) -> S::Value {
        let mut product = S::ONE;
        for &weight in edge.weights.iter().take_while(|&&weight| weight != NONE) {
            product = S::times(product, scores[weight as usize]);
        }
        for &tail in edge.tails.iter().take_while(|&&tail| tail != NONE) {
            product = S::times(product, values[tail as usize]);
        }
        product
    }

    /// The same graph without the nodes that the root cannot reach.
    #[must_use]
    pub fn reachable(&self) -> Self {
        let mut reached = vec![false; self.n_nodes()];
        if let Some(root) = reached.last_mut() {
            *root = true;
        }
        for node in (0..self.n_nodes()).rev() {
            if reached[node] {
                let tails = self.edges[self.range(node)].iter().flat_map(|edge| edge.tails);
                tails.filter(|&tail| tail != NONE).for_each(|tail| reached[tail as usize] = true);
            }
        }
        let mut kept = Self::default();
        let mut number = vec![NONE; self.n_nodes()];
        for node in (0..self.n_nodes()).filter(|&node| reached[node]) {
            number[node] = kept.push_node();
            for edge in &self.edges[self.range(node)] {
                let tails = edge.tails.map(|tail| if tail == NONE { NONE } else { number[tail as usize] });
                kept.push_edge(Edge { tails, weights: edge.weights });
            }
        }
        kept
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
                let share = usage[node] * (Self::value::<LogSum>(edge, &inside, scores) - inside[node]).exp();
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
            let best = edges
                .copied()
                .find(|edge| Self::value::<Max>(edge, &inside, scores) == inside[node as usize]);
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
    fn an_impossible_root_has_no_derivation() {
        let graph = bracketings(2);
        assert_eq!(graph.marginals(&[f64::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0]), None);
        assert_eq!(graph.best(&[f32::NEG_INFINITY, 0.0, 0.0, 0.0, 0.0]), None);
        assert_eq!(Hypergraph::default().best(&[]), None);
    }
}
