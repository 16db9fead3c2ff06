//! Agreement between annotated trees and other gold trees of the same utterances.
//!
//! Trees are compared as labelled spans ([`crate::tree_f1`]), once with all labels and once with constants only.

use crate::annotate::{Annotated, Omission};
use crate::gold_spans::pieces_per_word;
use crate::gold_spans::to_json;
use crate::tree_f1::{Label, LabelledSpans, TreeCounts, counts, gold_tree};
use hashbrown::HashMap;
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_nn::Tokenizer;

/// A copy of an example with the annotation as its `gold_spans`.
#[must_use]
pub fn annotated_example(example: &Example, annotated: &Annotated) -> Example {
    Example { gold_spans: Some(to_json(&annotated.spans)), ..example.clone() }
}

/// The reasons for omissions, the most frequent first: name, number of examples, and the first of them.
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

/// Counts of the comparison of annotations with other trees.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// Annotated examples for which there is another tree.
    pub n_compared: usize,
    /// Annotated examples whose other tree does not fit the words.
    pub n_unreadable: usize,
    /// Trees with the same spans and labels.
    pub n_identical: usize,
    /// Labelled spans; the other tree counts as gold.
    pub spans: TreeCounts,
    /// The same without joins.
    pub constants: TreeCounts,
}

/// Other trees, by utterance.
#[derive(Clone, Debug)]
pub struct OtherTrees<'a> {
    by_utterance: HashMap<&'a str, &'a Example>,
    tokenizer: Option<&'a Tokenizer>,
}

impl<'a> OtherTrees<'a> {
    /// Indexes examples with trees. `tokenizer` gives the word-pieces of spans that count word-pieces; without it, such
    /// trees are read only if every word is one word-piece.
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
    /// Compares one annotation with the other tree of its utterance, if there is one.
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

    /// Identical trees in percent of the compared ones.
    #[must_use]
    pub fn identical(&self) -> Option<f64> {
        (self.n_compared > 0).then(|| 100.0 * self.n_identical as f64 / self.n_compared as f64)
    }
}

fn constants(tree: &LabelledSpans) -> LabelledSpans {
    let is_constant = |(_, label): &(_, &Label)| **label != Label::Join;
    tree.iter().filter(is_constant).map(|(span, label)| (*span, label.clone())).collect()
}
