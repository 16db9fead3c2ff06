//! The log of questions: what was asked, what was replied, and what people said about it. Only with `serve --log`.
//!
//! The file has one JSON object a line ([`Question`] or [`Judgement`]) and no address of a client. Lines are appended by a
//! thread of their own, each with one write, so that requests never wait for the disk and a full one takes nothing down.
//! [`read`] reads it again, [`Review`] makes examples of it.

mod entry;
mod read;
mod recent;
mod review;
mod sink;

pub use entry::{Judgement, ModelName, Outcome, Question, VERSION, Verdict};
pub use read::{Log, Skipped, read};
pub use review::{Conflict, Labelled, Reread, Review, Unsure, Wrong, normal};

use crate::engine::ModelInfo;
use crate::event::{Event, Listener};
use crate::metrics::Metrics;
use recent::Recent;
use serde::Serialize;
use serde_json::Value;
use sink::Sink;
use spanwise_reading::{Cause, Reading};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::oneshot;

/// Lines that wait to be written; further ones are dropped and counted.
const MAX_WAITING: usize = 4096;
/// Longest utterance, and largest context, that is kept.
const MAX_UTTERANCE: usize = 10_000;
const MAX_CONTEXT: usize = 64 << 10;
/// Most alternatives of a question that are kept.
const MAX_ALTERNATIVES: usize = 5;
/// How long the end of the server waits until everything is written.
const LAST_LINES: Duration = Duration::from_secs(2);

/// Where questions are kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogFile {
    /// The file. It is made if it is not there, readable by its owner only.
    pub path: PathBuf,
    /// The size at which it is renamed to the same name with `.1`, in the place of an older one.
    pub max_bytes: u64,
}

impl LogFile {
    /// A file of at most 64 MiB.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), max_bytes: 64 << 20 }
    }
}

enum Message {
    Line { line: Vec<u8>, written: Option<oneshot::Sender<bool>> },
    End(Sender<()>),
}

/// Why a judgement was not kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NotKept {
    /// Too many lines wait.
    Full,
    /// It could not be written.
    Failed,
}

/// The log of a server that runs.
pub(crate) struct Journal {
    queue: SyncSender<Message>,
    recent: Mutex<Recent>,
    /// Random numbers of the system, so that nobody guesses the id of somebody else's question.
    keys: [RandomState; 2],
    n_ids: AtomicU64,
    metrics: Arc<Metrics>,
}

impl Journal {
    /// Opens the file and starts the thread that writes it.
    ///
    /// # Errors
    /// A file that cannot be the log: a directory, one in a folder that does not exist, one of another server. A disk that is
    /// full is reported as an event when something is written.
    pub(crate) fn start(file: &LogFile, metrics: &Arc<Metrics>, listener: &Listener) -> io::Result<Self> {
        let sink = Sink::start(file.clone())?;
        let (queue, messages) = sync_channel(MAX_WAITING);
        let (counted, listener) = (Arc::clone(metrics), Arc::clone(listener));
        let thread = std::thread::Builder::new().name("question-log".to_owned());
        thread.spawn(move || write(sink, &messages, &counted, &listener))?;
        let (recent, keys, n_ids) = (Mutex::default(), Default::default(), AtomicU64::new(0));
        Ok(Self { queue, recent, keys, n_ids, metrics: Arc::clone(metrics) })
    }

