//! The log of questions and judgements of replies.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Fake, Reply, Running, config, program, serve};
use serde_json::{Value, json};
use spanwise_server::journal::{LogFile, Outcome, Verdict, read};
use spanwise_server::{Config, Event, ServeError, Server};
use std::path::Path;
use std::sync::Arc;

fn logging(path: &Path) -> Config {
    let mut config = config();
    config.log = Some(LogFile::new(path));
    config
}

fn ask(server: &Running, utterance: &str) -> Value {
    server.post("/v1/parse", &json!({ "utterance": utterance, "k": 2 })).json()
}

fn judge(server: &Running, id: &Value, verdict: &str, program: Option<&str>) -> Reply {
    server.post("/v1/feedback", &json!({ "id": id, "verdict": verdict, "program": program }))
}

#[test]
fn without_a_log_nothing_has_an_id_and_nothing_is_judged() {
    let server = serve(config(), || Fake::new("say"));
    assert!(ask(&server, "hello").get("id").is_none());
    assert_eq!(server.get("/v1/models").json()["feedback"], false);
    let reply = judge(&server, &json!("1"), "right", None);
    assert_eq!((reply.status, reply.code()), (404, "no_log".to_owned()));
}

#[test]
fn questions_and_judgements_are_kept_in_their_order_and_no_client_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let server = serve(logging(&path), || Fake::new("say"));
    assert_eq!(server.get("/v1/models").json()["feedback"], true);
    let hello = ask(&server, "hello");
    let doubt = server.post("/v1/parse", &json!({ "utterance": "doubt", "abstain_below": 0.5 })).json();
    let nothing = ask(&server, "nothing");
    let many = server.post("/v1/parse", &json!({ "utterances": ["a", "b"] })).json();
    assert!(many["results"][0]["id"].is_string() && many["results"][0]["id"] != many["results"][1]["id"]);
    assert!(server.post("/v1/parse", &json!({ "utterance": "x", "log": false })).json().get("id").is_none());
    let right = judge(&server, &hello["id"], "right", None);
    assert_eq!(
        (right.status, right.json()),
        (200, json!({ "id": hello["id"], "verdict": "right", "program": program("say", "hello") }))
    );
    // Programs are kept as the model writes them.
    assert_eq!(judge(&server, &doubt["id"], "wrong", Some("other( 1 )")).json()["program"], "other(1)");
    assert_eq!(judge(&server, &nothing["id"], "unanswerable", None).status, 200);
    assert_eq!(judge(&server, &hello["id"], "wrong", None).json()["program"], Value::Null);
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("spanwise_question_log_lines_total{result=\"written\"} 9"), "{metrics}");
    server.stop().unwrap();
    let log = read(&path).unwrap();
    assert_eq!(log.skipped, []);
    let asked: Vec<(&str, Outcome)> =
        log.questions.iter().map(|it| (it.utterance.as_str(), it.outcome)).collect();
    use Outcome::{Answered, Nothing, Withheld};
    let expected =
        [("hello", Answered), ("doubt", Withheld), ("nothing", Nothing), ("a", Answered), ("b", Answered)];
    assert_eq!(asked, expected);
    let first = &log.questions[0];
    assert_eq!(first.program, Some(program("say", "hello")));
    assert_eq!((first.probability, first.alternatives.len()), (Some(0.9), 2));
    assert_eq!((first.model.name.as_str(), first.model.domain.as_str()), ("echo", "echo"));
    assert_eq!(log.questions[1].program, Some(program("say", "doubt")));
    let judged: Vec<(&str, Verdict, Option<&str>)> =
        log.judgements.iter().map(|it| (it.utterance.as_str(), it.verdict, it.program.as_deref())).collect();
    use Verdict::{Right, Unanswerable, Wrong};
    let hello = program("say", "hello");
    let expected = [
        ("hello", Right, Some(hello.as_str())),
        ("doubt", Wrong, Some("other(1)")),
        ("nothing", Unanswerable, None),
        ("hello", Wrong, None),
    ];
    assert_eq!(judged, expected);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("127.0.0.1") && !text.contains("localhost"), "{text}");
    assert!(text.lines().all(|line| line.starts_with("{\"version\":1,")), "{text}");
}

