//! Numbers for Prometheus, written in its text format.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper ends of the buckets of times, in seconds.
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Upper ends of the buckets of batch sizes.
const SIZES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

#[derive(Clone, Debug)]
struct Histogram {
    bounds: &'static [f64],
    counts: Vec<u64>,
    sum: f64,
    n: u64,
}

impl Histogram {
    fn new(bounds: &'static [f64]) -> Self {
        Self { bounds, counts: vec![0; bounds.len()], sum: 0.0, n: 0 }
    }

    fn observe(&mut self, value: f64) {
        for (count, bound) in self.counts.iter_mut().zip(self.bounds) {
            *count += u64::from(value <= *bound);
        }
        self.sum += value;
        self.n += 1;
    }

    fn write(&self, out: &mut String, name: &str, labels: &str) {
        let comma = if labels.is_empty() { "" } else { "," };
        for (count, bound) in self.counts.iter().zip(self.bounds) {
            let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {count}");
        }
        let _ = writeln!(out, "{name}_bucket{{{labels}{comma}le=\"+Inf\"}} {}", self.n);
        let braces = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(out, "{name}_sum{braces} {}\n{name}_count{braces} {}", self.sum, self.n);
    }
}

#[derive(Debug)]
struct Counts {
    requests: BTreeMap<(&'static str, String, u16), u64>,
    seconds: BTreeMap<&'static str, Histogram>,
    batches: Histogram,
    utterances: BTreeMap<(String, &'static str), u64>,
    loads: BTreeMap<(String, &'static str), u64>,
}

/// The numbers of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    counts: Mutex<Counts>,
    pub connections: AtomicUsize,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let counts = Counts {
            requests: BTreeMap::new(),
            seconds: BTreeMap::new(),
            batches: Histogram::new(&SIZES),
            utterances: BTreeMap::new(),
            loads: BTreeMap::new(),
        };
        Self { counts: Mutex::new(counts), connections: AtomicUsize::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request was answered. Methods that we do not serve are counted together: clients must not make up labels.
    pub(crate) fn request(&self, route: &'static str, method: &str, status: u16, took: Duration) {
        let method = if matches!(method, "GET" | "POST" | "HEAD") { method } else { "other" };
        let mut counts = self.lock();
        *counts.requests.entry((route, method.to_owned(), status)).or_default() += 1;
        let seconds = counts.seconds.entry(route).or_insert_with(|| Histogram::new(&SECONDS));
        seconds.observe(took.as_secs_f64());
    }

    /// A batch went to an engine.
    pub(crate) fn batch(&self, size: usize) {
        self.lock().batches.observe(size as f64);
    }

    /// Utterances were read.
    pub(crate) fn utterances(&self, model: &str, outcome: &'static str, n: u64) {
        if n > 0 {
            *self.lock().utterances.entry((model.to_owned(), outcome)).or_default() += n;
        }
    }

    /// A model was loaded, or not.
    pub(crate) fn load(&self, model: &str, result: &'static str) {
        *self.lock().loads.entry((model.to_owned(), result)).or_default() += 1;
    }

    /// Everything, as text. `depth` of at most `limit` utterances wait.
    pub(crate) fn text(&self, depth: usize, limit: usize) -> String {
        let counts = self.lock();
        let mut out = String::new();
        let head = |out: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        let name = "spanwise_http_requests_total";
        head(&mut out, name, "counter", "Requests by route, method and status.");
        for ((route, method, status), n) in &counts.requests {
            let _ = writeln!(out, "{name}{{route=\"{route}\",method=\"{method}\",status=\"{status}\"}} {n}");
        }
        let name = "spanwise_http_request_seconds";
        head(&mut out, name, "histogram", "Time from the head of a request to its reply.");
        for (route, seconds) in &counts.seconds {
            seconds.write(&mut out, name, &format!("route=\"{route}\""));
        }
        let name = "spanwise_batch_utterances";
        head(&mut out, name, "histogram", "Utterances that went through an engine together.");
        counts.batches.write(&mut out, name, "");
        let name = "spanwise_utterances_total";
        head(&mut out, name, "counter", "Utterances by model and outcome.");
        for ((model, outcome), n) in &counts.utterances {
            let _ = writeln!(out, "{name}{{model=\"{}\",outcome=\"{outcome}\"}} {n}", escaped(model));
        }
        let name = "spanwise_model_loads_total";
        head(&mut out, name, "counter", "Loads of models by result.");
        for ((model, result), n) in &counts.loads {
            let _ = writeln!(out, "{name}{{model=\"{}\",result=\"{result}\"}} {n}", escaped(model));
        }
        let gauges = [
            ("spanwise_queue_depth", "Utterances and programs that wait for an engine.", depth),
            ("spanwise_queue_limit", "Most that may wait.", limit),
            ("spanwise_connections", "Open connections.", self.connections.load(Ordering::Relaxed)),
        ];
        for (name, help, value) in gauges {
            head(&mut out, name, "gauge", help);
            let _ = writeln!(out, "{name} {value}");
        }
        out
    }
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_count_everything_up_to_their_end() {
        let metrics = Metrics::new();
        for size in [1, 3, 3, 100] {
            metrics.batch(size);
        }
        let text = metrics.text(2, 5);
        for line in [
            "spanwise_batch_utterances_bucket{le=\"1\"} 1",
            "spanwise_batch_utterances_bucket{le=\"4\"} 3",
            "spanwise_batch_utterances_bucket{le=\"64\"} 3",
            "spanwise_batch_utterances_bucket{le=\"+Inf\"} 4",
            "spanwise_batch_utterances_sum 107",
            "spanwise_batch_utterances_count 4",
            "spanwise_queue_depth 2",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn names_cannot_break_out_of_labels() {
        let metrics = Metrics::new();
        metrics.utterances("a\"b\\c\nd", "found", 2);
        metrics.request("/v1/parse", "BREW", 405, Duration::from_millis(2));
        let text = metrics.text(0, 0);
        assert!(text.contains(r#"{model="a\"b\\c\nd",outcome="found"} 2"#), "{text}");
        assert!(text.contains(r#"{route="/v1/parse",method="other",status="405"} 1"#), "{text}");
    }
}
