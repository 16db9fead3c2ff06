//! The measures of a cell, by name, so that tables, result files and reports mean the same by them.

use crate::store::Record;
use serde::{Deserialize, Serialize};

/// A measure. Names are those of the fields that `spanwise eval --json` prints.
///
/// ```
/// use spanwise_reproduce::Metric;
/// assert_eq!(serde_json::from_str::<Metric>("\"risk_at_90\"").unwrap(), Metric::RiskAt90);
/// assert_eq!(Metric::Ece.decimals(), Some(3));
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Denotation accuracy, in percent.
    Denotation,
    /// Exact match, in percent.
    ExactMatch,
    /// Denotation accuracy where an empty answer counts only for the gold program itself, in percent.
    DenotationStrict,
    /// Gold programs that the chart can derive, in percent.
    Coverage,
    /// Examples without a prediction, in percent.
    NoParse,
    /// Expected calibration error, from 0 to 1.
    Ece,
    /// Errors among the 80 % most probable predictions, in percent.
    #[serde(rename = "risk_at_80")]
    RiskAt80,
    /// The same for 90 %.
    #[serde(rename = "risk_at_90")]
    RiskAt90,
    /// The same for 95 %.
    #[serde(rename = "risk_at_95")]
    RiskAt95,
    /// Labelled spans against gold trees, F1 in percent.
    TreeF1,
    /// The same, over examples whose leaves allow one tree only.
    TreeF1OneTree,
    /// Labelled spans against the nearest tree of the gold program, F1 in percent.
    TreeF1Any,
    /// Wall seconds of training.
    TrainSeconds,
    /// Wall seconds of evaluation.
    EvalSeconds,
    /// Largest resident memory of a process, in megabytes.
    PeakMegabytes,
    /// A measure that cells do not have, such as a time of `spanwise bench`.
    #[serde(untagged)]
    Other(String),
}

impl Metric {
    /// The measures of cells, in the order of result files.
    pub const OF_CELLS: [Self; 15] = [
        Self::Denotation,
        Self::ExactMatch,
        Self::DenotationStrict,
        Self::Coverage,
        Self::NoParse,
        Self::Ece,
        Self::RiskAt80,
        Self::RiskAt90,
        Self::RiskAt95,
        Self::TreeF1,
        Self::TreeF1OneTree,
        Self::TreeF1Any,
        Self::TrainSeconds,
        Self::EvalSeconds,
        Self::PeakMegabytes,
    ];

    /// Its value in a finished cell; `None` where the cell has none.
    #[must_use]
    pub fn of(&self, record: &Record) -> Option<f64> {
        let Record { eval, trees, .. } = record;
        match self {
            Self::Denotation => eval.denotation,
            Self::ExactMatch => eval.exact_match,
            Self::DenotationStrict => eval.denotation_strict,
            Self::Coverage => eval.coverage,
            Self::NoParse => eval.no_parse,
            Self::Ece => eval.ece,
            Self::RiskAt80 => eval.risk_at_80,
            Self::RiskAt90 => eval.risk_at_90,
            Self::RiskAt95 => eval.risk_at_95,
            Self::TreeF1 => trees.tree_f1,
            Self::TreeF1OneTree => trees.tree_f1_one_tree,
            Self::TreeF1Any => trees.tree_f1_any,
            Self::TrainSeconds => Some(record.train_seconds),
            Self::EvalSeconds => Some(record.eval_seconds),
            Self::PeakMegabytes => record.peak_bytes.map(|bytes| bytes as f64 / 1e6),
            Self::Other(_) => None,
        }
    }

    /// Decimals that tables show; `None` for as many as were recorded.
    #[must_use]
    pub fn decimals(&self) -> Option<usize> {
        match self {
            Self::Ece => Some(3),
            Self::TrainSeconds | Self::PeakMegabytes => Some(0),
            Self::Other(_) => None,
            _ => Some(1),
        }
    }
}
