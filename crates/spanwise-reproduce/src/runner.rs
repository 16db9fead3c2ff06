//! Runs commands as child processes of the same program and measures their time and memory.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks at a child process.
const POLL: Duration = Duration::from_millis(20);
/// An interrupt from the terminal reaches child and parent at once; the parent's flag may be raised a moment later.
const GRACE: Duration = Duration::from_millis(200);

/// A command to run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The arguments of `spanwise`.
    pub args: Vec<String>,
    /// Where its standard error goes, behind what is there.
    pub log: PathBuf,
}

/// A command that succeeded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Ran {
    /// Its standard output.
    pub stdout: String,
    /// Wall seconds.
    pub seconds: f64,
    /// Its largest resident memory, where the system reports it.
    pub peak_bytes: Option<u64>,
}

/// A command that did not succeed.
#[derive(Clone, PartialEq, Debug)]
pub enum RunError {
    /// It failed, for this reason.
    Failed(String),
    /// It was stopped on request.
    Stopped {
        /// Wall seconds until then.
        seconds: f64,
    },
}

/// Runs commands.
pub trait Runner: Sync {
    /// Runs a command to its end, or until `stop` is set.
    ///
    /// # Errors
    /// See [`RunError`].
    fn run(&self, call: &Call, stop: &AtomicBool) -> Result<Ran, RunError>;
}

/// Runs commands with an executable, usually the one that is running.
#[derive(Clone, Debug)]
pub struct ThisProgram {
    /// The executable.
    pub executable: PathBuf,
    /// Threads that one command may use besides the two shards of a training step.
    pub threads: usize,
}

impl Runner for ThisProgram {
    fn run(&self, call: &Call, stop: &AtomicBool) -> Result<Ran, RunError> {
        let started = Instant::now();
        let failed =
            |error: io::Error| RunError::Failed(format!("cannot run {}: {error}", self.executable.display()));
        let mut child = self.start(call).map_err(failed)?;
        let stdout = child.stdout.take();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            // Output that is not text fails later, when it is read as JSON.
            let _ = stdout.map(|mut stdout| stdout.read_to_string(&mut text));
            text
        });
        let (status, peak_bytes) = watch(&mut child, stop).map_err(failed)?;
        let seconds = started.elapsed().as_secs_f64();
        // A process that the killed child has started may still hold the pipe, so the reader is not joined.
        let Some(status) = status else { return Err(RunError::Stopped { seconds }) };
        let stdout = reader.join().unwrap_or_default();
        if status.success() {
            return Ok(Ran { stdout, seconds, peak_bytes });
        }
        if !stop.load(Ordering::Relaxed) {
            std::thread::sleep(GRACE);
        }
        if stop.load(Ordering::Relaxed) {
            return Err(RunError::Stopped { seconds });
        }
        Err(RunError::Failed(reason(&call.log, status)))
    }
}

impl ThisProgram {
    fn start(&self, call: &Call) -> io::Result<Child> {
        let log = OpenOptions::new().create(true).append(true).open(&call.log)?;
        Command::new(&self.executable)
            .args(&call.args)
            .env("RAYON_NUM_THREADS", self.threads.max(1).to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
    }
}

/// Waits for a child. On a request to stop, the child is killed, which loses at most the epoch it is in; the status is then
/// `None`.
fn watch(child: &mut Child, stop: &AtomicBool) -> io::Result<(Option<ExitStatus>, Option<u64>)> {
    let mut peak = None;
    loop {
        // Before the status: once the child has ended, there is nothing to read.
        peak = peak_of(child.id()).max(peak);
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), peak));
        }
        if stop.load(Ordering::Relaxed) {
            child.kill()?;
            child.wait()?;
            return Ok((None, peak));
        }
        std::thread::sleep(POLL);
    }
}

/// The largest resident memory of a process so far, on Linux.
fn peak_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Why a child failed: the last error in its log, or else its status.
fn reason(log: &Path, status: ExitStatus) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let is_error = |line: &&str| line.starts_with("error: ") || line.contains("panicked at");
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.iter().rev().find(|line| is_error(line)).or(lines.last());
    match last {
        Some(line) => format!("{} ({status})", line.strip_prefix("error: ").unwrap_or(line)),
        None => format!("ended without a message ({status})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, stop: &AtomicBool) -> (Result<Ran, RunError>, String) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let runner = ThisProgram { executable: "/bin/sh".into(), threads: 3 };
        let call = Call { args: vec!["-c".to_owned(), script.to_owned()], log: log.clone() };
        let ran = runner.run(&call, stop);
        (ran, std::fs::read_to_string(log).unwrap())
    }

    #[cfg(unix)]
    #[test]
    fn a_child_gets_its_number_of_threads_and_is_measured() {
        let (ran, log) = shell("echo $RAYON_NUM_THREADS; echo note >&2; sleep 0.1", &AtomicBool::new(false));
        let ran = ran.unwrap();
        assert_eq!((ran.stdout.as_str(), log.as_str()), ("3\n", "note\n"));
        assert!(ran.seconds >= 0.1 && ran.seconds < 30.0, "{}", ran.seconds);
        if cfg!(target_os = "linux") {
            assert!(ran.peak_bytes.unwrap() > 100 << 10, "{:?}", ran.peak_bytes);
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_reason_of_a_failure_is_the_last_error_of_the_log() {
        let script = "echo 'error: first' >&2; echo 'error: no such file' >&2; echo bye >&2; exit 2";
        let (ran, _) = shell(script, &AtomicBool::new(false));
        assert_eq!(ran, Err(RunError::Failed("no such file (exit status: 2)".to_owned())));
        let (ran, _) = shell("exit 3", &AtomicBool::new(false));
        assert_eq!(ran, Err(RunError::Failed("ended without a message (exit status: 3)".to_owned())));
    }

    #[cfg(unix)]
    #[test]
    fn a_child_is_stopped_on_request() {
        let (ran, _) = shell("sleep 30", &AtomicBool::new(true));
        assert!(matches!(ran, Err(RunError::Stopped { seconds }) if seconds < 20.0), "{ran:?}");
    }

    #[cfg(unix)]
    #[test]
    fn output_beyond_the_size_of_a_pipe_is_read() {
        let (ran, _) = shell(
            "i=0; while [ $i -lt 9000 ]; do echo 0123456789; i=$((i+1)); done",
            &AtomicBool::new(false),
        );
        assert_eq!(ran.unwrap().stdout.len(), 9000 * 11);
    }
}
