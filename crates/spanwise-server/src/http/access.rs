//! Who may talk to the server: the name it is called by, the pages that may use it, and the token.
//!
//! A page of any site can send requests to the loopback address of its reader, and can give that address a name of its own
//! (DNS rebinding). So a server on a loopback address answers only to names of that address, and only its own page and pages
//! of origins that were allowed.

use super::error::Problem;
use crate::limits::Config;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, Version, header};
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;
use subtle::ConstantTimeEq;

/// How long a browser may remember that a request is allowed, in seconds.
const REMEMBERED: &str = "600";

/// The rules of a server.
pub(crate) struct Access {
    token: Option<String>,
    is_loopback: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
}

/// What is known about a request that is let in.
pub(super) struct Visitor {
    /// The origin of the page that sent it, if that is of another site and was allowed.
    origin: Option<HeaderValue>,
}

impl Access {
    pub(crate) fn new(config: &Config) -> Self {
        let lower = |names: &[String]| names.iter().map(|name| name.to_ascii_lowercase()).collect();
        Self {
            token: config.token.clone(),
            is_loopback: config.addr.ip().to_canonical().is_loopback(),
            hosts: lower(&config.allowed_hosts),
            origins: lower(&config.cors_origins),
        }
    }

    /// Checks the host and the origin of a request.
    pub(super) fn admit(&self, version: Version, uri: &Uri, headers: &HeaderMap) -> Result<Visitor, Problem> {
        let is_checked = self.is_loopback || !self.hosts.is_empty();
        let host = host(uri, headers);
        if is_checked {
            match &host {
                Some(host) if self.is_own(host.host()) => {}
                // Only HTTP/1.0 allows to leave the host out, and no browser does.
                None if version < Version::HTTP_11
                    && !headers.contains_key(header::HOST)
                    && uri.authority().is_none() => {}
                found => {
                    let shown = found.as_ref().map_or("", Authority::as_str);
                    return Err(Problem::WrongHost(shown.chars().take(MAX_QUOTED).collect()));
                }
            }
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(origin) = origins.next() else { return Ok(Visitor { origin: None }) };
        if origins.next().is_some() {
            return Err(Problem::OtherOrigin("more than one".to_owned()));
        }
        let text = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        if self.origins.contains(&text) {
            return Ok(Visitor { origin: Some(origin.clone()) });
        }
        let is_same = text.split_once("://").is_some_and(|(scheme, origin)| {
            let own = host.as_ref().map(|host| host.as_str().to_ascii_lowercase());
            matches!(scheme, "http" | "https") && own.as_deref() == Some(origin)
        });
        if is_checked && !is_same {
            return Err(Problem::OtherOrigin(text.chars().take(MAX_QUOTED).collect()));
        }
        Ok(Visitor { origin: None })
    }

    /// Whether a host, without its port, is a name of this server.
    fn is_own(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = bare.parse::<IpAddr>().is_ok_and(|addr| addr.is_loopback());
        is_loopback || host == "localhost" || self.hosts.iter().any(|known| *known == host || known == bare)
    }

    /// Whether a request has the token, where the server has one.
    pub(super) fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        match given.split_at_checked(7) {
            Some((scheme, given)) if scheme.eq_ignore_ascii_case(b"bearer ") => {
                given.ct_eq(token.as_bytes()).into()
            }
            _ => false,
        }
    }
}

/// Most characters of a name that an error message repeats.
const MAX_QUOTED: usize = 80;

