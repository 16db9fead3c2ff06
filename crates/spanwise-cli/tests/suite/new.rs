//! `spanwise new`: what it writes works as it is, and it writes over nothing.

use crate::common::{Sandbox, no_python};

#[test]
fn a_new_domain_can_be_checked_trained_and_asked() {
    let sandbox = Sandbox::new();
    let made = sandbox.run(["new", "my-domain"]).exits(0);
    made.prints(["my-domain: ", "domain.toml", "next: cd my-domain"]);
    let files = ["README.md", "domain.toml", "examples.jsonl", "executor.py", "places.tsv", "train.toml"];
    assert_eq!(sandbox.names("my-domain"), files);
    assert!(sandbox.read("my-domain/domain.toml").contains("name = \"my-domain\""));
    let check =
        sandbox.run(["check", "my-domain/domain.toml", "my-domain/examples.jsonl", "--json"]).exits(0);
    let report = check.json();
    assert_eq!((&report["examples"], &report["typed"]), (&10.into(), &10.into()), "{report}");
    sandbox.run(["train", "my-domain/train.toml", "--out", "model", "--json"]).exits(0);
    // Neither the name nor the pairing is in any example.
    assert!(!sandbox.read("my-domain/examples.jsonl").contains("lounge"));
    sandbox
        .run(["parse", "model", "turn off the fan in the lounge"])
        .exits(0)
        .prints(["off(fan(place('living room')))"]);
    // Nor is the number.
    assert!(!sandbox.read("my-domain/examples.jsonl").contains("sixty"));
    sandbox
        .run(["parse", "model", "dim the bedroom lamp to sixty percent"])
        .exits(0)
        .prints(["dim(lamp(place('bedroom')), percent(60))"]);
}

#[test]
fn its_executor_answers_and_travels_with_the_model() {
    if no_python() {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.run(["new", "home"]).exits(0);
    let commented = sandbox.read("home/domain.toml");
    let domain = commented.replace("# [executor]", "[executor]").replace("# command", "command");
    assert_ne!(domain, commented);
    sandbox.write("home/domain.toml", domain.replace("# timeout", "timeout"));
    let dim = sandbox.run(["exec", "home/domain.toml", "dim(lamp(place('hall')), percent(12.5))"]).exits(0);
    assert_eq!(dim.stdout.trim(), r#"["hall lamp: dim 12.5"]"#);
    sandbox
        .run(["exec", "home/domain.toml", "dim(lamp(), percent(12.50))"])
        .exits(1)
        .says(["`percent(12.50)` is not the canonical value of a literal of the class `percent`"]);
    let program = "both(off(lamp(place('kitchen'))), on(fan()))";
    let expected = r#"["kitchen lamp: off","kitchen lamp: off","hall fan: on","bedroom fan: on"]"#;
    let outcome = sandbox.run(["exec", "home/domain.toml", program]).exits(0);
    assert_eq!(outcome.stdout.trim(), expected);
    sandbox.run(["exec", "home/domain.toml", "count(lamp())"]).exits(0).prints(["5\n"]);
    let call = ["train", "home/train.toml", "--out", "model", "--set", "training.epochs=2"];
    sandbox.run(call).exits(0);
    std::fs::remove_dir_all(sandbox.path("home")).unwrap();
    let reply = sandbox.run(["parse", "model", "--json", "--always-answer", "all lamps on"]).exits(0).json();
    assert!(reply["denotation"].is_string() && reply.get("error").is_none(), "{reply}");
}

#[test]
fn a_copy_of_every_built_in_domain_is_whole() {
    let sandbox = Sandbox::new();
    let geo = cfg!(feature = "geo").then_some("geo");
    for from in ["scan", "clevr"].into_iter().chain(geo) {
        sandbox.run(["new", &format!("sub/my-{from}"), "--from", from]).exits(0);
        let domain = format!("sub/my-{from}/domain.toml");
        let examples = format!("sub/my-{from}/examples.jsonl");
        let report = sandbox.run(["check", &domain, &examples, "--json"]).exits(0).json();
        assert_eq!((&report["examples"], &report["typed"]), (&10.into(), &10.into()), "{report}");
    }
    if geo.is_some() {
        let capital = "answer(capital_1(stateid('maine')))";
        let copy = sandbox.run(["exec", "sub/my-geo/domain.toml", capital]).exits(0);
        assert_eq!(copy.stdout, sandbox.run(["exec", "geo", capital]).exits(0).stdout);
    }
}

#[test]
fn what_is_there_is_not_written_over_and_names_are_plain() {
    let sandbox = Sandbox::new();
    sandbox.write("home/notes.txt", "mine");
    sandbox.run(["new", "home"]).exits(2).says(["home is there already and holds something"]);
    assert_eq!(sandbox.names("home"), ["notes.txt"]);
    sandbox.write("file", "");
    sandbox.run(["new", "file"]).exits(2).says(["file is there already"]);
    std::fs::create_dir(sandbox.path("empty")).unwrap();
    sandbox.run(["new", "empty"]).exits(0);
    for name in ["My", "2x", "a b", ".."] {
        sandbox.run(["new", name]).exits(2).says(["lower-case letters"]);
    }
    sandbox.run(["new", "x", "--from", "moon"]).exits(2).says(["home, geo, scan, clevr"]);
    assert!(!sandbox.path("x").exists());
}
