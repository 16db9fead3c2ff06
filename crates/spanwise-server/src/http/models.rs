//! `GET /v1/models`: the models by name.

use super::{App, types};
use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) async fn handle(State(app): State<Arc<App>>) -> Response {
    let models: Vec<Value> = app.models.slots.iter().map(types::model).collect();
    super::json(json!({ "models": models }).to_string())
}
