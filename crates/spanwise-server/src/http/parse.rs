//! `POST /v1/parse`: utterances to programs and answers.

use super::error::Problem;
use super::fields::Fields;
use super::{App, body, types};
use crate::engine::{Ask, Reading};
use crate::models::Loaded;
use crate::queue::{Job, Rejected, Work};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use spanwise_core::Utterance;
use std::sync::Arc;
use tokio::sync::oneshot;

const FIELDS: &[&str] = &["utterance", "utterances", "model", "k", "abstain_below", "context", "chart"];

/// What was asked for.
struct Asked {
    asks: Vec<(Ask, usize)>,
    /// Whether the reply is one object or a list.
    is_single: bool,
    model: Option<String>,
}

pub(crate) async fn handle(State(app): State<Arc<App>>, body: Body) -> Result<Response, Problem> {
    let body = body::read(&app, body).await?;
    let asked = read(&app, &body)?;
    let (slot, loaded) = app.model(asked.model.as_deref())?;
    let asks: Vec<Ask> = asked.asks.iter().map(|(ask, _)| ask.clone()).collect();
    let readings = readings(&app, &loaded, asked.asks).await?;
    let found = readings.iter().filter(|reading| reading.found.is_ok()).count() as u64;
    app.metrics.utterances(&slot.name, "found", found);
    app.metrics.utterances(&slot.name, "nothing", readings.len() as u64 - found);
    let mut replies = asks.iter().zip(readings).map(|(ask, reading)| types::reading(ask, reading));
    Ok(super::json(match replies.next() {
        Some(only) if asked.is_single => only,
        first => types::results(first.into_iter().chain(replies)),
    }))
}

fn read(app: &App, body: &[u8]) -> Result<Asked, Problem> {
    let mut fields = Fields::read(body, FIELDS)?;
    if fields.has("utterance") == fields.has("utterances") {
        let found = if fields.has("utterance") { "both" } else { "neither" };
        return Err(Problem::bad_field("$", "a field `utterance` or a field `utterances`", found));
    }
    let model = fields.text("model")?;
    let (k, chart) = (fields.count("k")?, fields.flag("chart")?);
    let abstain_below = fields.share("abstain_below")?;
    let single = fields.text("utterance")?;
    let is_single = single.is_some();
    let texts = match single {
        Some(text) => vec![text],
        None => fields.texts("utterances")?.unwrap_or_default(),
    };
    let limits = &app.limits;
    if k > limits.max_k {
        return Err(Problem::too_much("$.k", k, "other programs", limits.max_k, ""));
    }
    // More than the queue holds could never be taken.
    let most = limits.max_utterances.min(limits.queue);
    if texts.len() > most {
        let path = "$.utterances";
        return Err(Problem::too_much(path, texts.len(), "utterances", most, "--max-utterances and --queue"));
    }
    let context = fields.take("context").map(Arc::new);
    let ask = |(at, utterance): (usize, String)| {
        let n_words = Utterance::new(utterance.as_str()).len();
        if n_words > limits.max_words {
            let path = if is_single { "$.utterance".to_owned() } else { format!("$.utterances[{at}]") };
            return Err(Problem::too_much(&path, n_words, "words", limits.max_words, "--max-words"));
        }
        Ok((Ask { utterance, k, chart, abstain_below, context: context.clone() }, n_words))
    };
    let asks = texts.into_iter().enumerate().map(ask).collect::<Result<_, _>>()?;
    Ok(Asked { asks, is_single, model })
}

/// Sends utterances to the engine and waits for all of them.
async fn readings(app: &App, loaded: &Loaded, asks: Vec<(Ask, usize)>) -> Result<Vec<Reading>, Problem> {
    let (mut jobs, mut waiting) = (Vec::with_capacity(asks.len()), Vec::with_capacity(asks.len()));
    for (ask, n_words) in asks {
        let (reply, receiver) = oneshot::channel();
        jobs.push(Job { engine: Arc::clone(&loaded.engine), work: Work::Parse { ask, n_words, reply } });
        waiting.push(receiver);
    }
    submit(app, jobs)?;
    let mut readings = Vec::with_capacity(waiting.len());
    for receiver in waiting {
        let reading = receiver.await.map_err(|_| Problem::stopping())?;
        readings.push(reading.map_err(|_| Problem::broken())?);
    }
    Ok(readings)
}

/// Puts jobs into the queue, or says why not.
pub(crate) fn submit(app: &App, jobs: Vec<Job>) -> Result<(), Problem> {
    app.queue.submit(jobs).map_err(|rejected| match rejected {
        Rejected::Full => Problem::full(app.limits.queue),
        Rejected::Closed => Problem::stopping(),
    })
}
