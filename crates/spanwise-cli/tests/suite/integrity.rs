//! Models and run directories that are damaged, old, in use or too large for the disk.

#![cfg(unix)]

use crate::common::{Sandbox, wait};
use std::io::{BufRead as _, BufReader};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// A model of the format before digests.
const OLD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../spanwise-model/tests/fixtures/v3");

/// Whether a folder of a sandbox has a file that a writer left behind.
fn has_temporary(sandbox: &Sandbox, folder: &str) -> bool {
    sandbox.names(folder).iter().any(|name| name.starts_with(".spanwise."))
}

#[test]
fn a_limit_on_file_sizes_is_an_error_and_leaves_no_temporary_file() {
    let sandbox = Sandbox::with_toy();
    let script = "ulimit -f 40; exec \"$SPANWISE\" train run.toml --out run";
    sandbox
        .shell(script)
        .run()
        .exits(1)
        .says(["error: cannot write run/checkpoint.safetensors", "ulimit -f"]);
    assert!(!has_temporary(&sandbox, "run"));
    // A model that is there stays.
    sandbox.run(["train", "run.toml", "--out", "model", "--set", "training.epochs=1"]).exits(0);
    let before = sandbox.bytes("model/model.json");
    let script = "ulimit -f 4; exec \"$SPANWISE\" calibrate model dev.jsonl";
    sandbox.shell(script).run().exits(1).says(["cannot write", "ulimit -f"]);
    assert!(before == sandbox.bytes("model/model.json"));
    assert!(!has_temporary(&sandbox, "model"));
    sandbox.run(["parse", "model", "turn on the hall lamp"]).exits(0);
}

#[test]
fn a_second_training_into_a_directory_is_refused_until_the_first_has_ended_or_was_killed() {
    let sandbox = Sandbox::with_toy();
    let endless = ["train", "run.toml", "--out", "run", "--set", "training.epochs=100000"];
    let mut first = sandbox.call(endless).spawn();
    while !sandbox.path("run/checkpoint.safetensors").exists() {
        assert!(first.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(2));
    }
    for resume in [&[][..], &["--resume"]] {
        let call = sandbox.call(["train", "run.toml", "--out", "run"]);
        let call = resume.iter().fold(call, |call, flag| call.arg(flag));
        call.run().exits(2).says(["run is in use", "choose another directory"]);
    }
    sandbox.run(["calibrate", "run", "dev.jsonl"]).exits(2).says(["run is in use"]);
    first.kill().unwrap();
    wait(&mut first);
    // Nothing has to be removed after a kill.
    let args = ["train", "run.toml", "--out", "run", "--set", "training.epochs=100001", "--resume"];
    sandbox.run(args).exits(1).says(["(settings)"]);
    assert!(!has_temporary(&sandbox, "run"));
}

#[test]
fn a_model_without_a_digest_is_used_with_a_warning() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["parse", OLD, "--json", "turn on the hall lamp"]).exits(0);
    assert_eq!(outcome.json()["program"], "do(on(lamp('hall')))");
    outcome.says(["warning: ", "model.json", "without a digest"]);
}

#[test]
fn a_server_logs_a_warning_for_a_model_without_a_digest() {
    let sandbox = Sandbox::new();
    let mut server = sandbox.call(["serve", OLD, "--addr", "127.0.0.1:0", "--log-json"]).spawn();
    let lines = BufReader::new(server.stderr.take().unwrap()).lines();
    let (sender, receiver) = channel();
    thread::spawn(move || lines.map_while(Result::ok).for_each(|line| drop(sender.send(line))));
    let is_warning = |line: &str| line.contains("load_warning") && line.contains("without a digest");
    let next = || receiver.recv_timeout(Duration::from_secs(60)).ok();
    let found = std::iter::from_fn(next).any(|line| is_warning(&line));
    server.kill().unwrap();
    wait(&mut server);
    assert!(found);
}
