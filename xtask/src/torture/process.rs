//! Runs commands with a limit on their time, and watches their memory.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often a process is looked at.
const PAUSE: Duration = Duration::from_millis(2);
/// Most bytes that are kept of what a command prints.
const MOST_OUTPUT: u64 = 64 << 20;

/// A command with more memory than this, in KiB, is killed: the machine is not the one to be tortured.
const MOST_MEMORY: u64 = 2 << 20;

/// How a command ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct End {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
    pub(crate) took: Duration,
    /// Most memory that it had, in KiB; 0 where that is not known.
    pub(crate) peak: u64,
    /// Whether it was killed because its time was over, and not because of its memory.
    pub(crate) is_late: bool,
}

impl End {
    /// What is wrong with this end: a crash, a panic, silence, or something that acts on a terminal.
    pub(crate) fn fault(&self) -> Option<String> {
        let first = self.stderr.lines().find(|line| line.contains("panicked"));
        let says =
            || self.stderr.lines().next_back().unwrap_or_default().chars().take(200).collect::<String>();
        if let Some(line) = first {
            return Some(format!("panic: {line}"));
        }
        if self.peak > MOST_MEMORY {
            return Some(format!("killed with {} MiB of memory", self.peak >> 10));
        }
        if self.is_late {
            return Some(format!("not done after {:.1} s", self.took.as_secs_f64()));
        }
        let is_control = |ch: char| ch.is_control() && ch != '\n' && ch != '\t';
        match self.code {
            None => Some(format!("ended by a signal: {}", says())),
            Some(0..=2) if self.stderr.contains(is_control) => {
                Some("control characters on standard error".to_owned())
            }
            Some(0) => None,
            Some(1 | 2) if self.stderr.trim().is_empty() && self.stdout.is_empty() => {
                Some("failed without a message".to_owned())
            }
            Some(1 | 2) => None,
            Some(code) => Some(format!("exit code {code}: {}", says())),
        }
    }
}

/// Runs a command with `input` on its standard input, and kills it after `limit`.
pub(crate) fn run(command: &mut Command, input: &[u8], limit: Duration) -> std::io::Result<End> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn()?;
    let writer = child.stdin.take().map(|mut stdin| {
        let input = input.to_vec();
        // A command that does not read to the end closes the pipe, which is its right.
        thread::spawn(move || drop(stdin.write_all(&input)))
    });
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let mut end = End::default();
    loop {
        end.peak = end.peak.max(memory(child.id(), "VmHWM:"));
        if let Some(status) = child.try_wait()? {
            end.code = status.code();
            break;
        }
        if end.peak > MOST_MEMORY || started.elapsed() > limit {
            end.is_late = end.peak <= MOST_MEMORY;
            stop(&mut child);
            break;
        }
        thread::sleep(PAUSE);
    }
    end.took = started.elapsed();
    let joined =
        |thread: Option<JoinHandle<Vec<u8>>>| thread.and_then(|it| it.join().ok()).unwrap_or_default();
    if let Some(writer) = writer {
        let _ = writer.join();
    }
    end.stdout = joined(stdout);
    end.stderr = String::from_utf8_lossy(&joined(stderr)).into_owned();
    Ok(end)
}

/// Kills a process and waits for its end.
pub(crate) fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn drain(source: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut source = source;
        let _ = source.by_ref().take(MOST_OUTPUT).read_to_end(&mut bytes);
        // The rest is read and forgotten, so that the command never waits for us.
        let _ = std::io::copy(&mut source, &mut std::io::sink());
        bytes
    })
}

/// A field of the memory of a process in KiB (`VmRSS:`, `VmHWM:`); 0 where there is no such process or file.
pub(crate) fn memory(process: u32, field: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Sends a signal to a child, by the name that `kill` knows it by.
pub(crate) fn signal(child: &Child, name: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
}

/// Copies a directory with everything in it.
pub(crate) fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