#[test]
fn judgements_that_cannot_be_meant_are_refused_and_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let server = serve(logging(&path), || Fake::new("say"));
    let (hello, nothing) = (ask(&server, "hello"), ask(&server, "nothing"));
    let same = program("say", "hello");
    let long = "x".repeat(10_001);
    for (id, verdict, program, status, code) in [
        (&json!("0123"), "right", None, 404, "unknown_id"),
        (&hello["id"], "wrong", Some("bad("), 422, "bad_program"),
        (&hello["id"], "wrong", Some(long.as_str()), 422, "too_large"),
        (&hello["id"], "wrong", Some(same.as_str()), 400, "bad_request"),
        (&hello["id"], "right", Some("other(1)"), 400, "bad_request"),
        (&hello["id"], "unanswerable", Some("other(1)"), 400, "bad_request"),
        (&hello["id"], "perhaps", None, 400, "bad_request"),
        (&nothing["id"], "right", None, 400, "bad_request"),
        (&hello["id"], "wrong", Some("panic"), 500, "internal"),
    ] {
        let reply = judge(&server, id, verdict, program);
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{verdict} {program:?}");
    }
    let message = judge(&server, &nothing["id"], "right", None).message();
    assert!(message.contains("since the reply has no program"), "{message}");
    server.stop().unwrap();
    assert_eq!(read(&path).unwrap().judgements, []);
}

#[test]
fn very_long_utterances_are_answered_and_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let server = serve(logging(&path), || Fake::new("say"));
    let long = ask(&server, &"x".repeat(10_001));
    assert!(long["program"].is_string() && long.get("id").is_none());
    server.stop().unwrap();
    assert_eq!(read(&path).unwrap().questions, []);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_takes_nothing_down_and_is_reported_once() {
    let server = serve(logging(Path::new("/dev/full")), || Fake::new("say"));
    let replies: Vec<Value> = (0..5).map(|at| ask(&server, &format!("hello {at}"))).collect();
    assert!(replies.iter().all(|reply| reply["program"].is_string()));
    let refused = judge(&server, &replies[4]["id"], "right", None);
    assert_eq!((refused.status, refused.code()), (503, "log_failed".to_owned()));
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("spanwise_question_log_lines_total{result=\"failed\"} 6"), "{metrics}");
    let events = server.events.lock().unwrap().clone();
    let failed =
        |event: &&Event| matches!(event, Event::QuestionLogFailed { path, .. } if path == "/dev/full");
    assert_eq!(events.iter().filter(failed).count(), 1, "{events:?}");
}

#[test]
fn a_log_that_comes_back_is_written_again_and_what_was_lost_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("place/log.jsonl");
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    let server = serve(logging(&path), || Fake::new("say"));
    ask(&server, "one");
    let lines = |text: &str| server.get("/metrics").body.contains(text);
    server.wait(|_| lines("{result=\"written\"} 1"));
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    ask(&server, "two");
    ask(&server, "three");
    server.wait(|_| lines("{result=\"failed\"} 2"));
    std::fs::create_dir(path.parent().unwrap()).unwrap();
    ask(&server, "four");
    server.wait(|_| lines("{result=\"written\"} 2"));
    assert!(server.events.lock().unwrap().contains(&Event::QuestionLogBack { lost: 2 }));
    assert_eq!(read(&path).unwrap().questions[0].utterance, "four");
}

#[test]
fn a_file_that_cannot_be_the_log_is_an_error_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let bound = Server::bind(logging(folder.path()), Vec::new(), Arc::new(|_| {}));
    assert!(matches!(bound.err(), Some(ServeError::Log { .. })));
    let bound = Server::bind(logging(&folder.path().join("no/log")), Vec::new(), Arc::new(|_| {}));
    let text = bound.err().unwrap().to_string();
    assert!(
        text.starts_with("cannot keep a log of questions in ") && text.contains("No such file"),
        "{text}"
    );
}

#[test]
fn what_many_ask_at_once_is_kept_line_by_line_and_the_size_stays_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.jsonl");
    let mut config = config();
    config.log = Some(LogFile { path: path.clone(), max_bytes: 20_000 });
    let server = serve(config, || Fake::new("say"));
    std::thread::scope(|scope| {
        for client in 0..8 {
            let server = &server;
            scope.spawn(move || (0..30).for_each(|at| drop(ask(server, &format!("hello {client} {at}")))));
        }
    });
    server.stop().unwrap();
    let log = read(&path).unwrap();
    assert_eq!((log.files.len(), log.skipped), (2, Vec::new()));
    let sizes: Vec<u64> = log.files.iter().map(|file| file.metadata().unwrap().len()).collect();
    assert!(sizes.iter().all(|size| (1..=20_000).contains(size)), "{sizes:?}");
}
