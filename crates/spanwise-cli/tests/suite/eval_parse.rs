//! `spanwise eval` and `spanwise parse`, with two small models: one of lamps, one of SCAN with its executor.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

use crate::common::{Outcome, Sandbox, example, interrupt, json_lines, lamps, scan, scan_examples, wait};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};

fn check_fields(reply: &Value) {
    for field in [
        "utterance",
        "program",
        "lines",
        "answer",
        "denotation",
        "probability",
        "posterior",
        "in_domain",
        "score",
        "tree",
        "alternatives",
        "tokens",
        "unknown_words",
    ] {
        assert!(reply.get(field).is_some(), "no `{field}` in {reply}");
    }
    assert_eq!(reply["program"].is_null(), reply.get("reason").is_some(), "{reply}");
    assert_eq!(reply["program"].is_null(), reply["tree"].is_null(), "{reply}");
}

fn utterances(outcome: &Outcome) -> Vec<String> {
    outcome.replies().iter().map(|reply| reply["utterance"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn trees_that_the_leaves_decide_are_counted_on_their_own() {
    let sandbox = Sandbox::new();
    let span = |start: usize, end: usize, name: &str| json!({"words": [start, end], "type": name});
    let one = json!({"utterance": "walk left", "program": "i_walk ( i_left )",
        "gold_spans": [span(0, 2, "span"), span(0, 1, "i_walk"), span(1, 2, "i_left")]});
    let none = json!({"utterance": "run left", "program": "i_run ( i_left )"});
    sandbox.write("trees.jsonl", format!("{one}\n{none}\n"));
    let report = sandbox.run(["eval", scan(), "trees.jsonl", "--json"]).exits(0).json();
    assert_eq!(report["n_trees"], 1, "{report}");
    assert_eq!((&report["tree_f1"], &report["tree_f1_one_tree"]), (&json!(100.0), &json!(100.0)), "{report}");
}

#[test]
fn trees_over_word_pieces_are_read_with_the_tokenizer_that_made_them() {
    let sandbox = Sandbox::new();
    let span = |first: usize, last: usize, name: &str| json!({"span": [first, last], "type": name});
    let tree = json!({"utterance": "walk thrice", "program": "i_thrice ( i_walk )",
        "gold_spans": [span(0, 2, "span"), span(0, 0, "i_walk"), span(1, 2, "i_thrice")]});
    sandbox.write("trees.jsonl", format!("{tree}\n"));
    sandbox.write("pieces/vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nwalk\nthr\n##ice\n");
    let without = sandbox.run(["eval", scan(), "trees.jsonl", "--json"]).exits(0).json();
    assert_eq!(without["n_trees"], 0, "words of the model are no pieces: {without}");
    let with = sandbox.run(["eval", scan(), "trees.jsonl", "--pieces", "pieces", "--json"]).exits(0).json();
    assert_eq!((&with["n_trees"], &with["tree_f1"]), (&json!(1), &json!(100.0)), "{with}");
    let wrong = sandbox.run(["eval", scan(), "trees.jsonl", "--pieces", "nowhere"]).exits(2);
    assert!(wrong.stderr.contains("nowhere"), "{}", wrong.stderr);
}

#[test]
fn eval_gives_every_number_of_the_contract_and_they_fit_together() {
    let sandbox = Sandbox::new();
    // The last one has another program with the same actions, and one is nonsense to the model.
    let data = scan_examples()
        + &example("walk left twice", "i_and ( i_walk ( i_left ) , i_walk ( i_left ) )")
        + &example("?!", "i_jump ( )");
    sandbox.write("d.jsonl", data);
    let call = ["eval", scan(), "d.jsonl", "--json", "--predictions", "p.jsonl"];
    let report = sandbox.run(call).exits(0).json();
    let number = |name: &str| report[name].as_f64().unwrap_or_else(|| panic!("`{name}` in {report}"));
    assert_eq!(report["n"], 34);
    for share in
        ["exact_match", "denotation", "denotation_strict", "coverage", "no_parse", "risk_at_80", "risk_at_95"]
    {
        assert!((0.0..=100.0).contains(&number(share)), "{share} in {report}");
    }
    assert!((0.0..=1.0).contains(&number("ece")) && number("seconds") > 0.0);
    assert!(report["tree_f1"].is_null());
    // No tree over their words gives the gold programs of the last two; all others are right.
    assert_eq!((&report["n_trees_any"], number("tree_f1_any")), (&json!(32), 100.0));
    let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let percent = |n: usize| 100.0 * n as f64 / 34.0;
    assert!(close(number("exact_match"), percent(32)), "{report}");
    assert!(close(number("denotation"), percent(33)), "{report}");
    assert!(close(number("no_parse"), percent(1)), "{report}");
    assert!(number("denotation_strict") <= number("denotation"));
    assert!(number("utterances_per_second") > 0.0);

    let predictions = sandbox.json_lines("p.jsonl");
    let count = |field: &str| predictions.iter().filter(|line| line[field] == true).count();
    assert_eq!((predictions.len(), count("exact"), count("denotation_correct")), (34, 32, 33));
    let (first, last) = (&predictions[0], &predictions[33]);
    assert_eq!(first["utterance"], "walk left");
    assert_eq!(first["gold"], "i_walk ( i_left )");
    assert_eq!(first["program"], "i_walk ( i_left )");
    assert_eq!(first["denotation"], "I_TURN_LEFT I_WALK");
    assert!((0.0..=1.0).contains(&first["probability"].as_f64().unwrap()));
    assert_eq!((&last["program"], &last["probability"]), (&Value::Null, &json!(0.0)));
}

#[test]
fn eval_prints_a_human_readable_table() {
    let sandbox = Sandbox::with_toy();
    let outcome = sandbox.run(["eval", lamps(), "train.jsonl", "dev.jsonl"]).exits(0);
    outcome.prints(["exact match", "100.0 %", "39 utterances", "risk at 95 %", "calibration error"]);
    let limited = sandbox.run(["eval", lamps(), "train.jsonl", "--limit", "5", "--json"]).exits(0).json();
    assert_eq!(limited["n"], 5);
    // Lamps have no executor, so there are no denotations to compare.
    assert!(limited["denotation"].is_null() && limited["n_denotation"] == 0);
}

#[test]
fn eval_refuses_data_without_anything_to_compare_with() {
    let sandbox = Sandbox::with_toy();
    sandbox.write("empty.jsonl", "");
    sandbox.write("text.jsonl", "turn on the hall lamp\n");
    sandbox.write("bare.jsonl", "{\"utterance\": \"turn on the hall lamp\"}\n");
    sandbox.run(["eval", lamps(), "empty.jsonl"]).exits(1).says(["empty.jsonl is empty"]);
    sandbox.run(["eval", lamps(), "text.jsonl"]).exits(1).says(["text.jsonl:1", "not valid JSON"]);
    sandbox.run(["eval", lamps(), "bare.jsonl"]).exits(1).says(["bare.jsonl", "`program`"]);
    sandbox.run(["eval", lamps(), "nowhere.jsonl"]).exits(2).says(["nowhere.jsonl"]);
    sandbox.run(["eval", lamps()]).exits(2).says(["Usage: spanwise eval"]);
    sandbox.run(["eval", lamps(), "train.jsonl", "--limit", "0"]).exits(2).says(["--limit"]);
    let predictions = ["eval", lamps(), "train.jsonl", "--predictions", "/dev/null/p.jsonl"];
    sandbox.run(predictions).exits(1).says(["/dev/null/p.jsonl"]);
}

#[test]
fn a_model_that_is_not_there_is_named_with_the_way_to_get_one() {
    let sandbox = Sandbox::with_toy();
    for outcome in [
        sandbox.run(["parse", "nowhere", "x"]),
        sandbox.run(["eval", "nowhere", "train.jsonl"]),
        sandbox.run(["bench", "encoder", "--model", "nowhere"]),
    ] {
        outcome.exits(2).says(["nowhere is not a model directory", "spanwise train"]);
    }
    sandbox.write("damaged/model.json", "{");
    sandbox.run(["parse", "damaged", "x"]).exits(1).says(["damaged/model.json"]);
}

#[test]
fn parse_prints_a_human_readable_explanation() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.run(["parse", scan(), "walk left twice", "--k", "2", "--always-answer"]).exits(0);
    let outcome = outcome.prints(["walk left twice", "i_twice ( i_walk ( i_left ) )", "probability"]);
    let outcome = outcome.prints(["I_TURN_LEFT I_WALK I_TURN_LEFT I_WALK", "2..3 twice", "other programs"]);
    assert_eq!(outcome.stderr, "");
    sandbox.run(["parse", lamps(), "!"]).exits(0).prints(["I cannot answer this: "]);
}

#[test]
fn parse_gives_every_field_of_the_contract() {
    let sandbox = Sandbox::new();
    let text = "Please\tblink the é HALL lamp";
    let reply = sandbox.run(["parse", lamps(), "--json", "--k", "3", text]).exits(0).json();
    check_fields(&reply);
    assert_eq!(reply["utterance"], text);
    assert_eq!(reply["program"], "do(blink(lamp('hall')))");
    assert!(reply["denotation"].is_null() && reply["answer"].is_null(), "lamps have no executor");
    assert_eq!(reply["lines"], "do(blink(lamp('hall')))\n");
    let probability = reply["probability"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&probability) && reply["score"].is_number());
    assert_eq!(reply["tree"]["program"], reply["program"]);
    assert_eq!(reply["tree"]["span"], json!([0, 6]));
    assert_eq!(reply["tree"]["probability"], reply["probability"]);
    assert!(reply["tree"]["type"].is_string());

    let others = reply["alternatives"].as_array().unwrap();
    assert!(!others.is_empty() && others.len() <= 3);
    let mut total = probability;
    for other in others {
        assert_ne!(other["program"], reply["program"]);
        assert!(other["score"].as_f64() <= reply["score"].as_f64());
        total += other["probability"].as_f64().unwrap();
    }
    assert!(total <= 1.0 + 1e-6, "{total}");

    let chars: Vec<char> = text.chars().collect();
    let tokens = reply["tokens"].as_array().unwrap();
    assert_eq!(tokens.len(), 6);
    for token in tokens {
        let place = |name: &str| token[name].as_u64().unwrap() as usize;
        let said: String = chars[place("start")..place("end")].iter().collect();
        assert_eq!(token["text"], said);
        assert!((0.0..=1.0).contains(&token["probability"].as_f64().unwrap()));
    }
    assert_eq!(tokens[4]["constant"], "lamp('hall')");
    assert_eq!(tokens[4]["span"], json!([4, 5]));
    // The model decides which word is aligned to the other constant; the rest are null words.
    assert!(tokens.iter().any(|token| token["constant"] == "blink"));
    assert!(tokens.iter().any(|token| token["constant"].is_null()));
}

#[test]
fn parse_executes_programs_where_the_domain_can() {
    let reply = Sandbox::new().run(["parse", scan(), "--json", "jump around left", "jump right"]).exits(0);
    let replies = reply.replies();
    assert_eq!(replies[1]["denotation"], "I_TURN_RIGHT I_JUMP");
    assert_eq!(replies[1]["answer"], json!(["I_TURN_RIGHT", "I_JUMP"]));
    assert!(replies[0]["denotation"].as_str().unwrap().starts_with("I_TURN_LEFT I_JUMP I_TURN_LEFT"));
}

#[test]
fn lines_are_answered_in_order_whatever_their_lengths() {
    let mut expected = Vec::new();
    let mut input = String::new();
    for at in 0..1000_usize {
        let words = ["turn on the hall lamp", "blink the desk lamp twice", "x"][at % 3];
        let text = format!("{words}{} {at}", " and light the attic".repeat(at * 7 % 5));
        match at % 2 {
            0 => writeln!(input, "{text}").unwrap(),
            _ => writeln!(input, "{}", json!({ "question": text, "id": at })).unwrap(),
        }
        expected.push(text);
    }
    let outcome = Sandbox::new().feed(["parse", lamps()], input).exits(0);
    assert_eq!(utterances(&outcome), expected);
    outcome.replies().iter().for_each(check_fields);
}

#[test]
fn the_answer_to_a_line_does_not_depend_on_its_neighbours() {
    let sandbox = Sandbox::new();
    let alone = sandbox.run(["parse", scan(), "--json", "walk left and jump left thrice"]).exits(0).json();
    let crowd = "walk left\nrun around right\nwalk left and jump left thrice\n".repeat(50);
    for reply in sandbox.feed(["parse", scan()], crowd).exits(0).replies().iter().skip(2).step_by(3) {
        assert_eq!(reply["program"], alone["program"]);
        let difference = reply["probability"].as_f64().unwrap() - alone["probability"].as_f64().unwrap();
        assert!(difference.abs() < 1e-4, "{difference}");
    }
}

#[test]
fn lines_that_are_no_utterances_are_named_and_the_rest_goes_on() {
    let input = b"turn on the hall lamp\r\n{\"utterance\": 3}\n\xff\xfe\n{nonsense\n{\"id\": 1}\n[1]\n\
        {\"utterance\": \"turn off the desk lamp\", \"question\": \"x\"}";
    let outcome = Sandbox::new().feed(["parse", lamps()], input).exits(1);
    let outcome = outcome.says(["4 of 7 lines could not be read"]);
    let replies = outcome.replies();
    assert_eq!(replies.len(), 7);
    assert_eq!(replies[0]["utterance"], "turn on the hall lamp");
    for (at, text) in [(1, "`utterance`"), (2, "not valid UTF-8"), (3, "JSON"), (4, "`question`")] {
        assert_eq!(replies[at]["line"], at + 1);
        assert!(replies[at]["error"].as_str().unwrap().contains(text), "{}", replies[at]);
    }
    // What does not begin with a brace is an utterance.
    assert_eq!(replies[5]["utterance"], "[1]");
    assert_eq!(replies[6]["program"], "do(off(lamp('desk')))");
}

#[test]
fn odd_utterances_are_answered_and_not_a_crash() {
    let mut input = b"\xef\xbb\xbflight the hall\n\n   \n".to_vec();
    input.extend(
        "🎉 light 👩‍👩‍👧 the é́́ hall 🏳️‍🌈\nlight\u{0}the\u{1b}[31m hall\u{7}\n\u{202e}hall the light\n".as_bytes(),
    );
    input.extend(format!("{}\n", "hall ".repeat(5000)).as_bytes());
    input.extend(format!("{}\n", "light the hall and ".repeat(1250)).as_bytes());
    input.extend(format!("{}\n", "x".repeat(100_000)).as_bytes());
    input.extend(b"\nlight the hall\n");
    let outcome = Sandbox::new().feed(["parse", lamps(), "--always-answer"], input).exits(0);
    let replies = outcome.replies();
    assert_eq!(replies.len(), 11);
    for at in [0, 3, 4, 10] {
        assert_eq!(replies[at]["program"], "do(on(lamp('hall')))", "{at}");
    }
    for at in [1, 2, 9] {
        assert_eq!(replies[at]["reason"], "the utterance has no words");
    }
    assert_eq!(replies[7]["tokens"].as_array().unwrap().len(), 5000);
}

#[test]
fn a_line_that_is_too_long_is_an_error_and_the_rest_goes_on() {
    let mut input = b"light the hall\n".to_vec();
    input.resize(input.len() + (2 << 20), b'x');
    input.push(b'\n');
    input.resize(input.len() + (100 << 20), b'y');
    input.extend(b"\nlight the hall\n");
    let outcome = Sandbox::new().feed(["parse", lamps()], input).exits(1);
    let replies = outcome.replies();
    assert_eq!(replies.len(), 4);
    assert!(replies[1]["error"].as_str().unwrap().contains("longer than"));
    assert!(replies[2]["error"].as_str().unwrap().contains("longer than") && replies[2]["line"] == 3);
    assert_eq!(replies[3]["program"], "do(on(lamp('hall')))");
}

#[test]
fn a_line_is_answered_before_the_next_one_comes() {
    let mut child = Sandbox::new().call(["parse", lamps()]).spawn();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    for name in ["hall", "desk", "attic"] {
        writeln!(stdin, "light the {name}").unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert_eq!(json_lines(&line)[0]["program"], format!("do(on(lamp('{name}')))"));
    }
    drop(stdin);
    assert_eq!(wait(&mut child), Some(0));
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_command_quietly() {
    let mut child = Sandbox::new().call(["parse", lamps(), "--always-answer"]).spawn();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        // Fails when the command has gone.
        let _ = stdin.write_all("light the hall\n".repeat(20_000).as_bytes());
    });
    let mut first = [0; 1];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    assert_eq!(wait(&mut child), Some(0));
    writer.join().unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(stderr, "");
}

