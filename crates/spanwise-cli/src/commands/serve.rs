//! `spanwise serve`: models over HTTP, and the playground page.

mod end;
mod engine;
mod log;

use super::allow::AllowArgs;
use super::now::NowArgs;
use super::withhold::WithholdArgs;
use crate::output::{Status, WrongCall};
use crate::signals;
use anyhow::{Context as _, Result};
use engine::{Defaults, ModelSource};
use log::Log;
use spanwise_domains::exec::external;
use spanwise_model::{ExecutorPolicy, Withhold};
use spanwise_server::journal::LogFile;
use spanwise_server::{Config, Limits, ServeError, Server, Source, Times};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Serve models over HTTP, with a page to try them.
///
/// The first model serves requests that name none; further ones are given as NAME=DIRECTORY. `POST /v1/parse` parses
/// utterances, `POST /v1/execute` evaluates programs, `GET /v1/models` lists the models, `/metrics` has metrics for
/// Prometheus, `/openapi.json` describes all routes, and `/` is the playground. Utterances of all connections share
/// batches. A model is loaded again when its `model.json` changes and on SIGHUP, while the old one serves. SIGTERM and
/// Ctrl-C shut the server down after the work in flight. It listens on the loopback address unless --addr is given, and
/// there it answers only requests to that address, and only its own page and those of origins that --cors-origin allows.
///
/// With --log, questions and replies are kept in a file, and the page asks whether replies are right (`POST /v1/feedback`).
/// `spanwise data review` makes examples of it. Addresses of clients are not kept.
///
/// Answers that are less probable than the threshold of their model are withheld, with the reason and the best guess.
/// --abstain-below and --always-answer change this for all requests that do not say otherwise (`abstain_below`,
/// `always_answer`). Relative dates refer to the day of the request, unless it has a `now` or --now is given.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  spanwise serve runs/geo\n  \
    spanwise serve geo=runs/geo clevr=runs/clevr --addr 0.0.0.0:8080 --token-env SPANWISE_TOKEN\n  \
    curl --json '{\"utterance\": \"what states border texas\"}' http://127.0.0.1:8080/v1/parse")]
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
    /// Further name of the server that requests may have as their `Host`; can be given more than once
    #[arg(long, value_name = "NAME", value_parser = host)]
    allow_host: Vec<String>,
    /// Origin whose pages may use the server, such as https://example.org; can be given more than once
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    cors_origin: Vec<String>,
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
    /// Maximum number of open connections; further ones take the place of those that wait for their clients
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_connections: u32,
    /// Threads that run models, at least 2 [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    workers: Option<u16>,
    /// Seconds from a request to its reply; work that takes longer is given up, with status 503
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: u32,
    /// Seconds that work in flight may take on shutdown
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain: u32,
    #[command(flatten)]
    withhold: WithholdArgs,
    #[command(flatten)]
    now: NowArgs,
    #[command(flatten)]
    allow: AllowArgs,
    /// Keep questions, replies and what people say about them in this file, for `spanwise data review`
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Size at which the file of --log is renamed to FILE.1, in the place of an older one
    #[arg(long, value_name = "MIB", default_value_t = 64, requires = "log", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    log_max: u32,
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
    let withhold = args.withhold.choice();
    let defaults = Defaults { policy: args.allow.policy(), withhold, now: args.now.given() };
    serve(sources(&args.models, defaults)?, config(args)?, args.log_json, args.quiet)
}

/// Serves one model with the default settings, for its page.
pub(super) fn show(name: &str, directory: &Path, addr: &str, withhold: Withhold) -> Result<Status> {
    let mut config = Config::new(address(addr)?);
    config.signals = true;
    config.withhold = engine::served(withhold);
    let defaults = Defaults { policy: ExecutorPolicy::Off, withhold, now: None };
    let source = ModelSource::new(directory.to_owned(), defaults);
    serve(vec![(name.to_owned(), Box::new(source))], config, false, true)
}

fn serve(
    sources: Vec<(String, Box<dyn Source>)>,
    config: Config,
    as_json: bool,
    quiet: bool,
) -> Result<Status> {
    let log = Log::start(as_json, quiet);
    log.take_panics();
    signals::leave();
    end::ensure(config.times.drain);
    let served = Server::bind(config, sources, log.listener()).and_then(Server::run);
    log.end();
    // Executors of domains may be processes of their own.
    external::stop_all();
    match served {
        Ok(()) => Ok(Status::Success),
        Err(error @ (ServeError::Bind { .. } | ServeError::Log { .. })) => {
            Err(WrongCall(error.to_string()).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// The models by name. A directory without a model is an error before anything is started.
fn sources(models: &[String], defaults: Defaults) -> Result<Vec<(String, Box<dyn Source>)>> {
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
        sources.push((name, Box::new(ModelSource::new(directory, defaults))));
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
    config.times = Times {
        drain: Duration::from_secs(args.drain.into()),
        reply: Duration::from_secs(args.timeout.into()),
        ..Times::default()
    };
    config.allowed_hosts.clone_from(&args.allow_host);
    config.cors_origins.clone_from(&args.cors_origin);
    config.withhold = engine::served(args.withhold.choice());
    config.signals = true;
    config.log = args
        .log
        .as_ref()
        .map(|path| LogFile { max_bytes: u64::from(args.log_max) << 20, ..LogFile::new(path) });
    config.token = args.token_env.as_deref().map(token).transpose()?;
    Ok(config)
}

/// The socket address of `HOST:PORT`.
pub(super) fn address(text: &str) -> Result<SocketAddr> {
    let wrong = || WrongCall(format!("`{text}` is no address; expected HOST:PORT, such as 127.0.0.1:8080"));
    let mut found = text.to_socket_addrs().map_err(|_| wrong()).context("cannot use --addr")?;
    Ok(found.next().ok_or_else(wrong)?)
}

/// The name of a host, without a port.
fn host(text: &str) -> Result<String, String> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if text.is_empty() || !(text.bytes().all(is_name) || text.parse::<std::net::IpAddr>().is_ok()) {
        return Err("expected a name or an address without a port, such as box.example.org".to_owned());
    }
    Ok(text.to_owned())
}

/// An origin as browsers send it. `*` would let every page of the web use the server.
fn origin(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'*' | b'@' | b'?' | b'#');
    match rest {
        Some(host) if !host.is_empty() && host.bytes().all(is_plain) => Ok(text.to_owned()),
        _ => Err("expected one origin without a path, such as https://app.example.org; \
                  give the option once for each"
            .to_owned()),
    }
}

fn token(variable: &str) -> Result<String> {
    let found = std::env::var(variable).unwrap_or_default();
    if found.is_empty() || !found.bytes().all(|byte| byte.is_ascii_graphic()) {
        let hint = "set it to a token without spaces";
        return Err(WrongCall(format!("--token-env: the variable {variable} holds no token; {hint}")).into());
    }
    Ok(found)
}
