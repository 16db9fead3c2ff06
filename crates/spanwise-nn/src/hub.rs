//! Finds an encoder by a path or by its name on the Hugging Face hub.
//!
//! Names are looked up in the cache that Python's `huggingface_hub` uses too (`$HF_HOME/hub`), and what is
//! missing is downloaded from `$HF_ENDPOINT`. Downloads run in a thread of their own, so that a network that
//! swallows everything is an error after seconds: the crate `hf-hub` sets no time limits. A thread that is
//! given up on ends with the process.

use hf_hub::api::sync::{Api, ApiBuilder, ApiError, ApiRepo};
use hf_hub::{Cache, Repo};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const VOCAB: &str = "vocab.txt";
const VOCAB_CONFIG: &str = "tokenizer_config.json";
/// The longest name the hub allows, for each of its two parts.
const MAX_NAME: usize = 96;
/// How long the server may take to answer, and to send the next bytes of a file.
const CONTACT: Duration = Duration::from_secs(10);
const STALL: Duration = Duration::from_secs(30);
/// Progress is reported no more often.
const REPORT_EVERY: Duration = Duration::from_millis(100);
/// A sum is computed in blocks of so many bytes, each of which is a sign of life.
const SUM_BLOCK: usize = 1 << 20;
/// Files are looked through again when the repository changed in between.
const PASSES: usize = 2;
/// Signs of life that may wait; a full queue makes the download wait.
const QUEUE: usize = 64;

/// How far the download of one file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The file.
    pub file: &'static str,
    /// Bytes that are there.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

/// Why an encoder was not found.
#[derive(Debug, Error)]
pub enum HubError {
    /// A path leads nowhere.
    #[error(
        "there is no directory {path}; expected one with config.json, model.safetensors and tokenizer.json; \
         `tools/fetch_encoders.py` makes such directories"
    )]
    NoDirectory {
        /// The path.
        path: String,
    },
    /// A path leads to something else.
    #[error(
        "{path} is not a directory; expected one with config.json, model.safetensors and tokenizer.json; \
         give the directory that the file lies in"
    )]
    NotADirectory {
        /// The path.
        path: String,
    },
    /// Neither a path nor a name.
    #[error(
        "`{spec}` is neither a directory nor a name on the hub; expected a path such as `./encoder` or a \
         name such as `sentence-transformers/all-MiniLM-L6-v2`"
    )]
    BadName {
        /// What was given.
        spec: String,
    },
    /// There is no place for downloads.
    #[error(
        "there is no home directory to keep downloads in; set the environment variable HF_HOME to a directory"
    )]
    NoCache,
    /// The network does not reach the hub.
    #[error(
        "cannot fetch the encoder `{name}`: {host} cannot be reached ({reason}); without access to it, run \
         `tools/fetch_encoders.py`, or copy the encoder from another machine, and give the path of its \
         directory"
    )]
    Unreachable {
        /// The encoder.
        name: String,
        /// The server.
        host: String,
        /// What went wrong.
        reason: String,
    },
    /// The hub does not know the encoder.
    #[error(
        "{host} has no model `{name}` that can be read without logging in (status {status}); expected a \
         name such as `sentence-transformers/all-MiniLM-L6-v2`; check the spelling, or give the path of a \
         local directory"
    )]
    UnknownRepository {
        /// The encoder.
        name: String,
        /// The server.
        host: String,
        /// The server's answer.
        status: u16,
    },
    /// The encoder lacks a file.
    #[error(
        "the model `{name}` at {host} has no {file}, which is needed; choose another encoder, or convert it \
         yourself"
    )]
    NoFile {
        /// The encoder.
        name: String,
        /// The server.
        host: String,
        /// The file or files.
        file: String,
    },
    /// A file did not arrive.
    #[error("{file} of the encoder `{name}` could not be downloaded from {host}: {reason}; try again")]
    Download {
        /// The encoder.
        name: String,
        /// The server.
        host: String,
        /// The file.
        file: String,
        /// What went wrong.
        reason: String,
    },
}

