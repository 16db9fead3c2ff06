//! Why a program cannot be derived from an utterance, as data.

use crate::grammar::Grammar;
use crate::lattice::Lattice;
use spanwise_lang::{Analysis, ConstantId, Domain, Node, Problem, TermId};

/// Why no derivation gives a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Underivable {
    /// The program has no typing.
    Untypeable(Problem),
    /// It has more nodes than a chart is built for.
    TooLarge,
    /// An entity that no table lists.
    UnlistedEntity(TermId),
    /// A literal whose value no words have.
    Unsaid(TermId),
    /// A constant that is allowed on no words and cannot be inserted.
    Unaligned(ConstantId),
    /// A constant occurs more often in the program than in the words.
    Repeated(ConstantId),
    /// Every constant has words, but their order is one that the rules cannot compose.
    Order,
}

impl Underivable {
    /// A short name of the reason, for counting.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Untypeable(_) => "untypeable",
            Self::TooLarge => "too large",
            Self::UnlistedEntity(_) => "entity in no table",
            Self::Unsaid(_) => "literal not in the words",
            Self::Unaligned(_) => "constant not in the words",
            Self::Repeated(_) => "repeated constant",
            Self::Order => "order of the words",
        }
    }
}

/// What keeps a program from being derived, constant by constant.
pub(crate) fn reason(
    grammar: &Grammar,
    lattice: &Lattice,
    domain: &Domain,
    analysis: &Analysis,
    values: &[Option<String>],
) -> Underivable {
    for (node, value) in analysis.nodes.iter().zip(values) {
        let Node::Unlisted { class, term } = node else { continue };
        if lattice.values().iter().all(|known| Some(known) != value.as_ref()) {
            let class = &domain.classes()[*class];
            let is_read = class.is_literal() || class.reads_text();
            return if is_read { Underivable::Unsaid(*term) } else { Underivable::UnlistedEntity(*term) };
        }
    }
    let mut uses: Vec<(ConstantId, usize)> = Vec::new();
    for node in &analysis.nodes {
        let Node::Constant { constant, .. } = *node else { continue };
        if domain.constants()[constant].implicit && grammar.options().implicit {
            continue;
        }
        match uses.iter_mut().find(|(known, _)| *known == constant) {
            Some((_, n)) => *n += 1,
            None => uses.push((constant, 1)),
        }
    }
    let is_allowed = |constant: ConstantId| lattice.leaves().iter().any(|leaf| leaf.constant == constant);
    if let Some(&(unaligned, _)) = uses.iter().find(|(constant, _)| !is_allowed(*constant)) {
        return Underivable::Unaligned(unaligned);
    }
    for &(constant, n) in &uses {
        let mut spans: Vec<(u32, u32)> = lattice
            .leaves()
            .iter()
            .filter(|leaf| leaf.constant == constant)
            .map(|leaf| (leaf.end, leaf.start))
            .collect();
        // The most runs of words that do not overlap: always take the one that ends first.
        spans.sort_unstable();
        let mut apart = 0;
        let mut free_from = 0;
        for (end, start) in spans {
            if start >= free_from {
                apart += 1;
                free_from = end;
            }
        }
        if apart < n {
            return Underivable::Repeated(constant);
        }
    }
    Underivable::Order
}
