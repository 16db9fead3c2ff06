//! Pages of other sites cannot use a server on the loopback address.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Client, Fake, Reply, Running, config, serve};

const BODY: &[u8] = br#"{"utterance": "x"}"#;

fn post(server: &Running, headers: &[(&str, &str)]) -> Reply {
    Client::new(server.addr).send("POST", "/v1/parse", headers, BODY)
}

#[test]
fn a_host_that_is_not_of_the_loopback_address_is_refused_on_every_route() {
    let server = serve(config(), || Fake::new("say"));
    for path in ["/", "/healthz", "/metrics", "/v1/models", "/openapi.json", "/assets/app.js"] {
        let reply = Client::new(server.addr).send("GET", path, &[("Host", "evil.example:8080")], b"");
        assert_eq!((reply.status, reply.code().as_str()), (421, "wrong_host"), "{path}");
        assert_eq!(reply.message(), "this server is not called `evil.example:8080`");
    }
    assert_eq!(post(&server, &[("Host", "evil.example")]).status, 421);
    let addr = server.addr.to_string();
    for host in ["localhost", "127.0.0.1", "[::1]:9", addr.as_str()] {
        assert_eq!(post(&server, &[("Host", host)]).status, 200, "{host}");
    }
    let mut config = config();
    config.allowed_hosts = vec!["box.lan".to_owned()];
    let server = serve(config, || Fake::new("say"));
    assert_eq!(post(&server, &[("Host", "box.lan:80")]).status, 200);
    assert_eq!(post(&server, &[("Host", "box.lan.evil.example")]).status, 421);
}

#[test]
fn a_page_of_another_origin_is_refused_and_the_own_page_is_not() {
    let server = serve(config(), || Fake::new("say"));
    for origin in ["https://evil.example", "null", "http://localhost:1"] {
        let reply = post(&server, &[("Origin", origin)]);
        assert_eq!((reply.status, reply.code().as_str()), (403, "other_origin"), "{origin}");
        assert!(!reply.headers.contains_key("access-control-allow-origin"));
    }
    let own = server.addr.to_string();
    let origin = format!("http://{own}");
    assert_eq!(post(&server, &[("Host", &own), ("Origin", &origin)]).status, 200);
    // A browser that asks first is refused as well.
    let asks = [("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")];
    let reply = Client::new(server.addr).send("OPTIONS", "/v1/parse", &asks, b"");
    assert_eq!(reply.status, 403);
}

#[test]
fn a_body_that_is_not_declared_as_json_is_refused() {
    let server = serve(config(), || Fake::new("say"));
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "multipart/form-data", ""]
    {
        let reply = post(&server, &[("Content-Type", kind)]);
        assert_eq!((reply.status, reply.code().as_str()), (415, "not_json"), "{kind}");
        let hint = reply.json()["error"]["hint"].as_str().unwrap().to_owned();
        assert!(hint.contains("Content-Type: application/json") && hint.contains("--json"), "{hint}");
    }
    for kind in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(post(&server, &[("Content-Type", kind)]).status, 200, "{kind}");
    }
}

#[test]
fn an_origin_that_was_allowed_may_use_the_server_from_a_browser() {
    let mut config = config();
    config.cors_origins = vec!["https://app.example".to_owned()];
    config.token = Some("secret".to_owned());
    let server = serve(config, || Fake::new("say"));
    let origin = ("Origin", "https://app.example");
    let asks = [
        origin,
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Private-Network", "true"),
    ];
    let reply = Client::new(server.addr).send("OPTIONS", "/v1/parse", &asks, b"");
    assert_eq!(reply.status, 204);
    for (name, value) in [
        ("access-control-allow-origin", "https://app.example"),
        ("access-control-allow-methods", "GET, POST"),
        ("access-control-allow-headers", "authorization, content-type"),
        ("access-control-allow-private-network", "true"),
        ("vary", "origin"),
    ] {
        assert_eq!(reply.headers[name], value);
    }
    for (token, status) in [("Bearer secret", 200), ("Bearer wrong", 401)] {
        let reply = post(&server, &[origin, ("Authorization", token)]);
        assert_eq!(reply.status, status);
        assert_eq!(reply.headers["access-control-allow-origin"], "https://app.example");
        assert_eq!(reply.headers["cross-origin-resource-policy"], "cross-origin");
    }
    assert_eq!(post(&server, &[("Origin", "https://other.example")]).status, 403);
    assert_eq!(Client::new(server.addr).send("OPTIONS", "/v1/parse", &[], b"").status, 401);
}
