//! The plots of a report: accuracy by split, by program length, learning curves, risk against coverage, reliability.
//!
//! There is one plot of each kind for each split, and one of accuracy by split for each domain. A curve is a row; seeds are
//! pooled or averaged.

use crate::document::Figure;
use crate::gather::{Cell, Results};
use crate::metric::Metric;
use crate::stats::{Mean, ScoredExample, length_bins, reliability, risk_curve};
use crate::tables::Split;
use spanwise_render::{AxisBounds, Plot, Series};

/// A kind of plot, and one picture for each split that has something to show.
pub(crate) struct Kind {
    pub(crate) title: &'static str,
    /// How to read it.
    pub(crate) about: &'static str,
    pub(crate) figures: Vec<Figure>,
}

/// Draws the picture of a split, if it has something to show.
type Draw = fn(&Results, &Split) -> Option<Figure>;

/// All plots.
pub(crate) fn all(results: &Results) -> Vec<Kind> {
    let kinds: [(&str, &str, Draw); 4] = [
        (
            "Accuracy by program length",
            "Denotation accuracy on test, in percent, by the number of names and calls in the gold program. Each bin holds \
             about the same number of examples; seeds are pooled.",
            by_length,
        ),
        (
            "Learning curves",
            "Denotation accuracy on dev, in percent, after each epoch: the mean of the seeds.",
            learning,
        ),
        (
            "Risk and coverage",
            "Errors in percent among the given percent of test questions with the highest probability; seeds are pooled.",
            risk,
        ),
        (
            "Reliability",
            "The share of right answers among those of about the same probability, in ten bins; seeds are pooled. On the dotted \
             line, probabilities are perfectly calibrated.",
            reliable,
        ),
    ];
    let draw = |(title, about, draw): (_, _, Draw)| Kind {
        title,
        about,
        figures: results.splits().filter_map(|split| draw(results, split)).collect(),
    };
    let by_split = Kind {
        title: "Accuracy by split",
        about: "Denotation accuracy on test, in percent: the mean of the seeds. A parser that generalizes to new compositions \
                loses little where they are new.",
        figures: results
            .tables
            .domains()
            .into_iter()
            .filter_map(|domain| by_split(results, domain))
            .collect(),
    };
    let kinds = std::iter::once(by_split).chain(kinds.into_iter().map(draw));
    kinds.filter(|kind| !kind.figures.is_empty()).collect()
}

/// The splits of a domain side by side; `None` where fewer than two have a number.
fn by_split(results: &Results, domain: &str) -> Option<Figure> {
    let is_measured = |split: &&Split| {
        let mut cells = results.cells.iter().filter(|cell| cell.id.split == split.name);
        split.domain == domain && cells.any(|cell| cell.record().is_some())
    };
    let splits: Vec<&Split> = results.splits().filter(is_measured).collect();
    if splits.len() < 2 {
        return None;
    }
    let mean = |row: &str, split: &Split| {
        let records = results.of(row, &split.name).filter_map(Cell::record);
        Mean::new(&records.filter_map(|record| Metric::Denotation.of(record)).collect::<Vec<f64>>())
    };
    let series = results.tables.rows.iter().enumerate().filter_map(|(style, row)| {
        let at = |(at, split): (usize, &&Split)| Some((at as f64, mean(&row.name, split)?.mean));
        let points: Vec<(f64, f64)> = splits.iter().enumerate().filter_map(at).collect();
        (!points.is_empty()).then(|| Series { name: row.name.clone(), style, points })
    });
    let plot = Plot {
        title: format!("{domain}: accuracy by split"),
        x_label: "split".to_owned(),
        x: AxisBounds { whole: true, ..AxisBounds::at_least(0.0, splits.len() as f64 - 1.0) },
        y: AxisBounds::at_least(0.0, 100.0),
        names: splits.iter().map(|split| split.title.clone()).collect(),
        series: series.collect(),
        ..Plot::default()
    };
    Some(Figure { name: format!("splits-{domain}"), title: plot.title.clone(), svg: plot.svg() })
}

