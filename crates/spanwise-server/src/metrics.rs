//! Metrics of a server, in the OpenMetrics text format that Prometheus reads.

use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use std::time::Duration;

/// Upper bounds of the buckets of times, in seconds.
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Upper bounds of the buckets of batch sizes.
const SIZES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

/// Labels by name.
type Labels<const N: usize> = [(&'static str, String); N];

/// The metrics of one server.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels<3>, Counter>,
    seconds: Family<Labels<1>, Histogram, fn() -> Histogram>,
    batches: Histogram,
    utterances: Family<Labels<2>, Counter>,
    withheld: Family<Labels<2>, Counter>,
    loads: Family<Labels<2>, Counter>,
    log: Family<Labels<1>, Counter>,
    queue_depth: Gauge,
    /// Open connections.
    pub connections: Gauge,
}

impl Metrics {
    /// Metrics of a server whose queue holds at most `queue_limit` jobs.
    pub(crate) fn new(queue_limit: usize) -> Self {
        let mut metrics = Self {
            registry: Registry::default(),
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            batches: Histogram::new(SIZES),
            utterances: Family::default(),
            withheld: Family::default(),
            loads: Family::default(),
            log: Family::default(),
            queue_depth: Gauge::default(),
            connections: Gauge::default(),
        };
        let limit: Gauge = Gauge::default();
        limit.set(gauged(queue_limit));
        let to = &mut metrics.registry;
        // The encoder appends `_total` to the names of counters and a full stop to descriptions.
        to.register(
            "spanwise_http_requests",
            "Requests by route, method and status",
            metrics.requests.clone(),
        );
        to.register(
            "spanwise_http_request_seconds",
            "Time from the head of a request to its reply",
            metrics.seconds.clone(),
        );
        to.register("spanwise_batch_utterances", "Utterances per batch", metrics.batches.clone());
        to.register("spanwise_utterances", "Utterances by model and outcome", metrics.utterances.clone());
        to.register("spanwise_withheld", "Withheld answers by model and cause", metrics.withheld.clone());
        to.register("spanwise_model_loads", "Loads of models by result", metrics.loads.clone());
        to.register(
            "spanwise_question_log_lines",
            "Lines of the log of questions, by what became of them",
            metrics.log.clone(),
        );
        to.register("spanwise_queue_depth", "Jobs that wait for an engine", metrics.queue_depth.clone());
        to.register("spanwise_queue_limit", "Maximum number of jobs that wait", limit);
        to.register("spanwise_connections", "Open connections", metrics.connections.clone());
        metrics
    }

    /// Counts a line of the log of questions.
    pub(crate) fn question_log(&self, result: &str) {
        self.log.get_or_create(&[("result", result.to_owned())]).inc();
    }

    /// Counts a request. Methods that are not served share one label: clients must not be able to add labels.
    pub(crate) fn request(&self, route: &str, method: &str, status: u16, took: Duration) {
        let method = if matches!(method, "GET" | "POST" | "HEAD") { method } else { "other" };
        let route = ("route", route.to_owned());
        let labels = [route.clone()];
        self.seconds.get_or_create(&labels).observe(took.as_secs_f64());
        let labels = [route, ("method", method.to_owned()), ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts a batch.
    pub(crate) fn batch(&self, size: usize) {
        self.batches.observe(size as f64);
    }

    /// Counts utterances that a model parsed.
    pub(crate) fn utterances(&self, model: &str, outcome: &str, n: usize) {
        if n > 0 {
            let labels = [("model", model.to_owned()), ("outcome", outcome.to_owned())];
            self.utterances.get_or_create(&labels).inc_by(n as u64);
        }
    }

    /// Counts an answer of a model that was withheld.
    pub(crate) fn withheld(&self, model: &str, cause: &str) {
        self.withheld.get_or_create(&[("model", model.to_owned()), ("cause", cause.to_owned())]).inc();
    }

    /// Counts the load of a model.
    pub(crate) fn load(&self, model: &str, result: &str) {
        self.loads.get_or_create(&[("model", model.to_owned()), ("result", result.to_owned())]).inc();
    }

    /// All metrics as text, while `depth` jobs wait.
    pub(crate) fn text(&self, depth: usize) -> String {
        self.queue_depth.set(gauged(depth));
        let mut out = String::new();
        text::encode(&mut out, &self.registry).expect("writing to a string does not fail");
        out
    }
}

fn gauged(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_count_everything_up_to_their_bound() {
        let metrics = Metrics::new(5);
        for size in [1, 3, 3, 100] {
            metrics.batch(size);
        }
        let text = metrics.text(2);
        for line in [
            "spanwise_batch_utterances_bucket{le=\"1.0\"} 1",
            "spanwise_batch_utterances_bucket{le=\"4.0\"} 3",
            "spanwise_batch_utterances_bucket{le=\"64.0\"} 3",
            "spanwise_batch_utterances_bucket{le=\"+Inf\"} 4",
            "spanwise_batch_utterances_sum 107.0",
            "spanwise_batch_utterances_count 4",
            "spanwise_queue_depth 2",
            "spanwise_queue_limit 5",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn names_cannot_break_out_of_labels() {
        let metrics = Metrics::new(0);
        metrics.utterances("a\"b\\c\nd", "found", 2);
        metrics.request("/v1/parse", "BREW", 405, Duration::from_millis(2));
        let text = metrics.text(0);
        assert!(text.contains(r#"{model="a\"b\\c\nd",outcome="found"} 2"#), "{text}");
        assert!(text.contains(r#"{route="/v1/parse",method="other",status="405"} 1"#), "{text}");
    }
}
