//! `spanwise serve`: models over HTTP, and the playground page.

mod engine;

use super::allow::AllowArgs;
use crate::output::{Status, WrongCall, say};
use crate::signals;
use anyhow::{Context as _, Result};
use engine::ModelSource;
use serde_json::{Value, json};
use spanwise_domains::exec::external;
use spanwise_model::ExecutorPolicy;
use spanwise_server::{Config, Event, Limits, ServeError, Server, Source, Times};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Serve models over HTTP, with a page to try them.
///
/// The first model serves requests that name none; further ones are given as NAME=DIRECTORY. `POST /v1/parse` parses
/// utterances, `POST /v1/execute` evaluates programs, `GET /v1/models` lists the models, `/metrics` has metrics for
/// Prometheus, `/openapi.json` describes all routes, and `/` is the playground. Utterances of all connections share
/// batches. A model is loaded again when its `model.json` changes and on SIGHUP, while the old one serves. SIGTERM and
/// Ctrl-C shut the server down after the work in flight. It listens on the loopback address unless --addr is given.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise serve runs/geo\n  \
    spanwise serve geo=runs/geo clevr=runs/clevr --addr 0.0.0.0:8080 --token-env SPANWISE_TOKEN\n  \
    curl -d '{\"utterance\": \"what states border texas\"}' http://127.0.0.1:8080/v1/parse")]
pub(crate) struct Args {
    /// Model directories, each as DIRECTORY or NAME=DIRECTORY
    #[arg(required = true, value_name = "[NAME=]MODEL")]
    models: Vec<String>,
    /// Address to listen on; port 0 picks a free one
    #[arg(long, value_name = "HOST:PORT", default_value = ADDRESS)]
    addr: String,
    /// Require the token in this environment variable, as `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "VAR")]
    token_env: Option<String>,
    /// Maximum number of utterances in a batch
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1024))]
    max_batch: u16,
    /// Maximum number of utterances that wait; further requests get status 429
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    queue: u32,
    /// Maximum number of words of an utterance
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=5000))]
    max_words: u16,
    /// Maximum number of utterances of a request
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_utterances: u32,
    /// Maximum size of a request's body
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 20, value_parser = clap::value_parser!(u32).range(64..))]
    max_body: u32,
    /// Maximum number of open connections; further ones wait
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections: u32,
    /// Threads that run models [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,
    /// Seconds that work in flight may take on shutdown
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain: u32,
    #[command(flatten)]
    allow: AllowArgs,
    /// Log JSON objects
    #[arg(long, conflicts_with = "quiet")]
    log_json: bool,
    /// Do not log requests
    #[arg(long)]
    quiet: bool,
}

/// The default address.
pub(super) const ADDRESS: &str = "127.0.0.1:8080";

pub(crate) fn run(args: &Args) -> Result<Status> {
    let policy = args.allow.policy();
    serve(sources(&args.models, policy, args.log_json)?, config(args)?, args.log_json, args.quiet)
}

/// Serves one model with the default settings, for its page.
pub(super) fn show(name: &str, directory: &Path, addr: &str) -> Result<Status> {
    let mut config = Config::new(address(addr)?);
    config.signals = true;
    let source = source(name, directory.to_owned(), ExecutorPolicy::Off, false);
    serve(vec![(name.to_owned(), source)], config, false, true)
}

fn serve(
    sources: Vec<(String, Box<dyn Source>)>,
    config: Config,
    as_json: bool,
    quiet: bool,
) -> Result<Status> {
    let listener = Arc::new(move |event: Event| {
        let is_request = matches!(event, Event::Request { .. });
        if as_json {
            say(&as_object(&event).to_string());
        } else if !(quiet && is_request) {
            say(&as_line(&event));
        }
    });
    signals::leave();
    let served = Server::bind(config, sources, listener).and_then(Server::run);
    // Executors of domains may be processes of their own.
    external::stop_all();
    match served {
        Ok(()) => Ok(Status::Success),
        Err(error @ ServeError::Bind { .. }) => Err(WrongCall(error.to_string()).into()),
        Err(error) => Err(error.into()),
    }
}

/// A model directory that logs why its executor does not run.
fn source(name: &str, directory: PathBuf, policy: ExecutorPolicy, as_json: bool) -> Box<dyn Source> {
    let name = name.to_owned();
    let refused = move |reason: &str| {
        if as_json {
            say(&stamped(json!({ "event": "executor_off", "model": name, "reason": reason })).to_string());
        } else {
            say(&format!("model {name} gives no answers: {reason}"));
        }
    };
    Box::new(ModelSource::new(directory, policy, Box::new(refused)))
}

