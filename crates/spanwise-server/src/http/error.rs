//! Everything that can be wrong with a request, and the reply for it.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use spanwise_lang::diag::closest;
use std::time::Duration;
use utoipa::{ToResponse, ToSchema};

/// What is wrong. The message of the error is the message of the reply.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub(crate) enum Problem {
    #[error("the body is not JSON: {0}")]
    BadJson(String),
    #[error("{path}: expected {expected}, found {found}")]
    BadField { path: String, expected: String, found: String },
    #[error("{path}: there is no such field")]
    UnknownField { path: String, hint: String },
    #[error("the query cannot be read: {0}")]
    BadQuery(String),
    #[error("the body ended before its announced length")]
    BrokenBody,
    #[error("the token is missing or wrong")]
    WrongToken,
    #[error("this server is not called `{}`", .0.escape_debug())]
    WrongHost(String),
    #[error("pages of `{}` may not use this server", .0.escape_debug())]
    OtherOrigin(String),
    #[error("the body is {}, not JSON", kind(.0))]
    NotJson(String),
    #[error("the head of the request is not HTTP/1.1")]
    BadHead,
    #[error("the path and query are too long")]
    LongPath,
    #[error("the head of the request is too large")]
    LargeHead,
    #[error("all connections are in use")]
    Crowded,
    #[error("the reply was not ready within {0} seconds")]
    Late(f64),
    #[error("there is nothing at this path")]
    NoRoute,
    #[error("there is no model `{}`", name.escape_debug())]
    NoModel { name: String, hint: String },
    #[error("this path does not accept this method")]
    WrongMethod,
    #[error("the {part} did not arrive within {seconds} seconds")]
    Timeout { part: &'static str, seconds: f64 },
    #[error("the body has more than {0} bytes")]
    LargeBody(usize),
    #[error("{path}: {found} {what}, the maximum is {limit}")]
    TooMuch { path: String, found: usize, what: &'static str, limit: usize, hint: &'static str },
    #[error("{0}")]
    BadProgram(String),
    #[error("the domain {0} has no [executor], so its programs have no value")]
    NoExecutor(String),
    #[error("the queue is full: {0} utterances and programs wait already")]
    Full(usize),
    #[error("this server keeps no log of questions")]
    NoLog,
    #[error("there is no question of this id; it may be too old, or the server has been started again since")]
    NoQuestion,
    #[error("the judgement could not be written")]
    LogFailed,
    #[error("the parser failed on this request")]
    EngineFailed,
    #[error("the server is shutting down")]
    Stopping,
    #[error("the model is still being loaded")]
    NotReady,
}

/// The body of an error reply.
#[derive(Serialize, ToSchema, ToResponse)]
#[schema(as = Problem)]
#[response(description = "What is wrong, and what to do about it")]
pub(crate) struct ProblemBody {
    error: Detail,
}

/// What is wrong, and what to do about it.
#[derive(Serialize, ToSchema)]
struct Detail {
    /// A name for programs, such as `bad_request`.
    code: &'static str,
    /// What is wrong.
    message: String,
    /// What to do about it.
    hint: String,
}

