//! Odd files and full devices: an error with its exit code, never a crash.

#![cfg(target_os = "linux")]

use crate::common::{LAMPS, Sandbox, example, wait};
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::io::Read as _;

const GOOD_SCAN: &str = "IN: jump OUT: I_JUMP\n";
/// A scene with one object, in CLEVR's compact notation.
const CUBE: &str = "cube rubber large red 0 0";

fn full() -> File {
    OpenOptions::new().write(true).open("/dev/full").unwrap()
}

#[test]
fn a_full_device_as_standard_output_is_an_error() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", example("turn on the desk lamp", "do(on(lamp('desk')))"));
    for call in [
        sandbox.call(["exec", "scan", "i_jump()"]),
        sandbox.call(["exec", "scan", "i_jump()", "--json"]),
        sandbox.call(["exec", "scan"]).input("{\"program\": \"i_jump()\"}\n".repeat(1000)),
        sandbox.call(["check", "lamps.toml"]),
        sandbox.call(["check", "lamps.toml", "d.jsonl"]),
        sandbox.call(["check", "lamps.toml", "d.jsonl", "--json"]),
        sandbox.call(["data", "stats", "d.jsonl"]),
        sandbox.call(["data", "stats", "d.jsonl", "--json"]),
    ] {
        call.stdout_to(full()).run().exits(1).says(["error: ", "No space left on device"]);
    }
}

#[test]
fn a_closed_standard_output_ends_every_command_quietly() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("d.jsonl", example("a", "do(nothing)").repeat(3000));
    for call in [
        sandbox.call(["check", "lamps.toml", "d.jsonl", "--json"]),
        sandbox.call(["check", "lamps.toml", "d.jsonl", "--show", "1000"]),
        sandbox.call(["data", "stats", "d.jsonl", "--json"]),
        sandbox.call(["exec", "scan", "i_jump()"]),
    ] {
        let mut child = call.spawn();
        drop(child.stdin.take());
        drop(child.stdout.take());
        let code = wait(&mut child);
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
    }
}

#[test]
fn standard_input_that_is_a_folder_is_an_error() {
    let sandbox = Sandbox::new();
    let shell = format!("{} exec scan < /", env!("CARGO_BIN_EXE_spanwise"));
    let output = std::process::Command::new("sh")
        .args(["-c", &shell])
        .current_dir(sandbox.path("."))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("cannot read standard input") && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn standard_input_as_a_file_of_examples_is_read_like_one() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.feed(["check", "scan", "/dev/stdin"], example("jump", "i_jump()")).exits(0);
    outcome.prints(["well-typed"]);
}

#[test]
fn an_endless_line_is_refused_before_it_fills_the_memory() {
    let script = "cat /dev/zero | $SPANWISE check scan /dev/stdin";
    Sandbox::new().shell(script).run().exits(1).says(["/dev/stdin:1: the line is longer than"]);
}

#[test]
fn an_endless_or_oversized_domain_or_context_is_refused() {
    let sandbox = Sandbox::new();
    let script = "cat /dev/zero | $SPANWISE exec clevr 'count(scene())' --context /dev/stdin";
    sandbox.shell(script).run().exits(2).says(["/dev/stdin: it is larger than 64 MiB"]);
    // A file with a hole takes no space.
    File::create(sandbox.path("large")).unwrap().set_len((64 << 20) + 1).unwrap();
    sandbox.run(["check", "large"]).exits(2).says(["large: it is larger than 64 MiB"]);
    sandbox.write("lamps.toml", LAMPS.replace("lamps.tsv", "large"));
    sandbox.run(["check", "lamps.toml"]).exits(1).says(["table `large`: it is larger", "lamps.toml:21:10"]);
}

#[test]
fn standard_output_as_output_file_keeps_what_is_printed_before_and_after() {
    let sandbox = Sandbox::new();
    sandbox.write("t.txt", GOOD_SCAN);
    let spanwise = env!("CARGO_BIN_EXE_spanwise");
    let shell =
        format!("(echo first; {spanwise} data import scan t.txt --out /dev/stdout; echo last) > all.txt");
    let status =
        std::process::Command::new("sh").args(["-c", &shell]).current_dir(sandbox.path(".")).status();
    assert!(status.unwrap().success());
    let all = sandbox.read("all.txt");
    let lines: Vec<&str> = all.lines().collect();
    assert!(lines.len() == 3 && lines[0] == "first" && lines[2] == "last", "{lines:?}");
}

