//! What a server allows. Every number has a default that suits one machine with a few cores.

use std::net::SocketAddr;
use std::time::Duration;

/// Sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Most utterances that go through an engine together.
    pub max_batch: usize,
    /// Most utterances that wait.
    pub queue: usize,
    /// Most words of an utterance.
    pub max_words: usize,
    /// Most utterances of a request.
    pub max_utterances: usize,
    /// Most other programs that can be asked for.
    pub max_k: usize,
    /// Most bytes of a request's body.
    pub max_body: usize,
    /// Most open connections; further ones wait to be accepted.
    pub max_connections: usize,
    /// Threads that run engines.
    pub workers: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_batch: 32,
            queue: 1024,
            max_words: 200,
            max_utterances: 256,
            max_k: 100,
            max_body: 1 << 20,
            max_connections: 1024,
            workers: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Times {
    /// For the head of a request; also how long a connection may rest between two requests.
    pub head: Duration,
    /// For the body of a request.
    pub body: Duration,
    /// How long a reply may wait for a client that does not read.
    pub write: Duration,
    /// From one look at a model's files to the next.
    pub poll: Duration,
    /// When the server ends: how long requests that are on their way are still taken.
    pub linger: Duration,
    /// When the server ends: how long work in flight may take.
    pub drain: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(15),
            body: Duration::from_secs(15),
            write: Duration::from_secs(30),
            poll: Duration::from_secs(2),
            linger: Duration::from_millis(250),
            drain: Duration::from_secs(30),
        }
    }
}

/// All that a server is told.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub addr: SocketAddr,
    /// What clients must send as `Authorization: Bearer TOKEN`; `None` for nothing.
    pub token: Option<String>,
    /// Sizes.
    pub limits: Limits,
    /// Times.
    pub times: Times,
    /// Whether SIGTERM and SIGINT end the server and SIGHUP loads the models again.
    pub signals: bool,
}

impl Config {
    /// The defaults, at an address.
    #[must_use]
    pub fn new(addr: SocketAddr) -> Self {
        Self { addr, token: None, limits: Limits::default(), times: Times::default(), signals: false }
    }
}
