//! What a server tells about its life. Who listens decides what becomes of it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Something that happened.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// Connections are taken.
    Listening {
        /// The address.
        addr: SocketAddr,
    },
    /// Anybody who reaches the address may use the server.
    Exposed {
        /// The address.
        addr: SocketAddr,
    },
    /// A model was loaded.
    Loaded {
        /// Its name.
        model: String,
        /// 1 for the first, one more each time it is loaded again.
        generation: u64,
        /// How long that took.
        took: Duration,
    },
    /// A model could not be loaded; if there was one before, it stays.
    LoadFailed {
        /// Its name.
        model: String,
        /// What is wrong.
        reason: String,
        /// Whether an older one goes on serving.
        kept: bool,
    },
    /// An engine broke down on a batch.
    EngineFailed {
        /// What it said.
        reason: String,
    },
    /// A request was answered.
    Request {
        /// Who asked.
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
    /// The server ends: no new connections, and this many are still open.
    Draining {
        /// Open connections.
        connections: usize,
    },
    /// The server has ended, and this many connections had to be cut.
    Stopped {
        /// Connections that did not end in time.
        cut: usize,
    },
}

/// Gets every event, on any thread.
pub type Listener = Arc<dyn Fn(Event) + Send + Sync>;
