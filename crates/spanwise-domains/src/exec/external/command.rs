//! An executor that is a pool of child processes speaking JSON lines on their standard input and output.
//!
//! A child is started when a request comes and no other child is free, up to a limit; it is kept for later requests. So
//! one slow request does not hold up the next, and requests that come one after another all reach the same child. A child
//! that times out, ends or breaks the protocol is stopped with everything it started, and another takes its place. A child
//! that was killed is replaced at once, and its request is sent once more.

use super::process::Process;
use super::{MAX_QUOTED_CHARS, MAX_TIMEOUT, Question, excerpt, quote};
use crate::exec::{Denotation, ExecError, Executor};
use serde_json::Value;
use spanwise_lang::{Style, TermId, Terms};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How to run a [`CommandExecutor`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandConfig {
    /// The program to start and its arguments; no shell is involved.
    pub program: Vec<String>,
    /// Where to start it; the current directory when `None`.
    pub working_dir: Option<PathBuf>,
    /// Longest time for one request, with the start of a child where there is one. At most [`MAX_TIMEOUT`]. A request
    /// waits at most as long for a child that is free.
    pub timeout: Duration,
    /// Most children at a time; at least one.
    pub processes: usize,
    /// How programs are written.
    pub style: Style,
}

/// Evaluates programs in child processes; see the [module](super) for the messages.
///
/// A child reads one request per line and prints one reply per line, flushed, until its input ends. Replies may repeat the
/// `id` of the request, and should: a reply with a smaller one is skipped as stale. The children are killed when the
/// executor is dropped.
#[derive(Debug)]
pub struct CommandExecutor {
    config: CommandConfig,
    pool: Mutex<Pool>,
    /// Signalled when a seat becomes free.
    freed: Condvar,
}

#[derive(Default, Debug)]
struct Pool {
    /// Children that wait for a request, in the order in which they were first asked.
    idle: BTreeMap<u64, Process>,
    /// Seats that are taken: by children that wait, and by requests.
    n_seats: usize,
    last_seat: u64,
    last_id: u64,
    /// Shared with every thread of every child; its reference count is the number of those that still run.
    threads: Arc<()>,
}

impl CommandExecutor {
    /// An executor whose children start when they are needed.
    ///
    /// # Errors
    /// When no program is named.
    pub fn new(config: CommandConfig) -> Result<Self, ExecError> {
        check_command(&config.program).map_err(ExecError::External)?;
        Ok(Self { config, pool: Mutex::default(), freed: Condvar::new() })
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn timeout(&self) -> Duration {
        self.config.timeout.min(MAX_TIMEOUT)
    }

    /// A place in the pool for one request: with the child that was first asked of those that are free, or for a new one.
    fn seat(&self) -> Result<Seat<'_>, ExecError> {
        let deadline = Instant::now() + self.timeout();
        let most = self.config.processes.max(1);
        let mut pool = self.pool();
        loop {
            pool.reap();
            if pool.idle.is_empty() && pool.n_seats < most {
                pool.n_seats += 1;
                pool.last_seat += 1;
                pool.last_id += 1;
                return Ok(Seat { number: pool.last_seat, id: pool.last_id, process: None, executor: self });
            }
            if let Some((number, process)) = pool.idle.pop_first() {
                pool.last_id += 1;
                return Ok(Seat { number, id: pool.last_id, process: Some(process), executor: self });
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let command = excerpt(&self.config.program.join(" "), MAX_QUOTED_CHARS);
                return Err(ExecError::External(format!(
                    "external executor `{command}` is busy: none of its {most} processes became free within {:?}",
                    self.config.timeout
                )));
            }
            pool = self.freed.wait_timeout(pool, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Executor for CommandExecutor {
    fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&Value>,
    ) -> Result<Denotation, ExecError> {
        let mut seat = self.seat()?;
        let question = Question { terms, program, context, style: &self.config.style };
        let mut request = question.request(Some(seat.id))?;
        let shown = quote(&request);
        request.push(b'\n');
        let request = Arc::new(request);
        let deadline = Instant::now() + self.timeout();
        let mut is_retry = false;
        loop {
            // During a request the child is not in its seat, so that a broken one is never kept.
            let mut process = match seat.process.take() {
                Some(process) => process,
                None => seat.start().map_err(ExecError::External)?,
            };
            let failure = match process.ask(seat.id, &request, deadline) {
                Ok(result) => {
                    seat.process = Some(process);
                    return result;
                }
                Err(failure) => failure,
            };
            let (what, was_killed) = process.end(failure, &self.config);
            if is_retry || !was_killed || Instant::now() >= deadline {
                let named = named(&self.config, &shown);
                return Err(ExecError::External(format!("external executor {named} {what}")));
            }
            is_retry = true;
        }
    }
}

impl Pool {
    /// Forgets children that ended while they waited, whatever the reason: no request was lost.
    fn reap(&mut self) {
        let before = self.idle.len();
        self.idle.retain(|_, process| process.is_running());
        self.n_seats -= before - self.idle.len();
    }
}

/// A place in the pool. When it is dropped, its child waits for the next request; without a child the place is free.
struct Seat<'a> {
    number: u64,
    /// Of the request. Larger than that of any request its child has seen.
    id: u64,
    process: Option<Process>,
    executor: &'a CommandExecutor,
}

impl Seat<'_> {
    fn start(&self) -> Result<Process, String> {
        let threads = Arc::clone(&self.executor.pool().threads);
        Process::start(&self.executor.config, &threads)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut pool = self.executor.pool();
        match self.process.take() {
            Some(process) => drop(pool.idle.insert(self.number, process)),
            None => pool.n_seats -= 1,
        }
        drop(pool);
        self.executor.freed.notify_one();
    }
}

/// Whether a program is named at all.
pub(in crate::exec) fn check_command(program: &[String]) -> Result<(), String> {
    if program.first().is_none_or(String::is_empty) {
        return Err("expected a program to start as external executor, got an empty command".to_owned());
    }
    Ok(())
}

/// The command and the request it was sent.
fn named(config: &CommandConfig, request: &str) -> String {
    format!("`{}`, asked `{request}`,", excerpt(&config.program.join(" "), MAX_QUOTED_CHARS))
}
