//! `POST /v1/execute`: evaluates a program.

use super::error::Problem;
use super::openapi::EngineProblems;
use super::{App, Patience, Peer, body};
use crate::engine::{Executed, Refusal, Waiting};
use crate::queue::Work;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::oneshot;
use utoipa::ToSchema;

/// A program to evaluate.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExecuteRequest {
    /// The program.
    program: String,
    /// The name of a model; without it, the first.
    model: Option<String>,
    /// What the program is evaluated in.
    context: Option<Value>,
}

/// Evaluate a program
#[utoipa::path(post, path = "/v1/execute", request_body = ExecuteRequest, responses(
    (status = 200, description = "The value of the program", body = Executed),
    EngineProblems,
))]
pub(crate) async fn execute(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Executed>, Problem> {
    let ExecuteRequest { program, model, context } = body::read(&app, &headers, body).await?;
    let deadline = app.deadline();
    let (_, loaded) = app.model(model.as_deref())?;
    let (reply, receiver) = oneshot::channel();
    let patience = Patience::default();
    let waiting = Waiting { cancelled: Arc::clone(&patience.0), deadline: Some(deadline) };
    app.submit(peer, vec![loaded.job(Work::Execute { program, context, waiting, reply })])?;
    let executed = app.in_time(deadline, receiver).await?.map_err(|_| Problem::Stopping)?;
    let executed = executed.map_err(|failed| app.failed(failed))?;
    executed.map(Json).map_err(|refusal| match refusal {
        Refusal::Bad(reason) => Problem::BadProgram(reason),
        Refusal::NoExecutor => Problem::NoExecutor(loaded.info.domain.clone()),
    })
}
