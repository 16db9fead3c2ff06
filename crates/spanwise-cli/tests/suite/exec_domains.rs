//! `spanwise exec` with domain files and executors of the user's own.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{LAMPS, LAMPS_TABLE, Sandbox, TINY, interrupt, no_python, wait};
use serde_json::json;
use std::time::{Duration, Instant};

/// Answers with the program it was asked; on command it dies, hangs, or talks nonsense.
const SCRIPT: &str = r#"
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    program = request["program"]
    reply = {"id": request["id"], "denotation": program}
    if program == "f(die)":
        sys.stderr.write("it hurts\n")
        sys.exit(3)
    if program == "f(hang)":
        time.sleep(60)
    if program == "f(nonsense)":
        print("oops", flush=True)
        continue
    if program == "f(no)":
        reply = {"id": request["id"], "error": "no such thing"}
    if program == "f(list)":
        reply["denotation"] = [1, {"a": None}]
    if "context" in request:
        reply["denotation"] = request["context"]
    print(json.dumps(reply), flush=True)
"#;

/// A directory `sub` with a domain and its executor.
fn sandbox_with_executor(command: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    let executor = format!("[executor]\ncommand = {command}\ntimeout_seconds = 20\n");
    let constants =
        ["die", "hang", "nonsense", "no", "list"].map(|name| format!("{name} = \"A\"\n")).concat();
    sandbox.write("sub/domain.toml", format!("{TINY}{constants}{executor}"));
    sandbox.write("sub/run.py", SCRIPT);
    sandbox
}

const PYTHON: &str = r#"["python3", "run.py"]"#;

#[test]
fn an_executor_is_found_beside_its_domain_file_wherever_the_command_runs() {
    if no_python() {
        return;
    }
    let sandbox = sandbox_with_executor(PYTHON);
    assert_eq!(sandbox.run(["exec", "sub/domain.toml", "x", "f(x)"]).exits(0).stdout, "x\nf(x)\n");
    let absolute = sandbox.path("sub/domain.toml");
    assert_eq!(sandbox.run(["exec", absolute.to_str().unwrap(), "x"]).exits(0).stdout, "x\n");
    sandbox.write("run.py", SCRIPT);
    sandbox.write("here.toml", sandbox.read("sub/domain.toml"));
    assert_eq!(sandbox.run(["exec", "here.toml", "x"]).exits(0).stdout, "x\n");
}

