//! `spanwise exec`: programs as arguments, JSON lines, contexts.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Sandbox, wait};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::time::Duration;

const CAPITAL: &str = "answer(capital(loc_2(stateid('texas'))))";
/// A red cube to the left of a blue sphere, in CLEVR's compact notation.
const TWO_OBJECTS: &str = "cube rubber large red 0 1***sphere metal small blue 1 0";

/// The same picture with `n` more red cubes and no relations, as CLEVR's own files write it.
fn scene(image: u64, n: usize) -> Value {
    let cube = json!({"shape": "cube", "material": "rubber", "size": "large", "color": "red"});
    let nobody = vec![json!([]); n];
    json!({
        "image_index": image,
        "objects": vec![cube; n],
        "relationships": {"left": nobody, "right": nobody, "front": nobody, "behind": nobody},
    })
}

fn request(program: &str) -> String {
    json!({ "program": program }).to_string() + "\n"
}

// ---- programs as arguments ----------------------------------------------------------------------------------

#[cfg(feature = "geo")]
#[test]
fn programs_as_arguments_print_one_denotation_a_line() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["exec", "geo", CAPITAL, "answer(stateid('ohio'))"]).exits(0);
    assert_eq!(outcome.stdout, "[cityid(austin,tx)]\n[stateid(ohio)]\n");
    assert_eq!(outcome.stderr, "");
}

#[test]
fn scan_programs_become_actions_in_the_order_of_time() {
    let sandbox = Sandbox::new();
    let both = ["i_and(i_jump(),i_twice(i_run(i_left)))", "i_after(i_jump(),i_twice(i_run(i_left)))"];
    let outcome = sandbox.run(["exec", "scan", both[0], both[1]]).exits(0);
    let run = "I_TURN_LEFT I_RUN I_TURN_LEFT I_RUN";
    assert_eq!(outcome.stdout, format!("I_JUMP {run}\n{run} I_JUMP\n"));
}

#[cfg(feature = "geo")]
#[test]
fn a_program_that_denotes_nothing_gets_a_note_and_is_no_failure() {
    let outcome = Sandbox::new().run(["exec", "geo", "answer(_)"]).exits(0).says(["note: `_` is where"]);
    assert_eq!(outcome.stdout, "[]\n");
}

#[cfg(feature = "geo")]
#[test]
fn a_bad_program_is_pointed_at_and_the_others_still_answer() {
    let outcome =
        Sandbox::new().run(["exec", "geo", CAPITAL, "answer(oops", "answer(stateid('ohio'))"]).exits(1);
    assert_eq!(outcome.stdout, "[cityid(austin,tx)]\n[stateid(ohio)]\n");
    outcome.says(["this parenthesis is never closed", "program:1:7", "  |       ^"]);
}

#[cfg(feature = "geo")]
#[test]
fn json_for_arguments_holds_program_denotation_answer_and_error() {
    let outcome = Sandbox::new().run(["exec", "geo", "--json", CAPITAL, "answer(oops", "answer(_)"]).exits(1);
    let replies = outcome.replies();
    let expected =
        json!({"program": CAPITAL, "denotation": "[cityid(austin,tx)]", "answer": ["austin (tx)"]});
    assert_eq!(replies[0], expected);
    assert!(replies[1]["answer"].is_null() && replies[2]["answer"] == json!([]), "{replies:?}");
    assert_eq!((&replies[1]["program"], &replies[1]["denotation"]), (&json!("answer(oops"), &Value::Null));
    assert!(replies[1]["error"].as_str().unwrap().contains("never closed"));
    assert_eq!((&replies[2]["denotation"], replies[2]["note"].is_string()), (&json!("[]"), true));
    assert_eq!(replies.len(), 3);
    outcome.says(["1 of 3 programs could not be evaluated"]);
}

#[test]
fn unknown_predicates_and_wrong_numbers_of_arguments_are_errors() {
    let sandbox = Sandbox::new();
    sandbox.run(["exec", "clevr", "cuont(scene())"]).exits(1).says(["`cuont`"]);
    sandbox
        .run(["exec", "scan", "i_twice(i_jump(), i_jump())"])
        .exits(1)
        .says(["`i_twice` expects one command"]);
    sandbox.run(["exec", "scan", ""]).exits(1).says(["expected a program, found nothing"]);
}

