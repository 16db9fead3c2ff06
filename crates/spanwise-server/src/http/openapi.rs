//! `GET /openapi.json`: the OpenAPI document, generated from the routes and the types of requests and replies.

use super::error::ProblemBody;
use super::is_guarded;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{self, OpenApi, Ref, RefOr};
use utoipa::{IntoResponses, Modify};

/// The document without its paths, which the router adds.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "Spanwise", description = "Utterances to programs and answers, with the trees that explain them."),
    components(schemas(ProblemBody), responses(ProblemBody)),
    security((), ("token" = [])),
)]
pub(super) struct Document;

/// The error replies of routes that run an engine.
pub(super) struct EngineProblems;

impl IntoResponses for EngineProblems {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        [404, 408, 413, 415, 422, 429, 500].map(|status| (status.to_string(), problem())).into()
    }
}

fn problem() -> RefOr<openapi::Response> {
    Ref::from_response_name("ProblemBody").into()
}

/// Adds what is the same for all routes: the token, and the replies that the middleware gives.
pub(super) struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut OpenApi) {
        for (path, item) in &mut document.paths.paths {
            for operation in item.get.iter_mut().chain(&mut item.post) {
                let responses = &mut operation.responses.responses;
                // Also what is wrong with a request before it has a route, and with the server as a whole.
                let mut statuses = vec!["400", "403", "405", "414", "421", "431"];
                statuses.extend(is_guarded(path).then_some("401"));
                statuses.extend((path != "/healthz").then_some("503"));
                for status in statuses {
                    responses.entry(status.to_owned()).or_insert_with(problem);
                }
            }
        }
        let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
        document.components.get_or_insert_default().add_security_scheme("token", bearer);
    }
}

/// This document
#[utoipa::path(get, path = "/openapi.json", security(()), responses(
    (status = 200, description = "OpenAPI 3.1", body = Object, content_type = "application/json"),
))]
pub(crate) async fn document(Extension(document): Extension<Arc<OpenApi>>) -> Response {
    Json(&*document).into_response()
}
