//! The HTTP interface: the routes, and what is the same for all of them: the token, headers, metrics, the log.
//!
//! Handlers have a file per route and reach engines only through the queue. [`routes`] registers each handler under the
//! path in its `#[utoipa::path]`, so that the router and the OpenAPI document cannot differ.

mod assets;
mod body;
mod error;
mod execute;
mod health;
mod metrics;
mod model;
mod openapi;
mod parse;

use crate::event::{Event, Listener};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::models::{Loaded, Models, Slot};
use crate::queue::{Job, Queue, Rejected};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
pub(crate) use error::slow_head;
use error::{Problem, suggestion};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use subtle::ConstantTimeEq;
use tokio::sync::watch;
use utoipa::openapi::OpenApi;
use utoipa::{Modify, OpenApi as _};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The state that handlers share.
pub(crate) struct App {
    pub models: Arc<Models>,
    pub queue: Arc<Queue>,
    pub metrics: Arc<Metrics>,
    pub listener: Listener,
    pub limits: Limits,
    pub body_time: Duration,
    pub token: Option<String>,
    pub stopping: watch::Receiver<bool>,
}

/// The address of the client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub SocketAddr);

/// The routes of the interface with their description; the files of the page are not among them.
fn routes() -> (Router<Arc<App>>, OpenApi) {
    let (router, mut document) = OpenApiRouter::with_openapi(openapi::Document::openapi())
        .routes(routes!(parse::parse))
        .routes(routes!(execute::execute))
        .routes(routes!(model::model))
        .routes(routes!(model::models))
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(metrics::metrics))
        .routes(routes!(openapi::document))
        .routes(routes!(assets::page))
        .split_for_parts();
    openapi::Common.modify(&mut document);
    (router, document)
}

pub(crate) fn router(app: Arc<App>) -> Router {
    let (mut router, document) = routes();
    for asset in assets::FILES {
        router = router.route(asset.path, get(|| async { asset.response() }));
    }
    router
        .fallback(|| async { Problem::NoRoute })
        .method_not_allowed_fallback(|| async { Problem::WrongMethod })
        .layer(Extension(Arc::new(document)))
        .layer(middleware::from_fn_with_state(Arc::clone(&app), around))
        .with_state(app)
}

/// Whether a path requires the token.
fn is_guarded(path: &str) -> bool {
    path.starts_with("/v1/") || path == "/metrics"
}

/// Checks the token, adds headers, counts and logs, for every request.
async fn around(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let matched = request.extensions().get::<MatchedPath>();
    // A path that a client made up must not become a label.
    let route = match matched.map(MatchedPath::as_str) {
        Some(path) if path.starts_with("/assets/") => "/assets".to_owned(),
        Some(path) => path.to_owned(),
        None => "other".to_owned(),
    };
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
    let mut response = if is_guarded(&path) && !app.is_authorized(request.headers()) {
        Problem::WrongToken.into_response()
    } else {
        next.run(request).await
    };
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if *app.stopping.borrow() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let (status, took) = (response.status().as_u16(), start.elapsed());
    app.metrics.request(&route, method.as_str(), status, took);
    if let Some(peer) = peer {
        (app.listener)(Event::Request { peer, method: method.to_string(), path, status, took });
    }
    response
}

impl App {
    /// Whether a request has the token, where the server has one.
    fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        match given.split_at_checked(7) {
            Some((scheme, given)) if scheme.eq_ignore_ascii_case(b"bearer ") => {
                given.ct_eq(token.as_bytes()).into()
            }
            _ => false,
        }
    }

    /// The model that a request names, or the first.
    fn slot(&self, name: Option<&str>) -> Result<&Slot, Problem> {
        self.models.find(name).ok_or_else(|| {
            let name = name.unwrap_or_default().to_owned();
            let hint = suggestion(&name, self.models.slots.iter().map(|slot| slot.name.as_str()));
            Problem::NoModel { name, hint }
        })
    }

    /// The same, with the engine that serves now.
    fn model(&self, name: Option<&str>) -> Result<(&Slot, Loaded), Problem> {
        let slot = self.slot(name)?;
        Ok((slot, slot.current().ok_or(Problem::NotReady)?))
    }

    /// Puts jobs into the queue: all of them or none.
    fn submit(&self, jobs: Vec<Job>) -> Result<(), Problem> {
        self.queue.submit(jobs).map_err(|rejected| match rejected {
            Rejected::Full => Problem::Full(self.limits.queue),
            Rejected::Closed => Problem::Stopping,
        })
    }
}
