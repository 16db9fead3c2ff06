//! `--help`, `--version`, and calls that no command understands.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::Room;

#[test]
fn every_command_has_help_on_standard_output() {
    let room = Room::new();
    room.run(["--help"]).exits(0).prints(["Usage: spanwise", "check", "exec", "data"]);
    room.run(["data", "--help"]).exits(0).prints(["scan", "import", "split", "stats"]);
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
