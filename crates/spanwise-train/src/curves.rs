//! Draws learning curves as SVG: training loss on the left, dev accuracy on the right, over epochs.
//!
//! The output is deterministic: the same rows give the same bytes.

use crate::row::EpochRow;
use spanwise_render::{AxisBounds, Plot, Series, side_by_side};

const BLUE: usize = 0;
const ORANGE: usize = 1;
const DASHED_GREEN: usize = 8;

/// Draws the curves.
#[must_use]
pub fn svg(rows: &[EpochRow]) -> String {
    let series = |name: &str, style, value: fn(&EpochRow) -> f64| Series {
        name: name.to_owned(),
        style,
        points: rows.iter().map(|row| (row.epoch as f64, value(row))).collect(),
    };
    let accuracy = |name: &str, value: fn(&EpochRow) -> f64, style| {
        let curve = series(name, style, value);
        let best = best(&curve).map(|(epoch, best)| format!("{name} (best {best:.1} in {epoch:.0})"));
        Series { name: best.unwrap_or(curve.name), ..curve }
    };
    let mut curves = Vec::new();
    if rows.iter().any(|row| denotation(row).is_some()) {
        curves.push(accuracy("denotation", |row| denotation(row).unwrap_or(f64::NAN), ORANGE));
    }
    curves.push(accuracy("exact match", |row| exact_match(row).unwrap_or(f64::NAN), BLUE));
    curves.push(series("derivable in train", DASHED_GREEN, |row| row.derivable));
    let plot = |title: &str, series, y| Plot {
        title: title.to_owned(),
        x_label: "epoch".to_owned(),
        series,
        x: AxisBounds { whole: true, ..AxisBounds::default() },
        y,
        ..Plot::default()
    };
    let percent = AxisBounds { at_most: Some((0.0, 100.0)), ..AxisBounds::default() };
    let loss = series("loss", BLUE, |row| row.loss);
    let plots =
        [plot("training loss", vec![loss], AxisBounds::default()), plot("dev accuracy, %", curves, percent)];
    side_by_side("Learning curves", &plots)
}

fn denotation(row: &EpochRow) -> Option<f64> {
    row.dev.as_ref()?.denotation
}

fn exact_match(row: &EpochRow) -> Option<f64> {
    row.dev.as_ref()?.exact_match
}

/// The first of the highest values, with its epoch.
fn best(series: &Series) -> Option<(f64, f64)> {
    let finite = series.points.iter().copied().filter(|(_, y)| y.is_finite());
    finite.reduce(|best, point| if point.1 > best.1 { point } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;
    use spanwise_eval::metrics::Report;

    fn row(epoch: usize, loss: f64, dev: f64) -> EpochRow {
        let dev = Report { exact_match: Some(dev), denotation: Some(dev + 2.0), ..Report::default() };
        EpochRow { epoch, loss, derivable: 99.0, dev: Some(dev), ..EpochRow::default() }
    }

    #[test]
    fn every_curve_is_named_and_drawn() {
        let svg = svg(&[row(1, 2.5, 60.0), row(2, 0.75, 71.5)]);
        for part in ["training loss", "dev accuracy, %", ">loss<", "derivable in train"] {
            assert!(svg.contains(part), "{part}");
        }
        // Two axes; four curves, each with a line in the legend. The dashed one has no dots.
        assert_eq!((svg.matches("<polyline").count(), svg.matches("<circle").count()), (2 + 8, 6));
    }

    #[test]
    fn both_panels_report_that_there_are_no_values() {
        let dev = Report { exact_match: Some(f64::INFINITY), ..Report::default() };
        let nothing = EpochRow { loss: f64::NAN, derivable: f64::NAN, dev: Some(dev), ..EpochRow::default() };
        for rows in [&[][..], &[nothing.clone(), nothing.clone(), nothing]] {
            assert_eq!(svg(rows).matches("no values").count(), 2);
        }
    }

    #[test]
    fn the_best_epoch_is_the_first_of_the_highest() {
        let svg = svg(&[row(1, 1.0, 60.0), row(2, 1.0, 80.0), row(3, 1.0, 80.0)]);
        assert!(svg.contains("denotation (best 82.0 in 2)") && svg.contains("exact match (best 80.0 in 2)"));
    }

    #[test]
    fn without_an_executor_there_is_no_curve_of_denotations() {
        let mut row = row(1, 1.0, 60.0);
        row.dev = row.dev.map(|dev| Report { denotation: None, ..dev });
        assert!(!svg(&[row]).contains("denotation"));
    }
}
