//! Many requests to a server whose model is replaced every few seconds; its memory must not grow.

use super::Setting;
use super::http::{Connection, Server};
use super::process::copy;
use super::project::{Copied, QUESTION};
use super::random::Random;
use super::report::Counts;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often the model is replaced, at least some times in a short run, and how often memory is measured.
const RELOAD: Duration = Duration::from_secs(3);
const RELOADS: u32 = 5;
const SAMPLE: Duration = Duration::from_millis(100);
/// Growth of memory is a failure from this many requests on; before, it is the start that is measured.
const LEAST: usize = 20_000;
/// Utterances that are sent if no file names others.
const UTTERANCES: &[&str] = &[
    QUESTION,
    "turn on the lamp in the kitchen",
    "how many fans are there",
    "turn off the lamps and turn on the fans",
    "a question of another domain altogether",
];

/// Memory of the server in KiB, by the number of requests that were answered.
type Samples = Vec<(usize, u64)>;

pub(crate) fn run(setting: &Setting<'_>, counts: &Counts) -> io::Result<()> {
    let options = setting.options;
    let directory = model(setting)?;
    let utterances = utterances(setting)?;
    let mut server = Server::start(&mut setting.project.command(directory.path(), &["serve", "model"]))?;
    let mut expected = Vec::new();
    for utterance in &utterances {
        expected.push(server.parse(utterance)?.json()["program"].clone());
    }
    let done = AtomicUsize::new(0);
    let next = AtomicUsize::new(0);
    let all = options.requests.unwrap_or(usize::MAX);
    // With a number of requests, the time does not end it.
    let is_over = || options.requests.is_none() && setting.is_over();
    let left = setting.deadline.saturating_duration_since(Instant::now());
    let every = if options.requests.is_some() { RELOAD } else { RELOAD.min(left / RELOADS) };
    let samples: Samples = thread::scope(|scope| {
        let work = |client: usize| {
            let mut random = Random::new(options.seed, "soak", client as u64);
            let mut connection = None;
            while !is_over() && next.fetch_add(1, Ordering::Relaxed) < all {
                let at = random.below(utterances.len());
                let begun = Instant::now();
                let outcome = ask(&server, &mut connection, &utterances[at], &expected[at]);
                counts.took(&utterances[at], begun.elapsed());
                counts.count(&utterances[at], outcome);
                done.fetch_add(1, Ordering::Relaxed);
            }
        };
        let threads: Vec<_> =
            (0..options.connections).map(|client| scope.spawn(move || work(client))).collect();
        let samples =
            watch(&server, directory.path(), every, &done, || threads.iter().all(|it| it.is_finished()));
        for thread in threads {
            let _ = thread.join();
        }
        samples
    });
    counts.peak(server.memory("VmHWM:"));
    let reloads = server.get("/v1/model")?.json()["generation"].as_u64().unwrap_or(0).saturating_sub(1);
    counts.figure("reloads", reloads);
    judge(setting, counts, &samples);
    if server.is_running() {
        counts.count("the end of the server", server.end().map(|_| "ended"));
    } else {
        counts.count("the server", Err("it has ended".to_owned()));
    }
    Ok(())
}

/// A question on a connection that stays open.
fn ask(
    server: &Server,
    connection: &mut Option<Connection>,
    utterance: &str,
    expected: &Value,
) -> Result<&'static str, String> {
    let mut open = match connection.take() {
        Some(open) => open,
        None => Connection::open(server.addr).map_err(|error| error.to_string())?,
    };
    let body = serde_json::json!({ "utterance": utterance }).to_string();
    let reply = open.send("POST", "/v1/parse", &body).map_err(|error| error.to_string())?;
    if reply.status != 200 {
        return Err(format!("status {}: {}", reply.status, String::from_utf8_lossy(&reply.body)));
    }
    *connection = Some(open);
    let program = reply.json()["program"].clone();
    if program == *expected { Ok("answered") } else { Err(format!("{program} instead of {expected}")) }
}

/// Replaces the model and measures memory until all requests are answered.
fn watch(
    server: &Server,
    directory: &Path,
    every: Duration,
    done: &AtomicUsize,
    is_done: impl Fn() -> bool,
) -> Samples {
    let mut samples = Vec::new();
    let mut reloaded = Instant::now();
    while !is_done() {
        samples.push((done.load(Ordering::Relaxed), server.memory("VmRSS:")));
        if reloaded.elapsed() > every {
            reloaded = Instant::now();
            // A failure shows in the number of reloads.
            if replace(&directory.join("model")).is_ok() {
                server.signal("HUP");
            }
        }
        thread::sleep(SAMPLE);
    }
    samples.push((done.load(Ordering::Relaxed), server.memory("VmRSS:")));
    samples
}

/// Replaces every file of a model by a copy, `model.json` last.
fn replace(directory: &Path) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            names.push(entry.file_name());
        }
    }
    names.sort_by_key(|name| name == "model.json");
    for name in names {
        let temporary = directory.join(".torture.tmp");
        fs::copy(directory.join(&name), &temporary)?;
        fs::rename(&temporary, directory.join(&name))?;
    }
    Ok(())
}

/// Compares memory after the first tenth of the requests with that in the end, each as a median.
fn judge(setting: &Setting<'_>, counts: &Counts, samples: &Samples) {
    let all = samples.last().map_or(0, |(done, _)| *done);
    let median = |from: usize, to: usize| {
        let mut part: Vec<u64> =
            samples.iter().filter(|(done, _)| (from..=to).contains(done)).map(|(_, kib)| *kib).collect();
        part.sort_unstable();
        part.get(part.len() / 2).copied().unwrap_or(0)
    };
    let (early, late) = (median(all / 10, all / 5), median(all - all / 10, all));
    let growth = if early == 0 { 0.0 } else { 100.0 * (late as f64 - early as f64) / early as f64 };
    counts.figure("requests", all);
    counts.figure("MiB after a tenth", early >> 10);
    counts.figure("MiB in the end", late >> 10);
    counts.figure("growth percent", (growth * 10.0).round() / 10.0);
    if all >= LEAST && growth > setting.options.growth {
        counts
            .count("memory", Err(format!("it grows by {growth:.1} % after the first tenth of the requests")));
    }
}

/// A directory with a copy of the model to serve.
fn model(setting: &Setting<'_>) -> io::Result<Copied> {
    let copied = setting.project.empty()?;
    let original = setting.options.model.clone().unwrap_or_else(|| setting.project.path("model"));
    copy(&original, &copied.join("model"))?;
    Ok(copied)
}

fn utterances(setting: &Setting<'_>) -> io::Result<Vec<String>> {
    let Some(path) = &setting.options.utterances else {
        return Ok(UTTERANCES.iter().map(|&text| text.to_owned()).collect());
    };
    let text = fs::read_to_string(path)?;
    let utterance = |line: &str| match serde_json::from_str::<Value>(line) {
        Ok(Value::Object(object)) => {
            let field = object.get("utterance").or_else(|| object.get("question"));
            field.and_then(Value::as_str).map(str::to_owned)
        }
        _ => Some(line.to_owned()),
    };
    let found: Vec<String> =
        text.lines().filter(|line| !line.trim().is_empty()).filter_map(utterance).take(1_000).collect();
    if found.is_empty() {
        Err(io::Error::other(format!("{} has no utterances", path.display())))
    } else {
        Ok(found)
    }
}