/// Finds the directory of an encoder.
///
/// `spec` is the path of a directory, which is returned as it is, or the name of a model on the hub
/// (`org/name` or `name`). A model that is wholly in the cache is found without any network; else its files
/// are downloaded, and `progress` is called now and then. Without a network this fails after about ten
/// seconds at most.
///
/// # Errors
/// When there is no such directory, when the model is unknown, or when it cannot be fetched.
pub fn resolve(spec: &str, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, HubError> {
    match Place::of(spec)? {
        Place::Directory(path) => Ok(path),
        Place::Name(name) => Settings::from_env()?.resolve(name, progress),
    }
}

/// What a specification means.
#[derive(Debug)]
enum Place<'a> {
    Directory(PathBuf),
    Name(&'a str),
}

impl<'a> Place<'a> {
    fn of(spec: &'a str) -> Result<Self, HubError> {
        let path = Path::new(spec);
        if path.is_dir() {
            return Ok(Self::Directory(path.to_owned()));
        }
        if path.exists() {
            return Err(HubError::NotADirectory { path: spec.to_owned() });
        }
        let looks_like_path = path.is_absolute()
            || spec.starts_with(['/', '\\', '.', '~'])
            || spec.ends_with('/')
            || spec.contains('\\')
            || spec.matches('/').count() > 1;
        if looks_like_path {
            return Err(HubError::NoDirectory { path: spec.to_owned() });
        }
        if spec.split('/').all(is_name_part) {
            return Ok(Self::Name(spec));
        }
        Err(HubError::BadName { spec: spec.chars().take(2 * MAX_NAME).collect() })
    }
}

/// Whether the hub allows this as one of the two parts of a name.
fn is_name_part(part: &str) -> bool {
    let allowed = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '.' | '-' | '_');
    !part.is_empty()
        && part.len() <= MAX_NAME
        && part.chars().all(allowed)
        && !part.starts_with(['.', '-'])
        && !part.ends_with(['.', '-'])
        && !part.contains("..")
        && !part.contains("--")
}

/// Where names are looked up, and how long that may take.
#[derive(Clone, Debug)]
struct Settings {
    cache: PathBuf,
    /// Where names are looked up, if not where `hf-hub` does.
    endpoint: Option<String>,
    contact: Duration,
    stall: Duration,
}

impl Settings {
    fn from_env() -> Result<Self, HubError> {
        // Without either, `hf-hub` panics.
        if std::env::var_os("HF_HOME").is_none() && std::env::home_dir().is_none() {
            return Err(HubError::NoCache);
        }
        let endpoint = std::env::var("HF_ENDPOINT").ok();
        let endpoint = endpoint.map(|endpoint| endpoint.trim_end_matches('/').to_owned());
        Ok(Self { cache: Cache::from_env().path().clone(), endpoint, contact: CONTACT, stall: STALL })
    }

    fn resolve(self, name: &str, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, HubError> {
        let (contact, stall) = (self.contact, self.stall);
        let model = Model { name: name.to_owned(), settings: self };
        if let Some(directory) = model.cached() {
            return Ok(directory);
        }
        let unreachable = |reason: String| model.unreachable(reason);
        let (sender, receiver) = mpsc::sync_channel(QUEUE);
        let fetching = model.clone();
        thread::Builder::new()
            .name("download".to_owned())
            .spawn(move || {
                let result = fetching.fetch(&sender);
                // Nobody listens any more when it took too long.
                let _ = sender.send(Event::End(result));
            })
            .map_err(|error| unreachable(format!("no thread could be started: {error}")))?;
        let mut limit = contact;
        loop {
            match receiver.recv_timeout(limit) {
                Ok(Event::End(result)) => return result,
                Ok(Event::Alive) => limit = contact,
                Ok(Event::Progress(report)) => {
                    progress(report);
                    limit = stall;
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(unreachable(format!("no answer within {} seconds", limit.as_secs_f32())));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(unreachable("the download ended without a result".to_owned()));
                }
            }
        }
    }
}

/// What a download says.
enum Event {
    /// It is at work; the server's next answer may take as long as a first one.
    Alive,
    /// Bytes arrived.
    Progress(Progress),
    /// It is over.
    End(Result<PathBuf, HubError>),
}

/// A model on the hub.
#[derive(Clone, Debug)]
struct Model {
    name: String,
    settings: Settings,
}

/// Why a file did not arrive.
enum Fault {
    /// The server answered so.
    Status(u16),
    /// There was no answer.
    Unreachable(String),
    /// Anything else.
    Other(String),
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::RequestError(error) => match *error {
                ureq::Error::StatusCode(status) => Self::Status(status),
                error => Self::Unreachable(error.to_string()),
            },
            ApiError::LockAcquisition(_) => Self::Other("another process is downloading it".to_owned()),
            ApiError::MissingHeader(header) | ApiError::InvalidHeader(header) => Self::Other(format!(
                "the server does not answer like a hub (header {header}); check HF_ENDPOINT"
            )),
            error => Self::Other(error.to_string()),
        }
    }
}

