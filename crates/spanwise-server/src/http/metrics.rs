//! `GET /metrics`: numbers for Prometheus.

use super::App;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

pub(crate) async fn handle(State(app): State<Arc<App>>) -> Response {
    let text = app.metrics.text(app.queue.depth(), app.limits.queue);
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}