#[cfg(feature = "geo")]
#[test]
fn a_program_that_begins_with_a_dash_can_stand_behind_two() {
    let sandbox = Sandbox::new();
    sandbox.run(["exec", "geo", "-5"]).exits(2);
    sandbox.run(["exec", "geo", "--", "-5"]).exits(0).prints(["[]"]);
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf8_makes_the_call_wrong() {
    use std::os::unix::ffi::OsStrExt as _;
    let sandbox = Sandbox::new();
    let bytes = std::ffi::OsStr::from_bytes(b"answer(\xff)");
    sandbox.call(["exec", "scan"]).arg(bytes).run().exits(2).says(["UTF-8"]);
}

// ---- JSON lines ---------------------------------------------------------------------------------------------

#[test]
fn lines_are_answered_in_order_and_errors_in_place() {
    let lines = [
        &request("i_jump()")[..],
        "not json\n",
        &request("i_hop()"),
        "[]\n",
        "{\"program\": 3}\n",
        "{\"other\": \"i_run()\"}\n",
        &request("i_run()"),
    ];
    let outcome = Sandbox::new().feed(["exec", "scan"], lines.concat()).exits(1);
    let replies = outcome.replies();
    assert_eq!(replies.len(), lines.len());
    assert_eq!(replies[0], json!({"program": "i_jump()", "denotation": "I_JUMP", "answer": ["I_JUMP"]}));
    assert_eq!(replies[6], json!({"program": "i_run()", "denotation": "I_RUN", "answer": ["I_RUN"]}));
    assert_eq!(replies[2]["program"], "i_hop()");
    assert!(replies[2]["error"].as_str().unwrap().contains("`i_hop`"));
    for (at, expected) in [(1, "JSON object"), (3, "JSON object"), (4, "`program`"), (5, "`program`")] {
        let error = replies[at]["error"].as_str().unwrap();
        assert!(error.starts_with(&format!("line {}: ", at + 1)) && error.contains(expected), "{error}");
        assert_eq!((&replies[at]["program"], &replies[at]["denotation"]), (&Value::Null, &Value::Null));
    }
    outcome.says(["5 of 7 programs could not be evaluated"]);
}

#[test]
fn errors_in_replies_are_one_line() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.feed(["exec", "scan"], request("answer(oops")).exits(1);
    assert_eq!(outcome.replies()[0]["error"], "column 7: this parenthesis is never closed");
    let outcome = sandbox.run(["exec", "scan", "--json", "answer(a))"]).exits(1);
    let error = "column 10: expected the end of the program, found more text \
        (hint: write one program per line, with balanced parentheses)";
    assert_eq!(outcome.replies()[0]["error"], error);
}

#[test]
fn good_lines_alone_exit_with_0_and_say_nothing() {
    let outcome = Sandbox::new().feed(["exec", "scan"], request("i_jump()").repeat(1000)).exits(0);
    assert_eq!((outcome.replies().len(), outcome.stderr.as_str()), (1000, ""));
}

#[test]
fn no_input_gives_no_output() {
    let sandbox = Sandbox::new();
    for input in ["", "\n", " \r\n\t\n"] {
        let outcome = sandbox.feed(["exec", "scan"], input).exits(0);
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), ("", ""));
    }
}

#[test]
fn blank_lines_windows_line_ends_and_a_missing_last_line_end_are_fine() {
    let input = "\r\n{\"program\": \"i_jump()\"}\r\n\n  \n\t{\"program\": \"i_run()\"} \r\n{\"program\": \"i_look()\"}";
    let outcome = Sandbox::new().feed(["exec", "scan"], input).exits(0);
    let denotations: Vec<Value> =
        outcome.replies().into_iter().map(|mut reply| reply["denotation"].take()).collect();
    assert_eq!(denotations, ["I_JUMP", "I_RUN", "I_LOOK"]);
}

#[test]
fn blank_lines_count_in_the_line_numbers_of_errors() {
    let outcome = Sandbox::new().feed(["exec", "scan"], "\n\nnonsense\n").exits(1);
    assert!(outcome.replies()[0]["error"].as_str().unwrap().starts_with("line 3: "));
}

