//! A child process that answers requests, and the threads that serve it.
//!
//! Three threads serve a child, so that no pipe can block the caller: one writes requests, one reads replies, one drains
//! standard error. A child runs in a process group of its own and is stopped with everything it started.

use super::{CommandConfig, MAX_MESSAGE_BYTES, MAX_QUOTED_CHARS, Reply, excerpt, quote};
use crate::exec::{Denotation, ExecError};
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of standard error kept for messages.
const STDERR_BYTES: usize = 2 << 10;
/// How long a child that closed its output may take to end.
const EXIT_GRACE: Duration = Duration::from_secs(1);
/// How long to wait for a killed child to be gone.
const KILL_GRACE: Duration = Duration::from_secs(5);
/// How long to wait for the rest of standard error once the child is gone.
const STDERR_GRACE: Duration = Duration::from_millis(200);
/// Threads that serve a child.
const THREADS: usize = 3;
/// Most threads that wait for pipes of former children, held open by processes that these left behind.
const MAX_LEFT_THREADS: usize = 64;
/// How often a file that was just copied is tried again: another thread may have been starting a process meanwhile, which
/// holds every open file for a moment.
const MAX_BUSY_TRIES: u32 = 5;

/// What the reader thread saw.
#[derive(Debug)]
enum Event {
    Line(Vec<u8>),
    TooLong,
    /// The end of standard output, with what stood after the last line end.
    Closed(Vec<u8>),
}

/// Why a child has to go.
pub(super) enum Failure {
    TimedOut,
    Closed(Vec<u8>),
    Protocol(String),
}

/// A child and its threads.
#[derive(Debug)]
pub(super) struct Process {
    // Dropped first: once the child is gone its pipes close and the threads end.
    guard: Guard,
    requests: SyncSender<Arc<Vec<u8>>>,
    events: Receiver<Event>,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// Disconnected when standard error has been read to its end.
    stderr_end: Receiver<()>,
}

impl Process {
    pub(super) fn start(config: &CommandConfig, threads: &Arc<()>) -> Result<Self, String> {
        if Arc::strong_count(threads) > MAX_LEFT_THREADS + THREADS * config.processes {
            return Err(format!(
                "cannot start `{}` again: processes left behind by earlier runs still hold its pipes open; \
                 let them end when standard input ends",
                config.program[0]
            ));
        }
        let mut command = Command::new(&config.program[0]);
        command.args(&config.program[1..]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(dir) = &config.working_dir {
            command.current_dir(dir);
        }
        // A group of its own, so that what the child starts can be stopped with it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut guard = Guard::spawn(&mut command, config)?;
        let stdin = guard.child.stdin.take().expect("standard input is piped");
        let stdout = guard.child.stdout.take().expect("standard output is piped");
        let stderr_pipe = guard.child.stderr.take().expect("standard error is piped");

        let (requests, to_write) = sync_channel(1);
        let (found, events) = sync_channel(1);
        let (stderr_open, stderr_end) = sync_channel(0);
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let tail = Arc::clone(&stderr);
        let spawned = spawn(threads, move || write_requests(stdin, &to_write))
            .and_then(|()| spawn(threads, move || read_replies(stdout, &found)))
            .and_then(|()| spawn(threads, move || drain(stderr_pipe, &tail, stderr_open)));
        spawned.map_err(|error| format!("cannot start a thread for `{}`: {error}", config.program[0]))?;
        Ok(Self { guard, requests, events, stderr, stderr_end })
    }

    /// Sends a request and waits for its reply.
    pub(super) fn ask(
        &mut self,
        id: u64,
        request: &Arc<Vec<u8>>,
        deadline: Instant,
    ) -> Result<Result<Denotation, ExecError>, Failure> {
        // What is here already cannot be the answer.
        while let Ok(event) = self.events.try_recv() {
            let reply = event.reply(id, deadline)?;
            if reply.id.is_none_or(|old| old >= id) {
                return Err(Failure::Protocol("printed a reply before it was asked".to_owned()));
            }
        }
        match self.requests.try_send(Arc::clone(request)) {
            // Without its writer the child has closed its input; it may still have something to say.
            Ok(()) | Err(TrySendError::Disconnected(_)) => {}
            Err(TrySendError::Full(_)) => {
                return Err(Failure::Protocol("printed replies to requests that it has not read".to_owned()));
            }
        }
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let event = self.events.recv_timeout(left).map_err(|error| match error {
                RecvTimeoutError::Timeout => Failure::TimedOut,
                RecvTimeoutError::Disconnected => Failure::Closed(Vec::new()),
            })?;
            let reply = event.reply(id, deadline)?;
            if reply.id.is_none_or(|replied| replied == id) {
                return Ok(reply.result);
            }
        }
    }

