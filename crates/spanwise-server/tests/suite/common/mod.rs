//! A fake engine, a server around it, and a client that sends exactly the bytes it is told to.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]

pub mod schema;

use serde_json::{Value, json};
use spanwise_server::{
    Alternative, Answer, Ask, ChartSpan, Config, Engine, Event, Found, Handle, ModelInfo, Reading, Refusal,
    ServeError, Server, Source, Stamp, Word,
};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An engine that says each utterance back. Some words make it behave in special ways.
pub struct Fake {
    pub name: String,
    pub delay: Duration,
    /// Largest batch that was seen, and the number of utterances.
    pub largest: Arc<AtomicUsize>,
    pub n: Arc<AtomicUsize>,
}

impl Fake {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), delay: Duration::ZERO, largest: Arc::default(), n: Arc::default() }
    }
}

/// The program that an utterance is read as.
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
            version: 1,
            settings: json!({ "search": "exact" }),
            metrics: json!({ "dev": 100.0 }),
            examples: vec!["hello".to_owned()],
        }
    }

    fn parse(&self, batch: &[Ask]) -> Vec<Reading> {
        self.largest.fetch_max(batch.len(), Ordering::Relaxed);
        self.n.fetch_add(batch.len(), Ordering::Relaxed);
        std::thread::sleep(self.delay);
        if batch.iter().any(|ask| ask.utterance == "sleep") {
            std::thread::sleep(Duration::from_secs(20));
        }
        assert!(!batch.iter().any(|ask| ask.utterance == "panic"), "asked to panic");
        if batch.iter().any(|ask| ask.utterance == "lose") {
            return Vec::new();
        }
        batch.iter().map(|ask| self.reading(ask)).collect()
    }

    fn execute(&self, program: &str, context: Option<&Value>) -> Result<Answer, Refusal> {
        match program {
            "bad(" => Err(Refusal::Bad("a parenthesis is open".to_owned())),
            "never" => Err(Refusal::NoExecutor),
            "novalue" => Ok(Err("it has no value".to_owned())),
            "noted" => Ok(Ok(("7".to_owned(), Some("a remark".to_owned())))),
            "panic" => panic!("asked to panic"),
            _ => Ok(Ok((format!("{program} in {}", context.unwrap_or(&Value::Null)), None))),
        }
    }
}

impl Fake {
    fn reading(&self, ask: &Ask) -> Reading {
        let (mut at, mut words) = (0, Vec::new());
        for text in ask.utterance.split(' ').filter(|text| !text.is_empty()) {
            let n = text.chars().count();
            words.push(Word {
                text: text.to_owned(),
                start: at,
                end: at + n,
                constant: Some(text.to_owned()),
                span: Some([words.len() as u32, words.len() as u32 + 1]),
                probability: Some(0.9),
                in_lexicon: true,
            });
            at += n + 1;
        }
        let n_words = words.len();
        let probability = if ask.utterance == "doubt" { 0.3 } else { 0.9 };
        let other = |at: usize| Alternative {
            program: format!("other({at})"),
            probability: 0.01,
            posterior: 0.02,
            score: -1.0,
            denotation: None,
        };
        let tree = json!({
            "span": [0, n_words], "words": ask.utterance, "category": "constant", "constant": "say",
            "program": "say", "type": "Text", "children": [],
        });
        let found = Found {
            program: program(&self.name, &ask.utterance),
            lines: program(&self.name, &ask.utterance),
            answer: match ask.utterance.as_str() {
                "novalue" => Some(Err("it has no value".to_owned())),
                "noted" => Some(Ok(("7".to_owned(), Some("a remark".to_owned())))),
                text => Some(Ok((text.to_owned(), None))),
            },
            probability,
            posterior: probability,
            in_domain: 1.0,
            unknown_words: if ask.utterance == "doubt" { vec!["doubt".to_owned()] } else { Vec::new() },
            score: 1.5,
            tree: tree.to_string(),
            alternatives: (0..ask.k.min(3)).map(other).collect(),
        };
        let chart = ChartSpan { start: 0, end: 1, constant: None, probability: 0.5 };
        Reading {
            words,
            found: if ask.utterance == "nothing" {
                Err("no word means anything".to_owned())
            } else {
                Ok(found)
            },
            chart: if ask.chart { vec![chart] } else { Vec::new() },
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
    let heard = Arc::clone(&events);
    let listener = Arc::new(move |event| heard.lock().unwrap().push(event));
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
        Client::new(self.addr).send("POST", path, &[("Content-Type", "application/json")], body)
    }

    /// Waits until something is so, but not for ever.
    pub fn wait(&self, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            assert!(start.elapsed() < Duration::from_secs(20), "it never came to be");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends the server and says how it ended.
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
        self.read().expect("a reply comes")
    }

    pub fn write(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<()> {
        let mut head =
            format!("{method} {path} HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n", body.len());
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
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).ok()?;
        Some(Reply { status, headers, body: String::from_utf8(body).unwrap() })
    }
}
