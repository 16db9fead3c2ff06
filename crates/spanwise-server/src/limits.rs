//! The settings of a server. The defaults suit one machine with a few cores.

use crate::engine::Withhold;
use crate::journal::LogFile;
use std::net::SocketAddr;
use std::time::Duration;

/// Limits on sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum number of utterances in a batch.
    pub max_batch: usize,
    /// Maximum number of utterances and programs that wait.
    pub queue: usize,
    /// Maximum number of words of an utterance.
    pub max_words: usize,
    /// Maximum number of utterances of a request.
    pub max_utterances: usize,
    /// Maximum number of alternatives that can be requested.
    pub max_k: usize,
    /// Maximum size of a request's body, in bytes.
    pub max_body: usize,
    /// Maximum number of open connections. A further one takes the place of the one that has waited longest for its client;
    /// where all are being answered, it can only check the health of the server.
    pub max_connections: usize,
    /// Threads that run engines; there are always at least two.
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

/// Limits on times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Times {
    /// For the head of a request; also how long a connection may be idle between two requests.
    pub head: Duration,
    /// For the body of a request.
    pub body: Duration,
    /// From the end of a request to its reply; work that takes longer is given up.
    pub reply: Duration,
    /// How long a reply may wait for a client that does not read.
    pub write: Duration,
    /// Interval between two checks of a model's files.
    pub poll: Duration,
    /// On shutdown: how long an open connection may still send a request.
    pub linger: Duration,
    /// On shutdown: how long work in flight may take.
    pub drain: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(15),
            body: Duration::from_secs(15),
            reply: Duration::from_secs(30),
            write: Duration::from_secs(30),
            poll: Duration::from_secs(2),
            linger: Duration::from_millis(250),
            drain: Duration::from_secs(30),
        }
    }
}

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address to listen on; port 0 picks a free one.
    pub addr: SocketAddr,
    /// The token that clients must send as `Authorization: Bearer TOKEN`, if any.
    pub token: Option<String>,
    /// Names of hosts that requests may be sent to. On a loopback address these are further ones beside `localhost` and the
    /// loopback addresses; on other addresses every name is fine if the list is empty.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may use the server, such as `https://example.org`, beside the page of the server itself.
    pub cors_origins: Vec<String>,
    /// Which programs are withheld from requests that do not say.
    pub withhold: Withhold,
    /// Sizes.
    pub limits: Limits,
    /// Times.
    pub times: Times,
    /// Where questions and judgements are kept, if anywhere.
    pub log: Option<LogFile>,
    /// Whether SIGTERM and SIGINT shut the server down and SIGHUP loads the models again.
    pub signals: bool,
}

impl Config {
    /// The defaults, on an address.
    #[must_use]
    pub fn new(addr: SocketAddr) -> Self {
        Self {
            addr,
            token: None,
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            withhold: Withhold::Model,
            limits: Limits::default(),
            times: Times::default(),
            log: None,
            signals: false,
        }
    }
}
