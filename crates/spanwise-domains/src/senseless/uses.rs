//! The compositions that programs of the data contain.

use super::{Composition, Counts, Maker, Top};
use spanwise_lang::domain::ClassId;
use spanwise_lang::{Analysis, Domain, Kind, Node, TermId};
use std::collections::BTreeSet;

/// How many programs contain each composition.
#[derive(Default)]
pub(super) struct Uses(Counts);

impl Uses {
    pub(super) fn add(&mut self, domain: &Domain, program: &Analysis) {
        let mut found = BTreeSet::new();
        for node in &program.nodes {
            for (slot, child) in node.children().enumerate() {
                let Some((maker, slot)) = maker(domain, program, node, slot, child) else { continue };
                for argument in [None, Some(top(domain, &program.nodes[child]))] {
                    found.insert(Composition { maker, slot, argument });
                }
            }
        }
        for composition in found {
            *self.0.entry(composition).or_default() += 1;
        }
    }

    pub(super) fn of(&self, composition: Composition) -> usize {
        self.0.get(&composition).copied().unwrap_or(0)
    }
}

/// How a node is made as far as one of its children is concerned, and the slot of the child. Values that are gathered count
/// one by one, each as the first slot.
fn maker(
    domain: &Domain,
    program: &Analysis,
    node: &Node,
    slot: usize,
    child: usize,
) -> Option<(Maker, usize)> {
    match node {
        Node::Constant { frame, .. } => Some((Maker::Frame(*frame), slot)),
        Node::Gather { accumulator, elements, over } => {
            let is_over = slot == elements.len();
            let value = if is_over { *elements.last()? } else { child };
            let types = &domain.accumulator_types()[*accumulator].elements;
            let is_of = |&&ty: &&_| domain.types().is_subtype(program.types[value], ty);
            let element = *types.iter().find(is_of)?;
            let maker = Maker::Gather { accumulator: *accumulator, element, has_over: over.is_some() };
            Some((maker, usize::from(is_over)))
        }
        Node::Unlisted { .. } => None,
    }
}

fn top(domain: &Domain, node: &Node) -> Top {
    match node {
        Node::Constant { constant, .. } => match domain.constants()[*constant].kind {
            Kind::Predicate => Top::Predicate(*constant),
            Kind::Entity(class) => Top::Class(class),
        },
        Node::Gather { accumulator, .. } => Top::Accumulator(*accumulator),
        Node::Unlisted { class, .. } => Top::Class(*class),
    }
}

/// The members of open classes in a program that no table lists, with their classes.
pub(super) fn literals(program: &Analysis) -> impl Iterator<Item = (ClassId, TermId)> {
    program.nodes.iter().filter_map(|node| match node {
        Node::Unlisted { class, term } => Some((*class, *term)),
        Node::Constant { .. } | Node::Gather { .. } => None,
    })
}
