//! Odd files and full devices: an error with its exit code, never a crash.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(target_os = "linux")]

mod common;

use common::{LAMPS, Room, example, wait};
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
    let room = Room::with_lamps();
    room.write("d.jsonl", example("turn on the desk lamp", "do(on(lamp('desk')))"));
    for call in [
        room.call(["exec", "scan", "i_jump()"]),
        room.call(["exec", "scan", "i_jump()", "--json"]),
        room.call(["exec", "scan"]).input("{\"program\": \"i_jump()\"}\n".repeat(1000)),
        room.call(["check", "lamps.toml"]),
        room.call(["check", "lamps.toml", "d.jsonl"]),
        room.call(["check", "lamps.toml", "d.jsonl", "--json"]),
        room.call(["data", "stats", "d.jsonl"]),
        room.call(["data", "stats", "d.jsonl", "--json"]),
    ] {
        call.stdout_to(full()).run().exits(1).says(["error: ", "No space left on device"]);
    }
}

#[test]
fn a_closed_standard_output_ends_every_command_quietly() {
    let room = Room::with_lamps();
    room.write("d.jsonl", example("a", "do(nothing)").repeat(3000));
    for call in [
        room.call(["check", "lamps.toml", "d.jsonl", "--json"]),
        room.call(["check", "lamps.toml", "d.jsonl", "--show", "1000"]),
        room.call(["data", "stats", "d.jsonl", "--json"]),
        room.call(["exec", "scan", "i_jump()"]),
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
    let room = Room::new();
    let shell = format!("{} exec scan < /", env!("CARGO_BIN_EXE_spanwise"));
    let output =
        std::process::Command::new("sh").args(["-c", &shell]).current_dir(room.path(".")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("cannot read standard input") && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn devices_as_inputs_are_read_like_files() {
    let room = Room::new();
    room.run(["check", "/dev/null"]).exits(1).says(["/dev/null:1:1", "needs the key `name`"]);
    room.run(["check", "geo", "/dev/null"]).exits(1).says(["/dev/null is empty"]);
    room.run(["data", "stats", "/dev/null"]).exits(1).says(["/dev/null is empty"]);
    room.run(["exec", "clevr", "count(scene())", "--context", "/dev/null"])
        .exits(1)
        .says(["the scene is empty"]);
    let outcome = room.feed(["check", "scan", "/dev/stdin"], example("jump", "i_jump()")).exits(0);
    outcome.prints(["well-typed"]);
}

#[test]
fn an_endless_line_is_refused_before_it_fills_the_memory() {
    Room::new().run(["check", "geo", "/dev/zero"]).exits(1).says(["/dev/zero:1: the line is longer than"]);
}

#[test]
fn an_endless_domain_or_context_is_refused() {
    let room = Room::new();
    let text = "/dev/zero: it is larger than 64 MiB";
    room.run(["check", "/dev/zero"]).exits(2).says([text]);
    room.run(["exec", "clevr", "count(scene())", "--context", "/dev/zero"]).exits(2).says([text]);
    room.write("lamps.toml", LAMPS.replace("lamps.tsv", "/dev/zero"));
    room.run(["check", "lamps.toml"]).exits(1).says(["table `/dev/zero`: it is larger", "lamps.toml:21:10"]);
}

#[test]
fn standard_output_as_output_file_leaves_room_for_what_is_printed_after() {
    let room = Room::new();
    room.write("t.txt", GOOD_SCAN);
    let spanwise = env!("CARGO_BIN_EXE_spanwise");
    let shell =
        format!("(echo first; {spanwise} data import scan t.txt --out /dev/stdout; echo last) > all.txt");
    let status = std::process::Command::new("sh").args(["-c", &shell]).current_dir(room.path(".")).status();
    assert!(status.unwrap().success());
    let all = room.read("all.txt");
    let lines: Vec<&str> = all.lines().collect();
    assert!(lines.len() == 3 && lines[0] == "first" && lines[2] == "last", "{lines:?}");
}

#[test]
fn a_pipe_as_output_is_written_to_and_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt as _;
    let room = Room::new();
    room.write("t.txt", GOOD_SCAN);
    let made = std::process::Command::new("mkfifo").arg(room.path("pipe")).status();
    assert!(made.unwrap().success());
    let path = room.path("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(path).unwrap());
    room.run(["data", "import", "scan", "t.txt", "--out", "pipe"]).exits(0);
    assert!(reader.join().unwrap().contains("I_JUMP"));
    assert!(room.path("pipe").metadata().unwrap().file_type().is_fifo());
}

#[test]
fn files_whose_names_are_odd_can_be_given() {
    let room = Room::with_lamps();
    let good = example("turn on the desk lamp", "do(on(lamp('desk')))");
    for name in ["-", "-x.jsonl", "a b\n.jsonl", "🦀.jsonl", "x@y.jsonl", "..jsonl"] {
        room.write(name, &good);
        room.run(["data", "stats", "--json", "--", name]).exits(0);
        room.run(["check", "lamps.toml", "--json", "--", name]).exits(0);
    }
    room.run(["data", "stats", "-x.jsonl"]).exits(2);
}

#[test]
fn names_that_are_not_utf8_are_shown_as_far_as_they_can_be() {
    use std::os::unix::ffi::OsStrExt as _;
    let room = Room::new();
    let name = std::ffi::OsStr::from_bytes(b"d\xff.jsonl");
    room.call(["data", "stats"]).arg(name).run().exits(2).says(["cannot open d\u{fffd}.jsonl"]);
    let path = room.path(".").join(name);
    std::fs::write(path, example("a", "f(x)")).unwrap();
    room.call(["data", "stats"]).arg(name).run().exits(0).prints(["d\u{fffd}.jsonl"]);
}

#[test]
fn standard_output_as_output_file_keeps_what_was_printed_before() {
    let room = Room::new();
    room.write("t.txt", GOOD_SCAN);
    room.write("all.txt", "first\n");
    let file = OpenOptions::new().append(true).open(room.path("all.txt")).unwrap();
    let call = room.call(["data", "import", "scan", "t.txt", "--out", "/dev/stdout"]);
    call.stdout_to(file).run().exits(0);
    assert!(room.read("all.txt").starts_with("first\n{\"utterance\":\"jump\""), "{}", room.read("all.txt"));
}

#[test]
fn a_link_to_a_file_that_is_not_there_yet_is_followed() {
    let room = Room::new();
    room.write("t.txt", GOOD_SCAN);
    std::os::unix::fs::symlink("target.jsonl", room.path("link.jsonl")).unwrap();
    room.run(["data", "import", "scan", "t.txt", "--out", "link.jsonl"]).exits(0);
    assert!(room.path("link.jsonl").is_symlink() && room.path("target.jsonl").is_file());
}

#[test]
fn a_file_name_as_long_as_the_system_allows_can_be_written() {
    let room = Room::new();
    room.write("t.txt", GOOD_SCAN);
    let name = "x".repeat(250);
    room.run(["data", "import", "scan", "t.txt", "--out", &name]).exits(0);
    assert_eq!(room.names("."), ["t.txt", &name]);
}

#[test]
fn a_byte_order_mark_is_passed_over_in_every_input() {
    let room = Room::new();
    let outcome = room.feed(["exec", "scan"], "\u{feff}{\"program\": \"i_jump()\"}\n").exits(0);
    assert_eq!(outcome.replies()[0]["denotation"], "I_JUMP");
    for context in [CUBE.to_owned(), json!(CUBE).to_string()] {
        room.write("scene", format!("\u{feff}{context}"));
        let outcome = room.run(["exec", "clevr", "count(scene())", "--context", "scene"]).exits(0);
        assert_eq!(outcome.stdout, "1\n");
    }
    room.write("lamps.toml", LAMPS.replace("lamps.tsv", "lamps.json"));
    room.write("lamps.json", "\u{feff}[\"desk\"]");
    room.run(["check", "lamps.toml"]).exits(0);
    room.write("d.toml", "\u{feff}colour = 1\n");
    room.run(["check", "d.toml"]).exits(1).says(["unknown key `colour`", "d.toml:1:1\n"]);
}
