//! The OpenAPI document against the replies of the server.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Client, Fake, FakeSource, Reply, Running, config, serve, start};
use serde_json::{Value, json};
use spanwise_server::Config;
use spanwise_server::journal::LogFile;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A server that returns every status: tight limits, short times, a token.
fn strict() -> Config {
    let mut config = config();
    config.token = Some("secret".to_owned());
    config.log = Some(LogFile::new("/dev/null"));
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

/// The routes that a document describes: method and path.
fn routes(document: &Value) -> Vec<(String, String)> {
    let paths = document["paths"].as_object().unwrap();
    let methods = |item: &Value| -> Vec<String> {
        item.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect()
    };
    paths
        .iter()
        .flat_map(|(path, item)| methods(item).into_iter().map(|method| (method, path.clone())))
        .collect()
}

/// Requests that together yield every status but those of overload and of loading and shutdown.
fn requests(server: &Running, document: &Value) -> Vec<(String, String, Reply)> {
    let mut replies: Vec<(String, String, Reply)> = Vec::new();
    let mut add = |method: &str, path: &str, reply| replies.push((method.to_owned(), path.to_owned(), reply));
    for (method, path) in routes(document) {
        let (method, path) = (method.as_str(), path.as_str());
        let wrong = if method == "GET" { "POST" } else { "GET" };
        add(method, path, Client::new(server.addr).send(wrong, path, &[KNOWN], b""));
        if path.starts_with("/v1/") || path == "/metrics" {
            add(method, path, Client::new(server.addr).send(method, path, &[], b""));
        }
        if method == "GET" {
            add(method, path, Client::new(server.addr).send(method, path, &[KNOWN], b""));
        }
        let send = |header| Client::new(server.addr).send(method, path, &[KNOWN, header], b"");
        add(method, path, send(("Host", "elsewhere.example")));
        add(method, path, send(("Origin", "https://elsewhere.example")));
        for head in [
            format!("{method} {path}?{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(70_000)),
            format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(200_000)),
            format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nNo colon\r\n\r\n"),
        ] {
            let mut client = Client::new(server.addr);
            std::io::Write::write_all(client.stream.get_mut(), head.as_bytes()).unwrap();
            add(method, path, client.read().unwrap());
        }
    }
    for query in ["?name=nobody", "?nome=echo"] {
        let path = format!("/v1/model{query}");
        add("GET", "/v1/model", Client::new(server.addr).send("GET", &path, &[KNOWN], b""));
    }
    let long = "word ".repeat(300);
    for (path, body) in [
        ("/v1/parse", json!({ "utterance": "a b", "k": 3, "chart": true })),
        ("/v1/parse", json!({ "utterances": ["a", "nothing"] })),
        ("/v1/parse", json!({ "utterance": "doubt", "abstain_below": 0.5 })),
        ("/v1/parse", json!({ "utterance": "doubt", "always_answer": true, "now": "2011-03-05" })),
        ("/v1/parse", json!({ "utterance": "novalue" })),
        ("/v1/parse", json!({ "utterance": "noted" })),
        ("/v1/parse", json!({ "utterance": "panic" })),
        ("/v1/parse", json!({ "utterance": 7 })),
        ("/v1/parse", json!({ "utterance": "a", "model": "b" })),
        ("/v1/parse", json!({ "utterance": long })),
        ("/v1/parse", json!({ "utterance": "x".repeat(20_000) })),
        ("/v1/execute", json!({ "program": "p" })),
        ("/v1/execute", json!({ "program": r#"["a", 1, true, {"columns": ["b"], "rows": [[2.5]]}]"# })),
        ("/v1/execute", json!({ "program": "noted", "context": "c" })),
        ("/v1/execute", json!({ "program": "novalue" })),
        ("/v1/execute", json!({ "program": "bad(" })),
        ("/v1/execute", json!({ "program": "panic" })),
        ("/v1/execute", json!({ "program": [] })),
        ("/v1/execute", json!({ "program": "p", "model": "b" })),
        ("/v1/execute", json!({ "program": "x".repeat(20_000) })),
    ] {
        add("POST", path, post(server, path, &body));
    }
    let asked = post(server, "/v1/parse", &json!({ "utterance": "a" })).json();
    for (id, verdict, program) in [
        (&asked["id"], "right", json!(null)),
        (&asked["id"], "wrong", json!("p")),
        (&asked["id"], "wrong", json!("bad(")),
        (&asked["id"], "wrong", json!("panic")),
        (&asked["id"], "wrong", json!("x".repeat(20_000))),
        (&asked["id"], "perhaps", json!(null)),
        (&json!("none"), "right", json!(null)),
    ] {
        let body = json!({ "id": id, "verdict": verdict, "program": program });
        add("POST", "/v1/feedback", post(server, "/v1/feedback", &body));
    }
    for path in ["/v1/parse", "/v1/execute", "/v1/feedback"] {
        let headers = [KNOWN, ("Content-Type", "text/plain")];
        add("POST", path, Client::new(server.addr).send("POST", path, &headers, b"{}"));
        let mut slow = Client::new(server.addr);
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\nContent-Length: 9\r\n\r\n{{"
        );
        std::io::Write::write_all(slow.stream.get_mut(), head.as_bytes()).unwrap();
        add("POST", path, slow.read().unwrap());
    }
    replies
}

fn described<'a>(document: &'a Value, method: &str, path: &str) -> &'a Value {
    &document["paths"][path][method.to_lowercase()]["responses"]
}

/// What is wrong with a value according to a schema of the document. A field that is not described is wrong, too.
fn problems(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut components = document["components"].clone();
    let closed = components["schemas"].as_object_mut().unwrap();
    // `ModelInfo` is only part of `Model`.
    for (_, schema) in closed.iter_mut().filter(|(name, _)| *name != "ModelInfo") {
        let is_object = schema["type"] == "object" || schema.get("allOf").is_some();
        if is_object {
            schema["unevaluatedProperties"] = json!(false);
        }
    }
    let validator =
        jsonschema::validator_for(&json!({ "allOf": [schema], "components": components })).unwrap();
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Checks a reply against its description.
fn compare(document: &Value, method: &str, path: &str, reply: &Reply) {
    let what = format!("{method} {path} {}", reply.status);
    let mut response = &described(document, method, path)[reply.status.to_string()];
    assert!(!response.is_null(), "{what} is not described: {}", reply.body);
    if let Some(reference) = response["$ref"].as_str() {
        response = document.pointer(reference.trim_start_matches('#')).unwrap();
    }
    let kind = reply.headers["content-type"].split(';').next().unwrap();
    let schema = &response["content"][kind]["schema"];
    assert!(!schema.is_null(), "{what}: {kind} is not described");
    let value = if kind == "application/json" { reply.json() } else { json!(reply.body) };
    assert_eq!(problems(document, schema, &value), Vec::<String>::new(), "{what}");
}

#[test]
fn every_reply_is_as_described_and_every_described_status_is_real() {
    let server = serve(strict(), || Fake::new("say"));
    let document = server.get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    let mut seen = BTreeSet::new();
    for (method, path, reply) in requests(&server, &document) {
        compare(&document, &method, &path, &reply);
        seen.insert((method, path, reply.status));
    }
    // Overload, loading and shutdown have tests of their own.
    let elsewhere = [429, 503];
    for (method, path) in routes(&document) {
        for status in described(&document, &method, &path).as_object().unwrap().keys() {
            let status: u16 = status.parse().unwrap();
            let is_seen =
                seen.contains(&(method.clone(), path.clone(), status)) || elsewhere.contains(&status);
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
        // Two are being worked on, and two wait: the queue is full.
        for _ in 0..2 {
            scope.spawn(|| post(&server, "/v1/parse", &json!({ "utterance": "x" })));
        }
        server.wait(|_| n.load(Ordering::Relaxed) == 2);
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
    // The router is built from the same list as the document; these are the routes that clients rely on.
    let expected = [
        ("GET", "/"),
        ("GET", "/healthz"),
        ("GET", "/metrics"),
        ("GET", "/openapi.json"),
        ("GET", "/readyz"),
        ("GET", "/v1/model"),
        ("GET", "/v1/models"),
        ("POST", "/v1/execute"),
        ("POST", "/v1/feedback"),
        ("POST", "/v1/parse"),
    ];
    let found: BTreeSet<(String, String)> = routes(&document).into_iter().collect();
    assert_eq!(found, expected.map(|(method, path)| (method.to_owned(), path.to_owned())).into());
    // A field that is described is accepted, and null counts as absent where the schema allows it.
    for (path, name, base) in [
        ("/v1/parse", "ParseRequest", json!({ "utterance": "a" })),
        ("/v1/execute", "ExecuteRequest", json!({ "program": "p" })),
    ] {
        let schema = json!({ "$ref": format!("#/components/schemas/{name}") });
        let fields = document["components"]["schemas"][name]["properties"].as_object().unwrap();
        let mut n_optional = 0;
        for field in fields.keys() {
            let mut body = base.clone();
            body[field] = Value::Null;
            if base.get(field).is_none() {
                n_optional += 1;
                assert_eq!(problems(&document, &schema, &body), Vec::<String>::new(), "{field}");
                assert_eq!(server.post(path, &body).status, 200, "{field}");
            }
        }
        assert!(n_optional >= 2, "{fields:?}");
        let mut body = base.clone();
        body["undescribed"] = json!(1);
        assert!(!problems(&document, &schema, &body).is_empty());
        assert_eq!(server.post(path, &body).status, 400);
    }
}

#[test]
fn loading_and_shutdown_are_as_described() {
    let slow = FakeSource::new(|_| {
        std::thread::sleep(Duration::from_millis(300));
        Fake::new("say")
    });
    let mut config = config();
    config.times.linger = Duration::from_secs(2);
    let server = start(config, vec![("echo", slow)]);
    let document = server.get("/openapi.json").json();
    for (method, path, body) in [
        ("GET", "/readyz", ""),
        ("POST", "/v1/parse", r#"{"utterance": "x"}"#),
        ("POST", "/v1/execute", r#"{"program": "x"}"#),
    ] {
        let reply = Client::new(server.addr).send(method, path, &[], body.as_bytes());
        assert_eq!((reply.status, reply.code()), (503, "not_ready".to_owned()), "{path}");
        compare(&document, method, path, &reply);
    }
    compare(&document, "GET", "/v1/models", &server.get("/v1/models"));
    server.wait(|server| server.get("/readyz").status == 200);
    // A connection that is open already still learns that the server is not ready any more.
    let mut client = Client::new(server.addr);
    assert_eq!(client.send("GET", "/readyz", &[], b"").status, 200);
    server.handle.stop();
    let reply = client.send("GET", "/readyz", &[], b"");
    assert_eq!((reply.status, reply.code()), (503, "shutting_down".to_owned()));
    assert_eq!(reply.headers["connection"], "close");
    compare(&document, "GET", "/readyz", &reply);
}
