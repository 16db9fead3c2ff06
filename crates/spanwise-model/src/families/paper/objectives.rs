//! The objectives of the paper's parser: the cross-entropy of span categories against trees of the gold program.

use super::{PaperInput, PaperParser};
use crate::family::Objective;
use crate::span_model::{LossTarget, SpanGradient};
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::objective::{Target, marginal};

/// Loss and gradient of one pair; `None` when no tree over the words yields the gold program.
pub(super) fn loss(
    parser: &PaperParser,
    input: &PaperInput,
    logits: &[f32],
    target: &LossTarget<'_>,
) -> Option<(f64, SpanGradient)> {
    let model = &parser.model;
    let scores = parser.scores(input, logits).ok()?;
    let (domain, grammar, lattice) = (&model.domain, &model.grammar, &input.prepared.lattice);
    let gold =
        GoldChart::new(domain, grammar, lattice, target.terms, target.pair.program()?, Joins::Tree).ok()?;
    let over = |trees: Target<'_>| marginal(&scores, lattice, grammar.n_rules(), &gold, trees);
    let loss = match target.objective {
        Objective::Marginal => over(Target::All),
        // A gold tree that the chart cannot build teaches nothing; the best tree of its program does.
        Objective::GoldTrees => {
            let leaves = target.pair.leaves();
            let gold_tree = leaves.and_then(|leaves| over(Target::BestWithLeaves(&lattice.mask(leaves))));
            gold_tree.or_else(|| over(Target::Best))
        }
        // The tree is the best one of the gold chart, not of the beam: before anything is learned, the beam finds no
        // tree for most long programs.
        Objective::HardEm | Objective::Crf => over(Target::Best),
    }?;
    Some((loss.value, parser.backward(input, &loss.gradient)))
}