impl Problem {
    /// The status and the code of the reply, with a hint.
    fn parts(&self) -> (StatusCode, &'static str, &str) {
        use StatusCode as S;
        match self {
            Self::BadJson(_) => {
                (S::BAD_REQUEST, "bad_json", "send a JSON object in UTF-8, such as {\"utterance\": \"...\"}")
            }
            Self::BadField { .. } => (S::BAD_REQUEST, "bad_request", "see /openapi.json for all fields"),
            Self::UnknownField { hint, .. } => (S::BAD_REQUEST, "bad_request", hint),
            Self::BadQuery(_) => (S::BAD_REQUEST, "bad_request", "see /openapi.json for all parameters"),
            Self::BrokenBody => (S::BAD_REQUEST, "bad_request", "check Content-Length"),
            Self::WrongToken => {
                (S::UNAUTHORIZED, "unauthorized", "send the header `Authorization: Bearer TOKEN`")
            }
            Self::WrongHost(_) => (
                S::MISDIRECTED_REQUEST,
                "wrong_host",
                "send the request to localhost or 127.0.0.1, or start the server with --allow-host NAME",
            ),
            Self::OtherOrigin(_) => (
                S::FORBIDDEN,
                "other_origin",
                "start the server with --cors-origin ORIGIN to allow the pages of an origin",
            ),
            Self::NotJson(_) => (
                S::UNSUPPORTED_MEDIA_TYPE,
                "not_json",
                "send the header `Content-Type: application/json`; with curl, use --json instead of -d",
            ),
            Self::BadHead => (S::BAD_REQUEST, "bad_head", "send a request of HTTP/1.1, without TLS"),
            Self::LongPath => (S::URI_TOO_LONG, "long_path", "send data in the body of a POST request"),
            Self::LargeHead => (
                S::REQUEST_HEADER_FIELDS_TOO_LARGE,
                "head_too_large",
                "send fewer and shorter header fields: at most 100, and 64 KiB together",
            ),
            Self::Crowded => (S::SERVICE_UNAVAILABLE, "crowded", "try again in a second"),
            Self::Late(_) => (
                S::SERVICE_UNAVAILABLE,
                "too_slow",
                "send fewer or shorter utterances, try again later, or raise --timeout",
            ),
            Self::NoRoute => (S::NOT_FOUND, "not_found", "see /openapi.json for all routes"),
            Self::NoModel { hint, .. } => (S::NOT_FOUND, "unknown_model", hint),
            Self::WrongMethod => {
                (S::METHOD_NOT_ALLOWED, "method_not_allowed", "the header `Allow` lists the methods")
            }
            Self::Timeout { .. } => (S::REQUEST_TIMEOUT, "timeout", "send the whole request at once"),
            Self::LargeBody(_) => (
                S::PAYLOAD_TOO_LARGE,
                "body_too_large",
                "send fewer utterances at a time, or raise --max-body",
            ),
            Self::TooMuch { hint, .. } => (S::UNPROCESSABLE_ENTITY, "too_large", hint),
            Self::BadProgram(_) => {
                (S::UNPROCESSABLE_ENTITY, "bad_program", "write programs as the model's replies have them")
            }
            Self::NoExecutor(_) => (S::UNPROCESSABLE_ENTITY, "no_executor", "add one to the domain file"),
            Self::Full(_) => (S::TOO_MANY_REQUESTS, "overloaded", "try again in a second"),
            Self::NoLog => (S::NOT_FOUND, "no_log", "start the server with --log FILE"),
            Self::NoQuestion => (S::NOT_FOUND, "unknown_id", "ask again, and judge the new reply"),
            Self::LogFailed => (S::SERVICE_UNAVAILABLE, "log_failed", "the log of the server has the reason"),
            Self::EngineFailed => {
                (S::INTERNAL_SERVER_ERROR, "internal", "the server continues; its log has the reason")
            }
            Self::Stopping => (S::SERVICE_UNAVAILABLE, "shutting_down", "try another server, or again later"),
            Self::NotReady => (S::SERVICE_UNAVAILABLE, "not_ready", "wait until /readyz returns 200"),
        }
    }

    fn header(&self) -> Option<(HeaderName, &'static str)> {
        match self {
            Self::WrongToken => Some((header::WWW_AUTHENTICATE, "Bearer")),
            Self::Timeout { .. } | Self::BrokenBody | Self::LargeBody(_) => {
                Some((header::CONNECTION, "close"))
            }
            Self::Full(_) | Self::NotReady | Self::Late(_) => Some((header::RETRY_AFTER, "1")),
            Self::Stopping => Some((header::RETRY_AFTER, "5")),
            _ => None,
        }
    }

    fn body(&self) -> ProblemBody {
        let (_, code, hint) = self.parts();
        ProblemBody { error: Detail { code, message: self.to_string(), hint: hint.to_owned() } }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.parts().0, Json(self.body())).into_response();
        if let Some((name, value)) = self.header() {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}

/// The hint for a name that is not known.
pub(crate) fn suggestion<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match closest(name, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
    }
}

/// How a message names the kind of a body.
fn kind(given: &str) -> String {
    if given.is_empty() { "of no stated type".to_owned() } else { format!("`{}`", given.escape_debug()) }
}

impl Problem {
    /// The problem of a request whose head did not arrive in time.
    pub(crate) fn slow_head(limit: Duration) -> Self {
        Self::Timeout { part: "head of the request", seconds: limit.as_secs_f64() }
    }

    /// The problem for which Hyper would reply with this status and an empty body.
    pub(crate) fn of_head(status: u16) -> Self {
        match status {
            414 => Self::LongPath,
            431 => Self::LargeHead,
            _ => Self::BadHead,
        }
    }

    /// The whole reply, as bytes on the wire, to a request that never reached the router. The connection ends with it.
    pub(crate) fn on_the_wire(&self) -> Vec<u8> {
        let body = serde_json::to_string(&self.body()).unwrap_or_default();
        let head = format!(
            "HTTP/1.1 {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\ncache-control: no-store\r\n\
             x-content-type-options: nosniff\r\nconnection: close\r\n\r\n",
            self.parts().0,
            body.len()
        );
        (head + &body).into_bytes()
    }
}
