//! Inputs that would make a command slow, block it, act on the terminal or destroy the input itself.

#![cfg(unix)]

use crate::common::{LAMPS, Sandbox, example, lamps};
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// What any command here may take, with a margin for a busy machine: the inputs took minutes, or never ended.
const SOON: Duration = Duration::from_secs(10);

/// Characters that act on a terminal: a title, a bell, a return, a color in one byte, an override of direction.
const CONTROLS: &str = "\u{1b}]0;owned\u{7}\r\u{9b}31m\u{202e}";

fn is_control(ch: char) -> bool {
    ch != '\n' && (ch.is_control() || ch == '\u{202e}')
}

fn fifo(sandbox: &Sandbox, name: &str) {
    assert!(Command::new("mkfifo").arg(sandbox.path(name)).status().unwrap().success());
}

/// A domain of lamps with the table `table`.
fn with_table(sandbox: &Sandbox, table: &str) {
    sandbox.write("lamps.toml", LAMPS.replace("lamps.tsv", table));
}

#[test]
fn tables_with_very_many_columns_or_keys_are_errors_at_once() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..100_000).map(|n| format!("c{n}")).collect();
    sandbox.write("wide.tsv", format!("{}\n", names.join("\t")));
    let rows: Vec<String> = names[..20_000].iter().map(|name| format!("{{\"{name}\": \"x\"}}")).collect();
    sandbox.write("keys.json", format!("[{}]", rows.join(",")));
    for table in ["wide.tsv", "keys.json"] {
        with_table(&sandbox, table);
        let started = Instant::now();
        let outcome = sandbox.run(["check", "lamps.toml"]).exits(1);
        outcome.says([table, "more than 1000 different columns", "lamps.toml:21"]);
        assert!(started.elapsed() < SOON, "{table}: {:?}", started.elapsed());
    }
}

