//! HTTP: routes, and what is the same for all of them: who may ask, headers, numbers, the log.
//!
//! Requests come in; handlers, one per file, make replies of the types in `types.rs`. Engines are only reached through
//! the queue.

mod assets;
mod body;
mod error;
mod execute;
mod fields;
mod health;
mod metrics;
mod model;
mod models;
mod openapi;
mod parse;
mod types;

use crate::event::{Event, Listener};
use crate::limits::Limits;
use crate::metrics::Metrics;
use crate::models::{Loaded, Models, Slot};
use crate::queue::Queue;
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use error::Problem;
pub(crate) use error::slow_head;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// What handlers work with.
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

/// Who is at the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub SocketAddr);

/// Every route of the interface: method and path. The page has more, below `/assets/`.
pub const ROUTES: &[(&str, &str)] = &[
    ("POST", "/v1/parse"),
    ("POST", "/v1/execute"),
    ("GET", "/v1/model"),
    ("GET", "/v1/models"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
    ("GET", "/openapi.json"),
    ("GET", "/"),
];

pub(crate) fn router(app: Arc<App>) -> Router {
    let mut router = Router::new()
        .route("/v1/parse", post(parse::handle))
        .route("/v1/execute", post(execute::handle))
        .route("/v1/model", get(model::handle))
        .route("/v1/models", get(models::handle))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::handle))
        .route("/openapi.json", get(openapi::handle));
    for asset in assets::ALL {
        router = router.route(asset.path, get(move || async move { asset.response() }));
    }
    router
        .fallback(|| async { Problem::no_route().into_response() })
        .method_not_allowed_fallback(|| async { Problem::wrong_method().into_response() })
        .layer(middleware::from_fn_with_state(Arc::clone(&app), around))
        .with_state(app)
}

/// Routes that only those who know the token may use.
fn is_guarded(path: &str) -> bool {
    path.starts_with("/v1/") || path == "/metrics"
}

/// What happens around every handler.
async fn around(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let route = route(request.extensions().get::<MatchedPath>());
    let peer = request.extensions().get::<Peer>().map(|peer| peer.0);
    let mut response = if is_guarded(&path) && !app.is_known(request.headers()) {
        Problem::wrong_token().into_response()
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
    app.metrics.request(route, method.as_str(), status, took);
    if let Some(peer) = peer {
        (app.listener)(Event::Request { peer, method: method.to_string(), path, status, took });
    }
    response
}

/// The route for the numbers; clients must not make up new ones.
fn route(matched: Option<&MatchedPath>) -> &'static str {
    let Some(matched) = matched.map(MatchedPath::as_str) else { return "other" };
    let known = ROUTES.iter().map(|&(_, path)| path).find(|&path| path == matched);
    known.unwrap_or("/assets")
}

impl App {
    /// Whether a request may use guarded routes.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        let given = match given.split_at_checked(7) {
            Some((scheme, given)) if scheme.eq_ignore_ascii_case(b"bearer ") => given,
            _ => return false,
        };
        // The time this takes must not tell how much of the token was right.
        let differs = given.iter().zip(token.as_bytes()).fold(0, |differs, (a, b)| differs | (a ^ b));
        given.len() == token.len() && differs == 0
    }

    /// The model that a request names, or the first.
    fn model(&self, name: Option<&str>) -> Result<(&Slot, Loaded), Problem> {
        let names = || self.models.slots.iter().map(|slot| slot.name.as_str());
        let slot = self.models.find(name).ok_or_else(|| Problem::no_model(name, names()))?;
        let loaded = slot.current().ok_or_else(Problem::not_ready)?;
        Ok((slot, loaded))
    }
}

/// A reply as JSON.
fn json(text: String) -> Response {
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
}

/// The value of a parameter of a query; `Err` for a parameter nobody knows.
fn parameter(query: Option<&str>, name: &str) -> Result<Option<String>, Problem> {
    let mut found = None;
    for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if key != name {
            return Err(Problem::bad_query(key, name));
        }
        found = Some(decoded(value).ok_or_else(|| Problem::bad_query_value(name))?);
    }
    Ok(found)
}

/// Takes the percent signs out of a text.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_are_read_and_broken_ones_refused() {
        assert_eq!(decoded("a%20b+c%C3%A9").as_deref(), Some("a b cé"));
        for bad in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decoded(bad), None, "{bad}");
        }
    }
}
