//! Models that change while the server runs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Client, Fake, FakeSource, config, serve_all};
use serde_json::{Value, json};
use spanwise_server::Event;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn source() -> FakeSource {
    FakeSource::new(|n| Fake { delay: Duration::from_millis(1), ..Fake::new(&format!("v{n}")) })
}

#[test]
fn a_model_that_changes_is_swapped_without_losing_a_request() {
    let source = source();
    let server = serve_all(config(), vec![("echo", source.clone())]);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..8)
            .map(|_| {
                let (addr, done) = (server.addr, &done);
                scope.spawn(move || {
                    let mut connection = Client::new(addr);
                    let mut versions = Vec::new();
                    while !done.load(Ordering::Relaxed) {
                        let reply = connection.send("POST", "/v1/parse", &[], br#"{"utterance": "x"}"#);
                        assert_eq!(reply.status, 200);
                        let program = reply.json()["program"].as_str().unwrap().to_owned();
                        versions.push(program[1..program.find('(').unwrap()].parse::<u64>().unwrap());
                    }
                    versions
                })
            })
            .collect();
        for version in 2..=6u64 {
            source.stamp.store(version, Ordering::Relaxed);
            server.wait(|server| server.get("/v1/model").json()["generation"] == json!(version));
        }
        // A request after the swap is answered by the new model.
        let last = server.post("/v1/parse", &json!({ "utterance": "x" })).json();
        assert_eq!(last["program"], "v6('x')");
        done.store(true, Ordering::Relaxed);
        for client in clients {
            let versions = client.join().unwrap();
            assert!(versions.is_sorted(), "a client never goes back to an older model");
        }
    });
}

#[test]
fn a_broken_model_leaves_the_old_one_serving_and_is_visible() {
    let source = source();
    let server = serve_all(config(), vec![("echo", source.clone())]);
    source.broken.store(true, Ordering::Relaxed);
    source.stamp.store(1, Ordering::Relaxed);
    server.wait(|server| server.get("/v1/model").json()["load_error"] != Value::Null);
    let model = server.get("/v1/model").json();
    assert_eq!((&model["load_error"], &model["generation"]), (&json!("the weights are damaged"), &json!(1)));
    assert_eq!(server.post("/v1/parse", &json!({ "utterance": "x" })).json()["program"], "v1('x')");
    assert_eq!(server.get("/readyz").status, 200);
    let is_failure = |event: &Event| matches!(event, Event::LoadFailed { kept: true, .. });
    // It is not tried again and again while nothing changes.
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(server.events.lock().unwrap().iter().filter(|event| is_failure(event)).count(), 1);
    source.broken.store(false, Ordering::Relaxed);
    source.stamp.store(2, Ordering::Relaxed);
    server.wait(|server| server.get("/v1/model").json()["load_error"] == Value::Null);
    assert_eq!(server.post("/v1/parse", &json!({ "utterance": "x" })).json()["program"], "v2('x')");
    // A model that has recovered is left alone.
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(server.get("/v1/model").json()["generation"], json!(2));
}

#[test]
fn a_loader_that_panics_has_failed_and_models_are_loaded_again_as_before() {
    let source = FakeSource::new(|n| {
        assert!(n != 2, "the second load goes wrong");
        Fake::new(&format!("v{n}"))
    });
    let server = serve_all(config(), vec![("echo", source.clone())]);
    source.stamp.store(1, Ordering::Relaxed);
    server.wait(|server| server.get("/v1/model").json()["load_error"] != Value::Null);
    let model = server.get("/v1/model").json();
    let error = model["load_error"].as_str().unwrap();
    assert!(error.contains("the loader failed") && error.contains("the second load goes wrong"), "{error}");
    assert_eq!(server.post("/v1/parse", &json!({ "utterance": "x" })).json()["program"], "v1('x')");
    source.stamp.store(2, Ordering::Relaxed);
    server.wait(|server| server.get("/v1/model").json()["load_error"] == Value::Null);
    assert_eq!(server.post("/v1/parse", &json!({ "utterance": "x" })).json()["program"], "v3('x')");
}

#[test]
fn a_model_is_loaded_again_on_request_although_nothing_changed() {
    let source = source();
    let server = serve_all(config(), vec![("echo", source)]);
    server.handle.reload();
    server.wait(|server| server.get("/v1/model").json()["generation"] == json!(2));
}

#[test]
fn a_public_address_without_a_token_is_warned_about() {
    for (token, is_warned) in [(None, true), (Some("t".to_owned()), false)] {
        let mut config = config();
        config.addr = "0.0.0.0:0".parse().unwrap();
        config.token = token;
        let server = crate::common::start(config, vec![("echo", source())]);
        let is_listening = |event: &Event| matches!(event, Event::Listening { .. });
        server.wait(|server| server.events.lock().unwrap().iter().any(is_listening));
        let warned = server.events.lock().unwrap().iter().any(|event| matches!(event, Event::Exposed { .. }));
        assert_eq!(warned, is_warned);
    }
}
