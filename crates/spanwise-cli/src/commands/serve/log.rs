//! The log of the server. Requests never wait for it: one thread writes what a bounded queue holds.

use crate::output::say;
use serde_json::{Value, json};
use spanwise_server::{Event, Listener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Lines that wait to be written; further ones are dropped and counted.
const MAX_WAITING: usize = 4096;
/// How long the end of the program waits until the log is written.
const LAST_LINES: Duration = Duration::from_millis(500);

/// A line to write.
enum Entry {
    Event(SystemTime, Event),
    /// A thread has panicked: where, and why.
    Panic(SystemTime, String),
    End(Sender<()>),
}

/// The log: a queue to the thread that writes it.
#[derive(Clone)]
pub(super) struct Log {
    queue: SyncSender<Entry>,
    n_dropped: Arc<AtomicU64>,
    quiet: bool,
}

impl Log {
    /// Starts the thread. With `quiet`, requests are left out.
    pub(super) fn start(as_json: bool, quiet: bool) -> Self {
        let (queue, entries) = sync_channel(MAX_WAITING);
        let n_dropped = Arc::new(AtomicU64::new(0));
        let log = Self { queue, n_dropped: Arc::clone(&n_dropped), quiet };
        std::thread::spawn(move || write(&entries, &n_dropped, as_json));
        log
    }

    /// A listener that logs the events of a server.
    pub(super) fn listener(&self) -> Listener {
        let log = self.clone();
        Arc::new(move |event| {
            if !(log.quiet && matches!(event, Event::Request { .. })) {
                log.add(Entry::Event(SystemTime::now(), event));
            }
        })
    }

    /// Logs panics of other threads than the main one: their messages would otherwise wait for standard error.
    pub(super) fn take_panics(&self) {
        let (log, usual) = (self.clone(), std::panic::take_hook());
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().name() == Some("main") {
                usual(panic);
            } else {
                log.add(Entry::Panic(SystemTime::now(), panic.to_string()));
            }
        }));
    }

    fn add(&self, entry: Entry) {
        if self.queue.try_send(entry).is_err() {
            self.n_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything is written, but not for ever: standard error may be a pipe that nobody reads.
    pub(super) fn end(&self) {
        let (written, is_written) = channel();
        self.add(Entry::End(written));
        let _ = is_written.recv_timeout(LAST_LINES);
    }
}

fn write(entries: &Receiver<Entry>, n_dropped: &AtomicU64, as_json: bool) {
    for entry in entries {
        match entry {
            Entry::Event(time, event) if as_json => say(&timed(as_object(&event), time)),
            Entry::Event(_, event) => say(&as_line(&event)),
            Entry::Panic(time, reason) if as_json => {
                say(&timed(json!({ "event": "panic", "reason": reason }), time));
            }
            Entry::Panic(_, reason) => say(&reason),
            Entry::End(written) => {
                let _ = written.send(());
            }
        }
        let lines = n_dropped.swap(0, Ordering::Relaxed);
        if lines > 0 && as_json {
            say(&timed(json!({ "event": "log_dropped", "lines": lines }), SystemTime::now()));
        } else if lines > 0 {
            say(&format!("{lines} lines of this log were dropped: standard error was not read in time"));
        }
    }
}

fn timed(mut object: Value, time: SystemTime) -> String {
    object["time"] = json!(time.duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64()));
    object.to_string()
}

/// An event as a human-readable line.
fn as_line(event: &Event) -> String {
    match event {
        Event::Listening { addr } => format!("listening on http://{addr}"),
        Event::Exposed { addr } => {
            format!(
                "warning: {addr} is reachable from other machines without a token; require one with --token-env"
            )
        }
        Event::Loaded { model, generation, took } => {
            let again = if *generation > 1 { format!(" again (number {generation})") } else { String::new() };
            format!("model {model} loaded{again} in {:.1} s", took.as_secs_f64())
        }
        Event::LoadWarning { model, text } => format!("warning: model {model}: {text}"),
        Event::LoadFailed { model, reason, kept } => {
            let kept = if *kept { "; the old one continues to serve" } else { "" };
            format!("model {model} could not be loaded: {reason}{kept}")
        }
        Event::EngineFailed { reason } => format!("a model failed: {reason}"),
        Event::Request { peer, method, path, status, took } => {
            let path = path.escape_debug();
            format!("{peer} {method} {path} {status} {:.1} ms", took.as_secs_f64() * 1e3)
        }
        Event::QuestionLogFailed { path, reason } => {
            format!(
                "warning: the log of questions cannot be written to {path}: {reason}; questions are answered all the same"
            )
        }
        Event::QuestionLogBack { lost } => {
            format!("the log of questions is written again; {lost} lines were lost")
        }
        Event::Draining { connections } => format!("shutting down; {connections} connections are open"),
        Event::Stopped { cut: 0 } => "stopped".to_owned(),
        Event::Stopped { cut } => format!("stopped; {cut} connections were cut"),
    }
}

/// An event as a JSON object.
fn as_object(event: &Event) -> Value {
    match event {
        Event::Listening { addr } => json!({ "event": "listening", "addr": addr.to_string() }),
        Event::Exposed { addr } => json!({ "event": "exposed", "addr": addr.to_string() }),
        Event::Loaded { model, generation, took } => {
            json!({ "event": "loaded", "model": model, "generation": generation, "seconds": took.as_secs_f64() })
        }
        Event::LoadWarning { model, text } => {
            json!({ "event": "load_warning", "model": model, "text": text })
        }
        Event::LoadFailed { model, reason, kept } => {
            json!({ "event": "load_failed", "model": model, "reason": reason, "kept": kept })
        }
        Event::EngineFailed { reason } => json!({ "event": "engine_failed", "reason": reason }),
        Event::Request { peer, method, path, status, took } => json!({
            "event": "request", "peer": peer.to_string(), "method": method, "path": path,
            "status": status, "seconds": took.as_secs_f64(),
        }),
        Event::QuestionLogFailed { path, reason } => {
            json!({ "event": "question_log_failed", "path": path, "reason": reason })
        }
        Event::QuestionLogBack { lost } => json!({ "event": "question_log_back", "lost": lost }),
        Event::Draining { connections } => json!({ "event": "draining", "connections": connections }),
        Event::Stopped { cut } => json!({ "event": "stopped", "cut": cut }),
    }
}
