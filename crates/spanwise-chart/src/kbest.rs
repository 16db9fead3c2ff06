//! The k best derivations and the k best different programs, lazily (Huang & Chiang 2005, algorithm 3).
//!
//! Only what a next derivation needs is looked at: for `k` derivations of a chart that is already filled, a
//! few edges per node on their paths.

use crate::budget::Meter;
use crate::derivation::{BestChart, Derivation, assemble};
use crate::edges::Node;
use crate::hypergraph::{Edge, NONE};
use hashbrown::{HashMap, HashSet};
use spanwise_lang::{TermId, Terms};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Work for one node of a derivation.
const NODE_WORK: u64 = 1_000;

/// Positions beyond which only the best derivation is given: the search descends along a derivation.
const MAX_POSITIONS: usize = 200;

/// Derivations from the best on, one at a time.
pub struct Derivations<'a, 'b> {
    chart: &'a BestChart<'b>,
    nodes: HashMap<Node, Ranked>,
    next: u32,
}

/// What is known of the derivations of one node.
#[derive(Default)]
struct Ranked {
    edges: Vec<Edge>,
    found: Vec<Candidate>,
    waiting: BinaryHeap<Candidate>,
    seen: HashSet<(u32, [u32; 2])>,
}

/// A derivation of a node: an edge, and which derivation of each tail.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Candidate {
    score: f32,
    edge: u32,
    ranks: [u32; 2],
}

impl Eq for Candidate {}

impl Ord for Candidate {
    /// Better scores first; of equal ones the earlier edge, then the lower ranks.
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then_with(|| other.edge.cmp(&self.edge))
            .then_with(|| other.ranks.cmp(&self.ranks))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'b> BestChart<'b> {
    /// All derivations, best first.
    #[must_use]
    pub fn derivations<'a>(&'a self) -> Derivations<'a, 'b> {
        Derivations { chart: self, nodes: HashMap::new(), next: 0 }
    }

    /// Up to `k` different programs, each with its best derivation, best first. Looks at no more than
    /// `max_derivations`: many of them may have the same program on other words.
    ///
    /// Stops early where the meter's budget is exhausted.
    pub fn programs(
        &self,
        terms: &mut Terms,
        k: usize,
        max_derivations: usize,
        meter: &Meter,
    ) -> Vec<(TermId, Derivation)> {
        let mut found: Vec<(TermId, Derivation)> = Vec::new();
        for derivation in self.derivations().take(max_derivations) {
            if found.len() == k || meter.spend(derivation.nodes.len() as u64 * NODE_WORK).is_err() {
                break;
            }
            let Some((program, _)) = self.tree(terms, &derivation) else { continue };
            if !found.iter().any(|(known, _)| *known == program) {
                found.push((program, derivation));
            }
        }
        found
    }
}

impl Iterator for Derivations<'_, '_> {
    type Item = Derivation;

    fn next(&mut self) -> Option<Derivation> {
        if self.chart.score() == f32::NEG_INFINITY {
            return None;
        }
        if self.chart.input.lattice.n_positions() > MAX_POSITIONS {
            self.next += 1;
            return if self.next == 1 { self.chart.best() } else { None };
        }
        let root = self.chart.edges().root();
        let score = self.ranked(root, self.next)?;
        let derivation = self.follow(root, self.next, score);
        self.next += 1;
        Some(derivation)
    }
}

impl Derivations<'_, '_> {
    /// The score of the derivation of a node with this rank, from 0; `None` when there are fewer.
    fn ranked(&mut self, node: Node, rank: u32) -> Option<f32> {
        if !self.nodes.contains_key(&node) {
            let start = self.start(node);
            self.nodes.insert(node, start);
        }
        while self.nodes[&node].found.len() <= rank as usize {
            if let Some(last) = self.nodes[&node].found.last().copied() {
                self.successors(node, last);
            }
            let ranked = self.nodes.get_mut(&node)?;
            let next = ranked.waiting.pop()?;
            ranked.found.push(next);
        }
        self.nodes[&node].found.get(rank as usize).map(|candidate| candidate.score)
    }

    /// Every edge with the best of its tails.
    fn start(&self, node: Node) -> Ranked {
        let mut ranked = Ranked::default();
        self.chart.edges().list_into(node, &mut ranked.edges);
        for (at, edge) in ranked.edges.iter().enumerate() {
            let score = self.chart.through(edge);
            if score > f32::NEG_INFINITY {
                ranked.waiting.push(Candidate { score, edge: at as u32, ranks: [0, 0] });
                ranked.seen.insert((at as u32, [0, 0]));
            }
        }
        ranked
    }

    /// The same edge with the next derivation of one tail.
    fn successors(&mut self, node: Node, last: Candidate) {
        let edge = self.nodes[&node].edges[last.edge as usize];
        for tail in (0..2).filter(|&tail| edge.tails[tail] != NONE) {
            let mut ranks = last.ranks;
            ranks[tail] += 1;
            if self.nodes[&node].seen.contains(&(last.edge, ranks)) {
                continue;
            }
            let Some(score) = self.score(&edge, ranks) else { continue };
            let Some(ranked) = self.nodes.get_mut(&node) else { continue };
            ranked.seen.insert((last.edge, ranks));
            ranked.waiting.push(Candidate { score, edge: last.edge, ranks });
        }
    }

    fn score(&mut self, edge: &Edge, ranks: [u32; 2]) -> Option<f32> {
        let mut score: f32 =
            edge.weights.iter().take_while(|&&at| at != NONE).map(|&at| self.chart.weight(at)).sum();
        for (tail, rank) in edge.tails.into_iter().zip(ranks).filter(|(tail, _)| *tail != NONE) {
            score += self.ranked(tail, rank)?;
        }
        Some(score)
    }

    fn follow(&mut self, root: Node, rank: u32, score: f32) -> Derivation {
        let mut preorder = Vec::new();
        let mut todo = vec![(root, rank)];
        while let Some((node, rank)) = todo.pop() {
            // Tails that were only ever used at their best have not been ranked yet.
            self.ranked(node, rank);
            let ranked = &self.nodes[&node];
            let chosen = ranked.found[rank as usize];
            let edge = ranked.edges[chosen.edge as usize];
            for tail in (0..2).rev().filter(|&tail| edge.tails[tail] != NONE) {
                todo.push((edge.tails[tail], chosen.ranks[tail]));
            }
            preorder.push((node, edge));
        }
        Derivation { score, nodes: assemble(&preorder) }
    }
}
