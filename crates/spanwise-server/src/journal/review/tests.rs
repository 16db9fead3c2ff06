//! Reading a log again, and reviewing it.

use super::*;
use crate::journal::{Outcome, read};
use serde_json::json;
use std::fs;

fn judged(utterance: &str, verdict: &str, replied: Option<&str>, program: Option<&str>) -> String {
    let model = json!({ "name": "home", "domain": "home", "digest": "a1" });
    let line = json!({
        "version": 1, "kind": "judgement", "id": "1", "time": 5.25, "model": model, "utterance": utterance,
        "verdict": verdict, "replied": replied, "program": program,
    });
    format!("{line}\n")
}

fn asked(utterance: &str, probability: f64, in_domain: Option<f64>) -> String {
    let line = json!({
        "version": 1, "kind": "question", "id": "1", "time": 5, "utterance": utterance,
        "model": { "name": "home", "domain": "home" }, "outcome": "withheld", "program": "p",
        "probability": probability, "in_domain": in_domain, "a field of a later build": [1],
    });
    format!("{line}\n")
}

fn log(text: &str) -> Log {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    fs::write(&path, text).unwrap();
    read(&path).unwrap()
}

fn examples(text: &str) -> Vec<(String, Option<String>)> {
    Review::of(&log(text)).examples.into_iter().map(|it| (it.utterance, it.program)).collect()
}

#[test]
fn right_replies_and_corrections_become_examples_each_question_once() {
    let text = [
        judged("Lamps on?", "right", Some("on"), Some("on")),
        judged("lamps on", "right", Some("on"), Some("on")),
        judged("lamps off", "wrong", Some("on"), Some("off")),
        judged("boil an egg", "unanswerable", Some("on"), None),
        judged("dim it", "wrong", Some("on"), None),
    ];
    let review = Review::of(&log(&text.concat()));
    let found: Vec<_> =
        review.examples.iter().map(|it| (it.utterance.as_str(), it.program.as_deref())).collect();
    assert_eq!(found, [("lamps on", Some("on")), ("lamps off", Some("off")), ("boil an egg", None)]);
    assert_eq!(review.wrong, [Wrong { utterance: "dim it".into(), program: Some("on".into()) }]);
    assert_eq!(review.conflicts, []);
}

#[test]
fn the_latest_of_two_judgements_counts_and_the_conflict_is_reported() {
    let text =
        judged("a b", "right", Some("on"), Some("on")) + &judged("A b.", "wrong", Some("on"), Some("off"));
    assert_eq!(examples(&text), [("A b.".to_owned(), Some("off".to_owned()))]);
    let conflict =
        Conflict { utterance: "A b.".into(), earlier: "it is on".into(), later: "it is off".into() };
    assert_eq!(Review::of(&log(&text)).conflicts, [conflict]);
    // Somebody takes the only label back.
    let text = judged("a", "right", Some("on"), Some("on")) + &judged("a", "wrong", Some("on"), None);
    let review = Review::of(&log(&text));
    assert_eq!((review.examples.len(), review.wrong.len(), review.conflicts.len()), (0, 1, 1));
}

#[test]
fn what_agrees_is_no_conflict() {
    let plain = judged("a", "wrong", Some("on"), None);
    let corrected = judged("a", "wrong", Some("on"), Some("off"));
    for text in [plain.clone() + &corrected, corrected + &plain] {
        assert_eq!(examples(&text), [("a".to_owned(), Some("off".to_owned()))]);
        assert_eq!(Review::of(&log(&text)).conflicts, []);
    }
}

#[test]
fn the_same_words_on_another_day_or_about_another_scene_are_another_question() {
    let on = |day: &str, program: &str| {
        let mut line: Value =
            serde_json::from_str(&judged("today", "wrong", Some("x"), Some(program))).unwrap();
        line["now"] = json!(day);
        format!("{line}\n")
    };
    let review = Review::of(&log(&(on("2011-03-05", "a") + &on("2011-03-06", "b"))));
    assert_eq!((review.examples.len(), review.conflicts.len()), (2, 0));
    assert_eq!(review.examples[0].now.as_deref(), Some("2011-03-05"));
}

