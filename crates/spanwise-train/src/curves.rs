//! Learning curves as a picture: loss on the left, accuracy on the right, over epochs.
//!
//! SVG as text, the same bytes for the same rows. The background stays clear and all colours are of middle
//! lightness, so the picture can be read on light and on dark pages.

use std::fmt::Write as _;

/// One epoch of training. Shares are percentages; what is not a finite number leaves a gap in its curve.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct EpochRow {
    /// Its number.
    pub epoch: usize,
    /// Mean loss of the training examples.
    pub loss: f64,
    /// Training examples whose program can be derived.
    pub derivable_share: f64,
    /// Exact match on dev.
    pub dev_exact: f64,
    /// Denotation on dev, where the domain has an executor.
    pub dev_denotation: Option<f64>,
    /// Learning rate at the end of the epoch; not drawn.
    pub lr: f64,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 332.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 288.0;
const TEXT: &str = "#79828e";
const BLUE: &str = "#3b82f6";
const ORANGE: &str = "#e07b1a";
const GREEN: &str = "#2a9d6a";
/// Epochs up to which every value gets a dot.
const MAX_DOTS: usize = 40;
/// Values from here on do not widen an axis.
const LARGEST: f64 = 1e290;

/// A curve of a panel.
struct Series {
    name: String,
    colour: &'static str,
    dashed: bool,
    points: Vec<(f64, f64)>,
}

/// A part of the picture with axes of its own.
struct Panel<'a> {
    title: &'a str,
    left: f64,
    right: f64,
    series: Vec<Series>,
    /// What its values, and so its axis, do not leave.
    limits: (f64, f64),
}

/// The range of an axis, and where its ticks are.
#[derive(Clone, PartialEq, Debug)]
struct Axis {
    low: f64,
    high: f64,
    step: f64,
}

/// Draws the curves.
#[must_use]
pub fn svg(rows: &[EpochRow]) -> String {
    let series = |name: &str, colour, dashed, value: fn(&EpochRow) -> f64| Series {
        name: name.to_owned(),
        colour,
        dashed,
        points: rows.iter().map(|row| (row.epoch as f64, value(row))).collect(),
    };
    let loss = Panel {
        title: "training loss",
        left: 62.0,
        right: 408.0,
        series: vec![series("loss", BLUE, false, |row| row.loss)],
        limits: (f64::NEG_INFINITY, f64::INFINITY),
    };
    let share = |value: f64| if value.is_finite() { value.clamp(0.0, 100.0) } else { value };
    let mut curves = Vec::new();
    if rows.iter().any(|row| row.dev_denotation.is_some()) {
        curves.push(series("denotation", ORANGE, false, |row| row.dev_denotation.unwrap_or(f64::NAN)));
    }
    curves.push(series("exact match", BLUE, false, |row| row.dev_exact));
    curves.push(series("derivable in train", GREEN, true, |row| row.derivable_share));
    for curve in &mut curves {
        curve.points.iter_mut().for_each(|(_, value)| *value = share(*value));
        if let Some((epoch, best)) = curve.best().filter(|_| !curve.dashed) {
            curve.name += &format!(" (best {best:.1} in {epoch:.0})");
        }
    }
    let accuracy =
        Panel { title: "dev accuracy, %", left: 496.0, right: 842.0, series: curves, limits: (0.0, 100.0) };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"11\" fill=\"{TEXT}\">\n"
    );
    out += "<title>Learning curves</title>\n";
    for panel in [loss, accuracy] {
        panel.draw(&mut out);
    }
    out + "</svg>\n"
}

impl Series {
    fn dashes(&self) -> &'static str {
        if self.dashed { " stroke-dasharray=\"4 3\"" } else { "" }
    }

    /// The first of the highest values, with its epoch.
    fn best(&self) -> Option<(f64, f64)> {
        let finite = self.points.iter().copied().filter(|(_, y)| y.is_finite());
        finite.reduce(|best, point| if point.1 > best.1 { point } else { best })
    }
}

