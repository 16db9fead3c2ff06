//! Signals, sent to a real process: this test runs itself again as the server.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

use crate::common::{Client, Fake, FakeSource, config, program};
use serde_json::json;
use spanwise_server::{Server, Source};
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const CHILD: &str = "SPANWISE_TEST_SERVER";
/// The drain time of the child, in milliseconds.
const DRAIN: &str = "SPANWISE_TEST_DRAIN";
/// Whether the model of the child never loads.
const LOADING: &str = "SPANWISE_TEST_LOADING";

/// The server, when this process is the child; nothing otherwise.
#[test]
fn child() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let mut config = config();
    config.signals = true;
    if let Ok(drain) = std::env::var(DRAIN) {
        config.times.drain = Duration::from_millis(drain.parse().unwrap());
    }
    let loads_for_ever = std::env::var_os(LOADING).is_some();
    let make = move |n| {
        if loads_for_ever {
            std::thread::sleep(Duration::from_secs(600));
        }
        Fake { delay: Duration::from_millis(40), ..Fake::new(&format!("v{n}")) }
    };
    let source: Box<dyn Source> = Box::new(FakeSource::new(make));
    let server = Server::bind(config, vec![("echo".to_owned(), source)], Arc::new(|_| {})).unwrap();
    // Straight to the stream, since the test harness captures `eprintln!`.
    writeln!(std::io::stderr(), "address {}", server.addr().unwrap()).unwrap();
    server.run().unwrap();
    std::process::exit(0);
}

fn start() -> (Child, SocketAddr) {
    let (child, addr) = launch(&[]);
    while Client::new(addr).send("GET", "/readyz", &[], b"").status != 200 {
        std::thread::sleep(Duration::from_millis(5));
    }
    (child, addr)
}

/// A server whose models may not be loaded yet.
fn launch(settings: &[(&str, &str)]) -> (Child, SocketAddr) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "signals::child", "--nocapture"]).env(CHILD, "1");
    command.envs(settings.iter().copied());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let addr = loop {
        let line = lines.next().expect("the child prints its address").unwrap();
        if let Some(addr) = line.strip_prefix("address ") {
            break addr.parse().unwrap();
        }
    };
    // Drains the rest of the output, so that the child never blocks on it.
    std::thread::spawn(move || lines.for_each(drop));
    (child, addr)
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn sigterm_under_load_loses_no_accepted_request_and_exits_with_0() {
    for name in ["-TERM", "-INT"] {
        let (mut child, addr) = start();
        let mut clients: Vec<Client> = (0..50).map(|_| Client::new(addr)).collect();
        for (at, client) in clients.iter_mut().enumerate() {
            let body = json!({ "utterance": format!("number {at}") }).to_string();
            client.write("POST", "/v1/parse", &[], body.as_bytes()).unwrap();
        }
        signal(&child, name);
        for (at, client) in clients.iter_mut().enumerate() {
            let reply = client.read().expect("a request that was sent is answered");
            assert_eq!(reply.status, 200);
            assert_eq!(reply.json()["program"], program("v1", &format!("number {at}")));
        }
        assert_eq!(child.wait().unwrap().code(), Some(0), "{name}");
    }
}

#[test]
fn sighup_loads_the_models_again() {
    let (mut child, addr) = start();
    signal(&child, "-HUP");
    let mut client = Client::new(addr);
    let begun = std::time::Instant::now();
    while client.send("GET", "/v1/model", &[], b"").json()["generation"] != json!(2) {
        assert!(begun.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(5));
    }
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_second_signal_does_not_wait_for_work_in_flight() {
    let (mut child, addr) = start();
    let mut client = Client::new(addr);
    client.write("POST", "/v1/parse", &[], br#"{"utterance": "sleep"}"#).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    signal(&child, "-TERM");
    std::thread::sleep(Duration::from_millis(100));
    let begun = std::time::Instant::now();
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(10), "it waited {:?}", begun.elapsed());
}

/// The exit code of a child that ends in time; one that does not is killed.
fn exit(child: &mut Child) -> Option<i32> {
    let begun = std::time::Instant::now();
    while begun.elapsed() < Duration::from_secs(10) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    panic!("the process stays");
}

#[test]
fn after_the_drain_time_the_process_ends_although_its_threads_are_busy() {
    let (mut child, addr) = launch(&[(DRAIN, "300")]);
    while Client::new(addr).send("GET", "/readyz", &[], b"").status != 200 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut clients: Vec<Client> = (0..2).map(|_| Client::new(addr)).collect();
    for client in &mut clients {
        client.write("POST", "/v1/parse", &[], br#"{"utterance": "sleep"}"#).unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    signal(&child, "-TERM");
    assert_eq!(exit(&mut child), Some(0));
}

#[test]
fn a_signal_is_heeded_while_a_model_is_being_loaded() {
    let (mut child, addr) = launch(&[(DRAIN, "300"), (LOADING, "1")]);
    assert_eq!(Client::new(addr).send("GET", "/readyz", &[], b"").status, 503);
    signal(&child, "-TERM");
    assert_eq!(exit(&mut child), Some(0));
}