#[test]
fn bytes_that_are_not_utf8_spoil_their_own_line_only() {
    let mut input = b"{\"program\": \"i_\xff\"}\n".to_vec();
    input.extend_from_slice(request("i_jump()").as_bytes());
    let outcome = Sandbox::new().feed(["exec", "scan"], input).exits(1);
    assert_eq!(outcome.replies()[0]["error"], "line 1: not valid UTF-8");
    assert_eq!(outcome.replies()[1]["denotation"], "I_JUMP");
}

#[test]
fn a_line_of_a_megabyte_is_answered_with_a_short_reason() {
    let sandbox = Sandbox::new();
    for program in ["x".repeat(1 << 20), format!("f('{}", "x".repeat(1 << 20)), "(".repeat(1 << 20)] {
        let outcome = sandbox.feed(["exec", "scan"], request(&program) + &request("i_jump()")).exits(1);
        assert!(outcome.replies()[0]["error"].as_str().unwrap().len() < 1000);
        assert_eq!(outcome.replies()[1]["denotation"], "I_JUMP");
    }
}

#[test]
fn programs_nested_ten_thousand_deep_are_answered() {
    let deep = |open: &str, leaf: &str, close: &str| {
        format!("{}{leaf}{}", open.repeat(10_000), close.repeat(10_000))
    };
    let sandbox = Sandbox::new();
    let outcome = sandbox.feed(["exec", "scan"], request(&deep("i_and(i_jump(),", "i_run()", ")"))).exits(0);
    let actions = outcome.replies()[0]["denotation"].as_str().unwrap().split(' ').count();
    assert_eq!(actions, 10_001);
    let outcome = sandbox.feed(["exec", "scan"], request(&deep("i_twice(", "i_run()", ")"))).exits(1);
    assert!(outcome.replies()[0]["error"].as_str().unwrap().contains("evaluation stopped"));
    if cfg!(feature = "geo") {
        let states = format!("answer({})", deep("state(", "all", ")"));
        let outcome = sandbox.feed(["exec", "geo"], request(&states)).exits(0);
        assert!(outcome.replies()[0]["denotation"].as_str().unwrap().contains("stateid(texas)"));
    }
    let line = json!({"program": format!("count({})", deep("union(scene(),", "scene()", ")")),
        "context": TWO_OBJECTS});
    let outcome = sandbox.feed(["exec", "clevr"], line.to_string()).exits(0);
    assert_eq!(outcome.replies()[0]["denotation"], "2");
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let sandbox = Sandbox::new();
    let mut child = sandbox.call(["exec", "scan"]).spawn();
    let mut stdin = child.stdin.take().unwrap();
    let endless =
        std::thread::spawn(move || while stdin.write_all(request("i_jump()").as_bytes()).is_ok() {});
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    assert!(line.contains("I_JUMP"));
    drop(stdout);
    assert_eq!(wait(&mut child), Some(0));
    endless.join().unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(stderr, "");
}