impl Panel<'_> {
    fn draw(&self, out: &mut String) {
        let epochs = self.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
        let values = self.series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
        let x = Axis::new(epochs, true);
        let mut y = Axis::new(values, false);
        (y.low, y.high) = (y.low.max(self.limits.0), y.high.min(self.limits.1));
        let px = |value: f64| self.left + (self.right - self.left) * x.share(value);
        let py = |value: f64| BOTTOM - (BOTTOM - TOP) * y.share(value);
        let _ = writeln!(out, "<g>");
        text(out, self.left, 20.0, "start", self.title, " font-size=\"13\" font-weight=\"600\"");
        for tick in y.ticks() {
            let at = py(tick);
            let _ = writeln!(
                out,
                "<line x1=\"{}\" y1=\"{at:.1}\" x2=\"{}\" y2=\"{at:.1}\" stroke=\"{TEXT}\" stroke-opacity=\"0.25\"/>",
                self.left, self.right
            );
            text(out, self.left - 7.0, at + 4.0, "end", &y.shown(tick), "");
        }
        for tick in x.ticks() {
            let at = px(tick);
            let _ = writeln!(
                out,
                "<line x1=\"{at:.1}\" y1=\"{BOTTOM}\" x2=\"{at:.1}\" y2=\"{}\" stroke=\"{TEXT}\"/>",
                BOTTOM + 4.0
            );
            text(out, at, BOTTOM + 17.0, "middle", &x.shown(tick), "");
        }
        let _ = writeln!(
            out,
            "<polyline points=\"{0},{TOP} {0},{BOTTOM} {1},{BOTTOM}\" fill=\"none\" stroke=\"{TEXT}\"/>",
            self.left, self.right
        );
        text(out, (self.left + self.right) / 2.0, BOTTOM + 34.0, "middle", "epoch", "");
        self.legend(out);
        let is_empty = !self.series.iter().flat_map(|series| &series.points).any(|point| point.1.is_finite());
        if is_empty {
            text(out, (self.left + self.right) / 2.0, (TOP + BOTTOM) / 2.0, "middle", "no values", "");
        }
        for series in &self.series {
            series.draw(out, px, py);
        }
        let _ = writeln!(out, "</g>");
    }

    /// Names of the curves, in as many rows as they need.
    fn legend(&self, out: &mut String) {
        let (mut x, mut y) = (self.left, 36.0);
        for series in &self.series {
            let width = 32.0 + 5.2 * series.name.chars().count() as f64;
            if x > self.left && x + width > self.right {
                (x, y) = (self.left, y + 14.0);
            }
            let _ = writeln!(
                out,
                "<line x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{}\" stroke-width=\"2\"{}/>",
                x + 16.0,
                series.colour,
                series.dashes()
            );
            text(out, x + 20.0, y + 3.5, "start", &series.name, " font-size=\"10\"");
            x += width;
        }
    }
}

impl Series {
    /// Lines between neighbours that both have a value, and dots where there is room or nothing else to see.
    fn draw(&self, out: &mut String, px: impl Fn(f64) -> f64, py: impl Fn(f64) -> f64) {
        let runs = self.points.split(|point| !point.1.is_finite()).filter(|run| !run.is_empty());
        let dashes = self.dashes();
        for run in runs {
            if run.len() > 1 {
                let place = |&(x, y): &(f64, f64)| format!("{:.1},{:.1}", px(x), py(y));
                let places: Vec<String> = run.iter().map(place).collect();
                let _ = writeln!(
                    out,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dashes}/>",
                    places.join(" "),
                    self.colour
                );
            }
            if run.len() == 1 || (self.points.len() <= MAX_DOTS && !self.dashed) {
                for &(x, y) in run {
                    let _ = writeln!(
                        out,
                        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{}\"/>",
                        px(x),
                        py(y),
                        self.colour
                    );
                }
            }
        }
    }
}

impl Axis {
    /// An axis that holds all finite values, with about five ticks; for whole numbers, ticks are whole.
    fn new(values: impl Iterator<Item = f64>, whole: bool) -> Self {
        // Beyond these, differences and logarithms lose their meaning.
        let finite = values.filter(|value| value.abs() < LARGEST);
        let range = finite.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let (mut low, mut high) = range.unwrap_or((0.0, 1.0));
        let size = high.abs().max(low.abs());
        if high - low <= (1e-9 * size).max(1.0 / LARGEST) {
            // A level curve runs through the middle.
            let around = if whole || size < 10.0 / LARGEST { 1.0 } else { 0.1 * size };
            (low, high) = (low - around, high + around);
        }
        let rough = (high - low) / 5.0;
        let mut unit = 10f64.powf(rough.log10().floor());
        if whole {
            unit = unit.max(1.0);
        }
        let step = [1.0, 2.0, 5.0].map(|n| n * unit).into_iter().find(|&step| step >= rough);
        let step = step.unwrap_or(10.0 * unit);
        if !whole {
            (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
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

    /// Where a value stands between the ends, from 0 to 1.
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

fn text(out: &mut String, x: f64, y: f64, anchor: &str, content: &str, more: &str) {
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"{more}>{content}</text>");
}

#[cfg(test)]
mod tests;
