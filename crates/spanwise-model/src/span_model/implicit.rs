//! The columns of logits in which implicit constants are scored on the words where they are inserted.

use super::Spec;
use spanwise_chart::grammar::Grammar;
use spanwise_lang::{ConstantId, Domain};

impl Spec {
    /// The constants that have a column for the words that they are inserted on, in order.
    pub(super) fn implicit(&self, domain: &Domain) -> Vec<ConstantId> {
        let is_inserted =
            |&id: &ConstantId| domain.frames_of(id).any(|(_, frame)| frame.implicit && frame.state.is_some());
        let is_scored = self.scores_implicit && self.options.implicit;
        let known = domain.predicates().map(|(id, _)| id).filter(is_inserted);
        if is_scored { known.collect() } else { Vec::new() }
    }
}

/// The columns of logits that score implicit constants on words; empty in models without them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImplicitColumns {
    /// For the constants that are inserted above complete terms, in the order of [`Grammar::inserted`].
    pub inserted: Vec<u32>,
    /// For those that are arguments without words, in the order of [`Grammar::unsaid`].
    pub unsaid: Vec<u32>,
}

impl ImplicitColumns {
    pub(super) fn new(grammar: &Grammar, constants: &[ConstantId], first: usize) -> Self {
        let column = |id: &ConstantId| {
            let at = constants.iter().position(|known| known == id);
            at.map(|at| (first + at) as u32)
        };
        let columns = |ids: &[ConstantId]| ids.iter().filter_map(column).collect();
        Self { inserted: columns(grammar.inserted()), unsaid: columns(grammar.unsaid()) }
    }
}
