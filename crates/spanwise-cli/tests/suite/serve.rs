//! `spanwise serve` with two small models: one of lamps, one of SCAN with its executor. What HTTP itself does is tested in
//! the server's own crate; these tests use the real parser.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

use crate::allow::{TEXT, models};
use crate::common::{Sandbox, lamps, no_curl, scan, signal, wait};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Child;
use std::time::{Duration, Instant};

/// A server that is ready.
pub(crate) struct Server {
    child: Child,
    addr: String,
}

impl Server {
    pub(crate) fn start<const N: usize>(models: [&str; N]) -> Self {
        let sandbox = Sandbox::new();
        let call = sandbox.call(["serve", "--addr", "127.0.0.1:0", "--log-json"]);
        Self::ready(models.into_iter().fold(call, |call, model| call.arg(model)).spawn())
    }

    /// Waits until a server that logs objects, or lines, listens and has its models.
    pub(crate) fn ready(mut child: Child) -> Self {
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let addr = loop {
            let line = lines.next().expect("the server tells its address").unwrap();
            if let Some(addr) = line.strip_prefix("listening on http://") {
                break addr.to_owned();
            }
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["event"] == "listening" {
                break event["addr"].as_str().unwrap().to_owned();
            }
        };
        // What else it says is read and forgotten, so that it never waits for us.
        std::thread::spawn(move || lines.for_each(drop));
        let server = Self { child, addr };
        server.until(|server| server.get("/readyz").0 == 200);
        server
    }

    fn send(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
        let head = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n");
        write!(stream, "{head}\r\n{body}").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        self.send("GET", path, "")
    }