#[cfg(unix)]
#[test]
fn a_script_with_a_relative_path_is_started_in_the_folder_of_the_domain_file() {
    use std::os::unix::fs::PermissionsExt as _;
    if no_python() {
        return;
    }
    let sandbox = sandbox_with_executor(r#"["./run.py"]"#);
    sandbox.write("sub/run.py", format!("#!/usr/bin/env python3\n{SCRIPT}"));
    sandbox.run(["exec", "sub/domain.toml", "x"]).exits(1).says(["`./run.py`", "make the file executable"]);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(sandbox.path("sub/run.py"), executable).unwrap();
    assert_eq!(sandbox.run(["exec", "sub/domain.toml", "x"]).exits(0).stdout, "x\n");
}

#[test]
fn an_executor_that_dies_fails_its_program_and_is_started_again() {
    if no_python() {
        return;
    }
    let sandbox = sandbox_with_executor(PYTHON);
    let lines = ["x", "f(die)", "f(x)"].map(|program| json!({ "program": program }).to_string() + "\n");
    let outcome = sandbox.feed(["exec", "sub/domain.toml"], lines.concat()).exits(1);
    let replies = outcome.replies();
    assert_eq!((&replies[0]["denotation"], &replies[2]["denotation"]), (&json!("x"), &json!("f(x)")));
    let error = replies[1]["error"].as_str().unwrap();
    assert!(error.contains("exit status: 3") && error.contains("it hurts"), "{error}");
    outcome.says(["1 of 3 programs could not be evaluated"]);
    let outcome = sandbox.run(["exec", "sub/domain.toml", "x", "f(die)", "f(x)"]).exits(1).says(["it hurts"]);
    assert_eq!(outcome.stdout, "x\nf(x)\n");
}

#[cfg(unix)]
#[test]
fn an_ill_typed_program_does_not_reach_an_executor_outside_of_the_process() {
    let sandbox = sandbox_with_executor(r#"["sh", "run.sh"]"#);
    sandbox.write("sub/run.sh", "while read -r line; do : > ran; echo '{\"denotation\": 1}'; done");
    let outcome = sandbox.run(["exec", "sub/domain.toml", "g(x)", "f(x, x)", "f(f)"]).exits(1);
    outcome.says(["unknown constant `g`", "`f`"]);
    let line = json!({ "program": "f('; drop table')" }).to_string();
    let replies = sandbox.feed(["exec", "sub/domain.toml"], line).exits(1).replies();
    assert!(replies[0]["error"].is_string() && replies[0]["denotation"].is_null(), "{replies:?}");
    assert!(!sandbox.path("sub/ran").exists());
    sandbox.run(["exec", "sub/domain.toml", "--unchecked", "g(x)"]).exits(0).prints(["1\n"]);
    assert!(sandbox.path("sub/ran").exists());
}

#[test]
fn what_executors_say_is_passed_on() {
    if no_python() {
        return;
    }
    let sandbox = sandbox_with_executor(PYTHON);
    sandbox.run(["exec", "sub/domain.toml", "f(no)"]).exits(1).says(["no such thing"]);
    sandbox
        .run(["exec", "sub/domain.toml", "f(nonsense)"])
        .exits(1)
        .says(["`oops`", "print nothing but replies"]);
    assert_eq!(sandbox.run(["exec", "sub/domain.toml", "f(list)"]).exits(0).stdout, "[1,{\"a\":null}]\n");
    sandbox.write("context.json", r#"{"a": [1, 2]}"#);
    let outcome = sandbox.run(["exec", "sub/domain.toml", "x", "--context", "context.json"]).exits(0);
    assert_eq!(outcome.stdout, "{\"a\":[1,2]}\n");
}

#[test]
fn an_executor_that_hangs_is_stopped_after_its_time() {
    if no_python() {
        return;
    }
    let sandbox = sandbox_with_executor(PYTHON);
    sandbox.write("sub/domain.toml", sandbox.read("sub/domain.toml").replace("= 20", "= 0.5"));
    sandbox.run(["exec", "sub/domain.toml", "f(hang)"]).exits(1).says(["gave no answer within 500ms"]);
}

#[test]
fn an_executor_that_is_not_there_is_named() {
    let sandbox = sandbox_with_executor(r#"["no-such-program", "run.py"]"#);
    sandbox
        .run(["exec", "sub/domain.toml", "x"])
        .exits(1)
        .says(["`no-such-program`", "there is no such program"]);
    let tiny = format!("{TINY}[executor]\nurl = \"http://127.0.0.1:9/\"\ntimeout_seconds = 2\n");
    sandbox.write("url.toml", tiny);
    sandbox.run(["exec", "url.toml", "x"]).exits(1).says(["http://127.0.0.1:9/"]);
}

#[test]
fn a_domain_without_an_executor_cannot_be_executed() {
    let sandbox = Sandbox::with_lamps();
    let outcome = sandbox.run(["exec", "lamps.toml", "do(on(lamp('desk')))"]).exits(2);
    outcome.says(["the domain lamps has no [executor]"]);
    sandbox.feed(["exec", "lamps.toml"], "{\"program\": \"x\"}\n").exits(2).says(["no [executor]"]);
}

#[test]
fn a_broken_domain_file_is_shown_with_line_and_column() {
    let sandbox = Sandbox::new();
    sandbox.write("bad.toml", format!("{TINY}g = \"A -> Q\"\n"));
    sandbox.run(["exec", "bad.toml", "x"]).exits(1).says(["unknown type `Q`", "bad.toml:8:11"]);
}

#[test]
fn paths_may_hold_spaces_and_any_letters() {
    if no_python() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("ein Löwe 🦁/domäne.toml", format!("{TINY}[executor]\ncommand = {PYTHON}\n"));
    sandbox.write("ein Löwe 🦁/run.py", SCRIPT);
    assert_eq!(sandbox.run(["exec", "ein Löwe 🦁/domäne.toml", "f(x)"]).exits(0).stdout, "f(x)\n");
}

#[test]
fn a_domain_of_the_users_own_may_use_a_built_in_executor() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.toml", format!("{TINY}[executor]\nbuiltin = \"scan\"\n"));
    assert_eq!(sandbox.run(["exec", "mine.toml", "i_jump()"]).exits(0).stdout, "I_JUMP\n");
}

#[test]
fn tables_are_found_beside_the_domain_file_and_above_it() {
    let sandbox = Sandbox::new();
    sandbox.write("sub/lamps.toml", LAMPS);
    sandbox.run(["check", "sub/lamps.toml"]).exits(1).says([
        "`lamps.tsv`",
        "no such file",
        "sub/lamps.toml:21:10",
    ]);
    sandbox.write("sub/lamps.tsv", LAMPS_TABLE);
    sandbox.run(["check", "sub/lamps.toml"]).exits(0).prints(["2 entities in 1 classes"]);
    sandbox.write("above.tsv", "name\nattic\n");
    sandbox.write("sub/lamps.toml", LAMPS.replace("lamps.tsv", "../above.tsv"));
    sandbox.run(["check", "sub/lamps.toml"]).exits(0).prints(["1 entities in 1 classes"]);
}

#[test]
fn a_folder_with_an_at_sign_in_its_name_is_a_folder() {
    if no_python() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.run(["check", "me@home/missing.toml"]).exits(2).says(["me@home/missing.toml"]);
    sandbox.write("me@home/d.toml", format!("{TINY}[executor]\ncommand = [\"python3\", \"run.py\"]\n"));
    sandbox.write("me@home/run.py", SCRIPT);
    assert_eq!(sandbox.run(["exec", "me@home/d.toml", "f(x)"]).exits(0).stdout, "f(x)\n");
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_an_executor_that_hangs() {
    use std::process::Command;
    if no_python() {
        return;
    }
    let sandbox = sandbox_with_executor(PYTHON);
    let hang = "import os, time\nopen('pid.part', 'w').write(str(os.getpid()))\n\
        os.rename('pid.part', 'pid')\ntime.sleep(60)\n";
    sandbox.write("sub/run.py", hang);
    let patience = Instant::now() + Duration::from_secs(30);
    let pause = || {
        assert!(Instant::now() < patience, "nothing happens");
        std::thread::sleep(Duration::from_millis(5));
    };
    let mut child = sandbox.call(["exec", "sub/domain.toml", "x"]).spawn();
    while !sandbox.path("sub/pid").exists() {
        pause();
    }
    interrupt(&child);
    assert_eq!(wait(&mut child), Some(130));
    // It may take a moment until nothing of it is left.
    let is_left = || {
        let probe = format!("kill -0 {} 2>/dev/null", sandbox.read("sub/pid"));
        Command::new("sh").args(["-c", &probe]).status().unwrap().success()
    };
    while is_left() {
        pause();
    }
}
