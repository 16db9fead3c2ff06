//! Curves over one axis, as SVG.
//!
//! The same points give the same text. The background stays clear and all colors are of middle lightness, so that plots
//! can be read on light and on dark pages.

use crate::escape::xml;
use std::fmt::Write as _;

const WIDTH: f64 = 440.0;
const LEFT: f64 = 46.0;
const RIGHT: f64 = 428.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 214.0;
/// No letter of a label is wider, on average.
const LETTER: f64 = 6.5;
/// Where the names of series begin.
const LEGEND: f64 = 262.0;
const TEXT: &str = "#79828e";
/// Colors of series.
const COLORS: [&str; 6] = ["#3b82f6", "#e07b1a", "#2a9d6a", "#c2507a", "#8b6fd6", "#9a8136"];
/// Points up to which every one gets a dot.
const MAX_DOTS: usize = 40;
/// Values from here on do not widen an axis: differences and logarithms would lose all precision.
const LARGEST: f64 = 1e290;

/// A named curve. What is not a finite number leaves a gap in it.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its color; there are six, from the seventh on the same with dashes.
    pub style: usize,
    /// Its points.
    pub points: Vec<(f64, f64)>,
}

/// What an axis holds besides its values.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct AxisBounds {
    /// The ends it has at least.
    pub at_least: Option<(f64, f64)>,
    /// The ends it never goes beyond.
    pub at_most: Option<(f64, f64)>,
    /// Whether it counts something: its ticks are whole, and it ends where the values do.
    pub whole: bool,
}

impl AxisBounds {
    /// An axis that holds at least these ends.
    #[must_use]
    pub fn at_least(low: f64, high: f64) -> Self {
        Self { at_least: Some((low, high)), ..Self::default() }
    }
}

/// A plot.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// What the values below are.
    pub x_label: String,
    /// The curves.
    pub series: Vec<Series>,
    /// Names of the places on the axis below, instead of numbers.
    pub names: Vec<String>,
    /// The axis below.
    pub x: AxisBounds,
    /// The axis on the left.
    pub y: AxisBounds,
    /// Whether the line `x = y` is drawn.
    pub diagonal: bool,
}

impl Plot {
    /// Draws.
    #[must_use]
    pub fn svg(&self) -> String {
        side_by_side(&self.title, std::slice::from_ref(self))
    }

    fn height(&self) -> f64 {
        LEGEND + 15.0 * self.series.len().div_ceil(2) as f64
    }

    fn draw(&self, out: &mut String) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Axis::new(points().map(|point| point.0), self.x);
        let y = Axis::new(points().map(|point| point.1), self.y);
        let place = |&(px, py): &(f64, f64)| {
            (LEFT + (RIGHT - LEFT) * x.share(px), BOTTOM - (BOTTOM - TOP) * y.share(py))
        };
        let title = xml(&self.title);
        let _ = writeln!(out, "<text x=\"4\" y=\"16\" font-size=\"13\" font-weight=\"600\">{title}</text>");
        self.frame(out, &x, &y);
        if self.diagonal {
            let ends = [(x.low.max(y.low), x.low.max(y.low)), (x.high.min(y.high), x.high.min(y.high))];
            line(out, &ends.map(|end| place(&end)), TEXT, " stroke-dasharray=\"2 3\"");
        }
        if !points().any(is_drawn) {
            text(out, ((LEFT + RIGHT) / 2.0, (TOP + BOTTOM) / 2.0), "middle", "no values");
        }
        for series in &self.series {
            series.draw(out, place);
        }
        self.legend(out);
    }

    fn frame(&self, out: &mut String, x: &Axis, y: &Axis) {
        for tick in y.ticks() {
            let at = BOTTOM - (BOTTOM - TOP) * y.share(tick);
            let _ = writeln!(
                out,
                "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{RIGHT}\" y2=\"{at:.1}\" stroke=\"{TEXT}\" stroke-opacity=\"0.25\"/>"
            );
            text(out, (LEFT - 6.0, at + 4.0), "end", &y.shown(tick));
        }
        let named = self.names.iter().enumerate().map(|(at, name)| (at as f64, name.clone()));
        let ticks: Vec<(f64, String)> = match self.names.is_empty() {
            true => x.ticks().map(|tick| (tick, x.shown(tick))).collect(),
            false => named.collect(),
        };
        for (tick, shown) in ticks {
            // At the ends, a long label moves inwards: what is outside of the picture is cut off.
            let half = LETTER / 2.0 * shown.chars().count() as f64;
            let at = (LEFT + (RIGHT - LEFT) * x.share(tick)).min(WIDTH - half).max(half);
            text(out, (at, BOTTOM + 16.0), "middle", &shown);
        }
        line(out, &[(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], TEXT, "");
        text(out, ((LEFT + RIGHT) / 2.0, BOTTOM + 32.0), "middle", &self.x_label);
    }

    /// Names of the series, in two columns.
    fn legend(&self, out: &mut String) {
        for (at, series) in self.series.iter().enumerate() {
            let (x, y) = (6.0 + WIDTH / 2.0 * (at % 2) as f64, LEGEND + 15.0 * (at / 2) as f64);
            line(out, &[(x, y), (x + 16.0, y)], series.color(), series.stroke());
            text(out, (x + 21.0, y + 4.0), "start", &series.name);
        }
    }
}

