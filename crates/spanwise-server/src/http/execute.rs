//! `POST /v1/execute`: evaluates a program.

use super::error::Problem;
use super::openapi::EngineProblems;
use super::{App, body};
use crate::engine::{Executed, Refusal};
use crate::queue::{Job, Work};
use axum::Json;
use axum::body::Body;
use axum::extract::State;
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
pub(crate) async fn execute(State(app): State<Arc<App>>, body: Body) -> Result<Json<Executed>, Problem> {
    let ExecuteRequest { program, model, context } = body::read(&app, body).await?;
    let (_, loaded) = app.model(model.as_deref())?;
    let (reply, receiver) = oneshot::channel();
    let work = Work::Execute { program, context, reply };
    app.submit(vec![Job { engine: Arc::clone(&loaded.engine), work }])?;
    let executed = receiver.await.map_err(|_| Problem::Stopping)?.map_err(|_| Problem::EngineFailed)?;
    executed.map(Json).map_err(|refusal| match refusal {
        Refusal::Bad(reason) => Problem::BadProgram(reason),
        Refusal::NoExecutor => Problem::NoExecutor(loaded.info.domain.clone()),
    })
}