impl Model {
    fn host(&self) -> String {
        let endpoint = self.settings.endpoint.as_deref().unwrap_or("the Hugging Face hub");
        endpoint.split_once("://").map_or(endpoint, |(_, host)| host).to_owned()
    }

    fn unreachable(&self, reason: String) -> HubError {
        HubError::Unreachable { name: self.name.clone(), host: self.host(), reason }
    }

    fn download_error(&self, file: &str, reason: String) -> HubError {
        let (name, file) = (self.name.clone(), file.to_owned());
        HubError::Download { name, host: self.host(), file, reason }
    }

    fn repo(&self) -> Repo {
        Repo::model(self.name.clone())
    }

    fn cached_file(&self, file: &str) -> Option<PathBuf> {
        Cache::new(self.settings.cache.clone()).repo(self.repo()).get(file)
    }

    /// The directory of the model in the cache, if all its files are there.
    fn cached(&self) -> Option<PathBuf> {
        self.cached_file(TOKENIZER).or_else(|| self.cached_file(VOCAB))?;
        self.cached_file(CONFIG)?;
        self.cached_file(WEIGHTS)?.parent().map(Path::to_owned)
    }

    /// Downloads what is missing.
    fn fetch(&self, events: &SyncSender<Event>) -> Result<PathBuf, HubError> {
        let api = ApiBuilder::from_cache(Cache::new(self.settings.cache.clone())).with_progress(false);
        let api = match self.settings.endpoint.clone() {
            Some(endpoint) => api.with_endpoint(endpoint),
            None => api,
        };
        let api = api.build().map_err(|error| self.unreachable(error.to_string()))?;
        let repo = api.repo(self.repo());
        // A file of a newer version makes all others be looked for in that version.
        for _ in 0..PASSES {
            self.fetch_missing(&api, &repo, events)?;
            if let Some(directory) = self.cached() {
                return Ok(directory);
            }
        }
        Err(self.download_error(WEIGHTS, "the model changed in the meantime".to_owned()))
    }

