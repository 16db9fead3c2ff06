//! Expensive work, long requests and clients that leave do not delay others.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Client, Fake, HARD, Running, config, serve};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// An utterance that the engine expects to take long.
fn hard(at: usize) -> String {
    format!("hard {at} {}", "word ".repeat(40))
}

/// Sends a request and does not wait for its reply.
fn send(server: &Running, path: &str, body: &Value) -> Client {
    let mut client = Client::new(server.addr);
    client.write("POST", path, &[], body.to_string().as_bytes()).unwrap();
    client
}

/// The median time of short questions that are asked one after the other while the server is busy.
fn time_of_a_short_question(server: &Running) -> Duration {
    let mut times: Vec<Duration> = (0..7)
        .map(|_| {
            std::thread::sleep(Duration::from_millis(30));
            let start = Instant::now();
            assert_eq!(server.post("/v1/parse", &json!({ "utterance": "short question" })).status, 200);
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[3]
}

#[test]
fn long_requests_of_one_client_do_not_delay_the_short_question_of_another() {
    let server = serve(config(), || Fake { each: Duration::from_millis(5), ..Fake::new("say") });
    // Five seconds of work.
    let texts: Vec<String> = (0..250).map(|at| format!("one of many questions number {at}")).collect();
    let long: Vec<Client> =
        (0..4).map(|_| send(&server, "/v1/parse", &json!({ "utterances": texts }))).collect();
    let took = time_of_a_short_question(&server);
    assert!(took < Duration::from_millis(200), "{took:?}");
    for mut client in long {
        assert_eq!(client.read().unwrap().json()["results"].as_array().unwrap().len(), 250);
    }
}

#[test]
fn expensive_utterances_leave_a_thread_to_others_also_on_one_core() {
    let mut config = config();
    config.limits.workers = 1;
    let server = serve(config, || Fake::new("say"));
    let texts: Vec<String> = (0..40).map(hard).collect();
    let _hard: Vec<Client> =
        (0..2).map(|_| send(&server, "/v1/parse", &json!({ "utterances": texts }))).collect();
    let took = time_of_a_short_question(&server);
    assert!(took < Duration::from_millis(200), "{took:?}");
}

#[test]
fn a_slow_executor_delays_neither_questions_nor_other_programs() {
    let server = serve(config(), || Fake::new("say"));
    let _slow: Vec<Client> =
        (0..3).map(|_| send(&server, "/v1/execute", &json!({ "program": "slow" }))).collect();
    let took = time_of_a_short_question(&server);
    assert!(took < Duration::from_millis(200), "{took:?}");
    let start = Instant::now();
    assert_eq!(server.post("/v1/execute", &json!({ "program": "quick" })).status, 200);
    assert!(start.elapsed() < HARD / 2, "{:?}", start.elapsed());
}

/// A server that counts the work it began and the work it gave up.
fn counting(times: impl Fn(&mut spanwise_server::Config)) -> (Running, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (n, given_up) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begun, ended) = (Arc::clone(&n), Arc::clone(&given_up));
    let fake = move || Fake { n: Arc::clone(&begun), given_up: Arc::clone(&ended), ..Fake::new("say") };
    let mut config = config();
    times(&mut config);
    (serve(config, fake), n, given_up)
}

#[test]
fn a_request_that_takes_too_long_is_refused_and_its_work_is_given_up() {
    let (server, n, given_up) = counting(|config| config.times.reply = Duration::from_millis(400));
    let start = Instant::now();
    let reply = server.post("/v1/parse", &json!({ "utterances": (0..20).map(hard).collect::<Vec<_>>() }));
    assert_eq!((reply.status, reply.code().as_str()), (503, "too_slow"));
    assert_eq!(reply.message(), "the reply was not ready within 0.4 seconds");
    assert!(start.elapsed() < HARD / 2, "{:?}", start.elapsed());
    server.wait(|_| given_up.load(Ordering::Relaxed) == n.load(Ordering::Relaxed));
    assert!(n.load(Ordering::Relaxed) < 3, "work that waited is not begun any more");
    let reply = server.post("/v1/execute", &json!({ "program": "slow" }));
    assert_eq!((reply.status, reply.code().as_str()), (503, "too_slow"));
    assert_eq!(server.post("/v1/parse", &json!({ "utterance": "x" })).status, 200);
}

#[test]
fn work_is_given_up_when_its_client_leaves() {
    for is_reset in [false, true] {
        let (server, n, given_up) = counting(|_| {});
        let client = send(&server, "/v1/parse", &json!({ "utterance": hard(0) }));
        server.wait(|_| n.load(Ordering::Relaxed) == 1);
        if is_reset {
            socket2::SockRef::from(client.stream.get_ref()).set_linger(Some(Duration::ZERO)).unwrap();
        }
        let start = Instant::now();
        drop(client);
        server.wait(|_| given_up.load(Ordering::Relaxed) == 1);
        assert!(start.elapsed() < HARD / 2, "{:?}", start.elapsed());
    }
}

#[test]
fn a_client_that_has_closed_its_half_gets_its_last_reply() {
    for delay in [0, 200, 900] {
        let server =
            serve(config(), move || Fake { delay: Duration::from_millis(delay), ..Fake::new("say") });
        let mut client = send(&server, "/v1/parse", &json!({ "utterance": "last words" }));
        client.write("GET", "/healthz", &[], b"").unwrap();
        client.stream.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
        let reply = client.read().expect("there is a reply");
        assert_eq!((reply.status, &reply.json()["utterance"]), (200, &json!("last words")));
        assert_eq!(client.read().expect("and a second one").status, 200);
        assert!(client.read().is_none(), "the connection ends");
    }
}

#[test]
fn slow_queries_of_a_database_do_not_delay_other_questions() {
    let mut config = config();
    config.limits.workers = 1;
    let server = serve(config, || Fake::new("database"));
    let ask = |at: usize| send(&server, "/v1/parse", &json!({ "utterance": format!("slow query {at}") }));
    let slow: Vec<Client> = (0..4).map(ask).collect();
    let took = time_of_a_short_question(&server);
    assert!(took < Duration::from_millis(200), "{took:?}");
    for mut client in slow {
        assert_eq!(client.read().unwrap().json()["denotation"], "evaluated");
    }
    let unwanted = server.post("/v1/parse", &json!({ "utterance": "slow query", "execute": false }));
    assert_ne!(unwanted.json()["denotation"], "evaluated");
}

#[test]
fn a_query_ends_when_its_client_has_left() {
    let given_up: Arc<AtomicUsize> = Arc::default();
    let counter = Arc::clone(&given_up);
    let server = serve(config(), move || Fake { given_up: Arc::clone(&counter), ..Fake::new("database") });
    let parse = send(&server, "/v1/parse", &json!({ "utterance": "slow query" }));
    let execute = send(&server, "/v1/execute", &json!({ "program": "slow query" }));
    std::thread::sleep(Duration::from_millis(300));
    drop((parse, execute));
    let start = Instant::now();
    while given_up.load(Ordering::Relaxed) < 2 && start.elapsed() < HARD {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(given_up.load(Ordering::Relaxed), 2, "both queries are given up");
}
