//! The fewest tokens that complete a term, given the leaves that an utterance offers.

use super::grammar::{Grammar, Nonterminal, Rule, RuleId};
use crate::domain::ClassId;
use spanwise_core::IndexVec;

/// More tokens than any program has: what cannot be completed. Sums saturate.
pub(super) const NEVER: u32 = u32::MAX;

/// Fewest tokens. This is the least fixed point of superior functions (Knuth, 1977), found by iteration.
#[derive(Debug)]
pub(super) struct Costs {
    /// Of a call, from its head to its closing bracket.
    pub(super) call: IndexVec<RuleId, u32>,
    /// After an argument, up to the closing bracket, for each state of a rule.
    rest: IndexVec<RuleId, Vec<u32>>,
    /// The classes that have leaves.
    pub(super) offered: IndexVec<ClassId, bool>,
}

impl Costs {
    /// Cost: linear in the rules, times the depth of the deepest of all shortest terms.
    pub(super) fn new(grammar: &Grammar, classes: &[ClassId]) -> Self {
        let mut offered: IndexVec<ClassId, bool> = grammar.classes.iter().map(|_| false).collect();
        let mut term: IndexVec<Nonterminal, u32> = grammar.nonterminals().map(|_| NEVER).collect();
        for &class in classes {
            offered[class] = true;
            lower(grammar, &mut term, grammar.classes[class], 1);
        }
        for &atom in grammar.words.iter().flat_map(|word| &word.atoms) {
            lower(grammar, &mut term, atom, 1);
        }
        let mut costs = Self {
            call: grammar.rules.iter().map(|_| NEVER).collect(),
            rest: grammar.rules.iter().map(|rule| vec![NEVER; rule.n_states()]).collect(),
            offered,
        };
        let mut is_lower = true;
        while is_lower {
            is_lower = false;
            for (id, rule) in grammar.rules.iter_enumerated() {
                let cost = from_head(rule, &term, &mut costs.rest[id]);
                is_lower |= lower(grammar, &mut term, rule.result, cost);
                costs.call[id] = cost;
            }
        }
        costs
    }

    pub(super) fn rest(&self, rule: RuleId, state: usize) -> u32 {
        self.rest[rule][state]
    }
}

/// Lowers the cost of a nonterminal and of those above it. Returns whether one was higher.
fn lower(grammar: &Grammar, term: &mut IndexVec<Nonterminal, u32>, of: Nonterminal, cost: u32) -> bool {
    let mut is_lower = false;
    for &above in grammar.above(of) {
        is_lower |= cost < term[above];
        term[above] = term[above].min(cost);
    }
    is_lower
}

/// The cost of a call; fills in the costs after its arguments.
fn from_head(rule: &Rule, term: &IndexVec<Nonterminal, u32>, rest: &mut [u32]) -> u32 {
    let mut inside = 0;
    for state in (0..rule.n_states()).rev() {
        // A longer list of values is never shorter: steps that stay in a state do not count.
        let ahead = rule.steps(state).iter().filter(|&&(_, next)| next > state);
        let least = ahead.map(|&(arg, next)| term[arg].saturating_add(rest[next])).min();
        inside = if rule.is_final(state) { 1 } else { least.unwrap_or(NEVER) };
        // A comma comes before all arguments but the first.
        rest[state] = if rule.is_final(state) { 1 } else { inside.saturating_add(1) };
    }
    inside.saturating_add(2)
}