#[test]
fn damaged_lines_and_later_versions_are_named_and_hide_nothing() {
    let good = judged("a", "right", Some("on"), Some("on"));
    let later = good.replace("\"version\":1", "\"version\":2");
    let text =
        format!("{good}{{\"vers\n\n{later}[]\n{{\"version\":1,\"kind\":\"guess\"}}\n{good}{}", &good[..40]);
    let log = log(&text);
    assert_eq!(log.judgements.len(), 2);
    let skipped: Vec<(usize, &str)> = log.skipped.iter().map(|it| (it.line, it.reason.as_str())).collect();
    let starts = [
        (2, "not JSON"),
        (4, "its version is 2; this build reads version 1"),
        (5, "it has no version"),
        (6, "there is no kind of entry `guess`"),
        (8, "it is incomplete: not JSON"),
    ];
    assert_eq!(skipped.len(), starts.len(), "{skipped:?}");
    for (found, start) in skipped.iter().zip(starts) {
        assert!(found.0 == start.0 && found.1.starts_with(start.1), "{found:?}");
    }
}

#[test]
fn the_older_file_is_read_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    fs::write(&path, judged("new", "right", Some("on"), Some("on"))).unwrap();
    fs::write(folder.path().join("log.jsonl.1"), judged("old", "right", Some("on"), Some("on"))).unwrap();
    let log = read(&path).unwrap();
    let utterances: Vec<&str> = log.judgements.iter().map(|it| it.utterance.as_str()).collect();
    assert_eq!((utterances, log.files.len()), (vec!["old", "new"], 2));
}

#[test]
fn questions_are_worth_more_the_less_sure_the_more_frequent_and_the_newer_they_are() {
    let mut text = asked("sure", 0.99, Some(1.0)) + &asked("unsure", 0.4, Some(1.0));
    text += &asked("unsure and new", 0.4, Some(0.1));
    text += &asked("often?", 0.4, Some(1.0)).repeat(5);
    text += &asked("known", 0.1, Some(0.1));
    text += &judged("known", "right", Some("p"), Some("p"));
    let log = log(&text);
    let review = Review::of(&log);
    let top = review.most_worth(&log, 20, None);
    let order: Vec<&str> = top.iter().map(|it| it.utterance.as_str()).collect();
    assert_eq!(order, ["often?", "unsure and new", "unsure", "sure"]);
    assert_eq!(
        (top[0].count, top[0].probability, log.questions[0].outcome),
        (5, Some(0.4), Outcome::Withheld)
    );
    assert!(top.iter().all(|it| (0.0..=1.0).contains(&it.score)));
    assert_eq!(review.most_worth(&log, 2, None).len(), 2);
    // A model that has learned in the meantime is asked instead.
    let read = |question: &Question| (Some(if question.utterance == "sure" { 0.0 } else { 1.0 }), Some(1.0));
    let again = review.most_worth(&log, 20, Some(&read));
    assert_eq!((again[0].utterance.as_str(), again[1].utterance.as_str()), ("sure", "often?"));
}

#[test]
fn a_wrong_program_is_as_doubtful_as_can_be() {
    let text = asked("sure", 0.99, None) + &asked("also sure", 0.99, None);
    let log = log(&(text + &judged("sure", "wrong", Some("p"), None)));
    let top = Review::of(&log).most_worth(&log, 9, None);
    assert!(top[0].is_wrong && top[0].utterance == "sure" && !top[1].is_wrong);
}

#[test]
fn models_are_counted_and_one_domain_can_be_chosen() {
    let other =
        judged("b", "right", Some("x"), Some("x")).replace("\"domain\":\"home\"", "\"domain\":\"geo\"");
    let mut log = log(&(asked("a", 0.5, None) + &judged("a", "right", Some("p"), Some("p")) + &other));
    let counts: Vec<(String, usize, usize)> =
        log.models().into_iter().map(|(model, asked, judged)| (model.domain, asked, judged)).collect();
    assert_eq!(counts, [("geo".into(), 0, 1), ("home".into(), 1, 0), ("home".into(), 0, 1)]);
    log.keep_domain("geo");
    assert_eq!((log.questions.len(), log.judgements.len()), (0, 1));
}

#[test]
fn marks_at_the_end_and_capitals_do_not_make_another_question() {
    assert_eq!(normal("What  IS on ?!"), "what is on");
    assert_eq!(normal("v1.5?"), normal("V1.5"));
    assert_eq!((normal("???"), normal("")), (String::new(), String::new()));
}