/// A curve for each row with a finished cell. A row has the same colour in every plot.
fn series(
    results: &Results,
    split: &Split,
    points: impl Fn(&[&Cell]) -> Vec<(f64, f64)>,
) -> Option<Vec<Series>> {
    let mut all = Vec::new();
    for (style, row) in results.tables.rows.iter().enumerate() {
        let cells: Vec<&Cell> =
            results.of(&row.name, &split.name).filter(|cell| cell.record().is_some()).collect();
        let points = points(&cells);
        if !points.is_empty() {
            all.push(Series { name: row.name.clone(), style, points });
        }
    }
    (!all.is_empty()).then_some(all)
}

fn pooled(cells: &[&Cell]) -> Vec<ScoredExample> {
    cells.iter().flat_map(|cell| cell.examples.iter().copied()).collect()
}

fn figure(kind: &str, split: &Split, plot: Plot) -> Figure {
    Figure { name: format!("{kind}-{}", split.name), title: plot.title.clone(), svg: plot.svg() }
}

fn by_length(results: &Results, split: &Split) -> Option<Figure> {
    let of_split = results.cells.iter().filter(|cell| cell.id.split == split.name);
    let bins = length_bins(of_split.flat_map(|cell| &cell.examples).filter_map(|one| one.size));
    let series = series(results, split, |cells| {
        let examples = pooled(cells);
        let at = |(at, (share, _)): (usize, (f64, usize))| (at as f64, share);
        let shares = bins.iter().enumerate().filter_map(|(at, bin)| Some((at, bin.accuracy(&examples)?)));
        shares.map(at).collect()
    })?;
    let plot = Plot {
        title: format!("{}: accuracy by length", split.title),
        x_label: "names and calls in the gold program".to_owned(),
        x: AxisBounds { whole: true, ..AxisBounds::at_least(0.0, (bins.len() as f64 - 1.0).max(1.0)) },
        y: AxisBounds::at_least(90.0, 100.0),
        names: bins.iter().map(crate::stats::LengthBin::shown).collect(),
        series,
        ..Plot::default()
    };
    Some(figure("length", split, plot))
}

fn learning(results: &Results, split: &Split) -> Option<Figure> {
    let series = series(results, split, mean_curve)?;
    let last = series.iter().flat_map(|series| &series.points).map(|point| point.0).fold(1.0, f64::max);
    let plot = Plot {
        title: format!("{}: accuracy on dev", split.title),
        x_label: "epoch".to_owned(),
        x: AxisBounds::at_least(0.0, last),
        y: AxisBounds::at_least(90.0, 100.0),
        series,
        ..Plot::default()
    };
    Some(figure("learning", split, plot))
}

/// The mean of the curves of some seeds, as far as all of them go.
fn mean_curve(cells: &[&Cell]) -> Vec<(f64, f64)> {
    let n = cells.iter().map(|cell| cell.curve.len()).min().unwrap_or(0);
    let mean = |at: usize| {
        let sum: f64 = cells.iter().map(|cell| cell.curve[at].1).sum();
        (cells[0].curve[at].0, sum / cells.len() as f64)
    };
    (0..n).map(mean).collect()
}

fn risk(results: &Results, split: &Split) -> Option<Figure> {
    let plot = Plot {
        title: format!("{}: errors by coverage", split.title),
        x_label: "coverage, %".to_owned(),
        series: series(results, split, |cells| risk_curve(&pooled(cells)))?,
        x: AxisBounds::at_least(0.0, 100.0),
        y: AxisBounds::at_least(0.0, 5.0),
        ..Plot::default()
    };
    Some(figure("risk", split, plot))
}

fn reliable(results: &Results, split: &Split) -> Option<Figure> {
    let series = series(results, split, |cells| {
        reliability(&pooled(cells)).iter().map(|bin| (bin.probability, bin.right)).collect()
    })?;
    let plot = Plot {
        title: format!("{}: reliability", split.title),
        x_label: "probability of the answer".to_owned(),
        x: AxisBounds::at_least(0.0, 1.0),
        y: AxisBounds::at_least(0.0, 1.0),
        series,
        diagonal: true,
        ..Plot::default()
    };
    Some(figure("reliability", split, plot))
}