#[test]
fn an_interrupt_ends_parse_at_once() {
    let mut child = Sandbox::new().call(["parse", lamps()]).spawn();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "light the hall").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    interrupt(&child);
    assert_eq!(wait(&mut child), Some(130));
}

#[test]
fn a_full_device_as_standard_output_is_an_error() {
    let sandbox = Sandbox::with_toy();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for call in [
        sandbox.call(["parse", lamps(), "light the hall"]),
        sandbox.call(["parse", lamps()]).input("light the hall\n"),
        sandbox.call(["eval", lamps(), "train.jsonl", "--json"]),
    ] {
        call.stdout_to(full()).run().exits(1).says(["No space left on device"]);
    }
}

#[test]
fn bench_encoder_gives_the_parts_of_a_parse() {
    let sandbox = Sandbox::with_toy();
    let call = ["bench", "encoder", "--model", scan(), "--runs", "5", "--json"];
    let times = sandbox.run(call).exits(0).json();
    for field in ["latency_ms", "encoder_ms", "chart_ms", "preparation_ms"] {
        assert!(times[field].as_f64().unwrap() >= 0.0, "{field} in {times}");
    }
    sandbox.run(["bench", "encoder", "--model", lamps()]).exits(2).says(["lamps", "--text"]);
    let call = ["bench", "encoder", "--model", lamps(), "--runs", "3", "--text", "light the hall"];
    sandbox.run(call).exits(0).prints(["encoder", "chart"]);
    let call = ["bench", "encoder", "--model", lamps(), "--data", "dev.jsonl", "--words", "99"];
    sandbox.run(call).exits(2).says(["dev.jsonl has no utterance of 99 words"]);
}
