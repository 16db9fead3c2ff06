//! An executor that is a server, reached over plain http.
//!
//! Every program is one `POST` of JSON to one address. The address is spoken to directly: neither proxies
//! named in the environment nor redirects are followed, so a token goes nowhere else.

use super::{MAX_MESSAGE_BYTES, MAX_QUOTED_CHARS, MAX_TIMEOUT, Question, Reply, excerpt, quote};
use crate::exec::{Denotation, ExecError, Executor};
use serde_json::Value;
use spanwise_lang::{Style, TermId, Terms};
use std::io::{self, Read};
use std::time::Duration;
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE};
use ureq::http::{HeaderValue, Response, Uri};
use ureq::{Agent, Body, Error};

/// Longest time to connect, where the whole request may take longer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Most bytes read of the body of a failed request.
const ERROR_BODY_BYTES: u64 = 2 << 10;

/// How to reach an [`HttpExecutor`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpConfig {
    /// Where to post: `http://host:port/path`.
    pub url: String,
    /// Longest time for one request, from the look-up of the host to the end of the reply. At most
    /// [`MAX_TIMEOUT`].
    pub timeout: Duration,
    /// How programs are written.
    pub style: Style,
    /// The environment variable that holds a bearer token to send along.
    pub token_variable: Option<String>,
}

/// Evaluates programs on a server; see the [module](super) for the messages.
///
/// Requests of several threads run side by side.
#[derive(Debug)]
pub struct HttpExecutor {
    agent: Agent,
    url: Uri,
    /// The address without its query, for messages.
    name: String,
    timeout: Duration,
    style: Style,
    authorization: Option<HeaderValue>,
}

impl HttpExecutor {
    /// An executor that connects at the first request. The token is read now.
    ///
    /// # Errors
    /// When the address is not one of plain http, or the token's variable is not set.
    pub fn new(config: HttpConfig) -> Result<Self, ExecError> {
        let url = checked_url(&config.url).map_err(ExecError::External)?;
        let name = format!("http://{}{}", url.authority().map_or("", |host| host.as_str()), url.path());
        let authorization = config.token_variable.as_deref().map(authorization).transpose();
        let timeout = config.timeout.min(MAX_TIMEOUT);
        let agent = Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(timeout))
            .timeout_connect(Some(timeout.min(CONNECT_TIMEOUT)))
            .build()
            .new_agent();
        Ok(Self {
            agent,
            url,
            name: excerpt(&name, MAX_QUOTED_CHARS),
            timeout,
            style: config.style,
            authorization: authorization.map_err(ExecError::External)?,
        })
    }

    /// Posts the request and returns the body of the reply; the error says what went wrong.
    fn post(&self, request: &[u8]) -> Result<Vec<u8>, String> {
        let mut post = self.agent.post(self.url.clone()).header(CONTENT_TYPE, "application/json");
        if let Some(authorization) = &self.authorization {
            post = post.header(AUTHORIZATION, authorization);
        }
        let mut response = post.send(request).map_err(|error| self.explain(error))?;
        if !response.status().is_success() {
            return Err(refusal(&mut response));
        }
        let body = response.body_mut().with_config().limit(MAX_MESSAGE_BYTES as u64).read_to_vec();
        body.map_err(|error| self.explain(error))
    }

    fn explain(&self, error: Error) -> String {
        match error {
            Error::Timeout(ureq::Timeout::Connect) => {
                format!("accepted no connection within {:?}", self.timeout.min(CONNECT_TIMEOUT))
            }
            Error::Timeout(_) => format!("gave no answer within {:?}", self.timeout),
            Error::BodyExceedsLimit(_) => format!("sent a reply of more than {} MB", MAX_MESSAGE_BYTES >> 20),
            Error::HostNotFound => "cannot be reached: there is no such host".to_owned(),
            Error::Io(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused => {
                    "cannot be reached: connection refused; is the server running, and on this port?"
                        .to_owned()
                }
                io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
                    "closed the connection before its reply was complete".to_owned()
                }
                _ => format!("cannot be reached: {error}"),
            },
            Error::Protocol(error) => format!("does not speak http: {error}"),
            other => format!("cannot be asked: {other}"),
        }
    }
}

impl Executor for HttpExecutor {
    fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&Value>,
    ) -> Result<Denotation, ExecError> {
        let request = Question { terms, program, context, style: &self.style }.request(None)?;
        let parse = |body: Vec<u8>| Reply::parse(&body).map_err(|what| format!("answered nonsense ({what})"));
        let reply = self.post(&request).and_then(parse).map_err(|what| {
            let shown = quote(&request);
            ExecError::External(format!("external executor `{}`, asked `{shown}`, {what}", self.name))
        })?;
        reply.result
    }
}

/// What to say of a reply that is not a success.
fn refusal(response: &mut Response<Body>) -> String {
    let mut body = Vec::new();
    // The status is the news; a body that cannot be read adds nothing.
    let _ = response.body_mut().as_reader().take(ERROR_BODY_BYTES).read_to_end(&mut body);
    let status = response.status();
    match quote(&body) {
        empty if empty.is_empty() => format!("answered with status {status}"),
        shown => format!("answered with status {status}: `{shown}`"),
    }
}

/// Whether an address can be used.
pub(in crate::exec) fn check_url(text: &str) -> Result<(), String> {
    checked_url(text).map(drop)
}

fn checked_url(text: &str) -> Result<Uri, String> {
    let expected = "expected the address of an external executor, such as `http://localhost:8000/`";
    // Asked before anything is shown of it.
    if text.split(['/', '?', '#']).nth(2).is_some_and(|host| host.contains('@')) {
        return Err(format!("{expected}, got one with a password in it; put a token into the environment"));
    }
    let shown = excerpt(text, MAX_QUOTED_CHARS);
    let url: Uri = text.trim().parse().map_err(|error| format!("{expected}, got `{shown}`: {error}"))?;
    match url.scheme_str().map(str::to_ascii_lowercase).as_deref() {
        Some("https") => Err(format!(
            "this build speaks plain http only and cannot ask `{shown}`; use an http address, \
             or a local proxy that adds the encryption"
        )),
        Some("http") if has_host_and_port(&url) => Ok(url),
        _ => Err(format!("{expected}, got `{shown}`")),
    }
}

/// Whether a host is named and the port, if any, is one: a number that is too large would mean port 80.
fn has_host_and_port(url: &Uri) -> bool {
    let Some((host, authority)) = url.host().zip(url.authority()) else { return false };
    !host.is_empty() && (authority.as_str() == host || authority.port_u16().is_some())
}

/// The header that carries the token in the environment variable `name`.
fn authorization(name: &str) -> Result<HeaderValue, String> {
    let expected = format!("expected a token in the environment variable `{name}`");
    let token = std::env::var_os(name).filter(|token| !token.is_empty());
    let token = token.ok_or_else(|| format!("{expected}, which is not set"))?;
    let header = token.to_str().map(|token| HeaderValue::from_str(&format!("Bearer {}", token.trim())));
    let mut header = match header {
        Some(Ok(header)) => header,
        _ => return Err(format!("{expected}, got characters that no http header may hold")),
    };
    header.set_sensitive(true);
    Ok(header)
}
