//! How many examples were annotated, and how far annotations agree with other gold trees of the same utterances.
//!
//! Outcomes of annotation and the other trees come in, counts go out. Trees are compared as labelled spans
//! ([`crate::tree_f1`]); constants alone are the same without the joins.

use crate::annotate::{Annotated, Omission};
use crate::gold_spans::pieces_per_word;
use crate::gold_spans::to_json;
use crate::tree_f1::{Label, LabelledSpans, TreeCounts, counts, gold_tree};
use hashbrown::HashMap;
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_nn::Tokenizer;

/// Puts an annotation into its example.
#[must_use]
pub fn annotated_example(example: &Example, annotated: &Annotated) -> Example {
    Example { gold_spans: Some(to_json(&annotated.spans)), ..example.clone() }
}

/// Reasons with the number of examples and the first of them, the most frequent first.
#[must_use]
pub fn by_kind(omissions: &[Omission]) -> Vec<(&'static str, usize, &Omission)> {
    let mut kinds: Vec<(&'static str, usize, &Omission)> = Vec::new();
    for omission in omissions {
        match kinds.iter_mut().find(|(kind, ..)| *kind == omission.kind) {
            Some((_, n, _)) => *n += 1,
            None => kinds.push((omission.kind, 1, omission)),
        }
    }
    kinds.sort_by_key(|(_, n, _)| std::cmp::Reverse(*n));
    kinds
}

/// Annotations against other trees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// Annotated examples with another tree.
    pub n_compared: usize,
    /// Examples whose other tree cannot be read over words.
    pub n_unreadable: usize,
    /// Trees with the same spans and labels.
    pub n_identical: usize,
    /// Labelled spans.
    pub spans: TreeCounts,
    /// The same for constants alone.
    pub constants: TreeCounts,
}

/// Other trees, by utterance.
#[derive(Clone, Debug)]
pub struct OtherTrees<'a> {
    by_utterance: HashMap<&'a str, &'a Example>,
    tokenizer: Option<&'a Tokenizer>,
}

impl<'a> OtherTrees<'a> {
    /// Takes examples with trees. `tokenizer` is the one whose word-pieces their spans count, if they do; without it
    /// such trees are read where every word must be one piece.
    #[must_use]
    pub fn new(examples: &'a [Example], tokenizer: Option<&'a Tokenizer>) -> Self {
        let by_utterance = examples.iter().map(|example| (example.utterance.as_str(), example)).collect();
        Self { by_utterance, tokenizer }
    }

    /// The other tree of an utterance, if there is one; `Some(None)` when it cannot be read.
    #[must_use]
    pub fn tree(&self, utterance: &str) -> Option<Option<LabelledSpans>> {
        let example = self.by_utterance.get(utterance)?;
        let utterance = Utterance::new(utterance);
        let pieces = self.tokenizer.and_then(|tokenizer| pieces_per_word(tokenizer, &utterance));
        Some(gold_tree(example, pieces.as_deref(), utterance.len()))
    }
}

impl Agreement {
    /// Compares one annotation.
    pub fn add(&mut self, others: &OtherTrees<'_>, utterance: &str, annotated: &LabelledSpans) {
        match others.tree(utterance) {
            None => {}
            Some(None) => self.n_unreadable += 1,
            Some(Some(other)) => {
                self.n_compared += 1;
                self.n_identical += usize::from(other == *annotated);
                self.spans = self.spans.plus(counts(&other, annotated));
                self.constants = self.constants.plus(counts(&constants(&other), &constants(annotated)));
            }
        }
    }

    /// Identical trees in percent of those compared.
    #[must_use]
    pub fn identical(&self) -> Option<f64> {
        (self.n_compared > 0).then(|| 100.0 * self.n_identical as f64 / self.n_compared as f64)
    }
}

fn constants(tree: &LabelledSpans) -> LabelledSpans {
    let is_constant = |(_, label): &(_, &Label)| **label != Label::Join;
    tree.iter().filter(is_constant).map(|(span, label)| (*span, label.clone())).collect()
}
