//! External executors against real children and real sockets: every way to answer, and every way to fail.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "this is a test, with its helpers")]

use serde_json::{Value, json};
use spanwise_domains::exec::external::{CommandConfig, CommandExecutor, HttpConfig, HttpExecutor};
use spanwise_domains::exec::{Denotation, ExecError, Executor};
use spanwise_lang::{Style, Terms};
use spanwise_reading::Answer;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Never reached by a test that passes, however busy the machine is.
const LONG: Duration = Duration::from_secs(60);

/// A child process that follows the context of the request; by default it replies with its process number and the request.
const SCRIPT: &str = r#"
import json, os, sys, time

def say(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

for line in sys.stdin:
    request = json.loads(line)
    todo = request.get("context") or {}
    sys.stderr.write(todo.get("stderr", "") * todo.get("times", 1))
    sys.stderr.flush()
    if "exit" in todo:
        sys.exit(todo["exit"])
    if "huge" in todo:
        say(b"x" * todo["huge"])
    if "raw" in todo:
        say(todo["raw"].replace("ID", str(request["id"])).encode("latin-1"))
        continue
    answer = todo.get("answer", {"pid": os.getpid(), "program": request["program"]})
    say(json.dumps({"id": request["id"], "denotation": answer}).encode() + b"\n")
"#;

/// Sleeps on request, and replies otherwise. Starts faster than Python, for tests that run into a time-out.
const SHELL: &str = r#"
while read -r line; do
    case "$line" in
        *nap*) sleep 60 & echo "$!" >&2; wait ;;
        *) echo "{\"denotation\": $$}" ;;
    esac
done
"#;

fn ask(executor: &dyn Executor, program: &str, context: Option<Value>) -> Result<Denotation, ExecError> {
    let mut terms = Terms::new();
    let id = terms.parse(program).unwrap();
    executor.execute(&terms, id, context.as_ref())
}

/// The message of an external error, which must hold `part`.
#[track_caller]
fn fails(result: Result<Denotation, ExecError>, part: &str) -> String {
    match result {
        Err(ExecError::External(message)) if message.contains(part) => message,
        other => panic!("expected an external error with {part:?}, got {other:?}"),
    }
}

fn command(program: &[&str], timeout: Duration) -> CommandExecutor {
    let program = program.iter().map(|&part| part.to_owned()).collect();
    CommandExecutor::new(CommandConfig {
        program,
        working_dir: None,
        timeout,
        processes: 4,
        style: Style::default(),
    })
    .unwrap()
}

/// A child that runs [`SCRIPT`]; `None`, with a message, where there is no Python.
fn python() -> Option<(CommandExecutor, tempfile::TempDir)> {
    let version = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !version.is_ok_and(|status| status.success()) {
        let _ = writeln!(std::io::stderr(), "skipped: there is no python3 on this machine");
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("executor.py"), SCRIPT).unwrap();
    let executor = CommandExecutor::new(CommandConfig {
        program: ["python3", "-I", "-S", "executor.py"].map(str::to_owned).into(),
        working_dir: Some(dir.path().to_owned()),
        timeout: LONG,
        processes: 4,
        style: Style::default(),
    });
    Some((executor.unwrap(), dir))
}

fn pid(executor: &dyn Executor) -> u64 {
    let found: Value = serde_json::from_str(&ask(executor, "pid()", None).unwrap().text).unwrap();
    found["pid"].as_u64().or_else(|| found.as_u64()).unwrap()
}

/// Whether there is such a process, be it a zombie.
fn exists(pid: u64) -> bool {
    let kill = Command::new("sh").arg("-c").arg(format!("kill -0 {pid}")).stderr(Stdio::null()).status();
    kill.unwrap().success()
}

