//! Reads training pairs and keeps those that the model can derive.

use crate::error::TrainError;
use hashbrown::HashMap;
use rayon::prelude::*;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_eval::gold_spans::pieces_per_word;
use spanwise_eval::tree_f1::gold_leaves;
use spanwise_lang::{TermId, Terms};
use spanwise_model::{Model, Objective, Pair};

/// The reason of a pair that is left out because it has no gold tree.
pub(crate) const NO_TREE: &str = "no gold tree";

/// Examples that are left out for one reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// The reason.
    pub reason: String,
    /// How many there are.
    pub count: usize,
    /// One of them.
    pub example: String,
}

/// The pairs that can be trained on, and the reasons why others are left out.
pub(crate) struct Pairs {
    pub(crate) list: Vec<Pair>,
    /// By reason, the most frequent first.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Pairs {
    /// The share of examples that can be trained on, in percent.
    pub(crate) fn derivable(&self) -> f64 {
        let n_all = self.list.len() + self.left_out.iter().map(|left| left.count).sum::<usize>();
        100.0 * self.list.len() as f64 / n_all.max(1) as f64
    }
}

/// Reads programs into one store. Examples without a program, or with one that cannot be read, are errors.
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
        pairs.push((example.spoken(), program));
    }
    Ok(pairs)
}

/// Keeps the pairs that the model can derive; all of them for a family without a grammar.
pub(crate) fn derivable(
    model: &Model,
    terms: &Terms,
    pairs: Vec<(Utterance, TermId)>,
    trees: &[Example],
    objective: Objective,
) -> Pairs {
    let trees: HashMap<&str, &Example> =
        trees.iter().map(|example| (example.utterance.as_str(), example)).collect();
    let check = |(utterance, program): (Utterance, TermId)| {
        check_derivable(model, terms, &utterance, program)?;
        let leaves = if objective == Objective::GoldTrees {
            let tree = trees.get(utterance.text());
            let pieces = pieces_per_word(model.family.tokenizer(), &utterance);
            let leaves =
                tree.and_then(|tree| gold_leaves(&model.domain, tree, pieces.as_deref(), &utterance));
            Some(leaves.ok_or_else(|| (NO_TREE.to_owned(), utterance.text().to_owned()))?)
        } else {
            None
        };
        Ok(Pair { utterance, program, leaves })
    };
    let checked: Vec<Result<Pair, (String, String)>> = pairs.into_par_iter().map(check).collect();
    let mut list = Vec::with_capacity(checked.len());
    let mut left_out: Vec<LeftOut> = Vec::new();
    for pair in checked {
        match pair {
            Ok(pair) => list.push(pair),
            Err((reason, example)) => match left_out.iter_mut().find(|other| other.reason == reason) {
                Some(other) => other.count += 1,
                None => left_out.push(LeftOut { reason, count: 1, example }),
            },
        }
    }
    left_out.sort_by_key(|left| std::cmp::Reverse(left.count));
    Pairs { list, left_out }
}

/// Checks that the model can derive a pair. The error is the reason and the utterance.
fn check_derivable(
    model: &Model,
    terms: &Terms,
    utterance: &Utterance,
    program: TermId,
) -> Result<(), (String, String)> {
    let Some(spans) = model.family.span_model() else { return Ok(()) };
    let prepared = spans.prepare(utterance.clone()).map_err(|error| (error.to_string(), String::new()))?;
    GoldChart::new(&model.domain, &spans.grammar, &prepared.lattice, terms, program, Joins::None)
        .map(|_| ())
        .map_err(|reason| (reason.kind().to_owned(), utterance.text().to_owned()))
}