    fn fetch_missing(&self, api: &Api, repo: &ApiRepo, events: &SyncSender<Event>) -> Result<(), HubError> {
        let get = |file: &'static str| {
            if self.cached_file(file).is_some() { Ok(()) } else { self.fetch_file(api, repo, file, events) }
        };
        let lacks = |file: &str| HubError::NoFile {
            name: self.name.clone(),
            host: self.host(),
            file: file.to_owned(),
        };
        let explain = |file: &str, fault: Fault| match fault {
            Fault::Status(404) => lacks(file),
            Fault::Status(status) => {
                self.download_error(file, format!("the server answered with status {status}"))
            }
            Fault::Unreachable(reason) => self.unreachable(reason),
            Fault::Other(reason) => self.download_error(file, reason),
        };
        get(CONFIG).map_err(|fault| match fault {
            // The hub does not tell a model that is not there from one that is private.
            Fault::Status(status @ (401 | 403 | 404)) => {
                HubError::UnknownRepository { name: self.name.clone(), host: self.host(), status }
            }
            fault => explain(CONFIG, fault),
        })?;
        match get(TOKENIZER) {
            Err(Fault::Status(404)) => {
                get(VOCAB).map_err(|fault| match fault {
                    Fault::Status(404) => lacks("tokenizer.json or vocab.txt"),
                    fault => explain(VOCAB, fault),
                })?;
                match get(VOCAB_CONFIG) {
                    Ok(()) | Err(Fault::Status(404)) => {}
                    Err(fault) => return Err(explain(VOCAB_CONFIG, fault)),
                }
            }
            result => result.map_err(|fault| explain(TOKENIZER, fault))?,
        }
        get(WEIGHTS).map_err(|fault| explain(WEIGHTS, fault))
    }

    fn fetch_file(
        &self,
        api: &Api,
        repo: &ApiRepo,
        file: &'static str,
        events: &SyncSender<Event>,
    ) -> Result<(), Fault> {
        let _ = events.send(Event::Alive);
        self.remove_dangling(file);
        let mut total = 0;
        let report = |total: &mut u64| repo.download_with_progress(file, Reporter::new(file, events, total));
        let path = match report(&mut total) {
            // A download that was cut off is resumed, unless what is there is of no use.
            Err(error) if is_bad_resume(&error) => {
                self.remove_part(api, &repo.url(file))?;
                report(&mut total)?
            }
            result => result?,
        };
        let verified = verify(&path, total, events);
        if verified.is_err() {
            // The link first: one that leads nowhere would be in the way of the next download.
            let blob = fs::canonicalize(&path);
            let _ = fs::remove_file(&path);
            let _ = blob.map(fs::remove_file);
        }
        verified.map_err(Fault::Other)
    }

    /// Removes a link whose file is gone, which `hf-hub` would stumble over.
    fn remove_dangling(&self, file: &str) {
        let cache = Cache::new(self.settings.cache.clone());
        let repo = self.repo();
        let reference = cache.path().join(repo.folder_name()).join("refs").join(repo.revision());
        if let Ok(commit) = fs::read_to_string(reference) {
            let path = cache.repo(repo).pointer_path(&commit).join(file);
            if path.is_symlink() && !path.exists() {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// Removes the part of a file that an earlier download left.
    fn remove_part(&self, api: &Api, url: &str) -> Result<(), ApiError> {
        let metadata = api.metadata(url)?;
        let blob = Cache::new(self.settings.cache.clone()).repo(self.repo()).blob_path(metadata.etag());
        fs::remove_file(blob.with_extension("part")).map_err(ApiError::from)
    }
}

/// Whether the server or `hf-hub` would not continue behind what is there already.
fn is_bad_resume(error: &ApiError) -> bool {
    match error {
        ApiError::InvalidResume => true,
        ApiError::RequestError(error) => matches!(**error, ureq::Error::StatusCode(416)),
        _ => false,
    }
}

/// Checks that a downloaded file has its length and, where the hub names it, its SHA-256.
fn verify(path: &Path, total: u64, events: &SyncSender<Event>) -> Result<(), String> {
    let failed = |error: io::Error| format!("{} cannot be read: {error}", path.display());
    let blob = fs::canonicalize(path).map_err(failed)?;
    let found = fs::metadata(&blob).map_err(failed)?.len();
    if found != total {
        return Err(format!("{found} of {total} bytes arrived"));
    }
    // The cache names large files by their sums.
    let Some(expected) = blob.file_name().and_then(|name| name.to_str()).filter(|name| is_sha256(name))
    else {
        return Ok(());
    };
    let mut file = File::open(&blob).map_err(failed)?;
    let mut sum = Sha256::new();
    let mut block = vec![0; SUM_BLOCK];
    loop {
        let count = file.read(&mut block).map_err(failed)?;
        if count == 0 {
            break;
        }
        sum.update(&block[..count]);
        let _ = events.send(Event::Alive);
    }
    let found = sum.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    if found.eq_ignore_ascii_case(expected) {
        Ok(())
    } else {
        Err("its SHA-256 is not the one that the hub names".to_owned())
    }
}

fn is_sha256(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Passes on what `hf-hub` says of a download.
struct Reporter<'a> {
    progress: Progress,
    events: &'a SyncSender<Event>,
    /// Where the length of the file is noted.
    total: &'a mut u64,
    last: Option<Instant>,
}

impl<'a> Reporter<'a> {
    const fn new(file: &'static str, events: &'a SyncSender<Event>, total: &'a mut u64) -> Self {
        Self { progress: Progress { file, done: 0, total: 0 }, events, total, last: None }
    }

    fn send(&mut self) {
        self.last = Some(Instant::now());
        let _ = self.events.send(Event::Progress(self.progress));
    }
}

impl hf_hub::api::Progress for Reporter<'_> {
    fn init(&mut self, size: usize, _: &str) {
        *self.total = size as u64;
        self.progress = Progress { done: 0, total: size as u64, ..self.progress };
    }

    fn update(&mut self, size: usize) {
        self.progress.done += size as u64;
        if self.last.is_none_or(|last| last.elapsed() >= REPORT_EVERY) {
            self.send();
        }
    }

    fn finish(&mut self) {
        self.send();
        let _ = self.events.send(Event::Alive);
    }
}

#[cfg(test)]
mod tests;
