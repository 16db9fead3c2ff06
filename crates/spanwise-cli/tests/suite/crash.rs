//! Crash safety: a command that is killed right before any of its file operations leaves the old model or the new one.

#![cfg(target_os = "linux")]

use crate::common::{Sandbox, skipped};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What `kill_at` exits with when it killed the command, and when it cannot trace.
const KILLED: i32 = 77;
const CANNOT_TRACE: i32 = 78;
/// More operations than any command has.
const NEVER: usize = 1_000_000;
const N_THREADS: usize = 2;

/// The tool that kills a command at its N-th file operation; `None` where there is no C compiler.
fn kill_at() -> Option<&'static Path> {
    static TOOL: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/kill_at.c");
        let tool = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kill_at");
        let status = Command::new("cc").arg("-O1").arg("-o").arg(&tool).arg(source).status().ok()?;
        status.success().then_some(tool)
    };
    TOOL.get_or_init(build).as_deref()
}

/// How a command that may be killed ended, and the number of its file operations if it was not.
struct End {
    code: i32,
    n_operations: usize,
}

/// Runs `spanwise` with these arguments and kills it right before its N-th file operation.
fn run_until(tool: &Path, sandbox: &Sandbox, n: usize, args: &[&str]) -> End {
    let mut command = Command::new(tool);
    command.arg(n.to_string()).arg(env!("CARGO_BIN_EXE_spanwise")).args(args);
    let output = command.current_dir(sandbox.path("")).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let n_operations = errors.lines().last().and_then(|line| line.parse().ok()).unwrap_or(0);
    End { code: output.status.code().unwrap_or(-1), n_operations }
}

/// Kills a command at each of its file operations in turn, each time in a sandbox of its own, and checks what is left.
/// `false` where nothing can be traced.
fn kill_everywhere(
    sandbox: &(dyn Fn() -> Sandbox + Sync),
    args: &[&str],
    check: &(dyn Fn(&Sandbox, usize) + Sync),
) -> bool {
    let Some(tool) = kill_at() else { return false };
    let whole = run_until(tool, &sandbox(), NEVER, args);
    if whole.code == CANNOT_TRACE {
        return false;
    }
    assert_eq!(whole.code, 0, "{args:?}");
    assert!(whole.n_operations > 10, "{args:?} has {} file operations", whole.n_operations);
    let next = AtomicUsize::new(1);
    std::thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n > whole.n_operations {
                        break;
                    }
                    let sandbox = sandbox();
                    let end = run_until(tool, &sandbox, n, args);
                    // Threads may order their operations in another way, so that the last ones do not come.
                    assert!(end.code == KILLED || end.code == 0, "operation {n}: {}", end.code);
                    check(&sandbox, n);
                }
            });
        }
    });
    true
}

/// The whole reply of a model to an utterance; `None` where there is no model.
fn reply(sandbox: &Sandbox, model: &str) -> Option<String> {
    if !sandbox.path(model).join("model.json").exists() {
        return None;
    }
    let call = ["parse", model, "--json", "--k", "3", "blink the hall lamp twice and light the desk"];
    Some(sandbox.run(call).exits(0).stdout)
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// A sandbox with the toy and a small run, quick enough to be repeated a hundred times.
fn quick_toy() -> Sandbox {
    let sandbox = Sandbox::with_toy();
    let run = sandbox.read("run.toml");
    sandbox.write("run.toml", run.replace("epochs = 12", "epochs = 2").replace("hidden = 32", "hidden = 16"));
    sandbox
}

#[test]
fn calibrate_in_place_killed_at_any_file_operation_leaves_the_old_model_or_the_new_one() {
    let start = quick_toy();
    start.run(["train", "run.toml", "--out", "model"]).exits(0);
    let model = start.path("model");
    let sandbox = || {
        let sandbox = quick_toy();
        copy(&model, &sandbox.path("model"));
        sandbox
    };
    let args = ["calibrate", "model", "train.jsonl", "--train", "dev.jsonl"];
    let finished = sandbox();
    finished.run(args).exits(0);
    let (old, new) = (reply(&start, "model"), reply(&finished, "model"));
    assert_ne!(old, new);
    let check = |sandbox: &Sandbox, n: usize| {
        let found = reply(sandbox, "model");
        assert!(found == old || found == new, "operation {n} leaves another model");
        // Nothing that is left behind is in the way of the next save, and that removes it.
        if n.is_multiple_of(5) {
            sandbox.run(args).exits(0);
            assert_eq!(reply(sandbox, "model"), new, "operation {n}");
            assert_eq!(sandbox.names("model"), finished.names("model"), "operation {n}");
        }
    };
    if !kill_everywhere(&sandbox, &args, &check) {
        skipped("no C compiler, or no tracing here");
    }
}

#[test]
fn train_killed_at_any_file_operation_leaves_no_model_or_the_whole_one_and_can_be_resumed() {
    let finished = quick_toy();
    finished.run(["train", "run.toml", "--out", "model"]).exits(0);
    let new = reply(&finished, "model");
    let manifest = finished.bytes("model/model.json");
    let check = |sandbox: &Sandbox, n: usize| {
        let found = reply(sandbox, "model");
        assert!(found.is_none() || found == new, "operation {n} leaves another model");
        if n.is_multiple_of(10) {
            sandbox.run(["train", "run.toml", "--out", "model", "--resume"]).exits(0);
            assert!(sandbox.bytes("model/model.json") == manifest, "operation {n}");
            assert_eq!(sandbox.names("model"), finished.names("model"), "operation {n}");
        }
    };
    if !kill_everywhere(&quick_toy, &["train", "run.toml", "--out", "model"], &check) {
        skipped("no C compiler, or no tracing here");
    }
}
