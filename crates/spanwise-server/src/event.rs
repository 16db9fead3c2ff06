//! Events that a server reports while it runs; the caller decides what to do with them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Something that happened.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// Connections are accepted.
    Listening {
        /// The address.
        addr: SocketAddr,
    },
    /// The address is not a loopback address and no token is required.
    Exposed {
        /// The address.
        addr: SocketAddr,
    },
    /// A model was loaded.
    Loaded {
        /// Its name.
        model: String,
        /// 1 for the first load, one more for each further one.
        generation: u64,
        /// How long the load took.
        took: Duration,
    },
    /// Something that the user should know about a model that was loaded.
    LoadWarning {
        /// Its name.
        model: String,
        /// What it is.
        text: String,
    },
    /// A model could not be loaded; an earlier one stays.
    LoadFailed {
        /// Its name.
        model: String,
        /// What is wrong.
        reason: String,
        /// Whether an older one continues to serve.
        kept: bool,
    },
    /// An engine failed on a batch.
    EngineFailed {
        /// Its panic message.
        reason: String,
    },
    /// A request was answered.
    Request {
        /// The address of the client.
        peer: SocketAddr,
        /// The method.
        method: String,
        /// The path, without its query.
        path: String,
        /// The status of the reply.
        status: u16,
        /// From the head of the request to the reply.
        took: Duration,
    },
    /// The log of questions cannot be written; questions are answered all the same.
    QuestionLogFailed {
        /// Its file.
        path: String,
        /// The error of the system.
        reason: String,
    },
    /// The log of questions is written again.
    QuestionLogBack {
        /// Lines that were lost.
        lost: u64,
    },
    /// The server is shutting down: it accepts no more connections.
    Draining {
        /// Connections that are still open.
        connections: usize,
    },
    /// The server has ended.
    Stopped {
        /// Connections that were cut because they did not end in time.
        cut: usize,
    },
}

/// Receives every event, on any thread.
pub type Listener = Arc<dyn Fn(Event) + Send + Sync>;
