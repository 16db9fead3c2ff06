//! Malformed and costly requests to a server on the loopback address.

use super::Setting;
use super::http::{Server, request};
use super::mutate::mutate;
use super::project::QUESTION;
use super::random::Random;
use super::report::Counts;
use std::io;
use std::time::{Duration, Instant};

/// How long any request may take: the server waits 15 seconds for a head and a body.
const LIMIT: Duration = Duration::from_secs(25);
/// How long a plain question may take while others attack, also with a debug build on a busy machine.
const PLAIN: Duration = Duration::from_secs(10);
/// A plain question is asked after so many attacks.
const EVERY: usize = 10;

pub(crate) fn run(setting: &Setting<'_>, counts: &Counts) -> io::Result<()> {
    let project = setting.project;
    let mut server = Server::start(&mut project.command(&project.path(""), &["serve", "model"]))?;
    let expected = server.parse(QUESTION)?.json()["program"].clone();
    setting.each(usize::MAX, |at| {
        let mut random = Random::new(setting.options.seed, "requests", at as u64);
        let (name, pieces, pause) = attack(&mut random, &server.addr.to_string());
        let case = format!("case {at}: {name}");
        let begun = Instant::now();
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let outcome = match server.raw(&pieces, pause, LIMIT) {
            Ok(reply) => outcome(&reply),
            Err(error) => Err(error.to_string()),
        };
        counts.took(&case, begun.elapsed());
        counts.count(&case, outcome);
        if at % EVERY == 0 {
            let begun = Instant::now();
            let plain = match server.parse(QUESTION) {
                Ok(reply) if reply.status == 200 && reply.json()["program"] == expected => {
                    Ok("plain and answered")
                }
                Ok(reply) => {
                    Err(format!("status {}: {}", reply.status, String::from_utf8_lossy(&reply.body)))
                }
                Err(error) => Err(error.to_string()),
            };
            let late = begun.elapsed() > PLAIN;
            let case = format!("a plain question after case {at}");
            counts.count(&case, if late { Err(format!("{:.1?}", begun.elapsed())) } else { plain });
        }
        Ok(())
    })?;
    counts.peak(server.memory("VmHWM:"));
    if !server.is_running() {
        counts.count("the server", Err("it has ended".to_owned()));
        return Ok(());
    }
    let ended = server.end();
    if let Ok(took) = &ended {
        counts.figure("shutdown seconds", (took.as_secs_f64() * 100.0).round() / 100.0);
    }
    counts.count("the end of the server", ended.map(|_| "ended"));
    Ok(())
}

/// Whether a reply is one that a server may give to anything.
fn outcome(reply: &[u8]) -> Result<&'static str, String> {
    if reply.is_empty() {
        return Ok("closed");
    }
    let text = String::from_utf8_lossy(&reply[..reply.len().min(200)]).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse::<u16>().ok());
    match status {
        Some(100..=399) if text.starts_with("HTTP/1.") => Ok("answered"),
        Some(400..=499 | 503) if text.starts_with("HTTP/1.") => Ok("refused"),
        _ => Err(format!("the reply is {text:?}")),
    }
}

