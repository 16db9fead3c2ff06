//! Consent to run the executor of a model.
//!
//! A model directory may name a command or a server that evaluates its programs, and whoever made the model chose it. So
//! neither is used unless the user allows it: once, or for good. Consent is kept in a file of the user, outside of any
//! model, as the SHA-256 of everything that would run. If any of it changes, it is another executor, which nobody has
//! allowed.

use crate::directory::{DirectoryLock, ModelError, StoredDomain, file_error};
use crate::model::Model;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use spanwise_domains::data::replace_atomic;
use spanwise_domains::exec::{self, Executor};
use spanwise_domains::text::{Kind, TextError, read_text};
use spanwise_lang::domain::ExecutorChoice;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether the external executor of a model may run. Executors inside this program always do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExecutorPolicy {
    /// It may not.
    Off,
    /// It may if the user has allowed exactly this executor before; see [`AllowedExecutors::of_user`].
    #[default]
    Remembered,
    /// It may.
    Allow,
}

/// What the executor of a model would run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExternalExecutor {
    /// The program that would be started, with its arguments; empty for a server.
    pub argv: Vec<String>,
    /// The files of the model among them. No other file of the model can be run: the program starts in a directory of its
    /// own with copies of these.
    pub files: Vec<NamedFile>,
    /// The address that programs would be sent to.
    pub url: Option<String>,
    /// The environment variable whose value would be sent along.
    pub token_env: Option<String>,
    /// The address of the database that programs would be run in, without a password.
    pub database: Option<String>,
    /// The SHA-256 of all of the above, with the content of the files, and of the domain file with its tables.
    pub sha256: String,
}

/// A file that the command of an executor names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedFile {
    /// The word of the command.
    pub word: String,
    /// Its size.
    pub bytes: usize,
    /// The SHA-256 of its content.
    pub sha256: String,
}

/// Most characters of a command, an address or a name on one line.
const MAX_SHOWN_CHARS: usize = 500;
/// Most files that are listed on one line.
const MAX_SHOWN_FILES: usize = 8;

impl fmt::Display for ExternalExecutor {
    /// On one line and at most a few hundred characters; longer ones end with dots.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(database) = &self.database {
            write!(f, "read the database {}", shown(database, MAX_SHOWN_CHARS))?;
            return match &self.token_env {
                Some(name) => {
                    let name = shown(name, MAX_SHOWN_CHARS);
                    write!(f, " with the password in the environment variable {name}")
                }
                None => Ok(()),
            };
        }
        if let Some(url) = &self.url {
            write!(f, "send programs to {}", shown(url, MAX_SHOWN_CHARS))?;
            if let Some(name) = &self.token_env {
                let name = shown(name, MAX_SHOWN_CHARS);
                write!(f, " with the value of the environment variable {name}")?;
            }
            return Ok(());
        }
        write!(f, "run `{}`", shown(&self.command(), MAX_SHOWN_CHARS))?;
        for (at, file) in self.files.iter().take(MAX_SHOWN_FILES).enumerate() {
            let before = if at == 0 { " with the file" } else { "," };
            let name = shown(&file.word, MAX_SHOWN_CHARS);
            write!(f, "{before} {name} ({} bytes, SHA-256 {})", file.bytes, file.sha256)?;
        }
        match self.files.len().checked_sub(MAX_SHOWN_FILES) {
            None | Some(0) => Ok(()),
            Some(more) => write!(f, " and {more} more"),
        }
    }
}

