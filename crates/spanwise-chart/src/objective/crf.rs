//! The conditional random field over programs: the typed chart is the partition function.

use super::{Loss, Target, expected_counts};
use crate::budget::{Exhausted, Meter};
use crate::gold::{GoldChart, log_sum};
use crate::lattice::Gradient;
use crate::outside::{marginals, unflatten};
use crate::semiring::Sum;
use crate::typed::{Input, RuleValues};
use spanwise_lang::{TermId, Terms};

/// Minus the log-probability of the gold program among all programs: the log-sum over all typed derivations less
/// that over the gold ones that count. `None` when neither the scores nor the words allow a gold derivation.
#[must_use]
pub fn crf(
    input: &Input<'_>,
    rules: &RuleValues<Sum>,
    gold: &GoldChart,
    target: Target<'_>,
) -> Option<Loss<Gradient>> {
    let (log_gold, expected) = expected_counts(gold, input.scores.flat(), target)?;
    let (log_z, mut gradient) = marginals(input, rules)?;
    gradient.add_scaled(&unflatten(input, &expected), -1.0);
    let value = log_z - log_gold;
    debug_assert!(
        value > -1e-3 * log_z.abs().max(1.0),
        "a program is more likely than all programs: {value}"
    );
    Some(Loss { value: value.max(0.0), gradient })
}

/// The probability of a program, given the log-partition over all programs: the sum over its derivations.
///
/// # Errors
/// A limit that is reached.
pub fn posterior(
    input: &Input<'_>,
    log_z: f64,
    terms: &Terms,
    program: TermId,
    meter: &Meter,
) -> Result<f64, Exhausted> {
    let log_gold = log_sum(input, terms, program, meter)?;
    Ok(log_gold.map_or(0.0, |log_gold| (log_gold - log_z).exp().min(1.0)))
}
