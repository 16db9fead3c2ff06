//! The description of the interface against the interface.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::schema::{check, resolve};
use crate::common::{Client, Fake, Reply, Running, config, serve};
use serde_json::{Value, json};
use spanwise_server::{Config, ROUTES};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A server that every status can be got from: little room, little patience, a token.
fn strict() -> Config {
    let mut config = config();
    config.token = Some("secret".to_owned());
    config.limits.workers = 1;
    config.limits.max_batch = 1;
    config.limits.queue = 2;
    config.limits.max_body = 10_000;
    config.times.body = Duration::from_millis(300);
    config
}

const KNOWN: (&str, &str) = ("Authorization", "Bearer secret");

fn post(server: &Running, path: &str, body: &Value) -> Reply {
    Client::new(server.addr).send("POST", path, &[KNOWN], body.to_string().as_bytes())
}

/// Requests that together get every status but those of overload and of the end.
fn requests(server: &Running) -> Vec<(&'static str, &'static str, Reply)> {
    let mut replies = Vec::new();
    for &(method, path) in ROUTES {
        let wrong = if method == "GET" { "POST" } else { "GET" };
        replies.push((method, path, Client::new(server.addr).send(wrong, path, &[KNOWN], b"")));
        if path.starts_with("/v1/") || path == "/metrics" {
            replies.push((method, path, Client::new(server.addr).send(method, path, &[], b"")));
        }
        if method == "GET" {
            replies.push((method, path, Client::new(server.addr).send(method, path, &[KNOWN], b"")));
        }
    }
    for query in ["?name=nobody", "?nome=echo"] {
        let path = format!("/v1/model{query}");
        replies.push(("GET", "/v1/model", Client::new(server.addr).send("GET", &path, &[KNOWN], b"")));
    }
    let long = "word ".repeat(300);
    for (path, body) in [
        ("/v1/parse", json!({ "utterance": "a b", "k": 3, "chart": true })),
        ("/v1/parse", json!({ "utterances": ["a", "nothing"] })),
        ("/v1/parse", json!({ "utterance": "doubt", "abstain_below": 0.5 })),
        ("/v1/parse", json!({ "utterance": "novalue" })),
        ("/v1/parse", json!({ "utterance": "noted" })),
        ("/v1/parse", json!({ "utterance": "panic" })),
        ("/v1/parse", json!({ "utterance": 7 })),
        ("/v1/parse", json!({ "utterance": "a", "model": "b" })),
        ("/v1/parse", json!({ "utterance": long })),
        ("/v1/parse", json!({ "utterance": "x".repeat(20_000) })),
        ("/v1/execute", json!({ "program": "p" })),
        ("/v1/execute", json!({ "program": "noted", "context": "c" })),
        ("/v1/execute", json!({ "program": "novalue" })),
        ("/v1/execute", json!({ "program": "bad(" })),
        ("/v1/execute", json!({ "program": "panic" })),
        ("/v1/execute", json!({ "program": [] })),
        ("/v1/execute", json!({ "program": "p", "model": "b" })),
        ("/v1/execute", json!({ "program": "x".repeat(20_000) })),
    ] {
        replies.push(("POST", path, post(server, path, &body)));
    }
    for path in ["/v1/parse", "/v1/execute"] {
        let mut slow = Client::new(server.addr);
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: t\r\nAuthorization: Bearer secret\r\nContent-Length: 9\r\n\r\n{{"
        );
        std::io::Write::write_all(slow.stream.get_mut(), head.as_bytes()).unwrap();
        replies.push(("POST", path, slow.read().unwrap()));
    }
    replies
}

fn described<'a>(document: &'a Value, method: &str, path: &str) -> &'a Value {
    &document["paths"][path][method.to_lowercase()]["responses"]
}