impl ExternalExecutor {
    /// The command, with quotes around words that need them.
    #[must_use]
    pub fn command(&self) -> String {
        let is_plain = |word: &String| {
            !word.is_empty() && word.chars().all(|ch| ch.is_ascii_alphanumeric() || "-_./:=+,@%".contains(ch))
        };
        let word = |word: &String| if is_plain(word) { word.clone() } else { format!("{word:?}") };
        self.argv.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}

/// At most `most` characters of a text, with characters that a terminal does not show made visible.
fn shown(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let mut start = String::new();
    for ch in chars.by_ref().take(most) {
        match ch {
            '\'' | '"' | '\\' => start.push(ch),
            ch => start.extend(ch.escape_debug()),
        }
    }
    if chars.next().is_some() {
        start.push_str("...");
    }
    start
}

impl Model {
    /// What the executor of the model would run; `None` for one inside this program, and where there is none.
    ///
    /// # Errors
    /// Files of the command that cannot be part of a model.
    pub fn external_executor(&self) -> Result<Option<ExternalExecutor>, ModelError> {
        let mut database = None;
        let (argv, url, token_env) = match self.domain.executor() {
            ExecutorChoice::None | ExecutorChoice::Builtin(_) => return Ok(None),
            ExecutorChoice::Command { argv, .. } => (argv.clone(), None, None),
            ExecutorChoice::Url { url, token_env, .. } => (Vec::new(), Some(url.clone()), token_env.clone()),
            ExecutorChoice::Sql(settings) => {
                database = Some(exec::sql::address(settings, self.database_directory.as_deref()));
                (Vec::new(), None, settings.password_env.clone())
            }
        };
        let files = self.executor_files()?.iter().map(|(word, file)| NamedFile {
            word: word.clone(),
            bytes: file.bytes.len(),
            sha256: format!("{:x}", Sha256::digest(&file.bytes)),
        });
        let files: Vec<NamedFile> = files.collect();
        let hashes: Vec<[&str; 2]> =
            files.iter().map(|file| [file.word.as_str(), file.sha256.as_str()]).collect();
        // The domain decides which programs the executor is given.
        let domain = format!("{:x}", Sha256::digest(json!(StoredDomain::new(&self.domain)).to_string()));
        let mut all =
            json!({ "argv": argv, "files": hashes, "url": url, "token_env": token_env, "domain": domain });
        if let Some(database) = &database {
            all["database"] = json!(database);
        }
        let sha256 = format!("{:x}", Sha256::digest(all.to_string()));
        Ok(Some(ExternalExecutor { argv, files, url, token_env, database, sha256 }))
    }

    /// Where a relative path of the database starts.
    #[must_use]
    pub fn database_place(&self) -> PathBuf {
        self.database_directory.clone().unwrap_or_else(|| PathBuf::from("."))
    }

    /// The executor of the model's domain, if the policy lets it run.
    pub(crate) fn open_executor(&self, policy: ExecutorPolicy) -> Result<Opened, ModelError> {
        let executor = match self.external_executor() {
            Ok(executor) => executor,
            Err(error) => {
                return Ok(Opened::Refused(format!("the model's executor is not allowed: {error}")));
            }
        };
        if let Some(executor) = executor {
            if let Some(word) = executor.argv.iter().find(|word| leaves_its_directory(word)) {
                let word = shown(word, MAX_SHOWN_CHARS);
                return Ok(Opened::Refused(format!(
                    "the model's executor is not allowed: its command names `{word}`, which is not part of the model; \
                     write a whole path, or put the file below the directory of the domain file"
                )));
            }
            let is_allowed = match policy {
                ExecutorPolicy::Off => Ok(false),
                ExecutorPolicy::Allow => Ok(true),
                ExecutorPolicy::Remembered => is_remembered(&executor),
            };
            if !matches!(is_allowed, Ok(true)) {
                let why = is_allowed.err().map(|error| format!(" ({error})")).unwrap_or_default();
                return Ok(Opened::Refused(format!(
                    "the model's executor is not allowed: it would {executor}; allow it with --allow-executor, \
                     or for good with `spanwise allow MODEL` (a server that runs then needs SIGHUP){why}"
                )));
            }
        }
        let failed = |error: exec::ExecError| ModelError::Executor { reason: error.to_string() };
        if let ExecutorChoice::Sql(_) = self.domain.executor() {
            let executor = exec::open_database(&self.domain, self.database_place()).map_err(failed)?;
            return Ok(Opened::Open(Arc::from(executor)));
        }
        let files = self.executor_files()?;
        Ok(match exec::open_private(&self.domain, files).map_err(failed)? {
            Some(executor) => Opened::Open(Arc::from(executor)),
            None => Opened::None,
        })
    }
}

/// What there is to evaluate programs.
pub(crate) enum Opened {
    /// Nothing.
    None,
    /// An executor that may not run, with the reason.
    Refused(String),
    /// An executor.
    Open(Arc<dyn Executor>),
}

/// Whether a word is a path upwards. In a directory that was made for one run, such a path leads anywhere.
fn leaves_its_directory(word: &str) -> bool {
    let path = Path::new(word);
    path.is_relative() && path.components().any(|part| part == std::path::Component::ParentDir)
}

fn is_remembered(executor: &ExternalExecutor) -> Result<bool, ModelError> {
    AllowedExecutors::of_user().map_or(Ok(false), |allowed| allowed.contains(executor))
}

/// The executors that a user has allowed, in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedExecutors {
    directory: PathBuf,
}

