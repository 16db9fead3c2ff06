//! `--help`, `--version`, wrong calls, and the wording of errors.

use crate::common::{Sandbox, TINY, subcommands};
use serde_json::json;

#[test]
fn every_command_has_help_on_standard_output() {
    let sandbox = Sandbox::new();
    sandbox.run(["--help"]).exits(0).prints(["Usage: spanwise", "check", "exec", "data"]);
    sandbox
        .run(["data", "--help"])
        .exits(0)
        .prints(["scan", "import", "export", "annotate", "split", "stats"]);
    sandbox.run(["data", "import", "--help"]).exits(0).prints(["geo", "clevr", "scan", "cogs", "okapi"]);
    sandbox.run(["data", "import", "geo", "--help"]).exits(0).prints(["<CORPUS>", "--out"]);
    sandbox.run(["data", "import", "clevr", "--help"]).exits(0).prints(["<QUESTIONS>", "--scenes"]);
    sandbox.run(["data", "import", "scan", "--help"]).exits(0).prints(["IN: .. OUT: ..", "--out"]);
}

#[test]
fn every_command_at_any_depth_shows_an_example_in_its_help() {
    let sandbox = Sandbox::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    let mut n_commands = 0;
    while let Some(command) = open.pop() {
        let call = command.iter().fold(sandbox.call([]), |call, name| call.arg(name)).arg("--help");
        let help = call.run().exits(0).prints(["Example", "\n  spanwise "]).stdout;
        for name in subcommands(&help) {
            open.push([command.as_slice(), &[name]].concat());
        }
        n_commands += 1;
    }
    assert!(n_commands > 20, "{n_commands}");
}

#[test]
fn the_version_is_the_one_of_the_package() {
    let outcome = Sandbox::new().run(["--version"]).exits(0);
    assert_eq!(outcome.stdout, format!("spanwise {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_call_that_is_not_understood_exits_with_2_and_prints_nothing() {
    let sandbox = Sandbox::new();
    for outcome in [
        sandbox.run([]),
        sandbox.run(["data"]),
        sandbox.run(["data", "import"]),
        sandbox.run(["check"]),
        sandbox.run(["exec"]),
        sandbox.run(["nonsense"]),
        sandbox.run(["exec", "scan", "--nonsense"]),
        sandbox.run(["data", "split", "--by", "random", "--out", "o"]),
        sandbox.run(["data", "scan"]),
    ] {
        let outcome = outcome.exits(2).says(["Usage: spanwise"]);
        assert_eq!(outcome.stdout, "");
    }
}

#[test]
fn a_domain_that_does_not_exist_is_named_with_a_suggestion() {
    let sandbox = Sandbox::new();
    sandbox
        .run(["check", "clvr"])
        .exits(2)
        .says(["domain file clvr", "did you mean the built-in domain `clevr`?"]);
    sandbox
        .run(["exec", "nowhere.toml", "x"])
        .exits(2)
        .says(["nowhere.toml: there is no such file", "clevr"]);
    sandbox.write("d.jsonl", crate::common::example("a", "x"));
    sandbox.run(["data", "stats", "d.jsonl", "--domain", "scna"]).exits(2).says(["`scan`"]);
}

#[cfg(not(feature = "geo"))]
#[test]
fn what_needs_the_domain_geo_names_the_missing_feature() {
    let sandbox = Sandbox::new();
    for outcome in [
        sandbox.run(["check", "geo@paper"]),
        sandbox.run(["exec", "geo", "x"]),
        sandbox.run(["new", "maps", "--from", "geo"]),
        sandbox.run(["demo"]),
    ] {
        outcome.exits(2).says(["geo", "not in this build", "cargo feature `geo`"]);
    }
    let help = sandbox.run(["check", "--help"]).exits(0);
    help.prints(["A built-in domain (clevr, scan) or a domain file"]);
}

#[test]
fn names_that_do_not_exist_exit_with_2() {
    let sandbox = Sandbox::new();
    if cfg!(feature = "geo") {
        sandbox.run(["check", "geo@nope"]).exits(2).says(["no type system `nope`", "paper"]);
    }
    let scene = json!({"image_index": 5, "objects": []});
    sandbox.write("s.json", json!({"scenes": [scene, scene]}).to_string());
    sandbox.write("one.json", scene.to_string());
    let count = ["exec", "clevr", "count(scene())", "--context"];
    sandbox.call(count).arg("s.json").arg("--index=8").run().exits(2).says(["s.json", "8"]);
    sandbox.call(count).arg("s.json").run().exits(2).says(["s.json has 2 scenes", "--index"]);
    sandbox.call(count).arg("one.json").arg("--index=5").run().exits(2).says(["one.json", "--index"]);
}

#[test]
fn every_error_is_reported_once() {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", format!("{TINY}g = \"Q\"\n"));
    sandbox.write("d.jsonl", "{\"utterance\": 3}\n");
    sandbox.write("t.txt", "IN: hop OUT: I_JUMP\n");
    sandbox.write("good.txt", "IN: jump OUT: I_JUMP\n");
    for (outcome, text) in [
        (sandbox.run(["check", "d.toml"]), "unknown type `Q`"),
        (sandbox.run(["data", "stats", "d.jsonl"]), "must be a string"),
        (sandbox.run(["data", "import", "scan", "t.txt", "--out", "o"]), "found `hop`"),
        (sandbox.run(["data", "import", "scan", "good.txt", "--out", "."]), "it is a directory"),
        (sandbox.run(["data", "import", "scan", "good.txt", "--out", "/dev/full"]), "No space left"),
    ] {
        let outcome = outcome.exits(1);
        assert_eq!(outcome.stderr.matches(text).count(), 1, "{}", outcome.stderr);
    }
}