    /// Whether the child has not ended. One that has is reaped.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.guard.try_wait(), Ok(None))
    }

    /// Stops the child; returns the reason as a message, and whether the child had been killed before.
    pub(super) fn end(mut self, failure: Failure, config: &CommandConfig) -> (String, bool) {
        let mut is_killed = false;
        let mut message = match failure {
            Failure::TimedOut => format!(
                "gave no answer within {:?} and was stopped; it must print one line per request and flush it",
                config.timeout
            ),
            Failure::Protocol(what) => format!("{what}, and was stopped"),
            Failure::Closed(partial) => {
                let status = self.guard.wait(EXIT_GRACE);
                is_killed = status.is_some_and(was_killed);
                let mut message = match status {
                    Some(status) => format!("ended ({status}) without an answer"),
                    None => "closed its standard output and was stopped".to_owned(),
                };
                if !partial.is_empty() {
                    message.push_str(&format!(" after the unfinished line `{}`", quote(&partial)));
                }
                message + "; it must answer until its standard input ends"
            }
        };
        self.guard.stop();
        // Returns as soon as standard error is closed; nothing is ever sent.
        let _ = self.stderr_end.recv_timeout(STDERR_GRACE);
        let tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = String::from_utf8_lossy(&tail);
        if !lines.trim().is_empty() {
            message.push_str("; its standard error ends with:");
            for line in lines.trim().lines() {
                message.push_str("\n  ");
                message.push_str(&excerpt(line, STDERR_BYTES));
            }
        }
        (message, is_killed)
    }
}

impl Event {
    /// The reply in this event, if it is for request `id` or an earlier one and `deadline` has not passed.
    fn reply(self, id: u64, deadline: Instant) -> Result<Reply, Failure> {
        // A child that floods its output with stale replies always has one ready.
        if Instant::now() >= deadline {
            return Err(Failure::TimedOut);
        }
        match self {
            Self::Line(line) => {
                let reply = Reply::parse(&line).map_err(|what| {
                    Failure::Protocol(format!("answered nonsense ({what}; print nothing but replies)"))
                })?;
                match reply.id {
                    Some(later) if later > id => {
                        let line = quote(&line);
                        Err(Failure::Protocol(format!(
                            "answered out of order (expected id {id}, got `{line}`)"
                        )))
                    }
                    _ => Ok(reply),
                }
            }
            Self::TooLong => {
                Err(Failure::Protocol(format!("printed a reply of more than {} MB", MAX_MESSAGE_BYTES >> 20)))
            }
            Self::Closed(partial) => Err(Failure::Closed(partial)),
        }
    }
}

/// Kills and reaps the child when it is dropped.
#[derive(Debug)]
struct Guard {
    child: Child,
    is_reaped: bool,
}

impl Guard {
    fn spawn(command: &mut Command, config: &CommandConfig) -> Result<Self, String> {
        let mut children = children();
        if children.is_over {
            return Err(format!("cannot start `{}`: everything is being stopped", config.program[0]));
        }
        let mut tries = 0;
        let child = loop {
            match command.spawn() {
                Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < MAX_BUSY_TRIES => {
                    tries += 1;
                    thread::sleep(Duration::from_millis(10));
                }
                spawned => break spawned.map_err(|error| start_error(config, &error))?,
            }
        };
        children.running.insert(child.id());
        Ok(Self { child, is_reaped: false })
    }

