//! Many clients at once: each gets its own answer, too many are rejected, and a shutdown loses no request.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Client, Fake, FakeSource, config, program, serve, start};
use serde_json::json;
use spanwise_server::Event;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn parse(client: &mut Client, text: &str) -> crate::common::Reply {
    let body = json!({ "utterance": text }).to_string();
    client.send("POST", "/v1/parse", &[], body.as_bytes())
}

#[test]
fn every_client_gets_its_own_answer_and_batches_form() {
    let (largest, n) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (seen, counted) = (Arc::clone(&largest), Arc::clone(&n));
    let fake = move || Fake {
        delay: Duration::from_millis(2),
        largest: Arc::clone(&seen),
        n: Arc::clone(&counted),
        ..Fake::new("say")
    };
    let server = serve(config(), fake);
    std::thread::scope(|scope| {
        for client in 0..32 {
            let addr = server.addr;
            scope.spawn(move || {
                let mut connection = Client::new(addr);
                for round in 0..25 {
                    let text = format!(
                        "client {client} round {round} {}",
                        "word ".repeat((client * 7 + round) % 20)
                    );
                    let reply = parse(&mut connection, &text);
                    assert_eq!(reply.status, 200);
                    assert_eq!(reply.json()["program"], program("say", &text));
                    assert_eq!(reply.json()["utterance"], text);
                }
            });
        }
    });
    assert_eq!(n.load(Ordering::Relaxed), 32 * 25, "every utterance is read once");
    let largest = largest.load(Ordering::Relaxed);
    assert!((2..=32).contains(&largest), "{largest}");
}

#[test]
fn a_lone_request_does_not_wait_for_a_batch() {
    let server = serve(config(), || Fake::new("say"));
    let mut client = Client::new(server.addr);
    parse(&mut client, "warm up");
    let start = std::time::Instant::now();
    for _ in 0..50 {
        parse(&mut client, "alone");
    }
    // Waiting some milliseconds for a fuller batch would show; the machine may be busy, so the bound is wide.
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn overload_is_rejected_and_the_rest_is_served() {
    let mut config = config();
    config.limits.workers = 1;
    config.limits.max_batch = 2;
    config.limits.queue = 4;
    let server = serve(config, || Fake { delay: Duration::from_millis(20), ..Fake::new("say") });
    let (served, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for client in 0..40 {
            let (addr, served, refused) = (server.addr, &served, &refused);
            scope.spawn(move || {
                let mut connection = Client::new(addr);
                for round in 0..5 {
                    let text = format!("{client} {round}");
                    let reply = parse(&mut connection, &text);
                    match reply.status {
                        200 => {
                            assert_eq!(reply.json()["program"], program("say", &text));
                            served.fetch_add(1, Ordering::Relaxed);
                        }
                        429 => {
                            assert_eq!(reply.headers["retry-after"], "1");
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                        other => panic!("status {other}"),
                    }
                }
            });
        }
    });
    let (served, refused) = (served.into_inner(), refused.into_inner());
    assert_eq!(served + refused, 200);
    assert!(served >= 5 && refused >= 5, "{served} {refused}");
    for _ in 0..5 {
        assert_eq!(parse(&mut Client::new(server.addr), "after").status, 200, "it has recovered");
    }
}

#[test]
fn work_of_clients_that_left_is_dropped() {
    let mut config = config();
    config.limits.max_batch = 1;
    let n = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n);
    let fake =
        move || Fake { delay: Duration::from_millis(150), n: Arc::clone(&counted), ..Fake::new("say") };
    let server = serve(config, fake);
    let mut clients: Vec<Client> = (0..40).map(|_| Client::new(server.addr)).collect();
    for client in &mut clients {
        client.write("POST", "/v1/parse", &[], br#"{"utterance": "x"}"#).unwrap();
    }
    std::thread::sleep(Duration::from_millis(100));
    drop(clients);
    server.wait(|server| server.get("/metrics").body.contains("spanwise_queue_depth 0"));
    std::thread::sleep(Duration::from_millis(200));
    assert!(n.load(Ordering::Relaxed) < 30, "their clients have left");
}

#[test]
fn a_shutdown_loses_no_request_that_was_sent_before_it() {
    for _ in 0..3 {
        let server = serve(config(), || Fake { delay: Duration::from_millis(30), ..Fake::new("say") });
        // Half of the connections have sent a request before, half are new.
        let mut clients: Vec<Client> = (0..40).map(|_| Client::new(server.addr)).collect();
        for client in clients.iter_mut().step_by(2) {
            assert_eq!(parse(client, "before").status, 200);
        }
        for (at, client) in clients.iter_mut().enumerate() {
            let body = json!({ "utterance": format!("last {at}") }).to_string();
            client.write("POST", "/v1/parse", &[], body.as_bytes()).unwrap();
        }
        let addr = server.addr;
        let ending = std::thread::spawn(move || server.stop());
        for (at, client) in clients.iter_mut().enumerate() {
            let reply = client.read().expect("a request that was sent is answered");
            assert_eq!(reply.status, 200);
            assert_eq!(reply.json()["program"], program("say", &format!("last {at}")));
        }
        ending.join().unwrap().unwrap();
        assert!(std::net::TcpStream::connect(addr).is_err(), "the port is closed");
    }
}

#[test]
fn an_idle_connection_does_not_delay_the_shutdown() {
    let server = serve(config(), || Fake::new("say"));
    let mut idle = Client::new(server.addr);
    parse(&mut idle, "x");
    let start = std::time::Instant::now();
    server.stop().unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(idle.read().is_none());
}

#[test]
fn work_that_takes_longer_than_the_drain_time_is_cut() {
    let mut config = config();
    config.times.drain = Duration::from_millis(300);
    let n = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n);
    let server = serve(config, move || Fake { n: Arc::clone(&counted), ..Fake::new("say") });
    let mut client = Client::new(server.addr);
    client.write("POST", "/v1/parse", &[], br#"{"utterance": "sleep"}"#).unwrap();
    server.wait(|_| n.load(Ordering::Relaxed) == 1);
    let events = Arc::clone(&server.events);
    let start = std::time::Instant::now();
    server.stop().unwrap();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(client.read().is_none());
    assert_eq!(events.lock().unwrap().last(), Some(&Event::Stopped { cut: 1 }));
}

#[test]
fn a_model_that_is_being_loaded_does_not_delay_the_shutdown_beyond_the_drain_time() {
    let mut config = config();
    config.times.drain = Duration::from_millis(300);
    let slow = FakeSource::new(|_| {
        std::thread::sleep(Duration::from_secs(20));
        Fake::new("say")
    });
    let server = start(config, vec![("echo", slow)]);
    let start = std::time::Instant::now();
    server.stop().unwrap();
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
