//! A fake engine, a server around it, and a client that sends exactly the given bytes.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use spanwise_reading::{
    Alternative, Answer, AnswerInfo, Cause, ChartSpan, Guess, NodeKind, Reading, Token, Tree, TreeNode,
};
use spanwise_server::{
    Ask, Config, Engine, Event, Executed, Handle, ModelInfo, Refusal, ServeError, Server, Source, Stamp,
    Waiting,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An engine that echoes each utterance. Some words make it behave in special ways.
pub struct Fake {
    pub name: String,
    pub delay: Duration,
    /// The same for every utterance of a batch.
    pub each: Duration,
    /// Largest batch that was seen, and the number of utterances.
    pub largest: Arc<AtomicUsize>,
    pub n: Arc<AtomicUsize>,
    /// Utterances that were given up because nobody waited any more.
    pub given_up: Arc<AtomicUsize>,
}

impl Fake {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            delay: Duration::ZERO,
            each: Duration::ZERO,
            largest: Arc::default(),
            n: Arc::default(),
            given_up: Arc::default(),
        }
    }
}

/// The program that the engine returns for an utterance.
pub fn program(name: &str, utterance: &str) -> String {
    format!("{name}('{utterance}')")
}

impl Engine for Fake {
    fn describe(&self) -> ModelInfo {
        ModelInfo {
            domain: "echo".to_owned(),
            about: "says it back".to_owned(),
            encoder: "none".to_owned(),
            executor: Some("echo".to_owned()),
            threshold: (self.name != "new").then_some(THRESHOLD),
            version: 1,
            settings: json!({ "search": "exact" }),
            metrics: json!({ "dev": 100.0 }),
            examples: vec!["hello".to_owned()],
            digest: "0123".to_owned(),
        }
    }

    fn parse(&self, batch: &[Ask]) -> Vec<Reading> {
        self.largest.fetch_max(batch.len(), Ordering::Relaxed);
        self.n.fetch_add(batch.len(), Ordering::Relaxed);
        std::thread::sleep(self.delay + self.each * u32::try_from(batch.len()).unwrap());
        for ask in batch.iter().filter(|ask| ask.utterance.starts_with("hard")) {
            self.think(ask);
        }
        if batch.iter().any(|ask| ask.utterance == "sleep") {
            std::thread::sleep(Duration::from_secs(20));
        }
        assert!(!batch.iter().any(|ask| ask.utterance == "panic"), "asked to panic");
        if batch.iter().any(|ask| ask.utterance == "lose") {
            return Vec::new();
        }
        assert!(batch.iter().all(|ask| !ask.execute || !self.evaluates_apart()), "evaluated twice");
        batch.iter().map(|ask| self.reading(ask)).collect()
    }

    fn cost(&self, ask: &Ask) -> Duration {
        if ask.utterance.starts_with("hard") { HARD } else { Duration::ZERO }
    }

    fn check(&self, program: &str) -> Result<String, Refusal> {
        match program {
            "bad(" => return Err(Refusal::Bad("a parenthesis is open".to_owned())),
            "panic" => panic!("asked to panic"),
            "slow" => std::thread::sleep(HARD),
            _ => {}
        }
        Ok(program.replace(' ', ""))
    }

    fn evaluates_apart(&self) -> bool {
        self.name == "database"
    }

    fn evaluate(&self, ask: &Ask, reading: Reading) -> Reading {
        if ask.utterance.starts_with("slow query") {
            self.think(ask);
        }
        Reading { denotation: Some("evaluated".to_owned()), ..reading }
    }

    fn execute_until(
        &self,
        program: &str,
        context: Option<&Value>,
        waiting: &Waiting,
    ) -> Result<Executed, Refusal> {
        if program == "slow query" {
            let ask =
                Ask { cancelled: Arc::clone(&waiting.cancelled), deadline: waiting.deadline, ..Ask::new("") };
            self.think(&ask);
        }
        self.execute(program, context)
    }

