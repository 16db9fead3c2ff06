//! The rows of `metrics.jsonl`, as types.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spanwise_eval::metrics::Report;

/// One epoch of training. Shares are percentages.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct EpochRow {
    /// Its number, from 1.
    pub epoch: usize,
    /// Steps of the optimizer so far.
    pub step: u64,
    /// The mean loss over the pairs that contributed to it.
    pub loss: f64,
    /// Training examples whose gold program the model can derive.
    pub derivable: f64,
    /// Examples, real and recombined, that contributed to the loss.
    pub learned: f64,
    /// The learning rate of the encoder at the end of the epoch.
    pub rate_encoder: f32,
    /// The metrics on dev, if there is dev data.
    pub dev: Option<Report>,
}

/// The last row: the metrics of the finished model.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FinalRow {
    /// The metrics on dev, if there is dev data.
    pub dev: Option<Report>,
    /// The calibration error (ECE) on dev of the posteriors, without calibration.
    pub ece_of_posteriors: Option<f64>,
}

impl EpochRow {
    /// The row as one flat JSON object; metrics on dev have the prefix `dev_`.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        flat(self)
    }
}

impl FinalRow {
    /// The row as one flat JSON object with `"final": true`; metrics on dev have the prefix `dev_`.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let mut row = Map::from_iter([("final".to_owned(), Value::Bool(true))]);
        row.extend(flat(self));
        match row.shift_remove("ece_of_posteriors") {
            Some(Value::Null) | None => {}
            Some(ece) => drop(row.insert("dev_ece_of_posteriors".to_owned(), ece)),
        }
        row
    }
}

/// The fields of a row, with those of `dev` beside the others.
fn flat(row: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(mut row)) = serde_json::to_value(row) else { unreachable!("a row is a struct") };
    if let Some(Value::Object(dev)) = row.shift_remove("dev") {
        row.extend(dev.into_iter().map(|(key, value)| (format!("dev_{key}"), value)));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_flat_and_metrics_on_dev_have_a_prefix() {
        let dev = Report { n: 3, exact_match: Some(50.0), ..Report::default() };
        let row = EpochRow { epoch: 2, dev: Some(dev.clone()), ..EpochRow::default() }.to_json();
        assert_eq!(
            (&row["epoch"], &row["dev_n"], &row["dev_exact_match"]),
            (&2.into(), &3.into(), &50.0.into())
        );
        assert!(!row.contains_key("dev") && !EpochRow::default().to_json().contains_key("dev_n"));
        let last = FinalRow { dev: Some(dev), ece_of_posteriors: Some(0.25) }.to_json();
        assert_eq!((&last["final"], &last["dev_ece_of_posteriors"]), (&true.into(), &0.25.into()));
        assert!(!FinalRow::default().to_json().contains_key("dev_ece_of_posteriors"));
    }
}
