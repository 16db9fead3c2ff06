//! The entities and literals that the words of an utterance give, without a chart.

use spanwise_chart::candidates::licensed;
use spanwise_core::{Span, Utterance};
use spanwise_lang::linear::Leaf;
use spanwise_lang::{ConstantId, Domain, Kind};

/// The entities and literals that the domain finds in the words: by name, without names inside longer ones of the same
/// class, or by the recognizer of a class.
pub(crate) fn found_leaves(domain: &Domain, utterance: &Utterance) -> Vec<(Span, Leaf)> {
    let class = |constant: ConstantId| match domain.constants()[constant].kind {
        Kind::Entity(class) => Some(class),
        Kind::Predicate => None,
    };
    let entities = licensed(domain, &domain.lexicon().matches(utterance)).into_iter().filter_map(|leaf| {
        let text = domain.constants()[leaf.constant].name.clone();
        Some((leaf.span(), Leaf { text, class: Some(class(leaf.constant)?) }))
    });
    let literals = domain
        .literals(utterance)
        .into_iter()
        .map(|(span, holder, text)| (span, Leaf { text, class: class(holder) }));
    entities.chain(literals).collect()
}
