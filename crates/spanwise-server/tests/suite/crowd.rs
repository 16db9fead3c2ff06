//! More connections than the server allows.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Client, Fake, Running, config, serve};
use serde_json::json;
use std::io::Write;
use std::time::{Duration, Instant};

/// Checks that the server says within 100 ms that it runs. The machine may be busy, so the best of three counts.
fn is_healthy(server: &Running) {
    let check = || {
        let start = Instant::now();
        assert_eq!(server.get("/healthz").status, 200);
        start.elapsed()
    };
    let took = (0..3).map(|_| check()).min().unwrap();
    assert!(took < Duration::from_millis(100), "{took:?}");
}

#[test]
fn idle_and_slow_connections_give_way() {
    let mut config = config();
    config.limits.max_connections = 200;
    let server = serve(config, || Fake::new("say"));
    let start = Instant::now();
    let mut clients: Vec<Client> = (0..300).map(|_| Client::new(server.addr)).collect();
    for (at, client) in clients.iter_mut().enumerate() {
        let begin: &[u8] = match at % 3 {
            0 => b"",
            1 => b"GET /healthz HT",
            _ => b"POST /v1/parse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        };
        // Some have given way already.
        let _ = client.stream.get_mut().write_all(begin);
    }
    is_healthy(&server);
    assert_eq!(server.post("/v1/parse", &json!({ "utterance": "x" })).status, 200);
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let metrics = server.get("/metrics").body;
    let open = metrics.lines().find_map(|line| line.strip_prefix("spanwise_connections ")).unwrap();
    assert!(open.parse::<usize>().unwrap() <= 210, "{open}");
}

#[test]
fn when_all_connections_are_being_answered_the_health_can_still_be_checked() {
    let mut config = config();
    config.limits.max_connections = 20;
    let server = serve(config, || Fake { delay: Duration::from_secs(1), ..Fake::new("say") });
    let mut clients: Vec<Client> = (0..20).map(|_| Client::new(server.addr)).collect();
    for client in &mut clients {
        client.write("POST", "/v1/parse", &[], br#"{"utterance": "x"}"#).unwrap();
    }
    std::thread::sleep(Duration::from_millis(200));
    is_healthy(&server);
    assert_eq!(server.get("/readyz").status, 200);
    let reply = server.get("/v1/models");
    assert_eq!((reply.status, reply.code().as_str()), (503, "crowded"));
    assert_eq!(reply.headers["connection"], "close");
    for client in &mut clients {
        assert_eq!(client.read().unwrap().status, 200, "who was there first is served");
    }
    assert_eq!(server.get("/v1/models").status, 200);
}
