//! `POST /v1/parse`: turns utterances into programs and answers.

use super::error::Problem;
use super::openapi::EngineProblems;
use super::{App, Patience, Peer, body};
use crate::engine::{Ask, Withhold};
use crate::models::Loaded;
use crate::queue::Work;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::{Extension, Json};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Number, Value};
use spanwise_core::{Moment, Utterance};
use spanwise_reading::{Cause, Reading};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::oneshot;
use utoipa::ToSchema;

/// Utterances to parse: exactly one of `utterance` and `utterances` is there.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParseRequest {
    /// One text; the reply is one reading.
    utterance: Option<String>,
    /// Several texts; the reply has `results` in their order.
    utterances: Option<Vec<String>>,
    /// The name of a model; without it, the first.
    model: Option<String>,
    /// The maximum number of alternatives.
    #[serde(default, deserialize_with = "whole")]
    #[schema(maximum = 100)]
    k: Option<usize>,
    /// A program that is less probable than this is withheld and not evaluated; without it, the threshold of the model
    /// decides, or what the server was started with.
    #[schema(minimum = 0, maximum = 1)]
    abstain_below: Option<f64>,
    /// Whether every program is returned and evaluated, however improbable it is; not together with `abstain_below`.
    always_answer: Option<bool>,
    /// The date, or date and time, that relative dates refer to, such as `2011-03-05` or `2011-03-05T14:30`; without it,
    /// the date of the server.
    now: Option<String>,
    /// What the utterances are about and programs are evaluated in, such as a CLEVR scene.
    context: Option<Value>,
    /// Whether the reply has the posterior probability of every span.
    chart: Option<bool>,
    /// Whether the program is evaluated; without it, it is.
    execute: Option<bool>,
    /// Whether the programs of alternatives are evaluated too; without it, they are not.
    execute_alternatives: Option<bool>,
    /// Whether the server may keep the utterances in its log of questions, if it has one; without it, it may. The reply to
    /// one that is not kept has no `id`.
    log: Option<bool>,
}

/// A whole number. `serde_json` keeps the digits of numbers and reports no expectation where they do not fit.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let wrong = || D::Error::custom("invalid value, expected a whole number from 0");
    let whole = |number: Number| number.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or_else(wrong);
    Option::<Number>::deserialize(deserializer)?.map(whole).transpose()
}

/// A reading for `utterance`, a list of them for `utterances`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum ParseReply {
    One(Box<Reading>),
    Many {
        /// The readings, in the order of the utterances.
        results: Vec<Reading>,
    },
}