    /// Whether the child has ended; then its number may soon belong to another process and is forgotten.
    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let mut children = children();
        let status = self.child.try_wait()?;
        if status.is_some() {
            self.is_reaped = true;
            children.running.remove(&self.child.id());
        }
        Ok(status)
    }

    /// Waits for the child to end, at most for `grace`.
    fn wait(&mut self, grace: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + grace;
        let mut pause = Duration::from_micros(200);
        loop {
            match self.try_wait() {
                Ok(None) if Instant::now() < deadline => thread::sleep(pause),
                Ok(status) => return status,
                Err(_) => return None,
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    fn stop(&mut self) {
        // Once it is reaped, even if it ended long before, its number may belong to another process.
        if !self.is_reaped {
            kill_groups(std::iter::once(self.child.id()));
            // Fails only when the child has ended.
            let _ = self.child.kill();
            self.wait(KILL_GRACE);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether a signal ended a child, or a program that it waited for: shells then end with 128 and the signal.
fn was_killed(status: ExitStatus) -> bool {
    #[cfg(unix)]
    if std::os::unix::process::ExitStatusExt::signal(&status).is_some() {
        return true;
    }
    status.code().is_some_and(|code| (129..160).contains(&code))
}

/// The children of all executors in this process.
pub(super) struct Children {
    /// The numbers of those that are not reaped.
    running: BTreeSet<u32>,
    /// The directories that were made for them.
    pub(super) directories: BTreeSet<PathBuf>,
    /// Whether no more may be started.
    is_over: bool,
}

pub(super) fn children() -> MutexGuard<'static, Children> {
    static CHILDREN: Mutex<Children> =
        Mutex::new(Children { running: BTreeSet::new(), directories: BTreeSet::new(), is_over: false });
    CHILDREN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills the children of all command executors and everything these started, for good: none starts again. Removes the
/// directories that were made for them. For a process that is about to end without dropping its executors, at an interrupt.
pub fn stop_all() {
    let mut children = children();
    children.is_over = true;
    kill_groups(children.running.iter().copied());
    for directory in &children.directories {
        // What stays is temporary and does no harm.
        let _ = std::fs::remove_dir_all(directory);
    }
}

/// Kills process groups. The standard library can make groups but not kill them; the shell can.
/// Where there is no shell, only the child itself is killed.
fn kill_groups(groups: impl Iterator<Item = u32>) {
    let groups: String = groups.map(|group| format!(" -{group}")).collect();
    if cfg!(unix) && !groups.is_empty() {
        let mut kill = Command::new("sh");
        kill.arg("-c").arg(format!("kill -s KILL --{groups}"));
        let _ = kill.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

fn start_error(config: &CommandConfig, error: &io::Error) -> String {
    let program = excerpt(&config.program[0], MAX_QUOTED_CHARS);
    let why = match (&config.working_dir, error.kind()) {
        (Some(dir), _) if !dir.is_dir() => {
            format!("its working directory `{}` does not exist", dir.display())
        }
        (_, io::ErrorKind::NotFound) => {
            "there is no such program; write its whole path, or a name that the search path finds".to_owned()
        }
        (_, io::ErrorKind::PermissionDenied) => "permission denied; make the file executable".to_owned(),
        _ => error.to_string(),
    };
    format!("cannot start external executor `{program}`: {why}")
}

fn spawn(threads: &Arc<()>, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let alive = Arc::clone(threads);
    let work = move || {
        work();
        drop(alive);
    };
    thread::Builder::new().name("external-executor".to_owned()).spawn(work).map(drop)
}

fn write_requests(mut stdin: ChildStdin, requests: &Receiver<Arc<Vec<u8>>>) {
    // A child that closes its input is noticed by its silence.
    while let Ok(request) = requests.recv() {
        if stdin.write_all(&request).is_err() {
            return;
        }
    }
}

fn read_replies(stdout: ChildStdout, events: &SyncSender<Event>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        // One byte more than allowed, for the line end.
        let read = (&mut stdout).take(MAX_MESSAGE_BYTES as u64 + 1).read_until(b'\n', &mut line);
        let event = match read {
            Ok(_) if line.ends_with(b"\n") => Event::Line(line),
            Ok(_) if line.len() > MAX_MESSAGE_BYTES => Event::TooLong,
            Ok(_) | Err(_) => Event::Closed(line),
        };
        let is_last = !matches!(event, Event::Line(_));
        if events.send(event).is_err() || is_last {
            return;
        }
    }
}

/// Reads standard error to its end and keeps the last [`STDERR_BYTES`]; `open` is dropped at the end.
fn drain(mut stderr: ChildStderr, tail: &Mutex<Vec<u8>>, open: SyncSender<()>) {
    let mut chunk = [0; 4 << 10];
    loop {
        match stderr.read(&mut chunk) {
            Ok(0) => break,
            Ok(n_read) => {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend_from_slice(&chunk[..n_read]);
                let excess = tail.len().saturating_sub(STDERR_BYTES);
                tail.drain(..excess);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    drop(open);
}