#[test]
fn a_hundred_thousand_names_and_aliases_are_read_fast() {
    let sandbox = Sandbox::new();
    let names: String = (0..100_000).map(|n| format!("lamp {n}\n")).collect();
    sandbox.write("many.tsv", format!("name\n{names}"));
    let aliases: String = (0..50_000).map(|n| format!("\"lamp {n}\" = \"alias {n}\"\n")).collect();
    let domain = LAMPS.replace("lamps.tsv", "many.tsv");
    sandbox.write("lamps.toml", format!("{domain}[entities.aliases]\n{aliases}"));
    let started = Instant::now();
    sandbox.run(["check", "lamps.toml"]).exits(0).prints(["100000 entities", "150003 phrases"]);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    // All members may have one name.
    let rows: String = (0..100_000).map(|n| format!("lamp\t{n}\n")).collect();
    sandbox.write("same.tsv", format!("name\tid\n{rows}"));
    sandbox.write("same.toml", LAMPS.replace("lamps.tsv", "same.tsv").replace("{name}", "{id}"));
    let started = Instant::now();
    sandbox.run(["check", "same.toml"]).exits(0).prints(["100000 entities"]);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

#[test]
fn many_classes_of_one_large_table_are_an_error() {
    let sandbox = Sandbox::new();
    let names: String = (0..30_000).map(|n| format!("lamp {n}\n")).collect();
    sandbox.write("many.tsv", format!("name\n{names}"));
    let class = |n: usize| {
        format!(
            "[[entities]]\nclass = 'c{n}'\ntype = 'Lamp'\nform = \"c{n}('{{name}}')\"\ntable = 'many.tsv'\n"
        )
    };
    let classes: String = (0..100).map(class).collect();
    sandbox.write("lamps.toml", LAMPS.replace("lamps.tsv", "many.tsv") + &classes);
    let started = Instant::now();
    sandbox.run(["check", "lamps.toml"]).exits(1).says(["have more than 1000000 rows"]);
    assert!(started.elapsed() < 3 * SOON, "{:?}", started.elapsed());
}

#[test]
fn pipes_and_devices_are_refused_where_a_regular_file_is_needed() {
    let sandbox = Sandbox::with_toy();
    fifo(&sandbox, "pipe");
    with_table(&sandbox, "pipe");
    sandbox.run(["check", "lamps.toml"]).exits(1).says(["`pipe`", "it is a pipe; expected a regular file"]);
    with_table(&sandbox, "/dev/zero");
    sandbox.run(["check", "lamps.toml"]).exits(1).says(["`/dev/zero`", "it is a device"]);
    for file in ["pipe", "/dev/zero", "."] {
        sandbox.run(["check", file]).exits(2).says([file, "; expected a regular file"]);
        sandbox.run(["train", file, "--out", "model"]).exits(2).says([file, "; expected a regular file"]);
    }
    // Data may come through a pipe, but not from a device that never ends.
    let calls: [&[&str]; 4] = [
        &["check", "scan", "/dev/urandom"],
        &["data", "stats", "/dev/zero"],
        &["exec", "scan", "i_walk", "--context", "/dev/zero"],
        &["data", "import", "scan", "/dev/zero", "--out", "o"],
    ];
    for args in calls {
        let call = args.iter().fold(sandbox.call([]), |call, arg| call.arg(arg));
        call.run().exits(2).says(["it is a device; expected a file or a pipe"]);
    }
    sandbox.run(["data", "stats", "."]).exits(2).says(["it is a directory"]);
}

#[test]
fn data_may_come_through_pipes() {
    let sandbox = Sandbox::with_lamps();
    sandbox.write("data.jsonl", example("light desk", "do(on(lamp('desk')))"));
    let script = "cat data.jsonl | $SPANWISE check lamps.toml /dev/stdin";
    sandbox.shell(script).run().exits(0).prints(["well-typed", "100.0 %"]);
    fifo(&sandbox, "pipe");
    let script = "cat data.jsonl > pipe & $SPANWISE data stats pipe";
    sandbox.shell(script).run().exits(0).prints(["pipe"]);
    if Command::new("bash").arg("--version").output().is_ok_and(|bash| bash.status.success()) {
        let script = "bash -c '\"$SPANWISE\" check lamps.toml <(cat data.jsonl)'";
        sandbox.shell(script).run().exits(0).prints(["100.0 %"]);
    }
}

#[test]
fn no_command_overwrites_its_input() {
    let sandbox = Sandbox::with_toy();
    fs::hard_link(sandbox.path("dev.jsonl"), sandbox.path("hard.jsonl")).unwrap();
    std::os::unix::fs::symlink("dev.jsonl", sandbox.path("soft.jsonl")).unwrap();
    sandbox.write("test.jsonl", sandbox.read("dev.jsonl"));
    sandbox.write("scene.json", "{}");
    sandbox.write("tasks.txt", "IN: walk OUT: I_WALK\n");
    let calls: &[&[&str]] = &[
        &["eval", lamps(), "dev.jsonl", "--predictions", "dev.jsonl"],
        &["eval", lamps(), "dev.jsonl", "--predictions", "./dev.jsonl"],
        &["eval", lamps(), "dev.jsonl", "--predictions", "hard.jsonl"],
        &["eval", lamps(), "dev.jsonl", "--predictions", "soft.jsonl"],
        &["eval", lamps(), "soft.jsonl", "--predictions", "dev.jsonl"],
        &["eval", lamps(), "dev.jsonl", "--out-of-domain", "test.jsonl", "--predictions", "test.jsonl"],
        &["explain", lamps(), "light the desk", "--context", "scene.json", "--out", "scene.json"],
        &["data", "split", "train.jsonl", "dev.jsonl", "--by", "random", "--out", "."],
        &["data", "split", "soft.jsonl", "--by", "random", "--out", "."],
        &["data", "import", "scan", "tasks.txt", "--out", "tasks.txt"],
        &["data", "annotate", "lamps.toml", "train.jsonl", "--out", "train.jsonl"],
        &["data", "annotate", "lamps.toml", "train.jsonl", "--out", "lamps.toml"],
        &["data", "annotate", "lamps.toml", "train.jsonl", "--out", "lamps.tsv"],
    ];
    let all = || -> Vec<(String, Vec<u8>)> {
        sandbox.names(".").into_iter().map(|name| (name.clone(), sandbox.bytes(&name))).collect()
    };
    let before = all();
    for args in calls {
        let call = args.iter().fold(sandbox.call([]), |call, arg| call.arg(arg));
        call.run().exits(2).says(["will not overwrite ", "this command reads it"]);
        assert!(all() == before, "{args:?}");
    }
    let manifest = format!("{}/model.json", lamps());
    let call = sandbox.call(["eval", lamps(), "dev.jsonl", "--predictions"]).arg(&manifest);
    call.run().exits(2).says(["will not overwrite "]);
}

#[test]
fn training_does_not_overwrite_the_configuration_it_was_given() {
    let sandbox = Sandbox::with_toy();
    sandbox.write("config.toml", format!("# my notes\n{}", sandbox.read("run.toml")));
    let before = sandbox.read("config.toml");
    let call = ["train", "config.toml", "--out", ".", "--set", "training.epochs=1"];
    sandbox.run(call).exits(2).says(["will not overwrite ./config.toml"]);
    assert_eq!(sandbox.read("config.toml"), before);
    // One that a run has written holds nothing else, and may be used in its place.
    sandbox.run(["train", "config.toml", "--out", "a", "--set", "training.epochs=1"]).exits(0);
    sandbox.write("b/config.toml", sandbox.read("a/config.toml"));
    let outcome = sandbox.run(["train", "b/config.toml", "--data", ".", "--out", "b"]);
    outcome.exits(0);
}

#[test]
fn control_characters_of_any_input_are_written_out_in_text_and_kept_in_json() {
    let sandbox = Sandbox::with_toy();
    let bad = format!("light the {CONTROLS}desk");
    let name = format!("data{CONTROLS}.jsonl");
    sandbox.write("bad.jsonl", example(&bad, &format!("do(on(lamp('{CONTROLS}')))")));
    sandbox.write(&name, example(&bad, "do("));
    let program = format!("do(on(lamp('{CONTROLS}')))");
    sandbox.write("bad.toml", LAMPS.replace("lamps\"", &format!("lamps\"\n{CONTROLS} = \"")));
    let calls: &[&[&str]] = &[
        &["parse", lamps(), &bad],
        &["parse", lamps(), &bad, "--abstain-below", "1", "--k", "3"],
        &["explain", lamps(), &bad],
        &["explain", lamps(), CONTROLS],
        &["check", "lamps.toml", "bad.jsonl"],
        &["check", "lamps.toml", &name],
        &["check", "bad.toml"],
        &["data", "stats", "bad.jsonl", &name],
        &["data", "annotate", "lamps.toml", "bad.jsonl", "--verbose"],
        &["eval", lamps(), "bad.jsonl"],
        &["eval", lamps(), &name],
        &["eval", &name, "bad.jsonl"],
        &["exec", "scan", &program],
    ];
    for args in calls {
        let outcome = args.iter().fold(sandbox.call([]), |call, arg| call.arg(arg)).run();
        let text = format!("{}{}", outcome.stdout, outcome.stderr);
        assert!(!text.is_empty() && !text.contains(is_control), "{args:?}: {text:?}");
    }
    let outcome = sandbox.run(["parse", lamps(), &bad, "--json"]).exits(0);
    assert_eq!(outcome.json()["utterance"], bad);
}

#[test]
fn errors_about_arguments_write_out_control_characters() {
    for args in [["data", "\u{1b}[31m"], ["parse", "--\u{1b}[31m"], ["data", "\u{1b}]0;x\u{7}"]] {
        let outcome = Sandbox::new().run(args).exits(2).says(["error"]);
        assert!(!outcome.stderr.contains(['\u{1b}', '\u{7}']), "{}", outcome.stderr);
    }
}