/// Turn one utterance, or many, into programs
#[utoipa::path(post, path = "/v1/parse", request_body = ParseRequest, responses(
    (status = 200, description = "A reading for `utterance`, a list of them for `utterances`", body = ParseReply),
    EngineProblems,
))]
pub(crate) async fn parse(
    State(app): State<Arc<App>>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<ParseReply>, Problem> {
    let request: ParseRequest = body::read(&app, &headers, body).await?;
    let deadline = app.deadline();
    let (is_single, model) = (request.utterance.is_some(), request.model.clone());
    let may_log = request.log.unwrap_or(true);
    let patience = Patience::default();
    let asks = request.asks(&app, &patience, deadline)?;
    let context = asks.first().and_then(|(ask, _)| ask.context.clone());
    let (slot, loaded) = app.model(model.as_deref())?;
    let mut results = app.in_time(deadline, readings(&app, peer, &loaded, asks)).await??;
    // What was withheld was found.
    let is_found = |reading: &&Reading| reading.is_found() || reading.guess.is_some();
    let n_found = results.iter().filter(is_found).count();
    app.metrics.utterances(&slot.name, "found", n_found);
    app.metrics.utterances(&slot.name, "nothing", results.len() - n_found);
    for reading in results.iter().filter(|reading| reading.is_withheld()) {
        app.metrics.withheld(&slot.name, reading.cause.map_or("unsure", Cause::name));
    }
    if let Some(journal) = app.journal.as_ref().filter(|_| may_log) {
        for reading in &mut results {
            journal.question((&slot.name, &loaded.info), reading, context.as_ref());
        }
    }
    Ok(Json(match results.pop() {
        Some(only) if is_single => ParseReply::One(Box::new(only)),
        last => {
            results.extend(last);
            ParseReply::Many { results }
        }
    }))
}

impl ParseRequest {
    /// The utterances, each with its options and its number of words.
    fn asks(self, app: &App, patience: &Patience, deadline: Instant) -> Result<Vec<(Ask, usize)>, Problem> {
        let limits = &app.limits;
        let too_much = |path: String, found, what, limit, hint| {
            if found > limit { Err(Problem::TooMuch { path, found, what, limit, hint }) } else { Ok(()) }
        };
        let is_single = self.utterance.is_some();
        let texts = match (self.utterance, self.utterances) {
            (Some(text), None) => vec![text],
            (None, Some(texts)) => texts,
            (one, _) => {
                let found = if one.is_some() { "both" } else { "neither" };
                return Err(wrong("$", "a field `utterance` or a field `utterances`", found.to_owned()));
            }
        };
        let withhold = withhold(self.abstain_below, self.always_answer, app.withhold)?;
        let now = self.now.as_deref().map(moment).transpose()?;
        let (k, chart) = (self.k.unwrap_or(0), self.chart.unwrap_or(false));
        too_much("$.k".to_owned(), k, "alternatives", limits.max_k, "request fewer")?;
        // More than the queue holds could never be accepted.
        let most = limits.max_utterances.min(limits.queue);
        let hint = "send fewer, or raise --max-utterances and --queue";
        too_much("$.utterances".to_owned(), texts.len(), "utterances", most, hint)?;
        let shared = Ask {
            k,
            chart,
            withhold,
            now,
            context: self.context.map(Arc::new),
            execute: self.execute.unwrap_or(true),
            execute_alternatives: self.execute_alternatives.unwrap_or(false),
            cancelled: Arc::clone(&patience.0),
            deadline: Some(deadline),
            ..Ask::new("")
        };
        let ask = |(at, utterance): (usize, String)| {
            let n_words = Utterance::new(utterance.as_str()).len();
            let path = if is_single { "$.utterance".to_owned() } else { format!("$.utterances[{at}]") };
            too_much(path, n_words, "words", limits.max_words, "send fewer, or raise --max-words")?;
            Ok((Ask { utterance, ..shared.clone() }, n_words))
        };
        texts.into_iter().enumerate().map(ask).collect()
    }
}

/// Which programs a request wants to be withheld; without a wish, those of the server.
fn withhold(below: Option<f64>, always: Option<bool>, default: Withhold) -> Result<Withhold, Problem> {
    match (below, always) {
        (Some(share), _) if !(0.0..=1.0).contains(&share) => {
            Err(wrong("$.abstain_below", "a number from 0 to 1", share.to_string()))
        }
        (Some(share), Some(true)) => {
            let found = format!("`abstain_below` {share} as well");
            Err(wrong("$.always_answer", "true alone, or `abstain_below` alone", found))
        }
        (Some(share), _) => Ok(Withhold::Below(share)),
        (None, Some(true)) => Ok(Withhold::Never),
        // A server that always answers can still be asked not to.
        (None, Some(false)) if default == Withhold::Never => Ok(Withhold::Model),
        (None, _) => Ok(default),
    }
}

fn moment(text: &str) -> Result<Moment, Problem> {
    let found = || format!("`{}`", text.chars().take(40).collect::<String>().escape_debug());
    text.parse().map_err(|_| wrong("$.now", "a date such as 2011-03-05 or 2011-03-05T14:30", found()))
}

fn wrong(path: &str, expected: &str, found: String) -> Problem {
    Problem::BadField { path: path.to_owned(), expected: expected.to_owned(), found }
}

/// Sends utterances to the engine and waits for all of them.
async fn readings(
    app: &App,
    peer: Peer,
    loaded: &Loaded,
    asks: Vec<(Ask, usize)>,
) -> Result<Vec<Reading>, Problem> {
    let (mut jobs, mut waiting) = (Vec::with_capacity(asks.len()), Vec::with_capacity(asks.len()));
    for (ask, n_words) in asks {
        let (reply, receiver) = oneshot::channel();
        jobs.push(loaded.job(Work::Parse { ask, n_words, reply }));
        waiting.push(receiver);
    }
    app.submit(peer, jobs)?;
    let mut readings = Vec::with_capacity(waiting.len());
    for receiver in waiting {
        let reading = receiver.await.map_err(|_| Problem::Stopping)?;
        readings.push(reading.map_err(|failed| app.failed(failed))?);
    }
    Ok(readings)
}
