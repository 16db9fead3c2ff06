//! `POST /v1/execute`: programs to answers.

use super::error::Problem;
use super::fields::Fields;
use super::parse::submit;
use super::{App, body, types};
use crate::engine::Refusal;
use crate::queue::{Job, Work};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use std::sync::Arc;
use tokio::sync::oneshot;

const FIELDS: &[&str] = &["program", "model", "context"];

pub(crate) async fn handle(State(app): State<Arc<App>>, body: Body) -> Result<Response, Problem> {
    let body = body::read(&app, body).await?;
    let mut fields = Fields::read(&body, FIELDS)?;
    let model = fields.text("model")?;
    let program = fields.text("program")?;
    let program = program.ok_or_else(|| Problem::bad_field("$", "a field `program`", "none"))?;
    let context = fields.take("context");
    let (_, loaded) = app.model(model.as_deref())?;
    let (reply, receiver) = oneshot::channel();
    let work = Work::Execute { program: program.clone(), context, reply };
    submit(&app, vec![Job { engine: Arc::clone(&loaded.engine), work }])?;
    let executed = receiver.await.map_err(|_| Problem::stopping())?.map_err(|_| Problem::broken())?;
    match executed {
        Ok(answer) => Ok(super::json(types::executed(&program, answer))),
        Err(Refusal::Bad(reason)) => Err(Problem::bad_program(reason)),
        Err(Refusal::NoExecutor) => Err(Problem::no_executor(&loaded.info.domain)),
    }
}
