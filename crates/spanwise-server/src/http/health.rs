//! `GET /healthz` and `GET /readyz`: whether the process runs, and whether it can serve.

use super::App;
use super::error::{Problem, ProblemBody};
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// The state of the server.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    status: Status,
    /// The version of the server.
    version: &'static str,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Ready,
}

impl Health {
    fn new(status: Status) -> Json<Self> {
        Json(Self { status, version: env!("CARGO_PKG_VERSION") })
    }
}

/// Whether the process runs
#[utoipa::path(get, path = "/healthz", security(()), responses((status = 200, description = "It does", body = Health)))]
pub(crate) async fn alive() -> Json<Health> {
    Health::new(Status::Ok)
}

/// Whether all models have been loaded and the server is not shutting down
#[utoipa::path(get, path = "/readyz", security(()), responses(
    (status = 200, description = "Ready", body = Health),
    (status = 503, response = ProblemBody),
))]
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Result<Json<Health>, Problem> {
    if *app.stopping.borrow() {
        return Err(Problem::Stopping);
    }
    if !app.models.are_loaded() {
        return Err(Problem::NotReady);
    }
    Ok(Health::new(Status::Ready))
}