#[test]
fn a_pipe_as_output_is_written_to_and_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt as _;
    let sandbox = Sandbox::new();
    sandbox.write("t.txt", GOOD_SCAN);
    let made = std::process::Command::new("mkfifo").arg(sandbox.path("pipe")).status();
    assert!(made.unwrap().success());
    let path = sandbox.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(path).unwrap());
    sandbox.run(["data", "import", "scan", "t.txt", "--out", "pipe"]).exits(0);
    assert!(reader.join().unwrap().contains("I_JUMP"));
    assert!(sandbox.path("pipe").metadata().unwrap().file_type().is_fifo());
}

#[test]
fn files_whose_names_are_odd_can_be_given() {
    let sandbox = Sandbox::with_lamps();
    let good = example("turn on the desk lamp", "do(on(lamp('desk')))");
    for name in ["-", "-x.jsonl", "a b\n.jsonl", "🦀.jsonl", "x@y.jsonl", "..jsonl"] {
        sandbox.write(name, &good);
        sandbox.run(["data", "stats", "--json", "--", name]).exits(0);
        sandbox.run(["check", "lamps.toml", "--json", "--", name]).exits(0);
    }
    sandbox.run(["data", "stats", "-x.jsonl"]).exits(2);
}

#[test]
fn names_that_are_not_utf8_are_shown_as_far_as_they_can_be() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::new();
    let name = std::ffi::OsStr::from_bytes(b"d\xff.jsonl");
    sandbox.call(["data", "stats"]).arg(name).run().exits(2).says(["cannot open d\u{fffd}.jsonl"]);
    let path = sandbox.path(".").join(name);
    std::fs::write(path, example("a", "f(x)")).unwrap();
    sandbox.call(["data", "stats"]).arg(name).run().exits(0).prints(["d\u{fffd}.jsonl"]);
}

#[test]
fn standard_output_as_output_file_keeps_what_was_printed_before() {
    let sandbox = Sandbox::new();
    sandbox.write("t.txt", GOOD_SCAN);
    sandbox.write("all.txt", "first\n");
    let file = OpenOptions::new().append(true).open(sandbox.path("all.txt")).unwrap();
    let call = sandbox.call(["data", "import", "scan", "t.txt", "--out", "/dev/stdout"]);
    call.stdout_to(file).run().exits(0);
    assert!(
        sandbox.read("all.txt").starts_with("first\n{\"utterance\":\"jump\""),
        "{}",
        sandbox.read("all.txt")
    );
}

#[test]
fn a_link_to_a_file_that_is_not_there_yet_is_followed() {
    let sandbox = Sandbox::new();
    sandbox.write("t.txt", GOOD_SCAN);
    std::os::unix::fs::symlink("target.jsonl", sandbox.path("link.jsonl")).unwrap();
    sandbox.run(["data", "import", "scan", "t.txt", "--out", "link.jsonl"]).exits(0);
    assert!(sandbox.path("link.jsonl").is_symlink() && sandbox.path("target.jsonl").is_file());
}

#[test]
fn a_file_name_as_long_as_the_system_allows_can_be_written() {
    let sandbox = Sandbox::new();
    sandbox.write("t.txt", GOOD_SCAN);
    let name = "x".repeat(250);
    sandbox.run(["data", "import", "scan", "t.txt", "--out", &name]).exits(0);
    assert_eq!(sandbox.names("."), ["t.txt", &name]);
}

#[test]
fn a_byte_order_mark_is_passed_over_in_every_input() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.feed(["exec", "scan"], "\u{feff}{\"program\": \"i_jump()\"}\n").exits(0);
    assert_eq!(outcome.replies()[0]["denotation"], "I_JUMP");
    for context in [CUBE.to_owned(), json!(CUBE).to_string()] {
        sandbox.write("scene", format!("\u{feff}{context}"));
        let outcome = sandbox.run(["exec", "clevr", "count(scene())", "--context", "scene"]).exits(0);
        assert_eq!(outcome.stdout, "1\n");
    }
    sandbox.write("lamps.toml", LAMPS.replace("lamps.tsv", "lamps.json"));
    sandbox.write("lamps.json", "\u{feff}[\"desk\"]");
    sandbox.run(["check", "lamps.toml"]).exits(0);
    sandbox.write("d.toml", "\u{feff}colour = 1\n");
    sandbox.run(["check", "d.toml"]).exits(1).says(["unknown key `colour`", "d.toml:1:1\n"]);
}