fn is_zombie(pid: u64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

#[test]
fn one_child_answers_a_thousand_requests() {
    let Some((executor, _dir)) = python() else { return };
    let first = pid(&executor);
    for i in 0..1_000 {
        let program = format!("f(x, {i}, 'é\"')");
        let found: Value = serde_json::from_str(&ask(&executor, &program, None).unwrap().text).unwrap();
        assert_eq!(found, json!({"pid": first, "program": program}));
    }
    drop(executor);
    assert!(!exists(first), "the child must be killed and reaped");
}

#[test]
fn threads_share_a_few_children() {
    let Some((executor, _dir)) = python() else { return };
    thread::scope(|scope| {
        for worker in 0..4 {
            let executor = &executor;
            scope.spawn(move || {
                for i in 0..50 {
                    let context = json!({"answer": format!("{worker} {i}")});
                    assert_eq!(ask(executor, "f()", Some(context)).unwrap().text, format!("{worker} {i}"));
                }
            });
        }
    });
}

#[test]
fn a_slow_request_does_not_hold_up_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let script = format!(
        r#"cd {}; while read -r line; do
            case "$line" in *slow*) echo $$ > part; mv part slow; while [ ! -e end ]; do sleep 0.02; done ;; esac
            echo "{{\"denotation\": $$}}"
        done"#,
        dir.path().display()
    );
    let executor = command(&["sh", "-c", &script], LONG);
    thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&executor, "slow()", None));
        while !dir.path().join("slow").exists() {
            thread::sleep(Duration::from_millis(5));
        }
        // The slow request has a child to itself; whoever comes meanwhile is answered by others.
        let slow = std::fs::read_to_string(dir.path().join("slow")).unwrap().trim().to_owned();
        assert_ne!(pid(&executor).to_string(), slow);
        std::fs::write(dir.path().join("end"), "").unwrap();
        assert_eq!(asked.join().unwrap().unwrap().text, slow);
        // One after another they all reach the child that was there first.
        assert_eq!([pid(&executor), pid(&executor)].map(|pid| pid.to_string()), [slow.clone(), slow]);
    });
}

#[test]
fn requests_beyond_the_pool_wait_for_a_child_and_at_most_for_their_time() {
    let program = ["sh", "-c", SHELL].map(str::to_owned).into();
    let timeout = Duration::from_millis(700);
    let config = CommandConfig { program, working_dir: None, timeout, processes: 1, style: Style::default() };
    let executor = CommandExecutor::new(config).unwrap();
    let first = pid(&executor);
    thread::scope(|scope| {
        // The second waits for the only child while the first takes all of its time; then a new one serves it.
        let slow = scope.spawn(|| ask(&executor, "nap()", None));
        thread::sleep(Duration::from_millis(300));
        assert_ne!(pid(&executor), first);
        fails(slow.join().unwrap(), "gave no answer within 700ms");
    });
    let requests: Vec<_> = thread::scope(|scope| {
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(|| ask(&executor, "nap()", None))).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let message = "is busy: none of its 1 processes became free within 700ms";
    let n_busy = requests
        .into_iter()
        .filter(|one| one.as_ref().is_err_and(|error| error.to_string().contains(message)));
    assert!(n_busy.count() >= 1);
}

#[test]
fn a_child_that_was_killed_is_started_again_and_asked_once_more() {
    let dir = tempfile::tempdir().unwrap();
    let mark = dir.path().join("killed");
    // Kills itself at the first request that says so, then answers: what happens when memory runs out.
    let script = format!(
        r#"while read -r line; do
            case "$line" in
                *always*) kill -9 $$ ;;
                *shell*) [ -e {0}-shell ] || {{ : > {0}-shell; exit 137; }} ;;
                *once*) [ -e {0} ] || {{ : > {0}; kill -9 $$; }} ;;
            esac
            echo "{{\"denotation\": $$}}"
        done"#,
        mark.display()
    );
    let executor = command(&["sh", "-c", &script], LONG);
    let first = pid(&executor);
    let second: u64 = ask(&executor, "once()", None).unwrap().text.parse().unwrap();
    assert_ne!(second, first);
    assert!(!exists(first), "the child that was killed must be reaped");
    assert_ne!(ask(&executor, "shell()", None).unwrap().text, second.to_string());
    fails(ask(&executor, "always()", None), "ended (signal: 9 (SIGKILL)) without an answer");
    pid(&executor);
}

#[test]
fn a_child_that_was_killed_while_it_waited_is_replaced_in_silence() {
    let executor = command(&["sh", "-c", SHELL], LONG);
    for signal in ["KILL", "TERM"] {
        let before = pid(&executor);
        let kill = Command::new("sh").arg("-c").arg(format!("kill -s {signal} {before}")).status().unwrap();
        assert!(kill.success());
        assert_ne!(pid(&executor), before);
        assert!(!exists(before), "it must be reaped");
    }
}

