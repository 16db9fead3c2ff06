//! `--help`, `--version`, calls that no command understands, and how errors are worded.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Room, TINY};
use serde_json::json;

#[test]
fn every_command_has_help_on_standard_output() {
    let room = Room::new();
    room.run(["--help"]).exits(0).prints(["Usage: spanwise", "check", "exec", "data"]);
    room.run(["data", "--help"]).exits(0).prints(["scan", "import", "annotate", "split", "stats"]);
    room.run(["data", "import", "--help"]).exits(0).prints(["geo", "clevr", "scan"]);
    room.run(["data", "import", "geo", "--help"]).exits(0).prints(["<CORPUS>", "--out"]);
    room.run(["data", "import", "clevr", "--help"]).exits(0).prints(["<QUESTIONS>", "--scenes"]);
    room.run(["data", "import", "scan", "--help"]).exits(0).prints(["IN: .. OUT: ..", "--out"]);
}

#[test]
fn the_help_of_a_command_that_does_something_shows_an_example() {
    let room = Room::new();
    room.run(["check", "--help"]).exits(0).prints(["Examples:", "spanwise check geo train.jsonl"]);
    room.run(["exec", "--help"]).exits(0).prints(["Examples:", "spanwise exec geo"]);
    room.run(["data", "scan", "--help"]).exits(0).prints(["Examples:", "spanwise data scan --out"]);
    room.run(["data", "annotate", "--help"]).exits(0).prints(["Examples:", "spanwise data annotate geo"]);
    room.run(["data", "split", "--help"]).exits(0).prints(["Examples:", "spanwise data split"]);
    room.run(["data", "stats", "--help"]).exits(0).prints(["Example:", "spanwise data stats"]);
}

#[test]
fn the_version_is_the_one_of_the_package() {
    let outcome = Room::new().run(["--version"]).exits(0);
    assert_eq!(outcome.stdout, format!("spanwise {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_call_that_is_not_understood_exits_with_2_and_prints_nothing() {
    let room = Room::new();
    for outcome in [
        room.run([]),
        room.run(["data"]),
        room.run(["data", "import"]),
        room.run(["check"]),
        room.run(["exec"]),
        room.run(["nonsense"]),
        room.run(["exec", "geo", "--nonsense"]),
        room.run(["data", "split", "--by", "random", "--out", "o"]),
        room.run(["data", "scan"]),
    ] {
        let outcome = outcome.exits(2).says(["Usage: spanwise"]);
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn a_domain_that_does_not_exist_is_named_with_a_suggestion() {
    let room = Room::new();
    room.run(["check", "goe"]).exits(2).says(["domain file goe", "did you mean the built-in domain `geo`?"]);
    room.run(["exec", "nowhere.toml", "x"]).exits(2).says(["nowhere.toml: there is no such file", "clevr"]);
    room.write("d.jsonl", common::example("a", "x"));
    room.run(["data", "stats", "d.jsonl", "--domain", "scna"]).exits(2).says(["`scan`"]);
}

#[test]
fn the_help_of_every_command_mentions_an_example() {
    let room = Room::new();
    for outcome in [
        room.run(["--help"]),
        room.run(["data", "--help"]),
        room.run(["data", "import", "--help"]),
        room.run(["data", "import", "geo", "--help"]),
        room.run(["data", "import", "clevr", "--help"]),
        room.run(["data", "import", "scan", "--help"]),
    ] {
        outcome.exits(0).prints(["Example", "\n  spanwise "]);
    }
}

#[test]
fn names_that_do_not_exist_make_the_call_wrong() {
    let room = Room::new();
    room.run(["check", "geo@nope"]).exits(2).says(["no type system `nope`", "paper"]);
    let scene = json!({"image_index": 5, "objects": []});
    room.write("s.json", json!({"scenes": [scene, scene]}).to_string());
    room.write("one.json", scene.to_string());
    let count = ["exec", "clevr", "count(scene())", "--context"];
    room.call(count).arg("s.json").arg("--index=8").run().exits(2).says(["s.json", "8"]);
    room.call(count).arg("s.json").run().exits(2).says(["s.json has 2 scenes", "--index"]);
    room.call(count).arg("one.json").arg("--index=5").run().exits(2).says(["one.json", "--index"]);
}

#[test]
fn every_error_is_said_once() {
    let room = Room::new();
    room.write("d.toml", format!("{TINY}g = \"Q\"\n"));
    room.write("d.jsonl", "{\"utterance\": 3}\n");
    room.write("t.txt", "IN: hop OUT: I_JUMP\n");
    room.write("good.txt", "IN: jump OUT: I_JUMP\n");
    for (outcome, text) in [
        (room.run(["check", "d.toml"]), "unknown type `Q`"),
        (room.run(["data", "stats", "d.jsonl"]), "must be a string"),
        (room.run(["data", "stats", "."]), "directory"),
        (room.run(["data", "import", "scan", "t.txt", "--out", "o"]), "found `hop`"),
        (room.run(["data", "import", "scan", "good.txt", "--out", "."]), "it is a directory"),
        (room.run(["data", "import", "scan", "good.txt", "--out", "/dev/full"]), "No space left"),
    ] {
        let outcome = outcome.exits(1);
        assert_eq!(outcome.stderr.matches(text).count(), 1, "{}", outcome.stderr);
    }
}
