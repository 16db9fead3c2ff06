//! Promises that are not kept yet: each test here fails until its bug is fixed, then moves to its own file.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{LAMPS, Room, TINY, example, no_python, wait};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

const GOOD_SCAN: &str = "IN: jump OUT: I_JUMP\n";
const CUBE: &str = "cube rubber large red 0 0";
/// An executor that answers with the program.
const SCRIPT: &str = "import json, sys\nfor line in sys.stdin:\n    request = json.loads(line)\n    \
    print(json.dumps({'id': request['id'], 'denotation': request['program']}), flush=True)\n";

// ---- messages -----------------------------------------------------------------------------------------------

#[test]
fn every_error_is_said_once() {
    let room = Room::new();
    room.write("d.toml", format!("{TINY}g = \"Q\"\n"));
    room.write("d.jsonl", "{\"utterance\": 3}\n");
    room.write("t.txt", "IN: hop OUT: I_JUMP\n");
    room.write("good.txt", GOOD_SCAN);
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
fn an_import_names_the_file_that_is_wrong() {
    let room = Room::new();
    room.write("train.txt", GOOD_SCAN);
    room.write("test.txt", format!("{GOOD_SCAN}oops\n"));
    let outcome = room.run(["data", "import", "scan", "train.txt", "test.txt", "--out", "o"]).exits(1);
    assert!(
        outcome.stderr.contains("test.txt") && !outcome.stderr.contains("train.txt"),
        "{}",
        outcome.stderr
    );
    room.write("corpus", "id:1\nnl:q\nmrl:f(x)\n");
    room.write("train.list", "7\n");
    room.run(["data", "import", "geo", "corpus", "train.list", "--out", "o"]).exits(1).says(["train.list"]);
    room.write("q.json", "{\"questions\": [{\"question\": \"q\", \"image_index\": 0}]}");
    room.write("s.json", "{\"scenes\": [\n{]}");
    let args = ["data", "import", "clevr", "q.json", "--scenes", "s.json", "--out", "o"];
    room.run(args).exits(1).says(["s.json", "line 2"]);
}

#[test]
fn a_split_names_file_and_line_of_a_program_it_cannot_use() {
    let room = Room::new();
    room.write("a.jsonl", example("a", "f(x)"));
    room.write("b.jsonl", example("b", "f(x)") + "\n{\"utterance\": \"c\"}\n");
    room.write("c.jsonl", example("b", "f(x)") + "\n" + &example("c", "f(x"));
    let args = |file| ["data", "split", "a.jsonl", file, "--by", "length", "--out", "o"];
    room.run(args("b.jsonl")).exits(1).says(["b.jsonl:3"]);
    room.run(args("c.jsonl")).exits(1).says(["c.jsonl:3"]);
}

#[test]
fn a_context_that_cannot_be_used_is_named_with_its_line() {
    let room = Room::new();
    room.write("late.json", "\n\n\n{\"objects\": [],\noops}");
    room.write("wrong.json", "{\"objects\": 3}");
    let count = ["exec", "clevr", "count(scene())", "--context"];
    room.call(count).arg("late.json").run().exits(1).says(["late.json", "line 5"]);
    room.call(count).arg("wrong.json").run().exits(1).says(["wrong.json"]);
}

#[test]
fn mistakes_in_the_executor_table_are_pointed_at() {
    let room = Room::new();
    for line in ["builtin = \"goe\"", "url = \"nonsense\"", "command = [\"\"]"] {
        room.write("d.toml", format!("{TINY}[executor]\n{line}\n"));
        room.run(["check", "d.toml"]).exits(1).says(["d.toml:9:"]);
    }
}

#[test]
fn asking_for_more_failures_shows_more_failures() {
    let room = Room::new();
    room.write("d.jsonl", example("a", "i_hop()").repeat(1100));
    let outcome = room.run(["check", "scan", "d.jsonl", "--show", "2000"]).exits(1);
    assert_eq!(outcome.stdout.matches("\nd.jsonl:").count(), 1100);
}

// ---- exec ---------------------------------------------------------------------------------------------------

#[test]
fn each_line_is_answered_before_the_next_one_comes() {
    let mut child = Room::new().call(["exec", "scan"]).spawn();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdin.write_all(b"{\"program\": \"i_jump()\"}\n").unwrap();
    let (answered, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let _ = answered.send(line);
    });
    let answer = answer.recv_timeout(Duration::from_secs(5));
    drop(stdin);
    assert_eq!(wait(&mut child), Some(0));
    assert!(answer.expect("an answer while more input may come").contains("I_JUMP"));
}