/// The name of the file.
const FILE: &str = "allowed-executors.json";
/// Most bytes of the file.
const MAX_BYTES: u64 = 4 << 20;
/// Most executors in the file; the oldest are forgotten.
const MAX_EXECUTORS: usize = 1_000;

#[derive(Serialize, Deserialize, Default)]
struct Stored {
    executors: Vec<StoredExecutor>,
}

#[derive(Serialize, Deserialize)]
struct StoredExecutor {
    sha256: String,
    /// What it runs: for information only.
    #[serde(default)]
    runs: String,
}

impl AllowedExecutors {
    /// The list of the user that runs this program, in the directory `$SPANWISE_STATE`, `$XDG_STATE_HOME/spanwise` or
    /// `~/.local/state/spanwise`; `None` where there is no such directory.
    #[must_use]
    pub fn of_user() -> Option<Self> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        // A relative path would mean another directory in each place, perhaps one inside a model.
        let whole = |name: &str| set(name).filter(|path| path.is_absolute());
        let home = || whole("HOME").map(|home| home.join(".local/state")).or_else(|| whole("LOCALAPPDATA"));
        let of_system = || whole("XDG_STATE_HOME").or_else(home).map(|state| state.join("spanwise"));
        set("SPANWISE_STATE").or_else(of_system).map(Self::in_directory)
    }

    /// The list in a directory, which need not exist.
    #[must_use]
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The file of the list.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Whether an executor is in the list.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn contains(&self, executor: &ExternalExecutor) -> Result<bool, ModelError> {
        Ok(self.read()?.executors.iter().any(|known| known.sha256 == executor.sha256))
    }

    /// Adds an executor.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn add(&self, executor: &ExternalExecutor) -> Result<(), ModelError> {
        self.change(executor, true)
    }

    /// Removes an executor.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub fn remove(&self, executor: &ExternalExecutor) -> Result<(), ModelError> {
        self.change(executor, false)
    }

    fn change(&self, executor: &ExternalExecutor, is_allowed: bool) -> Result<(), ModelError> {
        if self.contains(executor)? == is_allowed {
            return Ok(());
        }
        let failed = |error: io::Error| file_error(&self.directory, &error);
        fs::create_dir_all(&self.directory).map_err(failed)?;
        let _lock = DirectoryLock::wait(&self.directory)?;
        let mut stored = self.read()?;
        stored.executors.retain(|known| known.sha256 != executor.sha256);
        if is_allowed {
            let runs = executor.to_string();
            stored
                .executors
                .push(StoredExecutor { sha256: executor.sha256.clone(), runs: shown(&runs, 200) });
        }
        let excess = stored.executors.len().saturating_sub(MAX_EXECUTORS);
        stored.executors.drain(..excess);
        let json = serde_json::to_vec_pretty(&stored).map_err(|error| failed(error.into()))?;
        replace_atomic(&self.path(), |out| out.write_all(&json))
            .map_err(|error| failed(io::Error::other(error.to_string())))
    }

    fn read(&self) -> Result<Stored, ModelError> {
        let path = self.path();
        let damaged = |reason: String| ModelError::File {
            path: path.display().to_string(),
            reason: format!("{reason}; remove the file, which only lists executors that you have allowed"),
            kind: io::ErrorKind::InvalidData,
        };
        if !path.exists() {
            return Ok(Stored::default());
        }
        let text = read_text(&path, Kind::Regular, MAX_BYTES)
            .map_err(|error: TextError| damaged(error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))
    }
}

/// Notes that the user wants the executor of a model to run, as someone does who trained the model.
///
/// # Errors
/// A list that cannot be written; there may be no place for one.
pub fn remember(model: &Model) -> Result<(), ModelError> {
    let Some(executor) = model.external_executor()? else { return Ok(()) };
    match AllowedExecutors::of_user() {
        Some(allowed) => allowed.add(&executor),
        None => Err(file_error(
            Path::new(FILE),
            &io::Error::new(
                io::ErrorKind::NotFound,
                "there is no directory to remember the executor in; set SPANWISE_STATE",
            ),
        )),
    }
}

#[cfg(test)]
mod tests;
