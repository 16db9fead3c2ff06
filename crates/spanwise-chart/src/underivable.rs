//! Why a program cannot be derived from an utterance, as data.

mod places;

use crate::grammar::Grammar;
use crate::lattice::{Lattice, Leaf};
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
    /// There are fewer words than constants that need some, although each of these would have one.
    TooFewWords {
        /// The constants that need words.
        needed: usize,
        /// The most of them that can have words at once.
        placed: usize,
    },
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
            Self::TooFewWords { .. } => "too few words",
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
        let Node::Constant { constant, frame, .. } = *node else { continue };
        if grammar.is_implicit(domain, frame) {
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
    too_few_words(lattice, analysis, values, &needed(grammar, domain, analysis)).unwrap_or(Underivable::Order)
}

/// For each node, whether it is derived from words: it is a constant that cannot be inserted.
fn needed(grammar: &Grammar, domain: &Domain, analysis: &Analysis) -> Vec<bool> {
    let is_needed = |node: &Node| match node {
        Node::Constant { frame, .. } => !grammar.is_implicit(domain, *frame),
        Node::Unlisted { .. } => true,
        Node::Gather { .. } => false,
    };
    analysis.nodes.iter().map(is_needed).collect()
}

fn too_few_words(
    lattice: &Lattice,
    analysis: &Analysis,
    values: &[Option<String>],
    needed: &[bool],
) -> Option<Underivable> {
    let leaves = |at: usize| -> Vec<Leaf> {
        let is_it = |leaf: &&Leaf| match &analysis.nodes[at] {
            Node::Constant { constant, .. } => leaf.constant == *constant && leaf.value.is_none(),
            _ => leaf.value.is_some() && lattice.value(leaf) == values[at].as_deref(),
        };
        lattice.leaves().iter().filter(is_it).copied().collect()
    };
    let constants: Vec<Vec<Leaf>> = (0..needed.len()).filter(|&at| needed[at]).map(leaves).collect();
    let placed = places::most_at_once(lattice.n_tokens(), &constants)?;
    (placed < constants.len()).then_some(Underivable::TooFewWords { needed: constants.len(), placed })
}

/// A lattice with one word for each constant of a program that needs one, in an order that should suit it.
pub(crate) fn in_order(
    grammar: &Grammar,
    domain: &Domain,
    analysis: &Analysis,
    values: &[Option<String>],
) -> Option<Lattice> {
    places::in_order(domain, analysis, values, &needed(grammar, domain, analysis))
}