/// Checks a reply against what is written about it.
fn compare(document: &Value, method: &str, path: &str, reply: &Reply) {
    let what = format!("{method} {path} {}", reply.status);
    let mut response = &described(document, method, path)[reply.status.to_string()];
    assert!(!response.is_null(), "{what} is not described: {}", reply.body);
    if let Some(reference) = response.get("$ref") {
        response = resolve(document, reference);
    }
    let kind = reply.headers["content-type"].split(';').next().unwrap();
    let schema = &response["content"][kind]["schema"];
    assert!(!schema.is_null(), "{what}: {kind} is not described");
    let value = if kind == "application/json" { reply.json() } else { json!(reply.body) };
    assert_eq!(check(document, schema, &value, "$"), Vec::<String>::new(), "{what}");
}

#[test]
fn every_reply_is_as_described_and_every_described_status_is_real() {
    let server = serve(strict(), || Fake::new("say"));
    let document = server.get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let mut seen = BTreeSet::new();
    for (method, path, reply) in requests(&server) {
        compare(&document, method, path, &reply);
        seen.insert((method, path, reply.status));
    }
    // Overload and the end of a server have tests of their own.
    let elsewhere = [429, 503];
    for &(method, path) in ROUTES {
        for status in described(&document, method, path).as_object().unwrap().keys() {
            let status: u16 = status.parse().unwrap();
            let is_seen = seen.contains(&(method, path, status)) || elsewhere.contains(&status);
            assert!(is_seen, "{method} {path} never gave {status}");
        }
    }
}

#[test]
fn overload_is_as_described() {
    let n = Arc::new(AtomicUsize::new(0));
    let begun = Arc::clone(&n);
    let slow = move || Fake { delay: Duration::from_millis(1500), n: Arc::clone(&begun), ..Fake::new("say") };
    let server = serve(strict(), slow);
    let document = server.get("/openapi.json").json();
    std::thread::scope(|scope| {
        // One is being worked on, and two wait: the queue is full.
        scope.spawn(|| post(&server, "/v1/parse", &json!({ "utterance": "x" })));
        server.wait(|_| n.load(Ordering::Relaxed) == 1);
        for _ in 0..2 {
            scope.spawn(|| post(&server, "/v1/parse", &json!({ "utterance": "x" })));
        }
        server.wait(|server| {
            let metrics = Client::new(server.addr).send("GET", "/metrics", &[KNOWN], b"");
            metrics.body.contains("spanwise_queue_depth 2")
        });
        for (path, body) in
            [("/v1/parse", json!({ "utterance": "x" })), ("/v1/execute", json!({ "program": "p" }))]
        {
            let reply = post(&server, path, &body);
            assert_eq!((reply.status, reply.headers["retry-after"].as_str()), (429, "1"));
            compare(&document, "POST", path, &reply);
        }
    });
}

#[test]
fn routes_and_fields_are_all_described_and_nothing_else_is() {
    let server = serve(config(), || Fake::new("say"));
    let document = server.get("/openapi.json").json();
    let written: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            methods.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone()))
        })
        .collect();
    let real: BTreeSet<(String, String)> =
        ROUTES.iter().map(|&(method, path)| (method.to_owned(), path.to_owned())).collect();
    assert_eq!(written, real);
    // A field that is described must be taken, and null counts as absent where null is described.
    for (path, name, base) in [
        ("/v1/parse", "ParseRequest", json!({ "utterance": "a" })),
        ("/v1/execute", "ExecuteRequest", json!({ "program": "p" })),
    ] {
        let schema = &document["components"]["schemas"][name];
        for (field, rule) in schema["properties"].as_object().unwrap() {
            let takes_null = rule["type"].as_array().is_some_and(|types| types.contains(&json!("null")));
            if takes_null {
                let mut body = base.clone();
                body[field] = Value::Null;
                assert_eq!(check(&document, schema, &body, "$"), Vec::<String>::new());
                assert_eq!(server.post(path, &body).status, 200, "{field}");
            }
        }
        let mut body = base.clone();
        body["unheard_of"] = json!(1);
        assert!(!check(&document, schema, &body, "$").is_empty());
        assert_eq!(server.post(path, &body).status, 400);
    }
}
