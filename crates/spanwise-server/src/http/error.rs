//! Everything that can be wrong with a request, and the reply for it.

use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use spanwise_lang::diag::closest;
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
            Self::Full(_) | Self::NotReady => Some((header::RETRY_AFTER, "1")),
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

/// The whole reply, as bytes on the wire, to a request whose head did not arrive in time: it never reached the router.
pub(crate) fn slow_head(seconds: f64) -> String {
    let problem = Problem::Timeout { part: "head of the request", seconds };
    let body = serde_json::to_string(&problem.body()).unwrap_or_default();
    format!(
        "HTTP/1.1 {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        problem.parts().0,
        body.len()
    )
}
