//! Everything that can be wrong with a request, as JSON: `{"error": {"code", "message", "hint"}}`.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use spanwise_lang::diag::closest;

/// What is wrong, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: String,
    header: Option<(HeaderName, &'static str)>,
}

impl Problem {
    fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self { status, code, message: message.into(), hint: hint.into(), header: None }
    }

    fn with(mut self, name: HeaderName, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }

    /// The body is not JSON.
    pub(crate) fn bad_json(reason: &str) -> Self {
        let hint = "send a JSON object in UTF-8, such as {\"utterance\": \"...\"}";
        Self::new(StatusCode::BAD_REQUEST, "bad_json", format!("the body is not JSON: {reason}"), hint)
    }

    /// A field is not what it should be.
    pub(crate) fn bad_field(path: &str, expected: &str, found: &str) -> Self {
        let message = format!("{path}: expected {expected}, found {found}");
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message, "see /openapi.json for all fields")
    }

    /// A field that nobody knows.
    pub(crate) fn unknown_field(path: &str, name: &str, known: &[&str]) -> Self {
        let hint = match closest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        Self::new(StatusCode::BAD_REQUEST, "bad_request", format!("{path}: there is no such field"), hint)
    }

    /// A parameter that nobody knows.
    pub(crate) fn bad_query(key: &str, known: &str) -> Self {
        let message = format!("there is no parameter `{}`", key.escape_debug());
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message, format!("the only parameter is `{known}`"))
    }

    /// A parameter that cannot be read.
    pub(crate) fn bad_query_value(name: &str) -> Self {
        let message = format!("the parameter `{name}` is not UTF-8 behind its percent signs");
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message, "encode it as browsers do")
    }

    /// Who asks is not known.
    pub(crate) fn wrong_token() -> Self {
        let hint = "send the header `Authorization: Bearer TOKEN`";
        let message = "the token is missing or wrong";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message, hint)
            .with(header::WWW_AUTHENTICATE, "Bearer")
    }

    /// Nothing is there.
    pub(crate) fn no_route() -> Self {
        let hint = "see /openapi.json for all routes";
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is nothing at this path", hint)
    }

    /// A model of this name is not there.
    pub(crate) fn no_model<'a>(name: Option<&str>, known: impl Iterator<Item = &'a str> + Clone) -> Self {
        let name = name.unwrap_or_default();
        let hint = match closest(name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.collect::<Vec<_>>().join(", ")),
        };
        let message = format!("there is no model `{}`", name.escape_debug());
        Self::new(StatusCode::NOT_FOUND, "unknown_model", message, hint)
    }

    /// The path is right, the method is not.
    pub(crate) fn wrong_method() -> Self {
        let (message, hint) =
            ("this path does not take this method", "the header `Allow` says which it takes");
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message, hint)
    }

    /// The body did not come in time.
    pub(crate) fn slow_body(seconds: f64) -> Self {
        let message = format!("the body did not arrive within {seconds} seconds");
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", message, "send the whole body at once")
            .with(header::CONNECTION, "close")
    }

    /// The body broke off.
    pub(crate) fn broken_body() -> Self {
        let message = "the body ended before its announced length";
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message, "check Content-Length")
            .with(header::CONNECTION, "close")
    }

    /// The body is too large.
    pub(crate) fn large_body(limit: usize) -> Self {
        let message = format!("the body has more than {limit} bytes");
        let hint = "send fewer utterances at a time, or raise --max-body";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message, hint)
            .with(header::CONNECTION, "close")
    }

    /// Something is well-formed but more than the server takes; `option` raises the limit, unless it is empty.
    pub(crate) fn too_much(path: &str, found: usize, what: &str, limit: usize, option: &str) -> Self {
        let message = format!("{path}: {found} {what}, the most is {limit}");
        let hint = if option.is_empty() {
            "ask for less".to_owned()
        } else {
            format!("send less, or raise {option}")
        };
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "too_large", message, hint)
    }

    /// A program that is none, or that does not fit its context.
    pub(crate) fn bad_program(reason: String) -> Self {
        let hint = "programs are written as the model's replies have them";
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_program", reason, hint)
    }

    /// The domain of the model evaluates nothing.
    pub(crate) fn no_executor(domain: &str) -> Self {
        let message = format!("the domain {domain} has no [executor], so its programs have no value");
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "no_executor", message, "add one to the domain file")
    }

    /// Too much waits already.
    pub(crate) fn full(limit: usize) -> Self {
        let message = format!("{limit} utterances wait already");
        Self::new(StatusCode::TOO_MANY_REQUESTS, "overloaded", message, "try again in a second")
            .with(header::RETRY_AFTER, "1")
    }

    /// An engine broke down.
    pub(crate) fn broken() -> Self {
        let hint = "the server goes on; its log says more";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the parser broke down on this", hint)
    }

    /// The server ends.
    pub(crate) fn stopping() -> Self {
        let (message, hint) = ("the server is shutting down", "try another one, or again later");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "shutting_down", message, hint)
            .with(header::RETRY_AFTER, "5")
    }

    /// The server starts.
    pub(crate) fn not_ready() -> Self {
        let (message, hint) = ("the model is still being loaded", "wait until /readyz says 200");
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", message, hint).with(header::RETRY_AFTER, "1")
    }
}

/// The whole reply to a request whose head did not come in time, as bytes on the wire: no router has seen it.
pub(crate) fn slow_head(seconds: f64) -> String {
    let message = format!("the head of the request did not arrive within {seconds} seconds");
    let hint = "send the whole request at once";
    let body = Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", message, hint).body();
    format!(
        "HTTP/1.1 {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        StatusCode::REQUEST_TIMEOUT,
        body.len()
    )
}

impl Problem {
    fn body(&self) -> String {
        json!({ "error": { "code": self.code, "message": self.message, "hint": self.hint } }).to_string()
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = super::json(self.body());
        *response.status_mut() = self.status;
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }
}
