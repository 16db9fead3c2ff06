//! `GET /healthz`: the process lives. `GET /readyz`: it can work.

use super::App;
use super::error::Problem;
use axum::extract::State;
use axum::response::Response;
use serde_json::json;
use std::sync::Arc;

pub(crate) async fn alive() -> Response {
    super::json(json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION") }).to_string())
}

pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    if *app.stopping.borrow() {
        return Err(Problem::stopping());
    }
    if !app.models.is_ready() {
        return Err(Problem::not_ready());
    }
    Ok(super::json(json!({ "status": "ready", "version": env!("CARGO_PKG_VERSION") }).to_string()))
}
