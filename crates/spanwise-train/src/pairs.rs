//! Reads training pairs, utterances with their programs or answers, and keeps those that the model can derive.

use crate::config::Config;
use crate::error::TrainError;
use hashbrown::HashMap;
use rayon::prelude::*;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_domains::exec::Executor;
use spanwise_eval::gold_spans::pieces_per_word;
use spanwise_eval::tree_f1::gold_leaves;
use spanwise_lang::{TermId, Terms};
use spanwise_model::{Gold, Model, Objective, Pair};
use std::sync::Arc;

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
    /// These and others.
    pub(crate) fn and(mut self, others: Self) -> Self {
        self.list.extend(others.list);
        for left in others.left_out {
            match self.left_out.iter_mut().find(|known| known.reason == left.reason) {
                Some(known) => known.count += left.count,
                None => self.left_out.push(left),
            }
        }
        self.left_out.sort_by_key(|left| std::cmp::Reverse(left.count));
        self
    }

    /// The share of examples that can be trained on, in percent.
    pub(crate) fn derivable(&self) -> f64 {
        let n_all = self.list.len() + self.left_out.iter().map(|left| left.count).sum::<usize>();
        100.0 * self.list.len() as f64 / n_all.max(1) as f64
    }
}

/// Reads what the family learns from: programs, into one store, or answers. Examples without it are errors, and so are
/// those with a program that cannot be read.
pub(crate) fn read(
    config: &Config,
    examples: &[Example],
    executor: Option<&dyn Executor>,
    terms: &mut Terms,
    file: &str,
) -> Result<Vec<Pair>, TrainError> {
    let answers_directly = config.model.family().answers_directly();
    let mut pairs = Vec::with_capacity(examples.len());
    for (at, example) in examples.iter().enumerate() {
        let wrong = |reason: String| TrainError::Example { file: file.to_owned(), number: at + 1, reason };
        let pair = if answers_directly {
            answer(example, executor, terms).map(|gold| Pair { utterance: example.spoken(), gold })
        } else {
            program(example, terms).map(|program| Pair::new(example.spoken(), program))
        };
        pairs.push(pair.map_err(wrong)?);
    }
    Ok(pairs)
}

/// The gold program of an example.
fn program(example: &Example, terms: &mut Terms) -> Result<TermId, String> {
    let text = example.program.as_deref().ok_or("it has no program to learn from")?;
    terms.parse(text).map_err(|error| error.message)
}

/// The gold answer of an example and its context. Where it has no answer, that is the value of its program.
fn answer(example: &Example, executor: Option<&dyn Executor>, terms: &mut Terms) -> Result<Gold, String> {
    let no_context = "it has no `context` or `scene`, and this family learns to answer from one";
    let context = example.context.as_ref().ok_or(no_context)?;
    let answer = match (&example.answer, executor, &example.program) {
        (Some(answer), ..) => answer.trim().to_owned(),
        (None, Some(executor), Some(_)) => {
            let program = program(example, terms)?;
            executor.execute(terms, program, Some(context)).map_err(|error| error.to_string())?.text
        }
        _ => return Err("it has no answer to learn from, nor a program that could be evaluated".to_owned()),
    };
    Ok(Gold::Answer { answer, context: Arc::new(context.clone()) })
}

/// Keeps the pairs that the model can derive; all of them for a family without a grammar or without programs.
pub(crate) fn derivable(
    model: &Model,
    terms: &Terms,
    pairs: Vec<Pair>,
    trees: &[Example],
    objective: Objective,
) -> Pairs {
    let trees: HashMap<&str, &Example> =
        trees.iter().map(|example| (example.utterance.as_str(), example)).collect();
    let check = |pair: Pair| {
        let Some(program) = pair.program() else { return Ok(pair) };
        let utterance = pair.utterance;
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
        Ok(Pair { utterance, gold: Gold::Program { program, leaves } })
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
    // An example may leave out words that otherwise must be used.
    let lattice = prepared.lattice.lenient();
    GoldChart::new(&model.domain, &spans.grammar, &lattice, terms, program, Joins::None)
        .map(|_| ())
        .map_err(|reason| (reason.kind().to_owned(), utterance.text().to_owned()))
}