#[test]
fn each_line_is_answered_before_the_next_one_comes() {
    let mut child = Sandbox::new().call(["exec", "scan"]).spawn();
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
fn a_line_that_is_too_long_is_answered_once_and_counted_once() {
    let mut input = vec![b'x'; (64 << 20) + 1000];
    input.extend_from_slice(b"\nnonsense\n");
    let replies = Sandbox::new().feed(["exec", "scan"], input).exits(1).replies();
    let error = |at: usize| replies[at]["error"].as_str().unwrap();
    assert!(error(0).starts_with("line 1: longer than") && error(1).starts_with("line 2: "), "{replies:?}");
    assert_eq!(replies.len(), 2);
}

// ---- contexts -----------------------------------------------------------------------------------------------

#[test]
fn a_scene_comes_from_a_json_file_or_a_compact_text() {
    let sandbox = Sandbox::new();
    sandbox.write("scene.json", scene(0, 3).to_string());
    sandbox.write("scene.txt", format!("{TWO_OBJECTS}\n"));
    sandbox.write("text.json", json!(TWO_OBJECTS).to_string());
    for (file, n) in [("scene.json", "3\n"), ("scene.txt", "2\n"), ("text.json", "2\n")] {
        let outcome = sandbox.run(["exec", "clevr", "count(scene())", "--context", file]).exits(0);
        assert_eq!(outcome.stdout, n, "{file}");
    }
    let left = "query(color, relate(left, filter(sphere, scene())))";
    let outcome = sandbox.run(["exec", "clevr", left, "--context", "scene.txt"]).exits(0);
    assert_eq!(outcome.stdout, "red\n");
}

#[test]
fn a_scene_of_many_is_picked_by_its_image_index() {
    let sandbox = Sandbox::new();
    sandbox.write("many.json", json!({"info": {}, "scenes": [scene(5, 1), scene(7, 4)]}).to_string());
    sandbox.write("one.json", json!({"scenes": [scene(5, 1)]}).to_string());
    let count =
        |file, index| sandbox.run(["exec", "clevr", "count(scene())", "--context", file, "--index", index]);
    assert_eq!(count("many.json", "7").exits(0).stdout, "4\n");
    assert_eq!(count("one.json", "5").exits(0).stdout, "1\n");
    for index in ["x", "-1", "1.5", "99999999999999999999"] {
        assert_eq!(count("many.json", index).exits(2).stdout, "");
    }
    let outcome = sandbox.run(["exec", "clevr", "count(scene())", "--context", "one.json"]).exits(0);
    assert_eq!(outcome.stdout, "1\n");
    sandbox.run(["exec", "clevr", "count(scene())", "--index", "7"]).exits(2).says(["--context"]);
}

#[test]
fn the_context_of_a_line_wins_over_the_file() {
    let sandbox = Sandbox::new();
    sandbox.write("scene.json", scene(0, 3).to_string());
    let line = |context: Value| json!({"program": "count(scene())", "context": context}).to_string() + "\n";
    let scene_line = json!({"program": "count(scene())", "scene": scene(0, 1)}).to_string() + "\n";
    let input = line(json!(TWO_OBJECTS)) + &line(scene(9, 5)) + &scene_line + &request("count(scene())");
    let outcome = sandbox.feed(["exec", "clevr", "--context", "scene.json"], input).exits(0);
    let counts: Vec<Value> =
        outcome.replies().into_iter().map(|mut reply| reply["denotation"].take()).collect();
    assert_eq!(counts, ["2", "5", "1", "3"]);
}

#[test]
fn a_program_without_its_scene_says_so() {
    Sandbox::new().run(["exec", "clevr", "count(scene())"]).exits(1).says(["needs a scene as its context"]);
}

#[test]
fn context_files_that_cannot_be_used_are_errors_and_print_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("bytes.txt", b"cube\nrubber \xff");
    sandbox.write("broken.json", "{\"objects\": [\n],\n oops}");
    sandbox.write("empty.json", "");
    sandbox.write("no-objects.json", "{}");
    sandbox.write("blue-ish.txt", "cube rubber large bleu 0 0");
    sandbox.write("folder/x", "");
    let check = |file: &str, code: i32, text: &str| {
        let outcome =
            sandbox.run(["exec", "clevr", "count(scene())", "--context", file]).exits(code).says([text]);
        assert_eq!(outcome.stdout, "", "{file}");
    };
    check("missing.json", 2, "cannot read missing.json: there is no such file");
    check("folder", 2, "cannot read folder");
    check("bytes.txt", 1, "bytes.txt:2: not valid UTF-8");
    check("broken.json", 1, "broken.json is not valid JSON");
    check("broken.json", 1, "line 3");
    check("empty.json", 1, "the scene is empty");
    check("no-objects.json", 1, "`objects`");
    check("blue-ish.txt", 1, "did you mean `blue`?");
}

#[test]
fn a_context_that_cannot_be_used_is_named_with_its_line() {
    let sandbox = Sandbox::new();
    sandbox.write("late.json", "\n\n\n{\"objects\": [],\noops}");
    sandbox.write("wrong.json", "{\"objects\": 3}");
    let count = ["exec", "clevr", "count(scene())", "--context"];
    sandbox.call(count).arg("late.json").run().exits(1).says(["late.json", "line 5"]);
    sandbox.call(count).arg("wrong.json").run().exits(1).says(["wrong.json"]);
}

#[test]
fn a_context_of_null_leaves_the_scene() {
    let line = json!({"program": "count(scene())", "context": null, "scene": TWO_OBJECTS});
    let outcome = Sandbox::new().feed(["exec", "clevr"], line.to_string()).exits(0);
    assert_eq!(outcome.replies()[0]["denotation"], "2");
}