#[test]
fn a_folder_with_an_at_sign_in_its_name_is_a_folder() {
    if no_python() {
        return;
    }
    let room = Room::new();
    room.run(["check", "me@home/missing.toml"]).exits(2).says(["me@home/missing.toml"]);
    room.write("me@home/d.toml", format!("{TINY}[executor]\ncommand = [\"python3\", \"run.py\"]\n"));
    room.write("me@home/run.py", SCRIPT);
    assert_eq!(room.run(["exec", "me@home/d.toml", "f(x)"]).exits(0).stdout, "f(x)\n");
}

#[test]
fn a_context_of_null_leaves_the_scene() {
    let line = json!({"program": "count(scene())", "context": null, "scene": CUBE});
    let outcome = Room::new().feed(["exec", "clevr"], line.to_string()).exits(0);
    assert_eq!(outcome.replies()[0]["denotation"], "1");
}

#[test]
fn a_line_that_is_too_long_is_answered_once_and_counted_once() {
    let mut input = vec![b'x'; (64 << 20) + 1000];
    input.extend_from_slice(b"\nnonsense\n");
    let replies = Room::new().feed(["exec", "scan"], input).exits(1).replies();
    let error = |at: usize| replies[at]["error"].as_str().unwrap();
    assert!(error(0).starts_with("line 1: longer than") && error(1).starts_with("line 2: "), "{replies:?}");
    assert_eq!(replies.len(), 2);
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

// ---- check --------------------------------------------------------------------------------------------------

#[test]
fn a_domain_is_checked_without_the_secrets_of_its_executor() {
    let room = Room::new();
    let executor = "[executor]\nurl = \"http://127.0.0.1:9/\"\ntoken_env = \"SPANWISE_TEST_NO_SUCH_TOKEN\"\n";
    room.write("d.toml", format!("{TINY}{executor}"));
    room.run(["check", "d.toml"]).exits(0);
}

#[test]
fn answers_cannot_be_compared_without_an_executor() {
    let room = Room::new();
    room.write("d.toml", TINY);
    room.write("d.jsonl", json!({"utterance": "a", "program": "x", "answer": "wrong"}).to_string());
    room.run(["check", "d.toml", "d.jsonl", "--execute"]).exits(2).says(["has no [executor]"]);
}

#[test]
fn names_that_no_program_can_write_are_refused() {
    let room = Room::new();
    for name in ["a b", "g(", "it's", "a,b", ""] {
        room.write("d.toml", format!("{TINY}\"{name}\" = \"A\"\n"));
        room.run(["check", "d.toml"]).exits(1).says(["d.toml:8:"]);
    }
}

#[test]
fn an_entity_class_with_an_empty_table_is_refused() {
    let room = Room::with_lamps();
    room.write("lamps.tsv", "name\n\n");
    room.run(["check", "lamps.toml"]).exits(1).says(["class `lamp` has no members"]);
}

#[test]
fn the_name_of_a_table_may_hold_spaces() {
    let room = Room::with_lamps();
    room.write("lamps.toml", LAMPS.replace("lamps.tsv", "my lamps.tsv"));
    room.run(["check", "lamps.toml"]).exits(1).says(["`my lamps.tsv`"]);
    room.write("my lamps.tsv", common::LAMPS_TABLE);
    room.run(["check", "lamps.toml"]).exits(0).prints(["2 entities"]);
}

// ---- data ---------------------------------------------------------------------------------------------------

#[test]
fn a_clevr_file_without_questions_is_refused() {
    let room = Room::new();
    room.write("q.json", "{\"questions\": []}");
    room.run(["data", "import", "clevr", "q.json", "--out", "o.jsonl"])
        .exits(1)
        .says(["q.json", "no example"]);
    assert_eq!(room.names("."), ["q.json"]);
}

#[test]
fn a_clevr_file_that_does_not_end_as_json_does_is_refused() {
    let room = Room::new();
    for rest in ["", ", \"info\": {", "} and more", "]"] {
        room.write("q.json", format!("{{\"questions\": [{{\"question\": \"q\"}}]{rest}"));
        let outcome = room.run(["data", "import", "clevr", "q.json", "--out", "o.jsonl"]);
        outcome.exits(1).says(["q.json", "line 1"]);
        assert_eq!(room.names("."), ["q.json"]);
    }
}

#[test]
fn an_import_writes_nothing_that_the_reader_refuses() {
    let room = Room::new();
    room.write("q.json", "{\"questions\": [{\"question\": \" \"}]}");
    room.run(["data", "import", "clevr", "q.json", "--out", "o.jsonl"]).exits(1).says(["question 0"]);
    room.write("corpus", "id:1\nnl:\nmrl:f(x)\nid:2\nnl:q\nmrl:g(x)\n");
    room.write("ids", "2\n");
    room.run(["data", "import", "geo", "corpus", "ids", "--out", "o"])
        .exits(1)
        .says(["line 2 of the corpus"]);
}

#[test]
fn a_geo_corpus_cut_off_or_with_an_id_twice_is_refused() {
    let room = Room::new();
    let good = "id:1\nnl:q\nmrl:f(x)\nid:2\nnl:r\nmrl:g(x)\n";
    room.write("ids", "1\n");
    for (rest, text) in [
        ("id:3\nnl:s\n", "line"),
        ("id:3\nid:4\nnl:s\nmrl:h(x)\n", "line"),
        ("id:1\nnl:s\nmrl:h(x)\n", "`1`"),
    ] {
        room.write("corpus", format!("{good}{rest}"));
        room.run(["data", "import", "geo", "corpus", "ids", "--out", "o"]).exits(1).says(["corpus", text]);
        assert_eq!(room.names("."), ["corpus", "ids"]);
    }
}

#[test]
fn numbers_pass_through_a_split_unchanged() {
    let room = Room::new();
    let numbers = "[0.20938417613145166,-1.493721008300781,123456789012345678901234]";
    room.write("d.jsonl", format!("{{\"utterance\": \"a\", \"n\": {numbers}}}\n").repeat(2));
    room.run(["data", "split", "d.jsonl", "--by", "random", "--test", "1", "--out", "o"]).exits(0);
    assert!(room.read("o/test.jsonl").contains(numbers), "{}", room.read("o/test.jsonl"));
}

#[test]
fn every_file_of_a_split_can_be_read_again() {
    let room = Room::new();
    room.write("d.jsonl", example("a", "f(x)").repeat(4));
    room.run(["data", "split", "d.jsonl", "--by", "random", "--test", "1", "--dev", "0", "--out", "o"])
        .exits(0);
    for name in room.names("o") {
        room.run(["data", "stats", &format!("o/{name}")]).exits(0);
    }
}

#[test]
fn a_split_of_scan_that_is_named_twice_is_written_once() {
    let outcome = Room::new().run(["data", "scan", "--out", "o", "--split", "right,length,right"]).exits(0);
    assert_eq!(outcome.stderr.matches("train_right.jsonl").count(), 1, "{}", outcome.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_as_output_file_keeps_what_was_printed_before() {
    let room = Room::new();
    room.write("t.txt", GOOD_SCAN);
    room.write("all.txt", "first\n");
    let file = std::fs::OpenOptions::new().append(true).open(room.path("all.txt")).unwrap();
    let call = room.call(["data", "import", "scan", "t.txt", "--out", "/dev/stdout"]);
    call.stdout_to(file).run().exits(0);
    assert!(room.read("all.txt").starts_with("first\n{\"utterance\":\"jump\""), "{}", room.read("all.txt"));
}

#[cfg(unix)]
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
