//! Which constant each word of a tree is aligned to.

use crate::outcome::Provenance;
use spanwise_chart::tree::{Category, SpanTree};
use spanwise_core::Span;
use spanwise_lang::ConstantId;

/// One entry per word: the constant that it is aligned to with probability `of`, or nothing with probability `null`.
pub(crate) fn align(tree: &SpanTree, null: &[f64], of: impl Fn(Span, ConstantId) -> f64) -> Vec<Provenance> {
    let mut words: Vec<Provenance> = null
        .iter()
        .enumerate()
        .map(|(at, probability)| Provenance {
            constant: None,
            span: Span::new(at as u32, at as u32 + 1),
            probability: probability.clamp(0.0, 1.0),
        })
        .collect();
    for node in &tree.nodes {
        if let Category::Constant(constant) = node.category {
            let found = Provenance {
                constant: Some(constant),
                span: node.span,
                probability: of(node.span, constant),
            };
            for at in node.span.start..node.span.end {
                words[at as usize] = found.clone();
            }
        }
    }
    words
}
