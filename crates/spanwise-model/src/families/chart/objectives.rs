//! The objectives of the chart parser: the loss of a gold program against all typed programs.

use super::scores::ScoredChart;
use crate::family::Objective;
use crate::span_model::{LossTarget, SpanGradient};
use spanwise_chart::objective::{Target, crf};

/// Loss and gradient of one pair; `None` when the words do not allow the gold program.
pub(super) fn loss(mut chart: ScoredChart<'_>, target: &LossTarget<'_>) -> Option<(f64, SpanGradient)> {
    let gold = chart.gold(target.terms, target.pair.program()?).ok()?;
    let input = chart.chart().ok()?;
    let rules = &*chart.input.rules(&chart.parser.sum_rules);
    let leaves = target.pair.leaves();
    let allowed = leaves.map(|leaves| chart.input.prepared.lattice.mask(leaves));
    let loss = match (target.objective, &allowed) {
        (Objective::HardEm, _) => crf(&input, rules, &gold, Target::Best),
        // A gold tree that the chart cannot build teaches nothing; its program still does.
        (Objective::GoldTrees, Some(allowed)) => crf(&input, rules, &gold, Target::Leaves(allowed))
            .or_else(|| crf(&input, rules, &gold, Target::All)),
        _ => crf(&input, rules, &gold, Target::All),
    }?;
    Some((loss.value, chart.backward(&loss.gradient)))
}
