//! Parses examples with a model and scores every prediction.

use crate::gold_spans::pieces_per_word;
use crate::metrics::{Evaluator, Prediction, ScoredExample};
use crate::tree_any;
use crate::tree_f1::{OneTree, TreeCounts, gold_leaves, gold_tree};
use rayon::prelude::*;
use spanwise_chart::SpanTree;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_lang::{TermId, Terms};
use spanwise_model::span_model::Prepared;
use spanwise_model::{Model, Outcome, Parse, Request, SpanModel};

/// The number of utterances in a batch.
pub const BATCH: usize = 32;

/// Parses and scores examples. The result is in their order. `progress` is called after every batch with its size.
///
/// Examples are sorted by their number of words, so that utterances of similar length share a batch; batches run in
/// parallel. Cost per example: one forward pass of the network, one search, and up to three gold charts.
pub fn evaluate(
    model: &Model,
    evaluator: &Evaluator<'_>,
    examples: &[Example],
    progress: &(dyn Fn(usize) + Sync),
) -> Vec<ScoredExample> {
    evaluate_with(model, evaluator, examples, progress, &|_, _, _| ())
        .into_iter()
        .map(|(one, ())| one)
        .collect()
}

/// Like [`evaluate`], and also returns the result of `keep` for each parse, so that no utterance is parsed twice.
pub fn evaluate_with<T: Send>(
    model: &Model,
    evaluator: &Evaluator<'_>,
    examples: &[Example],
    progress: &(dyn Fn(usize) + Sync),
    keep: &(dyn Fn(&Example, &ScoredExample, &Outcome) -> T + Sync),
) -> Vec<(ScoredExample, T)> {
    let answers_directly = model.family.settings().family().answers_directly();
    // Its grammar is needed only if there are gold trees.
    let has_trees = examples.iter().any(|example| example.gold_spans.is_some());
    let one_tree = has_trees.then(|| OneTree::new(&model.domain));
    let mut order: Vec<usize> = (0..examples.len()).collect();
    order.sort_by_key(|&at| (examples[at].utterance.split_whitespace().count(), at));
    let mut scored: Vec<(usize, (ScoredExample, T))> = order
        .par_chunks(BATCH)
        .map_init(
            || evaluator.clone(),
            |evaluator, batch| {
                let outcomes = model.parse_requests(batch.iter().map(|&at| request(&examples[at])).collect());
                let mut one = |(&at, outcome): (&usize, Outcome)| {
                    let example = &examples[at];
                    let scored = if answers_directly {
                        score_answer(evaluator, example, &outcome)
                    } else {
                        score_one(model, evaluator, one_tree.as_ref(), example, &outcome)
                    };
                    (at, (scored, keep(example, &scored, &outcome)))
                };
                let scored: Vec<_> = batch.iter().zip(outcomes).map(&mut one).collect();
                progress(batch.len());
                scored
            },
        )
        .flatten_iter()
        .collect();
    scored.sort_unstable_by_key(|(at, _)| *at);
    scored.into_iter().map(|(_, one)| one).collect()
}

/// An example as a question, with its context.
pub(crate) fn request(example: &Example) -> Request<'_> {
    Request { context: example.context.as_ref(), ..Request::new(example.spoken()) }
}

fn score_answer(evaluator: &mut Evaluator<'_>, example: &Example, outcome: &Outcome) -> ScoredExample {
    let answer = match outcome {
        Outcome::Answered(found) => Some((found.answer.as_str(), found.probability)),
        Outcome::Found(_) | Outcome::Nothing { .. } => None,
    };
    evaluator.score_answer(example, answer)
}

fn score_one(
    model: &Model,
    evaluator: &mut Evaluator<'_>,
    one_tree: Option<&OneTree<'_>>,
    example: &Example,
    outcome: &Outcome,
) -> ScoredExample {
    let utterance = outcome.utterance();
    let tokenizer = evaluator.pieces().unwrap_or(model.family.tokenizer());
    let pieces = example.gold_spans.as_ref().and_then(|_| pieces_per_word(tokenizer, utterance));
    let gold = gold_tree(example, pieces.as_deref(), utterance.len());
    let prediction = outcome.parse().map(|parse| Prediction {
        terms: &parse.terms,
        program: parse.program,
        probability: parse.probability,
        tree: gold.as_ref().and(parse.shown_tree()),
    });
    let chart = Charted::new(model, example, utterance);
    // A family without a grammar can generate any program.
    let covered = match model.family.span_model() {
        Some(_) => chart.as_ref().is_some_and(Charted::is_derivable),
        None => true,
    };
    let scored = evaluator.score(example, covered, prediction.as_ref(), gold.as_ref());
    let tree = outcome.parse().and_then(Parse::shown_tree);
    let tree_any = match (scored.exact, tree) {
        (Some(true), Some(tree)) => Some(tree_any::against_itself(tree)),
        _ if covered => chart.as_ref().and_then(|chart| chart.nearest(tree)),
        _ => None,
    };
    let one_tree = one_tree.zip(chart.as_ref()).is_some_and(|(one_tree, chart)| {
        let leaves = gold_leaves(&model.domain, example, pieces.as_deref(), utterance);
        leaves.is_some_and(|leaves| one_tree.check(utterance.len(), &leaves, &chart.terms, chart.program))
    });
    ScoredExample { tree_any, one_tree, ..scored }
}

/// The gold program of an example and the model's lattice over its utterance.
struct Charted<'a> {
    spans: &'a SpanModel,
    terms: Terms,
    program: TermId,
    prepared: Prepared,
}

impl<'a> Charted<'a> {
    /// `None` if the program or the utterance cannot be used, or if the family has no grammar.
    fn new(model: &'a Model, example: &Example, utterance: &Utterance) -> Option<Self> {
        let spans = model.family.span_model()?;
        let mut terms = model.domain.new_terms();
        let program = terms.parse(example.program.as_deref()?).ok()?;
        let prepared = spans.prepare(utterance.clone()).ok()?;
        Some(Self { spans, terms, program, prepared })
    }

    /// Whether the model's chart can derive the program.
    fn is_derivable(&self) -> bool {
        let SpanModel { domain, grammar, .. } = self.spans;
        GoldChart::new(domain, grammar, &self.prepared.lattice, &self.terms, self.program, Joins::None)
            .is_ok()
    }

    /// Compares a tree that does not yield the program with the nearest one that does.
    fn nearest(&self, tree: Option<&SpanTree>) -> Option<TreeCounts> {
        let SpanModel { domain, grammar, .. } = self.spans;
        tree_any::nearest(domain, grammar, &self.prepared.lattice, (&self.terms, self.program), tree)
    }
}
