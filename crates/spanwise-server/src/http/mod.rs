//! The HTTP interface: the routes, and what is the same for all of them: the token, headers, metrics, the log.
//!
//! Handlers have a file per route and reach engines only through the queue. [`routes`] registers each handler under the
//! path in its `#[utoipa::path]`, so that the router and the OpenAPI document cannot differ.

mod access;
mod assets;
mod body;
mod error;
mod execute;
mod feedback;
mod health;
mod metrics;
mod model;
mod openapi;
mod parse;

use crate::engine::Withhold;
use crate::event::{Event, Listener};
use crate::journal::Journal;
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::models::{Loaded, Models, Slot};
use crate::queue::{Failed, Job, Queue, Rejected};
pub(crate) use access::Access;
use access::Visitor;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
pub(crate) use error::Problem;
use error::suggestion;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
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
    pub withhold: Withhold,
    pub body_time: Duration,
    pub reply_time: Duration,
    pub access: Access,
    /// The log of questions, if there is one.
    pub journal: Option<Journal>,
    pub stopping: watch::Receiver<bool>,
}

/// Tells engines that nobody waits any more when a request ends, however it does: the client has left, the time is over.
#[derive(Default)]
struct Patience(Arc<AtomicBool>);

impl Drop for Patience {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    pub addr: SocketAddr,
    /// Whether it can only check the health of the server, since all connections are in use.
    pub is_reserve: bool,
}

/// The routes of the interface with their description; the files of the page are not among them.
fn routes() -> (Router<Arc<App>>, OpenApi) {
    let (router, mut document) = OpenApiRouter::with_openapi(openapi::Document::openapi())
        .routes(routes!(parse::parse))
        .routes(routes!(execute::execute))
        .routes(routes!(feedback::feedback))
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

/// Whether a path is answered whatever the server is busy with.
fn is_health(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// Checks the host, the origin and the token, adds headers, counts and logs, for every request.
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
    let peer = request.extensions().get::<Peer>().copied();
    let is_reserve = peer.is_some_and(|peer| peer.is_reserve);
    let admitted = app.access.admit(request.version(), request.uri(), request.headers());
    let (visitor, mut response) = match admitted {
        Err(problem) => (Visitor::unknown(), problem.into_response()),
        Ok(visitor) if is_reserve && !is_health(&path) => (visitor, Problem::Crowded.into_response()),
        Ok(visitor) => {
            let response = match visitor.preflight(request.method(), request.headers()) {
                Some(response) => response,
                None if is_guarded(&path) && !app.access.is_authorized(request.headers()) => {
                    Problem::WrongToken.into_response()
                }
                None => next.run(request).await,
            };
            (visitor, response)
        }
    };
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    visitor.mark(headers);
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if *app.stopping.borrow() || is_reserve {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let (status, took) = (response.status().as_u16(), start.elapsed());
    app.metrics.request(&route, method.as_str(), status, took);
    if let Some(peer) = peer {
        (app.listener)(Event::Request { peer: peer.addr, method: method.to_string(), path, status, took });
    }
    response
}

impl App {
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

    /// When the time of a request that has just arrived is over.
    fn deadline(&self) -> Instant {
        Instant::now() + self.reply_time
    }

    /// The result of work that is given up at the deadline.
    async fn in_time<T>(&self, deadline: Instant, work: impl Future<Output = T>) -> Result<T, Problem> {
        let done = tokio::time::timeout_at(deadline.into(), work).await;
        // An engine that gives up at the deadline returns something as well.
        let done = done.ok().filter(|_| Instant::now() < deadline);
        done.ok_or(Problem::Late(self.reply_time.as_secs_f64()))
    }

    /// The reply to work that was accepted and has no result.
    fn failed(&self, failed: Failed) -> Problem {
        match failed {
            Failed::Engine => Problem::EngineFailed,
            Failed::Displaced => Problem::Full(self.limits.queue),
        }
    }

    /// Puts the jobs of a request into the queue: all of them or none.
    fn submit(&self, peer: Peer, jobs: Vec<Job>) -> Result<(), Problem> {
        self.queue.submit(peer.addr.ip(), jobs).map_err(|rejected| match rejected {
            Rejected::Full => Problem::Full(self.limits.queue),
            Rejected::Closed => Problem::Stopping,
        })
    }
}
