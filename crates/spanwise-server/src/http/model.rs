//! `GET /v1/model` and `GET /v1/models`: the models of the server.

#![allow(unused_qualifications, reason = "in code that utoipa generates")]

use super::App;
use super::error::{Problem, ProblemBody};
use crate::engine::{ModelInfo, Withhold};
use crate::models::Slot;
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use utoipa::{IntoParams, ToSchema};

/// A model: what it is, since when it serves, and what is wrong with its newest files.
#[derive(Serialize, ToSchema)]
pub(crate) struct Model {
    /// The name that requests use.
    name: String,
    /// Whether it serves.
    ready: bool,
    /// How many times it has been loaded.
    generation: u64,
    /// Why the newest files do not load; an older model continues to serve.
    load_error: Option<String>,
    /// When it was loaded, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    loaded_at: Option<u64>,
    /// Whether the model has a threshold, so that it can tell which of its answers to withhold.
    calibrated: bool,
    /// The probability below which answers are withheld from requests that do not say otherwise: the threshold, unless the
    /// server was started with another; `null` where nothing is withheld.
    withhold_below: Option<f64>,
    /// Empty as long as the model has not been loaded.
    #[serde(flatten)]
    info: ModelInfo,
}

impl Model {
    fn new(slot: &Slot, withhold: Withhold) -> Self {
        let current = slot.current();
        let seconds = |at: std::time::SystemTime| at.duration_since(UNIX_EPOCH).map_or(0, |at| at.as_secs());
        let info = current.as_ref().map(|loaded| ModelInfo::clone(&loaded.info)).unwrap_or_default();
        Self {
            name: slot.name.clone(),
            ready: current.is_some(),
            generation: current.as_ref().map_or(0, |loaded| loaded.generation),
            load_error: slot.problem(),
            loaded_at: current.as_ref().map(|loaded| seconds(loaded.at)),
            calibrated: info.threshold.is_some(),
            withhold_below: withhold.below(info.threshold),
            info,
        }
    }
}

/// All models of the server.
#[derive(Serialize, ToSchema)]
pub(crate) struct Models {
    /// The models; the first serves requests that name none.
    models: Vec<Model>,
    /// Whether the server keeps a log of questions and takes judgements of its replies.
    feedback: bool,
}

/// Which model is requested.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ModelQuery {
    /// The name of the model; without it, the first.
    name: Option<String>,
}

/// Describe one model
#[utoipa::path(get, path = "/v1/model", params(ModelQuery), responses(
    (status = 200, description = "The model", body = Model),
    (status = 400, response = ProblemBody),
    (status = 404, response = ProblemBody),
))]
pub(crate) async fn model(
    State(app): State<Arc<App>>,
    query: Result<Query<ModelQuery>, QueryRejection>,
) -> Result<Json<Model>, Problem> {
    let Query(query) = query.map_err(|rejection| Problem::BadQuery(rejection.body_text()))?;
    Ok(Json(Model::new(app.slot(query.name.as_deref())?, app.withhold)))
}

/// Describe all models
#[utoipa::path(get, path = "/v1/models", responses((status = 200, description = "The models", body = Models)))]
pub(crate) async fn models(State(app): State<Arc<App>>) -> Json<Models> {
    let model = |slot: &Slot| Model::new(slot, app.withhold);
    Json(Models { models: app.models.slots.iter().map(model).collect(), feedback: app.journal.is_some() })
}
