//! Clients that are slow, huge, broken or not allowed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Client, Fake, Running, config, serve};
use serde_json::json;
use std::io::Write;
use std::time::{Duration, Instant};

fn works(server: &Running) {
    assert_eq!(server.post("/v1/parse", &json!({ "utterance": "still works" })).status, 200);
}

#[test]
fn ten_megabytes_are_too_much_and_the_sender_gets_a_reply() {
    let server = serve(config(), || Fake::new("say"));
    let body = format!("{{\"utterance\": \"{}\"}}", "x".repeat(10 << 20));
    let reply = server.post_bytes("/v1/parse", body.as_bytes());
    assert_eq!((reply.status, reply.code()), (413, "body_too_large".to_owned()));
    works(&server);
}

#[test]
fn a_body_without_a_length_is_limited_too() {
    let mut config = config();
    config.limits.max_body = 1000;
    let server = serve(config, || Fake::new("say"));
    let mut client = Client::new(server.addr);
    let stream = client.stream.get_mut();
    stream
        .write_all(b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        .unwrap();
    for _ in 0..40 {
        stream.write_all(b"64\r\n").unwrap();
        stream.write_all(&[b'x'; 100]).unwrap();
        stream.write_all(b"\r\n").unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    assert_eq!(client.read().unwrap().status, 413);
}

#[test]
fn five_thousand_words_are_too_many_and_so_are_many_utterances() {
    let server = serve(config(), || Fake::new("say"));
    let reply = server.post("/v1/parse", &json!({ "utterances": ["short", "word ".repeat(5000)] }));
    assert_eq!((reply.status, reply.code()), (422, "too_large".to_owned()));
    assert_eq!(reply.message(), "$.utterances[1]: 5000 words, the maximum is 200");
    let reply = server.post("/v1/parse", &json!({ "utterances": vec!["a"; 257] }));
    assert_eq!(
        (reply.status, reply.message().as_str()),
        (422, "$.utterances: 257 utterances, the maximum is 256")
    );
    let reply = server.post("/v1/parse", &json!({ "utterance": "a", "k": 101 }));
    assert_eq!(reply.status, 422);
    assert_eq!(server.post("/v1/parse", &json!({ "utterance": "word ".repeat(200) })).status, 200);
}

#[test]
fn a_body_that_is_not_json_is_refused_with_the_position_of_the_error() {
    let server = serve(config(), || Fake::new("say"));
    for (body, part) in [
        (&b"{\"utterance\": \"\xff\xfe\"}"[..], "byte 15 is not UTF-8"),
        (b"", "EOF"),
        (b"{\"utterance\": ", "line 1 column 14"),
        (b"{\"utterance\": \"a\"} and more", "trailing"),
        (&[b'['; 5000], "recursion"),
    ] {
        let reply = server.post_bytes("/v1/parse", body);
        assert_eq!((reply.status, reply.code()), (400, "bad_json".to_owned()));
        assert!(reply.message().contains(part), "{} has no {part}", reply.message());
    }
    works(&server);
}

#[test]
fn a_body_that_does_not_arrive_is_refused() {
    let mut config = config();
    config.times.body = Duration::from_millis(200);
    let server = serve(config, || Fake::new("say"));
    let mut client = Client::new(server.addr);
    let head = b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{\"utter";
    client.stream.get_mut().write_all(head).unwrap();
    let start = Instant::now();
    let reply = client.read().unwrap();
    assert_eq!((reply.status, reply.code()), (408, "timeout".to_owned()));
    assert!(start.elapsed() >= Duration::from_millis(150));
    assert!(client.read().is_none(), "the connection ends");
}

#[test]
fn a_head_that_does_not_arrive_is_refused() {
    let mut config = config();
    config.times.head = Duration::from_millis(200);
    let server = serve(config, || Fake::new("say"));
    for start in ["", "POST /v1/par", "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "] {
        let mut client = Client::new(server.addr);
        client.stream.get_mut().write_all(start.as_bytes()).unwrap();
        let begun = Instant::now();
        let reply = client.read().map(|reply| (reply.status, reply.code()));
        assert_eq!(reply, (!start.is_empty()).then(|| (408, "timeout".to_owned())), "{start:?}");
        assert!(client.read().is_none(), "the connection ends");
        assert!(begun.elapsed() < Duration::from_secs(10), "{start:?} took too long");
    }
    works(&server);
}

#[test]
fn a_client_that_does_not_read_is_cut() {
    let mut config = config();
    config.times.write = Duration::from_millis(500);
    // Nothing else may end the connection.
    config.times.head = Duration::from_secs(600);
    config.limits.max_body = 8 << 20;
    let server = serve(config, || Fake::new("say"));
    // A reply repeats every word several times: more than sockets hold, and never read.
    let body = json!({ "utterance": "x".repeat(1 << 20) }).to_string();
    let mut client = Client::new(server.addr);
    client.write("POST", "/v1/parse", &[], body.as_bytes()).unwrap();
    let answered = "route=\"/v1/parse\",method=\"POST\",status=\"200\"} 1";
    server.wait(|server| server.get("/metrics").body.contains(answered));
    server.wait(|server| server.get("/metrics").body.contains("spanwise_connections 1\n"));
    works(&server);
}

#[test]
fn only_clients_with_the_token_are_served() {
    let mut config = config();
    config.token = Some("secret".to_owned());
    let server = serve(config, || Fake::new("say"));
    let body = br#"{"utterance": "x"}"#;
    let ask = |headers: &[(&str, &str)]| Client::new(server.addr).send("POST", "/v1/parse", headers, body);
    for value in
        ["", "secret", "Bearer", "Bearer ", "Bearer secre", "Bearer secrets", "Bearer SECRET", "Basic secret"]
    {
        let reply = ask(&[("Authorization", value)]);
        assert_eq!((reply.status, reply.code()), (401, "unauthorized".to_owned()), "{value:?}");
        assert_eq!(reply.headers["www-authenticate"], "Bearer");
    }
    assert_eq!(ask(&[]).status, 401);
    assert_eq!(ask(&[("Authorization", "Bearer secret")]).status, 200);
    assert_eq!(ask(&[("authorization", "bearer secret")]).status, 200);
    for (path, status) in [("/v1/models", 401), ("/v1/model", 401), ("/metrics", 401)] {
        assert_eq!(server.get(path).status, status, "{path}");
    }
    for path in ["/", "/healthz", "/readyz", "/openapi.json", "/assets/app.js"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
}

#[test]
fn paths_reach_only_files_inside_the_program() {
    let server = serve(config(), || Fake::new("say"));
    for path in [
        "/assets/../../../etc/passwd",
        "/assets/..%2f..%2fetc%2fpasswd",
        "/assets/%2e%2e/openapi.json",
        "/../../etc/passwd",
        "//etc/passwd",
        "/assets/app.js/..",
        "/assets/app.js%00",
        "/assets//app.js",
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, 404, "{path}");
        assert!(!reply.body.contains("root:"), "{path}");
    }
}

#[test]
fn a_head_that_is_not_http_or_too_large_gets_a_reply_like_every_other_error() {
    let server = serve(config(), || Fake::new("say"));
    let large = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Large: {}\r\n\r\n", "x".repeat(200_000));
    let many = format!("GET / HTTP/1.1\r\nHost: localhost\r\n{}\r\n", "X: y\r\n".repeat(200));
    let long = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "x".repeat(70_000));
    for (head, status, code) in [
        ("\u{1}\u{2}\u{3}\r\n\r\n", 400, "bad_head"),
        ("GET\r\n\r\n", 400, "bad_head"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "bad_head"),
        (large.as_str(), 431, "head_too_large"),
        (many.as_str(), 431, "head_too_large"),
        (long.as_str(), 414, "long_path"),
    ] {
        let mut client = Client::new(server.addr);
        // Also after a request that was all right.
        assert_eq!(client.send("GET", "/healthz", &[], b"").status, 200);
        client.stream.get_mut().write_all(head.as_bytes()).unwrap();
        let reply = client.read().expect("there is a reply");
        assert_eq!((reply.status, reply.code().as_str()), (status, code));
        assert_eq!(reply.headers["content-type"], "application/json");
        assert!(client.read().is_none(), "the connection ends");
    }
    works(&server);
}