    /// What comes back from a request that is all right.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let (status, text) = self.send("POST", path, &body.to_string());
        assert_eq!(status, 200, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    pub(crate) fn until(&self, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < Duration::from_secs(30), "it never happens");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn end(mut self) {
        signal(&self.child, "TERM");
        assert_eq!(wait(&mut self.child), Some(0));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_reply_has_what_parse_prints_for_the_same_words() {
    let server = Server::start([scan()]);
    let utterance = "walk left twice";
    let printed = Sandbox::new().run(["parse", scan(), utterance, "--json", "--k", "2"]).exits(0).json();
    let served =
        server.post("/v1/parse", &json!({ "utterance": utterance, "k": 2, "execute_alternatives": true }));
    let fields = [
        "utterance",
        "program",
        "denotation",
        "probability",
        "posterior",
        "in_domain",
        "score",
        "tree",
        "alternatives",
    ];
    for field in fields {
        assert!(!served[field].is_null(), "{field} is missing");
        assert_eq!(served[field], printed[field], "{field}");
    }
    assert_eq!(served["denotation"], "I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK");
    assert_eq!(served["tokens"].as_array().unwrap().len(), 3);
    server.end();
}

#[test]
fn what_many_ask_at_once_is_answered_as_if_each_had_asked_alone() {
    let server = Server::start([scan()]);
    let utterances: Vec<String> = ["walk", "run", "jump", "look"]
        .iter()
        .flat_map(|verb| {
            ["left", "right twice", "around left", "left and jump left thrice"]
                .map(|rest| format!("{verb} {rest}"))
        })
        .collect();
    let ask = |utterance: &String| server.post("/v1/parse", &json!({ "utterance": utterance }));
    let alone: Vec<Value> = utterances.iter().map(ask).collect();
    let at_once: Vec<Value> = std::thread::scope(|scope| {
        let askers: Vec<_> = utterances.iter().map(|utterance| scope.spawn(move || ask(utterance))).collect();
        askers.into_iter().map(|asker| asker.join().unwrap()).collect()
    });
    let in_one = server.post("/v1/parse", &json!({ "utterances": utterances }));
    for (at, alone) in alone.iter().enumerate() {
        for other in [&at_once[at], &in_one["results"][at]] {
            assert_eq!(other["program"], alone["program"]);
            assert_eq!(other["denotation"], alone["denotation"]);
            let difference = other["probability"].as_f64().unwrap() - alone["probability"].as_f64().unwrap();
            assert!(difference.abs() < 1e-4, "{difference}");
        }
    }
    server.end();
}

#[test]
fn the_chart_says_how_probable_every_span_is() {
    let server = Server::start([lamps()]);
    let utterance =
        Sandbox::with_toy().json_lines("train.jsonl")[0]["utterance"].as_str().unwrap().to_owned();
    let reply = server.post("/v1/parse", &json!({ "utterance": utterance, "chart": true }));
    let chart = reply["chart"].as_array().unwrap();
    assert!(!chart.is_empty());
    for found in chart {
        let probability = found["probability"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&probability), "{found}");
    }
    // What the best tree says on its words is among it, and likely.
    let tokens = reply["tokens"].as_array().unwrap();
    for token in tokens.iter().filter(|token| !token["constant"].is_null()) {
        let is_it = |found: &&Value| found["constant"] == token["constant"] && found["span"] == token["span"];
        assert!(chart.iter().any(|found| is_it(&found)), "{token} is not in the chart");
    }
    assert!(server.post("/v1/parse", &json!({ "utterance": utterance }))["chart"].is_null());
    server.end();
}

#[test]
fn several_models_answer_by_name_and_programs_are_evaluated_where_there_is_an_executor() {
    let (lamps, scan) = (format!("lamps={}", lamps()), format!("moves={}", scan()));
    let server = Server::start([&lamps, &scan]);
    let model: Value = serde_json::from_str(&server.get("/v1/model?name=moves").1).unwrap();
    assert_eq!((&model["domain"], &model["executor"]), (&json!("scan"), &json!("scan")));
    let model: Value = serde_json::from_str(&server.get("/v1/model?name=lamps").1).unwrap();
    let examples = model["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 6, "{model}");
    let trained_on = include_str!("../../../spanwise-train/tests/toy/train.jsonl");
    assert!(
        examples.iter().all(|text| trained_on.contains(&format!("\"utterance\": {text}"))),
        "{examples:?}"
    );
    let program = json!({ "model": "moves", "program": "i_twice ( i_jump ( i_left ) )" });
    assert_eq!(server.post("/v1/execute", &program)["denotation"], "I_TURN_LEFT I_JUMP I_TURN_LEFT I_JUMP");
    let reply = server.post("/v1/parse", &json!({ "model": "moves", "utterance": "jump left" }));
    assert_eq!(reply["denotation"], "I_TURN_LEFT I_JUMP");
    let body = json!({ "model": "moves", "program": "i_twice (" });
    let (status, text) = server.send("POST", "/v1/execute", &body.to_string());
    assert!(status == 422 && text.contains("bad_program"), "{text}");
    // Text that is a program, but has no value.
    let unknown = server.post("/v1/execute", &json!({ "model": "moves", "program": "no_such_thing" }));
    assert!(unknown["denotation"].is_null() && unknown["error"].is_string(), "{unknown}");
    let (status, text) = server.send("POST", "/v1/execute", &json!({ "program": "x" }).to_string());
    assert!(status == 422, "{text}");
    server.end();
}

#[test]
fn odd_utterances_are_answered_with_a_reason_or_a_program() {
    let server = Server::start([lamps()]);
    let long = "lamp ".repeat(200);
    for utterance in ["", " ", "?!", "\u{0}", "日本語 の ランプ", "🦀🦀🦀", "zzz qqq", long.as_str()]
    {
        let reply = server.post("/v1/parse", &json!({ "utterance": utterance, "chart": true, "k": 3 }));
        assert_eq!(reply["utterance"], utterance);
        assert!(reply["program"].is_string() || reply["reason"].is_string(), "{reply}");
    }
    server.end();
}

/// Copies a model into `model` of a sandbox. `model.json` comes last, as training writes it.
fn copy_model(sandbox: &Sandbox, from: &str) {
    let mut names: Vec<_> = std::fs::read_dir(from).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort_by_key(|name| name == "model.json");
    for name in names {
        let bytes = std::fs::read(std::path::Path::new(from).join(&name)).unwrap();
        sandbox.write(&format!("model/{}", name.to_str().unwrap()), bytes);
    }
}

#[test]
fn a_model_that_is_written_again_takes_the_place_of_the_old_one() {
    let sandbox = Sandbox::new();
    let copy = |from: &str| copy_model(&sandbox, from);
    copy(lamps());
    sandbox.write("model/examples.txt", "light the hall\n\n  blink it  \n");
    let server = Server::start([sandbox.path("model").to_str().unwrap()]);
    let model = || -> Value { serde_json::from_str(&server.get("/v1/model").1).unwrap() };
    assert_eq!(model()["domain"], "lamps");
    assert_eq!(model()["examples"], json!(["light the hall", "blink it"]));
    sandbox.write("model/model.json", "{");
    server.until(|_| !model()["load_error"].is_null());
    assert_eq!(model()["domain"], "lamps");
    copy(scan());
    server.until(|_| model()["domain"] == "scan");
    assert!(model()["load_error"].is_null());
    assert_eq!(
        server.post("/v1/parse", &json!({ "utterance": "walk left" }))["denotation"],
        "I_TURN_LEFT I_WALK"
    );
    server.end();
}

#[test]
fn calls_that_cannot_work_are_refused_before_anything_starts() {
    let sandbox = Sandbox::new();
    let busy = TcpListener::bind("127.0.0.1:0").unwrap();
    let busy = busy.local_addr().unwrap().to_string();
    let twice = format!("a={}", lamps());
    sandbox.run(["serve"]).exits(2);
    sandbox.run(["serve", "nowhere"]).exits(2).says(["nowhere is not a model"]);
    sandbox.run(["serve", &twice, &twice]).exits(2).says(["two models have the name `a`"]);
    sandbox.run(["serve", lamps(), "--addr", "here"]).exits(2).says(["is no address"]);
    sandbox.run(["demo", "--quick", "--serve", "--addr", "here"]).exits(2).says(["is no address"]);
    sandbox.run(["serve", lamps(), "--addr", &busy]).exits(2).says(["cannot listen", "--addr"]);
    for origin in ["*", "app.example.org", "https://app.example.org/path", "https://", "null"] {
        sandbox.run(["serve", lamps(), "--cors-origin", origin]).exits(2).says(["expected one origin"]);
    }
    for name in ["box:8080", "http://box", ""] {
        sandbox.run(["serve", lamps(), "--allow-host", name]).exits(2).says(["without a port"]);
    }
    let call = sandbox.call(["serve", lamps(), "--token-env", "SPANWISE_TEST_TOKEN"]);
    call.env("SPANWISE_TEST_TOKEN", "two words").run().exits(2).says(["holds no token"]);
    // A model whose files are damaged is an error, not a server without a model.
    sandbox.write("broken/model.json", "{}");
    let broken = sandbox.path("broken");
    sandbox.run(["serve", broken.to_str().unwrap(), "--addr", "127.0.0.1:0"]).exits(1);
}

/// Sends requests over one connection and checks that each gets its reply.
fn ask_health(addr: &str, n: usize) {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for _ in 0..n {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let (mut line, mut length) = (String::new(), 0);
        while line != "\r\n" {
            line.clear();
            assert!(reader.read_line(&mut line).expect("the server replies") > 0, "the connection has ended");
            if let Some(given) = line.strip_prefix("content-length: ") {
                length = given.trim().parse().unwrap();
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
    }
}

#[test]
fn a_log_that_nobody_reads_stalls_neither_requests_nor_the_shutdown() {
    for is_read_later in [true, false] {
        let sandbox = Sandbox::new();
        let call = sandbox.call(["serve", "--addr", "127.0.0.1:0"]).arg(lamps());
        let mut child = call.spawn();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        // A small model may be loaded before that.
        let addr = loop {
            let mut line = String::new();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "the server tells its address");
            if let Some(addr) = line.trim().strip_prefix("listening on http://") {
                break addr.to_owned();
            }
        };
        // More than the pipe and the queue hold together.
        let mut server = Server { child, addr };
        ask_health(&server.addr, 12_000);
        if is_read_later {
            let found = log.by_ref().lines().map(Result::unwrap).find(|line| line.contains("were dropped"));
            let n: usize = found.unwrap().split(' ').next().unwrap().parse().unwrap();
            assert!((1..12_000).contains(&n), "{n}");
        }
        signal(&server.child, "TERM");
        let begun = Instant::now();
        let reading = is_read_later.then(|| std::thread::spawn(move || log.lines().count()));
        assert_eq!(wait(&mut server.child), Some(0));
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        reading.map(|reading| reading.join().unwrap());
    }
}

/// Lines of a page that call curl.
#[cfg(feature = "geo")]
fn curl_lines(page: &str) -> Vec<&str> {
    page.lines().map(str::trim).filter(|line| line.starts_with("curl ")).collect()
}

/// The id of a reply in the documentation.
#[cfg(feature = "geo")]
const DOCUMENTED_ID: &str = "5f0c7a1e9b2d4c6806d1f3b59a7e2c48";

#[cfg(feature = "geo")]
#[test]
fn every_call_of_curl_in_the_documentation_gets_a_reply_that_is_all_right() {
    if no_curl() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.run(["demo", "--quick", "--no-questions", "--out", "demo"]).exits(0);
    let call = sandbox.call(["serve", "demo", "--addr", "127.0.0.1:0", "--log", "log.jsonl", "--log-json"]);
    let server = Server::ready(call.spawn());
    let asked = json!({ "utterance": "what is the capital of ohio", "always_answer": true });
    let asked = server.post("/v1/parse", &asked);
    let help = sandbox.run(["serve", "--help"]).exits(0).stdout;
    let pages = [
        include_str!("../../../../README.md"),
        include_str!("../../../../docs/http-api.md"),
        include_str!("../../../../docs/operations.md"),
        &help,
    ];
    let lines: Vec<&str> = pages.into_iter().flat_map(curl_lines).collect();
    assert!(lines.len() >= 6, "{lines:?}");
    for line in lines {
        let line = line.replace(DOCUMENTED_ID, asked["id"].as_str().unwrap());
        let asked = line.replacen("curl ", "curl -sS --fail-with-body --max-time 20 ", 1);
        let asked = asked.replace("127.0.0.1:8080", &server.addr);
        let reply = sandbox.shell(&asked).env("TOKEN", "none").run().exits(0);
        assert!(!reply.stdout.is_empty(), "{line}");
        let is_json = !line.contains("/metrics");
        let reply: Value = if is_json { reply.json() } else { json!({}) };
        assert!(reply["error"].is_null() && !line.contains(" -d "), "{line}: {reply}");
    }
    server.end();
}

#[cfg(feature = "geo")]
#[test]
fn the_demo_is_served_with_its_page() {
    let sandbox = Sandbox::new();
    let out = sandbox.path("demo");
    let call = sandbox.call(["demo", "--quick", "--serve", "--addr", "127.0.0.1:0", "--out"]).arg(&out);
    let server = Server::ready(call.spawn());
    let (status, page) = server.get("/");
    assert_eq!(status, 200);
    assert!(page.starts_with("<!doctype html>"), "{}", &page[..80]);
    let reply = server.post("/v1/parse", &json!({ "utterance": "what states border texas" }));
    assert!(reply["program"].is_string() || reply["reason"].is_string(), "{reply}");
    server.end();
}

#[test]
fn a_served_executor_needs_consent_and_loses_it_when_it_changes() {
    let sandbox = Sandbox::new();
    let copy = |from: &str| copy_model(&sandbox, from);
    let [first, second] = models();
    copy(first);
    let model = sandbox.path("model");
    let model = model.to_str().unwrap();
    let ask = |server: &Server| server.post("/v1/parse", &json!({ "utterance": TEXT }));
    let info = |server: &Server| -> Value { serde_json::from_str(&server.get("/v1/model").1).unwrap() };

    let server = Server::start([model]);
    let reply = ask(&server);
    assert!(reply["program"].is_string() && reply["answer"].is_null(), "{reply}");
    assert!(reply["error"].as_str().unwrap().contains("it would run `sh run.sh`"), "{reply}");
    assert_eq!(info(&server)["executor"], "not allowed");
    server.end();

    let server = Server::start([model, "--allow-executor"]);
    assert_eq!(
        (&ask(&server)["denotation"], &info(&server)["executor"]),
        (&json!("first"), &json!("command"))
    );
    // Programs are type-checked before they reach the executor.
    let program = &ask(&server)["program"];
    assert_eq!(server.post("/v1/execute", &json!({ "program": program }))["denotation"], "first");
    let (status, text) = server.send("POST", "/v1/execute", &json!({ "program": "do(rm(x))" }).to_string());
    assert!(status == 422 && text.contains("unknown constant `rm`"), "{text}");
    copy(second);
    server.until(|server| info(server)["executor"] == "not allowed");
    let reply = ask(&server);
    assert!(reply["error"].as_str().unwrap().contains("is not allowed"), "{reply}");
    server.end();
}