#[test]
fn denotations_of_every_kind() {
    let Some((executor, _dir)) = python() else { return };
    let check = |value: Value, text: &str, is_empty: bool| {
        let answer = Answer::from(value.clone());
        let found = ask(&executor, "f()", Some(json!({"answer": value}))).unwrap();
        assert_eq!(found, Denotation { is_empty, ..Denotation::typed(text, answer) });
    };
    check(json!("new york"), "new york", false);
    check(json!(" "), " ", false);
    check(json!(3), "3", false);
    check(json!(2.5), "2.5", false);
    check(json!(false), "false", false);
    check(json!(["b", {"z": 1, "a": "é"}]), r#"["b",{"z":1,"a":"é"}]"#, false);
    check(json!({}), "{}", false);
    check(json!(null), "null", true);
    check(json!(""), "", true);
    check(json!([]), "[]", true);
}

#[test]
fn replies_become_typed_answers() {
    let Some((executor, _dir)) = python() else { return };
    let typed = |value: Value| ask(&executor, "f()", Some(json!({"answer": value}))).unwrap().answer;
    assert_eq!(typed(json!("ohio")), Answer::Text("ohio".to_owned()));
    assert_eq!(typed(json!(2.5)), Answer::Number(serde_json::Number::from_f64(2.5).unwrap()));
    assert_eq!(typed(json!(true)), Answer::Boolean(true));
    assert_eq!(typed(json!(["a", 1])), Answer::List(vec!["a".into(), 1.into()]));
    let table = Answer::Table { columns: vec!["name".to_owned()], rows: vec![vec!["ohio".into()]] };
    assert_eq!(typed(json!({"columns": ["name"], "rows": [["ohio"]]})), table);
    assert_eq!(typed(json!([{"name": "ohio"}])), table);
    assert_eq!(typed(json!(null)), Answer::Null);
}

#[test]
fn the_style_and_the_context_arrive() {
    let program = ["sh", "-c", r#"while read -r line; do echo "{\"denotation\": [$line]}"; done"#];
    let executor = CommandExecutor::new(CommandConfig {
        program: program.map(str::to_owned).into(),
        working_dir: None,
        timeout: LONG,
        processes: 4,
        style: Style { spaced: true, comma: " , ".to_owned() },
    });
    let executor = executor.unwrap();
    let found = ask(&executor, "f(a,b)", None).unwrap();
    assert_eq!(found.text, r#"[{"id":1,"program":"f ( a , b )"}]"#);
    let found = ask(&executor, "f(a)", Some(json!({"objects": []}))).unwrap();
    assert_eq!(found.text, r#"[{"id":2,"program":"f ( a )","context":{"objects":[]}}]"#);
}

#[test]
fn an_error_reply_is_no_value_and_keeps_the_child() {
    let Some((executor, _dir)) = python() else { return };
    let first = pid(&executor);
    let reply = json!({"raw": "{\"id\": ID, \"error\": \"no such city\"}\n"});
    let expected = ExecError::NoValue("the external executor reports: no such city".to_owned());
    assert_eq!(ask(&executor, "f()", Some(reply)), Err(expected));
    assert_eq!(pid(&executor), first);
}

#[test]
fn stale_replies_are_skipped() {
    let Some((executor, _dir)) = python() else { return };
    let first = pid(&executor);
    let stale = "{\"id\": 1, \"denotation\": \"old\"}\n";
    let reply = json!({"raw": format!("{stale}{stale}{{\"id\": ID, \"denotation\": \"new\"}}\n{stale}")});
    for _ in 0..20 {
        assert_eq!(ask(&executor, "f()", Some(reply.clone())).unwrap().text, "new");
    }
    assert_eq!(pid(&executor), first);
    let silent = json!({"raw": "{\"denotation\": \"without id\"}\n"});
    assert_eq!(ask(&executor, "f()", Some(silent)).unwrap().text, "without id");
}

/// Requests `raw` as a reply, expects an error that contains `part`, and a new child afterwards.
#[track_caller]
fn check_nonsense(executor: &CommandExecutor, raw: &str, part: &str) {
    let before = pid(executor);
    let message = fails(ask(executor, "f(x)", Some(json!({"raw": raw}))), part);
    assert!(message.contains(r#""program":"f(x)""#), "{message}");
    assert_ne!(pid(executor), before);
    assert!(!exists(before), "a child that answered nonsense must be stopped");
}

#[test]
fn nonsense_is_named_and_the_child_replaced() {
    let Some((executor, _dir)) = python() else { return };
    check_nonsense(&executor, "ready\n", "got `ready`: expected value");
    check_nonsense(&executor, "\n", "got an empty line");
    check_nonsense(&executor, "\u{ff}\u{fe}\n", "not UTF-8 at offset 0");
    check_nonsense(&executor, "{\"id\": 999999, \"denotation\": 1}\n", "out of order (expected id");
    check_nonsense(&executor, "{\"id\": ID}\n", "neither `denotation` nor `error`");
}

#[test]
fn a_crash_shows_the_status_and_standard_error() {
    let Some((executor, _dir)) = python() else { return };
    let before = pid(&executor);
    // Far more than a pipe holds: a chatty child must not block.
    let chatty = json!({"stderr": "noise noise noise\n", "times": 50_000, "answer": "fine"});
    assert_eq!(ask(&executor, "f()", Some(chatty)).unwrap().text, "fine");
    let crash = json!({"stderr": "first\nlast\u{1b}[0m words\n", "exit": 3});
    let message = fails(ask(&executor, "f()", Some(crash)), "ended (exit status: 3) without an answer");
    assert!(message.ends_with("\n  noise noise noise\n  first\n  last\\u{1b}[0m words"), "{message}");
    assert!(message.len() < 4_000, "{} bytes", message.len());
    assert_ne!(pid(&executor), before);
    assert!(!exists(before));
}

#[test]
fn half_a_line_at_the_end_is_shown() {
    let executor = command(&["sh", "-c", r#"read -r line; printf '{"denota'; kill -9 $$"#], LONG);
    fails(
        ask(&executor, "f()", None),
        "ended (signal: 9 (SIGKILL)) without an answer after the unfinished line `{\"denota`",
    );
    fails(ask(&command(&["true"], LONG), "f()", None), "ended (exit status: 0) without an answer");
}

#[test]
fn a_huge_reply_is_refused() {
    let Some((executor, _dir)) = python() else { return };
    fails(ask(&executor, "f()", Some(json!({"huge": (16 << 20) + 1}))), "printed a reply of more than 16 MB");
    let large = json!({"answer": "x".repeat(1 << 20)});
    assert_eq!(ask(&executor, "f()", Some(large)).unwrap().text.len(), 1 << 20);
}

#[test]
fn a_time_out_stops_the_child_and_what_it_started() {
    let executor = command(&["sh", "-c", SHELL], Duration::from_secs(1));
    let first = pid(&executor);
    let start = Instant::now();
    let message = fails(ask(&executor, "nap()", None), "gave no answer within 1s and was stopped");
    assert!(start.elapsed() < LONG / 2, "{:?}", start.elapsed());
    let nap = message.lines().last().and_then(|line| line.trim().parse().ok()).unwrap();
    // It dies at once, but whoever inherits it may take a while to reap it.
    while exists(nap) && !is_zombie(nap) {
        assert!(start.elapsed() < LONG / 2, "the nap goes on");
    }
    assert!(!exists(first));
    assert_ne!(pid(&executor), first);
}

#[test]
fn a_child_that_does_not_read_cannot_block() {
    let executor = command(&["sleep", "60"], Duration::from_millis(200));
    let program = format!("f('{}')", "x".repeat(4 << 20));
    let start = Instant::now();
    for _ in 0..2 {
        let message = fails(ask(&executor, &program, None), "gave no answer within 200ms");
        assert!(message.len() < 2_000, "{} bytes", message.len());
    }
    assert!(start.elapsed() < LONG / 2, "{:?}", start.elapsed());
}

#[test]
fn a_flood_of_stale_replies_ends_at_the_time_out() {
    let executor = command(&["yes", r#"{"id": 0, "denotation": 1}"#], Duration::from_millis(200));
    fails(ask(&executor, "f()", None), "gave no answer within 200ms");
}

#[test]
fn replies_nobody_asked_for_are_refused() {
    let executor = command(&["yes", r#"{"denotation": 1}"#], LONG);
    let failed = (0..100).map(|_| ask(&executor, "f()", None)).find(Result::is_err);
    let message = fails(failed.expect("replies wait before requests are sent"), "printed ");
    // Either its reply or its request was still on the way.
    let is_named = message.contains("reply before it was asked") || message.contains("that it has not read");
    assert!(is_named, "{message}");
}

#[test]
fn a_program_that_cannot_start_is_explained() {
    let expected = "cannot start external executor `no-such-program-here`: there is no such program; \
                    write its whole path, or a name that the search path finds";
    fails(ask(&command(&["no-such-program-here"], LONG), "f()", None), expected);

    let dir = tempfile::tempdir().unwrap();
    let config = CommandConfig {
        program: vec!["sh".to_owned()],
        working_dir: Some(dir.path().join("nowhere")),
        timeout: LONG,
        processes: 4,
        style: Style::default(),
    };
    fails(ask(&CommandExecutor::new(config.clone()).unwrap(), "f()", None), "nowhere` does not exist");

    let file = dir.path().join("not-executable");
    std::fs::write(&file, "").unwrap();
    fails(
        ask(&command(&[file.to_str().unwrap()], LONG), "f()", None),
        "permission denied; make the file executable",
    );

    for program in [vec![], vec![String::new()]] {
        let refused = CommandExecutor::new(CommandConfig { program, ..config.clone() }).unwrap_err();
        assert!(refused.to_string().ends_with("got an empty command"), "{refused}");
    }
}

fn http(url: &str, timeout: Duration) -> HttpExecutor {
    HttpExecutor::new(http_config(url, timeout)).unwrap()
}

fn http_config(url: &str, timeout: Duration) -> HttpConfig {
    HttpConfig { url: url.to_owned(), timeout, style: Style::default(), token_variable: None }
}

/// A server that hands each of `n_requests` connections to `answer`, with the head and body of the request.
fn serve<F: Fn(&str, &str, TcpStream) + Send + 'static>(
    n_requests: usize,
    answer: F,
) -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/execute", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        for _ in 0..n_requests {
            let stream = listener.accept().unwrap().0;
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                assert_ne!(reader.read_line(&mut head).unwrap(), 0, "the client hung up");
            }
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            answer(&head, str::from_utf8(&body).unwrap(), stream);
        }
    });
    (url, server)
}

/// A reply after which the connection is closed.
fn send(mut stream: TcpStream, status: &str, body: &[u8]) {
    let n_bytes = body.len();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {n_bytes}\r\nConnection: close\r\n\r\n").unwrap();
    // A client that has seen enough hangs up.
    let _ = stream.write_all(body);
}

/// What the executor makes of one reply.
fn reply_of(status: &'static str, body: impl Into<Vec<u8>>) -> Result<Denotation, ExecError> {
    let body = body.into();
    let (url, server) = serve(1, move |_, _, stream| send(stream, status, &body));
    let result = ask(&http(&url, LONG), "f(x)", None);
    server.join().unwrap();
    result
}

#[test]
fn http_posts_programs_and_reads_denotations() {
    let (url, server) = serve(2, |head, body, stream| {
        assert!(head.starts_with("post /execute http/1.1\r\n"), "{head}");
        assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{head}");
        assert!(!head.contains("authorization"), "{head}");
        send(stream, "200 OK", json!({"denotation": body}).to_string().as_bytes());
    });
    let config =
        HttpConfig { style: Style { spaced: true, comma: ",".to_owned() }, ..http_config(&url, LONG) };
    let executor = HttpExecutor::new(config).unwrap();
    assert_eq!(ask(&executor, "f(a,b)", None).unwrap(), Denotation::value(r#"{"program":"f ( a,b )"}"#));
    let found = ask(&executor, "f(a)", Some(json!([1]))).unwrap();
    assert_eq!(found.text, r#"{"program":"f ( a )","context":[1]}"#);
    server.join().unwrap();
}

#[test]
fn http_replies_follow_the_same_rules() {
    assert!(reply_of("200 OK", r#"{"denotation": []}"#).unwrap().is_empty);
    assert_eq!(reply_of("201 Created", r#"{"id": 9, "denotation": 1.5}"#).unwrap().text, "1.5");
    let expected = ExecError::NoValue("the external executor reports: no such city".to_owned());
    assert_eq!(reply_of("200 OK", r#"{"error": "no such city"}"#), Err(expected));
    let message =
        fails(reply_of("200 OK", "<html>"), "/execute`, asked `{\"program\":\"f(x)\"}`, answered nonsense");
    assert!(message.contains("got `<html>`"), "{message}");
    fails(reply_of("200 OK", [0xff]), "not UTF-8");
    fails(reply_of("200 OK", ""), "got an empty");
}

#[test]
fn http_refusals_show_status_and_body() {
    let message = fails(
        reply_of("500 Internal Server Error", format!("oh no\n{}", "é".repeat(5_000))),
        "answered with status 500 Internal Server Error: `oh no\\néé",
    );
    assert_eq!(message.matches('é').count(), 200 - "oh no\n".len());
    assert!(message.ends_with("é...`"), "{message}");
    fails(reply_of("404 Not Found", ""), "answered with status 404 Not Found");
    fails(reply_of("302 Found\r\nLocation: /elsewhere", ""), "answered with status 302 Found");
}

#[test]
fn http_replies_are_bounded() {
    fails(reply_of("200 OK", vec![b'x'; (16 << 20) + 1]), "sent a reply of more than 16 MB");
}

#[test]
fn http_connections_that_break_are_explained() {
    let refused = ask(&http("http://127.0.0.1:1", LONG), "f()", None);
    let message = fails(refused, "connection refused; is the server running, and on this port?");
    assert!(message.contains("`http://127.0.0.1:1/`"), "{message}");

    let (url, server) = serve(1, |_, _, stream| drop(stream));
    fails(ask(&http(&url, LONG), "f()", None), "closed the connection before its reply was complete");
    server.join().unwrap();

    let (url, server) = serve(1, |_, _, mut stream| stream.write_all(b"220 mail here\r\n\r\n").unwrap());
    fails(ask(&http(&url, LONG), "f()", None), "does not speak http");
    server.join().unwrap();
}

#[test]
fn http_time_outs_cover_the_head_and_the_body() {
    let (url, server) = serve(2, |_, body, mut stream| {
        if body.contains("drip") {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
            while stream.write_all(b" ").is_ok() {
                thread::sleep(Duration::from_millis(20));
            }
        } else {
            // Until the client hangs up.
            let _ = stream.read(&mut [0]);
        }
    });
    let executor = http(&url, Duration::from_millis(200));
    for program in ["silent()", "drip()"] {
        fails(ask(&executor, program, None), "gave no answer within 200ms");
    }
    drop(executor);
    server.join().unwrap();
}

#[test]
fn http_addresses_are_checked() {
    let refused = |url: &str| HttpExecutor::new(http_config(url, LONG)).unwrap_err().to_string();
    for url in ["https://localhost:8000/", "HTTPS://localhost"] {
        let expected =
            format!("this build speaks plain http only and cannot ask `{url}`; use an http address");
        assert!(refused(url).starts_with(&expected), "{}", refused(url));
    }
    let broken = ["", "localhost:8000", "/execute", "ftp://localhost/", "http://", "http://:80/"];
    for url in broken.into_iter().chain(["http://local host/", "http://localhost:99999/"]) {
        assert!(refused(url).starts_with("expected the address of an external executor"), "{}", refused(url));
    }
    http("http://[::1]/", LONG);
    assert!(!refused("http://me:secret@localhost/").contains("secret"));
}

#[test]
fn http_sends_the_token_and_never_shows_it() {
    let variable = "CARGO_PKG_NAME";
    // Set by cargo for every test; a test may not set variables itself without unsafe code.
    let Ok(token) = std::env::var(variable) else { return };
    let expected = format!("\r\nauthorization: bearer {token}\r\n");
    let (url, server) = serve(1, move |head, _, stream| {
        assert!(head.contains(&expected), "{head}");
        send(stream, "403 Forbidden", b"");
    });
    let config = HttpConfig { token_variable: Some(variable.to_owned()), ..http_config(&url, LONG) };
    let executor = HttpExecutor::new(config.clone()).unwrap();
    assert!(!format!("{executor:?}").contains(&token));
    assert!(!fails(ask(&executor, "f()", None), "403").contains(&token));
    server.join().unwrap();

    let config = HttpConfig { token_variable: Some("SPANWISE_NO_SUCH_VARIABLE".to_owned()), ..config };
    let message = HttpExecutor::new(config).unwrap_err().to_string();
    assert!(message.ends_with("`SPANWISE_NO_SUCH_VARIABLE`, which is not set"), "{message}");
}
