//! `GET /v1/model`: all about one model.

use super::error::Problem;
use super::{App, parameter, types};
use axum::extract::State;
use axum::http::Uri;
use axum::response::Response;
use std::sync::Arc;

pub(crate) async fn handle(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Problem> {
    let name = parameter(uri.query(), "name")?;
    let names = app.models.slots.iter().map(|slot| slot.name.as_str());
    let slot = app.models.find(name.as_deref());
    let slot = slot.ok_or_else(|| Problem::no_model(name.as_deref(), names))?;
    Ok(super::json(types::model(slot).to_string()))
}