    /// Keeps a question with its reply, which gets an id. Very long ones are not kept.
    pub(crate) fn question(
        &self,
        (name, info): (&str, &ModelInfo),
        reading: &mut Reading,
        context: Option<&Arc<Value>>,
    ) {
        if reading.utterance.len() > MAX_UTTERANCE {
            return;
        }
        let id = self.new_id();
        let (domain, digest) = (info.domain.clone(), info.digest.clone());
        let model = ModelName { name: name.to_owned(), domain, digest };
        let question = question(id.clone(), model, reading, context);
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).add(&question);
        reading.id = Some(id);
        if self.queue.try_send(Message::Line { line: line(&question), written: None }).is_err() {
            self.metrics.question_log("dropped");
        }
    }

    /// A question that was asked a while ago.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Question>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner).find(id)
    }

    /// Keeps a judgement; returns when it is in the file.
    pub(crate) async fn judgement(&self, judgement: &Judgement) -> Result<(), NotKept> {
        let (written, is_written) = oneshot::channel();
        let message = Message::Line { line: line(judgement), written: Some(written) };
        if self.queue.try_send(message).is_err() {
            self.metrics.question_log("dropped");
            return Err(NotKept::Full);
        }
        if is_written.await.unwrap_or(false) { Ok(()) } else { Err(NotKept::Failed) }
    }

    /// Waits until everything is written, but not for ever.
    pub(crate) fn end(&self) {
        let until = Instant::now() + LAST_LINES;
        let (ended, has_ended) = channel();
        let mut end = Message::End(ended);
        // The queue may be full for a moment.
        while let Err(TrySendError::Full(back)) = self.queue.try_send(end) {
            if Instant::now() >= until {
                return;
            }
            end = back;
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = has_ended.recv_timeout(until.saturating_duration_since(Instant::now()));
    }

    fn new_id(&self) -> String {
        let n = self.n_ids.fetch_add(1, Ordering::Relaxed);
        self.keys.iter().map(|key| format!("{:016x}", key.hash_one(n))).collect()
    }
}

/// The time now, in seconds since 1970.
pub(crate) fn seconds() -> f64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    passed.as_millis() as f64 / 1e3
}

fn question(id: String, model: ModelName, reading: &Reading, context: Option<&Arc<Value>>) -> Question {
    let guess = reading.guess.as_ref();
    let outcome = match (reading.is_found(), guess) {
        (true, _) => Outcome::Answered,
        (false, Some(_)) => Outcome::Withheld,
        (false, None) => Outcome::Nothing,
    };
    let context = context.filter(|context| context.to_string().len() <= MAX_CONTEXT);
    let alternatives = reading.alternatives.iter().take(MAX_ALTERNATIVES);
    Question {
        version: VERSION,
        kind: entry::Kind::Question,
        id,
        time: seconds(),
        model,
        utterance: reading.utterance.clone(),
        now: reading.now.clone(),
        context: context.map(|context| Value::clone(context)),
        outcome,
        cause: reading.cause.map(Cause::name).map(str::to_owned),
        program: reading.program.clone().or_else(|| guess?.program.clone()),
        probability: reading.probability.or_else(|| Some(guess?.probability)),
        in_domain: reading.in_domain,
        alternatives: alternatives.map(|other| other.program.clone()).collect(),
    }
}

/// An entry as a line with its end.
fn line(entry: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(entry).unwrap_or_default();
    line.push(b'\n');
    line
}

fn write(mut sink: Sink, messages: &Receiver<Message>, metrics: &Metrics, listener: &Listener) {
    let mut n_lost = 0;
    for message in messages {
        let (line, written) = match message {
            Message::Line { line, written } => (line, written),
            Message::End(ended) => {
                let _ = ended.send(());
                return;
            }
        };
        let outcome = sink.write(&line);
        metrics.question_log(if outcome.is_ok() { "written" } else { "failed" });
        if let Some(written) = written {
            let _ = written.send(outcome.is_ok());
        }
        match outcome {
            Ok(()) if n_lost > 0 => {
                listener(Event::QuestionLogBack { lost: n_lost });
                n_lost = 0;
            }
            Ok(()) => {}
            Err(error) => {
                // One event for a stretch of failures: a full disk must not fill the other log as well.
                if n_lost == 0 {
                    let path = sink.path().display().to_string();
                    listener(Event::QuestionLogFailed { path, reason: error.to_string() });
                }
                n_lost += 1;
            }
        }
    }
}