impl Visitor {
    /// The reply to a browser that asks whether a page of another origin may send a request.
    pub(super) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        let asks = method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !asks || self.origin.is_none() {
            return None;
        }
        let mut allowed = vec![
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type"),
            (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
        ];
        // A page of a public address asks before it talks to a private one.
        if headers.contains_key("access-control-request-private-network") {
            allowed.push((HeaderName::from_static("access-control-allow-private-network"), "true"));
        }
        let mut response = StatusCode::NO_CONTENT.into_response();
        for (name, value) in allowed {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        Some(response)
    }

    /// Lets a page of an allowed origin read the reply.
    pub(super) fn mark(self, headers: &mut HeaderMap) {
        let same_origin = HeaderValue::from_static("same-origin");
        let shared = self.origin.as_ref().map(|_| HeaderValue::from_static("cross-origin"));
        let policy = HeaderName::from_static("cross-origin-resource-policy");
        headers.insert(policy, shared.unwrap_or(same_origin));
        if let Some(origin) = self.origin {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("retry-after"));
            headers.append(header::VARY, HeaderValue::from_static("origin"));
        }
    }

    /// A request that was refused.
    pub(super) fn unknown() -> Self {
        Self { origin: None }
    }
}

/// The host that a request is sent to; `None` where there is none, or more than one.
fn host(uri: &Uri, headers: &HeaderMap) -> Option<Authority> {
    let mut given = headers.get_all(header::HOST).iter();
    let (first, more) = (given.next(), given.next());
    let named: Option<Authority> = first.and_then(|host| host.to_str().ok()?.parse().ok());
    match (uri.authority(), named) {
        _ if more.is_some() => None,
        // A request to a proxy names the host twice.
        (Some(authority), named) => (named.as_ref() == Some(authority)).then(|| authority.clone()),
        (None, named) => named.filter(|named| !named.as_str().contains('@')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(addr: &str, hosts: &[&str], origins: &[&str]) -> Access {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let mut config = Config::new(addr.parse().unwrap());
        (config.allowed_hosts, config.cors_origins) = (owned(hosts), owned(origins));
        Access::new(&config)
    }

    fn admits(access: &Access, host: Option<&str>, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        host.map(|host| headers.insert(header::HOST, host.parse().unwrap()));
        origin.map(|origin| headers.insert(header::ORIGIN, origin.parse().unwrap()));
        access.admit(Version::HTTP_11, &Uri::from_static("/"), &headers).is_ok()
    }

    #[test]
    fn only_names_of_the_loopback_address_reach_a_server_on_it() {
        for addr in ["127.0.0.1:80", "[::1]:80"] {
            let access = access(addr, &["box.lan"], &[]);
            for host in
                ["localhost", "LocalHost:8080", "127.0.0.1:1", "127.9.9.9", "[::1]", "[::1]:80", "BOX.lan:3"]
            {
                assert!(admits(&access, Some(host), None), "{host}");
            }
            for host in [
                "evil.example",
                "127.0.0.1.evil.example",
                "localhost.evil.example:80",
                "10.0.0.1",
                "[::2]",
                "u@localhost",
            ] {
                assert!(!admits(&access, Some(host), None), "{host}");
            }
            assert!(!admits(&access, None, None), "HTTP/1.1 has a host");
        }
    }

    #[test]
    fn elsewhere_every_name_is_fine_until_some_are_allowed() {
        let open = access("0.0.0.0:80", &[], &[]);
        assert!(
            admits(&open, Some("any.example"), None) && admits(&open, Some("any.example"), Some("http://b"))
        );
        let strict = access("0.0.0.0:80", &["api.example"], &[]);
        assert!(admits(&strict, Some("api.example:80"), None) && admits(&strict, Some("localhost"), None));
        assert!(!admits(&strict, Some("any.example"), None));
    }

    #[test]
    fn pages_of_other_origins_are_refused_unless_they_were_allowed() {
        let access = access("127.0.0.1:80", &[], &["https://App.example"]);
        for origin in ["http://localhost:80", "http://LOCALHOST:80", "https://app.example"] {
            assert!(admits(&access, Some("localhost:80"), Some(origin)), "{origin}");
        }
        for origin in [
            "null",
            "http://localhost:81",
            "http://localhost",
            "https://app.example:8443",
            "ftp://localhost:80",
            "",
        ] {
            assert!(!admits(&access, Some("localhost:80"), Some(origin)), "{origin}");
        }
    }
}
