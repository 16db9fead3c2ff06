//! `POST /v1/feedback`: what somebody says about a reply, for the log of questions.

use super::error::Problem;
use super::openapi::EngineProblems;
use super::{App, Peer, body};
use crate::engine::Refusal;
use crate::journal::{Judgement, NotKept, Question, Verdict};
use crate::queue::Work;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::sync::oneshot;
use utoipa::ToSchema;

/// Longest program.
const MAX_PROGRAM: usize = 10_000;

/// A judgement of a reply.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FeedbackRequest {
    /// The `id` of the reply.
    id: String,
    /// Whether its program is right.
    verdict: Verdict,
    /// The right program, with the verdict `wrong`; it may be an alternative, a guess, or any other program with a type.
    program: Option<String>,
}

/// What was kept.
#[derive(Serialize, ToSchema)]
pub(crate) struct FeedbackReply {
    /// The `id` of the reply that was judged.
    id: String,
    /// The judgement.
    verdict: Verdict,
    /// The right program, as the model writes it; `null` where none is known.
    program: Option<String>,
}

/// Say whether a reply is right
#[utoipa::path(post, path = "/v1/feedback", request_body = FeedbackRequest, responses(
    (status = 200, description = "The judgement was kept", body = FeedbackReply),
    EngineProblems,
))]
pub(crate) async fn feedback(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<FeedbackReply>, Problem> {
    let request: FeedbackRequest = body::read(&app, &headers, body).await?;
    let deadline = app.deadline();
    let journal = app.journal.as_ref().ok_or(Problem::NoLog)?;
    let question = journal.find(&request.id).ok_or(Problem::NoQuestion)?;
    let program = request.program(&question)?;
    let program = match program {
        None => None,
        Some(program) => Some(app.in_time(deadline, checked(&app, peer, &question, program)).await??),
    };
    let is_same = program.is_some() && program == question.program;
    if request.verdict == Verdict::Wrong && is_same && question.is_answered() {
        return Err(unfit("$.program", "another program than that of the reply", "the same"));
    }
    let judgement = Judgement::of(&question, request.verdict, program);
    let kept = app.in_time(deadline, journal.judgement(&judgement)).await?;
    kept.map_err(|why| match why {
        NotKept::Full => Problem::Full(app.limits.queue),
        NotKept::Failed => Problem::LogFailed,
    })?;
    Ok(Json(FeedbackReply { id: request.id, verdict: request.verdict, program: judgement.program }))
}

impl FeedbackRequest {
    /// The program to check, if the judgement has one.
    fn program(&self, question: &Question) -> Result<Option<String>, Problem> {
        if let Some(program) = &self.program {
            let (path, what, hint) = ("$.program".to_owned(), "bytes", "give a shorter one");
            if program.len() > MAX_PROGRAM {
                return Err(Problem::TooMuch { path, found: program.len(), what, limit: MAX_PROGRAM, hint });
            }
        }
        match (self.verdict, &self.program) {
            (Verdict::Wrong, program) => Ok(program.clone()),
            (Verdict::Right | Verdict::Unanswerable, Some(_)) => {
                Err(unfit("$.program", "a program only with the verdict `wrong`", "one"))
            }
            (Verdict::Unanswerable, None) => Ok(None),
            (Verdict::Right, None) => match &question.program {
                Some(program) if question.is_answered() => Ok(Some(program.clone())),
                _ => Err(unfit(
                    "$.verdict",
                    "`wrong` or `unanswerable`, since the reply has no program",
                    "`right`",
                )),
            },
        }
    }
}

fn unfit(path: &str, expected: &str, found: &str) -> Problem {
    Problem::BadField { path: path.to_owned(), expected: expected.to_owned(), found: found.to_owned() }
}

/// A program as its model writes it. It waits its turn like other work.
async fn checked(app: &App, peer: Peer, question: &Question, program: String) -> Result<String, Problem> {
    let (_, loaded) = app.model(Some(&question.model.name))?;
    let (reply, receiver) = oneshot::channel();
    app.submit(peer, vec![loaded.job(Work::Check { program, reply })])?;
    let checked = receiver.await.map_err(|_| Problem::Stopping)?;
    checked.map_err(|failed| app.failed(failed))?.map_err(|refusal| match refusal {
        Refusal::Bad(reason) => Problem::BadProgram(reason),
        Refusal::NoExecutor => Problem::NoExecutor(loaded.info.domain.clone()),
    })
}