    fn execute(&self, program: &str, context: Option<&Value>) -> Result<Executed, Refusal> {
        let program = program.to_owned();
        let note = (program == "noted").then(|| "a remark".to_owned());
        match program.as_str() {
            "bad(" => Err(Refusal::Bad("a parenthesis is open".to_owned())),
            "never" => Err(Refusal::NoExecutor),
            "novalue" => {
                let error = Some("it has no value".to_owned());
                Ok(Executed { program, error, ..Executed::default() })
            }
            "panic" => panic!("asked to panic"),
            "slow" => {
                std::thread::sleep(HARD);
                Ok(Executed { program, ..Executed::default() })
            }
            _ => {
                let text = format!("{program} in {}", context.unwrap_or(&Value::Null));
                let answer = serde_json::from_str(&program).unwrap_or_else(|_| Answer::Text(text.clone()));
                Ok(Executed {
                    program,
                    answer: Some(answer),
                    denotation: Some(text),
                    note,
                    ..Executed::default()
                })
            }
        }
    }
}

/// The threshold of the engine; one that is called `new` has none.
pub const THRESHOLD: f64 = 0.25;

/// How long an utterance takes that begins with `hard`, and the program `slow`.
pub const HARD: Duration = Duration::from_secs(3);

impl Fake {
    /// Thinks for a long time, or until nobody waits any more.
    fn think(&self, ask: &Ask) {
        let start = Instant::now();
        while start.elapsed() < HARD {
            if ask.is_over() {
                self.given_up.fetch_add(1, Ordering::Relaxed);
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn reading(&self, ask: &Ask) -> Reading {
        let (mut at, mut tokens) = (0, Vec::new());
        for text in ask.utterance.split(' ').filter(|text| !text.is_empty()) {
            let (n, word) = (text.chars().count(), tokens.len() as u32);
            tokens.push(Token {
                text: text.to_owned(),
                start: at,
                end: at + n,
                constant: Some(text.to_owned()),
                span: Some([word, word + 1]),
                probability: Some(0.9),
                in_lexicon: true,
                unread: false,
                read_as: None,
            });
            at += n + 1;
        }
        let chart = ChartSpan { span: [0, 1], constant: None, probability: 0.5 };
        let chart = ask.chart.then(|| vec![chart]);
        let root = TreeNode {
            span: [0, tokens.len() as u32],
            words: ask.utterance.clone(),
            kind: NodeKind::Constant,
            constant: Some("say".to_owned()),
            program: Some("say".to_owned()),
            r#type: Some("Text".to_owned()),
            probability: None,
            children: Vec::new(),
        };
        let blank = Reading { utterance: ask.utterance.clone(), tokens, chart, ..Reading::default() };
        if ask.utterance == "nothing" {
            return Reading { reason: Some("every word is unknown".to_owned()), ..blank };
        }
        let is_unknown = ask.utterance == "doubt";
        let (probability, posterior) = (if is_unknown { 0.3 } else { 0.9 }, 0.95);
        let program = program(&self.name, &ask.utterance);
        if ask.withhold.below(Some(THRESHOLD)).is_some_and(|least| probability < least) {
            let reason = Some(format!("unsure: probability {probability} is too low"));
            let cause = Some(Cause::UnknownWords);
            return Reading {
                reason,
                cause,
                guess: Some(Guess { program: Some(program), answer: None, probability, posterior }),
                ..blank
            };
        }
        let other = |at: usize| Alternative {
            program: format!("other({at})"),
            probability: 0.01,
            posterior: 0.02,
            score: -1.0,
            answer: Some(Answer::Boolean(true)),
            answer_info: AnswerInfo::default(),
            denotation: Some("true".to_owned()),
        };
        let has_value = ask.utterance != "novalue";
        Reading {
            lines: Some(program.clone()),
            program: Some(program),
            answer: has_value.then(|| Answer::List(vec![Answer::Text(ask.utterance.clone())])),
            denotation: has_value.then(|| ask.utterance.clone()),
            error: (!has_value).then(|| "it has no value".to_owned()),
            note: (ask.utterance == "noted").then(|| "a remark".to_owned()),
            now: ask.now.map(|now| now.to_string()),
            probability: Some(probability),
            posterior: Some(posterior),
            in_domain: Some(1.0),
            unknown_words: if is_unknown { vec!["doubt".to_owned()] } else { Vec::new() },
            score: Some(1.5),
            tree: Some(Tree { nodes: vec![root] }),
            alternatives: (0..ask.k.min(3)).map(other).collect(),
            ..blank
        }
    }
}

/// A source whose engine, state and failures a test controls.
#[derive(Clone)]
pub struct FakeSource {
    pub make: Arc<dyn Fn(u64) -> Fake + Send + Sync>,
    pub stamp: Arc<AtomicU64>,
    pub broken: Arc<AtomicBool>,
    pub loads: Arc<AtomicU64>,
}

impl FakeSource {
    pub fn new(make: impl Fn(u64) -> Fake + Send + Sync + 'static) -> Self {
        Self { make: Arc::new(make), stamp: Arc::default(), broken: Arc::default(), loads: Arc::default() }
    }
}

impl Source for FakeSource {
    fn load(&self) -> Result<Arc<dyn Engine>, String> {
        if self.broken.load(Ordering::Relaxed) {
            return Err("the weights are damaged".to_owned());
        }
        let n = self.loads.fetch_add(1, Ordering::Relaxed) + 1;
        Ok(Arc::new((self.make)(n)))
    }

    fn stamp(&self, broken: bool) -> Option<Stamp> {
        Some(self.stamp.load(Ordering::Relaxed) + if broken { 1000 } else { 0 })
    }
}

/// A server on a thread of its own.
pub struct Running {
    pub addr: SocketAddr,
    pub handle: Handle,
    pub events: Arc<Mutex<Vec<Event>>>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

pub fn config() -> Config {
    let mut config = Config::new("127.0.0.1:0".parse().unwrap());
    config.limits.workers = 2;
    config.times.poll = Duration::from_millis(20);
    config
}

/// A server with one model, `echo`.
pub fn serve(config: Config, fake: impl Fn() -> Fake + Send + Sync + 'static) -> Running {
    serve_all(config, vec![("echo", FakeSource::new(move |_| fake()))])
}

pub fn serve_all(config: Config, sources: Vec<(&str, FakeSource)>) -> Running {
    let running = start(config, sources);
    running.wait(|running| running.get("/readyz").status == 200);
    running
}

/// A server that may not be ready yet.
pub fn start(config: Config, sources: Vec<(&str, FakeSource)>) -> Running {
    let events: Arc<Mutex<Vec<Event>>> = Arc::default();
    let logged = Arc::clone(&events);
    let listener = Arc::new(move |event| logged.lock().unwrap().push(event));
    let sources = sources.into_iter().map(|(name, source)| {
        let source: Box<dyn Source> = Box::new(source);
        (name.to_owned(), source)
    });
    let server = Server::bind(config, sources.collect(), listener).unwrap();
    let (addr, handle) = (server.addr().unwrap(), server.handle());
    let thread = std::thread::spawn(move || server.run());
    Running { addr, handle, events, thread: Some(thread) }
}

impl Running {
    pub fn get(&self, path: &str) -> Reply {
        Client::new(self.addr).send("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_bytes(path, body.to_string().as_bytes())
    }

    pub fn post_bytes(&self, path: &str, body: &[u8]) -> Reply {
        Client::new(self.addr).send("POST", path, &[], body)
    }

    /// Waits until a condition holds; fails after 20 seconds.
    pub fn wait(&self, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < Duration::from_secs(20), "the condition never held");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Shuts the server down and returns how it ended.
    pub fn stop(mut self) -> Result<(), ServeError> {
        self.handle.stop();
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A reply.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }
}

/// One connection that can carry many requests.
pub struct Client {
    pub stream: BufReader<TcpStream>,
}

impl Client {
    pub fn new(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    pub fn send(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        self.write(method, path, headers, body).unwrap();
        self.read().expect("there is a reply")
    }

    pub fn write(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<()> {
        let has = |wanted: &str| headers.iter().any(|(name, _)| *name == wanted);
        let mut head = format!("{method} {path} HTTP/1.1\r\nContent-Length: {}\r\n", body.len());
        if !has("Host") {
            head += "Host: localhost\r\n";
        }
        if method == "POST" && !has("Content-Type") {
            head += "Content-Type: application/json\r\n";
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let stream = self.stream.get_mut();
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        stream.write_all(body)
    }

    /// The next reply; `None` when the connection ends before it.
    pub fn read(&mut self) -> Option<Reply> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = BTreeMap::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        if (100..200).contains(&status) {
            return self.read();
        }
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        Some(Reply { status, headers, body: String::from_utf8(body).unwrap() })
    }
}
