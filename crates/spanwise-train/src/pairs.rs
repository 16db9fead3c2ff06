//! Training pairs: read, typed, and checked for a derivation.

use crate::config::Objective;
use crate::error::TrainError;
use hashbrown::HashMap;
use rayon::prelude::*;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_core::{Span, Utterance};
use spanwise_domains::data::Example;
use spanwise_eval::gold_spans::pieces_per_word;
use spanwise_eval::tree_f1::gold_leaves;
use spanwise_lang::{ConstantId, TermId, Terms};
use spanwise_model::Model;

/// An utterance with its program.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) utterance: Utterance,
    pub(crate) program: TermId,
    /// Which constant stands on which words, where the data says so.
    pub(crate) leaves: Option<Vec<(Span, ConstantId)>>,
}

/// Pairs and what became of the examples that are none.
pub(crate) struct Pairs {
    pub(crate) list: Vec<Pair>,
    /// Examples without a derivation, by reason, the most frequent first; with one example each.
    pub(crate) left_out: Vec<(String, usize, String)>,
}

/// Reads programs into one store. Examples without a program, or with one that is no program, are errors.
pub(crate) fn read_programs(
    examples: &[Example],
    terms: &mut Terms,
    file: &str,
) -> Result<Vec<(Utterance, TermId)>, TrainError> {
    let mut pairs = Vec::with_capacity(examples.len());
    for (at, example) in examples.iter().enumerate() {
        let wrong = |reason: String| TrainError::Example { file: file.to_owned(), number: at + 1, reason };
        let text =
            example.program.as_deref().ok_or_else(|| wrong("it has no program to learn from".to_owned()))?;
        let program = terms.parse(text).map_err(|error| wrong(error.message.clone()))?;
        pairs.push((Utterance::new(example.utterance.as_str()), program));
    }
    Ok(pairs)
}

/// Why a pair is left out that has no gold tree to learn from.
pub(crate) const NO_TREE: &str = "no gold tree";

/// Keeps the pairs that the model's chart can derive.
pub(crate) fn derivable(
    model: &Model,
    terms: &Terms,
    pairs: Vec<(Utterance, TermId)>,
    trees: &[Example],
    objective: Objective,
) -> Pairs {
    let trees: HashMap<&str, &Example> =
        trees.iter().map(|example| (example.utterance.as_str(), example)).collect();
    let checked: Vec<Result<Pair, (String, String)>> = pairs
        .into_par_iter()
        .map(|(utterance, program)| {
            let fail = |kind: &str, text: &Utterance| Err((kind.to_owned(), text.text().to_owned()));
            let prepared = match model.prepare(utterance) {
                Ok(prepared) => prepared,
                Err(error) => return Err((error.to_string(), String::new())),
            };
            let (domain, grammar) = (&model.domain, &model.grammar);
            match GoldChart::new(domain, grammar, &prepared.lattice, terms, program, Joins::None) {
                Ok(_) => {}
                Err(reason) => return fail(reason.kind(), &prepared.utterance),
            }
            let leaves = (objective == Objective::GoldTrees)
                .then(|| {
                    let example = trees.get(prepared.utterance.text())?;
                    let pieces = pieces_per_word(&model.tokenizer, &prepared.utterance);
                    gold_leaves(domain, example, pieces.as_deref(), &prepared.utterance)
                })
                .flatten();
            if objective == Objective::GoldTrees && leaves.is_none() {
                return fail(NO_TREE, &prepared.utterance);
            }
            Ok(Pair { utterance: prepared.utterance, program, leaves })
        })
        .collect();
    let mut list = Vec::with_capacity(checked.len());
    let mut left_out: Vec<(String, usize, String)> = Vec::new();
    for pair in checked {
        match pair {
            Ok(pair) => list.push(pair),
            Err((kind, text)) => match left_out.iter_mut().find(|(other, ..)| *other == kind) {
                Some((_, count, _)) => *count += 1,
                None => left_out.push((kind, 1, text)),
            },
        }
    }
    left_out.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    Pairs { list, left_out }
}
