//! `GET /metrics`: metrics for Prometheus.

use super::App;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use std::sync::Arc;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Metrics in the OpenMetrics text format
#[utoipa::path(get, path = "/metrics", responses(
    (status = 200, description = "The metrics", body = String, content_type = "application/openmetrics-text"),
))]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> ([(HeaderName, HeaderValue); 1], String) {
    let text = app.metrics.text(app.queue.depth());
    ([(header::CONTENT_TYPE, HeaderValue::from_static(OPENMETRICS))], text)
}