/// Draws several plots from left to right.
#[must_use]
pub fn side_by_side(title: &str, plots: &[Plot]) -> String {
    let width = WIDTH * plots.len() as f64;
    let height = plots.iter().map(Plot::height).fold(0.0, f64::max);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" font-family=\"system-ui, sans-serif\" font-size=\"11\" fill=\"{TEXT}\">\n"
    );
    let _ = writeln!(out, "<title>{}</title>", xml(title));
    for (at, plot) in plots.iter().enumerate() {
        let _ = writeln!(out, "<g transform=\"translate({} 0)\">", WIDTH * at as f64);
        plot.draw(&mut out);
        out += "</g>\n";
    }
    out + "</svg>\n"
}

impl Series {
    fn color(&self) -> &'static str {
        COLORS[self.style % COLORS.len()]
    }

    fn is_dashed(&self) -> bool {
        self.style / COLORS.len() % 2 == 1
    }

    fn stroke(&self) -> &'static str {
        if self.is_dashed() { " stroke-width=\"2\" stroke-dasharray=\"5 3\"" } else { " stroke-width=\"2\"" }
    }

    /// Lines between neighbors that both have a value, and dots where there is space for them or nothing else to see.
    fn draw(&self, out: &mut String, place: impl Fn(&(f64, f64)) -> (f64, f64)) {
        let runs = self.points.split(|point| !is_drawn(point)).filter(|run| !run.is_empty());
        for run in runs {
            let places: Vec<(f64, f64)> = run.iter().map(&place).collect();
            if run.len() > 1 {
                line(out, &places, self.color(), self.stroke());
            }
            if run.len() == 1 || (self.points.len() <= MAX_DOTS && !self.is_dashed()) {
                for (x, y) in places {
                    let color = self.color();
                    let _ = writeln!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{color}\"/>");
                }
            }
        }
    }
}

fn is_drawn(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

/// The range of an axis, and where its ticks are.
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

impl Axis {
    /// An axis that holds all finite values, with about five round ticks.
    fn new(values: impl Iterator<Item = f64>, reach: AxisBounds) -> Self {
        let finite = values.filter(|value| value.abs() < LARGEST);
        let range = finite.fold(reach.at_least, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let (mut low, mut high) = range.unwrap_or((0.0, 1.0));
        let size = high.abs().max(low.abs());
        if high - low <= (1e-9 * size).max(1.0 / LARGEST) {
            // A level curve runs through the middle.
            let around = match 0.1 * size {
                tenth if reach.whole => tenth.max(1.0),
                tenth if tenth < 1.0 / LARGEST => 1.0,
                tenth => tenth,
            };
            (low, high) = (low - around, high + around);
        }
        let rough = (high - low) / 5.0;
        let mut unit = 10f64.powf(rough.log10().floor());
        if reach.whole {
            unit = unit.max(1.0);
        }
        // A hair less, so that a range of whole steps is not cut into larger ones.
        let step = [1.0, 2.0, 5.0].map(|n| n * unit).into_iter().find(|&step| step >= rough * (1.0 - 1e-9));
        let step = step.unwrap_or(10.0 * unit);
        if !reach.whole {
            // A small tolerance, so that a value on a tick does not open another step.
            (low, high) = ((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step);
        }
        if let Some((least, most)) = reach.at_most {
            (low, high) = (low.max(least), high.min(most));
        }
        Self { low, high, step }
    }

    /// A tick as text.
    fn shown(&self, tick: f64) -> String {
        if self.step >= 1e6 || self.step < 1e-3 {
            return if tick == 0.0 { "0".to_owned() } else { format!("{tick:.1e}") };
        }
        let decimals = (-self.step.log10().floor()).max(0.0) as usize;
        format!("{tick:.decimals$}")
    }

    /// The position of a value between the ends, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> + '_ {
        let first = (self.low / self.step - 1e-9).ceil();
        // Adding nothing turns -0 into 0.
        let all = (0..100).map(move |n| (first + f64::from(n)) * self.step + 0.0);
        all.take_while(|tick| *tick <= self.high + 1e-9 * self.step)
    }
}

fn line(out: &mut String, places: &[(f64, f64)], color: &str, more: &str) {
    let places: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let places = places.join(" ");
    let _ = writeln!(out, "<polyline points=\"{places}\" fill=\"none\" stroke=\"{color}\"{more}/>");
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, content: &str) {
    let content = xml(content);
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{content}</text>");
}

#[cfg(test)]
mod tests;
