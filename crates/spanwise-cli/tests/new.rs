//! `spanwise new`: what it writes works as it is, and it writes over nothing.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Room, no_python};

#[test]
fn a_new_domain_can_be_checked_trained_and_asked() {
    let room = Room::new();
    let made = room.run(["new", "my-domain"]).exits(0);
    made.prints(["my-domain: ", "domain.toml", "next: cd my-domain"]);
    let files = ["README.md", "domain.toml", "examples.jsonl", "executor.py", "rooms.tsv", "train.toml"];
    assert_eq!(room.names("my-domain"), files);
    assert!(room.read("my-domain/domain.toml").contains("name = \"my-domain\""));
    let check = room.run(["check", "my-domain/domain.toml", "my-domain/examples.jsonl", "--json"]).exits(0);
    let report = check.json();
    assert_eq!((&report["examples"], &report["typed"]), (&10.into(), &10.into()), "{report}");
    room.run(["train", "my-domain/train.toml", "--out", "model", "--json"]).exits(0);
    // Neither the name nor the pairing is in any example.
    assert!(!room.read("my-domain/examples.jsonl").contains("lounge"));
    room.run(["parse", "model", "turn off the fan in the lounge"])
        .exits(0)
        .prints(["off(fan(room('living room')))"]);
}

#[test]
fn its_executor_answers_and_travels_with_the_model() {
    if no_python() {
        return;
    }
    let room = Room::new();
    room.run(["new", "home"]).exits(0);
    let commented = room.read("home/domain.toml");
    let domain = commented.replace("# [executor]", "[executor]").replace("# command", "command");
    assert_ne!(domain, commented);
    room.write("home/domain.toml", domain.replace("# timeout", "timeout"));
    let program = "both(off(lamp(room('kitchen'))), on(fan()))";
    let expected = r#"["kitchen lamp: off","kitchen lamp: off","hall fan: on","bedroom fan: on"]"#;
    let outcome = room.run(["exec", "home/domain.toml", program]).exits(0);
    assert_eq!(outcome.stdout.trim(), expected);
    room.run(["exec", "home/domain.toml", "count(lamp())"]).exits(0).prints(["5\n"]);
    let call = ["train", "home/train.toml", "--out", "model", "--set", "training.epochs=2"];
    room.run(call).exits(0);
    std::fs::remove_dir_all(room.path("home")).unwrap();
    let reply = room.run(["parse", "model", "--json", "all lamps on"]).exits(0).json();
    assert!(reply["denotation"].is_string() && reply.get("error").is_none(), "{reply}");
}

#[test]
fn a_copy_of_every_built_in_domain_is_whole() {
    let room = Room::new();
    for from in ["geo", "scan", "clevr"] {
        room.run(["new", &format!("sub/my-{from}"), "--from", from]).exits(0);
        let domain = format!("sub/my-{from}/domain.toml");
        let examples = format!("sub/my-{from}/examples.jsonl");
        let report = room.run(["check", &domain, &examples, "--json"]).exits(0).json();
        assert_eq!((&report["examples"], &report["typed"]), (&10.into(), &10.into()), "{report}");
    }
    let capital = "answer(capital_1(stateid('maine')))";
    let copy = room.run(["exec", "sub/my-geo/domain.toml", capital]).exits(0);
    assert_eq!(copy.stdout, room.run(["exec", "geo", capital]).exits(0).stdout);
}

#[test]
fn what_is_there_is_not_written_over_and_names_are_plain() {
    let room = Room::new();
    room.write("home/notes.txt", "mine");
    room.run(["new", "home"]).exits(2).says(["home is there already and holds something"]);
    assert_eq!(room.names("home"), ["notes.txt"]);
    room.write("file", "");
    room.run(["new", "file"]).exits(2).says(["file is there already"]);
    std::fs::create_dir(room.path("empty")).unwrap();
    room.run(["new", "empty"]).exits(0);
    for name in ["My", "2x", "a b", ".."] {
        room.run(["new", name]).exits(2).says(["lower-case letters"]);
    }
    room.run(["new", "x", "--from", "moon"]).exits(2).says(["home, geo, scan, clevr"]);
    assert!(!room.path("x").exists());
}