/// The models by name. A directory without a model is an error before anything is started.
fn sources(
    models: &[String],
    policy: ExecutorPolicy,
    as_json: bool,
) -> Result<Vec<(String, Box<dyn Source>)>> {
    let mut sources: Vec<(String, Box<dyn Source>)> = Vec::new();
    for text in models {
        // A directory may have `=` in its name.
        let named = text.split_once('=').filter(|_| !Path::new(text).is_dir());
        let (name, directory) = match named {
            Some((name, directory)) => (name.to_owned(), PathBuf::from(directory)),
            None => {
                let path = PathBuf::from(text);
                let full = path.canonicalize().unwrap_or_else(|_| path.clone());
                let name = full.file_name().map(|name| name.to_string_lossy().into_owned());
                (name.unwrap_or_else(|| "model".to_owned()), path)
            }
        };
        if name.is_empty() {
            return Err(WrongCall(format!("`{text}` has no name before `=`; expected NAME=DIRECTORY")).into());
        }
        if !directory.join("model.json").is_file() {
            let shown = directory.display();
            return Err(
                WrongCall(format!("{shown} is not a model: it has no model.json; train one first")).into()
            );
        }
        if sources.iter().any(|(known, _)| *known == name) {
            let hint = "give each model a name of its own as NAME=DIRECTORY";
            return Err(WrongCall(format!("two models have the name `{name}`; {hint}")).into());
        }
        let source = source(&name, directory, policy, as_json);
        sources.push((name, source));
    }
    Ok(sources)
}

fn config(args: &Args) -> Result<Config> {
    let mut config = Config::new(address(&args.addr)?);
    config.limits = Limits {
        max_batch: args.max_batch.into(),
        queue: args.queue as usize,
        max_words: args.max_words.into(),
        max_utterances: args.max_utterances as usize,
        max_body: args.max_body as usize,
        max_connections: args.max_connections as usize,
        workers: args.workers.map_or(Limits::default().workers, usize::from),
        ..Limits::default()
    };
    config.times = Times { drain: Duration::from_secs(args.drain.into()), ..Times::default() };
    config.signals = true;
    config.token = args.token_env.as_deref().map(token).transpose()?;
    Ok(config)
}

/// The socket address of `HOST:PORT`.
pub(super) fn address(text: &str) -> Result<SocketAddr> {
    let wrong = || WrongCall(format!("`{text}` is no address; expected HOST:PORT, such as 127.0.0.1:8080"));
    let mut found = text.to_socket_addrs().map_err(|_| wrong()).context("cannot use --addr")?;
    Ok(found.next().ok_or_else(wrong)?)
}

fn token(variable: &str) -> Result<String> {
    let found = std::env::var(variable).unwrap_or_default();
    if found.is_empty() || !found.bytes().all(|byte| byte.is_ascii_graphic()) {
        let hint = "set it to a token without spaces";
        return Err(WrongCall(format!("--token-env: the variable {variable} holds no token; {hint}")).into());
    }
    Ok(found)
}

/// An event as a human-readable line.
fn as_line(event: &Event) -> String {
    match event {
        Event::Listening { addr } => format!("listening on http://{addr}"),
        Event::Exposed { addr } => {
            format!(
                "warning: {addr} is reachable from other machines without a token; require one with --token-env"
            )
        }
        Event::Loaded { model, generation, took } => {
            let again = if *generation > 1 { format!(" again (number {generation})") } else { String::new() };
            format!("model {model} loaded{again} in {:.1} s", took.as_secs_f64())
        }
        Event::LoadWarning { model, text } => format!("warning: model {model}: {text}"),
        Event::LoadFailed { model, reason, kept } => {
            let kept = if *kept { "; the old one continues to serve" } else { "" };
            format!("model {model} could not be loaded: {reason}{kept}")
        }
        Event::EngineFailed { reason } => format!("a model failed: {reason}"),
        Event::Request { peer, method, path, status, took } => {
            let path = path.escape_debug();
            format!("{peer} {method} {path} {status} {:.1} ms", took.as_secs_f64() * 1e3)
        }
        Event::Draining { connections } => format!("shutting down; {connections} connections are open"),
        Event::Stopped { cut: 0 } => "stopped".to_owned(),
        Event::Stopped { cut } => format!("stopped; {cut} connections were cut"),
    }
}

/// An event as a JSON object.
fn as_object(event: &Event) -> Value {
    stamped(match event {
        Event::Listening { addr } => json!({ "event": "listening", "addr": addr.to_string() }),
        Event::Exposed { addr } => json!({ "event": "exposed", "addr": addr.to_string() }),
        Event::Loaded { model, generation, took } => {
            json!({ "event": "loaded", "model": model, "generation": generation, "seconds": took.as_secs_f64() })
        }
        Event::LoadWarning { model, text } => {
            json!({ "event": "load_warning", "model": model, "text": text })
        }
        Event::LoadFailed { model, reason, kept } => {
            json!({ "event": "load_failed", "model": model, "reason": reason, "kept": kept })
        }
        Event::EngineFailed { reason } => json!({ "event": "engine_failed", "reason": reason }),
        Event::Request { peer, method, path, status, took } => json!({
            "event": "request", "peer": peer.to_string(), "method": method, "path": path,
            "status": status, "seconds": took.as_secs_f64(),
        }),
        Event::Draining { connections } => json!({ "event": "draining", "connections": connections }),
        Event::Stopped { cut } => json!({ "event": "stopped", "cut": cut }),
    })
}

/// An object of the log with the time.
fn stamped(mut object: Value) -> Value {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |now| now.as_secs_f64());
    object["time"] = json!(now);
    object
}
