//! Curves over one axis, as SVG.
//!
//! In come named series of points; out comes a picture as text, the same for the same points. The background stays clear and all
//! colours are of middle lightness, so that it can be read on light and on dark pages. What the points mean is not known here.

use crate::html::escaped;
use std::fmt::Write as _;

const WIDTH: f64 = 440.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 428.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 214.0;
/// Where the names of series begin.
const LEGEND: f64 = 262.0;
const TEXT: &str = "#79828e";
/// Colours of series; from the seventh on, the same with dashes.
const COLORS: [&str; 6] = ["#3b82f6", "#e07b1a", "#2a9d6a", "#c2507a", "#8b6fd6", "#9a8136"];

/// A named curve. Its place among all series decides its colour, so that a row looks the same everywhere.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// Which colour it has.
    pub(crate) style: usize,
    pub(crate) points: Vec<(f64, f64)>,
}

/// A picture to be.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plot {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) series: Vec<Series>,
    /// Places with names of their own instead of numbers.
    pub(crate) names: Vec<String>,
    /// What the axes at least reach: x, then y.
    pub(crate) reach: [(f64, f64); 2],
    /// Whether the line `x = y` is drawn.
    pub(crate) diagonal: bool,
}

/// The range of an axis, and where its ticks are.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, reach: (f64, f64)) -> Self {
        let finite = values.filter(|value| value.is_finite());
        let (low, high) =
            finite.fold(reach, |(low, high): (f64, f64), value| (low.min(value), high.max(value)));
        let high = if high - low < 1e-9 { low + 1.0 } else { high };
        let rough = (high - low) / 5.0;
        let unit = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0].map(|n| n * unit).into_iter().find(|&step| step >= rough - 1e-12);
        let step = step.unwrap_or(10.0 * unit);
        // A hair of room, so that a value on a tick does not open another step.
        Self { low: (low / step + 1e-9).floor() * step, high: (high / step - 1e-9).ceil() * step, step }
    }

    fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        let n = ((self.high - self.low) / self.step).round() as u32;
        let tick = |at: u32| self.low + f64::from(at) * self.step;
        (0..=n.min(50)).map(|at| (tick(at), format!("{:.decimals$}", tick(at)))).collect()
    }
}

impl Plot {
    /// Draws.
    pub(crate) fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Axis::new(points().map(|point| point.0), self.reach[0]);
        let y = Axis::new(points().map(|point| point.1), self.reach[1]);
        let place = |&(px, py): &(f64, f64)| {
            (LEFT + (RIGHT - LEFT) * x.share(px), BOTTOM - (BOTTOM - TOP) * y.share(py))
        };
        let height = LEGEND + 15.0 * self.series.len().div_ceil(2) as f64;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"11\" fill=\"{TEXT}\">\n"
        );
        let title = escaped(&self.title);
        let _ = writeln!(out, "<title>{title}</title>");
        let _ = writeln!(out, "<text x=\"4\" y=\"16\" font-size=\"13\" font-weight=\"600\">{title}</text>");
        self.frame(&mut out, &x, &y);
        if self.diagonal {
            let ends = [(x.low.max(y.low), x.low.max(y.low)), (x.high.min(y.high), x.high.min(y.high))];
            line(&mut out, &ends.map(|end| place(&end)), TEXT, " stroke-dasharray=\"2 3\"");
        }
        for series in &self.series {
            series.draw(&mut out, place);
        }
        self.legend(&mut out);
        out + "</svg>\n"
    }

    fn frame(&self, out: &mut String, x: &Axis, y: &Axis) {
        for (tick, shown) in y.ticks() {
            let at = BOTTOM - (BOTTOM - TOP) * y.share(tick);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\" stroke=\"{TEXT}\" stroke-opacity=\"0.25\"/>"
            );
            text(out, (LEFT - 6.0, at + 4.0), "end", &shown);
        }
        let named = self.names.iter().enumerate().map(|(at, name)| (at as f64, name.clone()));
        let ticks: Vec<(f64, String)> = if self.names.is_empty() { x.ticks() } else { named.collect() };
        for (tick, shown) in ticks {
            let at = LEFT + (RIGHT - LEFT) * x.share(tick);
            text(out, (at, BOTTOM + 16.0), "middle", &shown);
        }
        line(out, &[(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], TEXT, "");
        text(out, ((LEFT + RIGHT) / 2.0, BOTTOM + 32.0), "middle", &self.x_label);
    }

    /// Names of the series, in two columns.
    fn legend(&self, out: &mut String) {
        for (at, series) in self.series.iter().enumerate() {
            let (x, y) = (6.0 + WIDTH / 2.0 * (at % 2) as f64, LEGEND + 15.0 * (at / 2) as f64);
            line(out, &[(x, y), (x + 16.0, y)], series.color(), series.dashes());
            text(out, (x + 21.0, y + 4.0), "start", &series.name);
        }
    }
}

impl Series {
    fn color(&self) -> &'static str {
        COLORS[self.style % COLORS.len()]
    }

    fn dashes(&self) -> &'static str {
        if self.style / COLORS.len() % 2 == 1 {
            " stroke-width=\"2\" stroke-dasharray=\"5 3\""
        } else {
            " stroke-width=\"2\""
        }
    }

    fn draw(&self, out: &mut String, place: impl Fn(&(f64, f64)) -> (f64, f64)) {
        let is_drawn = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
        let places: Vec<(f64, f64)> = self.points.iter().filter(is_drawn).map(place).collect();
        if places.len() > 1 {
            line(out, &places, self.color(), self.dashes());
        }
        for (x, y) in places {
            let color = self.color();
            let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{color}\"/>");
        }
    }
}

fn line(out: &mut String, places: &[(f64, f64)], color: &str, more: &str) {
    let places: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let places = places.join(" ");
    let _ = writeln!(out, "<polyline points=\"{places}\" fill=\"none\" stroke=\"{color}\"{more}/>");
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, content: &str) {
    let content = escaped(content);
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    fn plot(points: Vec<(f64, f64)>) -> Plot {
        Plot {
            title: "accuracy <by> length".to_owned(),
            x_label: "length".to_owned(),
            series: vec![Series { name: "a & b".to_owned(), style: 7, points }],
            names: Vec::new(),
            reach: [(0.0, 1.0), (80.0, 100.0)],
            diagonal: true,
        }
    }

    #[test]
    fn a_plot_looks_like_this() {
        expect_file!["plot/example.svg"].assert_eq(&plot(vec![(0.0, 85.0), (0.5, 90.0), (1.0, 100.0)]).svg());
    }

    #[test]
    fn ticks_are_round_and_hold_all_values() {
        let shown = |values: &[f64], reach| {
            let axis = Axis::new(values.iter().copied(), reach);
            axis.ticks().into_iter().map(|(_, shown)| shown).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(&[], (0.0, 100.0)), "0 20 40 60 80 100");
        assert_eq!(shown(&[63.6], (90.0, 100.0)), "60 70 80 90 100");
        assert_eq!(shown(&[0.3, f64::NAN], (0.0, 0.3)), "0.0 0.1 0.2 0.3");
        assert_eq!(shown(&[1.0], (1.0, 1.0)), "1.0 1.2 1.4 1.6 1.8 2.0");
        assert_eq!(shown(&[], (1.0, 20.0)), "0 5 10 15 20");
    }

    #[test]
    fn nothing_and_things_that_are_no_numbers_are_drawn_as_nothing() {
        for points in [vec![], vec![(f64::NAN, 1.0)], vec![(0.5, f64::INFINITY), (0.5, 90.0)]] {
            let svg = plot(points).svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