const ROUTES: &[(&str, &str, &str)] = &[
    ("POST", "/v1/parse", r#"{"utterance": "dim the hall lamp", "k": 2, "abstain_below": 0.1}"#),
    ("POST", "/v1/parse", r#"{"utterances": ["all lamps on", "how many fans are there"], "chart": true}"#),
    ("POST", "/v1/execute", r#"{"program": "on(lamp(place('hall')))", "context": {"a": [1]}}"#),
    ("GET", "/v1/model?name=model", ""),
    ("GET", "/v1/models", ""),
    ("GET", "/healthz", ""),
    ("GET", "/metrics", ""),
    ("GET", "/openapi.json", ""),
    ("GET", "/", ""),
];

/// A request with its name, in pieces that are sent with a pause between them.
fn attack(random: &mut Random, host: &str) -> (String, Vec<Vec<u8>>, Duration) {
    let (method, path, body) = *random.pick(ROUTES);
    let plain = request(method, path, host, body);
    let short = Duration::from_millis(50);
    let one = |name: &str, bytes: Vec<u8>| (name.to_owned(), vec![bytes], short);
    match random.below(12) {
        0 | 1 => {
            let (bytes, name) = mutate(random, &plain);
            one(&format!("{method} {path} with {name}"), bytes)
        }
        2 | 3 => {
            let (body, name) = mutate(random, body.as_bytes());
            let body = String::from_utf8_lossy(&body).into_owned();
            one(&format!("{method} {path}, body with {name}"), request(method, path, host, &body))
        }
        4 => costly(random, host),
        5 => {
            let header = format!("X-Long: {}\r\n", "x".repeat([1_000, 70_000, 500_000][random.below(3)]));
            let many = "X: y\r\n".repeat([10, 200, 5_000][random.below(3)]);
            let text = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{header}{many}\r\n");
            one("long or many headers", text.into_bytes())
        }
        6 => {
            let host = *random.pick(&["attacker.example", "127.0.0.1.attacker.example", "", "a b", "[::1"]);
            one(&format!("Host: {host:?}"), request(method, path, host, body))
        }
        7 => head(random, method, path, host, body),
        8 => {
            let at = random.below(plain.len());
            let (start, rest) = plain.split_at(at);
            ("a request in two pieces".to_owned(), vec![start.to_vec(), rest.to_vec()], short)
        }
        9 => {
            let at = random.below(plain.len());
            one("a request that ends early", plain[..at].to_vec())
        }
        10 => one("many requests at once", plain.repeat([3, 20, 100][random.below(3)])),
        _ => {
            let bytes = (0..random.below(2_000)).map(|_| random.next() as u8).collect();
            one("random bytes", bytes)
        }
    }
}

/// A question that costs as much as one may.
fn costly(random: &mut Random, host: &str) -> (String, Vec<Vec<u8>>, Duration) {
    let words = [40, 200, 201, 20_000][random.below(4)];
    let word = *random.pick(&["lamp", "and", "turn on the", "hall", "\u{1b}[31m", "x", "é😀"]);
    let utterance = vec![word; words].join(" ");
    let body = if random.percent(50) {
        serde_json::json!({ "utterance": utterance, "k": 100, "chart": true })
    } else {
        serde_json::json!({ "utterances": vec![utterance; [2, 40, 300][random.below(3)]] })
    };
    let request = request("POST", "/v1/parse", host, &body.to_string());
    (format!("{words} times {word:?}"), vec![request], Duration::ZERO)
}

/// A request with a head that is wrong or odd.
fn head(
    random: &mut Random,
    method: &str,
    path: &str,
    host: &str,
    body: &str,
) -> (String, Vec<Vec<u8>>, Duration) {
    let n = body.len();
    let heads = [
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n", n + 10),
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n"),
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {n}\r\nContent-Length: 3\r\n"),
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 18446744073709551615\r\n"),
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n"),
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: gzip\r\nContent-Length: {n}\r\n"
        ),
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nExpect: 100-continue\r\nContent-Length: {n}\r\n"
        ),
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://attacker.example\r\nContent-Length: {n}\r\n"
        ),
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/plain\r\nContent-Length: {n}\r\n"
        ),
        format!("{method} {path} HTTP/9.9\r\nHost: {host}\r\n"),
        format!("{method} {path} HTTP/1.1\r\nContent-Length: {n}\r\n"),
        format!("BREW {path} HTTP/1.1\r\nHost: {host}\r\n"),
        format!("{method} {path}{} HTTP/1.1\r\nHost: {host}\r\n", "/..%2f".repeat(20_000)),
        format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n"),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n".to_owned(),
    ];
    let text = random.pick(&heads);
    let name = format!("head {:?}", text.chars().take(120).collect::<String>());
    (name, vec![format!("{text}\r\n{body}").into_bytes()], Duration::ZERO)
}
